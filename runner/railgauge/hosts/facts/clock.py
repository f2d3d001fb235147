"""The clock source that CLOCK_MONOTONIC_RAW is read from."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first

_FOLDER = "/sys/devices/system/clocksource/clocksource0/"
_NAMES = {"clocksource": "current_clocksource", "clocksources": "available_clocksource"}


def parse(files: Files) -> dict[str, str]:
    """Return `clocksource`, and `clocksources`: those that could be chosen."""
    return {fact: text for fact, name in _NAMES.items() if (text := first(files, _FOLDER + name))}


SOURCE = FactSource(tuple(_FOLDER + name for name in _NAMES.values()), parse)
