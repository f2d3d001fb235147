"""What a series of replications says, in a few numbers."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.interval import Interval, median_ranks
from railgauge.stats.moments import harmonic_mean, moments
from railgauge.stats.outliers import fences, quartiles


class Summary(NamedTuple):
    """What a series of n values says, in the values' own unit; each field is a number or None.

    `stdev` is the sample standard deviation (n - 1), None for a single value.
    `mean_absolute_deviation` is the mean distance from the mean. `cv` is the coefficient of
    variation, stdev / |mean|: None where either is missing or the mean is 0. Quartiles: see
    `quartiles`; `outliers` counts the values that are 3 interquartile ranges beyond them.
    `interval_low` to `interval_high` is the 95 % interval of the median, which of a number of
    values fixed beforehand covers `interval_level`; None with fewer than 6 values. `harmonic_mean`
    is None unless all are above 0. Where there are many series, `summaries` fills the fields, a
    column each.
    """

    n: int
    mean: float
    median: float
    stdev: float | None
    minimum: float
    maximum: float
    mean_absolute_deviation: float
    cv: float | None
    lower_quartile: float
    upper_quartile: float
    outliers: int
    interval_low: float | None
    interval_high: float | None
    interval_level: float | None
    harmonic_mean: float | None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the median, by order statistics; None with fewer than 6 values."""
        if self.interval_low is None or self.interval_high is None or self.interval_level is None:
            return None
        return Interval(self.interval_low, self.interval_high, self.interval_level)


def summarise(values: NDArray[np.float64] | Sequence[float], level: float = 0.95) -> Summary:
    """Summarise `values` (n,), n >= 1, in any order; ValueError when there are none.

    `level` is the interval's: 0.95, but of a series that its interval ended (`ENDED_LEVEL`).
    Sums are exact before the one rounding (fsum), so the result depends neither on the order of
    the values nor on the machine.
    """
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    # Whichever is quicker: a table may have 100,000 cells of ten values, or a cell a million.
    ordered: list[float] = sorted(array.tolist()) if n < 50 else np.sort(array).tolist()
    if n == 0:
        raise ValueError("there is nothing to summarise: no values")
    mean, stdev, deviation = moments(ordered)
    lower, upper = quartiles(ordered)
    low, high = fences(lower, upper)
    rank, covers = median_ranks(n, level) or (0, None)
    return Summary(
        n=n,
        mean=mean,
        median=_median(ordered),
        stdev=stdev,
        minimum=ordered[0],
        maximum=ordered[-1],
        mean_absolute_deviation=deviation,
        cv=stdev / abs(mean) if stdev is not None and mean else None,
        lower_quartile=lower,
        upper_quartile=upper,
        outliers=bisect_left(ordered, low) + n - bisect_right(ordered, high),
        interval_low=ordered[rank - 1] if rank else None,
        interval_high=ordered[-rank] if rank else None,
        interval_level=covers,
        harmonic_mean=harmonic_mean(ordered),
    )


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    low, high = ordered[middle - 1], ordered[middle]
    # Half of each where their sum would overflow.
    return total / 2 if math.isfinite(total := low + high) else low / 2 + high / 2
