"""The counters of all equipment on a link's path, read before and after a replication."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from railgauge.base.errors import EquipmentError
from railgauge.base.systemlog import PortLog
from railgauge.hosts.equipment.credentials import read_credentials
from railgauge.hosts.equipment.interfaces import Counter, DeviceReading, PortReading, find, read
from railgauge.plan.equipment import DevicePort, Equipment

_TICKS = 2**32 / 100  # sysUpTime begins anew after 497 days.
_CLOCK_ERROR, _CLOCK_DRIFT = 3.0, 0.01
# Of a port whose speed is not known: none that has only counters of 32 bits is faster.
_FASTEST = 1e11
# A frame of 64 bytes with its preamble and gap: what a packet takes at least.
_SHORTEST_FRAME = 84


def restarted(before: DeviceReading, after: DeviceReading) -> bool:
    """Return whether a device's clock says that it was restarted between two readings."""
    seconds = after.at - before.at
    drift = (after.uptime - before.uptime - seconds) % _TICKS
    return min(drift, _TICKS - drift) > _CLOCK_ERROR + _CLOCK_DRIFT * seconds


def count_changes(before: PortReading, after: PortReading, elapsed: float) -> dict[str, int] | None:
    """Return what each counter moved by in at most `elapsed` seconds.

    None where the port's counters were reset or its number is another port's by now. A counter of
    32 bits that may have passed all its values meanwhile is left out.
    """
    if (before.name, before.discontinuity) != (after.name, after.discontinuity):
        return None
    speed = max(before.speed, after.speed) or _FASTEST
    counts: dict[str, int] = {}
    for name, old in before.counters.items():
        new = after.counters.get(name)
        if new is None or new.bits != old.bits:
            continue
        increase = _increase(name, old, new, speed * elapsed / 8)
        if increase is None and new.bits > 32:
            return None  # Fell back: reset, whatever the port says.
        if increase is not None:
            counts[name] = increase
    return counts


def _increase(name: str, old: Counter, new: Counter, octets: float) -> int | None:
    """Return a counter's difference; None if unknown. At most `octets` can have passed."""
    if new.bits > 32:
        return new.value - old.value if new.value >= old.value else None
    most = octets if name.endswith("Octets") else octets / _SHORTEST_FRAME
    if most >= 2**32:
        return None
    increase = (new.value - old.value) % 2**32
    return increase if increase <= most + 1 else None


class PathCounters:
    """Reads what the ports on `path` count; for one replication at a time, from any thread.

    A device that can't be read costs a warning, never the measurement. InputError where a key can't
    be had. `pause` waits for some seconds.
    """

    def __init__(
        self,
        path: Sequence[DevicePort],
        equipment: Mapping[str, Equipment],
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._path = tuple(path)
        self._devices = {port.device: equipment[port.device] for port in path}
        self._credentials = {
            name: read_credentials(name, device.snmp) for name, device in self._devices.items()
        }
        self._settle = max((device.settle for device in self._devices.values()), default=0.0)
        self._pause = pause
        self._indices: dict[DevicePort, int] = {}
        self._before: dict[str, DeviceReading] = {}
        self._warnings: dict[str, None] = {}

    def before(self, idle: float = 0.0) -> None:
        """Read the counters, once they include all traffic, which ended `idle` seconds ago."""
        self._warnings = {}
        self._wait(self._settle - idle)
        self._before = self._read(list(self._devices))

    def after(self) -> tuple[tuple[PortLog, ...], tuple[str, ...]]:
        """Return what the ports counted since `before`, in path order, and warnings.

        Waits until the counters include the traffic that has just ended. A port of which nothing
        can be known has a log without counts, and a warning says why.
        """
        if self._before:
            self._wait(self._settle)
        after = self._read(list(self._before))
        logs = []
        for position, port in enumerate(self._path, 1):
            counts = {}
            if port.device in after:
                counts = self._counts(port, self._before[port.device], after[port.device])
            logs.append(PortLog(position, port.device, port.interface, counts))
        self._before = {}
        return tuple(logs), tuple(self._warnings)

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._pause(seconds)

    def _counts(
        self, port: DevicePort, before: DeviceReading, after: DeviceReading
    ) -> dict[str, int]:
        if port not in before.ports or port not in after.ports:
            return {}  # A warning has said why.
        if restarted(before, after):
            self._indices.clear()  # It may have numbered its interfaces anew.
            self._warn(f"{port.device} was restarted meanwhile: its counts are left out")
            return {}
        settle = self._devices[port.device].settle
        if before.uptime < settle:
            self._warn(f"{port.device} has only just begun: its counts are left out")
            return {}
        # What was read first may have been as old as that.
        longest = after.at - before.at + settle
        counts = count_changes(before.ports[port], after.ports[port], longest)
        if counts is None:
            self._indices.pop(port, None)
            self._warn(f"{port}: its counters were reset meanwhile, and its counts are left out")
        elif not counts:
            self._warn(f"{port}: all its counters may have begun anew: measure for a shorter time")
        return counts or {}

    def _warn(self, message: str) -> None:
        self._warnings[message] = None

    def _read(self, names: Sequence[str]) -> dict[str, DeviceReading]:
        """Return the readings of devices, asked side by side; each that fails has a warning."""
        if not names:
            return {}
        results = asyncio.run(self._read_all(names))
        readings = {}
        for name, result in zip(names, results, strict=True):
            if isinstance(result, EquipmentError):
                self._warn(f"{result} (measured without its counts)")
            else:
                readings[name] = result
                for reason in result.missing.values():
                    self._warn(reason)
        return readings

    async def _read_all(self, names: Sequence[str]) -> list[DeviceReading | EquipmentError]:
        return await asyncio.gather(*(self._read_device(name) for name in names))

    async def _read_device(self, name: str) -> DeviceReading | EquipmentError:
        """Return what a device has counted at its ports on the path."""
        # It takes a tenth of a second to import, and few plans have equipment.
        from railgauge.hosts.equipment.agent import Agent

        ports = [port for port in self._path if port.device == name]
        reasons: dict[DevicePort, str] = {}
        agent = Agent(name, self._devices[name], self._credentials[name])
        try:
            if missing := [port for port in ports if port not in self._indices]:
                new_indices, reasons = await find(agent, missing)
                self._indices.update(new_indices)
            indices = {port: self._indices[port] for port in ports if port in self._indices}
            reading = await read(agent, indices)
        except EquipmentError as error:
            return error
        finally:
            agent.close()
        return replace(reading, missing={**reading.missing, **reasons})
