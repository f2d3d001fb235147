"""What the kernel counted, as tables: interfaces, interrupts, protocols, the whole machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railgauge.base.systemlog import SystemLog
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count, share, value

_DIRECTIONS = (("received", "rx_"), ("sent", "tx_"))
_COLUMNS = ("packets", "bytes", "errors", "dropped")
_OTHERS = "Also counted"
_MOST_INTERFACES = 64
# More columns than this are unreadable; the CPUs that served most are shown.
_MOST_CPUS = 8
_MOST_INTERRUPTS = 40
_MEMORY = (
    ("MemTotal", "memory"),
    ("MemAvailable", "memory available at the end"),
    ("MemFree", "memory free at the end"),
    ("SwapFree", "swap free at the end"),
)
_PAGES = (
    ("pgmajfault", "page faults that waited for a disk"),
    ("pswpin", "pages swapped in"),
    ("pswpout", "pages swapped out"),
    ("oom_kill", "processes killed for want of memory"),
    ("pgpgin", "KiB read from disks"),
    ("pgpgout", "KiB written to disks"),
)
_ACTIVITY = (
    ("interrupts", "interrupts"),
    ("context_switches", "context switches"),
    ("forks", "processes begun"),
)
# What the counters of trouble count (RFC 4293, 4113, 4022; Linux: snmp_counter.rst); `*` stands
# for both versions of IP.
_MEANINGS = {
    "Udp*/RcvbufErrors": "dropped: the socket's receive buffer was full",
    "Udp*/InErrors": "datagrams that could not be delivered, those without room included",
    "Udp*/SndbufErrors": "not sent: the socket's send buffer or the interface's queue was full",
    "Udp*/NoPorts": "datagrams to a port that nobody listened on",
    "Udp*/InCsumErrors": "wrong checksums",
    "Udp/MemErrors": "dropped: no memory left for UDP",
    "Ip*/ReasmFails": "datagrams given up: a fragment was missing, or there was no memory for them",
    "Ip*/ReasmTimeout": "fragments that waited too long for the rest of their datagram",
    "Ip*/FragFails": "datagrams too large that might not be cut in fragments",
    "Ip*/InDiscards": "packets dropped for lack of room",
    "Ip*/OutDiscards": "packets to send dropped for lack of room",
    "Ip/InHdrErrors": "packets with a damaged header",
    "Ip/InAddrErrors": "packets for an address that isn't this host's",
    "Ip*/OutNoRoutes": "packets to send without a route",
    "Tcp/RetransSegs": "segments sent again",
    "Tcp/InErrs": "damaged segments",
    "Tcp/InCsumErrors": "wrong checksums",
    "Tcp/AttemptFails": "connections that did not come about",
    "TcpExt/TCPLostRetransmit": "segments that were lost even when sent again",
    "TcpExt/TCPFastRetrans": "segments sent again at once, as later ones had arrived",
    "TcpExt/TCPSlowStartRetrans": "segments sent again in slow start",
    "TcpExt/TCPTimeouts": "times that waiting for an acknowledgement ended",
    "TcpExt/TCPSynRetrans": "connection requests sent again",
    "TcpExt/TCPSpuriousRTOs": "timeouts that were none: the acknowledgement came after all",
    "TcpExt/TCPRcvQDrop": "segments dropped: the receive queue was full",
    "TcpExt/TCPZeroWindowDrop": "segments dropped: the window was closed",
    "TcpExt/TCPBacklogDrop": "segments dropped: the socket's backlog was full",
    "TcpExt/TCPRcvCollapsed": "segments squeezed together, as receive memory ran short",
    "TcpExt/PruneCalled": "times that receive memory ran short",
    "TcpExt/RcvPruned": "segments dropped, as receive memory ran short",
    "TcpExt/OfoPruned": "segments out of order dropped, as receive memory ran short",
    "TcpExt/ListenOverflows": "connections refused: the listening queue was full",
    "TcpExt/ListenDrops": "connections dropped while listening",
    "TcpExt/TCPOFOQueue": "segments that came out of order",
    "IpExt/InTruncatedPkts": "packets that were cut short",
    "IpExt/InCsumErrors": "wrong checksums",
}
_TROUBLE = {
    name.replace("*", version): meaning
    for name, meaning in _MEANINGS.items()
    for version in ("", "6")
}
_MOST_COUNTERS = 200


class Counters:
    """What one host's kernel counted, looked up by family. Counters that didn't move are 0."""

    def __init__(self, log: SystemLog) -> None:
        self.log = log
        self._counts = _families(log.counts)
        self._gauges = _families(log.gauges)

    def counts(self, family: str) -> Mapping[str, int]:
        """Return the counts of a family, by the rest of their names."""
        return self._counts.get(family, {})

    def gauges(self, family: str) -> Mapping[str, int]:
        """Return the gauges of a family, by the rest of their names."""
        return self._gauges.get(family, {})

    def members(self, family: str) -> dict[str, dict[str, int]]:
        """Return the counts of a family by its members: `1 -> {processed: 7}` of `softnet`."""
        members: dict[str, dict[str, int]] = {}
        for name, number in self.counts(family).items():
            member, _, counter = name.rpartition("/")
            members.setdefault(member, {})[counter] = number
        return members


def by_number(name: str) -> tuple[int, int, str]:
    """Return what sorts `2` before `10`, and both before names."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def _families(values: Mapping[str, int]) -> dict[str, dict[str, int]]:
    families: dict[str, dict[str, int]] = {}
    for name, number in values.items():
        family, _, rest = name.partition("/")
        families.setdefault(family, {})[rest] = number
    return families


