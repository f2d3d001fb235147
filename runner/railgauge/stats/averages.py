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
# Counts have none either, but only their kind tells them from ratios and shares.
_WITHOUT_UNIT = ("", "1", "%")


def average_of(unit: str, kind: str = "") -> Average:
    """Return which mean summarises values in `unit` of a `kind`, as a metric's description says.

    Rules 3 and 4 of Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems
    (SC'15): costs (s, B, counts) by the arithmetic mean, rates (bit/s, op/s, Hz) by the harmonic
    one, ratios by neither: their median stands for them. Where no kind is said, the unit tells, and
    what has none is taken for a ratio.
    """
    if kind in _OF_KIND:
        return _OF_KIND[kind]
    if unit in _WITHOUT_UNIT:
        return "none"
    return "harmonic" if unit.endswith(_PER_TIME) else "arithmetic"
