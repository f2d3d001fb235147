"""Since when a series has another level: its change points, and how sure they are.

E-divisive (Matteson and James, JASA 109, 2014) proposes places; which of them count is decided as
in Hunter (Fleming and others, ICPE 2023): by Student's t-test, undoing the least sure place until
all that are left are sure and large enough. Nights aren't independent and some stand out, so
dependence between neighbours is estimated and taken into account, and one or two outliers in a row
count as what is around them. Several changes hide one another, so both sides of an unsure place are
searched where nights scatter more than neighbours differ. Whoever looks every night sees more by
chance: which points a year of looks confirms is decided more strictly, and by ranks, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.student import student_tails

# A level has at least so many values: one or two that stand out are outliers.
LEAST_VALUES = 3
# Proposed are places of at most this p, uncorrected: of a rise and a fall each hides the other.
_WEAK = 0.01
# A level that ends again has to be so sure by its values, too, over all pairs of places.
_SURE = 1e-5
# Nor may so many so extreme values be in a row by chance, whatever their distribution. Of a few
# nights ranks can't show that: then it takes a gap that is wider than all others are apart.
_ROW = 0.005
# Of three normal values the standard deviation is so many times the true one once in 8,000.
_UNLIKE = 3.0
# A point is confirmed if chance makes two levels so different at most so often, by their values and
# by their ranks. A year of nightly looks at a hundred nights is 36,500 pairs of a look and a place,
# most of them much alike: by simulation, fewer than one year in twenty has a false one.
_CONFIRMED = 3e-6
# Nor are fewer values enough: three may be two outliers and what chance puts beside them.
_LEAST_CONFIRMING = LEAST_VALUES + 1
# Looked at so often, neighbours that depend on one another more than is estimated would count:
# to confirm a point they are taken to have at least this correlation.
_LEAST_DEPENDENT = 0.3
# An outlier is so many (robust) standard deviations from the median of the five values around it.
# Of five, the three of the shortest level are the most, and two outliers are not.
_AROUND, _OUTLYING = 5, 4.0
# A step between neighbours is a jump beyond so many: with a jump among the steps nights would seem
# to depend on one another.
_JUMP = 3.0
# A stretch has several levels if its variance is so many times what neighbours' steps make it (von
# Neumann's ratio). Without a change, by simulation, one in a hundred of 60 nights reaches 1.7, and
# 2.7 where a night depends on the one before by 0.3.
_SEVERAL_LEVELS = 2.5
# If a greater share stands out they aren't outliers but another mode: without them, five nights in
# which it prevails by chance would look like a level.
_MOST_STRUCK = 0.1
# A normal distribution's standard deviation over its median absolute deviation.
_PER_DEVIATION = 1.4826
# With more dependence between neighbours, hardly any change in a year would be significant.
_MOST_DEPENDENT = 0.8
# The distances of so many values from all others are held at a time: more don't fit a cache.
_BLOCK = 128
# The spells that begin at so many places are looked at together.
_ROWS = 32
# What is the same for all series of a length is kept of so many lengths, up to this one.
_LENGTHS, _LONGEST_KEPT = 16, 400


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of level: `index` is the first value of the new one.

    `before` and `after` are the medians of the two levels, in the values' unit. `ratio` is after
    over before, nan where they aren't both above 0. `p` is about how probable it is that chance
    makes such a point anywhere in a series of that length, looked at once. It is `provisional` as
    long as chance may make one in a year in which the series is looked at after each night.
    """

    index: int
    before: float
    after: float
    ratio: float
    p: float
    provisional: bool = True


