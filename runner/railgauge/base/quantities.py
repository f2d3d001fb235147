"""What a system log says, by name: shares of the CPUs' time, sums, and each counter and gauge.

Names are those of `systemlog`, and beside them
`cpu/N/KIND`, the share of that CPU's time (N is a number or `all`), with `load`, all that was not
idle, and `kernel`, what was the kernel's, interrupts' or taken by the hypervisor;
`memory/used`, the share of the memory that is not free;
`pages/in_out` (KiB) and `swaps/in_out`, read and written together;
`interface/NAME/interrupts/N`, the interrupts of a network interface on a CPU;
`busiest/COUNTER`, that of the interface with the most bytes, sent and received;
`settings/NAME`, a setting of the launch's end, which no log has but the launch;
and any of the counts with `/s` behind it: per second (whoever reads them divides).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from railgauge.base.derived import CPU_KINDS, idle_kinds
from railgauge.base.systemlog import SystemLog

PER_SECOND = "/s"
_KERNEL = ("system", "irq", "softirq", "steal")
_CPU = re.compile(r"cpu/([0-9]+|all)/", re.ASCII)
_INTERFACE = re.compile(r"interface/([^/]+)/")
# Whoever reads the kernel's counters reads these; one that isn't there didn't move.
_ALWAYS_READ = (
    "stat/interrupts",
    "stat/context_switches",
    "stat/forks",
    "stat/softirqs",
    "vm/pgfault",
    "vm/pgmajfault",
)
_ALWAYS_OF_INTERFACES = tuple(
    f"{way}_{unit}" for way in ("rx", "tx") for unit in ("bytes", "packets", "errors", "dropped")
)
# What Hpcbench's logs say only, under names of their own (docs/hpcbench.md).
_HPCBENCH = "hpcbench/"
_HPCBENCH_READ = ("stat/interrupts", "stat/context_switches")
_HPCBENCH_OF_INTERFACES = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets")
# The queues of a virtio network card; other virtio devices have none called so.
_VIRTIO_NET = re.compile(r"(virtio[0-9]+)-(?:input|output)\.[0-9]+", re.ASCII)


def counted(log: SystemLog, facts: Mapping[str, str]) -> dict[str, float]:
    """Return what was counted, by name: a count that isn't here but in the host's other logs is 0.

    The host's facts say which interfaces are virtual, and whose a virtio card's interrupts are.
    """
    counts = dict(_counts(log))
    counts |= _sums(log)
    for name in _interfaces(log):
        counts |= _interrupts(log, name, facts)
    busiest = max(_interfaces(log), key=lambda name: _bytes(counts, name), default="")
    place = f"interface/{busiest}/"
    of_busiest = {name: count for name, count in counts.items() if name.startswith(place)}
    counts |= {f"busiest/{name.removeprefix(place)}": count for name, count in of_busiest.items()}
    return dict(counts)


def stated(log: SystemLog) -> dict[str, float]:
    """Return shares and gauges, by name: one that isn't here is unknown."""
    used = _memory_used(log)
    shares = dict(_shares(log)) if used is None else {**dict(_shares(log)), "memory/used": used}
    return {**log.gauges, **shares}


def unit_of(name: str) -> str:
    """Return the base unit of a quantity, empty for counts and shares."""
    if name.endswith(PER_SECOND):
        return "B/s" if unit_of(name.removesuffix(PER_SECOND)) == "B" else "1/s"
    if name.startswith("frequency/"):
        return "Hz"
    family, _, last = name.partition("/")
    is_size = (
        last.endswith("_bytes")
        or (family == "memory" and not last.startswith("HugePages_"))
        or (family == "settings" and last.endswith("buf"))
    )
    return "B" if is_size and name != "memory/used" else ""


def kind_of(name: str, *, stated: bool) -> str:
    """Return the kind of a quantity: what is counted, what is per second, a share of a whole.

    Of a gauge (`stated`, as are shares) none is known but by its unit.
    """
    if name.endswith(PER_SECOND):
        return "rate"
    if not stated:
        return "count"
    return "share" if name.startswith("cpu/") or name == "memory/used" else ""


def interrupts_of(log: SystemLog, interface: str, facts: Mapping[str, str]) -> Sequence[str] | None:
    """Return the interrupts of an interface, none for a virtual one, None if they are unknown."""
    if interface == "lo":
        return ()
    pattern = re.compile(rf"(?<![0-9A-Za-z]){re.escape(interface)}(?![0-9A-Za-z])")
    lines = [line for line, label in log.labels.items() if pattern.search(label)]
    if lines:
        return lines
    is_known = f"nic.{interface}.mtu" in facts
    if is_known and not any(f"nic.{interface}.{fact}" in facts for fact in ("slot", "modalias")):
        return ()
    return _virtio(log, interface, facts)


