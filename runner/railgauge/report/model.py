"""What a report definition (reports/*.yaml) may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from railgauge.validation import StrictModel

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
# A file name's stem, a LaTeX label and an HTML id at once.
Stem = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Statistic = Literal[
    "mean", "median", "minimum", "maximum", "stdev", "mean_absolute_deviation", "cv", "n"
]


class CellSpec(StrictModel):
    """What a cell shows: a statistic of a metric over a case's replications.

    An empty `unit` is the metric's base unit (for `cv`: %).
    """

    metric: str
    statistic: Statistic = "mean"
    unit: str = ""
    digits: Annotated[int, Field(ge=0, le=12)] = 2
    label: str = ""


class AxisSpec(StrictModel):
    """How an axis reads: its title, other texts for some of its values, and their order.

    `order` is `ascending`, `descending`, `appearance` (the run's own order) or the values that
    come first, in that order.
    """

    title: str = ""
    labels: dict[str, StrictStr | StrictInt] = Field(default_factory=dict)
    order: Literal["", "ascending", "descending", "appearance"] | list[Scalar] = ""


class TableSpec(StrictModel):
    """One table. `select` maps an axis to the value, or the list of values, to show."""

    name: Stem
    title: str
    select: dict[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    rows: Annotated[list[str], Field(min_length=1)]
    columns: list[str] = Field(default_factory=list)
    cells: Annotated[list[CellSpec], Field(min_length=1)]
    axes: dict[str, AxisSpec] = Field(default_factory=dict)
    missing: str = "---"
    notes: str = ""


class Spec(StrictModel):
    """A report definition: a name (the stem of its files), a title and its tables."""

    railgauge_report: Literal[1]
    name: Stem
    title: str
    tables: Annotated[list[TableSpec], Field(min_length=1)]