def change_points(
    values: NDArray[np.float64] | Sequence[float], *, least: float = 0.02, level: float = 0.01
) -> list[ChangePoint]:
    """Return where the level of `values` (n,), in order of time, changed; none with n < 6.

    Levels whose medians differ by less than the share `least` of the earlier one are one level.
    `level` is the greatest `p` of a point. By simulation (benchmarks/history.py) fewer than 5 of
    100 series without a change have a point: normal or skewed, with outliers, with dependence
    between neighbours (0.3); looked at after each of 365 nights, fewer than 5 ever have one that
    isn't provisional. Of values above 0 ratios are compared, of others differences.
    ValueError for a value that isn't finite.
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(x)):
        raise ValueError("only finite values have levels: leave gaps out")
    if len(x) < 2 * LEAST_VALUES:
        return []
    return _Search(x, least, level).points()


class _Search:
    """The search for the change points of one series."""

    def __init__(self, values: NDArray[np.float64], least: float, level: float) -> None:
        self._values = values
        self._least = least
        self._level = level
        # On a logarithmic scale as many percent up or down are as far.
        self._scaled = np.log(values) if np.all(values > 0) else values
        self._without_outliers = _without_outliers(self._scaled)
        self._inflation = _inflation(self._without_outliers)
        self._points: dict[tuple[int, int, int], ChangePoint] = {}

    def points(self) -> list[ChangePoint]:
        """Return the proposed places that count, each where it parts its two levels best.

        Where it was proposed other changes may have drawn it aside (Bai, Econometric Theory 13,
        1997: repartition).
        """
        edges = self._counting([0, *self._proposed(0, len(self._values)), len(self._values)])
        for i in range(1, len(edges) - 1):
            start, end = edges[i - 1], edges[i + 1]
            edges[i] = start + _split(self._without_outliers[start:end])
        return [
            replace(self._point(*levels), provisional=self._is_provisional(*levels))
            for levels in _triples(self._counting(edges))
        ]

    def _counting(self, edges: list[int]) -> list[int]:
        """Return `edges` without the places that don't count, undone from the least sure on."""
        while len(edges) > 2:
            points = [self._point(*levels) for levels in _triples(edges)]
            worst = max(points, key=lambda point: (self._is_small(point), point.p))
            if not self._is_small(worst) and worst.p <= self._level:
                break
            edges = [edge for edge in edges if edge != worst.index]
        return edges

    def _proposed(self, start: int, end: int) -> list[int]:
        """Return the places in [start, end), in order, at which the level may have changed."""
        if end - start < 2 * LEAST_VALUES:
            return []
        place = start + _split(self._without_outliers[start:end])
        sure = [place] if self._p(start, place, end) <= _WEAK else self._spell(start, end)
        if not sure and not _has_several_levels(self._without_outliers[start:end]):
            return []
        parts = sure or [place]
        inside = [self._proposed(*edges) for edges in pairwise([start, *parts, end])]
        if not sure and not any(inside):
            return []
        return sorted([*parts, *chain.from_iterable(inside)])

    def _spell(self, start: int, end: int) -> list[int]:
        """Return where a level begins and ends after which the one before it returns, if any.

        One place that parts the stretch hides it, and the shorter it lasts the better: the places
        are proposed together, as circular binary segmentation does (Olshen, Venkatraman, Lucito
        and Wigler, Biostatistics 5, 2004). Any two of the places could have been its ends.
        """
        x = self._without_outliers[start:end]
        if len(x) < 3 * LEAST_VALUES:
            return []
        first, last = _differing_spell(x)
        inside, around = x[first:last], np.concatenate([x[:first], x[last:]])
        # Outliers close to one another are no level: they have nothing in common.
        if math.sqrt(_variance(inside)) > _UNLIKE * math.sqrt(_variance(around)):
            return []
        # Outliers count here: those that stand in a row by chance are the ones that are left.
        whole = self._scaled[start:end]
        rest = np.concatenate([whole[:first], whole[last:]])
        if not _is_far(inside, rest) and _chance_of_row(inside, rest) > _ROW:
            return []
        p = self._p_between(inside, around, self._inflation)
        pairs = len(x) * (len(x) - 1) / 2
        return [start + first, start + last] if p * pairs <= _SURE else []

    def _point(self, start: int, place: int, end: int) -> ChangePoint:
        """Return the change at `place` between the levels [start, place) and [place, end)."""
        point = self._points.get((start, place, end))
        if point is None:
            before = _median(self._values[start:place])
            after = _median(self._values[place:end])
            ratio = after / before if before > 0 and after > 0 else math.nan
            # At each night a level could have begun.
            p = min(1.0, self._p(start, place, end) * len(self._values))
            point = self._points[start, place, end] = ChangePoint(place, before, after, ratio, p)
        return point

    def _is_small(self, point: ChangePoint) -> bool:
        size = abs(point.after - point.before)
        return size == 0 or size < self._least * abs(point.before)

    def _p(self, start: int, place: int, end: int) -> float:
        """Return Student's two-sided p for the stretches on both sides of `place`.

        Of stretches without any noise, the chance that equal values come in just this order.
        """
        return self._p_between(
            self._without_outliers[start:place],
            self._without_outliers[place:end],
            self._inflation,
        )

    def _is_provisional(self, start: int, place: int, end: int) -> bool:
        """Return whether a year of looks may show so different levels around `place` by chance."""
        if min(place - start, end - place) < _LEAST_CONFIRMING:
            return True
        inflation = max(self._inflation, _inflation_by(_LEAST_DEPENDENT))
        left, right = self._without_outliers[start:place], self._without_outliers[place:end]
        if self._p_between(left, right, inflation) > _CONFIRMED:
            return True
        # Outliers count here: they have a rank like any other night.
        levels = self._scaled[start:place], self._scaled[place:end]
        inside, around = sorted(levels, key=len)
        # Among few nights ranks can't show it, but distance can.
        return not _is_far(inside, around) and _chance_by_rank(inside, around) > _CONFIRMED

    @staticmethod
    def _p_between(
        left: NDArray[np.float64], right: NDArray[np.float64], inflation: float
    ) -> float:
        left_mean, right_mean = _mean(left), _mean(right)
        apart = abs(float(right_mean - left_mean))
        squares = float(((left - left_mean) ** 2).sum() + ((right - right_mean) ** 2).sum())
        free = len(left) + len(right) - 2
        variance = squares / free * (1 / len(left) + 1 / len(right)) * inflation
        # The variance of equal values may be what rounding leaves.
        if variance == 0 or (left.min() == left.max() and right.min() == right.max()):
            orders = math.comb(len(left) + len(right), len(left))
            return 1 / orders if left[0] != right[0] else 1.0
        return student_tails(free, apart / math.sqrt(variance))


