"""Leaves out the points of a trace that would be drawn on top of others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# About what a figure across a page can show: 0.15 mm each way.
_CELLS = 1000


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
    wide = max(1, (int(x.max()) - int(x.min())) // _CELLS)
    gaps = np.flatnonzero(np.diff(x[order]) > wide)
    places: NDArray[np.intp] = np.unique(np.concatenate((first, order[gaps], order[gaps + 1])))
    return places


def _cells(values: NDArray[np.int64]) -> NDArray[np.int64]:
    from_first = (values - values.min()).astype(np.float64)
    cells: NDArray[np.int64] = (from_first * (_CELLS / max(float(from_first.max()), 1.0))).astype(
        np.int64
    )
    return cells
