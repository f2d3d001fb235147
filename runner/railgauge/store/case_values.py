"""One case over many runs: its values, run by run, and how it is found by what people call it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, func, or_, select

from railgauge.base.arrays import NDArray, np
from railgauge.store.models import (
    BenchCase,
    Measurement,
    Metric,
    Replication,
    Run,
    RunCase,
    RunMetric,
)
from railgauge.store.read import CASE_COLUMNS, RUN_CASE_COLUMNS, fetch, fetch_with_cases, make_cases
from railgauge.store.records import FoundCase, PublishedValue, Series
from railgauge.store.series import PUBLISHED, MeasuredCase
from railgauge.store.write import plain_text

# What is shorter is a word like any other.
_KEY_START = 4
# run_case id -> numbers of replications, and their values
_Values: TypeAlias = "dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]"


def case_history(
    connection: Connection,
    case_key: str,
    metric: str,
    *,
    tests: Collection[str] | None = None,
    plan: str | None = None,
    runs: Collection[int] | None = None,
) -> list[Series]:
    """Return the case's series of the metric, one a run (and test), the oldest run first.

    With `tests`, `plan` and `runs` of those only. Runs that have no value of it are left out; a
    metric whose unit or direction has changed keeps in each series what it was then.
    """
    all_series = case_histories(connection, [case_key], metric, plan=plan, runs=runs)[case_key]
    return [series for series in all_series if tests is None or series.test in tests]


def case_histories(
    connection: Connection,
    case_keys: Iterable[str],
    metric: str,
    *,
    plan: str | None = None,
    runs: Collection[int] | None = None,
) -> dict[str, list[Series]]:
    """Return by key the `case_history` of each of the cases, which are read together."""
    histories: dict[str, list[Series]] = {key: [] for key in case_keys}
    query = select(BenchCase.id, *CASE_COLUMNS).where(BenchCase.key.in_(map(plain_text, histories)))
    rows = connection.execute(query).all()
    made_cases = make_cases(connection, [row[1:] for row in rows])
    cases = dict(zip((row[0] for row in rows), made_cases, strict=True))
    measures_them: ColumnElement[bool] = RunCase.case_id.in_(list(cases))
    if runs is not None:
        measures_them &= RunCase.run_id.in_(runs)
    failed, suspect = _exceptions(connection, measures_them)
    engines = {case.engine for case in made_cases}
    infos = _infos(connection, measures_them, engines, metric)
    metric_ids = {info.id for of_run in infos.values() for info in of_run}
    values_of = {number: _values(connection, measures_them, number) for number in metric_ids}
    published = {
        (run_case, metric_id): PublishedValue(*statement)
        for run_case, metric_id, *statement in fetch(connection, PUBLISHED.where(measures_them))
    }
    for run_id, plan_name, case_id, number, *columns in _runs(connection, measures_them, plan):
        measured = MeasuredCase(number, cases[case_id], *columns)
        measured.failed = failed.get(number, 0)
        for info in infos.get(run_id, ()):
            if number in (by_case := values_of[info.id]):
                numbers, values = by_case[number]
                flags = _marked(numbers, suspect.get(number, ()))
                statement = published.get((number, info.id))
                series = measured.series(run_id, plan_name, info, values, flags, statement)
                histories[series.case.key].append(series)
    return histories


def _marked(numbers: NDArray[np.float64], suspect: Sequence[int]) -> NDArray[np.bool_]:
    # Most nights have none, and to look for none takes as long.
    return np.isin(numbers, suspect) if suspect else np.zeros(len(numbers), np.bool_)


def _runs(
    connection: Connection, measures_them: ColumnElement[bool], plan: str | None
) -> Iterable[tuple[Any, ...]]:
    """Return run, plan, case and what the run says of the case, the oldest run first."""
    query = (
        select(RunCase.run_id, Run.plan, RunCase.case_id, RunCase.id, *RUN_CASE_COLUMNS)
        .join(Run)
        .where(measures_them)
        .order_by(Run.started_at, RunCase.run_id, RunCase.id)
    )
    if plan is not None:
        query = query.where(Run.plan == plain_text(plan))
    return list(fetch(connection, query))


def _infos(
    connection: Connection, measures_them: ColumnElement[bool], engines: set[str], metric: str
) -> dict[int, list[Any]]:
    """Return by run what the metric was in it: a row for each unit and direction."""
    query = (
        select(RunMetric.run_id, Metric.id, Metric.name, Metric.unit, Metric.better, RunMetric.kind)
        .join(RunMetric)
        .where(
            Metric.engine.in_(engines),
            Metric.name == plain_text(metric),
            RunMetric.run_id.in_(select(RunCase.run_id).where(measures_them)),
        )
    )
    infos: dict[int, list[Any]] = {}
    for row in connection.execute(query.order_by(Metric.id)):
        infos.setdefault(row.run_id, []).append(row)
    return infos


def _exceptions(
    connection: Connection, measures_them: ColumnElement[bool]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return, by run_case id, how many replications failed and the numbers of suspect ones."""
    failed: dict[int, int] = {}
    suspect: dict[int, list[int]] = {}
    query = (
        select(Replication.run_case_id, Replication.number, Replication.status)
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(measures_them, Replication.number > 0, Replication.status != "ok")
    )
    for run_case_id, number, status in fetch(connection, query):
        if status == "failed":
            failed[run_case_id] = failed.get(run_case_id, 0) + 1
        else:
            suspect.setdefault(run_case_id, []).append(number)
    return failed, suspect


