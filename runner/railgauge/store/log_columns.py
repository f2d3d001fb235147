"""Which counter of a system log stands in which column, and in which unit.

Columns are in base units: bytes and seconds. A counter that no column is for, or that its column
can't give back exactly, stands in `counter_log` as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What integers the databases hold.
SMALLEST, LARGEST = -(2**63), 2**63 - 1
# A field's unit that only the log itself knows the length of.
TICKS = 0


@dataclass(frozen=True, slots=True)
class Field:
    """A counter's column, which holds the count times `times` or, as seconds, divided by `per`.

    `per` None: an integer; TICKS: clock ticks of the log's own length.
    """

    column: str
    per: int | None = None
    times: int = 1
    gauge: bool = False

    def to_column(self, count: int, ticks_per_second: int) -> int | float | None:
        """Return what the column holds for `count`, None if that would not give it back."""
        if self.per is None:
            product = count * self.times
            return product if SMALLEST <= product <= LARGEST else None
        seconds = count / (self.per or ticks_per_second)
        return seconds if self.to_count(seconds, ticks_per_second) == count else None

    def to_count(self, value: float, ticks_per_second: int) -> int:
        """Return the count that the column's value stands for."""
        if self.per is None:
            return int(value) // self.times
        return round(value * (self.per or ticks_per_second))


def _words(text: str) -> list[str]:
    return text.split()


def _same(names: str, prefix: str = "", per: int | None = None) -> dict[str, Field]:
    return {name: Field(prefix + name, per=per) for name in _words(names)}


_CPU_TIMES = _same(
    "user nice system idle iowait irq softirq steal guest guest_nice", "cpu_", per=TICKS
)

# Whole names of counters of the whole host.
HOST: Mapping[str, Field] = {
    **{f"cpu/all/{name}": field for name, field in _CPU_TIMES.items()},
    **{
        f"stat/{name}": Field(name)
        for name in ("interrupts", "context_switches", "forks", "softirqs")
    },
    "stat/running": Field("running", gauge=True),
    "stat/blocked": Field("blocked", gauge=True),
    # The kernel counts what it reads and writes in KiB, and what it swaps in pages.
    "vm/pgpgin": Field("paged_in", times=1024),
    "vm/pgpgout": Field("paged_out", times=1024),
    "vm/pswpin": Field("swaps_in"),
    "vm/pswpout": Field("swaps_out"),
    "vm/pgfault": Field("page_faults"),
    "vm/pgmajfault": Field("major_page_faults"),
    "vm/oom_kill": Field("oom_kills"),
    **{
        f"pressure/{of}/{share}": Field(f"pressure_{of}_{share}", per=1_000_000)
        for of in ("cpu", "memory", "io", "irq")
        for share in ("some", "full")
    },
    "cgroup/nr_throttled": Field("cgroup_throttles"),
    "cgroup/throttled_usec": Field("cgroup_throttled", per=1_000_000),
    "cgroup/usage_usec": Field("cgroup_cpu", per=1_000_000),
    "cgroup/memory_current": Field("cgroup_memory", gauge=True),
    "cgroup/memory_max": Field("cgroup_memory_limit", gauge=True),
}

# memory/NAME, the lines of /proc/meminfo: the columns are their names in lower case.
MEMORY: Mapping[str, Field] = {
    name: Field(name.lower().replace("(", "_").replace(")", ""), gauge=True)
    for name in _words(
        "MemTotal MemFree MemAvailable Buffers Cached SwapCached Active Inactive Active(anon) "
        "Inactive(anon) Active(file) Inactive(file) Unevictable Mlocked SwapTotal SwapFree Zswap "
        "Zswapped Dirty Writeback AnonPages Mapped Shmem KReclaimable Slab SReclaimable "
        "SUnreclaim KernelStack PageTables SecPageTables NFS_Unstable Bounce WritebackTmp "
        "CommitLimit Committed_AS VmallocTotal VmallocUsed VmallocChunk Percpu HardwareCorrupted "
        "AnonHugePages ShmemHugePages ShmemPmdMapped FileHugePages FilePmdMapped CmaTotal CmaFree "
        "Unaccepted Balloon HugePages_Total HugePages_Free HugePages_Rsvd HugePages_Surp "
        "Hugepagesize Hugetlb DirectMap4k DirectMap2M DirectMap1G"
    )
}

# FAMILY/CPU/NAME, and FAMILY/CPU where a family has but one.
CPU: Mapping[tuple[str, str], Field] = {
    **{("cpu", name): field for name, field in _CPU_TIMES.items()},
    **{
        ("softnet", name): field
        for name, field in _same(
            "processed dropped time_squeeze received_rps flow_limit", "softnet_"
        ).items()
    },
    ("throttle", "core_count"): Field("throttle_core_count"),
    ("throttle", "package_count"): Field("throttle_package_count"),
    ("throttle", "core_time_ms"): Field("throttle_core_time", per=1000),
    ("throttle", "package_time_ms"): Field("throttle_package_time", per=1000),
    ("frequency", ""): Field("frequency", gauge=True),
}

# interface/NAME/COUNTER
INTERFACE: Mapping[str, Field] = _same(
    "rx_bytes rx_packets rx_errors rx_dropped rx_fifo rx_frame rx_compressed rx_multicast "
    "tx_bytes tx_packets tx_errors tx_dropped tx_fifo tx_collisions tx_carrier tx_compressed "
    "rx_missed_errors rx_crc_errors rx_length_errors rx_over_errors rx_nohandler "
    "tx_aborted_errors tx_heartbeat_errors tx_window_errors"
)

# Sums over protocol/PROTOCOL/COUNTER, which stand beside what is packed.
PROTOCOL_SUMS: Mapping[str, tuple[str, ...]] = {
    "udp_rcvbuf_errors": ("protocol/Udp/RcvbufErrors", "protocol/Udp6/RcvbufErrors"),
    "udp_in_errors": ("protocol/Udp/InErrors", "protocol/Udp6/InErrors"),
    "ip_reassembly_failures": ("protocol/Ip/ReasmFails", "protocol/Ip6/ReasmFails"),
    "tcp_retransmits": ("protocol/Tcp/RetransSegs",),
}

# A port of a switch or router: IF-MIB's counters (RFC 2863). PostgreSQL folds names to lower case.
PORT: Mapping[str, Field] = {
    name: Field(name.lower())
    for name in _words(
        "ifHCInOctets ifHCInUcastPkts ifHCInMulticastPkts ifHCInBroadcastPkts ifInDiscards "
        "ifInErrors ifInUnknownProtos ifHCOutOctets ifHCOutUcastPkts ifHCOutMulticastPkts "
        "ifHCOutBroadcastPkts ifOutDiscards ifOutErrors ifInOctets ifInUcastPkts "
        "ifInMulticastPkts ifInBroadcastPkts ifOutOctets ifOutUcastPkts ifOutMulticastPkts "
        "ifOutBroadcastPkts"
    )
}