def interface_sheet(counters: Counters) -> Sheet | None:
    """Return the table of all interfaces that counted anything, lo last; None without any.

    Counters without a column of their own are named where they moved.
    """
    active = {
        name: counts
        for name, counts in counters.members("interface").items()
        if any(counts.values())
    }
    if not active:
        return None
    names = sorted(active, key=lambda name: (name == "lo", -_traffic(active[name]), name))
    rows = []
    for interface in names[:_MOST_INTERFACES]:
        for direction, prefix in _DIRECTIONS:
            counts = {
                counter.removeprefix(prefix): number
                for counter, number in active[interface].items()
                if counter.startswith(prefix) and number
            }
            cells = [count(counts.pop(column, 0)) for column in _COLUMNS]
            further = ", ".join(f"{name} {count(counts[name])}" for name in sorted(counts))
            begins = direction == "received"
            rows.append(SheetRow(f"{interface} {direction}", (further, *cells), begins=begins))
    more = len(names) - _MOST_INTERFACES
    notes = (f"{more} interfaces with less traffic are not listed.",) if more > 0 else ()
    words = [_OTHERS] if any(row.cells[0] for row in rows) else []
    if not words:
        rows = [row._replace(cells=row.cells[1:]) for row in rows]
    columns = ("Interface", *words, *_COLUMNS)
    return Sheet("Interface by interface", columns, tuple(rows), notes, texts=len(words))


def _traffic(counts: dict[str, int]) -> int:
    return counts.get("rx_bytes", 0) + counts.get("tx_bytes", 0)


def interrupt_sheets(counters: Counters) -> list[Sheet]:
    """Return the table of interrupts that came and the one of softirqs, the most frequent first."""
    labels = {name.removeprefix("interrupt/"): label for name, label in counters.log.labels.items()}
    hard = _interrupt_sheet(
        "Interrupt by interrupt", "Interrupt", counters.members("interrupt"), labels
    )
    soft = _interrupt_sheet("Soft interrupts", "Softirq", counters.members("softirq"), None)
    return [sheet for sheet in (hard, soft) if sheet is not None]


def _interrupt_sheet(
    title: str,
    heading: str,
    counts: Mapping[str, Mapping[str, int]],
    labels: Mapping[str, str] | None,
) -> Sheet | None:
    totals = {name: sum(per_cpu.values()) for name, per_cpu in counts.items()}
    names = [name for name in totals if totals[name]]
    names.sort(key=lambda name: (-totals[name], name))
    if not names:
        return None
    cpus: dict[str, int] = {}
    for name in names:
        for cpu, number in counts[name].items():
            cpus[cpu] = cpus.get(cpu, 0) + number
    busiest = sorted(cpus, key=lambda cpu: (-cpus[cpu], by_number(cpu)))[:_MOST_CPUS]
    listed_cpus = sorted(busiest, key=by_number)
    has_others = len(cpus) > len(listed_cpus)
    rows = []
    for name in names[:_MOST_INTERRUPTS]:
        per_cpu = [counts[name].get(cpu, 0) for cpu in listed_cpus]
        numbers = [totals[name], *per_cpu, *([totals[name] - sum(per_cpu)] if has_others else [])]
        texts = () if labels is None else (labels.get(name, ""),)
        rows.append(SheetRow(name, (*texts, *map(count, numbers))))
    columns = [heading, *([] if labels is None else ["Device"]), "all CPUs"]
    columns += [f"CPU {cpu}" for cpu in listed_cpus] + (["others"] if has_others else [])
    more = len(names) - len(rows)
    notes = (f"{more} that came less often are not listed.",) if more else ()
    return Sheet(title, tuple(columns), tuple(rows), notes, texts=0 if labels is None else 1)


