"""What is read of runs to compare them: their cases, and the series of what is judged."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from railgauge.base.collector import collector_off
from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list
from railgauge.compare.renames import CaseName, Renames, find_renames
from railgauge.plan.catalogue.headlines import shown_or_judged
from railgauge.stats.series_changes import BETTER
from railgauge.store import Store
from railgauge.store.records import PlannedCase, Series

# Where a case has no headline metric, so many of its others.
_OTHERS = 4

Kind = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReadRuns:
    """Of each run its cases, their series by (test, key) and metric, and the changes that matter.

    A series without a direction is among them where it shows what became of one that had it.
    `smallest` are shares, by engine and metric, of those for which the plan says one. `renames` are
    those behind all the runs. `metrics` are those that somebody named, to be judged alone.
    """

    cases: Mapping[int, Sequence[PlannedCase]]
    series: Mapping[int, Mapping[CaseName, Mapping[str, Series]]]
    smallest: Mapping[int, Mapping[tuple[str, str], float]]
    renames: Renames = field(default_factory=Renames)
    metrics: Sequence[str] = ()


def together(store: Store, readings: Iterable[ReadRuns]) -> ReadRuns:
    """Return what was read of several runs as if it had been read at once."""
    all_readings = list(readings)
    cases = {run: of for reading in all_readings for run, of in reading.cases.items()}
    return ReadRuns(
        cases,
        {run: of for reading in all_readings for run, of in reading.series.items()},
        {run: of for reading in all_readings for run, of in reading.smallest.items()},
        find_renames(
            store,
            store.run_plans(cases),
            [name for of in cases.values() for name in case_names(of)],
        ),
    )


@collector_off()
def read(store: Store, runs: Iterable[int], metrics: Sequence[str] = ()) -> ReadRuns:
    """Read what is judged of these runs: each case's headline metrics or, without any, its first.

    Which they are depends on all the runs together. With `metrics` they are those, and nothing
    else: InputError for one that none of the runs has, or of which neither more nor less is better.
    """
    run_ids = list(dict.fromkeys(runs))
    names = {run: store.case_names(run) for run in run_ids}
    cases: dict[int, dict[CaseName, PlannedCase]] = {run: {} for run in run_ids}
    series: dict[int, dict[CaseName, dict[str, Series]]] = {run: {} for run in run_ids}
    chosen = _named_series(store, names, metrics) if metrics else _chosen_series(store, names)
    for values in chosen:
        name = _name(values)
        if name not in series[values.run]:
            series[values.run][name] = {}
            planned = PlannedCase(values.test, values.case, values.planned, values.skipped)
            cases[values.run][name] = planned
        series[values.run][name][values.metric] = values
    for run, planned_with_series in cases.items():
        # A case that was skipped, or has no metric with a direction, may have no series.
        if names[run] - planned_with_series.keys():
            all_planned = {(case.test, case.case.key): case for case in store.run(run).cases}
            cases[run] = all_planned | planned_with_series
    return ReadRuns(
        {run: tuple(planned.values()) for run, planned in cases.items()},
        series,
        {run: store.smallest_changes(run) for run in run_ids},
        find_renames(store, store.run_plans(run_ids), set().union(*names.values())),
        tuple(dict.fromkeys(metrics)),
    )


def check_metrics(
    metrics: Iterable[str], directed: Collection[str], undirected: Container[str]
) -> None:
    """Refuse a metric that isn't among those `directed`; of those `undirected` none is better."""
    for metric in metrics:
        if metric in directed:
            continue
        if metric in undirected:
            raise InputError(
                f"of {metric!r} neither more nor less is better: name a metric that can be judged"
            )
        hint = suggest_or_list(metric, sorted(directed))
        raise InputError(f"nothing that is compared here has a metric {metric!r}{hint}")


def _named_series(
    store: Store, names: Mapping[int, Collection[CaseName]], metrics: Sequence[str]
) -> list[Series]:
    """Return the series of the metrics that somebody named."""
    all_metrics = {name for of_engine in store.metric_names().values() for name in of_engine}
    check_metrics(metrics, store.directed_metrics(names), all_metrics)
    return store.series(list(names), set(metrics))


