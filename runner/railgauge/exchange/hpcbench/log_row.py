"""Rows of Hpcbench's system logs from and to what railgauge keeps of a host's counters.

Hpcbench's rows have shares and sums, where the kernel has counters: docs/hpcbench.md says what of
a row becomes which counter. Whatever is written was read from the same counters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from railgauge.base.characters import natural
from railgauge.base.quantities import interrupts_of
from railgauge.base.systemlog import Phase, SystemLog
from railgauge.exchange.hpcbench.hpcbench_records import CpuShares, InterfaceCounts, LogRow

# Ticks of an imported log: as fine as a share printed with one decimal ever needs.
_TICKS_PER_SECOND = 1_000_000_000
# What only Hpcbench's rows say: gauges and counters of their own names.
_MEMORY = "hpcbench/memory_used_percent"
_PAGES = "hpcbench/pages_in_out"
_SWAPS = "hpcbench/swaps_in_out"
_PLACE = "hpcbench/interface/"

_USER = ("user", "nice")
# Time taken by the hypervisor was as little idle as that of interrupts.
_SYSTEM = ("system", "irq", "softirq", "steal")
_IDLE = ("idle", "iowait")
_CPU = re.compile(r"cpu/([0-9]+)/", re.ASCII)
_INTERFACE = re.compile(r"interface/([^/]+)/")
# Behind all that a file gave places to.
_UNPLACED = 1_000_000


def from_row(
    row: LogRow, host: str, phase: Phase, started_at: float, elapsed: float | None
) -> SystemLog:
    """Return the system log that says what the row says.

    `elapsed` None: nobody knows how long the interval was; the log has 0, and its CPU times are
    those of one second, as only their shares are known.
    """
    ticks = _TICKS_PER_SECOND * (elapsed or 1.0)
    counts = _cpu_counts("all", row.all_cpus, ticks * len(row.cpus))
    for number, shares in enumerate(row.cpus):
        if shares is not None:
            counts |= _cpu_counts(str(number), shares, ticks)
    counts |= {
        "stat/interrupts": row.interrupts,
        "stat/context_switches": row.context_switches,
        _PAGES: row.pages,
        _SWAPS: row.swaps,
    }
    gauges = {} if row.memory is None else {_MEMORY: row.memory}
    labels = {}
    for place, (text, counted) in enumerate(row.interfaces.items()):
        name = text.replace("/", "|")
        gauges[_PLACE + name] = place
        for counter in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes"):
            counts[f"interface/{name}/{counter}"] = getattr(counted, counter)
        if counted.interrupts is not None and name != "lo":
            labels[f"interrupt/{name}"] = name
            for cpu, count in enumerate(counted.interrupts):
                counts[f"interrupt/{name}/{cpu}"] = count
    moved = {name: count for name, count in counts.items() if count}
    return SystemLog(
        host=host,
        phase=phase,
        started_at=started_at,
        elapsed=elapsed or 0.0,
        ticks_per_second=_TICKS_PER_SECOND,
        counts=moved,
        gauges=gauges,
        labels=labels,
    )


def _cpu_counts(cpu: str, shares: CpuShares, ticks: float) -> dict[str, int]:
    return {
        f"cpu/{cpu}/{kind}": round(share / 100 * ticks)
        for kind, share in (("user", shares.user), ("system", shares.system), ("idle", shares.idle))
    }


def interfaces_of(logs: Iterable[SystemLog]) -> tuple[str, ...]:
    """Return the interfaces that the logs name: lo, then in their file's or their names' order.

    Only an imported log names those that never counted anything.
    """
    places: dict[str, int] = {}
    for log in logs:
        for name, place in log.gauges.items():
            if name.startswith(_PLACE):
                places[name.removeprefix(_PLACE)] = place
        for name in log.counts:
            if match := _INTERFACE.match(name):
                places.setdefault(match[1], _UNPLACED)
    names = places.keys() - {"lo"}
    return ("lo", *sorted(names, key=lambda name: (places[name], natural(name))))


def cpus_of(logs: Iterable[SystemLog]) -> int:
    """Return how many CPUs the logs name, numbered from 0."""
    numbers = (int(match[1]) for log in logs for name in log.counts if (match := _CPU.match(name)))
    return 1 + max(numbers, default=-1)


def to_row(
    log: SystemLog, interfaces: Sequence[str], cpus: int, facts: Mapping[str, str]
) -> LogRow | None:
    """Return the row that the log comes to, or None for one without CPU times.

    The host's facts say which interfaces are virtual, and whose a virtio card's interrupts are.
    """
    all_cpus = _shares(log, "all")
    if all_cpus is None:
        return None
    counts = log.counts
    return LogRow(
        cpus=tuple(_shares(log, str(cpu)) for cpu in range(cpus)),
        all_cpus=all_cpus,
        memory=_memory(log),
        interrupts=counts.get("stat/interrupts", 0),
        pages=sum(counts.get(name, 0) for name in (_PAGES, "vm/pgpgin", "vm/pgpgout")),
        swaps=sum(counts.get(name, 0) for name in (_SWAPS, "vm/pswpin", "vm/pswpout")),
        context_switches=counts.get("stat/context_switches", 0),
        interfaces={name: _interface(log, name, cpus, facts) for name in interfaces},
    )


def _shares(log: SystemLog, cpu: str) -> CpuShares | None:
    user, system, idle = (
        sum(log.counts.get(f"cpu/{cpu}/{kind}", 0) for kind in kinds)
        for kinds in (_USER, _SYSTEM, _IDLE)
    )
    ticks = user + system + idle
    if ticks <= 0:
        return None
    return CpuShares(100 * user / ticks, 100 * system / ticks, 100 * idle / ticks)


def _memory(log: SystemLog) -> int | None:
    """Return the percentage of memory that is not free; what caches hold counts as used."""
    if _MEMORY in log.gauges:
        return log.gauges[_MEMORY]
    total, free = log.gauges.get("memory/MemTotal", 0), log.gauges.get("memory/MemFree")
    return None if free is None or total <= 0 else 100 * (total - free) // total


def _interface(log: SystemLog, name: str, cpus: int, facts: Mapping[str, str]) -> InterfaceCounts:
    rx_packets, rx_bytes, tx_packets, tx_bytes = (
        log.counts.get(f"interface/{name}/{counter}", 0)
        for counter in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")
    )
    lines = interrupts_of(log, name, facts)
    interrupts = None
    if lines is not None:
        interrupts = tuple(
            sum(log.counts.get(f"{line}/{cpu}", 0) for line in lines) for cpu in range(cpus)
        )
    return InterfaceCounts(rx_packets, rx_bytes, tx_packets, tx_bytes, interrupts)
