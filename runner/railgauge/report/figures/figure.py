"""A figure as pure data, ready to be drawn, tabulated and described: scales, series, sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import four_digits, plain_number
from railgauge.base.units import format_size
from railgauge.plan.cases import Value
from railgauge.report.tables.table import Table
from railgauge.stats.digits import decimals_of_interval

# What the rows of a series are. Of a trace's "dots", of "marks", of "steps" that go up or down at
# each x: x, y. Of "lines" and "points" with error bars: x, y, low, high (NaN: no bar). Of "bars":
# left, right, y, low, high. Of a "grid" the cells are drawn, which `Content.grid` holds.
Style = Literal["dots", "marks", "steps", "lines", "points", "bars", "grid"]
NO_ROWS = np.empty((0, 2))
# In text, so many bars of so many characters at most.
_MOST_BARS, _BAR = 24, 36
Tics = tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of a figure: its title, the unit to add to it ("" for none), whether it is log.

    `tics` (place, text) stand in for numbers, `low` and `high` are where it ends (None: anywhere).
    """

    title: str
    unit: str = ""
    log: bool = False
    tics: Tics = ()
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """Return title and unit as a reader sees them."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, slots=True, eq=False)
class PlottedSeries:
    """One series: its label, which no other has, and float64 (n, 2 to 5) in the scales' units.

    `suspect` are the rows to be drawn hollow. What is `theoretical` was not measured: a dashed line
    without marks.
    """

    label: str
    points: NDArray[np.float64]
    suspect: NDArray[np.float64] = field(default_factory=NO_ROWS.copy)
    theoretical: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells in `columns` and `rows`, counted from 0, rows from the top.

    `cells` float64 (k, 4): column, row, value, colour (0xRRGGBB); `missing` (m, 2): column, row.
    `bar` (b, 4) is the legend: from row, to row, value, colour. Tics are (place, text).
    """

    columns: int
    rows: int
    cells: NDArray[np.float64]
    missing: NDArray[np.float64]
    bar: NDArray[np.float64]
    x_tics: Tics
    y_tics: Tics
    bar_tics: Tics
    colours: Scale


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What a kind makes of its measurements.

    `summary` has a sentence a series, which stands in for the picture in a text report. `table`
    stands beside it. `header` and `records` are the figure's CSV, in base units. `notes` are
    sentences on how it was drawn. `missing` (k,) are the places on x of what has no value: crosses
    at the foot.
    """

    style: Style
    x: Scale
    y: Scale
    plotted: tuple[PlottedSeries, ...]
    summary: tuple[str, ...]
    header: tuple[str, ...]
    records: tuple[tuple[Value | None, ...], ...]
    table: Table | None = None
    notes: tuple[str, ...] = ()
    grid: Grid | None = None
    missing: tuple[float, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw: not a value, and nothing that should have had one."""
        drawn = any(len(series.points) or len(series.suspect) for series in self.plotted)
        return not drawn and self.grid is None and not self.missing


def text_bars(content: Content) -> list[str]:
    """Return a line with a bar for each point of a few lines or points, for a terminal.

    Bars begin at 0; behind a value stands what its error bar spans. None of what has no bar there:
    values below 0, a logarithmic axis, other kinds of figures.
    """
    series = [line for line in content.plotted if len(line.points) and not line.theoretical]
    rows = [row.tolist() for line in series for row in line.points]
    values = [row[1] for row in rows]
    if (
        content.style not in ("lines", "points")
        or content.y.log
        or not 0 < len(rows) <= _MOST_BARS
        or min(values) < 0
        or not max(values)
    ):
        return []
    # Two at least, and two digits of the greatest value, which the axis' unit may make small.
    usual = max(2, four_digits(max(values)) - 2)
    usual = 0 if all(value.is_integer() for value in values) else usual
    texts = {row[0]: place_text(row[0], content.x) for row in rows}
    width = max(map(len, texts.values()))
    lines = []
    for line in series:
        if len(series) > 1:
            lines.append(line.label)
        for place, value, *ends in line.points.tolist():
            eighths = round(8 * _BAR * value / max(values))
            bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
            spread = ends[1] - ends[0] if len(ends) > 1 else math.nan
            decimals = decimals_of_interval(*ends[:2]) if 0 < spread < math.inf else usual
            number = f"{value:.{decimals}f}"
            if spread == spread:
                number += f" [{ends[0]:.{decimals}f}, {ends[1]:.{decimals}f}]"
            unit = f" {content.y.unit}" if content.y.unit else ""
            lines.append(f"{texts[place]:>{width}}  {bar:<{_BAR}}  {number}{unit}")
    return lines


def place_text(place: float, x: Scale) -> str:
    """Return a place on x as its tics write it: sizes as plans do."""
    if text := dict(x.tics).get(place):
        return text
    if x.unit == "B":
        text = format_size(round(place))
        return f"{text} B" if text.isdigit() else text
    return f"{plain_number(place, 10)} {x.unit}".rstrip()


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A whole figure; its notes end with the runs that it comes from.

    `caption` follows the title. `width` is the picture's in LaTeX in cm; None: the lines' there.
    """

    name: str
    title: str
    content: Content
    notes: tuple[str, ...]
    caption: str = ""
    width: float | None = None