def case_names(cases: Iterable[PlannedCase]) -> list[CaseName]:
    """Return the test and key of each case."""
    return [(planned.test, planned.case.key) for planned in cases]


class HasKind(Protocol):
    """What has a unit and a direction."""

    @property
    def unit(self) -> str:
        """The base unit."""

    @property
    def better(self) -> str:
        """Whether higher or lower is better, or neither."""


def kind(series: HasKind) -> Kind:
    """Return its unit, and what is better: of another kind a metric is another metric."""
    return series.unit, series.better


def has_direction(series: HasKind) -> bool:
    """Return whether more or less of it is better."""
    return series.better in BETTER


def _chosen_series(store: Store, names: Mapping[int, Collection[CaseName]]) -> list[Series]:
    """Return the series of what is judged of these cases of each run.

    A case counts as one with headline metrics if any of the runs has such a value of it.
    """
    headline_series = store.series(list(names), shown_or_judged())
    all_names = {name for run_names in names.values() for name in run_names}
    judged_names = {
        _name(series) for series in headline_series if len(series.values) and has_direction(series)
    }
    silent = _silent(headline_series, names) - judged_names
    if not silent:
        return headline_series
    # By its key alone: what a case measures doesn't change with the name of its test.
    keys = {key for _, key in silent}
    silent = {name for name in all_names - judged_names if name[1] in keys}
    rest = store.series(list(names), store.directed_metrics(names))
    rest = [series for series in rest if _name(series) in silent]
    chosen = _other_metrics(rest)
    rest = [series for series in rest if series.metric in chosen[series.case.key]]
    empty = [
        series for series in headline_series if _name(series) in silent and not len(series.values)
    ]
    usable = [series for series in headline_series if _name(series) not in silent]
    return usable + rest + list(_failed(empty, rest))


def _failed(empty: Iterable[Series], rest: Sequence[Series]) -> Iterator[Series]:
    """Yield what cases lack that gave nothing in a run, where it isn't what their neighbours give.

    `empty` are their series of those metrics, `rest` those of all runs that are judged.
    """
    measured = {(series.run, _name(series)) for series in rest}
    by_case: dict[str, dict[str, Series]] = {}
    for series in rest:
        by_case.setdefault(series.case.key, {})[series.metric] = series
    for run_and_name, missing in {(series.run, _name(series)): series for series in empty}.items():
        if run_and_name not in measured:
            for series in by_case.get(missing.case.key, {}).values():
                yield replace(missing, metric=series.metric, unit=series.unit, better=series.better)


def _silent(
    headlines: Iterable[Series], names: Mapping[int, Collection[CaseName]]
) -> set[CaseName]:
    """Return the cases that in a run have no headline series, or values without a direction."""
    present: dict[int, set[CaseName]] = {run: set() for run in names}
    silent = set()
    for series in headlines:
        present[series.run].add(_name(series))
        if len(series.values) and not has_direction(series):
            silent.add(_name(series))
    for run, run_names in names.items():
        silent |= set(run_names) - present[run]
    return silent


def _other_metrics(of_cases: Iterable[Series]) -> dict[str, set[str]]:
    """Return which metrics of cases, by their keys, are judged where they aren't the headlines."""
    by_case: dict[str, dict[str, bool]] = {}
    for series in of_cases:
        of_case = by_case.setdefault(series.case.key, {})
        if has_direction(series):
            of_case[series.metric] = of_case.get(series.metric, False) or len(series.values) > 0
    return {key: set(_first(metrics)) for key, metrics in by_case.items()}


def _first(metrics: Mapping[str, bool]) -> list[str]:
    """Return the first of the metrics; those that have a value come before those that don't."""
    having = [name for name, has_value in metrics.items() if has_value] or list(metrics)
    return [name for name in shown_or_judged() if name in having] or having[:_OTHERS]


def _name(series: Series) -> CaseName:
    return series.test, series.case.key
