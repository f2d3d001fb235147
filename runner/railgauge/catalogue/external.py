"""Reads the description of an external engine: a YAML file that says how to run a program.

rail-exec runs the program, so the command is an argument vector that no shell sees, and its wall
time, CPU time and memory are what can be measured of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from railgauge.catalogue.info import EngineInfo, MetricDescription, ParameterInfo, Value
from railgauge.catalogue.template import NAME, split_template
from railgauge.errors import FileProblems, Problem
from railgauge.validation import Scalar, StrictModel, Version, suggest, validate
from railgauge.yamlfile import Document, load

# What a case has beside its parameters, and plans name in the same place.
_RESERVED = ("client_host", "engine", "host", "link", "plan", "run", "server_host", "test")
_UNITS: Mapping[str, str] = {"size": "B", "time": "s", "rate": "bit/s"}
_NUMERIC = ("size", "time", "rate", "int")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a name: write small letters, digits and '_'")
    return text


_Name = Annotated[str, AfterValidator(_name)]


class ExternalParameter(StrictModel):
    """A setting that the command line takes; without a default each test has to set it."""

    type: Literal["size", "time", "rate", "int", "choice", "bool", "text", "argv"]
    default: Scalar | None = None
    min: Scalar | None = None
    max: Scalar | None = None
    choices: list[str] = Field(default=[])
    help: str = ""


class ExternalMetric(StrictModel):
    """A value to keep of each execution, taken from what rail-exec measures."""

    unit: str
    better: Literal["higher", "lower", "neither"]
    source: str = Field(alias="from")
    help: str = ""


class ExternalEngine(StrictModel):
    """The whole description."""

    railgauge_engine: Version
    name: _Name
    summary: str
    parameters: dict[_Name, ExternalParameter] = Field(default={})
    command: list[str] = Field(min_length=1)
    metrics: dict[_Name, ExternalMetric] = Field(min_length=1)


def load_external(path: Path, executor: EngineInfo, taken: Mapping[str, str]) -> EngineInfo:
    """Return the engine that `path` describes; FileProblems with everything that is wrong.

    `executor` is rail-exec; `taken` maps the names in use to who uses them.
    """
    document = load(path)
    described = validate(document, ExternalEngine)
    reader = _Reader(document, described)
    reader.check_name(taken)
    reader.read_parameters(executor)
    reader.check_command()
    reader.check_metrics(executor)
    if reader.problems:
        raise FileProblems(reader.problems)
    return EngineInfo(
        name=described.name,
        version=executor.version,
        summary=described.summary,
        roles=("client",),
        parameters={**reader.parameters, **executor.parameters},
        metrics={
            name: MetricDescription(name, each.unit, each.better, each.help, source=each.source)
            for name, each in described.metrics.items()
        },
        command=tuple(described.command),
    )


class _Reader:
    """Checks what the model alone can't: values, placeholders, references."""

    def __init__(self, document: Document, described: ExternalEngine) -> None:
        self.document = document
        self.described = described
        self.parameters: dict[str, ParameterInfo] = {}
        self.problems: list[Problem] = []

    def _report(self, message: str, *loc: str | int, key: bool = False) -> None:
        self.problems.append(self.document.problem(loc, message, key=key))

    def check_name(self, taken: Mapping[str, str]) -> None:
        name = self.described.name
        if name in taken:
            message = f"an engine {name!r} is already there (from {taken[name]}): choose another"
            self._report(message, "name")

    def read_parameters(self, executor: EngineInfo) -> None:
        for name, written in self.described.parameters.items():
            if name in executor.parameters or name in _RESERVED:
                message = f"{name!r} is railgauge's own word: name the parameter otherwise"
                self._report(message, "parameters", name, key=True)
            if (written.type == "choice") != bool(written.choices):
                message = "'choices' belongs to the type choice, and only there"
                self._report(message, "parameters", name, "choices", key=True)
            self._read_values(name, written)

    def _read_values(self, name: str, written: ExternalParameter) -> None:
        kind = written.type
        info = ParameterInfo(
            name,
            kind,
            _UNITS.get(kind, ""),
            choices=tuple(written.choices),
            help=written.help,
        )
        for limit in ("min", "max"):
            if getattr(written, limit) is not None and kind not in _NUMERIC:
                message = f"a parameter of type {kind} has no {limit!r}: leave it out"
                self._report(message, "parameters", name, limit, key=True)
                return
        least = self._parse(info, "min", written.min)
        most = self._parse(info, "max", written.max)
        info = replace(
            info,
            min=None if least is None else float(least),
            max=None if most is None else float(most),
        )
        default = self._parse(info, "default", written.default)
        self.parameters[name] = replace(info, default=default)

    def _parse(self, info: ParameterInfo, key: str, written: object) -> Value | None:
        if written is None:
            return None
        try:
            return info.parse(written)
        except ValueError as error:
            self._report(f"{key!r}: {error}", "parameters", info.name, key)
            return None

    def check_command(self) -> None:
        used: set[str] = set()
        for index, template in enumerate(self.described.command):
            try:
                parts = split_template(template)
            except ValueError as error:
                self._report(str(error), "command", index)
                continue
            names = [text for text, named in parts if named]
            used.update(names)
            for name in names:
                self._check_placeholder(name, index, alone=len(parts) == 1)
        for name in self.described.parameters:
            if name not in used:
                message = f"{{{name}}} stands nowhere in 'command': add it, or leave this out"
                self._report(message, "parameters", name, key=True)

    def _check_placeholder(self, name: str, index: int, *, alone: bool) -> None:
        known = self.described.parameters
        if name not in known:
            message = f"{{{name}}} is no parameter of this engine{suggest(name, known)}"
            self._report(message, "command", index)
        elif known[name].type == "argv" and not alone:
            message = f"{{{name}}} becomes several arguments: let it be an item of its own"
            self._report(message, "command", index)

    def check_metrics(self, executor: EngineInfo) -> None:
        for name, metric in self.described.metrics.items():
            measured = executor.metrics.get(metric.source)
            if measured is None:
                hint = suggest(metric.source, executor.metrics)
                known = hint or f": known are {', '.join(executor.metrics)}"
                message = f"{metric.source!r} is nothing that rail-exec measures{known}"
                self._report(message, "metrics", name, "from")
            elif metric.unit != measured.unit:
                message = f"{metric.source} comes in the unit {measured.unit!r}: write that"
                self._report(message, "metrics", name, "unit")
