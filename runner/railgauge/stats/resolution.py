"""How finely values are resolved: a change of one step of a coarse clock is none."""

from __future__ import annotations

import math

from railgauge.base.arrays import NDArray, np

# Digits that a figure may have and still be a rounded one.
_MOST_DIGITS = 6


def step_of(values: NDArray[np.float64]) -> float:
    """Return the step in which `values` (n,) come, in their unit; 0 where none shows.

    It shows where at most half of them are different: the least distance of two. Of only two
    different values, as when all replications gave the same on either side, it is the last
    decimal digit that they have (45 and 46: 1), if one of them has more than one digit.
    """
    different = np.unique(values)
    if len(different) < 2 or 2 * len(different) > len(values):
        return 0.0
    if len(different) > 2:
        return float(np.diff(different).min())
    return _last_digit(*different.tolist())


def _last_digit(first: float, second: float) -> float:
    """Return the unit of the last decimal digit of the two; 0 where there are too many or few."""
    greatest = math.floor(math.log10(max(abs(first), abs(second))))
    units = [(value, _unit(value, greatest)) for value in (first, second) if value]
    few = all(abs(value) < 9.5 * 10.0**unit for value, unit in units)
    last = min(unit for _, unit in units)
    return 0.0 if few or last <= greatest - _MOST_DIGITS else 10.0**last


def _unit(value: float, greatest: int) -> int:
    """Return the greatest power of ten, as its exponent, that `value` is a multiple of."""
    for unit in range(greatest, greatest - _MOST_DIGITS, -1):
        steps = value / 10.0**unit
        if round(steps) and abs(steps - round(steps)) <= 1e-9 * abs(steps):
            return unit
    return greatest - _MOST_DIGITS
