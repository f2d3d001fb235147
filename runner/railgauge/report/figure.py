"""A figure as pure data, ready to be drawn, tabled and told: scales, series, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from railgauge.cases import Value
from railgauge.report.table import Table

# A point for each row (x, y); a histogram's steps (x, y); lines with error bars (x, y, low, high).
# Of a grid the cells are drawn, which `Content.grid` holds.
Style = Literal["dots", "steps", "lines", "grid"]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of a figure: its title, the unit to add to it ("" for none), whether it is log."""

    title: str
    unit: str = ""
    log: bool = False

    @property
    def text(self) -> str:
        """Return title and unit as a reader sees them."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, slots=True, eq=False)
class Plotted:
    """One series: what tells it from the others, and float64 (n, 2 or 4) in the scales' units."""

    label: str
    points: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """`size` by `size` cells, counted from 0, rows from the top.

    `cells` float64 (k, 4): column, row, value, colour (0xRRGGBB); `missing` (m, 2): column, row.
    `bar` (b, 4) is the legend: from row, to row, value, colour. Tics are (place, text).
    """

    size: int
    cells: NDArray[np.float64]
    missing: NDArray[np.float64]
    bar: NDArray[np.float64]
    tics: tuple[tuple[float, str], ...]
    bar_tics: tuple[tuple[float, str], ...]
    colours: Scale


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What a kind makes of its measurements.

    `summary` has a sentence a series, which stands in for the picture in a text report. `table`
    stands beside it. `header` and `records` are the figure's CSV, in base units. `notes` are
    sentences on how it was drawn.
    """

    style: Style
    x: Scale
    y: Scale
    plotted: tuple[Plotted, ...]
    summary: tuple[str, ...]
    header: tuple[str, ...]
    records: tuple[tuple[Value | None, ...], ...]
    table: Table | None = None
    notes: tuple[str, ...] = ()
    grid: Grid | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A whole figure; its notes end with the runs that it comes from."""

    name: str
    title: str
    content: Content
    notes: tuple[str, ...]
