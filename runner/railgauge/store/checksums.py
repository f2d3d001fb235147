"""A checksum of each replication and its values: what a disk or a program changed later shows."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import Connection, bindparam, func, select

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
_SUMMED = (
    select(
        Replication.run_case_id,
        Replication.number,
        Replication.status,
        Replication.started_at,
        Replication.error_code,
        Replication.error_message,
        Replication.checksum,
    )
    .join(RunCase, RunCase.id == Replication.run_case_id)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .where(RunCase.run_id == bindparam("run"), Replication.checksum.is_not(None))
    .order_by(Replication.run_case_id, Replication.number)
)
_VALUES = (
    select(Measurement.run_case_id, Measurement.number, Measurement.metric_id, Measurement.value)
    .join(RunCase, RunCase.id == Measurement.run_case_id)
    .where(RunCase.run_id == bindparam("run"))
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
    for run in connection.scalars(select(Run.id).order_by(Run.id)).all():
        run_cases = {
            key: (test, case_key, link)
            for key, test, case_key, link in connection.execute(
                select(RunCase.id, RunCase.test, BenchCase.key, BenchCase.link)
                .join(BenchCase, BenchCase.id == RunCase.case_id)
                .where(RunCase.run_id == run)
            )
        }
        values = _values(connection, run)
        for run_case, number, status, started_at, code, message, stored in fetch(
            connection, _SUMMED, run=run
        ):
            named = [
                (*names.get(metric, ("", "")), value)
                for metric, value in values.get((run_case, number), ())
            ]
            # What a column of numbers can't hold, a damaged one may.
            if not all(isinstance(value, float | int) for *_, value in named) or (
                stored != checksum(number, status, started_at, (code, message), named)
            ):
                yield ChangedReplication(run, *run_cases[run_case], run_case, number)


def _changed_traces(connection: Connection) -> Iterator[ChangedReplication]:
    for table in (TraceRow, SeriesRow):
        for run_case, number in damaged_rows(connection, table):
            query = (
                select(RunCase.run_id, RunCase.test, BenchCase.key, BenchCase.link)
                .join(BenchCase, BenchCase.id == RunCase.case_id)
                .where(RunCase.id == run_case)
            )
            names = connection.execute(query).one()
            yield ChangedReplication(*names, run_case, number, table.__tablename__)


def _values(connection: Connection, run: int) -> dict[tuple[int, int], list[tuple[int, float]]]:
    values: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for run_case, number, metric, value in fetch(connection, _VALUES, run=run):
        values.setdefault((run_case, number), []).append((metric, value))
    return values
