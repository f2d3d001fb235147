"""Two sides compared, case by case: one judgement for all commands."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from railgauge.base.arrays import NDArray, np
from railgauge.base.collector import collector_off
from railgauge.base.number import plural
from railgauge.compare.reading import ReadRuns, has_direction, kind
from railgauge.compare.renames import CaseName, Rename, Renames
from railgauge.compare.select import Selection
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import headlines, judged
from railgauge.stats.between_runs import BETWEEN_RUNS
from railgauge.stats.judgement import Change
from railgauge.stats.proportion import is_multiple
from railgauge.stats.series_changes import BETTER, Compared, Side, compare_all
from railgauge.stats.two_levels import TwoLevels
from railgauge.store.records import PlannedCase, Series

# The smallest change that matters where a plan says none, a share.
SMALLEST = 0.02
# Worst first: the order in which results are shown.
ORDER: Sequence[Change] = ("slower", "faster", "not enough data", "same")
# Metrics that are of the slowest few of many values.
_EXTREME = re.compile(r".*_(p9\d*|max)")
_NO_DIRECTION = "of the metric, as it is now, neither more nor less is better"


@dataclass(frozen=True)
class SideSample:
    """What one side measured of a metric of a case, in base units; an array for each run of it.

    `suspect` of the values are, `failed` replications gave none; `why_none` says why there is no
    value at all, empty if there are some. `means` of the values were published, as means. `unlike`
    are of further runs, where the metric is another one.
    """

    runs: tuple[NDArray[np.float64], ...]
    suspect: int
    failed: int
    why_none: str
    means: int = 0
    unlike: tuple[Series, ...] = ()

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """All values (n,), run by run."""
        return np.concatenate(self.runs) if self.runs else np.zeros(0)

    @cached_property
    def n(self) -> int:
        """How many values there are."""
        return sum(map(len, self.runs))

    @cached_property
    def median(self) -> float | None:
        """Their median; None where there are none."""
        # numpy's takes ten times as long for ten values.
        return median(self.values.tolist()) if self.n else None

    @cached_property
    def minimum(self) -> float | None:
        """Their smallest; None where there are none."""
        return float(self.values.min()) if self.n else None

    @cached_property
    def maximum(self) -> float | None:
        """Their largest; None where there are none."""
        return float(self.values.max()) if self.n else None


@dataclass(frozen=True, slots=True)
class Result:
    """A metric of a case that both sides have, as planned by the second, and what became of it.

    Of a case that no run measured there is one result, without a metric. `smallest` is the smallest
    change that matters, a share; `levels` are those between which the case flips by itself, where
    its stored runs show it.
    """

    test: str
    case: Case
    metric: str
    unit: str
    better: str
    smallest: float
    sides: tuple[SideSample, SideSample]
    judged: Compared
    levels: TwoLevels | None = None

    @property
    def name(self) -> tuple[str, str, str]:
        """What it is of: test, case key, metric."""
        return self.test, self.case.key, self.metric

    @property
    def lost(self) -> bool:
        """Whether the first side has values of it and the second has none."""
        return self.sides[0].n > 0 and self.sides[1].n == 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two sides come to, what changed first; `cases_only` are those that one side lacks.

    `renamed` are the tests that had another name in some of the runs, `renames` those behind all.
    `undirected` cases both sides have, but no metric of which more or less is better, or none of
    the `metrics` that alone are judged (none: those that usually are).
    """

    selected: tuple[Selection, Selection]
    results: tuple[Result, ...]
    cases_only: tuple[tuple[PlannedCase, ...], tuple[PlannedCase, ...]]
    renamed: tuple[Rename, ...] = ()
    undirected: int = 0
    renames: Renames = field(default_factory=Renames)
    metrics: Sequence[str] = ()

    def of(self, change: Change) -> list[Result]:
        """Return the results that are judged so."""
        return [result for result in self.results if result.judged.change == change]

    def counts(self) -> dict[Change, int]:
        """Return how many results are judged so, in the order of `ORDER`, without zeros."""
        counted = Counter(result.judged.change for result in self.results)
        return {change: counted[change] for change in ORDER if counted[change]}


