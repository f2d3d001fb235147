"""The measured values: the one query that has to be fast over millions of rows."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, func, select
from sqlalchemy.orm import InstrumentedAttribute

from railgauge.cases import Case
from railgauge.store.models import BenchCase, Measurement, Metric, Replication, RunCase, RunMetric
from railgauge.store.read import CASE_COLUMNS, fetch, find_run, make_cases
from railgauge.store.records import Series


@dataclass(slots=True)
class _RunCase:
    id: int
    test: str
    asked: int
    skipped: str
    case: Case
    failed: int = 0


# run_case id -> metric id -> values and which of them are suspect, by number of replication
_Found = dict[int, dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]]]
_NOTHING = (np.zeros(0), np.zeros(0, dtype=np.bool_))


def all_series(
    connection: Connection, runs: Iterable[int], metrics: Collection[str] | None
) -> list[Series]:
    """Return the series of all the runs: by run, then by the order of its cases and metrics."""
    with _no_garbage_collection():
        return [found for run in runs for found in _run_series(connection, run, metrics)]


def _run_series(
    connection: Connection, run_id: int, metrics: Collection[str] | None
) -> list[Series]:
    plan = find_run(connection, run_id).plan
    cases = _cases(connection, run_id)
    infos = _metrics(connection, run_id, metrics)
    suspects = _exceptions(connection, run_id, cases)
    found = _values(connection, run_id, infos, suspects)
    expected = _expected(cases, infos, found, named=metrics is not None)
    series = []
    for row in cases.values():
        values_of = found.get(row.id) or dict.fromkeys(expected[row.test], _NOTHING)
        for metric_id, (values, suspect) in values_of.items():
            info = infos[metric_id]
            series.append(
                Series(
                    run=run_id,
                    plan=plan,
                    test=row.test,
                    case=row.case,
                    metric=info.name,
                    unit=info.unit,
                    better=info.better,
                    values=values,
                    suspect=suspect,
                    failed=row.failed,
                    asked=row.asked,
                    skipped=row.skipped,
                )
            )
    return series


def _expected(
    cases: Mapping[int, _RunCase], infos: Mapping[int, Any], found: _Found, *, named: bool
) -> dict[str, list[int]]:
    """Return test -> the metrics that a case without any value should have had.

    They are those which the test's other cases have or, if none has any, those asked for by name.
    """
    seen: dict[str, dict[int, None]] = {row.test: {} for row in cases.values()}
    for run_case_id, values_of in found.items():
        seen[cases[run_case_id].test].update(dict.fromkeys(values_of))
    engines = {row.test: row.case.engine for row in cases.values()}
    return {
        test: list(metrics)
        or [number for number, info in infos.items() if named and info.engine == engines[test]]
        for test, metrics in seen.items()
    }


def _cases(connection: Connection, run_id: int) -> dict[int, _RunCase]:
    query = (
        select(RunCase.id, RunCase.test, RunCase.replications, RunCase.skipped, *CASE_COLUMNS)
        .join(BenchCase)
        .where(RunCase.run_id == run_id)
        .order_by(RunCase.id)
    )
    rows = list(fetch(connection, query))
    cases = make_cases(connection, [row[4:] for row in rows])
    return {
        row[0]: _RunCase(row[0], row[1], row[2], row[3] or "", case)
        for row, case in zip(rows, cases, strict=True)
    }


def _metrics(connection: Connection, run_id: int, names: Collection[str] | None) -> dict[int, Any]:
    wanted = (
        select(Metric.id, Metric.engine, Metric.name, Metric.unit, Metric.better)
        .join(RunMetric)
        .where(RunMetric.run_id == run_id)
        .order_by(Metric.id)
    )
    rows = connection.execute(wanted)
    return {row.id: row for row in rows if names is None or row.name in names}


def _exceptions(
    connection: Connection, run_id: int, cases: Mapping[int, _RunCase]
) -> dict[int, list[int]]:
    """Count the failed replications into `cases` and return the suspect ones' numbers by case."""
    suspects: dict[int, list[int]] = {}
    query = (
        select(Replication.run_case_id, Replication.number, Replication.status)
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(RunCase.run_id == run_id, Replication.number > 0, Replication.status != "ok")
    )
    for run_case_id, number, status in fetch(connection, query):
        if status == "failed":
            cases[run_case_id].failed += 1
        else:
            suspects.setdefault(run_case_id, []).append(number)
    return suspects


def _values(
    connection: Connection,
    run_id: int,
    metric_ids: Iterable[int],
    suspects: Mapping[int, Sequence[int]],
) -> _Found:
    found: _Found = {}
    for metric_id in metric_ids:
        # Two scans in one order, sizes and values: so each value crosses into Python alone, which
        # takes half the time of whole rows.
        size, last = func.count(), func.max(Measurement.number)
        query = _of_metric(select(RunCase.id, size, last), run_id, metric_id)
        sizes = list(fetch(connection, query.group_by(RunCase.id).order_by(RunCase.id)))
        values = _column(connection, Measurement.value, run_id, metric_id)
        flags = np.zeros(len(values), dtype=np.bool_)
        # Without gaps, the n-th value is the one of replication n.
        gaps = any(row[1] != row[2] for row in sizes if row[0] in suspects)
        numbers = _column(connection, Measurement.number, run_id, metric_id) if gaps else None
        end = 0
        for run_case_id, count, _ in sizes:
            start, end = end, end + count
            if run_case_id in suspects:
                present = np.arange(1, count + 1) if numbers is None else numbers[start:end]
                flags[start:end] = np.isin(present, suspects[run_case_id])
            found.setdefault(run_case_id, {})[metric_id] = values[start:end], flags[start:end]
    return found


def _column(
    connection: Connection, which: InstrumentedAttribute[Any], run_id: int, metric_id: int
) -> NDArray[np.float64]:
    query = _of_metric(select(which), run_id, metric_id).order_by(RunCase.id, Measurement.number)
    return np.fromiter(chain.from_iterable(fetch(connection, query)), np.float64)


def _of_metric(
    query: Select[*tuple[Any, ...]], run_id: int, metric_id: int
) -> Select[*tuple[Any, ...]]:
    return (
        query.select_from(RunCase)
        .join(Measurement, Measurement.run_case_id == RunCase.id)
        .where(
            RunCase.run_id == run_id,
            Measurement.metric_id == metric_id,
            Measurement.number > 0,
        )
    )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the collector from walking through all of what is being built, again and again.

    It finds nothing there, as records hold no cycles, and takes a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