def _values(connection: Connection, measures_them: ColumnElement[bool], metric_id: int) -> _Values:
    query = (
        select(RunCase.id, Measurement.number, Measurement.value)
        .join(Measurement, Measurement.run_case_id == RunCase.id)
        .where(
            measures_them,
            Measurement.metric_id == metric_id,
            Measurement.number > 0,
        )
        .order_by(RunCase.id, Measurement.number)
    )
    numbers = np.fromiter(chain.from_iterable(fetch(connection, query)), np.float64)
    rows = numbers.reshape(-1, 3)
    ids, starts = np.unique(rows[:, 0], return_index=True)
    ends = np.append(starts, len(rows))[1:]
    return {
        int(number): (rows[start:end, 1], rows[start:end, 2].copy())
        for number, start, end in zip(ids, starts, ends, strict=True)
    }


def cases_like(connection: Connection, text: str) -> list[FoundCase]:
    """Return the cases that `text` may mean, with the plans and tests they are of.

    It is the start of a key (four characters or more), or words that all are to be found in a
    case's engine, link, hosts, test, plan or parameters, such as `gw→hh datagram=1460`. Those
    measured last come first.
    """
    query = (
        select(*CASE_COLUMNS, Run.plan, RunCase.test)
        .select_from(BenchCase)
        .join(RunCase, RunCase.case_id == BenchCase.id)
        .join(Run, Run.id == RunCase.run_id)
        .group_by(BenchCase.id, Run.plan, RunCase.test)
        .order_by(func.max(Run.started_at).desc(), func.max(RunCase.id))
    )
    text = plain_text(text.strip())
    by_key = query.where(BenchCase.key.startswith(text.lower(), autoescape=True))
    rows = list(fetch_with_cases(connection, by_key)) if len(text) >= _KEY_START else []
    if not rows:
        rows = list(fetch_with_cases(connection, query.where(*map(_has, text.split()))))
    return [FoundCase(case, *columns) for case, columns in rows]


def _has(word: str) -> ColumnElement[bool]:
    name, equals, value = word.partition("=")
    if equals and name:
        # As JSON text has it: a number may be whole there, and anything may come last.
        forms = (value, f'"{value}"', f"{value}.0")
        texts = [f'"{name}": {form}{end}' for form in forms for end in ",}"]
        return or_(*(BenchCase.parameters.icontains(text, autoescape=True) for text in texts))
    columns = (
        BenchCase.engine,
        BenchCase.link,
        BenchCase.client_host,
        BenchCase.server_host,
        BenchCase.parameters,
        RunCase.test,
        Run.plan,
    )
    return or_(*(column.icontains(word, autoescape=True) for column in columns))
