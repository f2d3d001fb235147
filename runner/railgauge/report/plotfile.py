"""A figure as a gnuplot script and its data, kept beside what gnuplot makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railgauge.report import tex
from railgauge.report.characters import visible
from railgauge.report.figure import Figure, Grid, Scale
from railgauge.report.gnuplot import find_gnuplot, run_gnuplot

# Okabe and Ito's colours without the yellow that paper swallows (jfly.uni-koeln.de/color).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# What LaTeX draws without further packages: • ∘ + × ∗.
_SHAPES = (7, 6, 1, 2, 3)
# What follows a line's 1,013th byte gnuplot may take for a command of its own.
_PIECE = 100
# Of a host's name on an axis, and of what gnuplot keeps of a tic's label.
_LONGEST_NAME = 32
_TIC_BYTES = 48
# What means something between double quotes.
_DOUBLE_QUOTED = re.compile(r"[\\\"'`@]")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure's files: the script, its data, and the SVG and LaTeX picture it makes."""

    figure: Figure
    plot: str
    dat: str
    svg: str
    picture: str

    def files(self) -> dict[str, str]:
        """Return each file's name and text."""
        name = self.figure.name
        return {
            f"{name}.plot": self.plot,
            f"{name}.dat": self.dat,
            f"{name}.svg": self.svg,
            f"{name}-picture.tex": self.picture,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """How the script draws one series: the block of the data file it stands in, and its looks."""

    index: int
    label: str
    colour: str
    shape: int


def draw(figure: Figure) -> Drawn:
    """Return `figure` drawn by gnuplot; EnvironmentFailedError when that can't be done."""
    from railgauge.report.render import render_plot

    plot, dat = render_plot(figure), _data(figure)
    name = figure.name
    svg, picture = run_gnuplot(
        find_gnuplot(),
        {f"{name}.plot": plot, f"{name}.dat": dat},
        {f"{name}.svg": "</svg>", f"{name}-picture.tex": "\\end{picture}"},
    )
    return Drawn(figure, plot, dat, svg, picture)


def curves(figure: Figure) -> list[Curve]:
    """Return the curves to draw, in the order of the data file's blocks; empty series have none."""
    there = [one for one in figure.content.plotted if len(one.points)]
    return [
        Curve(i, visible(one.label), _COLOURS[i % len(_COLOURS)], _SHAPES[i % len(_SHAPES)])
        for i, one in enumerate(there)
    ]


def quoted(text: str) -> str:
    """Return `text` as a gnuplot string in which nothing is expanded or executed.

    A long one stands on several lines.
    """
    shown = visible(text)
    pieces = [shown[at : at + _PIECE] for at in range(0, len(shown), _PIECE)]
    return " . \\\n  ".join(map(_quoted_piece, pieces or [""]))


def _quoted_piece(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    # Doubled, as gnuplot has it, it is taken for the end where a text begins with it.
    return '"' + _DOUBLE_QUOTED.sub(lambda match: f"\\{ord(match[0]):03o}", text) + '"'


def tic(text: str, written: Callable[[str], str] = str) -> str:
    """Return a tic's label as a gnuplot string, `written` for the terminal, shortened if it must.

    gnuplot takes a percent sign for a format and would cut what it keeps of a label in two.
    """
    shown = visible(text)
    for length in range(_LONGEST_NAME, 0, -1):
        short = shown if len(shown) <= length else f"{shown[: length - 1]}…"
        label = written(short).replace("%", "%%")
        if len(label.encode()) <= _TIC_BYTES:
            return quoted(label)
    return quoted("")


def tex_title(scale: Scale) -> str:
    """Return a scale's title and unit as LaTeX."""
    title = tex.escape(scale.title)
    return f"{title} ({tex.unit(scale.unit)})" if scale.unit else title


def grid_blocks(grid: Grid) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """Return the blocks of a grid's data, each by its name: its columns' names and its rows."""
    every = {
        "bar": ("legend: from row, to row, share, colour", grid.bar),
        "cells": ("column, row, value, colour", grid.cells),
        "missing": ("without a value: column, row", grid.missing),
    }
    return {name: block for name, block in every.items() if len(block[1])}


def _data(figure: Figure) -> str:
    """Return a block of columns for each series, which gnuplot counts as index 0, 1, …."""
    grid = figure.content.grid
    return "".join(_blocks(figure) if grid is None else _grid_data(figure, grid))


def _grid_data(figure: Figure, grid: Grid) -> Iterator[str]:
    yield f"# {visible(figure.title)}\n# {visible(grid.colours.text)}\n"
    for i, (columns, rows) in enumerate(grid_blocks(grid).values()):
        yield "\n\n" if i else ""
        yield f"# {columns}\n"
        for row in rows.tolist():
            yield " ".join(f"{value:.12g}" for value in row) + "\n"


def _blocks(figure: Figure) -> Iterator[str]:
    content = figure.content
    columns = f"{content.x.text}, {content.y.text}"
    yield f"# {visible(figure.title)}\n# {visible(columns)}"
    yield ", least, greatest\n" if content.style == "lines" else "\n"
    there = [one for one in content.plotted if len(one.points)]
    for i, one in enumerate(there):
        yield "\n\n" if i else ""
        yield f"# {visible(one.label)}\n"
        for row in one.points.tolist():
            yield " ".join(f"{value:.12g}" for value in row) + "\n"
