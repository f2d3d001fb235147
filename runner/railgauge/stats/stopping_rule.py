"""When a case has been measured often enough: once its interval is narrow and nothing drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.interval import mean_interval, median_interval
from railgauge.stats.moments import skewness
from railgauge.stats.trend import rises_by_chance

# Of series that end because their interval is narrow, those of this level cover what others of
# 95 % do: benchmarks/coverage.py.
ENDED_LEVEL = 0.99
# So many shares wide that interval may be, to either side: an outlier among ten values is in it.
_ENDED_SHARES = 3.0
# A mean's interval is trusted with more than 28 + 25 G1² values, G1 their skewness.
_MEAN_LEAST, _MEAN_SKEWED = 28, 25
# So many values it takes to stop at all: fewer have no such interval, or none that is trusted.
FEWEST: Mapping[str, int] = {"median": 8, "mean": 29}
# A trend that chance shows in fewer series than this keeps a case open.
_TREND = 0.2


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
    chance, whatever is asked before: no rule that stops at 1 % has the true value within 1 % where
    the spread is such that it hardly ever stops. So it is the interval of `ENDED_LEVEL` that such
    a series shows, and that may reach three times as far as `share`. A series that rises or falls
    from value to value by more than `share` goes on: its values have no one median yet. For a mean
    there have to be more than 28 + 25 G1² values (G1 their skewness; Sugden, Smith and Jones,
    Journal of the Royal Statistical Society B 62, 2000). So no series ends with fewer than `FEWEST`
    values. With `most` of them there is nothing left to wait for: `within_share` alone says how it
    ended. docs/statistics.md has the coverage.
    """
    n = len(values)
    if n >= rule.most:
        return within_share(values, rule)
    if n < max(rule.least, FEWEST[rule.statistic]) or not within_share(values, rule):
        return False
    if rule.statistic == "mean":
        settled = n > _MEAN_LEAST + _MEAN_SKEWED * skewness(values) ** 2
    else:
        settled = _within(values, rule.statistic, _ENDED_SHARES * rule.share, ENDED_LEVEL)
    return settled and (_all_within(values, rule) or rises_by_chance(values, _TREND))


def within_share(values: NDArray[np.float64] | Sequence[float], rule: StopRule) -> bool:
    """Return whether the interval of `values` (n,), in any order, is as narrow as the rule asks.

    This is what a report says of a series; when to end one says `narrow_enough`.
    """
    return _within(values, rule.statistic, rule.share, 0.95)


def _all_within(values: NDArray[np.float64] | Sequence[float], rule: StopRule) -> bool:
    """Return whether no value is further from the rule's statistic than its share of that."""
    array = np.asarray(values, dtype=np.float64)
    middle = float(np.mean(array) if rule.statistic == "mean" else np.median(array))
    return float(np.max(np.abs(array - middle))) <= rule.share * abs(middle)


def _within(
    values: NDArray[np.float64] | Sequence[float], statistic: str, share: float, level: float
) -> bool:
    if statistic == "mean":
        interval = mean_interval(values, level)
        middle = (interval.low + interval.high) / 2 if interval else 0.0
    else:
        interval = median_interval(values, level)
        middle = float(np.median(np.asarray(values))) if interval else 0.0
    if interval is None:
        return False
    return max(interval.high - middle, middle - interval.low) <= share * abs(middle)
