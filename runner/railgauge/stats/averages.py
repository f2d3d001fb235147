"""Which mean of a metric's values says something."""

from __future__ import annotations

from typing import Literal

Average = Literal["arithmetic", "harmonic", "none"]

_PER_TIME = ("/s", "/min", "/h", "Hz")
# Shares, and counts, which have no unit either.
_WITHOUT_UNIT = ("", "1", "%")


def average_of(unit: str, *, timed: bool = False) -> Average:
    """Return which mean summarises values in `unit`, as a metric's description writes it.

    Rules 3 and 4 of Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems
    (SC'15): costs (s, B) by the arithmetic mean, rates (bit/s, op/s, Hz) by the harmonic one,
    ratios, which have no unit, by neither: their median stands for them. All the work over all the
    time is the harmonic mean of rates if the same work was done each time; if it went on for the
    same time each (`timed`), it is the arithmetic one.
    """
    if unit in _WITHOUT_UNIT:
        return "none"
    return "harmonic" if unit.endswith(_PER_TIME) and not timed else "arithmetic"
