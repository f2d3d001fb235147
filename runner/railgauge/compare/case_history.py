"""A case over many runs: its median in each, since when it has another level, and what changed.

A run counts as a night. Its value is the median of all its replications, suspect ones included:
what makes them suspect may be what changed. Runs in which the case failed, was skipped or wasn't
measured are gaps; runs of some of a plan's cases only, which confirm others, don't count.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from railgauge.base.arrays import np
from railgauge.base.collector import collector_off
from railgauge.compare.compare import SMALLEST
from railgauge.compare.facts import FactChange, HostChanges, host_changes, setting_changes
from railgauge.compare.reading import Kind, has_direction, kind
from railgauge.compare.renames import CaseName, EarlierName, Renames, find_renames
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import judged
from railgauge.stats.change_points import LEAST_VALUES, ChangePoint, change_points
from railgauge.stats.interval import Interval, median_interval
from railgauge.stats.multiple import benjamini_hochberg
from railgauge.stats.proportion import is_multiple
from railgauge.stats.series_changes import BETTER
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import Series

# With fewer there is nothing to find.
LEAST_NIGHTS = 2 * LEAST_VALUES
# Points of many cases are reported where about so many of a hundred of these cases are by chance.
SHARE_BY_CHANCE = 0.05
# All cases of so many nights are looked at, unless another number is asked for.
NIGHTS = 100
# A change is dated within so many nights: what else changed is shown for as many around it.
AROUND = 2
# A thousand hosts have megabytes of facts.
_CONDITIONS_KEPT = 16

Direction = Literal["faster", "slower", "higher", "lower"]


class Night(NamedTuple):
    """What a run measured of a case: the median of `n` values in base units, and its interval.

    That is of `percent` %: see `Series.level`. Of the values `suspect` are, `failed` replications
    gave none. Where it was published as a mean of `n` replications, `mean` says so.
    """

    run: RunHead
    median: float
    interval: Interval | None
    n: int
    suspect: int
    failed: int
    percent: int = 95
    mean: bool = False


@dataclass(frozen=True, slots=True)
class RunDifference:
    """What was not in run `before` as it was in `run`, the next one: facts, settings."""

    before: RunHead
    run: RunHead
    hosts: tuple[HostChanges, ...]
    settings: tuple[FactChange, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """A change point: its first night, in which direction, and what else changed around it."""

    point: ChangePoint
    night: Night
    direction: Direction
    beside: tuple[RunDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """A metric of a case over the runs of its plan, oldest first.

    `test` is the name that the case's test has now, `earlier` are those before: see `with_names`.
    `gaps` of the runs gave no value, `other_unit` one of another unit or direction than the last:
    of another metric. Changes smaller than the share `smallest` don't matter.
    """

    plan: str
    test: str
    case: Case
    metric: str
    unit: str
    better: str
    smallest: float
    nights: tuple[Night, ...]
    gaps: int
    other_unit: int
    changes: tuple[Changed, ...]
    earlier: tuple[EarlierName, ...] = ()


def last_of_each_plan(heads: Sequence[RunHead], nights: int | None) -> list[RunHead]:
    """Return the last runs of each plan that count, all of them without `nights`; oldest first."""
    whole = [head for head in heads if not head.partial]
    if nights is None:
        return whole
    counting: set[int] = set()
    for plan in {head.plan for head in whole}:
        counting.update(head.id for head in [head for head in whole if head.plan == plan][-nights:])
    return [head for head in whole if head.id in counting]


def case_history(
    all_series: Iterable[Series], heads: Sequence[RunHead], smallest: float | None = None
) -> History | None:
    """Return the history that one case's series of one metric, of one plan, show.

    None where none has a value in a run that counts. `heads` are the plan's runs, oldest first;
    those that aren't among them don't count.
    """
    by_id = {head.id: head for head in heads if not head.partial}
    dated = [
        (series, _night(series, by_id[series.run], median_interval(series.values, series.level)))
        for series in all_series
        if len(series.values) and series.run in by_id
    ]
    if not dated:
        return None
    nights: _Nights = {}
    for series, night in dated:
        nights.setdefault(kind(series), []).append(night)
    return _history(dated[-1][0], nights, list(by_id.values()), smallest)


def with_names(history: History, renames: Renames, runs: Collection[int]) -> History:
    """Return `history`, which is of these runs, with the names that the case's test has and had."""
    name = history.test, history.case.key
    test, _ = renames.last(name)
    return replace(history, test=test, earlier=renames.earlier(name, runs))


