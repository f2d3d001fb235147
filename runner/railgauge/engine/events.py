"""The engines' JSON Lines, read strictly: an event a line, as schema/record.schema.json says."""

from __future__ import annotations

import binascii
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from railgauge.base.errors import EngineError
from railgauge.plan.cases import Value


@dataclass(frozen=True, slots=True)
class Listening:
    """A server is ready; `port` is its control channel's."""

    engine: str
    version: str
    port: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked (base units) and what each side's kernel granted."""

    parameters: Mapping[str, Value]
    client: Mapping[str, Value]
    server: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that does not stop the measurement but explains it."""

    code: str
    side: str
    message: str


@dataclass(frozen=True, slots=True)
class Traced:
    """A piece of a replication's trace, part 0, 1, 2 …, before that replication's own event.

    `data` are at most 48,000 bytes; all parts' together are what
    `railgauge.base.trace.decode` reads.
    """

    replication: int
    part: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Replicated:
    """One measurement: number from 1 (0: warm-up), start in seconds since 1970, metrics."""

    number: int
    warmup: bool
    started_at: float
    metrics: Mapping[str, float]
    output: str


@dataclass(frozen=True, slots=True)
class PairRow:
    """What rank `source` measured with each other rank, by metric; None at itself."""

    replication: int
    source: int
    metrics: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Failed:
    """The engine gave up, with a stable code; `replication` is the one it was measuring, if any."""

    code: str
    message: str
    replication: int | None


@dataclass(frozen=True, slots=True)
class Done:
    """Everything asked for was measured."""

    replications: int


Event = Listening | Settings | Warned | Traced | PairRow | Replicated | Failed | Done

_PART_BYTES = 48_000


# What comes of reading a line that no program of ours may say; OSError from moments that the C
# library's calendar doesn't reach.
MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    OSError,
)


def parse(line: str) -> Event:
    """Return the event in `line`; EngineError `contract` when it isn't one."""
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
        event = _EVENTS[record.pop("event")](record)
        if record:
            raise ValueError(f"unknown members {', '.join(sorted(record))}")
    except EngineError:
        raise
    except MALFORMED as error:
        raise _broken(f"{type(error).__name__}: {error}", line) from error
    return event


def _broken(reason: str, line: str) -> EngineError:
    excerpt = line if len(line) <= 200 else line[:200] + "…"
    return EngineError(
        "contract",
        f"an engine wrote a line that is not an event ({reason}): {excerpt!r}. Is another "
        "program's output mixed into it, or does it belong to another version of railgauge?",
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a measurement")


def _take(record: dict[str, Any], name: str, *types: type) -> Any:
    value = record.pop(name)
    if type(value) not in types:
        raise TypeError(f"{name} is {type(value).__name__}")
    return value


def _number(record: dict[str, Any], name: str) -> float:
    value = float(_take(record, name, int, float))
    if not math.isfinite(value):
        raise ValueError(f"{name} is not finite")
    return value


def _moment(record: dict[str, Any], name: str) -> float:
    """Return seconds since 1970, within what a calendar holds."""
    value = _number(record, name)
    datetime.fromtimestamp(value, UTC)
    return value


def _scalars(record: dict[str, Any], name: str) -> dict[str, Value]:
    values: dict[str, Value] = _take(record, name, dict)
    for key, value in values.items():
        if type(value) not in (int, float, str, bool):
            raise TypeError(f"{name}.{key} is {type(value).__name__}")
        if value in (math.inf, -math.inf):
            raise ValueError(f"{name}.{key} is not finite")
    return values


def _listening(record: dict[str, Any]) -> Event:
    return Listening(
        _take(record, "engine", str), _take(record, "version", str), _take(record, "port", int)
    )


def _settings(record: dict[str, Any]) -> Event:
    for name in ("engine", "version"):
        _take(record, name, str)
    return Settings(
        _scalars(record, "parameters"),
        _scalars(record, "client"),
        _scalars(record, "server") if "server" in record else {},
    )


def _warning(record: dict[str, Any]) -> Event:
    return Warned(*(_take(record, name, str) for name in ("code", "side", "message")))


def _trace(record: dict[str, Any]) -> Event:
    replication, part = (_take(record, name, int) for name in ("replication", "part"))
    if replication < 0 or part < 0:
        raise ValueError("a replication and a part are counted from 0")
    text = _take(record, "data", str)
    # Base64 has four characters for three bytes.
    if not 0 < len(text) <= _PART_BYTES // 3 * 4:
        raise ValueError(f"a part of a trace has 1 to {_PART_BYTES} bytes")
    return Traced(replication, part, binascii.a2b_base64(text, strict_mode=True))


def _replication(record: dict[str, Any]) -> Event:
    metrics = _take(record, "metrics", dict)
    event = Replicated(
        number=_take(record, "replication", int),
        warmup=_take(record, "warmup", bool),
        started_at=_moment(record, "started_at"),
        metrics={name: _number(metrics, name) for name in tuple(metrics)},
        output=_take(record, "output", str) if "output" in record else "",
    )
    if event.warmup != (event.number == 0):
        raise ValueError("number 0 is a warm-up's, and only a warm-up's")
    return event


def _row(record: dict[str, Any]) -> Event:
    metrics = _take(record, "metrics", dict)
    if not metrics:
        raise ValueError("a row without metrics")
    event = PairRow(
        _take(record, "replication", int),
        _take(record, "from", int),
        {
            name: [_number_or_none(value) for value in _take(metrics, name, list)]
            for name in [*metrics]
        },
    )
    if event.replication < 0 or event.source < 0:
        raise ValueError("a replication and a rank are counted from 0")
    return event


def _number_or_none(value: Any) -> float | None:
    return None if value is None else _number({"value": value}, "value")


def _error(record: dict[str, Any]) -> Event:
    replication = _take(record, "replication", int) if "replication" in record else None
    return Failed(_take(record, "code", str), _take(record, "message", str), replication)


def _done_event(record: dict[str, Any]) -> Event:
    return Done(_take(record, "replications", int))


_EVENTS: Mapping[str, Callable[[dict[str, Any]], Event]] = {
    "listening": _listening,
    "settings": _settings,
    "warning": _warning,
    "trace": _trace,
    "row": _row,
    "replication": _replication,
    "error": _error,
    "done": _done_event,
}
