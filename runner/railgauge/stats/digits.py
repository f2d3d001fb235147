"""Numbers with few decimals that never look like another number that means something else."""

from __future__ import annotations

import math

# What is nearer than this to a number other than 0 is that number: logarithms are off by as much.
_ROUNDED = 1e-9


def decimals_of_width(width: float) -> int:
    """Return how many decimals give half the width of an interval, above 0, two significant digits.

    More of them say nothing of a value that lies anywhere in it: 303 within 281 to 320, not 303.14.
    """
    exponent = int(f"{width / 2:.1e}".partition("e")[2])
    return max(0, 1 - exponent)


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