class NearbyChanges:
    """What changed around the change points of many histories, looking each run up once.

    What changed, which is little, is cached; of what runs were measured under only the last.
    """

    def __init__(self, store: Store) -> None:
        self._conditions = lru_cache(maxsize=_CONDITIONS_KEPT)(store.run_conditions)
        self._differences: dict[tuple[int, int], RunDifference | None] = {}

    def add_to(self, history: History) -> History:
        """Return `history` with what changed around each of its change points."""
        edges = [0, *(change.point.index for change in history.changes), len(history.nights)]
        changes = []
        for place, change in enumerate(history.changes):
            first = max(edges[place], change.point.index - 1 - AROUND)
            last = min(edges[place + 2] - 1, change.point.index + AROUND)
            runs = [night.run for night in history.nights[first : last + 1]]
            differences = [self.between(before, after) for before, after in pairwise(runs)]
            beside = tuple(difference for difference in differences if difference is not None)
            changes.append(replace(change, beside=beside))
        return replace(history, changes=tuple(changes))

    def between(self, before: RunHead, after: RunHead) -> RunDifference | None:
        """Return what was not in the first run as in the second; None where nothing was."""
        pair = before.id, after.id
        if pair not in self._differences:
            first, second = self._conditions(before.id), self._conditions(after.id)
            hosts = host_changes(first.facts, second.facts)
            settings = setting_changes(first, second)
            changed = bool(hosts or settings)
            self._differences[pair] = (
                RunDifference(before, after, hosts, settings) if changed else None
            )
        return self._differences[pair]


@dataclass(frozen=True, slots=True)
class AllHistories:
    """The histories that have a change point, and in how many cases one was looked for.

    Of those `too_short` have too few nights to show any. `not_looked_at` are those of the plans'
    last runs that never had a value of a headline metric with a direction; none where another
    metric is asked for. `silent` had values, and have none in their plan's last run.
    """

    changed: tuple[History, ...]
    looked_at: int
    too_short: int
    not_looked_at: int
    silent: int = 0


def all_histories(
    store: Store, heads: Sequence[RunHead], metric: str | None = None
) -> AllHistories:
    """Return the histories of the cases of these runs, oldest first, that have a change point.

    Of its headline metrics that have a direction, or of `metric`. Of all that is there about 5 %
    is chance (Benjamini and Hochberg over all cases and metrics), as some of thousands of cases
    would show a point in any case. Only medians are held, without their intervals.
    """
    names = list(judged()) if metric is None else [metric]
    return histories_of(store, heads, _read_medians(store, heads, names), metric)


@collector_off()
def histories_of(
    store: Store,
    heads: Sequence[RunHead],
    medians: Iterable[RunMedian],
    metric: str | None = None,
) -> AllHistories:
    """Return what `all_histories` does of these runs' `medians`, which are in the runs' order."""
    of_plan: dict[str, list[RunHead]] = {}
    for head in heads:
        if not head.partial:
            of_plan.setdefault(head.plan, []).append(head)
    gathered = _gather(medians)
    last_names = {plan: store.case_names(runs[-1].id) for plan, runs in of_plan.items()}
    renames = _renames_by_plan(store, last_names, gathered)
    measured = {
        name: series
        for name, series in _joined(gathered, renames).items()
        if metric is not None or has_direction(series.last)
    }
    smallest = {plan: store.smallest_changes(runs[-1].id) for plan, runs in of_plan.items()}
    runs = {plan: {head.id for head in of_this} for plan, of_this in of_plan.items()}
    histories = {
        name: _history(
            series.last,
            series.nights,
            of_plan[name[0]],
            smallest[name[0]].get((series.last.case.engine, series.last.metric)),
        )
        for name, series in measured.items()
    }
    changed = tuple(
        with_names(history, renames[history.plan], runs[history.plan])
        for history in surest(_distinct(histories))
    )
    looked_at = {name[:2] for name in histories}
    short = looked_at - {name[:2] for name, history in histories.items() if _is_long(history)}
    planned = {
        (plan, renames[plan].last(name)) for plan, names in last_names.items() for name in names
    }
    without = planned - looked_at if metric is None else ()
    silent = (planned & looked_at) - _in_last_runs(histories, of_plan)
    return AllHistories(changed, len(looked_at), len(short), len(without), len(silent))


