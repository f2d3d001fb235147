"""What a rail-watch may say, made by hand, and system logs of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from railgauge.base.systemlog import SoakLoad, SystemLog

NAMES = (
    "cpu/all/user",
    "cpu/all/idle",
    "memory/MemFree",
    "interface/eth0/rx_packets",
    "interrupt/24/0",
)


def ready(**fields: Any) -> str:
    """Say that it watches."""
    return json.dumps(
        {
            "event": "ready",
            "version": "0.1.0",
            "interval": 1.0,
            "started_at": 1000.0,
            "ticks_per_second": 100,
            "sources": ["stat"],
            "missing": [],
            **fields,
        }
    )


def counters(names: Sequence[str] = NAMES, first: int = 0, gauges: Sequence[int] = (2,)) -> str:
    """Name counters."""
    return json.dumps(
        {"event": "counters", "first": first, "names": list(names), "gauges": list(gauges)}
    )


def sample(at: float, *changed: int) -> str:
    """Sample."""
    return json.dumps({"event": "sample", "at": at, "changed": changed})


def mark(at: float, label: str, *changed: int, launch: int = 7, replication: int = 1) -> str:
    """Take an engine's mark."""
    return json.dumps(
        {
            "event": "mark",
            "at": at,
            "label": label,
            "launch": launch,
            "replication": replication,
            "changed": changed,
        }
    )


def own_mark(at: float, label: str, *changed: int) -> str:
    """Take a mark of the runner's."""
    return json.dumps({"event": "mark", "at": at, "label": label, "changed": changed})


def log(
    counts: Mapping[str, int] | None = None,
    *,
    host: str = "gw1",
    elapsed: float = 1.0,
    soak: tuple[SoakLoad, ...] = (),
) -> SystemLog:
    """Return the log of a second on two CPUs, idle but for what `counts` say."""
    base = {"cpu/all/user": 2, "cpu/all/system": 1, "cpu/all/idle": 197}
    return SystemLog(
        host, "replication", 1000.0, elapsed, 100, {**base, **(counts or {})}, {}, soak=soak
    )
