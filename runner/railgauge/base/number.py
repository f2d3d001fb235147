"""How a stored value becomes the digits a reader sees: exact decimal arithmetic, display units."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from railgauge.base.units import DISPLAY

NOT_DEFINED = "n/a"
# Wide enough for every double; the default's 28 digits refuse to round 1e30 to two decimals.
_WIDE = Context(prec=400)
# What is further than this from a tie, in the last digit shown, rounds the same in binary, where
# numbers below so many last digits are less than 1e-6 of one off.
_FROM_TIE, _EXACT_BELOW, _MOST_DIGITS = 1e-5, 1e9, 20
# Above this a double's last digits are none of what was measured.
_EXACT_WHOLE = 1e15
# Below this there are more zeros than one counts at a glance.
_TINY = 1e-9

# The units that a table picks from by itself, smallest first.
_LADDERS: dict[str, tuple[str, ...]] = {
    "bit/s": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"),
    "s": ("ns", "µs", "ms", "s"),
    "B": ("B", "KiB", "MiB", "GiB"),
    "op/s": ("op/s", "kop/s", "Mop/s", "Gop/s", "Top/s"),
    "B/s": ("B/s", "kB/s", "MB/s", "GB/s"),
    "Hz": ("Hz", "kHz", "MHz", "GHz"),
    "1": ("%",),
}


@lru_cache
def scale(unit: str, base: str) -> Decimal | None:
    """Return how many `base` units one display `unit` is; None if it can't show that base unit."""
    display = DISPLAY.get(unit)
    if display is not None and display[0] == (base or "1"):
        return _decimal(display[1])
    return Decimal(1) if unit == base else None


def fitting_units(base: str) -> list[str]:
    """Return the names of the units in which values of the base unit `base` can be shown."""
    units = [unit for unit, (unit_base, _) in DISPLAY.items() if unit_base == (base or "1")]
    return units or [base]


def format_number(value: float | None, per_unit: Decimal, digits: int) -> str:
    """Return `value` (base unit) in units of `per_unit` base units, with `digits` decimals.

    The rounded number is the shortest decimal that stands for the stored double, not its binary
    expansion: 165.115 is a tie, and ties go to the even digit (IEEE 754, ISO 80000-1).
    """
    if value is None or not math.isfinite(value):
        return NOT_DEFINED
    size = value / _float(per_unit)
    last = abs(size) * 10.0**digits if digits <= _MOST_DIGITS else 0.0
    if 1 <= last < _EXACT_BELOW and abs(last % 1 - 0.5) > _FROM_TIE:
        return f"{size:.{digits}f}"
    exact = _WIDE.divide(_decimal(value), per_unit) if per_unit != 1 else _decimal(value)
    rounded = exact.quantize(_quantum(digits), ROUND_HALF_EVEN, _WIDE)
    return f"{rounded if rounded else abs(rounded):f}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return `1 case`, `2 cases`, `1,000 cases`; of several `nouns`, if not with an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def plain_number(value: float, digits: int = 4) -> str:
    """Return `value` with so many significant digits, or all of those before its point.

    Without an exponent, unless it is tiny or huge.
    """
    size = abs(value)
    if 10.0 ** (digits - 1) <= size < _EXACT_WHOLE:
        return f"{value:.0f}"
    return positional(f"{value:.{digits}g}")


def positional(text: str) -> str:
    """Return the text of a number below 1 without its exponent, unless that number is tiny."""
    return f"{Decimal(text):f}" if _TINY <= abs(float(text)) < 1 else text


def at_most(value: float, per_unit: float, digits: int) -> str:
    """Return a bound that `value` doesn't exceed, in `per_unit`s, with `digits` decimals."""
    ratio = _WIDE.divide(_decimal(value), _decimal(per_unit))
    return f"{ratio.quantize(_quantum(digits), ROUND_CEILING, _WIDE):f}"


def best_unit(base: str, values: Iterable[float]) -> str:
    """Return the display unit in which the middle one of `values` (base unit) is at least 1."""
    if base not in _LADDERS:
        return base
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    return _fitting(base, sizes[len(sizes) // 2] if sizes else 0.0)


def in_best_unit(value: float, base: str) -> str:
    """Return `value` (of `base` unit) with four significant digits, in the unit that suits it.

    What was counted has no decimals.
    """
    size = abs(value)
    unit = _fitting(base, size if math.isfinite(size) else 0.0)
    per_unit = scale(unit, base)
    assert per_unit is not None  # the unit was chosen for that base
    counted = not unit and size.is_integer()
    digits = 0 if counted else four_digits(size / _float(per_unit))
    text = format_number(value, per_unit, digits)
    return f"{text} {unit}" if unit else text


def four_digits(size: float) -> int:
    """Return how many decimals give `size`, which isn't negative, four significant digits."""
    # Of the rounded size: 999.96 is 1000.
    return max(0, 3 - int(f"{size:.3e}".partition("e")[2])) if size else 0


@lru_cache
def ladder(base: str) -> tuple[tuple[float, str], ...]:
    """Return the units that values of `base` are shown in: how much one is, and its name."""
    return (
        tuple((DISPLAY[unit][1], unit) for unit in _LADDERS[base])
        if base in _LADDERS
        else ((0.0, base),)
    )


def _fitting(base: str, size: float) -> str:
    """Return the greatest unit of which `size` has one; of 0 the base unit, if values have it."""
    units = {unit: least for least, unit in ladder(base)}
    if not size and base in units:
        return base
    name = next(iter(units))
    for unit, least in units.items():
        if size < least:
            break
        name = unit
    return name


def _decimal(value: float) -> Decimal:
    return Decimal(repr(float(value)))


@lru_cache
def _float(exact: Decimal) -> float:
    return float(exact)


@lru_cache
def _quantum(digits: int) -> Decimal:
    return Decimal(1).scaleb(-digits)
