"""What a report definition (reports/*.yaml) may say."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from railgauge.cases import Value
from railgauge.validation import StrictModel, describe


def _scalar(value: object) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{describe(value)} can't be a value: write text, a number, true or false")


def _selection(value: object) -> Value | list[Value]:
    return [_scalar(each) for each in value] if isinstance(value, list) else _scalar(value)


# Plain validators, as a union's own errors would name each of its members.
Scalar = Annotated[Value, PlainValidator(_scalar)]
Selection = Annotated[Value | list[Value], PlainValidator(_selection)]
Text = Annotated[str, PlainValidator(lambda value: str(_scalar(value)))]


def _stem(text: str) -> str:
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", text) is None:
        raise ValueError(
            f"{text!r} can't name a file, a LaTeX label and an HTML anchor at once:"
            " use a-z, 0-9 and '-', at most 64 of them, such as table-1"
        )
    return text


Stem = Annotated[str, AfterValidator(_stem)]
Statistic = Literal[
    "mean", "median", "minimum", "maximum", "stdev", "mean_absolute_deviation", "cv", "n"
]


class CellSpec(StrictModel):
    """What a cell shows: a statistic of a metric over a case's replications.

    An empty `unit` is the metric's base unit (for `cv`: %). `select` stands beside the table's, and
    in its place on the same axes. With `relative_to` the cell shows the ratio to what the hosts can
    do in theory (a resource such as `memory` or `cpu_{precision}`), with `peak` instead of a metric
    that very value.
    """

    metric: str = ""
    statistic: Statistic = "mean"
    select: dict[str, Selection] = Field(default_factory=dict)
    peak: str = ""
    relative_to: str = ""
    unit: str = ""
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    label: str = ""


class AxisSpec(StrictModel):
    """How an axis reads: its title, other texts for some of its values, and their order.

    `order` are the values that come first, in that order; `sort` arranges the rest
    (`appearance`: as the run had them).
    """

    title: str = ""
    labels: dict[str, Text] = Field(default_factory=dict)
    order: list[Scalar] = Field(default_factory=list)
    sort: Literal["ascending", "descending", "appearance"] | None = None


class TableSpec(StrictModel):
    """One table. `select` maps an axis to the value, or the list of values, to show."""

    name: Stem
    title: str
    select: dict[str, Selection] = Field(default_factory=dict)
    rows: Annotated[list[str], Field(min_length=1)]
    columns: list[str] = Field(default_factory=list)
    cells: Annotated[list[CellSpec], Field(min_length=1)]
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    missing: str = "---"
    notes: str = ""


class XSpec(StrictModel):
    """A figure's x axis. `axis`: the parameter it shows, in kinds that leave the choice.

    An empty `unit` or `title` is the kind's own; so is `log` where it isn't said.
    """

    axis: str = ""
    unit: str = ""
    title: str = ""
    log: bool | None = None


class YSpec(StrictModel):
    """A figure's y axis. `metric`, `statistic`: what it shows, in kinds that leave the choice."""

    metric: str = ""
    statistic: Statistic = "mean"
    unit: str = ""
    title: str = ""
    log: bool | None = None


class FigureSpec(StrictModel):
    """One figure of a kind (report/kinds); `select` as in tables.

    `each` names axes for each of whose values there is a figure of its own. `replication`: the one
    whose trace is shown (None: the first that has one).
    """

    name: Stem
    title: str
    kind: str
    select: dict[str, Selection] = Field(default_factory=dict)
    each: list[str] = Field(default_factory=list)
    replication: Annotated[int, Field(ge=1)] | None = None
    x: XSpec = XSpec()
    y: YSpec = YSpec()
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
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


class Spec(StrictModel):
    """A report definition: a name (the stem of its files), a title, and what it shows."""

    railgauge_report: Literal[1]
    name: Stem
    title: str
    tables: list[TableSpec] = Field(default_factory=list)
    slow_nodes: list[SlowNodesSpec] = Field(default_factory=list)
    figures: list[FigureSpec] = Field(default_factory=list)

    @model_validator(mode="after")
    def _something(self) -> Spec:
        if not self.tables and not self.slow_nodes and not self.figures:
            raise ValueError("the report shows nothing: add 'tables', 'figures' or 'slow_nodes'")
        return self
