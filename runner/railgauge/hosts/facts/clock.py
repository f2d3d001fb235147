"""The clock source that CLOCK_MONOTONIC_RAW is read from."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

_FOLDER = "/sys/devices/system/clocksource/clocksource0/"
_PATHS = {
    "clocksource": _FOLDER + "current_clocksource",
    "clocksources": _FOLDER + "available_clocksource",
}


def parse(files: Files) -> dict[str, str]:
    """Return `clocksource`, and `clocksources`: those that could be chosen."""
    return first_lines(files, _PATHS)


SOURCE = FactSource(tuple(_PATHS.values()), parse)
