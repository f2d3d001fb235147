"""What a report definition (reports/*.yaml) may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from railgauge.plan.validation import StrictModel, Version
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.definition.model_parts import AxisSpec, Scalar, Selection, Stem
from railgauge.report.definition.statistic import DEFAULT, Number

# A figure shows numbers; in a table an interval's two ends may share a cell.
Statistic = Literal[Number, "interval"]
# How a value may be compared with another.
Compared = Literal["ratio", "difference", "change"]
# How much is said below a table by itself: nothing, what takes three lines, or all.
NoteLevel = Literal["none", "short", "all"]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("there is no word in it: write some, or leave the text out")
    return text


def _rectangular(lines: list[list[str]]) -> list[list[str]]:
    if len({len(line) for line in lines}) > 1 or (lines and not lines[0]):
        raise ValueError("its lines differ in length, or are empty: give each as many cells")
    return lines


class CellSpec(StrictModel):
    """What a cell shows: a statistic of a metric over a case's replications.

    `mean` is the one of the metric's kind: costs have an arithmetic, rates a harmonic, ratios none.
    `interval` is that of the median, 95 %. An empty `unit` is the metric's base unit (for `cv`: %).
    `select` stands beside the table's, and in its place on the same axes. With `relative_to` the
    cell shows the ratio to what the hosts can do in theory (a resource such as `memory` or
    `cpu_{precision}`), with `peak` instead of a metric that very value. With `against` it shows the
    ratio to what stands at those values of axes instead, the difference or the relative change
    (`as`), with `interval` between what that lies. `beside` is a second statistic in the same cell.
    An `optional` cell is left out of tables for which no case is selected.
    """

    metric: str = ""
    statistic: Statistic = DEFAULT
    beside: Statistic | None = None
    select: dict[str, Selection] = Field(default_factory=dict)
    peak: str = ""
    relative_to: str = ""
    against: dict[str, Scalar] = Field(default_factory=dict)
    compared: Compared = Field("ratio", alias="as")
    unit: str = ""
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    label: str = ""
    optional: bool = False


class SortSpec(StrictModel):
    """Sorts a table's rows by the cell whose label (or metric) is `by`, in the column `column`."""

    by: str
    column: dict[str, Scalar] = Field(default_factory=dict)
    descending: bool = False


class FootnoteSpec(StrictModel):
    """A footnote at the labels, headings or cells at the values `where`, and of `cell` only."""

    where: dict[str, Scalar] = Field(default_factory=dict)
    cell: str = ""
    text: Annotated[str, AfterValidator(_not_blank)]


class TableSpec(StrictModel):
    """One table. `select` maps an axis to the value, or the list of values, to show.

    Rows with the same values up to the axis `group` stand together. `caption` are sentences behind
    the title.
    """

    name: Stem
    title: str
    caption: str = ""
    select: dict[str, Selection] = Field(default_factory=dict)
    rows: Annotated[list[str], Field(min_length=1)]
    columns: list[str] = Field(default_factory=list)
    cells: Annotated[list[CellSpec], Field(min_length=1)]
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    sort: SortSpec | None = None
    group: str = ""
    missing: str = "---"
    footnotes: list[FootnoteSpec] = Field(default_factory=list)
    notes: str = ""


class SlowNodesSpec(StrictModel):
    """A list of the hosts whose links all fall short in a metric, and of single slow links.

    `select` as in tables; `each` as in figures. An empty `unit` is one that suits the values.
    """

    name: Stem
    title: str
    metric: str
    select: dict[str, Selection] = Field(default_factory=dict)
    each: list[str] = Field(default_factory=list)
    unit: str = ""
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    notes: str = ""


class TextSpec(StrictModel):
    """A text between tables and figures: blank lines divide its paragraphs, nothing else means.

    `grid` is a table of texts below it: lines of equally many cells, the first one of headings.
    """

    name: Stem
    heading: str = ""
    text: Annotated[str, AfterValidator(_not_blank)]
    grid: Annotated[list[list[str]], AfterValidator(_rectangular)] = Field(default_factory=list)


class Spec(StrictModel):
    """A report definition: a name (the stem of its files), a title, and what it shows.

    `contents` has the names of all texts, tables, lists and figures in the order of the report;
    empty: as they stand here. `notes` is how much is said below tables beside the author's notes.
    """

    railgauge_report: Version
    name: Stem
    title: str
    notes: NoteLevel = "short"
    texts: list[TextSpec] = Field(default_factory=list)
    tables: list[TableSpec] = Field(default_factory=list)
    slow_nodes: list[SlowNodesSpec] = Field(default_factory=list)
    figures: list[FigureSpec] = Field(default_factory=list)
    contents: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _not_empty(self) -> Spec:
        if not self.tables and not self.slow_nodes and not self.figures:
            raise ValueError("the report shows nothing: add 'tables', 'figures' or 'slow_nodes'")
        return self
