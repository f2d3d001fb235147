"""Quantities with units, as plans and hosts files write them, to and from base units.

Base units are bytes (int), bits per second and seconds (float). Size prefixes: `KiB`, `MiB`, `GiB`
(1024, IEC 80000-13) and `kB`, `MB`, `GB` (1000); a bare `k`, `M` or `G` is Hpcbench's: 1024 on a
size, 1000 on a rate. A bare number is a size in bytes; rates and times must say their unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/]*)\s*")

_SIZES: dict[str, int] = {
    "": 1,
    "B": 1,
    **{unit: 1024 for unit in ("k", "K", "KiB")},
    **{unit: 1024**2 for unit in ("M", "MiB")},
    **{unit: 1024**3 for unit in ("G", "GiB")},
    "TiB": 1024**4,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
_RATES: dict[str, float] = {
    "bit/s": 1.0,
    **{unit: 1e3 for unit in ("k", "kbit/s")},
    **{unit: 1e6 for unit in ("M", "Mbit/s")},
    **{unit: 1e9 for unit in ("G", "Gbit/s")},
    "Tbit/s": 1e12,
}
_TIMES: dict[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}
# How a stored value may be shown: display unit -> (base unit, base units in one).
DISPLAY: dict[str, tuple[str, float]] = {
    **{name: ("bit/s", scale) for name, scale in _RATES.items() if "/" in name},
    **{name: ("s", scale) for name, scale in _TIMES.items()},
    **{name: ("B", float(scale)) for name, scale in _SIZES.items() if name.endswith("B")},
    "1": ("1", 1.0),
    "%": ("1", 0.01),
}


def parse_size(text: str | int) -> int:
    """Return the bytes in `text` (`1460`, `4KiB`, `10 kB`); ValueError says what to write."""
    number, unit = _split(text, "a size such as 1460, 4KiB or 10MB")
    scale = _scale(unit, _SIZES, "size", "4KiB")
    size = float(number) * scale
    if size != int(size):
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(size)


def parse_rate(text: str | int | float) -> float:
    """Return the bits per second in `text` (`150Mbit/s`); ValueError says what to write."""
    number, unit = _split(text, "a rate such as 150Mbit/s or 1Gbit/s")
    return float(number) * _scale(unit, _RATES, "rate", "150Mbit/s")


def parse_time(text: str | int | float) -> float:
    """Return the seconds in `text` (`5s`, `12us`, `2.9ms`); ValueError says what to write."""
    number, unit = _split(text, "a time such as 5s, 12us or 2.9ms")
    # Divided by the inverse where that is whole: 2.9 / 1000 is the double nearest to 2.9 ms.
    scale = _scale(unit, _TIMES, "time", "5s")
    return float(number) / round(1 / scale) if scale < 1 else float(number) * scale


def format_size(size: int) -> str:
    """Return `size` bytes as a plan would write it: `4KiB` where that is exact, else `1460`."""
    for unit, scale in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if size >= scale and size % scale == 0:
            return f"{size // scale}{unit}"
    return str(size)


def format_rate(rate: float) -> str:
    """Return `rate` bits per second with a prefix: `1Gbit/s`."""
    for unit in ("Gbit/s", "Mbit/s", "kbit/s"):
        if rate >= _RATES[unit]:
            return f"{rate / _RATES[unit]:g}{unit}"
    return f"{rate:g}bit/s"


def format_time(seconds: float) -> str:
    """Return `seconds` with a prefix, exact enough for a title: `2.9ms`."""
    if seconds == 0:
        return "0s"
    for unit in ("s", "ms", "us"):
        if seconds >= _TIMES[unit]:
            return f"{seconds / _TIMES[unit]:.6g}{unit}"
    return f"{seconds / 1e-9:.6g}ns"


def _split(text: str | int | float, wanted: str) -> tuple[str, str]:
    match = None if isinstance(text, bool) else _NUMBER.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text!r} is not {wanted}")
    return match[1], match[2]


def _scale(unit: str, scales: Mapping[str, float], kind: str, example: str) -> float:
    if unit in scales:
        return scales[unit]
    if not unit:
        raise ValueError(f"the {kind} has no unit: write for example {example}")
    known = ", ".join(name for name in scales if name)
    raise ValueError(f"unknown unit {unit!r} for a {kind}: use one of {known}")
