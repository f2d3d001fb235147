"""Puts results that others measured, in a CSV file, into the database as an imported run.

A row is one replication of one case. The mapping says what the columns mean; what the file and
the mapping don't say stays unknown: parameters are not filled with an engine's defaults, nor
are a link's two hosts guessed from its name (`client` is then the link's name, `server` None).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.suggestion import suggest
from railgauge.base.units import DISPLAY, parse_moment
from railgauge.exchange.importing.csv_file import CsvCell, CsvFile
from railgauge.exchange.importing.result import ImportResult
from railgauge.exchange.importing.value_text import parse_number
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import Catalogue, EngineInfo, ParameterInfo
from railgauge.plan.catalogue.result_metrics import result_metrics
from railgauge.store.records import MetricInfo, Outcome, PlannedCase, imported_run
from railgauge.store.store import Store

# What stands for "no measurement" in a metric's cell, as in the tables of papers.
BLANK = ("", "---")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
# More are of no help to anybody.
_MOST_PROBLEMS = 50
_COUNTS = ("", "1")


@dataclass(frozen=True, slots=True)
class Binding:
    """Says where `name` (a parameter or metric) stands: `source` is COLUMN or COLUMN:UNIT."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class CsvMapping:
    """What the columns of a CSV file mean.

    `fixed` are parameters with the same value in all rows, as a plan writes them (`mode: stream`).
    The link is named by a column (`link`) or is `link_name` everywhere. An empty `plan` is
    the file's name without its ending, an empty `test` the engine's name. `started_at` is the
    column that says when each row was measured, empty where none does.
    """

    engine: str
    metrics: Sequence[Binding]
    parameters: Sequence[Binding] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    link_name: str = ""
    plan: str = ""
    test: str = ""
    started_at: str = ""


def parse_binding(text: str) -> Binding:
    """Return the binding in NAME=COLUMN, NAME=COLUMN:UNIT or NAME (the column's name, too)."""
    name, equals, source = (part.strip() for part in text.partition("="))
    if not name or bool(equals) != bool(source):
        raise InputError(f"{text!r} is not NAME=COLUMN:UNIT, such as throughput=mbps:Mbit/s")
    return Binding(name, source or name)


