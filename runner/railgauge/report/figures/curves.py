"""A figure's numbers as the blocks of gnuplot's data file, and how the script draws each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railgauge.base.characters import visible, width
from railgauge.report.figures.figure import Content, Figure, Grid, PlottedSeries, Scale, Style
from railgauge.report.figures.logaxis import log_scale

_Rows = NDArray[np.float64]
# Okabe and Ito's colours without the yellow that paper swallows (jfly.uni-koeln.de/color).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# What LaTeX draws without further packages: • ∘ + × ∗.
_SHAPES = (7, 6, 1, 2, 3)
# What stands in a row of each style, beside x and y.
_COLUMNS: dict[Style, str] = {
    "lines": ", ends of the bar",
    "points": ", ends of the bar",
    "bars": ", ends of the line on it",
}
# The most characters of a tic's label.
LONGEST = 32
# The share of the height that is left below the lowest mark.
_BELOW = 0.06
# How many characters of labels fit side by side on an axis.
_ROOM = 60


@dataclass(frozen=True, slots=True)
class Curve:
    """How the script draws one series: its blocks in the data file, and its looks.

    `index` is the block of its rows, `suspect` of those to be drawn hollow; None where it has none.
    A theoretical one is a line without marks: `dash` counts these from 1, 0 is none.
    """

    index: int | None
    suspect: int | None
    label: str
    colour: str
    shape: int
    bars: bool
    dash: int = 0


@dataclass(frozen=True, slots=True)
class Curves:
    """All that a script draws: its series, and the block of what has no value (None: all have).

    `x`, `y` are the axes as drawn. `entries` is how many lines the key has, `marks` how many marks
    there are, `below` which share of the height is left below them.
    """

    drawn: tuple[Curve, ...]
    missing: int | None
    suspect: bool
    entries: int
    marks: int
    below: float
    x: Scale
    y: Scale


def curves(content: Content) -> Curves:
    """Return what to draw, in the order of the data file's blocks; empty series have no curve."""
    drawn: list[Curve] = []
    number = dashes = 0
    for series in content.plotted:
        index = number if len(series.points) else None
        number += index is not None
        suspect = number if len(series.suspect) else None
        number += suspect is not None
        if (index, suspect) != (None, None):
            if series.theoretical:
                dashes += 1
                drawn.append(_dashed(index, series, dashes))
                continue
            place = len(drawn)
            colour, shape = _COLOURS[place % len(_COLOURS)], _SHAPES[place % len(_SHAPES)]
            bars = series.points.shape[1] > 2 and not np.isnan(series.points[:, -1]).all()
            drawn.append(Curve(index, suspect, visible(series.label), colour, shape, bars))
    any_suspect = any(curve.suspect is not None for curve in drawn)
    missing = number if content.missing else None
    blocks = [rows for _, rows in _series_blocks(content)]
    entries = len(drawn) + any_suspect + (missing is not None)
    return Curves(
        tuple(drawn),
        missing,
        any_suspect,
        # A single series needs no key: the title says what it is.
        entries if entries > 1 else 0,
        sum(map(len, blocks)),
        _below(content, blocks),
        *_scales(content, blocks),
    )


def _dashed(index: int | None, series: PlottedSeries, number: int) -> Curve:
    # Black, as a series has that colour last.
    return Curve(index, None, visible(series.label), "#000000", 0, bars=False, dash=number)


def _scales(content: Content, blocks: Sequence[_Rows]) -> tuple[Scale, Scale]:
    """Return the axes with ends and tics, where gnuplot's own won't do."""
    extents = 2 if content.style == "bars" else 1
    x = np.concatenate([*(rows[:, :extents].ravel() for rows in blocks), content.missing])
    y = np.concatenate([*(rows[:, extents:].ravel() for rows in blocks), np.zeros(0)])
    space = _BELOW if content.style in ("lines", "points", "marks") else 0.0
    return (
        log_scale(content.x, x) if content.x.log else content.x,
        log_scale(content.y, y, below=space) if content.y.log else content.y,
    )


def _below(content: Content, blocks: Sequence[_Rows]) -> float:
    """Return how much to leave: nothing where the axis would pass 0 that no value does."""
    if content.y.log or content.y.low is not None:
        return 0.0
    values = np.concatenate([rows[:, 1:].ravel() for rows in blocks]) if blocks else np.zeros(1)
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    return 0.0 if 0 <= least < 2 * _BELOW * (most - least) else _BELOW


def crowded(tics: Sequence[tuple[float, str]]) -> int:
    """Return how long the longest text is where the tics must be turned, 0 where they fit."""
    lengths = [min(width(visible(text)), LONGEST) for _, text in tics]
    # Each has the room of the longest, and that of two characters between.
    return max(lengths) if sum(max(lengths) + 2 for _ in lengths) > _ROOM else 0


def ends(scale: Scale) -> str:
    """Return where an axis ends as a gnuplot range."""
    low, high = ("*" if end is None else f"{end:.12g}" for end in (scale.low, scale.high))
    return f"[{low}:{high}]"


def grid_blocks(grid: Grid) -> dict[str, tuple[str, _Rows]]:
    """Return the blocks of a grid's data, each by its name: its columns' names and its rows."""
    blocks = {
        "bar": ("legend: from row, to row, share, colour", grid.bar),
        "cells": ("column, row, value, colour", grid.cells),
        "missing": ("without a value: column, row", grid.missing),
    }
    return {name: block for name, block in blocks.items() if len(block[1])}


def data(figure: Figure) -> str:
    """Return a block of columns for each series, which gnuplot counts as index 0, 1, …."""
    content = figure.content
    if content.grid is not None:
        first, blocks = visible(content.grid.colours.text), list(grid_blocks(content.grid).values())
    else:
        x = f"{content.x.text}{' from, to' if content.style == 'bars' else ''}"
        first = visible(f"{x}, {content.y.text}") + _COLUMNS.get(content.style, "")
        blocks = list(_series_blocks(content))
        if content.missing:
            missing = np.array(content.missing, np.float64).reshape(-1, 1)
            blocks.append(("without a value: x", missing))
    texts = [f"# {name}\n{''.join(_lines(rows))}" for name, rows in blocks]
    return f"# {visible(figure.title)}\n# {first}\n" + "\n\n".join(texts)


def _series_blocks(content: Content) -> Iterator[tuple[str, _Rows]]:
    """Yield the rows of each series that has any, and those of its suspect ones, by name."""
    for series in content.plotted:
        label = visible(series.label)
        for name, rows in ((label, series.points), (f"{label}, suspect", series.suspect)):
            if len(rows):
                yield name, rows


def _lines(rows: _Rows) -> Iterator[str]:
    for row in rows.tolist():
        yield " ".join(f"{value:.12g}" for value in row) + "\n"
