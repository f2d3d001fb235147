"""What a paper's definition (reports/papers/*.yaml) may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from railgauge.plan.fields import Label
from railgauge.plan.validation import StrictModel, Version
from railgauge.report.definition.definition_model import Compared
from railgauge.report.definition.model_parts import Selection, Stem, Text
from railgauge.report.definition.statistic import Number


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("there is no word in it: write some")
    return " ".join(text.split())


Words = Annotated[str, AfterValidator(_words)]


class PublishedCsv(StrictModel):
    """Numbers of the paper in a CSV file beside the definition, and what its columns mean.

    As `railgauge import csv` has them: `metrics`, `parameters` and so on map a name to COLUMN or
    COLUMN:UNIT, `set` are parameters of all rows, `link` is a column and `link_name` one link of
    all rows. `name` tells several such runs of a paper apart, as a kernel's name does.
    """

    file: str
    source: Words
    engine: str
    metrics: Annotated[dict[str, str], Field(min_length=1)]
    parameters: dict[str, str] = Field(default_factory=dict)
    set: dict[str, Text] = Field(default_factory=dict)
    link: str = ""
    link_name: str = ""
    test: str = ""
    mean_of: Text = ""
    stdev: dict[str, str] = Field(default_factory=dict)
    minimum: dict[str, str] = Field(default_factory=dict)
    maximum: dict[str, str] = Field(default_factory=dict)
    logged: dict[str, str] = Field(default_factory=dict)
    hosts: str = ""
    name: Label | None = None
    plan: str = ""


class PublishedOutputs(StrictModel):
    """Outputs of Hpcbench's udptest that the paper shows, as files beside the definition."""

    hpcbench: Annotated[list[str], Field(min_length=1)]
    source: Words
    name: Label | None = None


class PaperItem(StrictModel):
    """A table or figure of the paper, by its `number` there, and what makes it here.

    `report` is a definition of reports/, or a file beside the paper's; `parts` are the names of its
    tables and figures that it takes (empty: all). `select` narrows them, `without` are axes that
    published and measured differ in by name only, such as the link of other machines, `statistic`
    takes the place of what the report shows, as papers print means. `compare` says how measured
    cells are held against the published ones; `none` leaves that out. `tests` show it.
    """

    name: Stem
    number: Words
    report: str
    parts: list[str] = Field(default_factory=list)
    select: dict[str, Selection] = Field(default_factory=dict)
    without: list[str] = Field(default_factory=list)
    statistic: Number | None = None
    compare: Compared | Literal["none"] = "difference"
    notes: str = ""
    tests: Annotated[list[str], Field(min_length=1)]


class LeftOut(StrictModel):
    """What the paper has and this definition hasn't, and why."""

    number: Words
    why: Words


class Paper(StrictModel):
    """A paper: what it is, what it published, what measures that again, and what shows both.

    `plans` are files of plans/ or, with an ending, beside the definition; `testbed` one of
    plans/testbeds, for plans that need a network.
    """

    railgauge_paper: Version
    name: Stem
    title: Words
    citation: Words
    url: str = ""
    year: Annotated[int, Field(ge=1900, le=2200)]
    plans: Annotated[list[str], Field(min_length=1)]
    testbed: str = ""
    minutes: Annotated[int, Field(ge=1)]
    published: list[PublishedCsv | PublishedOutputs] = Field(default_factory=list)
    items: Annotated[list[PaperItem], Field(min_length=1)]
    left_out: list[LeftOut] = Field(default_factory=list)

    @model_validator(mode="after")
    def _distinct(self) -> Paper:
        names = [item.name for item in self.items]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two items are called {name!r}: rename one")
        return self