def _in_last_runs(
    histories: Mapping[_MetricName, History], of_plan: Mapping[str, Sequence[RunHead]]
) -> set[tuple[str, CaseName]]:
    """Return the cases that have a value in the last of their plan's runs."""
    return {
        name[:2]
        for name, history in histories.items()
        if history.nights[-1].run.id == of_plan[name[0]][-1].id
    }


# Plan, case, metric.
_MetricName = tuple[str, CaseName, str]


class RunMedian(NamedTuple):
    """What a run measured of a metric of a case: its median, as a night."""

    plan: str
    test: str
    case: Case
    metric: str
    unit: str
    better: str
    night: Night


# The nights of a metric of a case, oldest first, by the kind that it had in them.
_Nights = dict[Kind, list[Night]]


class _Gathered:
    """A metric of a case over the runs of its plan: its last median, and its nights."""

    __slots__ = ("last", "nights")

    def __init__(self, last: RunMedian) -> None:
        self.last = last
        self.nights: _Nights = {}

    def add(self, measured: RunMedian) -> None:
        self.last = measured
        self.nights.setdefault(kind(measured), []).append(measured.night)

    def join(self, other: _Gathered) -> None:
        """Add what the case gave under another name of its test, in other runs."""
        self.last = max(self.last, other.last, key=lambda last: _began(last.night))
        for of_kind, nights in other.nights.items():
            self.nights[of_kind] = sorted([*self.nights.get(of_kind, ()), *nights], key=_began)


def _read_medians(
    store: Store, heads: Iterable[RunHead], metrics: Sequence[str]
) -> Iterator[RunMedian]:
    for head in heads:
        for series in () if head.partial else store.series([head.id], metrics):
            if len(series.values):
                yield RunMedian(
                    series.plan,
                    series.test,
                    series.case,
                    series.metric,
                    series.unit,
                    series.better,
                    _night(series, head, None),
                )


def _gather(medians: Iterable[RunMedian]) -> dict[_MetricName, _Gathered]:
    gathered: dict[_MetricName, _Gathered] = {}
    for measured in medians:
        name = (measured.plan, (measured.test, measured.case.key), measured.metric)
        series = gathered.get(name)
        if series is None:
            series = gathered[name] = _Gathered(measured)
        series.add(measured)
    return gathered


def _began(night: Night) -> tuple[str, int]:
    return night.run.started_at, night.run.id


def _renames_by_plan(
    store: Store, last_names: Mapping[str, Collection[CaseName]], names: Iterable[_MetricName]
) -> dict[str, Renames]:
    """Return the renames behind these names and those of each plan's last run, plan by plan."""
    cases = {plan: set(of_plan) for plan, of_plan in last_names.items()}
    for plan, case, _ in names:
        cases[plan].add(case)
    return {plan: find_renames(store, [plan], of_plan) for plan, of_plan in cases.items()}


def _joined(
    gathered: Mapping[_MetricName, _Gathered], renames: Mapping[str, Renames]
) -> dict[_MetricName, _Gathered]:
    """Return what was gathered by the last name of each case."""
    joined: dict[_MetricName, _Gathered] = {}
    for (plan, case, metric), series in gathered.items():
        name = (plan, renames[plan].last(case), metric)
        if name in joined:
            joined[name].join(series)
        else:
            joined[name] = series
    return joined


