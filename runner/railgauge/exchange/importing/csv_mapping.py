"""What the columns of a CSV file mean, and how the text of a cell becomes a value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest
from railgauge.base.units import DISPLAY
from railgauge.exchange.importing.value_text import parse_number
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import EngineInfo, ParameterInfo
from railgauge.plan.catalogue.result_metrics import result_metrics

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_COUNTS = ("", "1")
_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
# Bytes in a second have ten digits from 10 Gbit/s on; a database's integers hold these.
_COUNTED = re.compile(r"[0-9]{1,18}", re.ASCII)
# client/stat/interrupts/s: whose log, which counter, of a second.
_LOGGED = re.compile(r"(client|server)/(\S+)/s")
# What a published mean may have beside it: the name of a field of PublishedValue.
SPREADS = ("stdev", "minimum", "maximum")


# Longer than a pause within a night, shorter than the day between two (s).
APART = 6 * 3600.0


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
    column that says when each row was measured, empty where none does. `mean_of` is of how many
    replications each number is the arithmetic mean, or the column that says it; `stdev`, `minimum`
    and `maximum` are columns of what is published of these replications. `logged` are columns of
    what system logs counted in a second, by their names in tables (`client/stat/interrupts/s`).
    Rows measured more than `apart` seconds after all those before are another run's.
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
    mean_of: str = ""
    stdev: Sequence[Binding] = ()
    minimum: Sequence[Binding] = ()
    maximum: Sequence[Binding] = ()
    logged: Sequence[Binding] = ()
    apart: float = APART


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


def parse_count(text: str) -> int | None:
    """Return the whole number above 0 that the text is, else None."""
    return int(text) if _WHOLE.fullmatch(text) and int(text) else None


def parse_counted(text: str) -> int | None:
    """Return the whole number that the text is, which may be 0, else None."""
    return int(text) if _COUNTED.fullmatch(text) else None


def parse_logged(name: str) -> tuple[str, str]:
    """Return the side and the counter in `client/stat/interrupts/s`."""
    match = _LOGGED.fullmatch(name)
    if match is None:
        raise InputError(
            f"{name!r} is not what a system log counted in a second: write such as"
            " client/stat/interrupts/s=COLUMN"
        )
    return match[1], match[2]


def _check_beside(mapping: CsvMapping) -> None:
    """Refuse a spread of what isn't a mean."""
    metrics = [binding.name for binding in mapping.metrics]
    for kind in SPREADS:
        for binding in getattr(mapping, kind):
            if not mapping.mean_of:
                raise InputError(f"the {kind} is that of a mean: say of how many, mean-of 10")
            if binding.name not in metrics:
                raise InputError(f"{kind}: no column is named as the metric {binding.name!r}")


def check_names(mapping: CsvMapping, engine: EngineInfo) -> None:
    """Raise InputError for names that the engine doesn't have, that are missing or given twice."""
    _check_beside(mapping)
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
            yield f"the {kind} {name!r} is given twice: give it once"


def fixed_parameters(mapping: CsvMapping, engine: EngineInfo) -> dict[str, Value]:
    """Return the parameters that are the same in all rows; InputError for those that are wrong."""
    for problem in _name_problems("parameter", engine.name, engine.parameters, [*mapping.fixed]):
        raise InputError(problem)
    try:
        return {
            name: parse_parameter(engine.parameters[name], text, "")
            for name, text in mapping.fixed.items()
        }
    except ValueError as error:
        raise InputError(f"parameters for all rows: {error}") from error


def parse_parameter(info: ParameterInfo, text: str, unit: str) -> Value:
    """Return the parameter's value; ValueError for a text that is none."""
    if info.type == "bool" and text in ("true", "false"):
        return info.parse(text == "true")
    return parse_number(info, text, unit)


def unit_scale(metric: str, metric_unit: str, unit: str) -> Decimal:
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


def parse_metric(text: str, scale: Decimal) -> float:
    """Return the number, in the metric's base unit; ValueError for a text that is none."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number: write digits with a point, or --- for none")
    # Decimals until the end: 165.11 Mbit/s are the double nearest to 165110000 bit/s.
    value = float(Decimal(text) * scale)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is beyond what can be measured")
    return value
