"""Quantities with units, as plans and hosts files write them, to and from base units.

Base units are bytes (int), bits per second and seconds (float). Size prefixes: `KiB`, `MiB`, `GiB`
(1024, IEC 80000-13) and `kB`, `MB`, `GB` (1000); a bare `k`, `M` or `G` is Hpcbench's: 1024 on a
size, 1000 on a rate. A bare number is a size in bytes; rates and times must say their unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

# From 1973 to 2286: with fewer digits it is a date (20251121) or no time, with more as well.
_SECONDS = re.compile(r"[0-9]{9,10}(?:\.[0-9]*)?", re.ASCII)
# An exponent of more digits is none to Decimal.
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,9})?)\s*([A-Za-z\u00b5/]*)\s*")

_SIZES: dict[str, Decimal] = {
    "": Decimal(1),
    "B": Decimal(1),
    **{unit: Decimal(1024) for unit in ("k", "K", "KiB")},
    **{unit: Decimal(1024**2) for unit in ("M", "MiB")},
    **{unit: Decimal(1024**3) for unit in ("G", "GiB")},
    "TiB": Decimal(1024**4),
    "kB": Decimal(10**3),
    "MB": Decimal(10**6),
    "GB": Decimal(10**9),
    "TB": Decimal(10**12),
}
_RATES: dict[str, Decimal] = {
    "bit/s": Decimal(1),
    **{unit: Decimal(10**3) for unit in ("k", "kbit/s")},
    **{unit: Decimal(10**6) for unit in ("M", "Mbit/s")},
    **{unit: Decimal(10**9) for unit in ("G", "Gbit/s")},
    "Tbit/s": Decimal(10**12),
}
_TIMES: dict[str, Decimal] = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
}
_OPERATION_RATES: dict[str, Decimal] = {
    f"{prefix}{unit}/s": Decimal(10) ** power
    for unit in ("op", "FLOP")
    for prefix, power in (("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12))
}
_BYTE_RATES: dict[str, Decimal] = {
    f"{name}/s": scale for name, scale in _SIZES.items() if name.endswith("B")
}
_FREQUENCIES: dict[str, Decimal] = {
    f"{prefix}Hz": Decimal(10) ** power for prefix, power in (("", 0), ("k", 3), ("M", 6), ("G", 9))
}
# Unit -> (base unit, base units in one); not the bare prefixes, which are of sizes and of rates.
_UNITS: dict[str, tuple[str, Decimal]] = {
    name: (base, scale)
    for base, scales in (
        ("bit/s", _RATES),
        ("s", _TIMES),
        ("B", _SIZES),
        ("op/s", _OPERATION_RATES),
        ("B/s", _BYTE_RATES),
        ("Hz", _FREQUENCIES),
    )
    for name, scale in scales.items()
    if name not in ("", "k", "K", "M", "G")
}
# What was written with so many digits comes back from a double, whatever the unit.
_DIGITS = 15
# How a stored value may be shown.
DISPLAY: dict[str, tuple[str, float]] = {
    **{name: (base, float(scale)) for name, (base, scale) in _UNITS.items()},
    "1/s": ("1/s", 1.0),
    "1": ("1", 1.0),
    "%": ("1", 0.01),
}


def parse_size(text: str | int | float) -> int:
    """Return the bytes in `text` (`1460`, `4KiB`, `10 kB`); ValueError says what to write."""
    size, _ = _quantity(text, _SIZES, "size", "1460, 4KiB or 10MB")
    if size != size.to_integral_value():
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(size)


def parse_rate(text: str | int | float) -> float:
    """Return the bits per second in `text` (`150Mbit/s`); ValueError says what to write."""
    return float(_quantity(text, _RATES, "rate", "150Mbit/s or 1Gbit/s")[0])


def parse_time(text: str | int | float) -> float:
    """Return the seconds in `text` (`5s`, `12us`, `2.9ms`); ValueError says what to write."""
    return float(_quantity(text, _TIMES, "time", "5s, 12us or 2.9ms")[0])


def parse_moment(text: str) -> float:
    """Return the seconds since 1970 in `text`: these, or ISO 8601 with its zone; else ValueError.

    `1763690400.25`, `2025-11-21T02:00:00.25Z`, `2025-11-21 03:00+01:00`.
    """
    try:
        if _SECONDS.fullmatch(text):
            return datetime.fromtimestamp(float(text), UTC).timestamp()
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(
        f"{text!r} is no time: write it with its zone, such as 2025-11-21T02:00:00Z, or in seconds "
        "since 1970"
    )


def parse_quantity(text: str | int | float) -> tuple[float, str]:
    """Return the value of `text` in its base unit, and that unit: `2GB/s` is (2e9, "B/s").

    ValueError says what to write. The unit says what it is a quantity of, so it can't be left out.
    """
    scales = {name: scale for name, (_, scale) in _UNITS.items()}
    value, unit = _quantity(text, scales, "quantity", "68.3GB/s, 147.2GFLOP/s or 14ns")
    return float(value), _UNITS[unit][0]


def format_size(size: int) -> str:
    """Return `size` bytes as a plan would write it: `4KiB` where that is exact, else `1460`."""
    for unit, scale in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if size >= scale and size % scale == 0:
            return f"{size // scale}{unit}"
    return str(size)


def format_rate(rate: float, digits: int = _DIGITS) -> str:
    """Return `rate` bits per second with a prefix, to so many digits: `1Gbit/s`."""
    for unit in ("Gbit/s", "Mbit/s", "kbit/s"):
        if rate >= _RATES[unit]:
            return f"{rate / float(_RATES[unit]):.{digits}g}{unit}"
    return f"{rate:.{digits}g}bit/s"


def format_time(seconds: float) -> str:
    """Return `seconds` with a prefix, as a plan would write it: `2.9ms`."""
    if seconds == 0:
        return "0s"
    for unit in ("s", "ms", "us"):
        if seconds >= _TIMES[unit]:
            return f"{seconds / float(_TIMES[unit]):.{_DIGITS}g}{unit}"
    return f"{seconds * 1e9:.{_DIGITS}g}ns"


def _quantity(
    text: str | int | float, scales: Mapping[str, Decimal], kind: str, examples: str
) -> tuple[Decimal, str]:
    """Return the value of `text` in the base unit of `scales`, and the unit it is written in."""
    match = (
        None if isinstance(text, bool) else _NUMBER.fullmatch(str(text).replace("\u03bc", "\u00b5"))
    )
    if match is None:
        raise ValueError(f"{text!r} is not a {kind}: write for example {examples}")
    number, unit = Decimal(match[1]), match[2]
    if unit not in scales:
        if not unit:
            raise ValueError(f"{text!r} has no unit: write a {kind} such as {examples}")
        names = ", ".join(name for name in scales if name)
        raise ValueError(f"unknown unit {unit!r} for a {kind}: use one of {names}")
    # Decimal is exact within its 28 digits, so that 2.9ms is the double nearest to it.
    if len(number.as_tuple().digits) > 20 or abs(number.adjusted()) > 30:
        raise ValueError(
            f"{text!r} is beyond what can be measured: write a {kind} such as {examples}"
        )
    return number * scales[unit], unit
