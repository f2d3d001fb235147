"""Replications as dots of a picture; those of a night that touch one another are one stroke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from railgauge.store.records import Series

# About how many pixels high the axis of a history's picture is.
_HIGH = 300


def dots(
    replications: Sequence[Series], times: Mapping[int, float], per_unit: float, size: int
) -> dict[str, str]:
    """Return the blocks of a data file: strokes upward, each from where to where, in `per_unit`s.

    `times` are when runs began, in s since 1970; the series of others are left out. A dot is `size`
    pixels high. Those that touch one another are one stroke, which looks the same: of thousands of
    dots that is half the bytes.
    """
    drawn = [series for series in replications if series.run in times and len(series.values)]
    if not drawn:
        return {}
    counts = [len(series.values) for series in drawn]
    at = np.repeat([times[series.run] for series in drawn], counts)
    values = np.concatenate([series.values for series in drawn]) / per_unit
    suspect = np.concatenate([series.suspect for series in drawn])
    # So far gnuplot's axis reaches around equal values, or around nothing but 0.
    high = float(np.ptp(values)) or abs(float(values[0])) / 50 or 2.0
    height = size * high / _HIGH
    kinds = {"replications": ~suspect, "suspect replications": suspect}
    return {
        name: _strokes(at[chosen], values[chosen], height)
        for name, chosen in kinds.items()
        if chosen.any()
    }


def _strokes(at: NDArray[np.float64], values: NDArray[np.float64], height: float) -> str:
    order = np.lexsort((values, at))
    at, values = at[order], values[order]
    apart = (np.diff(at) > 0) | (np.diff(values) > height)
    first = np.flatnonzero(np.append(True, apart))
    last = np.append(first[1:], len(at)) - 1
    ends = (at[first], values[first] - height / 2, at[last], values[last] + height / 2)
    numbers: list[float] = np.column_stack(ends).ravel().tolist()
    return "\n".join(["%.0f %.9g\n%.0f %.9g\n"] * len(first)) % tuple(numbers)
