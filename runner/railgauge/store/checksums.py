"""A checksum of each replication and its values: what a disk or a program changed later shows."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table, func, select, text

from railgauge.base.errors import StoreError
from railgauge.base.number import plural
from railgauge.store.copy_tables import (
    KEYS,
    TABLES,
    DatabaseRow,
    Span,
    fetch_rows,
    same_keys,
    spans,
)
from railgauge.store.log_models import LOG
from railgauge.store.models import (
    BenchCase,
    Measurement,
    Metric,
    Replication,
    RunCase,
    SeriesRow,
    TraceRow,
)
from railgauge.store.read import fetch
from railgauge.store.traces import damaged_rows
from railgauge.store.write import chunks

_SUMMED = (
    Replication.run_case_id,
    Replication.number,
    Replication.status,
    Replication.started_at,
    Replication.error_code,
    Replication.error_message,
    Replication.checksum,
    Replication.launch_id,
)
_BITS = struct.Struct("<d")
# The lower half of a stored checksum is of what belongs to the replication beside its values: 0
# says nothing of that (it was thinned, or not whole when it was copied).
_BESIDE = 2**32 - 1
_NOTHING = 1
_LOG_HEAD = ("scope", "host", "phase", "started_at", "elapsed", "ticks_per_second")
# Ids, and numbers that stand for counters' names: each database has its own.
_OF_ONE_DATABASE = {"log_id", "counters", "run_case_id", "number"}
_OVER_TIME: Sequence[Table] = [TABLES["trace"], TABLES["series"]]
# Traces at once, each of which may be large.
_TRACES = 1
# (name, unit, value)
NamedValue = tuple[str, str, float]
# (run case, number)
Key = tuple[int, int]
LogRow = Mapping[str, Any]
BESIDE = "trace, series or logs"
_SEAL = text(
    "UPDATE replication SET checksum = (checksum & :upper) | :actual "
    "WHERE run_case_id = :run_case AND number = :number"
)


@dataclass(frozen=True, slots=True)
class ChangedReplication:
    """A replication, or its trace or series, that isn't what was stored.

    `table` says which of the three, or BESIDE where its traces, series and logs aren't those that
    were stored with it; warm-ups have negative numbers.
    """

    run: int
    test: str
    case_key: str
    link: str
    run_case: int
    number: int
    table: str = Replication.__tablename__

    def __str__(self) -> str:
        name = f"replication {self.number}" if self.number > 0 else f"warm-up {-self.number}"
        part = "" if self.table == Replication.__tablename__ else f", its {self.table}"
        return f"run {self.run}, test {self.test}, {self.link} (case {self.case_key}), {name}{part}"


@dataclass(frozen=True, slots=True)
class ChecksumReport:
    """How many replications were looked at, how many had no checksum, which ones have changed.

    `uncovered` have traces, series or logs, and a checksum that is not of these.
    """

    replications: int
    without: int
    changed: tuple[ChangedReplication, ...]
    uncovered: int = 0


def checksum(
    number: int,
    status: str,
    started_at: str | None,
    error: tuple[str | None, str | None],
    values: Iterable[NamedValue],
) -> int:
    """Return 64 bits, as a signed number, of a replication, its error (code, message) and values.

    The same in each database that it's copied to: no id counts, nor in which order values stand.
    """
    digest = blake2b(str(number).encode(), digest_size=8)
    for part in (status, started_at, *error):
        digest.update(b"\1" if part is None else b"\0" + part.encode())
    for name, unit, value in sorted(values):
        digest.update(f"\2{name}\0{unit}\0".encode())
        # SQLite has no zero below zero.
        digest.update(_BITS.pack(value + 0.0))
    return int.from_bytes(digest.digest(), "little", signed=True)


def alone(own: int) -> int:
    """Return the checksum to store for a replication that has neither traces nor logs."""
    return own & ~_BESIDE | _NOTHING


def unsaid(own: int) -> int:
    """Return the checksum without its part on traces, series and logs."""
    return own & ~_BESIDE


def seal(
    connection: Connection, keys: Iterable[Key], logs: Iterable[LogRow], *, traces: bool
) -> None:
    """Have the checksums of a launch's replications cover their traces, series and `logs`.

    The logs are rows of the table as just stored; without `traces` there are neither traces nor
    series.
    """
    of_number: Counter[int] = Counter()
    for log in logs:
        of_number[log["number"]] += _log_digest([log[name] for name in _LOG_HEAD])
    for chunk in chunks(keys, KEYS):
        sums = _sums_over_time(connection, chunk, _OVER_TIME if traces else ())
        for key in chunk:
            if key[1] in of_number:
                sums[key] += of_number[key[1]]
        rows = [
            {"run_case": run_case, "number": number, "upper": ~_BESIDE, "actual": actual}
            for (run_case, number), actual in _lower_halves(sums).items()
        ]
        if rows:
            connection.execute(_SEAL, rows)


def check_checksums(connection: Connection) -> ChecksumReport:
    """Compare each replication with its checksum; some 3 µs for each value.

    Then each trace and each series with its own.
    """
    total, without = _counts(connection)
    uncovered: list[Key] = []
    changed = tuple(_changed(connection, uncovered))
    return ChecksumReport(total, without, changed, len(uncovered))


def refuse_changed(connection: Connection, database: str, most: int | None = None) -> None:
    """Raise StoreError if a replication, its trace, its series or its logs have changed.

    With `most` only values are looked at, and where there are more of them nothing is.
    """
    if most is not None:
        values = select(Measurement.number).limit(most + 1).subquery()
        if connection.execute(select(func.count()).select_from(values)).scalar_one() > most:
            return
    changed = list(_changed(connection, None if most is not None else []))
    if changed:
        wrong = plural(len(changed), "replication that is", "replications that are")
        raise StoreError(
            f"the database {database} has {wrong} not what was stored, such as {changed[0]}: "
            "`railgauge db check` lists them; restore a backup, or copy the database without them "
            "by `railgauge db copy`"
        )


def _counts(connection: Connection) -> tuple[int, int]:
    """Return how many replications there are, and how many of them have no checksum."""
    query = select(func.count(), func.count(Replication.checksum)).select_from(Replication)
    total, summed = connection.execute(query).one()
    return total, total - summed


def _changed(connection: Connection, uncovered: list[Key] | None) -> Iterator[ChangedReplication]:
    """Yield what has changed; with `uncovered`, a list to add to, also of what isn't values."""
    metrics = {
        key: (name, unit)
        for key, name, unit in fetch(connection, select(Metric.id, Metric.name, Metric.unit))
    }
    damaged: set[Key] = set()
    for table in (TraceRow, SeriesRow) if uncovered is not None else ():
        for key in damaged_rows(connection, table):
            damaged.add(key)
            yield _named(connection, key, table.__tablename__)
    # Most databases have neither.
    tables = [
        table for table in _OVER_TIME if connection.execute(select(table.c.number).limit(1)).first()
    ]
    for span in spans(connection):
        values = _values(connection, span, metrics)
        query = select(*_SUMMED).where(span.of(TABLES["replication"])).order_by(*_SUMMED[:2])
        rows = connection.execute(query).all()
        beside: Mapping[Key, int] | None = None
        if uncovered is not None:
            launches = {(row[0], row[1]): row.launch_id for row in rows}
            beside = _beside(connection, launches, tables)
        for run_case, number, status, started_at, code, message, stored, _ in rows:
            key = run_case, number
            own = checksum(number, status, started_at, (code, message), values.pop(key, []))
            actual = None if beside is None or key in damaged else beside.get(key, _NOTHING)
            if part := _changed_part(stored, own, actual):
                yield _named(connection, key, part)
            elif uncovered is not None and beside and key in beside and not _covers(stored, own):
                uncovered.append(key)


