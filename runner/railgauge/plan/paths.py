"""Paths of links: the ports of switches and routers between two hosts, as they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby

from railgauge.plan.equipment import DevicePort
from railgauge.plan.sources import unknown

_IN_AND_OUT = 2

Report = Callable[[str, int | None], None]
"""Notes a mistake: its message, and at which stop of the path, None for all of it."""


def read_path(
    stops: Sequence[str], ends: tuple[str, str], devices: Collection[str], report: Report
) -> tuple[DevicePort, ...]:
    """Return the ports on a path written as `stops`, from the first of `ends` to the other.

    What is wrong is reported, and nothing returned.
    """
    sound = True
    for index, end, name in ((0, "from", ends[0]), (len(stops) - 1, "to", ends[1])):
        if stops[index] != name:
            message = f"a path leads from the link's first host to its other: write {name!r}"
            report(f"{message} here, which stands under {end!r}", index)
            sound = False
    ports = [
        _port(stop, index, devices, report) for index, stop in enumerate(stops[:-1]) if index > 0
    ]
    valid_ports = tuple(port for port in ports if port is not None)
    if not sound or len(valid_ports) < len(ports):
        return ()
    if not valid_ports:
        report("this path has no switch: name its ports, as in 'switchA:17', or drop it", None)
    if len(set(valid_ports)) < len(valid_ports):
        duplicate = next(port for port in valid_ports if valid_ports.count(port) > 1)
        report(f"{str(duplicate)!r} is on this path twice: drop one", None)
        return ()
    for device, hop_ports in groupby(valid_ports, key=lambda port: port.device):
        if len(list(hop_ports)) > _IN_AND_OUT:
            message = f"more than two ports of {device!r} in a row: name the one that the traffic"
            report(f"{message} comes in by, and the one that it leaves by", None)
            return ()
    return valid_ports


def _port(stop: str, index: int, devices: Collection[str], report: Report) -> DevicePort | None:
    device, colon, interface = stop.partition(":")
    if not colon or not interface.strip():
        message = f"{stop!r} is no port: write DEVICE:PORT, as in 'switchA:17' or 'switchA:Eth1/3'"
        report(message, index)
        return None
    if device not in devices:
        if not devices:
            report(f"{device!r} is not there: add it under 'equipment'", index)
        else:
            report(unknown("equipment", device, dict.fromkeys(devices)), index)
        return None
    return DevicePort(device, interface.strip())