def _virtio(log: SystemLog, name: str, facts: Mapping[str, str]) -> Sequence[str] | None:
    """Return the interrupts of the only virtio card: they are called by its device, not by it."""
    cards = [fact for fact, value in facts.items() if _is_virtio_card(fact, value)]
    devices = {match[1] for label in log.labels.values() if (match := _VIRTIO_NET.match(label))}
    if cards != [f"nic.{name}.driver"] or len(devices) != 1:
        return None
    device = f"{devices.pop()}-"
    return [line for line, label in log.labels.items() if label.startswith(device)]


def _is_virtio_card(fact: str, value: str) -> bool:
    return fact.startswith("nic.") and fact.endswith(".driver") and value == "virtio_net"


def _is_hpcbench(log: SystemLog) -> bool:
    return any(name.startswith(_HPCBENCH) for name in (*log.gauges, *log.counts))


def _interfaces(log: SystemLog) -> list[str]:
    # Imported logs have a gauge for each interface, hpcbench/interface/NAME.
    imported = (name.removeprefix(_HPCBENCH) for name in log.gauges if name.startswith(_HPCBENCH))
    matches = (_INTERFACE.match(f"{name}/") for name in (*log.counts, *imported))
    return list(dict.fromkeys(match[1] for match in matches if match))


def _cpus(log: SystemLog) -> list[str]:
    matches = (_CPU.match(name) for name in log.counts)
    return list(dict.fromkeys(match[1] for match in matches if match))


def _counts(log: SystemLog) -> Iterator[tuple[str, int]]:
    imported = _is_hpcbench(log)
    for name in _HPCBENCH_READ if imported else _ALWAYS_READ:
        yield name, 0
    for interface in _interfaces(log):
        for name in _HPCBENCH_OF_INTERFACES if imported else _ALWAYS_OF_INTERFACES:
            yield f"interface/{interface}/{name}", 0
    for name, count in log.counts.items():
        if not name.startswith(("cpu/", _HPCBENCH)):
            yield name, count


def _sums(log: SystemLog) -> Iterator[tuple[str, int]]:
    if _is_hpcbench(log):
        yield "pages/in_out", log.counts.get(f"{_HPCBENCH}pages_in_out", 0)
        yield "swaps/in_out", log.counts.get(f"{_HPCBENCH}swaps_in_out", 0)
        return
    for name, counters in (
        ("pages", ("vm/pgpgin", "vm/pgpgout")),
        ("swaps", ("vm/pswpin", "vm/pswpout")),
    ):
        yield f"{name}/in_out", sum(log.counts.get(counter, 0) for counter in counters)


def _bytes(counts: Mapping[str, int], interface: str) -> int:
    return sum(counts.get(f"interface/{interface}/{way}_bytes", 0) for way in ("rx", "tx"))


def _interrupts(
    log: SystemLog, interface: str, facts: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    lines = interrupts_of(log, interface, facts)
    for cpu in [] if lines is None else _cpus(log):
        if cpu != "all" and lines is not None:
            total = sum(log.counts.get(f"{line}/{cpu}", 0) for line in lines)
            yield f"interface/{interface}/interrupts/{cpu}", total


def _shares(log: SystemLog) -> Iterator[tuple[str, float]]:
    for cpu in _cpus(log):
        ticks = {kind: log.counts.get(f"cpu/{cpu}/{kind}", 0) for kind in CPU_KINDS}
        total = sum(ticks.values())
        if total <= 0:
            continue
        kinds = ("user", "system", "idle") if _is_hpcbench(log) else CPU_KINDS
        for kind in kinds:
            yield f"cpu/{cpu}/{kind}", ticks[kind] / total
        idle = sum(ticks[kind] for kind in idle_kinds(soaked=bool(log.soak)))
        yield f"cpu/{cpu}/load", 1 - idle / total
        yield f"cpu/{cpu}/kernel", sum(ticks[kind] for kind in _KERNEL) / total


def _memory_used(log: SystemLog) -> float | None:
    percent = log.gauges.get(f"{_HPCBENCH}memory_used_percent")
    if percent is not None:
        return percent / 100
    total, free = log.gauges.get("memory/MemTotal", 0), log.gauges.get("memory/MemFree")
    return None if free is None or total <= 0 else (total - free) / total
