"""Traces: stored whole, beside the loss runs found in those of arrivals, and read one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, insert, select

from railgauge.base import intervals
from railgauge.base.arrays import NDArray, np
from railgauge.base.errors import InputError, StoreError, TraceError
from railgauge.base.intervals import Intervals
from railgauge.base.trace import Trace, decode, loss_runs, pack, unpack
from railgauge.plan.cases import Value
from railgauge.store.models import (
    BenchCase,
    LaunchRow,
    LossRun,
    Replication,
    RunCase,
    SeriesRow,
    TraceRow,
)
from railgauge.store.read import CASE_COLUMNS, fetch_with_cases, find_run
from railgauge.store.records import Outcome, StoredTrace

# Loss runs inserted at once: a stream that lost every other datagram has millions.
_ROWS = 20_000
Stored = type[TraceRow] | type[SeriesRow]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PreparedTrace:
    """A trace's or a series' row and its loss runs (k, 2), ready to be stored."""

    table: Stored
    row: dict[str, Any]
    runs: NDArray[np.int64]


def prepare(outcome: Outcome) -> PreparedTrace | None:
    """Return what to store of the outcome's trace, None if there is nothing.

    Warm-ups and failed replications keep none. StoreError when it is no trace. Takes
    seconds for millions of arrivals, so it's done before the database is locked.
    """
    if not outcome.trace or outcome.warmup or outcome.status == "failed":
        return None
    is_series = outcome.trace.startswith(intervals.MAGIC)
    try:
        trace = intervals.decode(outcome.trace) if is_series else decode(outcome.trace)
    except TraceError as error:
        raise StoreError(
            f"replication {outcome.replication} has no usable trace: {error}"
        ) from error
    row = _counts(trace) | {"number": outcome.replication, "data": pack(outcome.trace)}
    if isinstance(trace, Intervals):
        return PreparedTrace(SeriesRow, row, np.empty((0, 2), np.int64))
    return PreparedTrace(TraceRow, row, loss_runs(trace))


def _counts(trace: Trace | Intervals) -> dict[str, Any]:
    """Return what a trace's or a series' row says of it."""
    recorded = trace.rows if isinstance(trace, Intervals) else len(trace.sequence)
    return {"sent": trace.sent, "arrived": trace.arrived, "recorded": recorded}


def insert_trace(connection: Connection, run_case_id: int, prepared: PreparedTrace) -> None:
    """Store the trace and its loss runs."""
    connection.execute(insert(prepared.table), prepared.row | {"run_case_id": run_case_id})
    for start in range(0, len(prepared.runs), _ROWS):
        connection.execute(
            insert(LossRun),
            [
                {
                    "run_case_id": run_case_id,
                    "number": prepared.row["number"],
                    "place": place,
                    "after_sequence": after,
                    "lost": lost,
                }
                for place, (after, lost) in enumerate(
                    prepared.runs[start : start + _ROWS].tolist(), start
                )
            ],
        )


def damaged_rows(connection: Connection, table: Stored) -> Iterator[tuple[int, int]]:
    """Yield the (run case, number) of each trace or series that isn't what was stored.

    The bytes have zlib's checksum; what stands beside them is compared with what is in them.
    """
    read = unpack if table is TraceRow else intervals.unpack
    keys = select(table.run_case_id, table.number).order_by(table.run_case_id, table.number)
    for key in connection.execute(keys).all():
        same_key = (table.run_case_id == key[0], table.number == key[1])
        query = select(table.sent, table.arrived, table.recorded, table.data).where(*same_key)
        row = connection.execute(query).one()
        try:
            trace = read(row.data)
        except TraceError:
            yield key[0], key[1]
            continue
        counts = _counts(trace)
        runs = _stored_loss_runs(connection, *key)
        if counts != {name: getattr(row, name) for name in counts} or (
            isinstance(trace, Trace) and not np.array_equal(runs, loss_runs(trace))
        ):
            yield key[0], key[1]


def _stored_loss_runs(connection: Connection, run_case_id: int, number: int) -> NDArray[np.int64]:
    query = (
        select(LossRun.after_sequence, LossRun.lost)
        .where(LossRun.run_case_id == run_case_id, LossRun.number == number)
        .order_by(LossRun.place)
    )
    rows = [tuple(row) for row in connection.execute(query)]
    return np.array(rows, np.int64).reshape(-1, 2)


def stored_traces(
    connection: Connection,
    runs: Iterable[int],
    *,
    replication: int | None = None,
    table: Stored = TraceRow,
) -> list[StoredTrace]:
    """Return which traces there are, run by run: cases in the plan's order, then replications.

    With `replication` those of that number only. The traces themselves are read by `load_trace`,
    one at a time, as each may have millions of arrivals.
    """
    return [
        trace
        for run in dict.fromkeys(runs)
        for trace in _of_run(connection, run, replication, table)
    ]


def stored_intervals(
    connection: Connection, runs: Iterable[int], *, replication: int | None = None
) -> list[StoredTrace]:
    """Return which series there are, as `stored_traces` does; `load_intervals` reads them."""
    return stored_traces(connection, runs, replication=replication, table=SeriesRow)


def _of_run(
    connection: Connection, run_id: int, replication: int | None, table: Stored
) -> list[StoredTrace]:
    plan = find_run(connection, run_id).plan
    query = _traces(
        select(
            *CASE_COLUMNS,
            RunCase.test,
            table.number,
            table.sent,
            table.arrived,
            table.recorded,
        ),
        table,
    ).where(RunCase.run_id == run_id)
    if replication is not None:
        query = query.where(table.number == replication)
    rows = fetch_with_cases(connection, query.order_by(RunCase.id, table.number))
    return [StoredTrace(run_id, plan, test, case, *numbers) for case, (test, *numbers) in rows]


def load_trace(connection: Connection, stored: StoredTrace) -> Trace:
    """Return the trace itself; InputError when this database hasn't it, StoreError if damaged."""
    return _load(connection, stored, TraceRow, unpack)


