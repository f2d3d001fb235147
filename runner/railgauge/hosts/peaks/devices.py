"""How fast a host's memory and its network interface could be, by their own tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railgauge.base.number import plural
from railgauge.hosts.peaks.peak import PeakValue

Facts = Mapping[str, str]

_CHANNELS = re.compile(r"(\d+) x (\d+) bit x (\d+) MT/s")
_SPEED = re.compile(r"(\d+) Mbit/s")


def memory(facts: Facts) -> PeakValue | str:
    """Return the bytes per second of all memory channels together, or why they are not known."""
    if facts.get("virtual_machine", "none") != "none":
        return "a virtual machine may report any memory"
    if "memory.modules" not in facts:
        return "the firmware's tables don't list the memory, or are root's to read"
    channels = facts.get("memory.channels", "")
    if not channels:
        return "the firmware's tables don't report the memory's channels and speed"
    matches = [_CHANNELS.fullmatch(part) for part in channels.split(", ")]
    parts = [tuple(map(int, match.groups())) for match in matches if match is not None]
    total = sum(count * bits // 8 * speed for count, bits, speed in parts) * 1e6
    terms = " + ".join(
        f"{plural(count, 'channel')} × {bits // 8} B × {speed} MT/s" for count, bits, speed in parts
    )
    return PeakValue(total, f"{terms} (SMBIOS)") if total else "no channel is understood"


def network(facts: Facts) -> PeakValue | str:
    """Return the bits per second of the interface towards the other hosts, or why not."""
    if facts.get("virtual_machine", "none") != "none":
        return "a virtual machine may report any speed"
    if "peer_interfaces" not in facts:
        return "no fact says which interface leads to another host"
    names = [name for name in facts["peer_interfaces"].split() if name != "lo"]
    if not names:
        return "no interface leads to another host"
    speeds = {name: _speed(facts, name) for name in names}
    reasons = [speed for speed in speeds.values() if isinstance(speed, str)]
    if reasons:
        return reasons[0]
    if len(set(speeds.values())) > 1:
        return f"the interfaces to other hosts differ in speed ({', '.join(names)})"
    speed = speeds[names[0]]
    assert isinstance(speed, int)
    return PeakValue(speed * 1e6, f"{speed} Mbit/s of {', '.join(names)} (sysfs)")


def _speed(facts: Facts, name: str) -> int | str:
    """Return the interface's speed in Mbit/s, or why it is not known."""
    about = f"nic.{name}."
    for part in facts.get(about + "bond.members", "").split() or [name]:
        if f"nic.{part}.slot" not in facts:
            return f"{name} is no hardware, and its speed means nothing"
    match = _SPEED.fullmatch(facts.get(about + "speed", ""))
    return int(match[1]) if match else f"{name} doesn't report its speed"