def _covers(stored: int | None, own: int) -> bool:
    """Return whether a checksum is of traces, series and logs, too: an older railgauge's isn't."""
    return stored is not None and stored != own and stored & _BESIDE != 0


def _changed_part(stored: int | None, own: int, actual: int | None) -> str:
    """Return the table that isn't what was stored, BESIDE or "" for none.

    `own` is the checksum of what stands there, `actual` its lower half, None if that isn't asked.
    """
    if stored is None or stored == own:
        return ""
    # Not even a number may a damaged one be.
    if not isinstance(stored, int) or unsaid(stored) != unsaid(own):
        return Replication.__tablename__
    is_other = _covers(stored, own) and actual not in (None, stored & _BESIDE)
    return BESIDE if is_other else ""


def _named(connection: Connection, key: Key, table: str) -> ChangedReplication:
    query = (
        select(RunCase.run_id, RunCase.test, BenchCase.key, BenchCase.link)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .where(RunCase.id == key[0])
    )
    return ChangedReplication(*connection.execute(query).one(), *key, table)


def _values(
    connection: Connection, span: Span, metrics: Mapping[int, tuple[str, str]]
) -> dict[Key, list[NamedValue]]:
    """Return the span's values by replication; what is none, as a damaged file may hold, is NaN."""
    values: dict[Key, list[NamedValue]] = {}
    columns = (Measurement.run_case_id, Measurement.number, Measurement.metric_id)
    query = select(*columns, Measurement.value).where(span.of(TABLES["value"]))
    # All of them, so that a large case's numbers are looked up and not searched for.
    query = query.where(Measurement.metric_id.in_(list(metrics)))
    for run_case, number, metric, value in fetch(connection, query):
        number_or_nan = value if isinstance(value, float | int) else math.nan
        values.setdefault((run_case, number), []).append((*metrics[metric], number_or_nan))
    return values


