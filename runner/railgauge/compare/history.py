"""A case over many runs: its median in each, since when it has another level, and what changed.

A run counts as a night. Its value is the median of all its replications, suspect ones included:
what makes them suspect may be what changed. Runs in which the case failed, was skipped or wasn't
measured are gaps; runs of some of a plan's cases only, which confirm others, don't count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Literal

import numpy as np

from railgauge.compare.compare import SMALLEST
from railgauge.compare.facts import FactChange, HostChanges, host_changes, setting_changes
from railgauge.compare.reading import has_direction
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import HEADLINES
from railgauge.stats import (
    ChangePoint,
    Interval,
    benjamini_hochberg,
    change_points,
    median_interval,
)
from railgauge.stats.change_points import LEAST_VALUES
from railgauge.stats.compare import BETTER
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import Series, StoredRun

# With fewer there is nothing to find.
LEAST_NIGHTS = 2 * LEAST_VALUES
# Points of many cases are told where about so many of a hundred of these cases are by chance.
SHARE_BY_CHANCE = 0.05
# All cases of so many nights are looked at, unless another number is asked for.
NIGHTS = 100
# A change is dated within so many nights: what else changed is told of as many around it.
AROUND = 2

Direction = Literal["faster", "slower", "higher", "lower"]
# Unit, and what is better: of another one a metric is another metric.
_Kind = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Night:
    """What a run measured of a case: the median of `n` values in base units, and its interval.

    Of the values `suspect` are, `failed` replications gave none.
    """

    run: RunHead
    median: float
    interval: Interval | None
    n: int
    suspect: int
    failed: int


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


def last_of_each_plan(heads: Sequence[RunHead], nights: int | None) -> list[RunHead]:
    """Return the last runs of each plan that count, all of them without `nights`; oldest first."""
    whole = [head for head in heads if not head.partial]
    if nights is None:
        return whole
    kept: set[int] = set()
    for plan in {head.plan for head in whole}:
        kept.update(head.id for head in [head for head in whole if head.plan == plan][-nights:])
    return [head for head in whole if head.id in kept]


def case_history(
    series: Iterable[Series], heads: Sequence[RunHead], smallest: float | None = None
) -> History | None:
    """Return the history that one case's `series` of one metric, of one plan and test, tell.

    None where none has a value in a run that counts. `heads` are the plan's runs, oldest first;
    those that aren't among them don't count.
    """
    by_id = {head.id: head for head in heads if not head.partial}
    told = [
        (one, _night(one, by_id[one.run], median_interval(one.values)))
        for one in series
        if len(one.values) and one.run in by_id
    ]
    if not told:
        return None
    nights = [(_kind(one), night) for one, night in told]
    return _history(told[-1][0], nights, list(by_id.values()), smallest)


def with_beside(history: History, look_up: Callable[[int], StoredRun]) -> History:
    """Return `history` with what changed around each of its change points.

    `look_up` returns a run by its id.
    """
    return Besides(look_up).told(history)


class Besides:
    """Tells of many histories what changed around their change points, looking each run up once.

    `look_up` returns a run by its id. Kept is what changed, which is little; runs are not.
    """

    def __init__(self, look_up: Callable[[int], StoredRun]) -> None:
        self._run = lru_cache(maxsize=2 * AROUND + 2)(look_up)
        self._found: dict[tuple[int, int], RunDifference | None] = {}

    def told(self, history: History) -> History:
        """Return `history` with what changed around each of its change points."""
        edges = [0, *(one.point.index for one in history.changes), len(history.nights)]
        told = []
        for place, one in enumerate(history.changes):
            first = max(edges[place], one.point.index - 1 - AROUND)
            last = min(edges[place + 2] - 1, one.point.index + AROUND)
            runs = [night.run for night in history.nights[first : last + 1]]
            found = (self._between(before, after) for before, after in pairwise(runs))
            told.append(replace(one, beside=tuple(each for each in found if each is not None)))
        return replace(history, changes=tuple(told))

    def _between(self, before: RunHead, after: RunHead) -> RunDifference | None:
        pair = before.id, after.id
        if pair not in self._found:
            first, second = self._run(before.id), self._run(after.id)
            hosts = host_changes(first.facts, second.facts)
            settings = setting_changes(first, second)
            changed = bool(hosts or settings)
            self._found[pair] = RunDifference(before, after, hosts, settings) if changed else None
        return self._found[pair]


@dataclass(frozen=True, slots=True)
class AllHistories:
    """The histories that have a change point, and in how many cases one was looked for.

    `not_looked_at` are those of the plans' last runs that never had a value of a headline metric
    with a direction; none where another metric is asked for.
    """

    changed: tuple[History, ...]
    looked_at: int
    not_looked_at: int


def all_histories(
    store: Store, heads: Sequence[RunHead], metric: str | None = None
) -> AllHistories:
    """Return the histories of the cases of these runs, oldest first, that have a change point.

    Of its headline metrics that have a direction, or of `metric`. Of all that is there about 5 %
    is chance (Benjamini and Hochberg over all cases and metrics), as some of thousands of cases
    would show a point in any case. Only medians are held, without their intervals.
    """
    names = list(HEADLINES) if metric is None else [metric]
    last: dict[tuple[str, str, str, str], Series] = {}
    nights: dict[tuple[str, str, str, str], list[tuple[_Kind, Night]]] = {}
    of_plan: dict[str, list[RunHead]] = {}
    for head in heads:
        if head.partial:
            continue
        of_plan.setdefault(head.plan, []).append(head)
        for one in store.series([head.id], names):
            if len(one.values):
                name = (one.plan, one.test, one.case.key, one.metric)
                last[name] = one
                nights.setdefault(name, []).append((_kind(one), _night(one, head, None)))
    smallest = {plan: store.smallest_changes(runs[-1].id) for plan, runs in of_plan.items()}
    told = {name: one for name, one in last.items() if metric is not None or has_direction(one)}
    changed = surest(
        _history(one, nights[name], of_plan[one.plan], smallest[one.plan].get(_engines(one)))
        for name, one in told.items()
    )
    looked_at = {name[:3] for name in told}
    if metric is not None:
        return AllHistories(tuple(changed), len(looked_at), 0)
    planned = {
        (plan, one.test, one.case.key)
        for plan, runs in of_plan.items()
        for one in store.run(runs[-1].id).cases
    }
    return AllHistories(tuple(changed), len(looked_at), len(planned - looked_at))


def surest(histories: Iterable[History]) -> list[History]:
    """Return those with a change point that is none by chance, though so many were looked at."""
    every = [one for one in histories if len(one.nights) >= LEAST_NIGHTS]
    least = [min((each.point.p for each in one.changes), default=1.0) for one in every]
    q = benjamini_hochberg(np.array(least, np.float64))
    return [
        one
        for one, share in zip(every, q.tolist(), strict=True)
        if one.changes and share <= SHARE_BY_CHANCE
    ]


def newest_first(histories: Iterable[History]) -> list[History]:
    """Return them by their last change point, the newest first, of one night the largest first."""
    return sorted(
        histories,
        key=lambda one: (one.changes[-1].night.run.started_at, _size(one.changes[-1].point)),
        reverse=True,
    )


def _history(
    last: Series,
    told: Sequence[tuple[_Kind, Night]],
    runs: Sequence[RunHead],
    smallest: float | None,
) -> History:
    """Return the history of what `last` is of; `told` are its nights, each with its kind."""
    nights = tuple(night for kind, night in told if kind == _kind(last))
    there = {night.run.id for _, night in told}
    # Before its first night the case may not have been planned.
    first = next(place for place, run in enumerate(runs) if run.id in there)
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
        gaps=sum(run.id not in there for run in runs[first:]),
        other_unit=len(told) - len(nights),
        changes=tuple(
            Changed(point, nights[point.index], _direction(last.better, point)) for point in points
        ),
    )


def _kind(series: Series) -> _Kind:
    return series.unit, series.better


def _engines(series: Series) -> tuple[str, str]:
    return series.case.engine, series.metric


def _night(series: Series, run: RunHead, interval: Interval | None) -> Night:
    return Night(
        run=run,
        median=median(series.values.tolist()),
        interval=interval,
        n=len(series.values),
        suspect=int(np.count_nonzero(series.suspect)),
        failed=series.failed,
    )


def _direction(better: str, point: ChangePoint) -> Direction:
    more = point.after > point.before
    if better not in BETTER:
        return "higher" if more else "lower"
    return "faster" if more == (better == "higher") else "slower"


def _size(point: ChangePoint) -> float:
    return math.inf if not point.ratio > 0 else abs(math.log(point.ratio))
