"""A figure as pure data, ready to be drawn, tabled and told: scales, series, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from railgauge.cases import Value
from railgauge.report.table import Table

# A point for each row (x, y); a histogram's steps (x, y); lines with error bars (x, y, low, high).
Style = Literal["dots", "steps", "lines"]


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


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A whole figure; its notes end with the runs that it comes from."""

    name: str
    title: str
    content: Content
    notes: tuple[str, ...]
