"""A figure's numbers as the blocks of gnuplot's data file, and how the script draws each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from railgauge.base.characters import visible, width
from railgauge.report.figures.axis_ends import linear_scale, log_scale
from railgauge.report.figures.figure import Content, Figure, Grid, PlottedSeries, Scale, Style, Tics

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
# How many characters of labels, or numbers, fit side by side on an axis of the usual width, in cm.
_ROOM, _MOST_TICS, USUAL_WIDTH = 60, 8, 16.0
# Into so many parts an axis is divided by the nearest tics that stand at measured places.
_MOST_PLACES = 12
# How far apart series are drawn that share places: a share of the axis, or of the nearest places.
_APART, _OF_GAP = 0.008, 0.6


@dataclass(frozen=True, slots=True)
class Curve:
    """How the script draws one series: its blocks in the data file, and its looks.

    `index` is the block of its rows, `suspect` of those to be drawn hollow; None where it has none.
    A theoretical one is a line without marks: `dash` counts these from 1, 0 is none. `x` is what
    gnuplot is to take for x.
    """

    index: int | None
    suspect: int | None
    label: str
    colour: str
    shape: int
    bars: bool
    dash: int = 0
    x: str = "1"


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


def curves(content: Content, width_cm: float = USUAL_WIDTH) -> Curves:
    """Return what to draw in a picture of that width, in the order of the data file's blocks.

    Empty series have no curve.
    """
    drawn: list[Curve] = []
    number = dashes = 0
    apart = dict(_apart(content))
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
            x = _moved(content.x, apart.get(series.label, 0.0))
            bars = _barred(series)
            drawn.append(Curve(index, suspect, visible(series.label), colour, shape, bars, x=x))
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
        *_scales(content, blocks, list(apart.values()), width_cm),
    )


def _dashed(index: int | None, series: PlottedSeries, number: int) -> Curve:
    # Black, as a series has that colour last.
    return Curve(index, None, visible(series.label), "#000000", 0, bars=False, dash=number)


def _barred(series: PlottedSeries) -> bool:
    return series.points.shape[1] > 2 and not np.isnan(series.points[:, -1]).all()


def _apart(content: Content) -> Iterator[tuple[str, float]]:
    """Yield how far each series is moved that would hide points or bars of another, by its label.

    On a logarithmic axis that is a natural logarithm.
    """
    neighbours = [
        series
        for series in content.plotted
        if len(series.points) and not series.theoretical
        if content.style == "points" or (content.style == "lines" and _barred(series))
    ]
    places = np.concatenate([series.points[:, 0] for series in neighbours] or [np.zeros(0)])
    distinct = np.unique(places)
    if len(neighbours) < 2 or len(distinct) == len(places):
        return
    at = np.log(distinct) if content.x.log else distinct
    # Around a single place any distance will do.
    gap = float(np.diff(at).min()) if len(at) > 1 else abs(float(at[0])) / 10 or 1.0
    step = min(_APART * float(np.ptp(at)) or gap, _OF_GAP * gap / len(neighbours))
    for number, series in enumerate(neighbours):
        yield series.label, step * (number - (len(neighbours) - 1) / 2)


def _moved(scale: Scale, distance: float) -> str:
    if not distance:
        return "1"
    return f"($1*{np.exp(distance):.9g})" if scale.log else f"($1+{distance:.9g})"


def _scales(
    content: Content, blocks: Sequence[_Rows], distances: Sequence[float], width_cm: float
) -> tuple[Scale, Scale]:
    """Return the axes with ends and tics, where gnuplot's own won't do."""
    extents = 2 if content.style == "bars" else 1
    x = np.concatenate([*(rows[:, :extents].ravel() for rows in blocks), content.missing])
    beside = max(distances, default=0.0)
    y = np.concatenate([*(rows[:, extents:].ravel() for rows in blocks), np.zeros(0)])
    space = _BELOW if content.style in ("lines", "points", "marks") else 0.0
    x_scale = content.x
    if x_scale.log:
        x_scale = log_scale(x_scale, x, beside=beside)
    elif content.style in ("lines", "points") and len(x):
        most = round(_MOST_TICS * width_cm / USUAL_WIDTH)
        x_scale = linear_scale(replace(x_scale, tics=_readable(x_scale.tics)), x, most, beside)
    return x_scale, log_scale(content.y, y, below=space) if content.y.log else content.y


def _readable(tics: Tics) -> Tics:
    """Return the tics of a linear axis without those that stand too near to a greater one."""
    apart = (tics[-1][0] - tics[0][0]) / _MOST_PLACES if tics else 0.0
    sparse: list[tuple[float, str]] = []
    for place, text in reversed(tics):
        if not sparse or sparse[-1][0] - place >= apart:
            sparse.append((place, text))
    return tuple(reversed(sparse))


def _below(content: Content, blocks: Sequence[_Rows]) -> float:
    """Return how much to leave: nothing where the axis would pass 0 that no value does."""
    if content.y.log or content.y.low is not None:
        return 0.0
    values = np.concatenate([rows[:, 1:].ravel() for rows in blocks]) if blocks else np.zeros(1)
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    return 0.0 if 0 <= least < 2 * _BELOW * (most - least) else _BELOW


def crowded(tics: Sequence[tuple[float, str]], width_cm: float = USUAL_WIDTH) -> int:
    """Return how long the longest text is where the tics must be turned, 0 where they fit."""
    lengths = [min(width(visible(text)), LONGEST) for _, text in tics]
    # Each has the room of the longest, and that of two characters between.
    room = _ROOM * width_cm / USUAL_WIDTH
    return max(lengths, default=0) if sum(max(lengths) + 2 for _ in lengths) > room else 0


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