def _distinct(histories: Mapping[_MetricName, History]) -> list[History]:
    """Return them without those of a quantity that another metric of the case has, too."""
    by_case: dict[tuple[str, CaseName], list[History]] = {}
    for (plan, case, _), history in histories.items():
        of_case = by_case.setdefault((plan, case), [])
        if not any(_is_same_quantity(history, other) for other in of_case):
            of_case.append(history)
    return [history for of_case in by_case.values() for history in of_case]


def _is_same_quantity(history: History, other: History) -> bool:
    return (
        (history.smallest, history.better) == (other.smallest, other.better)
        and [night.run.id for night in history.nights] == [night.run.id for night in other.nights]
        and is_multiple(
            *(np.array([night.median for night in of.nights]) for of in (history, other))
        )
    )


def surest(histories: Iterable[History]) -> list[History]:
    """Return those with a change point that is none by chance, though so many were looked at."""
    long_enough = list(filter(_is_long, histories))
    least = [
        min((change.point.p for change in history.changes), default=1.0) for history in long_enough
    ]
    q = benjamini_hochberg(np.array(least, np.float64))
    return [
        history
        for history, share in zip(long_enough, q.tolist(), strict=True)
        if history.changes and share <= SHARE_BY_CHANCE
    ]


def _is_long(history: History) -> bool:
    """Return whether it has nights enough to show a change."""
    return len(history.nights) >= LEAST_NIGHTS


def changed_cases(histories: Iterable[History]) -> tuple[int, int]:
    """Return how many cases these are of, and of how many each last change is provisional."""
    provisional: dict[tuple[str, str, str], bool] = {}
    for history in histories:
        name = (history.plan, history.test, history.case.key)
        provisional[name] = provisional.get(name, True) and history.changes[-1].point.provisional
    return len(provisional), sum(provisional.values())


def newest_first(histories: Iterable[History]) -> list[History]:
    """Return them by their last change point, the newest first, of one night the largest first."""
    return sorted(
        histories,
        key=lambda history: _age_and_size(history.changes[-1]),
        reverse=True,
    )


def _age_and_size(change: Changed) -> tuple[str, float]:
    return change.night.run.started_at, _size(change.point)


def _history(
    last: Series | RunMedian,
    all_nights: _Nights,
    runs: Sequence[RunHead],
    smallest: float | None,
) -> History:
    """Return the history of what `last` is of, with the nights in which it was of that kind."""
    nights = tuple(all_nights[kind(last)])
    measured = {night.run.id for of_kind in all_nights.values() for night in of_kind}
    # Before its first night the case may not have been planned.
    first = next(place for place, run in enumerate(runs) if run.id in measured)
    share = SMALLEST if smallest is None else smallest
    points = change_points([night.median for night in nights], least=share)
    return History(
        plan=last.plan,
        test=last.test,
        case=last.case,
        metric=last.metric,
        unit=last.unit,
        better=last.better,
        smallest=share,
        nights=nights,
        gaps=len(runs) - first - len(measured),
        other_unit=sum(map(len, all_nights.values())) - len(nights),
        changes=tuple(
            Changed(point, nights[point.index], _direction(last.better, point)) for point in points
        ),
    )


def _night(series: Series, run: RunHead, interval: Interval | None) -> Night:
    return Night(
        run=run,
        median=median(series.values.tolist()),
        interval=interval,
        n=series.mean_of or len(series.values),
        suspect=int(np.count_nonzero(series.suspect)),
        failed=series.failed,
        percent=round(100 * series.level),
        mean=series.mean_of > 0,
    )


def _direction(better: str, point: ChangePoint) -> Direction:
    more = point.after > point.before
    if better not in BETTER:
        return "higher" if more else "lower"
    return "faster" if more == (better == "higher") else "slower"


def _size(point: ChangePoint) -> float:
    return math.inf if not point.ratio > 0 else abs(math.log(point.ratio))
