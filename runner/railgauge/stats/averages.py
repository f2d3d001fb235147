"""Which mean of a metric's values says something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Average = Literal["arithmetic", "harmonic", "none"]
# What an engine's table may say of a metric: what may be done with its values.
MetricKind = Literal["rate", "time", "count", "cost", "ratio", "share", "label"]

_OF_KIND: Mapping[str, Average] = {
    "rate": "harmonic",
    "time": "arithmetic",
    "count": "arithmetic",
    "cost": "arithmetic",
    "ratio": "none",
    "share": "none",
    "label": "none",
}
_PER_TIME = ("/s", "/min", "/h", "Hz")
# Counts have none either, but only their kind distinguishes them from ratios and shares.
_WITHOUT_UNIT = ("", "1", "%")


def average_of(unit: str, kind: str = "", *, timed: bool = False) -> Average:
    """Return which mean summarises values in `unit` of a `kind`, as a metric's description says.

    Rules 3 and 4 of Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems
    (SC'15): costs (s, B, counts) by the arithmetic mean, rates (bit/s, op/s, Hz) by the harmonic
    one, ratios by neither: their median stands for them. All the work over all the time is the
    harmonic mean of rates if the same work was done each time; if it went on for the same time
    each (`timed`), it is the arithmetic one. Where no kind is said, the unit decides, and what has
    none is taken for a ratio.
    """
    if kind in _OF_KIND:
        average = _OF_KIND[kind]
    elif unit in _WITHOUT_UNIT:
        average = "none"
    else:
        average = "harmonic" if unit.endswith(_PER_TIME) else "arithmetic"
    return "arithmetic" if timed and average == "harmonic" else average
