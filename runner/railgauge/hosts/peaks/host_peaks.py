"""A host's and a link's peaks: what is declared goes before what the facts give.

Nothing is guessed: where the facts don't suffice there is no peak.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from railgauge.base.number import plural
from railgauge.hosts.peaks.peak import LINK_RATE, Peak, PeakValue
from railgauge.hosts.peaks.processor import floating_point
from railgauge.plan.declared_peaks import RESOURCES, Peaks

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


_BY_RESOURCE: Mapping[str, Callable[[Mapping[str, str]], PeakValue | str]] = {
    "cpu_single": partial(floating_point, bits=32),
    "cpu_double": partial(floating_point, bits=64),
    "memory": memory,
    "network": network,
}


def missing_peak_reason(resource: str, facts: Mapping[str, str]) -> str:
    """Return why no peak was found, and what to do; empty where the facts do give one."""
    derived = _derived_peak(resource, facts)
    if isinstance(derived, PeakValue):
        return ""
    return f"{derived}: declare it as 'peaks: {{{resource}: …}}' in the hosts file"


def host_peaks(
    host: str, declared: Peaks, facts: Mapping[str, str], *, file: str = "hosts file"
) -> tuple[Peak, ...]:
    """Return the host's peaks in the resources' order; what is declared goes before what is found.

    `file` is what the declarations stand in, where they don't name a better source.
    """
    declared_peaks = declared.declared()
    peaks = []
    for resource, unit in RESOURCES.items():
        if resource in declared_peaks:
            peak = declared_peaks[resource]
            peaks.append(Peak(host, resource, peak.value, unit, f"declared: {peak.source or file}"))
        elif isinstance(derived := _derived_peak(resource, facts), PeakValue):
            peaks.append(Peak(host, resource, derived.value, unit, f"found: {derived.source}"))
    return tuple(peaks)


def link_peak(link: str, rate: float, *, file: str = "hosts file") -> Peak:
    """Return what the link is declared to carry (bit/s): no host has that resource."""
    return Peak(link, LINK_RATE, rate, RESOURCES["network"], f"declared: rate in the {file}")


def _derived_peak(resource: str, facts: Mapping[str, str]) -> PeakValue | str:
    """Return the peak that the facts give, or why they give none."""
    derive = _BY_RESOURCE.get(resource)
    return "no fact says it" if derive is None else derive(facts)
