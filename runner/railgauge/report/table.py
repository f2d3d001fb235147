"""A table as pure data, ready for any renderer: headings with spans, cells, footnotes, notes.

What there may be a hundred thousand of is a named tuple, which is five times faster to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from railgauge.analysis import Summary
from railgauge.cases import Value

# The statistic of what was not measured.
THEORETICAL = "theoretical"


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading: its text, the unit to add to it ("" for none), its width in columns."""

    text: str
    unit: str = ""
    span: int = 1


class RowLabel(NamedTuple):
    """A row's label on one axis. `span` rows share it; 0 where a row above already shows it."""

    text: str
    span: int


class Cell(NamedTuple):
    """One number of exactly one case of one run, or nothing.

    `text` is what readers see; `mark` points to footnotes ("" for none; `a,b` to two), `note` is
    what they say. Without any value `summary` is None; where no such case was found, `case_key` is
    "" too. `summary` is in the metric's base unit; `asked`, `failed` and `suspect` count
    replications. `peak` is the theoretical value that the cell shows or is held against, and
    `peak_source` where it comes from.
    """

    text: str
    mark: str = ""
    summary: Summary | None = None
    run: int = 0
    test: str = ""
    case_key: str = ""
    asked: int = 0
    failed: int = 0
    suspect: int = 0
    note: str = ""
    peak: float | None = None
    peak_source: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """The footnotes that `mark` points to."""
        return tuple(self.mark.split(",")) if self.mark else ()

    @property
    def number(self) -> bool:
        """Whether `text` is a number."""
        return self.text[-1:].isdigit()


class Row(NamedTuple):
    """A row: a label for each row axis, a cell for each column; `key` holds the axes' values."""

    labels: tuple[RowLabel, ...]
    cells: tuple[Cell, ...]
    key: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """What all the cells of a column have in common; `key` holds the column axes' values.

    `unit` is the one shown; `base_unit` the one it is a multiple of: the statistic's, which for
    `cv` and `n` differs from `metric_unit`, the one that the metric is stored in. `place` is the
    cell's in the definition, `relative_to` the theoretical value that it is a ratio to. Where it
    shows such a value, `metric` names it and the statistic is `theoretical`. `label` is the text
    that heads it.
    """

    key: tuple[Value | None, ...]
    metric: str
    statistic: str
    unit: str
    base_unit: str
    metric_unit: str
    digits: int
    place: int = 0
    relative_to: str = ""
    label: str = ""

    @property
    def theoretical(self) -> bool:
        """Whether it shows what was not measured but is known of the hosts."""
        return self.statistic == THEORETICAL


@dataclass(frozen=True, slots=True)
class Footnote:
    """What a mark in a cell means."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A whole table. `stub` holds the row axes' titles; `header` the headings, line by line.

    `notes` are sentences to stand below it: what the numbers are, how many replications stand
    behind each, how they spread, and from which run they come.
    """

    name: str
    title: str
    stub: tuple[str, ...]
    header: tuple[tuple[Heading, ...], ...]
    row_axes: tuple[str, ...]
    column_axes: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    footnotes: tuple[Footnote, ...]
    notes: tuple[str, ...]
