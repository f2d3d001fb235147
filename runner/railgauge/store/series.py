"""The measured values: the one query that has to be fast over millions of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

from sqlalchemy import Connection, Select, bindparam, func, select

from railgauge.base.arrays import NDArray, np
from railgauge.base.collector import collector_off
from railgauge.base.errors import StoreError
from railgauge.engine.outcome import ABSENCES, PublishedValue
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.result_metrics import shipped_kind
from railgauge.store.explain import DAMAGED
from railgauge.store.models import (
    BenchCase,
    Measurement,
    Metric,
    PublishedValueRow,
    Replication,
    RunCase,
    RunMetric,
)
from railgauge.store.read import CASE_COLUMNS, RUN_CASE_COLUMNS, fetch, find_run, make_cases
from railgauge.store.records import Series


@dataclass(slots=True)
class MeasuredCase:
    """A case of a run, with what Series says of it whatever the metric."""

    id: int
    case: Case
    test: str
    planned: int
    skipped: str | None
    least: int | None
    rule: str | None
    ended: str | None
    failed: int = 0

    def series(
        self,
        run: int,
        plan: str,
        metric: Any,
        values: NDArray[np.float64],
        suspect: NDArray[np.bool_],
        published: PublishedValue | None = None,
    ) -> Series:
        """Return the series of a metric, of which its row in the database is given.

        A run that doesn't say what it is has it from the tables that ship today.
        """
        published = published or self._absence()
        if published is not None and published.absence is not None and len(values):
            published = None  # Another replication lacks the number.
        return Series(
            run=run,
            plan=plan,
            test=self.test,
            case=self.case,
            metric=metric.name,
            unit=metric.unit,
            better=metric.better,
            values=values,
            suspect=suspect,
            failed=self.failed,
            planned=self.planned,
            skipped=self.skipped or "",
            least=self.least,
            rule=self.rule or "",
            ended=self.ended or "",
            kind=metric.kind or shipped_kind(self.case.engine, metric.name, metric.unit),
            published=published,
        )

    def _absence(self) -> PublishedValue | None:
        """Return why a published table has nothing of the case, if that is why it is left out."""
        absence = next((word for word in ABSENCES if word == self.skipped), None)
        return None if absence is None else PublishedValue(absence=absence)


# run_case id -> metric id -> values and which of them are suspect, by number of replication
_CaseValues: TypeAlias = "dict[int, dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]]]"

# Statements are made once: to make one takes longer than to run it on a small run.
_CASES = (
    select(RunCase.id, *RUN_CASE_COLUMNS, RunCase.case_id)
    .where(RunCase.run_id == bindparam("run_id"))
    .order_by(RunCase.id)
)
_METRICS = (
    select(Metric.id, Metric.engine, Metric.name, Metric.unit, Metric.better, RunMetric.kind)
    .join(RunMetric)
    .where(RunMetric.run_id == bindparam("run_id"))
    .order_by(Metric.id)
)
_EXCEPTIONS = (
    select(Replication.run_case_id, Replication.number, Replication.status)
    .join(RunCase, RunCase.id == Replication.run_case_id)
    .where(
        RunCase.run_id == bindparam("run_id"), Replication.number > 0, Replication.status != "ok"
    )
)


def _of_metric(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        query.select_from(RunCase)
        .join(Measurement, Measurement.run_case_id == RunCase.id)
        .where(
            RunCase.run_id == bindparam("run_id"),
            Measurement.metric_id == bindparam("metric_id"),
            Measurement.number > 0,
        )
    )


_MEASURED = select(RunCase.id).where(
    RunCase.run_id == bindparam("run_id"),
    select(Measurement.run_case_id)
    .where(Measurement.run_case_id == RunCase.id, Measurement.number > 0)
    .exists(),
)
_VALUES, _NUMBERS = (
    _of_metric(select(column)).order_by(RunCase.id, Measurement.number)
    for column in (Measurement.value, Measurement.number)
)
_COUNTED = _of_metric(select(RunCase.id, func.count())).group_by(RunCase.id).order_by(RunCase.id)
# By run case and metric: the fields of PublishedValue.
PUBLISHED = select(
    PublishedValueRow.run_case_id,
    PublishedValueRow.metric_id,
    PublishedValueRow.replications,
    PublishedValueRow.stdev,
    PublishedValueRow.minimum,
    PublishedValueRow.maximum,
    PublishedValueRow.absence,
).join(RunCase, RunCase.id == PublishedValueRow.run_case_id)
_PUBLISHED = PUBLISHED.where(RunCase.run_id == bindparam("run_id"))
_LASTS = (
    select(
        RunCase.id,
        select(func.max(Measurement.number))
        .where(
            Measurement.run_case_id == RunCase.id,
            Measurement.metric_id == bindparam("metric_id"),
            Measurement.number > 0,
        )
        .scalar_subquery(),
    )
    .where(RunCase.run_id == bindparam("run_id"))
    .order_by(RunCase.id)
)


def all_series(
    connection: Connection, runs: Iterable[int], metrics: Collection[str] | None = None
) -> list[Series]:
    """Return every case's values of the named metrics (None: of all).

    By run, then by the order of its cases and metrics. A case without any value has empty series:
    of the metrics its test's other cases have or, where none has any, of those named. So a table
    can distinguish what is missing from what was never asked for. A case that gave values, but
    none of those named, has no series.
    """
    # Runs of one plan share their cases, which take longer to build than their values to read.
    case_cache: dict[int, Case] = {}
    with collector_off():
        return [
            series
            for run in dict.fromkeys(runs)
            for series in _run_series(connection, run, metrics, case_cache)
        ]


def _run_series(
    connection: Connection,
    run_id: int,
    metrics: Collection[str] | None,
    case_cache: dict[int, Case],
) -> list[Series]:
    run = find_run(connection, run_id)
    plan = run.plan
    cases = _cases(connection, run_id, case_cache)
    # Nothing else would show a large file's broken index.
    if run.case_count not in (None, len(cases)):
        raise StoreError(
            f"run {run_id} has {run.case_count} cases and {len(cases)} of them are found: the"
            f" database {DAMAGED}"
        )
    infos = _metrics(connection, run_id, metrics)
    suspects = _exceptions(connection, run_id, cases)
    values_by_case = _values(connection, run_id, infos, suspects)
    no_values = (np.zeros(0), np.zeros(0, dtype=np.bool_))
    # Only what others measured has any: to look for none among a million cases takes a while.
    published = _published(connection, run_id, infos) if run.origin == "imported" else {}
    for (run_case_id, metric_id), absent in published.items():
        if absent.absence is not None:
            values_by_case.setdefault(run_case_id, {}).setdefault(metric_id, no_values)
    expected = _expected(cases, infos, values_by_case, named=metrics is not None)
    excluded = (
        _cases_with_other_metrics(connection, run_id, cases, values_by_case)
        if metrics is not None
        else set()
    )
    series = []
    for row in cases.values():
        if row.id in excluded:
            continue
        # Of an imported run, a test may be of several engines.
        own = [name for name in expected[row.test] if infos[name].engine == row.case.engine]
        values_of = values_by_case.get(row.id) or dict.fromkeys(own, no_values)
        for metric_id, (values, suspect) in values_of.items():
            published_value = published.get((row.id, metric_id))
            series.append(
                row.series(run_id, plan, infos[metric_id], values, suspect, published_value)
            )
    return series


def _published(
    connection: Connection, run_id: int, infos: Mapping[int, Any]
) -> dict[tuple[int, int], PublishedValue]:
    """Return what sources say of the run's values, by run case and metric."""
    return {
        (run_case_id, metric_id): PublishedValue(*published_value)
        for run_case_id, metric_id, *published_value in fetch(connection, _PUBLISHED, run_id=run_id)
        if metric_id in infos
    }


