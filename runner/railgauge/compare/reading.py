"""What is read of runs to compare them: their cases, and the series of what is judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from railgauge.base.collector import collector_off
from railgauge.plan.catalogue.headlines import HEADLINES
from railgauge.stats.compare import BETTER
from railgauge.store import Store
from railgauge.store.records import PlannedCase, Series

# Where a case has no headline metric, so many of its others.
_OTHERS = 4

CaseName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReadRuns:
    """Of each run its cases, their series by (test, key) and metric, and the changes that matter.

    A series without a direction is among them where it tells what became of one that had it.
    `smallest` are shares, by engine and metric, of those for which the plan says one.
    """

    cases: Mapping[int, Sequence[PlannedCase]]
    series: Mapping[int, Mapping[CaseName, Mapping[str, Series]]]
    smallest: Mapping[int, Mapping[tuple[str, str], float]]

    def __or__(self, other: ReadRuns) -> ReadRuns:
        """Return both together."""
        return ReadRuns(
            {**self.cases, **other.cases},
            {**self.series, **other.series},
            {**self.smallest, **other.smallest},
        )


@collector_off()
def read(store: Store, runs: Iterable[int]) -> ReadRuns:
    """Read what is judged of these runs: each case's headline metrics or, without any, its first.

    Which they are is said by all the runs together.
    """
    wanted = list(dict.fromkeys(runs))
    names = {run: store.case_names(run) for run in wanted}
    cases: dict[int, dict[CaseName, PlannedCase]] = {run: {} for run in wanted}
    series: dict[int, dict[CaseName, dict[str, Series]]] = {run: {} for run in wanted}
    for one in _chosen_series(store, names):
        name = one.test, one.case.key
        metrics = series[one.run].get(name)
        if metrics is None:
            metrics = series[one.run][name] = {}
            planned = PlannedCase(one.test, one.case, one.planned, one.skipped)
            cases[one.run][name] = planned
        metrics[one.metric] = one
    for run, planned_there in cases.items():
        # A case that was skipped, or has no metric with a direction, may have no series.
        if names[run] - planned_there.keys():
            every = {(one.test, one.case.key): one for one in store.run(run).cases}
            cases[run] = {**every, **planned_there}
    return ReadRuns(
        {run: tuple(found.values()) for run, found in cases.items()},
        series,
        {run: store.smallest_changes(run) for run in wanted},
    )


def has_direction(series: Series) -> bool:
    """Tell whether more or less of it is better."""
    return series.better in BETTER


def _chosen_series(store: Store, names: Mapping[int, Collection[CaseName]]) -> list[Series]:
    """Return the series of what is judged of these cases of each run.

    A case counts as one with headline metrics if any of the runs has such a value of it.
    """
    found = store.series(list(names), HEADLINES)
    every = {name for those in names.values() for name in those}
    told = {_name(one) for one in found if len(one.values) and has_direction(one)}
    silent = _silent(found, names) - told
    if not silent:
        return found
    # By its key alone: what a case measures doesn't change with the name of its test.
    keys = {key for _, key in silent}
    silent = {name for name in every - told if name[1] in keys}
    rest = store.series(list(names), store.directed_metrics(names))
    rest = [one for one in rest if _name(one) in silent]
    chosen = _others(rest)
    rest = [one for one in rest if one.metric in chosen[one.case.key]]
    empty = [one for one in found if _name(one) in silent and not len(one.values)]
    kept = [one for one in found if _name(one) not in silent]
    return kept + rest + list(_failed(empty, rest))


def _failed(empty: Iterable[Series], rest: Sequence[Series]) -> Iterator[Series]:
    """Yield what cases lack that gave nothing in a run, where it isn't what their neighbours give.

    `empty` are their series of those metrics, `rest` those of all runs that are judged.
    """
    there = {(one.run, _name(one)) for one in rest}
    alike = {(one.case.key, one.metric): one for one in rest}
    of_case: dict[str, list[Series]] = {}
    for (key, _), one in alike.items():
        of_case.setdefault(key, []).append(one)
    for run_and_name, none in {(one.run, _name(one)): one for one in empty}.items():
        if run_and_name not in there:
            for one in of_case.get(none.case.key, ()):
                yield replace(none, metric=one.metric, unit=one.unit, better=one.better)


def _silent(found: Iterable[Series], names: Mapping[int, Collection[CaseName]]) -> set[CaseName]:
    """Return the cases of which a run has values, but none of a headline metric that tells."""
    there: dict[int, set[CaseName]] = {run: set() for run in names}
    silent = set()
    for one in found:
        there[one.run].add(_name(one))
        if len(one.values) and not has_direction(one):
            silent.add(_name(one))
    for run, those in names.items():
        silent |= set(those) - there[run]
    return silent


def _others(series: Iterable[Series]) -> dict[str, set[str]]:
    """Return which metrics of cases, by their keys, are judged where they aren't the headlines."""
    there: dict[str, dict[str, bool]] = {}
    for one in series:
        of_case = there.setdefault(one.case.key, {})
        if has_direction(one):
            of_case[one.metric] = of_case.get(one.metric, False) or len(one.values) > 0
    return {key: set(_first(metrics)) for key, metrics in there.items()}


def _first(metrics: Mapping[str, bool]) -> list[str]:
    """Return the first of the metrics; those that have a value come before those that don't."""
    having = [name for name, has_value in metrics.items() if has_value] or list(metrics)
    return [name for name in HEADLINES if name in having] or having[:_OTHERS]


def _name(series: Series) -> CaseName:
    return series.test, series.case.key
