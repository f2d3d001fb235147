"""Metrics that come from the system logs, stored beside those that an engine reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from railgauge.base.systemlog import SystemLog

# What /proc/stat distinguishes; guests' time is part of the user's (proc_stat(5)).
CPU_KINDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_SIDES = ("client", "server")


class DerivedMetric(NamedTuple):
    """What a metric of the logs is: its base unit, what is better, and its kind as engines' are."""

    unit: str
    better: str
    kind: str


_LOGGED = {"cpu_load": DerivedMetric("", "lower", "share")}
_SOAKED = {"cpu_load_soak": DerivedMetric("", "lower", "share")}
_RECEIVED = {"cpu_per_gigabyte": DerivedMetric("s", "lower", "cost")}
_HELP = {
    "cpu_load": "share of the time of all its CPUs that was busy during the replication, by the"
    " kernel's count of ticks (/proc/stat), 0 to 1",
    "cpu_load_soak": "share of the time of all its CPUs that was taken during the replication, by"
    " what soakers lost, 0 to 1",
    "cpu_per_gigabyte": "CPU time by what soakers lost, for 10^9 payload bytes received",
}
# Compared with a baseline where nobody names metrics.
JUDGED = tuple(f"{side}_{name}" for side in _SIDES for name in _RECEIVED)
RECEIVED_BYTES = ("received_bytes", "reverse_received_bytes")


def derived_metrics(
    *, two_sided: bool, soak: bool, receives: bool = True
) -> dict[str, DerivedMetric]:
    """Return all that `derive` may give, by name.

    Nothing costs CPU time for each gigabyte received where the engine `receives` none, or doesn't
    say how much.
    """
    kinds = _LOGGED | (_SOAKED if soak else {}) | (_RECEIVED if soak and receives else {})
    sides = _SIDES if two_sided else _SIDES[:1]
    return {f"{side}_{name}": info for side in sides for name, info in kinds.items()}


def derived_help(metric: str) -> str:
    """Return what a metric of `derive` is, empty for others."""
    side, _, name = metric.partition("_")
    return f"{side}: {_HELP[name]}" if side in _SIDES and name in _HELP else ""


def derive(metrics: Mapping[str, float], logs: Mapping[str, SystemLog]) -> dict[str, float]:
    """Return what the logs of the `client` and the `server`, as far as known, say beside `metrics`.

    `cpu_load` is the share of all CPUs that was busy, by /proc/stat; `cpu_load_soak` the same by
    what soakers lost; `cpu_per_gigabyte` CPU seconds by soakers for 10^9 bytes received.
    """
    received = sum(metrics.get(name, 0) for name in RECEIVED_BYTES)
    return {
        f"{side}_{name}": value
        for side, log in logs.items()
        for name, value in _of_host(log, received)
    }


def _of_host(log: SystemLog, received: float) -> Iterator[tuple[str, float]]:
    load = cpu_load(log)
    if load is not None:
        yield "cpu_load", load
    if log.soak:
        total_load = sum(soak_load.load for soak_load in log.soak)
        yield "cpu_load_soak", total_load / len(log.soak)
        if received:
            seconds = total_load * log.elapsed * (1 - _stolen_share(log))
            yield "cpu_per_gigabyte", seconds / (received / 1e9)


def idle_kinds(*, soaked: bool) -> tuple[str, ...]:
    """Return the kinds of a CPU's time that are not load, beside soakers or without."""
    # Soakers are nice, and stand for what would have been idle.
    return ("idle", "iowait", "nice") if soaked else ("idle", "iowait")


def cpu_load(log: SystemLog) -> float | None:
    """Return the share of its CPUs' time that was busy, 0 to 1; None if no tick was counted."""
    ticks = cpu_ticks(log)
    idle = sum(ticks[kind] for kind in idle_kinds(soaked=bool(log.soak)))
    total = sum(ticks.values())
    return 1 - idle / total if total else None


def _stolen_share(log: SystemLog) -> float:
    """Return the share of its CPUs' time that the hypervisor took; soakers share the rest."""
    ticks = cpu_ticks(log)
    return ticks["steal"] / (sum(ticks.values()) or 1)


def cpu_ticks(log: SystemLog) -> dict[str, int]:
    """Return the ticks of all its CPUs together, by kind."""
    return {kind: log.counts.get(f"cpu/all/{kind}", 0) for kind in CPU_KINDS}
