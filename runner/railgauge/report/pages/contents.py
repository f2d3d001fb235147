"""The parts of a report: texts, tables, lists, figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from railgauge.base.characters import visible, width

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import TextSpec
    from railgauge.report.figures.figure import Figure
    from railgauge.report.figures.plotfile import DrawnFigure
    from railgauge.report.tables.slow_nodes import Listing
    from railgauge.report.tables.table import Table

# So many characters fill a line of a page, and so many digits in small letters do.
_LINE, _SMALL_DIGITS = 80, 95
_SPACES = re.compile(r"[ \t\n]+")
_NUMBER = re.compile(r"[-+]?[0-9.]*")
_BETWEEN = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text between tables and figures; `heading` may be empty.

    Below it stands a table of texts, `grid`: lines of cells, the first one of headings, or nothing.
    """

    name: str
    heading: str
    paragraphs: tuple[str, ...]
    grid: tuple[tuple[str, ...], ...] = ()

    @property
    def widths(self) -> list[int]:
        """How wide each column of the grid is, in columns of a terminal."""
        return [max(map(width, column)) for column in zip(*self.grid, strict=True)]

    @property
    def shares(self) -> list[float]:
        """Each column's share of a line, to which it takes 5 characters beside its own."""
        full = max(sum(self.widths) + 5 * len(self.widths), _LINE)
        return [(wide + 2) / full for wide in self.widths]

    @property
    def lines(self) -> int:
        """How many lines the grid takes where each column has its share."""
        shares = self.shares
        return sum(
            max(
                ceil(width(cell) / (_SMALL_DIGITS * share))
                for cell, share in zip(row, shares, strict=True)
            )
            for row in self.grid
        )

    @property
    def numbers(self) -> frozenset[int]:
        """The columns of the grid that hold nothing but numbers."""
        columns = enumerate(zip(*self.grid[1:], strict=True))
        return frozenset(i for i, column in columns if all(map(_NUMBER.fullmatch, column)))


@dataclass(frozen=True, slots=True)
class Details:
    """A titled table of texts: `rows` are (heading, one text for each of `columns`)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ReportPart:
    """What stands at one place of a report: a text, a table, a list, or a figure and its own table.

    `drawn` is the figure with its pictures, once they are made.
    """

    passage: Passage | None = None
    table: Table | None = None
    listing: Listing | None = None
    figure: Figure | None = None
    drawn: DrawnFigure | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that stand here."""
        table = self.table
        if self.listing is not None:
            table = self.listing.table
        if self.figure is not None:
            table = self.figure.content.table
        return () if table is None else (table,)

    @property
    def names(self) -> list[str]:
        """What its files are called."""
        first = self.passage or self.figure
        return [part.name for part in (first, *self.tables) if part is not None]


def passage(spec: TextSpec) -> Passage:
    """Return a definition's text, split into paragraphs, with every character visible."""
    paragraphs = (_SPACES.sub(" ", text).strip() for text in _BETWEEN.split(spec.text))
    heading = visible(_SPACES.sub(" ", spec.heading).strip())
    grid = tuple(tuple(visible(_SPACES.sub(" ", cell)) for cell in line) for line in spec.grid)
    return Passage(spec.name, heading, tuple(visible(text) for text in paragraphs if text), grid)
