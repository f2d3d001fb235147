"""Between which two values the true median, or the true mean, of a series lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.moments import moments
from railgauge.stats.student import student_reach

# Rounding in the binomial distribution, up to a million values.
_SLACK = 1e-7


class Interval(NamedTuple):
    """A two-sided confidence interval in the values' unit.

    `level` is how often such an interval covers the true value: for order statistics that is more
    than what was asked for, as there is none in between.
    """

    low: float
    high: float
    level: float


def median_interval(
    values: NDArray[np.float64] | Sequence[float], level: float = 0.95
) -> Interval | None:
    """Return the interval of the median of `values` (n,) in any order; None where n is too small.

    Its ends are two of the values, as far from the least as from the greatest, so it supposes
    nothing of how values spread but that they are independent (Thompson, Annals of Mathematical
    Statistics 7, 1936). For 95 % it takes 6 values. Ties only make it cover more.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    ranks = median_ranks(len(ordered), level)
    if ranks is None:
        return None
    rank, covers = ranks
    return Interval(float(ordered[rank - 1]), float(ordered[-rank]), covers)


def mean_interval(
    values: NDArray[np.float64] | Sequence[float], level: float = 0.95
) -> Interval | None:
    """Return Student's interval of the mean of `values` (n,) in any order; None where n < 2.

    It is right for normal values (Student, Biometrika 6, 1908). Of skewed ones it covers less the
    fewer there are: of ten exponential ones 90 % instead of 95.
    """
    n = len(values)
    if n < 2:
        return None
    mean, stdev, _ = moments(np.sort(np.asarray(values, dtype=np.float64)).tolist())
    reach = _student(n - 1, level) * (stdev or 0.0) / math.sqrt(n)
    return Interval(mean - reach, mean + reach, level)


def harmonic_interval(
    values: NDArray[np.float64] | Sequence[float], level: float = 0.95
) -> Interval | None:
    """Return the interval of the harmonic mean of `values` (n,) in any order; None where n < 2.

    It is that of the mean of their reciprocals, as the harmonic mean is that mean's. None, too,
    where a value isn't above 0, and where that interval holds 0, so that there is no upper end.
    """
    array = np.asarray(values, dtype=np.float64)
    least = float(array.min(initial=math.inf))
    if not 0 < least < math.inf:
        return None
    # Shares of the least neither overflow nor, where it matters, lose digits.
    shares = mean_interval(least / array, level)
    if shares is None or shares.low <= 0:
        return None
    return Interval(least / shares.high, least / shares.low, level)


@lru_cache(maxsize=4096)
def median_ranks(n: int, level: float = 0.95) -> tuple[int, float] | None:
    """Return which of `n` ordered values, from either end, bound the median, and how surely.

    The rank counts from 1; the second is the interval's real coverage, `level` or more. None where
    even the least and the greatest value don't do: fewer than 6 of them for 95 %.
    """
    _check(level)
    allowed = (1 - level) / 2 * (1 + _SLACK)
    # P(fewer than `rank` of n values are below the median), term by term from where it is nothing.
    below, rank = 0.0, 0
    for k in range(max(0, n // 2 - math.ceil(5 * math.sqrt(n))), n // 2):
        more = below + _binomial(n, k)
        if more > allowed:
            break
        below, rank = more, k + 1
    return (rank, 1 - 2 * below) if rank else None


def _binomial(n: int, k: int) -> float:
    """Return the probability of k heads of n fair coins."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways - n * math.log(2))


@lru_cache(maxsize=4096)
def _student(freedom: int, level: float) -> float:
    """Return how many standard errors the two-sided interval reaches to either side."""
    _check(level)
    return student_reach(freedom, level)


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level of confidence is between 0 and 1, not {level}")