@collector_off()
def compare(
    reading: ReadRuns,
    first: Selection,
    second: Selection,
    *,
    between_runs: float = BETWEEN_RUNS,
) -> Comparison:
    """Compare the second side's cases with the first's; `reading` has the runs of both.

    Where nothing shows what runs differ by, it is taken to be `between_runs`, a share; with 0 other
    cases don't show it, either.
    """
    before, after = (_Side.of_runs(reading, side.runs) for side in (first, second))
    results = judge(_unjudged(before, after), between_runs)
    compared = {result.name[:2] for result in results}
    compared_cases = [planned for name, planned in after.cases.items() if name in before.cases]
    return Comparison(
        (first, second),
        results,
        (before.only(after), after.only(before)),
        reading.renames.between(after.cases, {*first.runs, *second.runs}),
        sum((planned.test, planned.case.key) not in compared for planned in compared_cases),
        reading.renames,
        reading.metrics,
    )


def judge(results: Iterable[Result], between_runs: float) -> tuple[Result, ...]:
    """Judge the results together, as if nothing were known of them but their values."""
    all_results = list(results)
    ready = [result for result in all_results if _can_be_judged(result)]
    judgements = compare_all(
        [(Side(result.sides[0].runs), Side(result.sides[1].runs)) for result in ready],
        [result.better for result in ready],
        [result.smallest for result in ready],
        names=[(result.name[:2], result.metric) for result in ready],
        between_runs=between_runs,
        extremes=[_EXTREME.fullmatch(result.metric) is not None for result in ready],
    )
    by_name = {result.name: judgement for result, judgement in zip(ready, judgements, strict=True)}
    judged = (
        replace(result, judged=by_name.get(result.name) or _not_judged(result.sides))
        for result in all_results
    )
    return tuple(sorted(judged, key=worst_first))


def _can_be_judged(result: Result) -> bool:
    return all(side.n for side in result.sides) and result.better in BETTER


def worst_first(result: Result) -> tuple[int, float]:
    """Return the key by which results are sorted: what changed first, the largest change first."""
    ratio = result.judged.ratio
    change = math.inf if not ratio > 0 else abs(math.log(ratio))
    return ORDER.index(result.judged.change), -change


@dataclass(frozen=True, slots=True)
class _Side:
    """A side's runs and their cases, by last name, each as the last of the runs plans it."""

    reading: ReadRuns
    runs: Sequence[int]
    cases: Mapping[CaseName, PlannedCase]

    @classmethod
    def of_runs(cls, reading: ReadRuns, runs: Sequence[int]) -> _Side:
        cases: dict[CaseName, PlannedCase] = {}
        for run in reversed(runs):
            for planned in reading.cases[run]:
                name = reading.renames.last((planned.test, planned.case.key))
                cases.setdefault(name, planned)
        return cls(reading, runs, cases)

    def only(self, other: _Side) -> tuple[PlannedCase, ...]:
        """Return the cases that the other side lacks."""
        return tuple(planned for name, planned in self.cases.items() if name not in other.cases)

    def series(self, name: CaseName) -> dict[str, list[Series]]:
        """Return the series of a case by metric, each run's under the name it had there."""
        by_metric: dict[str, list[Series]] = {}
        for run in self.runs:
            name_there = self.reading.renames.in_run(run, name)
            for metric, series in self.reading.series[run].get(name_there, {}).items():
                by_metric.setdefault(metric, []).append(series)
        return by_metric


def _unjudged(first: _Side, second: _Side) -> Iterator[Result]:
    smallest = {
        name: share
        for run in second.runs
        for name, share in second.reading.smallest.get(run, {}).items()
    }
    # What its engine shows, but doesn't judge, is judged where somebody names it.
    unasked = {*headlines()} - {*judged()} - {*second.reading.metrics}
    for name, before in first.cases.items():
        if name not in second.cases:
            continue
        after = second.cases[name]
        sides = first.series(name), second.series(name)
        metrics = dict.fromkeys(
            metric
            for side in sides
            for metric, same_metric in side.items()
            if metric not in unasked and any(map(has_direction, same_metric))
        )
        if _never_measured(before, after, sides):
            yield _without_metric(before, after, sides)
            continue
        of_case: list[Result] = []
        # One that neither side ever had says nothing, unless there is no other.
        for metric in [name for name in metrics if _was_measured(sides, name)] or metrics:
            by_side = [side.get(metric, []) for side in sides]
            reference = (by_side[1] or by_side[0])[-1]
            result = Result(
                after.test,
                after.case,
                metric,
                reference.unit,
                reference.better,
                smallest.get((after.case.engine, metric), SMALLEST),
                (_sample(before, by_side[0], reference), _sample(after, by_side[1], reference)),
                _not_judged(),
            )
            if metric in second.reading.metrics or not _repeats(result, of_case):
                of_case.append(result)
        yield from of_case


