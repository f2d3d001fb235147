"""The measured values: the one query that has to be fast over millions of rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, func, select

from railgauge.cases import Case
from railgauge.store.models import BenchCase, Measurement, Metric, Replication, RunCase, RunMetric
from railgauge.store.read import CASE_COLUMNS, find_run, make_case
from railgauge.store.records import Series


@dataclass(slots=True)
class _RunCase:
    id: int
    test: str
    asked: int
    case: Case
    failed: int = 0


def run_series(
    connection: Connection, run_id: int, metrics: Collection[str] | None
) -> list[Series]:
    """Return the run's series, by the order of its cases, then of its metrics."""
    plan = find_run(connection, run_id).plan
    cases = _cases(connection, run_id)
    infos = _metrics(connection, run_id, metrics)
    suspects = _exceptions(connection, run_id, cases)
    found = _values(connection, run_id, list(infos))
    seen: dict[str, list[int]] = {}
    for run_case_id, metrics_of_case in found.items():
        known = seen.setdefault(cases[run_case_id].test, [])
        known.extend(metric for metric in metrics_of_case if metric not in known)
    series = []
    for row in cases.values():
        values_of = found.get(row.id) or dict.fromkeys(
            seen.get(row.test) or _named(infos, row, metrics), _NOTHING
        )
        for metric_id, values in values_of.items():
            info = infos[metric_id]
            suspect = np.zeros(len(values), dtype=np.bool_)
            if row.id in suspects and len(values):
                numbers = _numbers(connection, row.id, metric_id)
                suspect = np.isin(numbers, suspects[row.id])
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
                )
            )
    return series


_NOTHING: NDArray[np.float64] = np.zeros(0)


def _named(infos: Mapping[int, Any], row: _RunCase, metrics: Collection[str] | None) -> list[int]:
    """Return the metrics for a case that has no value, in a test that has none: those asked for."""
    if metrics is None:
        return []
    return [number for number, info in infos.items() if info.engine == row.case.engine]


def _cases(connection: Connection, run_id: int) -> dict[int, _RunCase]:
    rows = connection.execute(
        select(RunCase.id, RunCase.test, RunCase.replications, *CASE_COLUMNS)
        .join(BenchCase)
        .where(RunCase.run_id == run_id)
        .order_by(RunCase.position)
    )
    return {row[0]: _RunCase(row[0], row[1], row[2], make_case(*row[3:])) for row in rows}


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
    for run_case_id, number, status in connection.execute(
        select(Replication.run_case_id, Replication.number, Replication.status)
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(RunCase.run_id == run_id, Replication.number > 0, Replication.status != "ok")
    ):
        if status == "failed":
            cases[run_case_id].failed += 1
        else:
            suspects.setdefault(run_case_id, []).append(number)
    return suspects


def _values(
    connection: Connection, run_id: int, metric_ids: Sequence[int]
) -> dict[int, dict[int, NDArray[np.float64]]]:
    """Return run_case id -> metric id -> values by number of replication."""
    # Sizes and values by two scans in the same order: so each value crosses into Python alone,
    # which takes half the time of fetching every row's key with it.
    order = (Measurement.run_case_id, Measurement.metric_id)
    sizes = connection.execute(
        _of_run(select(*order, func.count()), run_id, metric_ids).group_by(*order).order_by(*order)
    ).all()
    values = connection.execute(
        _of_run(select(Measurement.value), run_id, metric_ids).order_by(*order, Measurement.number)
    )
    flat = np.fromiter(chain.from_iterable(values), np.float64, sum(size for *_, size in sizes))
    found: dict[int, dict[int, NDArray[np.float64]]] = {}
    end = 0
    for run_case_id, metric_id, size in sizes:
        start, end = end, end + size
        found.setdefault(run_case_id, {})[metric_id] = flat[start:end]
    return found


def _of_run(
    query: Select[*tuple[Any, ...]], run_id: int, metric_ids: Sequence[int]
) -> Select[*tuple[Any, ...]]:
    return (
        query.select_from(RunCase)
        .join(Measurement, Measurement.run_case_id == RunCase.id)
        .where(
            RunCase.run_id == run_id,
            Measurement.metric_id.in_(metric_ids),
            Measurement.number > 0,
        )
    )


def _numbers(connection: Connection, run_case_id: int, metric_id: int) -> list[int]:
    rows = connection.execute(
        select(Measurement.number)
        .where(
            Measurement.run_case_id == run_case_id,
            Measurement.metric_id == metric_id,
            Measurement.number > 0,
        )
        .order_by(Measurement.number)
    )
    return list(rows.scalars())
