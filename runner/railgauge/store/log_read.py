"""System logs come out of their tables, as they went in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Select, Table, case, select

from railgauge.base.errors import StoreError
from railgauge.base.systemlog import Phase, SoakLoad, SystemLog, TimeSeries
from railgauge.store import log_models as tables
from railgauge.store.log_rows import counters
from railgauge.store.log_series import (
    PackedSeries,
    unpack_counters,
    unpack_numbers,
    unpack_series,
)
from railgauge.store.models import BenchCase, Replication, RunCase
from railgauge.store.read import CASE_COLUMNS, fetch, fetch_with_cases, find_run
from railgauge.store.records import StoredLog
from railgauge.store.write import chunks, look_up

_LOG = tables.LOG.c
_HEAD = (
    _LOG.id,
    _LOG.host,
    _LOG.phase,
    _LOG.started_at,
    _LOG.elapsed,
    _LOG.ticks_per_second,
    _LOG.label_set_id,
)
_COUNTERS: Sequence[Table] = (
    tables.HOST_LOG,
    tables.MEMORY_LOG,
    tables.CPU_LOG,
    tables.INTERFACE_LOG,
    tables.INTERRUPT_LOG,
    tables.FABRIC_LOG,
    tables.COUNTER_LOG,
)


@dataclass(slots=True)
class _LogParts:
    """A log's own row, where it belongs (for messages), and what the other tables say of it."""

    head: Sequence[Any]
    place: str
    counts: dict[str, int] = field(default_factory=dict)
    gauges: dict[str, int] = field(default_factory=dict)
    soak: list[SoakLoad] = field(default_factory=list)
    series: TimeSeries | None = None


def of_run(
    query: Select[*tuple[Any, ...]],
    run_id: int,
    test: str | None,
    case_key: str | None,
) -> Select[*tuple[Any, ...]]:
    """Return the query with run_case, bench_case and replication, measured ones of that run."""
    query = (
        query.select_from(RunCase)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .join(Replication, Replication.run_case_id == RunCase.id)
        .where(RunCase.run_id == run_id, Replication.number > 0)
    )
    if test is not None:
        query = query.where(RunCase.test == test)
    return query if case_key is None else query.where(BenchCase.key == case_key)


def logs(
    connection: Connection,
    run_id: int,
    *,
    test: str | None = None,
    case_key: str | None = None,
    series: bool = False,
) -> list[StoredLog]:
    """Return the system logs of the run's replications: by case, replication, then host.

    The client's comes first, a group's are by rank; of a group's pair only the pair's two hosts
    come. Warm-ups are left out. Time series come with `series`; StoreError for a damaged one.
    """
    find_run(connection, run_id)
    query = (
        of_run(
            select(*CASE_COLUMNS, RunCase.test, Replication.number, *_HEAD), run_id, test, case_key
        )
        .join(
            tables.LOG,
            (_LOG.launch_id == Replication.launch_id)
            # Plus 0, or SQLite would take the number's bound for the log's, and search by that.
            & (_LOG.number == Replication.number + 0)
            & _LOG.scope.in_(["", BenchCase.client_host, BenchCase.server_host]),
        )
        .order_by(
            RunCase.id,
            Replication.number,
            # A group's pair may have the client as the later one.
            case((_LOG.scope.in_(["", BenchCase.client_host]), 0), else_=1),
            _LOG.id,
        )
    )
    rows = list(fetch_with_cases(connection, query))
    parts = {
        head[0]: _LogParts(head, f"replication {number} of test {name!r} in run {run_id}")
        for _, (name, number, *head) in rows
    }
    complete = _complete_logs(connection, parts, series=series)
    return [
        StoredLog(run_id, name, measured_case, number, complete[log_id])
        for measured_case, (name, number, log_id, *_) in rows
    ]


def run_logs(connection: Connection, run_id: int) -> list[StoredLog]:
    """Return the system logs of the idle stretches before and after the run, as they came."""
    find_run(connection, run_id)
    query = select(*_HEAD).where(_LOG.run_id == run_id, _LOG.launch_id.is_(None)).order_by(_LOG.id)
    parts = {
        row[0]: _LogParts(row, f"the stretch {row[2]} run {run_id}")
        for row in fetch(connection, query)
    }
    complete = _complete_logs(connection, parts, series=True)
    return [StoredLog(run_id, "", None, None, log) for log in complete.values()]


