"""Whether values rise or fall in the order of their measurement: they have no one median then."""

from __future__ import annotations

import math
from collections.abc import Sequence

from railgauge.base.arrays import NDArray, np

# Fewer values say nothing of their order. A trend is reported if it is as improbable as this.
_LEAST_VALUES, _LEVEL = 8, 0.01


def trend(values: NDArray[np.float64] | Sequence[float]) -> float | None:
    """Return how `values` (n,) go with the order in which they were measured; None where by chance.

    It is Spearman's rank correlation with that order, from -1 (each is less than the one before)
    to 1. None with fewer than 8 values, where all are equal, and where it isn't significant at 1 %,
    two-sided, against all orders of these values (Daniels, Journal of the Royal Statistical Society
    B 12, 1950): their variance is exact, ties included, their shape is taken for normal.
    """
    correlation, chance = _against_order(values)
    return correlation if chance <= _LEVEL else None


def rises_by_chance(values: NDArray[np.float64] | Sequence[float], level: float) -> bool:
    """Return whether at least this share of all orders of `values` (n,) has as much of a trend.

    True with fewer than 8 values.
    """
    return _against_order(values)[1] >= level


def trends_of_ranks(ranks: NDArray[np.float64]) -> list[float | None]:
    """Return the trend of each row of `ranks` (k, n): 1 to n in order of measurement, no ties."""
    n = ranks.shape[1]
    if n < _LEAST_VALUES:
        return [None] * len(ranks)
    order = np.arange(n) - (n - 1) / 2
    correlations: list[float] = (ranks @ order / float(order @ order)).tolist()
    return [value if _chance(value, n) <= _LEVEL else None for value in correlations]


def _against_order(values: NDArray[np.float64] | Sequence[float]) -> tuple[float, float]:
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    if n < _LEAST_VALUES:
        return 0.0, 1.0
    _, places, counts = np.unique(array, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places.ravel()] - (n + 1) / 2
    order = np.arange(n) - (n - 1) / 2
    squares = float(ranks @ ranks) * float(order @ order)
    if squares == 0:
        return 0.0, 1.0
    correlation = float(ranks @ order) / math.sqrt(squares)
    return correlation, _chance(correlation, n)


def _chance(correlation: float, n: int) -> float:
    """Return the share of orders of n values with at least this correlation, of either sign."""
    return math.erfc(abs(correlation) * math.sqrt((n - 1) / 2))
