"""When a case has been measured often enough: once its interval is narrow, and not by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.stats.interval import mean_interval, median_interval
from railgauge.stats.moments import skewness

# It has to be narrow now, and to have been so when there were four fifths of the values.
_BEFORE = (4, 5)
# A mean's interval is trusted with more than 28 + 25 G1² values, G1 their skewness.
_MEAN_LEAST, _MEAN_SKEWED = 28, 25
# So many values it takes to stop at all: four fifths of them have an interval that counts.
FEWEST: Mapping[str, int] = {"median": 8, "mean": 37}


class StopRule(NamedTuple):
    """From `least` to `most` values, until their interval is narrow.

    Narrow: both ends of the 95 % interval of the `statistic` are within `share` of it.
    """

    least: int
    most: int
    statistic: Literal["median", "mean"]
    share: float


def narrow_enough(values: NDArray[np.float64] | Sequence[float], rule: StopRule) -> bool:
    """Return whether to stop after `values` (n,), in the order in which they were measured.

    An interval that ends a series because it looks narrow is too often one that is narrow by
    chance, so more is asked than `within_share`: the first four fifths of the values had to be
    within it as well, and for a mean there have to be more than 28 + 25 G1² values, both times
    (G1 their skewness; Sugden, Smith and Jones, Journal of the Royal Statistical Society B 62,
    2000). So no series ends with fewer than `FEWEST` values. With `most` of them there is nothing
    left to wait for: `within_share` alone says how it ended. docs/statistics.md has the coverage.
    """
    n = len(values)
    if n >= rule.most:
        return within_share(values, rule)
    if n < max(rule.least, FEWEST[rule.statistic]):
        return False
    share, whole = _BEFORE
    return all(_settled(values[:k], rule) for k in (n, n * share // whole))


def within_share(values: NDArray[np.float64] | Sequence[float], rule: StopRule) -> bool:
    """Return whether the interval of `values` (n,), in any order, is as narrow as the rule asks.

    This is what a report says of a series; when to end one says `narrow_enough`.
    """
    if rule.statistic == "mean":
        interval = mean_interval(values)
        middle = (interval.low + interval.high) / 2 if interval else 0.0
    else:
        interval = median_interval(values)
        middle = float(np.median(np.asarray(values))) if interval else 0.0
    if interval is None:
        return False
    return max(interval.high - middle, middle - interval.low) <= rule.share * abs(middle)


def _settled(values: NDArray[np.float64] | Sequence[float], rule: StopRule) -> bool:
    enough = rule.statistic == "median" or len(values) > (
        _MEAN_LEAST + _MEAN_SKEWED * skewness(values) ** 2
    )
    return enough and within_share(values, rule)