def _without_outliers(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `x` (n,) with each outlier replaced by the median of those around it."""
    # numpy's median of each takes three times as long.
    around = np.sort(x[_windows(len(x))], axis=1)[:, _AROUND // 2]
    struck = _outlying(np.abs(x - around), _OUTLYING)
    if np.count_nonzero(struck) > max(2, len(x) * _MOST_STRUCK):
        return x
    return np.where(struck, around, x)


@lru_cache(maxsize=_LENGTHS)
def _windows(n: int) -> NDArray[np.int64]:
    """Return of each of n values the places of the five around it, at the ends the last five."""
    firsts = np.clip(np.arange(n) - _AROUND // 2, 0, n - _AROUND)
    return firsts[:, None] + np.arange(_AROUND)


# numpy's own take three times as long for so few values.
def _mean(x: NDArray[np.float64]) -> float:
    return float(x.sum()) / len(x)


def _variance(x: NDArray[np.float64]) -> float:
    away = x - _mean(x)
    return float((away * away).sum()) / (len(x) - 1)


def _median(x: NDArray[np.float64]) -> float:
    # numpy's takes ten times as long for so few values.
    return float(median(x.tolist()))


def _triples(edges: list[int]) -> list[tuple[int, int, int]]:
    """Return the ends of each two neighbouring levels of those between `edges`."""
    return list(zip(edges, edges[1:], edges[2:], strict=False))


def _has_several_levels(x: NDArray[np.float64]) -> bool:
    """Return whether `x` (n,) scatters more than the differences of its neighbours explain."""
    by_steps = _mean((x[1:] - x[:-1]) ** 2) / 2
    return _variance(x) > _SEVERAL_LEVELS * by_steps


def _outlying(distances: NDArray[np.float64], most: float) -> NDArray[np.bool_]:
    """Return which of `distances` (n,) are greater than `most` times their own spread."""
    # Those that are 0 say nothing of the spread.
    away = distances[distances > 0]
    if not len(away):
        return np.zeros(len(distances), bool)
    return distances > most * _PER_DEVIATION * _median(away)


def _inflation(x: NDArray[np.float64]) -> float:
    """Return by how much dependence between neighbours increases the variance of a mean of `x`.

    Of an autoregressive series (lag 1: r) the differences of next but one neighbours are
    sqrt(1 + r) times those of neighbours. Those across a jump are left out: it makes one of the
    neighbours' differences greater and two of the others, which looks like dependence. About
    its standard error is taken off r, or half of the series without dependence would lose by it.
    """
    steps = np.abs(x[1:] - x[:-1])
    level = ~_outlying(steps, _JUMP)
    level_for_two = level[1:] & level[:-1]
    next_one = _mean(steps[level])
    if next_one == 0 or not level_for_two.any():
        return 1.0
    next_but_one = _mean(np.abs(x[2:] - x[:-2])[level_for_two])
    r = (next_but_one / next_one) ** 2 - 1 - 1 / math.sqrt(len(x))
    return _inflation_by(min(max(r, 0.0), _MOST_DEPENDENT))


def _inflation_by(correlation: float) -> float:
    return (1 + correlation) / (1 - correlation)


def _chance_of_row(inside: NDArray[np.float64], around: NDArray[np.float64]) -> float:
    """Return about how probable it is that so extreme values stand in a row anywhere, by chance."""
    return (len(around) + 1) * _chance_of_extremes(inside, around)


def _chance_of_extremes(inside: NDArray[np.float64], around: NDArray[np.float64]) -> float:
    """Return how probable it is that just these places have so extreme values, by chance.

    By ranks alone, whatever distribution they have: `m` of those `around` are as far out as the
    nearest one `inside`, which are k of the n, and each order of the n is as probable as any other.
    """
    k, n = len(inside), len(inside) + len(around)
    above = _median(inside) > _median(around)
    m = np.count_nonzero(around >= inside.min() if above else around <= inside.max())
    return 2 * math.comb(int(m) + k, k) / math.comb(n, k)


def _is_far(inside: NDArray[np.float64], around: NDArray[np.float64]) -> bool:
    """Return whether all `inside` are farther from those `around` than these are apart."""
    gap = max(inside.min() - around.max(), around.min() - inside.max())
    return bool(gap > np.ptp(around))


def _chance_by_rank(inside: NDArray[np.float64], around: NDArray[np.float64]) -> float:
    """Return how probable it is that two levels differ so much by chance, by ranks alone.

    Few nights show it if they are out of all others' range, many by Wilcoxon's rank sum though
    some overlap. So far out its normal approximation is greater than the true probability.
    """
    k, rest = len(inside), len(around)
    order = np.sort(around)
    below = order.searchsorted(inside, "left").sum() + order.searchsorted(inside, "right").sum()
    apart = abs(float(below) - k * rest) / 2
    by_sum = math.erfc(apart / math.sqrt(k * rest * (k + rest + 1) / 6))
    return min(by_sum, _chance_of_extremes(inside, around))


def _differing_spell(x: NDArray[np.float64]) -> tuple[int, int]:
    """Return the ends [first, last) of the spell in `x` (n,) that differs most from the rest."""
    n = len(x)
    sums = np.concatenate([[0.0], np.cumsum(x - _mean(x))])
    best, ends = -1.0, (0, n)
    for first, last, weights in _spells(n) if n > _LONGEST_KEPT else _kept_spells(n):
        # The square of the difference of both means, by what chance makes of it.
        statistic = (sums[last] - sums[first]) ** 2 * weights
        row, column = divmod(int(np.argmax(statistic)), len(last))
        if statistic[row, column] > best:
            best, ends = float(statistic[row, column]), (int(first[row, 0]), int(last[column]))
    return ends


class _Spells(NamedTuple):
    """Spells: their first places (m, 1), their ends (k,), the weights of their squares (m, k)."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    weights: NDArray[np.float64]


def _spells(n: int) -> Iterator[_Spells]:
    """Yield all spells of n values, some together."""
    sizes = np.arange(LEAST_VALUES, n)
    # By the size of a spell; too short ones don't count.
    weights = np.concatenate([np.zeros(LEAST_VALUES), n / (sizes * (n - sizes))])
    for start in range(LEAST_VALUES, n - 2 * LEAST_VALUES + 1, _ROWS):
        first = np.arange(start, min(start + _ROWS, n - 2 * LEAST_VALUES + 1))[:, None]
        last = np.arange(start + LEAST_VALUES, n - LEAST_VALUES + 1)
        yield _Spells(first, last, weights[np.maximum(last - first, 0)])


@lru_cache(maxsize=_LENGTHS)
def _kept_spells(n: int) -> tuple[_Spells, ...]:
    return tuple(_spells(n))


def _split(x: NDArray[np.float64]) -> int:
    """Return the place that parts `x` (n,) best: where E-divisive's statistic, exponent 1, is most.

    It is the mean distance between both parts less those within each, weighted by their sizes.
    """
    n = len(x)
    earlier, later = np.empty(n), np.zeros(n)
    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        rows = np.where(_below(start, end), np.abs(x[start:end, None] - x[None, :end]), 0.0)
        earlier[start:end] = rows.sum(axis=1)
        later[:end] += rows.sum(axis=0)
    k = np.arange(LEAST_VALUES, n - LEAST_VALUES + 1)
    rest = n - k
    within_left = np.cumsum(earlier)[k - 1]
    within_right = np.cumsum(later[::-1])[::-1][k]
    between = float(earlier.sum()) - within_left - within_right
    statistic = (2 * between / (k * rest) - 2 * within_left / k**2 - 2 * within_right / rest**2) * (
        k * rest / n
    )
    return int(k[np.argmax(statistic)])


@lru_cache(maxsize=_LENGTHS)
def _below(start: int, end: int) -> NDArray[np.bool_]:
    """Return (end - start, end): which places are not after the row's own."""
    return np.tri(end - start, end, start, dtype=np.bool_)
