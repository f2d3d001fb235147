"""Leaves out the points of a trace that would be drawn on top of others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# About what a figure across a page can show: 0.15 mm each way.
_CELLS = 1000
# The steps into which values that aren't whole numbers are divided.
_FINE = 1_000_000


def visible_points(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the places (ascending) of the points to draw of those at `x`, `y`, int64 (n,).

    Of the points in one cell of a fine grid over all of them the first is drawn, and on both sides
    of a gap in x as wide as a cell its very edges are: a gap is neither hidden nor widened.
    """
    if not len(x):
        return np.empty(0, np.intp)
    cells = _cells(x) * (_CELLS + 1) + _cells(y)
    _, first = np.unique(cells, return_index=True)
    order = np.argsort(x, kind="stable")
    width = max(1, (int(x.max()) - int(x.min())) // _CELLS)
    gaps = np.flatnonzero(np.diff(x[order]) > width)
    places: NDArray[np.intp] = np.unique(np.concatenate((first, order[gaps], order[gaps + 1])))
    return places


def visible_values(
    x: NDArray[np.float64], y: NDArray[np.float64], *, log: bool = False, log_y: bool = False
) -> NDArray[np.intp]:
    """Return the places of the points to draw as `visible_points` does, of any float64 (n,).

    `log`, `log_y`: which axes are logarithmic; on these all values are above 0.
    """
    return visible_points(_fine(x, log), _fine(y, log_y))


def thinned(drawn: int, count: int, noun: str) -> Iterator[str]:
    """Yield how many of `count` `noun` are drawn, if not all are."""
    if drawn < count:
        yield f"{drawn:,} of {count:,} {noun} are drawn: the others fall on the same spots."


def _fine(values: NDArray[np.float64], log: bool) -> NDArray[np.int64]:
    if not len(values):
        return np.empty(0, np.int64)
    scaled = np.log(values) if log else values
    least, span = float(scaled.min()), float(np.ptp(scaled))
    fine: NDArray[np.int64] = ((scaled - least) * (_FINE / (span or 1.0))).round().astype(np.int64)
    return fine


def _cells(values: NDArray[np.int64]) -> NDArray[np.int64]:
    from_first = (values - values.min()).astype(np.float64)
    cells: NDArray[np.int64] = (from_first * (_CELLS / max(float(from_first.max()), 1.0))).astype(
        np.int64
    )
    return cells
