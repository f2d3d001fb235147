"""What a port counted between two readings, where that can be known."""

from __future__ import annotations

from railgauge.hosts.equipment.interfaces import Counter, DeviceReading, PortReading

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