def _expected(
    cases: Mapping[int, MeasuredCase],
    infos: Mapping[int, Any],
    values_by_case: _CaseValues,
    *,
    named: bool,
) -> dict[str, list[int]]:
    """Return test -> the metrics that a case without any value should have had.

    They are those which the test's other cases have or, if none has any, those asked for by name.
    """
    metrics_by_test: dict[str, dict[int, None]] = {row.test: {} for row in cases.values()}
    for run_case_id, values_of in values_by_case.items():
        metrics_by_test[cases[run_case_id].test].update(dict.fromkeys(values_of))
    engines = {row.test: row.case.engine for row in cases.values()}
    return {
        test: list(metrics)
        or [number for number, info in infos.items() if named and info.engine == engines[test]]
        for test, metrics in metrics_by_test.items()
    }


def _cases_with_other_metrics(
    connection: Connection,
    run_id: int,
    cases: Mapping[int, MeasuredCase],
    values_by_case: _CaseValues,
) -> set[int]:
    """Return the cases that were measured, but gave other metrics than those with values."""
    if cases.keys() <= values_by_case.keys():
        return set()
    return {row[0] for row in fetch(connection, _MEASURED, run_id=run_id)} - values_by_case.keys()


def _cases(
    connection: Connection, run_id: int, case_cache: dict[int, Case]
) -> dict[int, MeasuredCase]:
    rows = list(fetch(connection, _CASES, run_id=run_id))
    if any(row[7] not in case_cache for row in rows):
        _load_cases(connection, run_id, case_cache)
    return {
        number: MeasuredCase(number, case_cache[case_id], *columns)
        for number, *columns, case_id in rows
    }


