"""IF-MIB (RFC 2863): finds a device's interfaces by name and reads what they have counted."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.suggestion import suggest_or_list
from railgauge.plan.equipment import DevicePort

if TYPE_CHECKING:  # What asks takes a tenth of a second to import.
    from railgauge.hosts.equipment.agent import Agent, Value

_TABLE, _EXTENSION = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"
_UPTIME = "1.3.6.1.2.1.1.3.0"
_DESCRIPTION, _NAME, _ALIAS = f"{_TABLE}.2", f"{_EXTENSION}.1", f"{_EXTENSION}.18"
_SPEED, _HIGH_SPEED = f"{_TABLE}.5", f"{_EXTENSION}.15"
_DISCONTINUITY = f"{_EXTENSION}.19"
# Counter -> its column of 64 bits, if there is one, and of 32.
_COLUMNS: Mapping[str, tuple[str | None, str]] = {
    "ifHCInOctets": (f"{_EXTENSION}.6", f"{_TABLE}.10"),
    "ifHCInUcastPkts": (f"{_EXTENSION}.7", f"{_TABLE}.11"),
    "ifHCInMulticastPkts": (f"{_EXTENSION}.8", f"{_EXTENSION}.2"),
    "ifHCInBroadcastPkts": (f"{_EXTENSION}.9", f"{_EXTENSION}.3"),
    "ifHCOutOctets": (f"{_EXTENSION}.10", f"{_TABLE}.16"),
    "ifHCOutUcastPkts": (f"{_EXTENSION}.11", f"{_TABLE}.17"),
    "ifHCOutMulticastPkts": (f"{_EXTENSION}.12", f"{_EXTENSION}.4"),
    "ifHCOutBroadcastPkts": (f"{_EXTENSION}.13", f"{_EXTENSION}.5"),
    "ifInDiscards": (None, f"{_TABLE}.13"),
    "ifInErrors": (None, f"{_TABLE}.14"),
    "ifInUnknownProtos": (None, f"{_TABLE}.15"),
    "ifOutDiscards": (None, f"{_TABLE}.19"),
    "ifOutErrors": (None, f"{_TABLE}.20"),
}
# ifSpeed says this where the speed doesn't fit.
_TOO_FAST = 2**32 - 1
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Counter:
    """What a counter of 32 or 64 `bits` stood at."""

    value: int
    bits: int


@dataclass(frozen=True, slots=True)
class PortReading:
    """What a device said of one interface.

    `speed` in bit/s, 0 where it isn't known; `discontinuity` changes when its counters are reset.
    `counters` by their names of 64 bits, also where the device has those of 32 only.
    """

    name: str
    speed: float
    discontinuity: int
    counters: Mapping[str, Counter]


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """What a device said at one time, `at` in seconds by our clock and `uptime` by its own.

    `ports` has those that it knows, `missing` why others couldn't be read.
    """

    at: float
    uptime: float
    ports: Mapping[DevicePort, PortReading]
    missing: Mapping[DevicePort, str]


async def find(
    agent: Agent, ports: Collection[DevicePort]
) -> tuple[dict[DevicePort, int], dict[DevicePort, str]]:
    """Return the ifIndex of each of a device's `ports`, and why others have none.

    A number is an ifIndex; anything else is compared with ifName, ifDescr and ifAlias, in this
    order. EquipmentError where the device doesn't answer.
    """
    indices = {port: int(port.interface) for port in ports if port.interface.isdecimal()}
    reasons: dict[DevicePort, str] = {}
    named_ports = [port for port in ports if port not in indices]
    if not named_ports:
        return indices, reasons
    tables = [await agent.column(oid) for oid in (_NAME, _DESCRIPTION, _ALIAS)]
    for port in named_ports:
        rows: list[int] = []
        for table in tables:
            rows = rows or [row for row, text in table.items() if text == port.interface]
        if len(rows) == 1:
            indices[port] = rows[0]
        elif rows:
            first = ", ".join(map(str, sorted(rows)[:_SHOWN]))
            reason = "is the name of several interfaces: write one's ifIndex"
            reasons[port] = f"{port} {reason} ({first})"
        else:
            reasons[port] = f"{port}: {_unknown(port, tables)}"
    return indices, reasons


async def read(agent: Agent, indices: Mapping[DevicePort, int]) -> DeviceReading:
    """Return what the device has counted at the ports by their ifIndex; EquipmentError."""
    ports: dict[DevicePort, PortReading] = {}
    missing: dict[DevicePort, str] = {}
    uptime = await agent.get([_UPTIME])
    at = time.monotonic()
    for port, index in indices.items():
        values = await agent.get([f"{oid}.{index}" for oid in _oids()])
        reading = _reading({oid.removesuffix(f".{index}"): value for oid, value in values.items()})
        if reading is None:
            missing[port] = (
                f"{port}: the device has no interface with ifIndex {index}: mend the path"
            )
        else:
            ports[port] = reading
    return DeviceReading(at, _number(uptime.get(_UPTIME)) / 100, ports, missing)


def _oids() -> list[str]:
    columns = [oid for pair in _COLUMNS.values() for oid in pair if oid is not None]
    return [_NAME, _DESCRIPTION, _SPEED, _HIGH_SPEED, _DISCONTINUITY, *columns]


def _reading(values: Mapping[str, Value]) -> PortReading | None:
    counters = {}
    for name, (oid64, oid32) in _COLUMNS.items():
        if oid64 is not None and oid64 in values:
            counters[name] = Counter(_number(values[oid64]), 64)
        elif oid32 in values:
            counters[name] = Counter(_number(values[oid32]), 32)
    if not counters:
        return None
    speed = _number(values.get(_SPEED))
    if speed in (0, _TOO_FAST):
        speed = _number(values.get(_HIGH_SPEED)) * 1_000_000
    label = values.get(_NAME) or values.get(_DESCRIPTION, "")
    reset = _number(values.get(_DISCONTINUITY))
    return PortReading(str(label), float(speed), reset, counters)


def _number(value: Value | None) -> int:
    return value if isinstance(value, int) else 0


def _unknown(port: DevicePort, tables: Collection[Mapping[int, str]]) -> str:
    names = list(dict.fromkeys(text for table in tables for text in table.values() if text))
    if not names:
        return "the device reports no names of interfaces: write an ifIndex"
    hint = suggest_or_list(port.interface, names, most=_SHOWN)
    return f"unknown interface {port.interface!r}{hint}"
