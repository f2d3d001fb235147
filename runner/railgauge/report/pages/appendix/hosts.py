"""The table of a run's machines: what papers say of them, a column for each kind of machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from railgauge.base.characters import visible
from railgauge.report.pages.contents import Details
from railgauge.report.pages.machines import peaks_by_host
from railgauge.report.tables.notes import listed
from railgauge.store.records import StoredRun

# Kinds of machines side by side, and in all.
_BESIDE = 3
_MOST_KINDS = 12
_KIB_PER_GIB = 1 << 20
# Facts by what a reader calls them, in this order; those a host lacks are left out.
_TITLES = {
    "machine": "Machine",
    "virtual_machine": "Virtual machine",
    "container": "Container",
    "cpu": "Processor",
    "cpus": "CPUs",
    "cpu.sockets": "Sockets",
    "cpu.threads_per_core": "Threads per core",
    "smt": "Simultaneous multithreading",
    "governor": "Frequency governor",
    "microcode": "Microcode",
    "numa.nodes": "NUMA nodes",
    "memory": "Memory",
    "memory.channels": "Memory channels",
    "os": "Operating system",
    "kernel": "Kernel",
    "libc": "C library",
    "engines.compiler": "Compiler of the engines",
    "engines.cflags": "Its options",
    "mpi": "MPI",
    "net.ipv4.tcp_congestion_control": "Default TCP congestion control (sysctl)",
    "net.core.rmem_max": "Largest receive buffer (bytes)",
    "net.core.wmem_max": "Largest send buffer (bytes)",
}
_CARD = ("model", "driver", "firmware", "speed", "mtu")
_CARD_WORDS = {"driver": "driver ", "firmware": "firmware ", "mtu": "MTU "}
_ADAPTER = ("model", "firmware", "port1.rate")
_PROGRAM = "engine_"
_NIC, _MTU, _FABRIC = "nic.", ".mtu", "fabric."


class _Kind(NamedTuple):
    """Hosts with the same facts, and these facts as (title, text)."""

    hosts: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]


def machine_tables(runs: Sequence[StoredRun]) -> tuple[Details, ...]:
    """Return the machines of `runs`, equal ones in one column, a few columns a table.

    Runs whose machines are all the same share theirs. Those without any fact have none.
    """
    by_machines: dict[tuple[_Kind, ...], list[int]] = {}
    for run in runs:
        if kinds := _kinds(run):
            by_machines.setdefault(kinds, []).append(run.id)
    return tuple(
        table for kinds, numbers in by_machines.items() for table in _tables(kinds, numbers)
    )


def _kinds(run: StoredRun) -> tuple[_Kind, ...]:
    peaks = peaks_by_host(run.peaks)
    kinds: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for host, facts in sorted(run.facts.items()):
        described = (*_described(facts), *_peaks(peaks.get(host, {})))
        kinds.setdefault(described, []).append(host)
    return tuple(_Kind(tuple(hosts), texts) for texts, hosts in kinds.items())


def _tables(kinds: Sequence[_Kind], runs: Sequence[int]) -> Iterator[Details]:
    run_words = f"run{'s' if len(runs) > 1 else ''} {listed(map(str, runs))}"
    shown_kinds = kinds[:_MOST_KINDS]
    parts = [shown_kinds[start : start + _BESIDE] for start in range(0, len(shown_kinds), _BESIDE)]
    for number, part in enumerate(parts, 1):
        title = f"Machines of {run_words}"
        if len(parts) > 1:
            title += f", part {number} of {len(parts)}"
        if len(kinds) > len(shown_kinds) and number == len(parts):
            title += f" ({len(kinds) - len(shown_kinds)} more kinds are in index.html)"
        yield _table(title, part)


def _table(title: str, kinds: Sequence[_Kind]) -> Details:
    described = [dict(kind.texts) for kind in kinds]
    # In the order of the first kind; facts that only other kinds have come last.
    names = dict.fromkeys(name for texts in described for name in texts)
    return Details(
        title,
        tuple(listed(map(visible, kind.hosts)) for kind in kinds),
        tuple((name, tuple(texts.get(name, "–") for texts in described)) for name in names),
    )


def _described(facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the facts of a host that are shown, as (title, text)."""
    for name, title in _TITLES.items():
        if name in facts and facts[name] != "none":
            yield title, visible(_short(name, facts[name]))
    for interface in _interfaces(facts):
        if text := _joined(facts, f"{_NIC}{interface}.", _CARD):
            yield f"Network card {visible(interface)}", text
    for device in _adapters(facts):
        if text := _joined(facts, f"{_FABRIC}{device}.", _ADAPTER):
            yield f"Adapter {visible(device)}", text
    for name, text in facts.items():
        if name.startswith(_PROGRAM):
            yield visible(name.removeprefix(_PROGRAM)), visible(text)


def _peaks(peaks: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in peaks.items():
        yield f"Theoretical {visible(name.removeprefix('peak '))}", visible(text)


def _short(name: str, text: str) -> str:
    if name == "memory":
        number, _, unit = text.partition(" ")
        # What /proc/meminfo calls kB is 1024 bytes.
        if unit == "kB" and number.isdecimal():
            return f"{int(number) / _KIB_PER_GIB:.1f} GiB"
    # Who built a kernel, and with what, matters little.
    return text.partition(" (")[0].replace("Linux version", "Linux") if name == "kernel" else text


def _interfaces(facts: Mapping[str, str]) -> list[str]:
    """Return the interfaces towards the other hosts, or where that isn't known all that are up."""
    # Names may have dots; every interface has an MTU.
    interfaces = [
        name.removeprefix(_NIC).removesuffix(_MTU)
        for name in facts
        if name.startswith(_NIC) and name.endswith(_MTU)
    ]
    peer_interfaces = facts.get("peer_interfaces", "").split()
    if towards_peers := [name for name in interfaces if name in peer_interfaces]:
        return towards_peers
    return [name for name in interfaces if facts.get(f"{_NIC}{name}.state", "up") == "up"]


def _adapters(facts: Mapping[str, str]) -> list[str]:
    """Return the devices that facts such as `fabric.mlx5_0.model` are about."""
    name_parts = (name.split(".") for name in facts if name.startswith(_FABRIC))
    return list(dict.fromkeys(parts[1] for parts in name_parts))


def _joined(facts: Mapping[str, str], prefix: str, names: Sequence[str]) -> str:
    parts = [
        f"{_CARD_WORDS.get(name, '')}{text}"
        for name in names
        if (text := facts.get(prefix + name, "")) and not text.startswith("unknown")
    ]
    return visible(", ".join(parts))