def _load_cases(connection: Connection, run_id: int, case_cache: dict[int, Case]) -> None:
    """Add the run's cases to the cache, by their number in the database."""
    query = (
        select(BenchCase.id, *CASE_COLUMNS)
        .join(RunCase, RunCase.case_id == BenchCase.id)
        .where(RunCase.run_id == run_id)
    )
    new = [row for row in fetch(connection, query) if row[0] not in case_cache]
    cases = make_cases(connection, [row[1:] for row in new])
    case_cache.update(zip([row[0] for row in new], cases, strict=True))


def _metrics(connection: Connection, run_id: int, names: Collection[str] | None) -> dict[int, Any]:
    rows = connection.execute(_METRICS, {"run_id": run_id})
    return {row.id: row for row in rows if names is None or row.name in names}


def _exceptions(
    connection: Connection, run_id: int, cases: Mapping[int, MeasuredCase]
) -> dict[int, list[int]]:
    """Count the failed replications into `cases` and return the suspect ones' numbers by case."""
    suspects: dict[int, list[int]] = {}
    for run_case_id, number, status in fetch(connection, _EXCEPTIONS, run_id=run_id):
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
) -> _CaseValues:
    values_by_case: _CaseValues = {}
    for metric_id in metric_ids:
        # Each value crosses into Python alone, which takes half the time of whole rows; how many
        # each case has is asked beside them, in one order.
        values = _column(connection, _VALUES, run_id, metric_id)
        sizes, gaps = _sizes(connection, run_id, metric_id, len(values))
        flags = np.zeros(len(values), dtype=np.bool_)
        gaps = gaps and any(run_case_id in suspects for run_case_id, _ in sizes)
        numbers = _column(connection, _NUMBERS, run_id, metric_id) if gaps else None
        end = 0
        for run_case_id, count in sizes:
            start, end = end, end + count
            if run_case_id in suspects:
                present = np.arange(1, count + 1) if numbers is None else numbers[start:end]
                flags[start:end] = np.isin(present, suspects[run_case_id])
            values_by_case.setdefault(run_case_id, {})[metric_id] = (
                values[start:end],
                flags[start:end],
            )
    return values_by_case


def _sizes(
    connection: Connection, run_id: int, metric_id: int, stored: int
) -> tuple[list[tuple[int, int]], bool]:
    """Return (run case, how many values of the metric it has) and whether any of them has gaps.

    Without gaps, the n-th value is the one of replication n.
    """
    lasts = [
        (row[0], row[1])
        for row in _rows(connection, _LASTS, run_id, metric_id)
        if row[1] is not None
    ]
    # Numbers count from 1, each once: where they add up to what is stored, none is missing. So
    # values need not be counted, which takes as long as to sum them.
    if sum(number for _, number in lasts) == stored:
        return lasts, False
    return [(row[0], row[1]) for row in _rows(connection, _COUNTED, run_id, metric_id)], True


def _column(
    connection: Connection, query: Select[*tuple[Any, ...]], run_id: int, metric_id: int
) -> NDArray[np.float64]:
    rows = _rows(connection, query, run_id, metric_id)
    return np.fromiter(chain.from_iterable(rows), np.float64)


def _rows(
    connection: Connection, query: Select[*tuple[Any, ...]], run_id: int, metric_id: int
) -> Iterable[tuple[Any, ...]]:
    return fetch(connection, query, run_id=run_id, metric_id=metric_id)