def _complete_logs(
    connection: Connection, parts: Mapping[int, _LogParts], *, series: bool
) -> dict[int, SystemLog]:
    for log_ids in chunks(parts):
        for table in _COUNTERS:
            _add_counters(connection, table, log_ids, parts)
        for log_id, *load in _of_logs(connection, tables.SOAK_LOG, log_ids):
            parts[log_id].soak.append(SoakLoad(*load))
        _add_protocols(connection, log_ids, parts)
        if series:
            _add_series(connection, log_ids, parts)
    labels = _labels(connection, {log.head[-1] for log in parts.values()} - {None})
    return {
        log_id: SystemLog(
            host=log.head[1],
            phase=cast(Phase, log.head[2]),
            started_at=datetime.fromisoformat(log.head[3]).timestamp(),
            elapsed=log.head[4],
            ticks_per_second=log.head[5],
            counts=log.counts,
            gauges=log.gauges,
            labels=labels.get(log.head[-1], {}),
            series=log.series,
            soak=tuple(log.soak),
        )
        for log_id, log in parts.items()
    }


def _of_logs(connection: Connection, table: Table, ids: Sequence[int]) -> Iterable[Sequence[Any]]:
    query = select(table).where(table.c.log_id.in_(ids)).order_by(*table.primary_key)
    return fetch(connection, query)


def _add_counters(
    connection: Connection, table: Table, ids: Sequence[int], parts: Mapping[int, _LogParts]
) -> None:
    names = table.columns.keys()
    for row in _of_logs(connection, table, ids):
        log = parts[row[0]]
        ticks_per_second = log.head[5]
        for is_gauge, name, count in counters(
            table, dict(zip(names, row, strict=True)), ticks_per_second
        ):
            (log.gauges if is_gauge else log.counts)[name] = count


def _add_protocols(
    connection: Connection, ids: Sequence[int], parts: Mapping[int, _LogParts]
) -> None:
    names: dict[int, str] = {}
    for log_id, *_, gauges, numbers, data in _of_logs(connection, tables.PROTOCOL_LOG, ids):
        log = parts[log_id]
        with _damage_explained(log, "list of its protocols' counters"):
            counters = unpack_counters(_names(connection, numbers, names), data)
            first_gauge = len(counters) - gauges
            if not 0 <= gauges <= len(counters):
                raise StoreError(f"{gauges} of its {len(counters)} counters can't be gauges")
            log.counts.update(counters[:first_gauge])
            log.gauges.update(counters[first_gauge:])


def _add_series(connection: Connection, ids: Sequence[int], parts: Mapping[int, _LogParts]) -> None:
    # One at a time: many long ones would not fit into memory compressed and unpacked.
    names: dict[int, str] = {}
    for log_id, samples, numbers, data in list(_of_logs(connection, tables.LOG_SERIES, ids)):
        log = parts[log_id]
        with _damage_explained(log, "time series"):
            counter_names = _names(connection, numbers, names)
            log.series = unpack_series(PackedSeries(samples, counter_names, data))


@contextmanager
def _damage_explained(log: _LogParts, content: str) -> Iterator[None]:
    """Raise StoreError, a sentence, for what can't be unpacked of the log."""
    try:
        yield
    except (StoreError, KeyError) as error:
        reason = "a counter's name is missing" if isinstance(error, KeyError) else error
        raise StoreError(
            f"the {content} of host {log.head[1]} in {log.place} is damaged: {reason}. "
            "What was measured is stored apart from it and can be read"
        ) from error


def _names(connection: Connection, numbers: bytes, names: dict[int, str]) -> tuple[str, ...]:
    """Return the packed numbers' names; `names` keeps those that were looked up."""
    counter_ids = unpack_numbers(numbers)
    _look_up(connection, counter_ids, names)
    return tuple(names[number] for number in counter_ids)


def _look_up(connection: Connection, numbers: Iterable[int], names: dict[int, str]) -> None:
    # No number of a damaged series may be one that the database refuses to compare.
    unknown = [number for number in numbers if number not in names and 0 < number < 2**31]
    names.update(look_up(connection, tables.COUNTER.c.id, tables.COUNTER.c.name, unknown))


def _labels(connection: Connection, sets: Iterable[int]) -> dict[int, dict[str, str]]:
    labels: dict[int, dict[str, str]] = {}
    for chunk in chunks(sorted(sets)):
        query = select(tables.LABEL).where(tables.LABEL.c.label_set_id.in_(chunk))
        for number, name, label in fetch(connection, query):
            labels.setdefault(number, {})[name] = label
    return labels
