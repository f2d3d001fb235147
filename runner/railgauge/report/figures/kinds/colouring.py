"""Which value of a heat map has which colour: dark is worse, and outliers don't hide the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import plain_number, plural
from railgauge.report.figures.axis_ends import round_step
from railgauge.report.figures.figure import Scale

_BAR_STEPS = 64
# One value a hundred times worse must not make all the others look the same.
_WIDEST = 4.0
# And noise must not look like a difference.
_NARROWEST = 0.05
# What is good of the statistics that aren't values of the metric.
_BETTER = {
    "stdev": "lower",
    "mean_absolute_deviation": "lower",
    "cv": "lower",
    "outliers": "lower",
    "n": "higher",
}
# Nine even steps of viridis (N. Smith and S. van der Walt, 2015; CC0), dark to light.
_VIRIDIS = (
    *(0x440154, 0x472C7A, 0x3B518B, 0x2C718E, 0x21908D),
    *(0x27AD81, 0x5CC863, 0xAADC32, 0xFDE725),
)


def colours(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return 0xRRGGBB for each of `shares` (n,): 0 is the darkest, 1 the lightest."""
    steps = np.linspace(0, 1, len(_VIRIDIS))
    rgb = np.zeros(len(shares), np.int64)
    for shift in (16, 8, 0):
        channel = [(colour >> shift) & 0xFF for colour in _VIRIDIS]
        rgb |= np.interp(shares, steps, channel).round().astype(np.int64) << shift
    return rgb


class Colouring:
    """Which value has which colour: dark is worse."""

    def __init__(
        self, values: NDArray[np.float64], scale: Scale, statistic: str, better: str
    ) -> None:
        """Colour `values` (n,) of a statistic, in the scale's unit.

        `better` values of its metric are higher, lower or (empty) neither.
        """
        self.scale, self.good = scale, _BETTER.get(statistic, better)
        self.lower = self.good == "lower"
        self.low, self.high = _ends(values)
        self.beyond = int(np.count_nonzero((values < self.low) | (values > self.high)))

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how light each of `values` is, from 0 to 1."""
        ends = np.array([self.low, self.high])
        # Both ends are shares of a median above 0 where there may be logarithms.
        low, high = np.log(ends) if self.scale.log else ends
        scaled = np.log(values) if self.scale.log else values
        shares: NDArray[np.float64] = np.clip((scaled - low) / (high - low), 0.0, 1.0)
        return 1.0 - shares if self.lower else shares

    def bar(self, size: int) -> NDArray[np.float64]:
        """Return the legend's steps beside `size` rows, the worst at the bottom."""
        shares = (np.arange(_BAR_STEPS) + 0.5) / _BAR_STEPS
        edges = size - 0.5 - np.arange(_BAR_STEPS + 1) / _BAR_STEPS * size
        return np.column_stack((edges[:-1], edges[1:], shares, colours(shares)))

    def tics(self, size: int) -> tuple[tuple[float, str], ...]:
        """Return where round values stand beside the legend."""
        step = round_step(self.high - self.low, 6)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        marks = np.arange(first, last + 1, dtype=np.float64) * step
        places = size - 0.5 - self.shares(marks) * size
        return tuple(
            (place, plain_number(mark, 6))
            for place, mark in zip(places.tolist(), marks, strict=True)
        )

    @property
    def title(self) -> Scale:
        """Return what stands beside the legend."""
        dark = "dark is worse" if self.good else "dark is less"
        return Scale(f"{self.scale.title}, {dark}", self.scale.unit)

    def notes(self, noun: str) -> Iterator[str]:
        """Yield how many values (each of a `noun`) lie beyond the colours' ends."""
        if self.beyond:
            far = "better or worse" if self.good else "greater or smaller"
            yield (
                f"{plural(self.beyond, f'{noun} is', f'{noun}s are')} more than {_WIDEST:g} times"
                f" {far} than the median: shown in the colour of that end."
            )


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    middle, low, high = float(np.median(values)), float(values.min()), float(values.max())
    if middle > 0:
        low = min(max(low, middle / _WIDEST), middle * (1 - _NARROWEST))
        high = max(min(high, middle * _WIDEST), middle * (1 + _NARROWEST))
    return (low, high) if high > low else (low, low + 1.0)
