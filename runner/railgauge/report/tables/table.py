"""A table as pure data, ready for any renderer: headings with spans, cells, footnotes, notes.

What there may be a hundred thousand of is a named tuple, which is five times faster to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from railgauge.plan.cases import Value
from railgauge.stats.averages import Average
from railgauge.stats.interval import Interval
from railgauge.stats.summary import Summary

# The statistic of what was not measured.
THEORETICAL = "theoretical"


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading: its text, the unit to add to it ("" for none), its width in columns.

    `mark` points to footnotes, as a cell's does.
    """

    text: str
    unit: str = ""
    span: int = 1
    mark: str = ""


class RowLabel(NamedTuple):
    """A row's label on one axis. `span` rows share it; 0 where a row above already shows it.

    `mark` points to footnotes, as a cell's does.
    """

    text: str
    span: int
    mark: str = ""


Method = Literal["pairs", "constant", "means"]


class ReferenceValue(NamedTuple):
    """What a cell's value is compared with: a statistic (base unit) of a case of a run.

    `value` is None where that case has no such statistic. `low` and `high` bound the ratio, change
    or difference with 95 % confidence, in the base unit of what the cell shows; None where there
    are too few values or no ratio, or where the statistic isn't one of where values lie. `method`
    says what they are: of the median over all `pairs` of values, or, against a published mean, of
    the measured mean (`constant`, that one being taken for exact) or of both `means`.
    """

    value: float | None
    run: int
    test: str
    case_key: str
    low: float | None
    high: float | None
    method: Method = "pairs"


class Cell(NamedTuple):
    """One number of exactly one case of one run, or nothing.

    `text` is what readers see; `mark` points to footnotes ("" for none; `a,b` to two), `note` is
    what they say. Without any value `summary` is None; where no such case was found, `case_key` is
    "" too. `summary` is in the metric's base unit; `asked`, `failed` and `suspect` count
    replications. `peak` is the theoretical value that the cell shows or is divided by, and
    `peak_source` where it comes from. `value` is the number that `text` rounds (an interval's lower
    end), in the column's base unit, and `reference` the measured value that it is compared with.
    `interval` is, in the metric's base unit, that of the mean if the cell shows one, else of the
    median; `level` is its series' level. `with_beside`: another statistic stands in `text`, too.
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
    value: float | None = None
    reference: ReferenceValue | None = None
    interval: Interval | None = None
    level: float = 0.95
    with_beside: bool = False

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

    `statistic` says which mean it is. `unit` is the one shown; `base_unit` the one it is a multiple
    of: the statistic's, which for `cv` and what is counted differs from `metric_unit`, the one that
    the metric is stored in. `place` is the cell's in the definition, `relative_to` the theoretical
    value that it is a ratio to. Where it shows such a value, `metric` names it and the statistic is
    `theoretical`. `label` is the text that heads it. Where it is a ratio to a measured value, or a
    difference or a change from one, `compared` says which and `against` names that one in words.
    `beside` is the statistic that stands beside the number in the same cell, "" for none. With
    `by_interval` the width of the interval of what it shows says how many decimals there are: at
    most `digits`, if the definition says so (`digits_given`). `average` is the mean that fits its
    values.
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
    compared: str = ""
    against: str = ""
    beside: str = ""
    by_interval: bool = False
    digits_given: bool = False
    average: Average = "none"

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
    behind each, how they spread, and from which run they come. `alarms` are sentences that nobody
    is to miss. Rows with the same first `grouped` labels are a group. `constants` stand above the
    table: what all rows share. The columns at the places `valueless`, and the rows at
    `valueless_rows`, have no value, and a note says why.
    `caption` follows the title.
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
    alarms: tuple[str, ...] = ()
    grouped: int = 1
    constants: tuple[str, ...] = ()
    valueless: tuple[int, ...] = ()
    valueless_rows: tuple[int, ...] = ()
    caption: str = ""

    @property
    def one_metric(self) -> bool:
        """Whether each row has three or more statistics of one metric of one case."""
        measured = not any(
            column.compared or column.relative_to or column.theoretical for column in self.columns
        )
        return (
            measured
            and not self.column_axes
            and len(self.columns) > 2
            and len({column.metric for column in self.columns}) == 1
            and all(
                len({(cell.run, cell.test, cell.case_key) for cell in row.cells}) == 1
                for row in self.rows
            )
        )

    @property
    def groups(self) -> list[list[Row]]:
        """The rows, those of a group together; of a single row axis all are one."""
        level = self.grouped if len(self.stub) > 1 else 0
        groups: list[list[Row]] = []
        for row in self.rows:
            if not groups or (level and row.labels[level - 1].span):
                groups.append([])
            groups[-1].append(row)
        return groups


def marks(mark: str) -> tuple[str, ...]:
    """Return the footnotes that the `mark` of a cell, a label or a heading points to."""
    return tuple(mark.split(",")) if mark else ()
