"""Whether two series differ, by the ranks of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special


class RankTest(NamedTuple):
    """Whether two series differ: two-sided `p`, and the `least` p that so few values can give."""

    p: float
    least: float


class RankTests(NamedTuple):
    """Many tests of series of the same lengths, (m,) each.

    `p` is two-sided. `greater` is how often a value of the second is greater than one of the
    first, ties counted half. `different` counts the different values of both.
    """

    p: NDArray[np.float64]
    greater: NDArray[np.float64]
    different: NDArray[np.int64]


# Steps up to which the exact distribution is counted out (some ms); the normal one is good by then.
_MOST_STEPS = 5_000_000
# Steps for all the different patterns of ties in many tests together (about a second).
_MOST_STEPS_WITH_TIES = 400_000_000
# From here on nothing is judged by p, so that the normal distribution does where there are ties.
_PLAIN = 0.2


def rank_test(first: Sequence[float], second: Sequence[float]) -> RankTest:
    """Return the Mann-Whitney test of two series; ValueError where one of them is empty.

    It supposes nothing of how values spread, and one outlier can't carry it. Equal values share
    the mean of their ranks, and the distribution is the exact one of those very ranks, counted
    out as Streitberg and Röhmel do (Statistical Software Newsletter 12, 1986); for long series
    the normal one, corrected for ties and continuity (Lehmann, Nonparametrics, 1975, chapter 1).
    """
    few, many = sorted((first, second), key=len)
    k, n = len(few), len(few) + len(many)
    if not k:
        raise ValueError("there is nothing to compare: no values")
    values = np.concatenate([np.asarray(few, np.float64), np.asarray(many, np.float64)])
    ranks, starts = doubled_ranks(values[None])
    distance = np.abs(ranks[:, :k].sum(axis=1) - k * (n + 1))
    if steps(k, n) > _MOST_STEPS:
        return RankTest(float(_normal(distance, ranks, k)[0]), 0.0)
    return RankTest(float(tails(k, _pattern(starts[0]))[distance[0]]), least_p(k, n - k))


def rank_tests(first: NDArray[np.float64], second: NDArray[np.float64]) -> RankTests:
    """Return the test of each row of `first` (m, a) against that of `second` (m, b); a, b >= 1.

    As `rank_test`, but where there are ties and p is large, or not among the least of very many
    with ties, the normal distribution has to do, whose p may be half of the exact one.
    """
    a, b = first.shape[1], second.shape[1]
    k, n = min(a, b), a + b
    ranks, starts = doubled_ranks(np.concatenate([first, second], axis=1))
    sums = ranks[:, a:].sum(axis=1)
    greater = (sums - b * (b + 1)) / (2 * a * b)
    distance = np.abs(sums - b * (n + 1))
    p = _normal(distance, ranks, k)
    if steps(k, n) <= _MOST_STEPS:
        tied = ~starts.all(axis=1)
        p[~tied] = tails(k, (1,) * n)[distance[~tied]]
        _count_out(p, np.flatnonzero(tied & (p < _PLAIN)), distance, starts, k)
    return RankTests(p, greater, starts.sum(axis=1))


def least_p(a: int, b: int) -> float:
    """Return the least two-sided p that `a` and `b` values can give, a, b >= 0."""
    return min(2 / math.comb(a + b, a), 1.0)


def steps(k: int, n: int) -> int:
    """Return what it takes to count out how `k` of `n` ranks may add up."""
    return 2 * n * n * k * k


def doubled_ranks(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return twice the rank of each value within its row (m, n), and where in the ordered row
    another value than the one before it begins (m, n).

    Twice, so that what ties share stays whole.
    """
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    n = rows.shape[1]
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    ends = np.ones(rows.shape, bool)
    ends[:, :-1] = starts[:, 1:]
    places = np.arange(n)
    begin = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    end = np.minimum.accumulate(np.where(ends, places, n)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape, np.int64)
    np.put_along_axis(ranks, order, begin + end + 2, axis=1)
    return ranks, starts


@lru_cache(maxsize=4096)
def tails(k: int, pattern: tuple[int, ...]) -> NDArray[np.float64]:
    """Return (d,): the chance that k of the values have ranks that add up as far off or farther.

    `pattern` are the numbers of equal values, from the least value on. The place is the distance
    of twice the ranks' sum from its mean k (n + 1).
    """
    counts = np.asarray(pattern)
    n = int(counts.sum())
    ranks = np.repeat(2 * np.cumsum(counts) - counts + 1, counts)
    # ways[j, s]: how many choices of j of the values have ranks that add up to s.
    ways = np.zeros((k + 1, k * 2 * n + 1))
    ways[0, 0] = 1
    for rank in ranks.tolist():
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    distance = np.abs(np.arange(ways.shape[1]) - k * (n + 1))
    by_distance = np.bincount(distance, weights=ways[k])[: k * (n - k) + 1]
    chances: NDArray[np.float64] = np.minimum(by_distance[::-1].cumsum()[::-1] / math.comb(n, k), 1)
    chances.flags.writeable = False
    return chances


def _pattern(starts: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.diff(np.append(np.flatnonzero(starts), len(starts))).tolist())


def _count_out(
    p: NDArray[np.float64],
    tests: NDArray[np.intp],
    distance: NDArray[np.int64],
    starts: NDArray[np.bool_],
    k: int,
) -> None:
    """Put the exact p where ties are, the least p first, as long as it doesn't take too long."""
    patterns, places = np.unique(starts[tests], axis=0, return_inverse=True)
    least = np.ones(len(patterns))
    np.minimum.at(least, places.ravel(), p[tests])
    most = _MOST_STEPS_WITH_TIES // steps(k, starts.shape[1])
    for number in np.argsort(least, kind="stable")[:most].tolist():
        group = tests[places.ravel() == number]
        p[group] = tails(k, _pattern(patterns[number]))[distance[group]]


def _normal(distance: NDArray[np.int64], ranks: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return p by the normal distribution, corrected for ties and continuity."""
    n = ranks.shape[1]
    # The variance of twice the sum of k of these very ranks, drawn without putting back.
    variance = k * (n - k) / max(n - 1, 1) * ranks.var(axis=1)
    # Where all are tied there is no variance, and no distance either. Sums are 2 apart.
    z = np.maximum(distance - 1, 0) / np.sqrt(np.where(variance > 0, variance, 1.0))
    p: NDArray[np.float64] = special.erfc(z / math.sqrt(2))
    return p
