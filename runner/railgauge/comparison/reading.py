"""What is read of runs to compare them: their cases, and the series of what is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.catalogue.headlines import HEADLINES
from railgauge.store import Store
from railgauge.store.records import PlannedCase, Series

# Where a test has no headline metric, so many of its others.
_OTHERS = 4

CaseName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """Of each run its cases, their series by (test, key) and metric, and the changes that matter.

    `smallest` are shares, by engine and metric, of those for which the plan says one.
    """

    cases: Mapping[int, Sequence[PlannedCase]]
    series: Mapping[int, Mapping[CaseName, Mapping[str, Series]]]
    smallest: Mapping[int, Mapping[tuple[str, str], float]]

    def __or__(self, other: Reading) -> Reading:
        """Return both together."""
        return Reading(
            {**self.cases, **other.cases},
            {**self.series, **other.series},
            {**self.smallest, **other.smallest},
        )


def read(store: Store, runs: Iterable[int]) -> Reading:
    """Read what is judged of these runs: see `headline_series`."""
    wanted = list(dict.fromkeys(runs))
    cases: dict[int, dict[CaseName, PlannedCase]] = {run: {} for run in wanted}
    series: dict[int, dict[CaseName, dict[str, Series]]] = {run: {} for run in wanted}
    for one in headline_series(store, wanted):
        name = one.test, one.case.key
        metrics = series[one.run].get(name)
        if metrics is None:
            metrics = series[one.run][name] = {}
            planned = PlannedCase(one.test, one.case, one.asked, one.skipped)
            cases[one.run][name] = planned
        if _has_direction(one):
            metrics[one.metric] = one
    for run, planned_there in cases.items():
        # A test that was skipped or failed as a whole may have no series.
        if without := store.tests([run]) - {test for test, _ in planned_there}:
            every = [one for one in store.run(run).cases if one.test in without]
            planned_there |= {(one.test, one.case.key): one for one in every}
    return Reading(
        {run: tuple(found.values()) for run, found in cases.items()},
        series,
        {run: store.smallest_changes(run) for run in wanted},
    )


def headline_series(store: Store, runs: Sequence[int]) -> list[Series]:
    """Return what is compared: each test's headline metrics or, where it has none, its first.

    Metrics of which neither more nor less is better are among them where a test has no others.
    """
    series = store.series(runs, HEADLINES)
    without = store.tests(runs) - {one.test for one in series if _tells(one)}
    if not without:
        return series
    found = [one for one in series if one.test not in without]
    rest = [one for one in store.series(runs) if one.test in without]
    chosen: dict[str, list[str]] = {}
    for test in without:
        own = [one for one in rest if one.test == test]
        there = dict.fromkeys(one.metric for one in own if _has_direction(one))
        others = [name for name in HEADLINES if name in there] or list(there)[:_OTHERS]
        chosen[test] = others or [one.metric for one in own[:1]]
    return found + [one for one in rest if one.metric in chosen[one.test]]


def _tells(series: Series) -> bool:
    return len(series.values) > 0 and _has_direction(series)


def _has_direction(series: Series) -> bool:
    return series.better in ("higher", "lower")
