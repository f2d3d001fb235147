"""Mean and spread, exact before the one rounding whatever the size of the values; skewness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np


class Moments(NamedTuple):
    """Of n values, in their unit: the mean, the sample standard deviation (n - 1; None for one
    value) and the mean distance from the mean.
    """

    mean: float
    stdev: float | None
    mean_absolute_deviation: float


# Squares and sums of what lies between these neither overflow nor lose digits.
LEAST, MOST = 2.0**-400, 2.0**400


def moments(ordered: list[float]) -> Moments:
    """Return the moments of `ordered`, n >= 1 finite values, the least first.

    Sums are exact before the one rounding (fsum), so the result depends neither on the order of
    the values nor on the machine.
    """
    greatest = max(-ordered[0], ordered[-1])
    if LEAST < greatest < MOST or greatest == 0:
        return _moments(ordered)
    # By a power of two no digit changes.
    power = math.frexp(greatest)[1]
    mean, stdev, deviation = _moments([math.ldexp(value, -power) for value in ordered])
    return Moments(
        math.ldexp(mean, power),
        None if stdev is None else _times_power(stdev, power),
        math.ldexp(deviation, power),
    )


def _times_power(stdev: float, power: int) -> float:
    """Return stdev * 2**power, which may be beyond the largest number although no value is."""
    try:
        return math.ldexp(stdev, power)
    except OverflowError:
        return math.inf


def _moments(ordered: list[float]) -> Moments:
    n = len(ordered)
    # A mean can't lie outside the values; rounding the division could put it there by one ulp.
    mean = min(max(math.fsum(ordered) / n, ordered[0]), ordered[-1])
    around = [value - mean for value in ordered]
    stdev = None
    if n > 1:
        # Less what the mean's own rounding adds, which shows where values are huge and close.
        off = math.fsum(around)
        squares = math.fsum([value * value for value in around]) - off * off / n
        stdev = math.sqrt(max(squares, 0.0) / (n - 1))
    return Moments(mean, stdev, math.fsum(map(abs, around)) / n)


def harmonic_mean(ordered: list[float]) -> float | None:
    """Return the harmonic mean of `ordered`, the least first; None where a value isn't above 0."""
    least = ordered[0]
    if least <= 0:
        return None
    # Shares of the least neither overflow nor, where it matters, lose digits.
    mean = least / (math.fsum([least / value for value in ordered]) / len(ordered))
    return min(max(mean, least), ordered[-1])


def skewness(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the sample skewness g1 of `values` (n,), n >= 1; 0 where all are equal."""
    array = np.asarray(values, dtype=np.float64)
    # As shares of the greatest, twice: sums don't overflow, and cubes don't vanish.
    around = array / (float(np.max(np.abs(array))) or 1.0)
    around = around - np.mean(around)
    greatest = float(np.max(np.abs(around)))
    if greatest == 0:
        return 0.0
    around = around / greatest
    return float(np.mean(around**3) / np.mean(around**2) ** 1.5)