def parse_setting(text: str) -> tuple[str, str]:
    """Return the name and value in NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise InputError(f"{text!r} is not NAME=VALUE, such as mode=stream")
    return name.strip(), value.strip()


def import_csv(
    store: Store,
    path: Path,
    mapping: CsvMapping,
    *,
    catalogue: Catalogue,
    at: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> ImportResult:
    """Store the file's rows as one imported run, all or nothing.

    Rows of the same case become its replications 1, 2, 3, …. A metric's cell that is empty or
    `---` is no measurement; a row of such cells is no replication. `at` is when it was measured
    (see `Store.import_run`). InputError for a mapping that is wrong, FileProblems for a file that
    is, with every mistake in it.
    """
    engine = _engine(catalogue, mapping.engine)
    file = CsvFile(path)
    rows = _Reader(file, mapping, engine).read()
    cases = _by_case(rows)
    if not cases:
        raise InputError(f"{path} holds no measurement in the columns of the metrics")
    test = mapping.test or engine.name
    outcomes = [
        (test, key, Outcome(number, row.started_at, row.metrics))
        for key, group in cases.items()
        for number, row in enumerate(group, 1)
    ]
    run = store.import_run(
        imported_run(mapping.plan or path.stem, path, labels=labels),
        [PlannedCase(test, group[0].case, len(group)) for group in cases.values()],
        {engine.name: _infos(engine, mapping)},
        outcomes,
        at=at,
    )
    values = sum(len(row.metrics) for row in rows)
    return ImportResult(
        run=run,
        cases=len(cases),
        rows=len(rows),
        replications=len(outcomes),
        values=values,
        blanks=len(rows) * len(mapping.metrics) - values,
    )


def _infos(engine: EngineInfo, mapping: CsvMapping) -> dict[str, MetricInfo]:
    metrics = result_metrics(engine)
    return {binding.name: MetricInfo.of(metrics[binding.name]) for binding in mapping.metrics}


def _engine(catalogue: Catalogue, name: str) -> EngineInfo:
    if name not in catalogue.engines:
        hint = suggest(name, catalogue.engines) or f": known are {', '.join(catalogue.engines)}"
        raise InputError(f"there is no engine {name!r}{hint}")
    return catalogue.engines[name]


@dataclass(frozen=True, slots=True)
class _Row:
    case: Case
    started_at: float | None
    metrics: Mapping[str, float]


def _by_case(rows: Sequence[_Row]) -> Mapping[str, Sequence[_Row]]:
    """Return the rows that hold a value, by case key."""
    cases: dict[str, list[_Row]] = {}
    for row in rows:
        if row.metrics:
            cases.setdefault(row.case.key, []).append(row)
    return cases


class _Reader:
    """Turns rows of cells into cases and values, noting every mistake."""

    def __init__(self, file: CsvFile, mapping: CsvMapping, engine: EngineInfo) -> None:
        self.file = file
        self.engine = engine
        self.problems: list[Problem] = []
        self.fixed = _fixed(mapping, engine)
        _check_names(mapping, engine)
        self.link_name = mapping.link_name
        self.link = None if self.link_name else self._column(mapping.link)
        self.started_at = self._column(mapping.started_at) if mapping.started_at else None
        self.parameters = [self._parameter(binding) for binding in mapping.parameters]
        self.metrics = [self._metric(binding) for binding in mapping.metrics]
        self._raise_problems()

    def read(self) -> list[_Row]:
        rows = []
        for cells in self.file.rows:
            link = self._link(cells)
            parameters = dict(self.fixed)
            for name, column, parse in self.parameters:
                value = self._parse(cells[column], name, parse)
                if value is not None:
                    parameters[name] = value
            metrics: dict[str, float] = {}
            for name, column, scale in self.metrics:
                cell = cells[column]
                number = None if cell.text in BLANK else self._parse(cell, name, scale)
                if number is not None:
                    metrics[name] = float(number)
            key = case_key(self.engine.name, link, link, None, parameters)
            case = Case(key, self.engine.name, link, link, None, parameters)
            rows.append(_Row(case, self._moment(cells), metrics))
            if len(self.problems) >= _MOST_PROBLEMS:
                break
        self._raise_problems()
        return rows

    def _link(self, cells: Sequence[CsvCell]) -> str:
        if self.link is None:
            return self.link_name
        cell = cells[self.link]
        if not cell.text or not cell.text.isprintable():
            self._report(cell, "a link's name is wanted here")
        return cell.text

    def _moment(self, cells: Sequence[CsvCell]) -> float | None:
        if self.started_at is None or not (cell := cells[self.started_at]).text:
            return None
        try:
            return parse_moment(cell.text)
        except ValueError as error:
            self._report(cell, str(error))
            return None

    def _parse(self, cell: CsvCell, name: str, parse: Callable[[str], Value]) -> Value | None:
        if not cell.text:
            self._report(cell, f"{name!r}: the cell is empty, but each row needs a value")
            return None
        try:
            return parse(cell.text)
        except ValueError as error:
            self._report(cell, f"{name!r}: {error}")
            return None

    def _column(self, name: str) -> int:
        columns = self.file.columns
        if name not in columns:
            hint = suggest(name, columns) or f": the columns are {', '.join(columns)}"
            self._report(self.file.header[0], f"there is no column {name!r}{hint}")
            return 0
        return columns[name]

    def _source(self, source: str) -> tuple[int, str]:
        """Return the column and unit in COLUMN or COLUMN:UNIT; a column may have a colon, too."""
        column, colon, unit = source.rpartition(":")
        if source in self.file.columns or not colon:
            return self._column(source), ""
        return self._column(column.strip()), unit.strip()

    def _parameter(self, binding: Binding) -> tuple[str, int, Callable[[str], Value]]:
        info = self.engine.parameters[binding.name]
        column, unit = self._source(binding.source)
        if unit and not info.unit:
            raise InputError(f"parameter {info.name!r} has no unit: leave ':{unit}' away")
        return info.name, column, lambda text: _parse_parameter(info, text, unit)

    def _metric(self, binding: Binding) -> tuple[str, int, Callable[[str], float]]:
        column, unit = self._source(binding.source)
        scale = _scale(binding.name, result_metrics(self.engine)[binding.name].unit, unit)
        return binding.name, column, lambda text: _parse_metric(text, scale)

    def _report(self, cell: CsvCell, message: str) -> None:
        self.problems.append(self.file.problem(cell, message))

    def _raise_problems(self) -> None:
        if self.problems:
            raise FileProblems(self.problems)


def _check_names(mapping: CsvMapping, engine: EngineInfo) -> None:
    if not mapping.metrics:
        raise InputError("no column is named as a metric: say for example throughput=mbps:Mbit/s")
    if bool(mapping.link) == bool(mapping.link_name):
        raise InputError("say which column names the link, or one name for the link of all rows")
    for kind, available, names in (
        ("parameter", engine.parameters, [*mapping.fixed, *(b.name for b in mapping.parameters)]),
        ("metric", result_metrics(engine), [binding.name for binding in mapping.metrics]),
    ):
        for problem in _name_problems(kind, engine.name, available, names):
            raise InputError(problem)


def _name_problems(
    kind: str, engine: str, available: Mapping[str, object], names: Sequence[str]
) -> Iterator[str]:
    for name in names:
        if name not in available:
            hint = suggest(name, available) or f": it has {', '.join(available)}"
            yield f"unknown {kind} {name!r} of engine {engine}{hint}"
        if names.count(name) > 1:
            yield f"the {kind} {name!r} is given twice: leave one away"


def _fixed(mapping: CsvMapping, engine: EngineInfo) -> dict[str, Value]:
    for problem in _name_problems("parameter", engine.name, engine.parameters, [*mapping.fixed]):
        raise InputError(problem)
    try:
        return {
            name: _parse_parameter(engine.parameters[name], text, "")
            for name, text in mapping.fixed.items()
        }
    except ValueError as error:
        raise InputError(f"parameters for all rows: {error}") from error


def _parse_parameter(info: ParameterInfo, text: str, unit: str) -> Value:
    if info.type == "bool" and text in ("true", "false"):
        return info.parse(text == "true")
    return parse_number(info, text, unit)


def _scale(metric: str, metric_unit: str, unit: str) -> Decimal:
    """Return how much one `unit` is in the metric's base unit `of`."""
    if metric_unit in _COUNTS and not unit:
        return Decimal(1)
    base, scale = DISPLAY.get(unit, ("", 0.0))
    same = base == metric_unit or (base in _COUNTS and metric_unit in _COUNTS)
    if not scale or not same:
        fitting = ", ".join(
            name for name, (base_unit, _) in DISPLAY.items() if base_unit == metric_unit
        )
        remark = f"not {unit!r}" if unit else "which has to be said"
        raise InputError(
            f"metric {metric!r} has the unit {fitting or metric_unit or '1'}, {remark}: "
            f"write {metric}=COLUMN:UNIT"
        )
    # By way of its shortest decimal text, a power of ten or 1024 is exact.
    return Decimal(repr(scale))


def _parse_metric(text: str, scale: Decimal) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number: write digits with a point, or --- for none")
    # Decimals until the end: 165.11 Mbit/s are the double nearest to 165110000 bit/s.
    value = float(Decimal(text) * scale)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is beyond what can be measured")
    return value