def _beside(
    connection: Connection, launches: Mapping[Key, int | None], tables: Sequence[Table]
) -> dict[Key, int]:
    """Return 32 bits on what these replications (with their launches) have beside their values.

    In the `tables` of traces and series, and logs. Never 0; those that have nothing are left out.
    The same in each database.
    """
    sums: Counter[Key] = Counter()
    for keys in chunks(launches, KEYS):
        sums.update(_sums_over_time(connection, keys, tables))
        pairs: dict[tuple[int, int], list[Key]] = {}
        for key in keys:
            if (launch := launches[key]) is not None:
                pairs.setdefault((launch, key[1]), []).append(key)
        for pair, log in _log_digests(connection, list(pairs)):
            for key in pairs[pair]:
                sums[key] += log
    return _lower_halves(sums)


def _sums_over_time(
    connection: Connection, keys: Sequence[Key], tables: Sequence[Table]
) -> Counter[Key]:
    """Return the sum of the digests of these replications' rows in the tables, by replication."""
    sums: Counter[Key] = Counter()
    for table in tables:
        query = select(table).where(same_keys((table.c.run_case_id, table.c.number), keys))
        for row in chain.from_iterable(fetch_rows(connection, query, _TRACES)):
            sums[row.run_case_id, row.number] += _digest(_text(table, row))
    return sums


def _lower_halves(sums: Mapping[Key, int]) -> dict[Key, int]:
    return {key: total % (_BESIDE - 1) + 2 for key, total in sums.items()}


def _log_digests(connection: Connection, pairs: list[tuple[int, int]]) -> Iterator[tuple[Key, int]]:
    """Yield the (launch, number) of each log of these, and its digest."""
    if not pairs:
        return
    columns = (LOG.c.launch_id, LOG.c.number, *(LOG.c[name] for name in _LOG_HEAD))
    query = select(*columns).where(same_keys(columns[:2], pairs))
    for launch, number, *head in connection.execute(query).all():
        yield (launch, number), _log_digest(head)


def _log_digest(head: list[Any]) -> int:
    """Return a digest of what log it is (the columns `_LOG_HEAD`).

    Not of its counters: to read a dozen tables back would double what storing a replication takes.
    """
    return _digest(repr(head))


def _text(table: Table, row: DatabaseRow) -> str:
    """Return a row's contents, whatever its database numbers."""
    stored = [row._mapping[name] for name in sorted({*table.columns.keys()} - _OF_ONE_DATABASE)]
    return f"{table.name} {stored}"


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little")
