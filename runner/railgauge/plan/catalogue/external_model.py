"""The model of an external engine's description: engines/external/*.yaml."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from railgauge.plan.catalogue.output import Match
from railgauge.plan.catalogue.template import NAME
from railgauge.plan.fields import Time
from railgauge.plan.validation import Scalar, StrictModel, Version, describe, matching
from railgauge.stats.averages import MetricKind


def _item(value: object) -> object:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        wrong = next((text for text in texts if not isinstance(text, str)), value)
        raise ValueError(
            f"{describe(wrong)} stands where an argument is wanted: write text (a number in "
            "quotes), or a list of texts that are left out together"
        )
    return value


_TEXTS = {"type": "array", "items": {"type": "string"}}
Name = Annotated[str, matching(NAME, "is not a name: write small letters, digits and '_'")]
Item = Annotated[
    Any, AfterValidator(_item), WithJsonSchema({"anyOf": [{"type": "string"}, _TEXTS]})
]
Texts = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, _TEXTS]}),
]
ByMode = Annotated[
    dict[str, str],
    BeforeValidator(lambda value: {"": value} if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
Factors = Annotated[
    dict[str, float],
    BeforeValidator(lambda value: value if isinstance(value, dict) else {"": value}),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "object"}]}),
]


class ExternalParameter(StrictModel):
    """A setting that the command line takes; without a default each test has to set it.

    `unit` is in which the program takes it (the base unit), `whole` that it takes no decimals, and
    `as` how certain values are written. In other `modes` than those named it is left out.
    """

    type: Literal["size", "time", "rate", "int", "choice", "bool", "text", "argv"]
    default: Scalar | None = None
    min: Scalar | None = None
    max: Scalar | None = None
    choices: list[str] = Field(default=[])
    unit: str = ""
    whole: bool = False
    written: dict[str, str] = Field(default={}, alias="as")
    modes: list[str] = Field(default=[])
    help: str = ""


class ExternalSource(StrictModel):
    """Where a value stands in the output."""

    path: ByMode | None = Field(default=None, alias="json")
    regex: ByMode | None = None
    match: Match | None = None


class ExternalMetric(ExternalSource):
    """A value to keep of each execution: of the output, or what rail-exec measures.

    One that is `positive` is no measurement where it is 0.
    `kind` says which mean fits its values; where it is left out, the unit does, or a metric of
    ours that is called so.
    """

    unit: str
    better: Literal["higher", "lower", "neither"]
    kind: MetricKind | None = None
    source: str | None = Field(default=None, alias="from")
    times: Factors | None = None
    optional: bool = False
    positive: bool = False
    help: str = ""


class ImportedValue(ExternalSource):
    """Where a file states a parameter, or else `or`; in which unit, or which values mean what."""

    otherwise: ExternalSource | None = Field(default=None, alias="or")
    unit: str = ""
    units: dict[str, float] = Field(default={})
    values: dict[str, Scalar] = Field(default={})
    absent: Scalar | None = None


class ExternalImport(StrictModel):
    """How a file is read that the program wrote earlier."""

    cases: ExternalSource | None = Field(default=None, alias="each")
    together: ExternalSource | None = None
    started_at: ExternalSource | None = None
    client: ExternalSource | None = None
    server: ExternalSource | None = None
    same: dict[Name, ExternalSource] = Field(default={})
    refused: dict[Name, ExternalSource] = Field(default={})
    zero: dict[Name, ExternalSource] = Field(default={})
    parameters: dict[Name, ImportedValue] = Field(default={})


class ExternalOutput(StrictModel):
    """The file that has the figures, in the working folder; none: standard output."""

    file: str


class ExternalEngine(StrictModel):
    """The whole description."""

    railgauge_engine: Version
    name: Name
    summary: str
    program: Texts | None = None
    requires: list[str] | None = Field(default=None, min_length=1)
    version: list[str] | None = Field(default=None, min_length=1)
    parameters: dict[Name, ExternalParameter] = Field(default={})
    command: list[Item] | None = Field(default=None, min_length=1)
    server: list[Item] | None = Field(default=None, min_length=1)
    client: list[Item] | None = Field(default=None, min_length=1)
    ready: str | None = Field(default=None, min_length=1)
    port: int | None = Field(default=None, ge=1, le=65535)
    mpi: Literal["hosts", "links", "groups"] | None = None
    launcher: list[str] | None = Field(default=None, min_length=1)
    launcher_arguments: list[Item] = Field(default=[])
    env: dict[str, str] = Field(default={})
    files: dict[str, str] = Field(default={})
    work_in: str = ""
    output: Annotated[
        ExternalOutput,
        BeforeValidator(lambda value: {"file": ""} if value == "stdout" else value),
    ] = ExternalOutput(file="")
    metrics: dict[Name, ExternalMetric] = Field(min_length=1)
    failed: ExternalSource | None = None
    confirmed: dict[Name, ExternalSource] = Field(default={})
    overhead: Time = Field(default=0.0, json_schema_extra={"default": "0s"})
    imported: ExternalImport | None = Field(default=None, alias="import")
