"""Notes on what a picture leaves out: values beyond its axis, places without a value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import plain_number, plural
from railgauge.report.definition.statistic import words_of
from railgauge.report.figures.figure import Scale

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec


def beyond(scale: Scale, values: Iterable[float]) -> Iterator[str]:
    """Yield how many of the drawn `values` (in the scale's unit; NaN: none) lie beyond its ends."""
    low, high = scale.low, scale.high
    count = sum(
        1
        for value in values
        if (low is not None and value < low) or (high is not None and value > high)
    )
    if count:
        counted = plural(count, "value or end of a bar", "values or ends of bars")
        yield f"Beyond the ends of the y axis: {counted}."


def refuse_unseen(figure: FigureSpec, scale: Scale, values: Sequence[float]) -> None:
    """Refuse a y axis with only one end defined, beyond which all `values` (NaN: none) lie."""
    present = [value for value in values if not math.isnan(value)]
    if not present:
        return
    least, most = min(present), max(present)
    for key, side, outside, other, nearest in (
        ("from", "below", scale.low is not None and most < scale.low, scale.high, most),
        ("to", "above", scale.high is not None and least > scale.high, scale.low, least),
    ):
        if outside and other is None:
            raise InputError(
                f"figure {figure.name!r}: all its values are {side} {key!r} of 'y', the nearest"
                f" is {plain_number(nearest, 6)} {scale.unit}".rstrip()
                + f": change {key!r}, or leave it out"
            )


def within(scale: Scale, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` (n,) with those beyond the axis' ends moved there."""
    low = -math.inf if scale.low is None else scale.low
    high = math.inf if scale.high is None else scale.high
    return np.clip(values, low, high)


def crosses(count: int, noun: str, numberless: int = 0, statistic: str = "") -> Iterator[str]:
    """Yield what the crosses at the foot of a picture stand for.

    Of `count` those that are `numberless` have values, but no such `statistic`.
    """
    parts = []
    if valueless := count - numberless:
        parts.append(f"{plural(valueless, noun)} without a value, failed or not measured")
    if numberless:
        values = f"whose values have no {words_of(statistic)}"
        parts.append(f"{plural(numberless, noun)} {values}")
    if parts:
        yield f"A cross at the foot: {'; '.join(parts)}."


def map_crosses(count: int, noun: str, numberless: int, statistic: str) -> Iterator[str]:
    """Yield what crosses in a heat map stand for, as `crosses` does."""
    if valueless := count - numberless:
        cells = plural(valueless, f"{noun} has", f"{noun}s have")
        yield f"A cross: {cells} no value, failed or not measured."
    if numberless:
        cells = plural(numberless, noun)
        yield f"A cross: {cells} with values that have no {words_of(statistic)}."
