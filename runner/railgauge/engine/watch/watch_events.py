"""What rail-watch says, a JSON line an event, read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railgauge.base.errors import EngineError
from railgauge.engine.events import MALFORMED

# Far beyond what any kernel has; a name takes as much memory here as there.
_MOST_COUNTERS = 1_000_000
_LONGEST_NAME = 200
# Since 1970 or since it began: two of them together are a moment of a calendar.
_MOST_SECONDS = 2.0**36
_MOST_TICKS = 1_000_000
# Differences of counters of 64 bits: one driver's absurd figure must not cost all other counters.
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Ready:
    """It watches. Seconds since 1970, UTC, and clock ticks a second; `missing` sources."""

    started_at: float
    ticks_per_second: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CounterNames:
    """Names of the counters from index `first` on, those of them that are `gauges` by index."""

    first: int
    names: tuple[str, ...]
    gauges: frozenset[int]


@dataclass(frozen=True, slots=True)
class Labels:
    """What else the kernel says of a counter's name."""

    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Gone:
    """These counters are there no more, as an interface was removed."""

    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchSample:
    """All counters `at` some seconds after it was ready, as differences to the last sample or mark.

    `changed` are pairs of index and difference, one after the other.
    """

    at: float
    changed: Sequence[int]


@dataclass(frozen=True, slots=True)
class WatchMark:
    """A sample taken at somebody's wish: an engine's, with its launch and replication, or ours."""

    at: float
    changed: Sequence[int]
    label: str
    launch: int | None
    replication: int | None


@dataclass(frozen=True, slots=True)
class WatchFailed:
    """It can't go on."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WatchDone:
    """It was asked to end."""


Line = Ready | CounterNames | Labels | Gone | WatchSample | WatchMark | WatchFailed | WatchDone


def parse(line: str) -> Line:
    """Return what the line says; EngineError `contract` when that is nothing it may say."""
    try:
        event = json.loads(line)
        return _PARSERS[event["event"]](event)
    except MALFORMED as error:
        raise EngineError("contract", f"rail-watch said {line[:200]!r}: {error!r}") from error


def _ready(event: dict[str, Any]) -> Ready:
    ticks = _whole(event["ticks_per_second"])
    if not 1 <= ticks <= _MOST_TICKS:
        raise ValueError(f"{ticks} ticks a second")
    return Ready(_seconds(event["started_at"]), ticks, _texts(event["missing"]))


def _counters(event: dict[str, Any]) -> CounterNames:
    first, names = _whole(event["first"]), _texts(event["names"])
    if not 0 <= first <= first + len(names) <= _MOST_COUNTERS:
        raise ValueError("counters without end")
    return CounterNames(first, names, frozenset(map(_whole, event["gauges"])))


def _labels(event: dict[str, Any]) -> Labels:
    labels = event["labels"]
    return Labels(dict(zip(_texts(list(labels)), _texts(list(labels.values())), strict=True)))


def _removed(event: dict[str, Any]) -> Gone:
    return Gone(tuple(map(_whole, event["indices"])))


def _sample(event: dict[str, Any]) -> WatchSample:
    return WatchSample(_seconds(event["at"]), _changes(event["changed"]))


def _mark(event: dict[str, Any]) -> WatchMark:
    launch, replication = event.get("launch"), event.get("replication")
    return WatchMark(
        _seconds(event["at"]),
        _changes(event["changed"]),
        _text(event["label"]),
        None if launch is None else _whole(launch),
        None if replication is None else _whole(replication),
    )


def _failed(event: dict[str, Any]) -> WatchFailed:
    return WatchFailed(_text(event["code"]), _text(event["message"]))


def _changes(value: Any) -> list[int]:
    if not isinstance(value, list) or len(value) % 2:
        raise ValueError("changes come in pairs")
    if not value:
        return value
    if set(map(type, value)) != {int} or min(value) < _SMALLEST or max(value) > _LARGEST:
        raise ValueError("changes are whole numbers of 64 bits")
    if min(value[::2]) < 0:
        raise ValueError("an index is at least 0")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no whole number")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= _MOST_SECONDS:
        raise ValueError(f"{value!r} is no time")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value[:_LONGEST_NAME]


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, value))


_PARSERS: Mapping[str, Callable[[dict[str, Any]], Line]] = {
    "ready": _ready,
    "counters": _counters,
    "labels": _labels,
    "gone": _removed,
    "sample": _sample,
    "mark": _mark,
    "error": _failed,
    "done": lambda _: WatchDone(),
}