def _repeats(result: Result, results: Iterable[Result]) -> bool:
    """Return whether one of these results of its case is of the same quantity."""
    return any(
        (result.smallest, result.better) == (other.smallest, other.better)
        and all(
            list(map(len, side.runs)) == list(map(len, beside.runs))
            for side, beside in zip(result.sides, other.sides, strict=True)
        )
        and is_multiple(
            *(np.concatenate([side.values for side in of.sides]) for of in (result, other))
        )
        for other in results
    )


def _never_measured(
    before: PlannedCase, after: PlannedCase, sides: Sequence[Mapping[str, Sequence[Series]]]
) -> bool:
    """Return whether no run has any value of the case: it was skipped, or all of it failed."""
    if not any(sides):
        # So has one whose metrics all are without a direction.
        return bool(before.skipped and after.skipped)
    return not any(_was_measured(sides, metric) for side in sides for metric in side)


def _without_metric(
    before: PlannedCase, after: PlannedCase, sides: Sequence[Mapping[str, Sequence[Series]]]
) -> Result:
    """Return the only result of such a case: which metrics it would have had, nobody knows."""
    # A run's series, which stand for other cases' metrics, all count the same failures.
    before_failed, after_failed = (
        sum({series.run: series.failed for of in side.values() for series in of}.values())
        for side in sides
    )
    samples = (
        SideSample((), 0, before_failed, _why_none(before, before_failed, None)),
        SideSample((), 0, after_failed, _why_none(after, after_failed, None)),
    )
    return Result(after.test, after.case, "", "", "", SMALLEST, samples, _not_judged())


def _was_measured(sides: Iterable[Mapping[str, Sequence[Series]]], metric: str) -> bool:
    return any(len(series.values) for side in sides for series in side.get(metric, ()))


def _sample(planned: PlannedCase, candidates: Sequence[Series], reference: Series) -> SideSample:
    """Return one side's values of the metric that `reference` is of."""
    comparable = [series for series in candidates if kind(series) == kind(reference)]
    unlike = [series for series in candidates if kind(series) != kind(reference)]
    runs = tuple([series.values for series in comparable if len(series.values)])
    suspect = failed = 0
    for series in comparable:
        suspect += int(np.count_nonzero(series.suspect))
        failed += series.failed
    reason = ""
    if not runs:
        other = unlike[-1] if unlike and not comparable else None
        reason = _why_none(planned, failed, other)
    means = sum(series.mean_of > 0 for series in comparable)
    unlike = [series for series in unlike if len(series.values)]
    return SideSample(runs, suspect, failed, reason, means, tuple(unlike))


def _why_none(planned: PlannedCase, failed: int, other: Series | None) -> str:
    if other is not None:
        return f"it was {another_metric(other)}"
    if planned.skipped:
        return f"it was skipped: {planned.skipped}"
    if failed:
        return f"{plural(failed, 'replication')} failed and none was measured"
    return "nothing was measured"


def another_metric(series: Series) -> str:
    """Return what the series is, where its metric's name is that of another one."""
    better = series.better if has_direction(series) else "neither more nor less"
    return f"another metric, in {series.unit}, of which {better} is better"


def _not_judged(sides: tuple[SideSample, SideSample] | None = None) -> Compared:
    """Return the judgement where a side has no value, with the reason as far as it is known."""
    named = zip(("before", "after"), sides or (), strict=False)
    reasons = [f"{when}, {side.why_none}" for when, side in named if side.why_none]
    nan = math.nan
    n = (sides[0].n, sides[1].n) if sides else (0, 0)
    return Compared(
        "not enough data", nan, nan, nan, nan, nan, nan, n, "; ".join(reasons) or _NO_DIRECTION
    )