def load_intervals(connection: Connection, stored: StoredTrace) -> Intervals:
    """Return the series that is stored as that trace; errors as of `load_trace`."""
    return _load(connection, stored, SeriesRow, intervals.unpack)


def _load(
    connection: Connection, stored: StoredTrace, table: Stored, read: Callable[[bytes], T]
) -> T:
    query = _traces(select(table.data), table).where(
        RunCase.run_id == stored.run,
        RunCase.test == stored.test,
        BenchCase.key == stored.case.key,
        table.number == stored.replication,
    )
    blob = connection.execute(query).scalar()
    where = f"replication {stored.replication} of test {stored.test!r} in run {stored.run}"
    if blob is None:
        raise InputError(f"there is no trace of {where}: is this another database?")
    try:
        return read(blob)
    except TraceError as error:
        raise StoreError(f"the trace of {where} is damaged: {error}") from error


def trace_settings(connection: Connection, stored: StoredTrace) -> Mapping[str, Value]:
    """Return what the client reported of the launch that the trace came from, if anything."""
    query = (
        select(LaunchRow.client)
        .join(Replication, Replication.launch_id == LaunchRow.id)
        .where(Replication.number == stored.replication)
    )
    text = connection.execute(_of_case(query, stored)).scalar()
    settings: dict[str, Value] = json.loads(text or "{}")
    return settings


def trace_age(connection: Connection, stored: StoredTrace) -> float:
    """Return the seconds from its launch's first replication, or warm-up, to the trace's own."""
    query = select(Replication.number, Replication.launch_id, Replication.started_at)
    rows = connection.execute(_of_case(query, stored)).all()
    launch, own = next(row[1:] for row in rows if row.number == stored.replication)
    moments = [row.started_at for row in rows if row.launch_id == launch and row.started_at]
    if not moments or own is None:
        return 0.0
    passed = datetime.fromisoformat(own) - min(map(datetime.fromisoformat, moments))
    return passed.total_seconds()


def _of_case(query: Select[*tuple[Any, ...]], stored: StoredTrace) -> Select[*tuple[Any, ...]]:
    return (
        query.join(RunCase, RunCase.id == Replication.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .where(
            RunCase.run_id == stored.run,
            RunCase.test == stored.test,
            BenchCase.key == stored.case.key,
        )
    )


def _traces(query: Select[*tuple[Any, ...]], table: Stored) -> Select[*tuple[Any, ...]]:
    return (
        query.select_from(RunCase)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .join(table, table.run_case_id == RunCase.id)
    )
