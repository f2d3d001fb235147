"""What a paper's definition (reports/papers/*.yaml) may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from railgauge.plan.validation import StrictModel, Version
from railgauge.report.definition.definition_model import Compared
from railgauge.report.definition.model_parts import Scalar, Selection, Stem, Text
from railgauge.report.definition.statistic import Number


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("there is no word in it: write some")
    return " ".join(text.split())


Words = Annotated[str, AfterValidator(_words)]


class PublishedSource(StrictModel):
    """Numbers that the paper prints, in files beside the definition, and where they come from.

    Either a CSV `file` and what its columns mean, as `railgauge import csv` has it: `metrics`,
    `parameters` and so on map a name to COLUMN or COLUMN:UNIT, `set` are parameters of all rows,
    `link` is a column and `link_name` the one link of all rows. Or outputs of Hpcbench's udptest
    (`hpcbench`). `plan` stands for the plan of a run, `name` distinguishes several sources.
    """

    source: Words
    file: str = ""
    hpcbench: list[str] = Field(default_factory=list)
    engine: str = ""
    metrics: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, str] = Field(default_factory=dict)
    set: dict[str, Text] = Field(default_factory=dict)
    link: str = ""
    link_name: str = ""
    test: str = ""
    mean_of: Text = "1"
    stdev: dict[str, str] = Field(default_factory=dict)
    minimum: dict[str, str] = Field(default_factory=dict)
    maximum: dict[str, str] = Field(default_factory=dict)
    logged: dict[str, str] = Field(default_factory=dict)
    hosts: str = ""
    plan: str = "published"
    name: str = ""

    @model_validator(mode="after")
    def _one_form(self) -> PublishedSource:
        if bool(self.file) == bool(self.hpcbench):
            raise ValueError("a source is either a CSV 'file' or outputs of 'hpcbench': name one")
        if self.file and not (self.engine and self.metrics):
            raise ValueError("say which 'engine' the numbers are of, and the columns of 'metrics'")
        return self


class PaperItem(StrictModel):
    """A table or figure of the paper, by its `number` there, and what makes it here.

    `report` is a definition of reports/, or a file beside the paper's; `parts` are the names of its
    tables and figures that it takes (empty: all). `select` narrows them, `series` distinguish the
    series of its figures, `statistic` and `digits` take the place of what the report shows, as
    papers print means. `compare` says how measured cells are compared with the published ones,
    which may stand at other values of axes (`against`), as links of other machines do; `none`
    leaves that out. `tests` show that it comes out right.
    """

    name: Stem
    number: Words
    report: str
    parts: list[str] = Field(default_factory=list)
    select: dict[str, Selection] = Field(default_factory=dict)
    series: list[str] = Field(default_factory=list)
    statistic: Number | None = None
    digits: Annotated[int, Field(ge=0, le=12)] | None = None
    compare: Compared | Literal["none"] = "difference"
    against: dict[str, Scalar] = Field(default_factory=dict)
    notes: str = ""
    tests: Annotated[list[str], Field(min_length=1)]


class PrintedTable(StrictModel):
    """A table of the paper whose numbers are nothing that railgauge measures, shown as printed.

    `file` is a CSV file beside the definition; `reason` says why it isn't measured again.
    """

    name: Stem
    number: Words
    file: str
    reason: Words


class LeftOut(StrictModel):
    """What the paper has and this definition hasn't, and why."""

    number: Words
    reason: Words


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
    published: list[PublishedSource] = Field(default_factory=list)
    items: Annotated[list[PaperItem], Field(min_length=1)]
    printed: list[PrintedTable] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)

    @model_validator(mode="after")
    def _distinct(self) -> Paper:
        names = [item.name for item in self.items] + [table.name for table in self.printed]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two items are called {name!r}: rename one")
        return self
