"""Numbers with few decimals that never look like another number that means something else."""

from __future__ import annotations

import math

# What is nearer than this to a number other than 0 is that number: logarithms are off by as much.
_ROUNDED = 1e-9
# Clocks of machines run too fast or too slow by up to 1e-4: further digits of a rate are theirs.
_SIGNIFICANT = 5


def decimals_of_interval(low: float, high: float) -> int:
    """Return how many decimals a value has that lies between `low` and `high`, which differ.

    As many as give half the width two significant digits (303 within 281 to 320, not 303.14), and
    the greater end five at most: 100.00, not 100.00030 within 100.00026 to 100.00035.
    """
    most = _SIGNIFICANT - 1 - _exponent(max(abs(low), abs(high)), _SIGNIFICANT)
    return min(decimals_of_width(high - low), max(0, most))


def decimals_of_width(width: float) -> int:
    """Return how many decimals give half the width of an interval, above 0, two significant digits.

    These are for what says how far values differ: a ratio of 1.00009 isn't one of 1.0001.
    """
    return max(0, 1 - _exponent(width / 2, 2))


def decimals_of_step(step: float) -> int:
    """Return how many decimals show multiples of `step`, above 0, as they are: 0.5 has one."""
    return max(0, -_exponent(step, 2))


def _exponent(size: float, digits: int) -> int:
    """Return the power of ten of `size` rounded to so many significant digits."""
    return int(f"{size:.{digits - 1}e}".partition("e")[2])


def ratio_text(ratio: float) -> str:
    """Return a ratio with three decimals, or as many as it takes not to look like 0 or 1."""
    return _distinct(ratio, 3, "", (0, 1))


def percent_text(share: float) -> str:
    """Return a share as a percentage with its sign: `-3.1 %`; see `percentage`."""
    return f"{percentage(share)} %"


def percentage(share: float) -> str:
    """Return a share's percentage with its sign and one decimal: `-3.1`.

    With as many as it takes not to look like 0 or -100, which mean no change and nothing left.
    """
    # What is left of 0 by rounding is 0, without a sign of its own.
    percent = round(100 * share, 9) + 0.0 if math.isfinite(share) else share
    return _distinct(percent, 1, "+", (0, -100))


def _distinct(value: float, digits: int, sign: str, reserved: tuple[float, ...]) -> str:
    text = f"{value:{sign}.{digits}f}"
    for number in reserved:
        off = abs(value - number)
        # First what is cheap: thousands of results are printed.
        if off < 0.1 and float(text) == number and off > _ROUNDED * abs(number):
            digits = -math.floor(math.log10(off))
            text = f"{value:{sign}.{digits}f}"
    return text
