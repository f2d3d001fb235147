"""A checksum of each replication and its values: what a disk or a program changed later shows."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from sqlalchemy import Connection, func, select

from railgauge.base.errors import StoreError
from railgauge.store.models import (
    BenchCase,
    Measurement,
    Metric,
    Replication,
    Run,
    RunCase,
    SeriesRow,
    TraceRow,
)
from railgauge.store.read import fetch
from railgauge.store.traces import damaged_rows

_BITS = struct.Struct("<d")
_RUN_CASES = (
    select(Run.id, RunCase.test, BenchCase.key, BenchCase.link, RunCase.id)
    .join(RunCase, RunCase.run_id == Run.id)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .order_by(RunCase.id)
)
# (name, unit, value)
NamedValue = tuple[str, str, float]


@dataclass(frozen=True, slots=True)
class ChangedReplication:
    """A replication, or its trace or series, that isn't what was stored.

    `table` says which of the three; warm-ups have negative numbers.
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
    """How many replications were looked at, how many had no checksum, which ones have changed."""

    replications: int
    without: int
    changed: tuple[ChangedReplication, ...]


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
    for text in (status, started_at, *error):
        digest.update(b"\1" if text is None else b"\0" + text.encode())
    for name, unit, value in sorted(values):
        digest.update(f"\2{name}\0{unit}\0".encode())
        # SQLite has no zero below zero.
        digest.update(_BITS.pack(value + 0.0))
    return int.from_bytes(digest.digest(), "little", signed=True)


def check_checksums(connection: Connection) -> ChecksumReport:
    """Compare each replication with its checksum; some 3 µs for each value.

    Then each trace and each series with its own.
    """
    total, without = _counts(connection)
    changed = (*_changed(connection), *_changed_traces(connection))
    return ChecksumReport(total, without, changed)


def refuse_changed(connection: Connection, database: str, most: int | None = None) -> None:
    """Raise StoreError if a replication, its trace or its series has changed.

    With `most` traces and series are left out, and where there are more values don't look.
    """
    if most is not None:
        values = select(Measurement.number).limit(most + 1).subquery()
        if connection.execute(select(func.count()).select_from(values)).scalar_one() > most:
            return
    changed = list(_changed(connection))
    if most is None:
        changed += _changed_traces(connection)
    if changed:
        raise StoreError(
            f"the database {database} has {len(changed):,} replications that are not what was "
            f"stored, such as {changed[0]}: `railgauge db check` lists them; restore a backup, or "
            "copy the database without them by `railgauge db copy`"
        )


def _counts(connection: Connection) -> tuple[int, int]:
    """Return how many replications there are, and how many of them have no checksum."""
    query = select(func.count(), func.count(Replication.checksum)).select_from(Replication)
    total, summed = connection.execute(query).one()
    return total, total - summed


def _changed(connection: Connection) -> Iterator[ChangedReplication]:
    names = {
        key: (name, unit)
        for key, name, unit in fetch(connection, select(Metric.id, Metric.name, Metric.unit))
    }
    for run, test, key, link, run_case in connection.execute(_RUN_CASES).all():
        values = _values(connection, run_case)
        replications = (
            select(
                Replication.number,
                Replication.status,
                Replication.started_at,
                Replication.error_code,
                Replication.error_message,
                Replication.checksum,
            )
            .where(Replication.run_case_id == run_case, Replication.checksum.is_not(None))
            .order_by(Replication.number)
        )
        for number, status, started_at, *error, stored in fetch(connection, replications):
            named = [
                (*names.get(metric, ("", "")), value) for metric, value in values.get(number, ())
            ]
            # What a column of numbers can't hold, a damaged one may.
            if not all(isinstance(value, float | int) for *_, value in named) or (
                stored != checksum(number, status, started_at, (error[0], error[1]), named)
            ):
                yield ChangedReplication(run, test, key, link, run_case, number)


def _changed_traces(connection: Connection) -> Iterator[ChangedReplication]:
    names = {row[-1]: row for row in connection.execute(_RUN_CASES).all()}
    for table in (TraceRow, SeriesRow):
        for run_case, number in damaged_rows(connection, table):
            yield ChangedReplication(*names[run_case], number, table.__tablename__)


def _values(connection: Connection, run_case: int) -> dict[int, list[tuple[int, float]]]:
    query = (
        select(Measurement.number, Measurement.metric_id, Measurement.value)
        .where(Measurement.run_case_id == run_case)
        .order_by(Measurement.number)
    )
    return {
        number: [(metric, value) for _, metric, value in rows]
        for number, rows in groupby(fetch(connection, query), key=itemgetter(0))
    }
