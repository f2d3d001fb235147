"""What a test says of its system logs: how often they are sampled, and when to be suspicious."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from railgauge.base import units
from railgauge.plan.validation import StrictModel, describe

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
_SHORTEST, _LONGEST = 0.01, 3600.0


def _interval(value: Any) -> float:
    interval = units.parse_time(value)
    if not _SHORTEST <= interval <= _LONGEST:
        raise ValueError(f"{value!r} is out of range: write at least 10ms and at most 1h")
    return interval


def _limit(value: Any) -> float | None:
    """Return a share of 1, or a number of CPUs; None for `off`."""
    if value == "off":
        return None
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value)):
        return float(match[1]) / 100
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e6:
        raise ValueError(f"{describe(value)} is no limit: write 2%, 0.02 or off")
    return float(value)


def _share(value: Any) -> float | None:
    limit = _limit(value)
    if limit is not None and limit > 1:
        raise ValueError(f"{describe(value)} is more than all of it: write 2%, 0.02 or off")
    return limit


def _on_or_off(value: Any) -> bool:
    if isinstance(value, bool) or value in ("on", "off"):
        return value in (True, "on")
    raise ValueError(f"{describe(value)} stands where on or off is wanted")


def _whole(value: Any) -> Any:
    """Return what `on` and `off` stand for where more may be said."""
    if isinstance(value, bool) or value in ("on", "off"):
        return {} if value in (True, "on") else None
    return value


_Interval = Annotated[float, BeforeValidator(_interval), WithJsonSchema({"type": "string"})]
_Limit = Annotated[
    float | None,
    BeforeValidator(_limit),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}),
]
_Share = Annotated[
    float | None,
    BeforeValidator(_share),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0, "maximum": 1}]}),
]
_SWITCH_SCHEMA = WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}]})
_Switch = Annotated[bool, BeforeValidator(_on_or_off), _SWITCH_SCHEMA]
_SwitchOrUnset = Annotated[bool | None, BeforeValidator(_on_or_off), _SWITCH_SCHEMA]


class Suspect(StrictModel):
    """When a replication is marked suspect; None or False: never for that, but for `receive_drops`.

    More than `steal`, a share of all its CPUs' time, taken by the hypervisor; more than
    `foreign_cpu` CPUs busy in user mode beside the engines; more than `foreign_traffic`, a share
    of the bytes on the test's interface, that are not the test's; pages swapped; a CPU or a cgroup
    throttled; packets dropped in the receive buffer or before it, which is off by default (None)
    for tests that report losses themselves; a host without the system log that would show it, being
    `unwatched`; a sender that stayed more than `under_rate`, a share, below its rate; a receiver
    that left more than `untimed`, a share of what came, out of its rate.
    """

    steal: _Share = 0.02
    foreign_cpu: _Limit = 0.1
    foreign_traffic: _Share = 0.01
    swap: _Switch = True
    throttle: _Switch = True
    receive_drops: _SwitchOrUnset = None
    unwatched: _Switch = True
    under_rate: _Share = 0.01
    untimed: _Share = 0.1


class SystemLogging(StrictModel):
    """System logs with a sample each `interval` seconds, judged by the limits of `suspect`."""

    interval: _Interval = Field(default=1.0, json_schema_extra={"default": "1s"})
    suspect: Annotated[
        Suspect | None,
        BeforeValidator(_whole, json_schema_input_type=Suspect | bool | Literal["on", "off"]),
    ] = Suspect()


OrOff = Annotated[
    SystemLogging | None,
    BeforeValidator(_whole, json_schema_input_type=SystemLogging | bool | Literal["on", "off"]),
]
"""What stands under `system_log`; None: no system logs."""
