"""The clock source that CLOCK_MONOTONIC_RAW is read from."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_CURRENT = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_PATHS = (_CURRENT,)


def parse(files: Files) -> dict[str, str]:
    """Return `clocksource`."""
    return {"clocksource": files[_CURRENT][0]} if _CURRENT in files else {}


SOURCE = Source(_PATHS, parse)