def machine_sheet(counters: Counters) -> Sheet | None:
    """Return what belongs to the whole host; None where nothing of it is known."""
    rows = tuple(
        SheetRow(heading, (text,))
        for part in (_activity, _memory, _pressure, _cgroup)
        for heading, text in part(counters)
    )
    return Sheet("The whole machine", ("What", "value"), rows) if rows else None


def _activity(counters: Counters) -> Iterator[tuple[str, str]]:
    counts = counters.counts("stat")
    for name, words in _ACTIVITY:
        if counts.get(name):
            rate = ""
            if counters.log.elapsed > 0:
                rate = f" ({value(counts[name] / counters.log.elapsed)}/s)"
            yield words, count(counts[name]) + rate


def _memory(counters: Counters) -> Iterator[tuple[str, str]]:
    gauges = counters.gauges("memory")
    for name, words in _MEMORY:
        if gauges.get(name):
            yield words, f"{value(gauges[name] / 2**30)} GiB"
    counts = counters.counts("vm")
    for name, words in _PAGES:
        if counts.get(name):
            yield words, count(counts[name])


def _pressure(counters: Counters) -> Iterator[tuple[str, str]]:
    for name, micros in sorted(counters.counts("pressure").items()):
        resource, _, tasks = name.partition("/")
        if micros:
            waiting = "something" if tasks == "some" else "everything"
            part = share(micros * 1e-6, counters.log.elapsed, 2)
            yield f"{waiting} waited for {resource}", f"{part} % of the time"


def _cgroup(counters: Counters) -> Iterator[tuple[str, str]]:
    counts, gauges = counters.counts("cgroup"), counters.gauges("cgroup")
    if counts.get("nr_throttled"):
        yield "times that the control group's CPU limit struck", count(counts["nr_throttled"])
    if counts.get("throttled_usec"):
        yield "held up by the CPU limit", f"{value(counts['throttled_usec'] * 1e-6)} s"
    if gauges.get("cpu_max_quota", 0) > 0 and gauges.get("cpu_max_period"):
        cpus = gauges["cpu_max_quota"] / gauges["cpu_max_period"]
        yield "CPU limit of the control group", f"{value(cpus)} {'CPU' if cpus == 1 else 'CPUs'}"
    # Without a limit the kernel reports a number that no machine has.
    if 0 < gauges.get("memory_max", 0) < 2**60:
        yield "memory limit of the control group", f"{value(gauges['memory_max'] / 2**30)} GiB"


def trouble_sheet(counters: Counters) -> Sheet | None:
    """Return the counters of losses and errors, and what each counts; None if all are 0."""
    counts = counters.counts("protocol")
    rows = tuple(
        SheetRow(name, (meaning, count(counts[name])))
        for name, meaning in _TROUBLE.items()
        if counts.get(name)
    )
    if not rows:
        return None
    return Sheet("What the protocols lost", ("Counter", "Is", "count"), rows, texts=1)


def protocol_sheet(counters: Counters) -> Sheet | None:
    """Return all other counters of protocols that moved, in the kernel's names."""
    return _counter_sheet("Other protocol counters", counters, "protocol", "Counter")


def fabric_sheet(counters: Counters) -> Sheet | None:
    """Return the counters of InfiniBand and Omni-Path ports that moved."""
    return _counter_sheet("Fabric ports", counters, "fabric", "Device/port/counter")


def _counter_sheet(title: str, counters: Counters, family: str, heading: str) -> Sheet | None:
    counts = counters.counts(family)
    names = sorted(name for name, number in counts.items() if number and name not in _TROUBLE)
    if not names:
        return None
    rows = tuple(SheetRow(name, (count(counts[name]),)) for name in names[:_MOST_COUNTERS])
    more = len(names) - len(rows)
    notes = (f"{more} more are not listed.",) if more else ()
    return Sheet(title, (heading, "count"), rows, notes)
