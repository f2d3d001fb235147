"""Which values lie far from the rest: reported, never dropped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeVar

from railgauge.base.arrays import NDArray, np

_Number = TypeVar("_Number", float, "NDArray[np.float64]")

# How many interquartile ranges beyond its quartiles a value is an outlier: Tukey's outer fences.
OUTLIER_RANGES = 3.0
# By what share of the quartiles a fence may be off, as both are rounded: less than half of it.
_ROUNDING = 16 * sys.float_info.epsilon


def outliers(values: NDArray[np.float64] | Sequence[float]) -> NDArray[np.bool_]:
    """Return (n,) in the order of `values` (n,): which are outliers.

    Those outside [q1 - 3 IQR, q3 + 3 IQR] (Tukey, Exploratory Data Analysis, 1977, 2D: "far out"),
    with IQR = q3 - q1. It takes 5 values for one of them to be an outlier. Where both quartiles are
    equal, all that differ from them are outliers.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return np.zeros(0, np.bool_)
    low, high = fences(*quartiles(np.sort(array).tolist()))
    return (array < low) | (array > high)


def quartiles(ordered: list[float]) -> tuple[float, float]:
    """Return the lower and the upper quartile of `ordered`, n >= 1, the least first.

    Between the values at the places (n - 1) / 4 and 3 (n - 1) / 4, counted from 0, linearly
    interpolated (Hyndman and Fan, The American Statistician 50, 1996: definition 7).
    """
    last = len(ordered) - 1
    return _between(ordered, last), _between(ordered, 3 * last)


def fences(lower: _Number, upper: _Number) -> tuple[_Number, _Number]:
    """Return the least and the greatest value that is no outlier, from the quartiles.

    So is a value at a fence, however that is rounded: of three equal values and a fourth, this one.
    """
    reach = OUTLIER_RANGES * (upper - lower) + _ROUNDING * abs(lower) + _ROUNDING * abs(upper)
    return lower - reach, upper + reach


def _between(ordered: list[float], quarters: int) -> float:
    """Return the value at a quarter of `quarters` places from the first."""
    place, part = divmod(quarters, 4)
    if not part:
        return ordered[place]
    # Weighed, not first plus part of the difference, which may overflow and leave the two.
    low, high = ordered[place], ordered[place + 1]
    return min(max(low * (1 - part / 4) + high * (part / 4), low), high)
