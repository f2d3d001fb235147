"""What Hpcbench's files say, as plain values: text and numbers, no layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

# What a line of the head says: sizes in bytes, times in seconds, TOS as its byte.
Setting = int | float


@dataclass(frozen=True, slots=True)
class HpcbenchOutput:
    """What an output says of one test: `udptest -o`'s file, or what it printed on the screen.

    `mode` is stream, bidirectional, exponential, latency or generator. `moment` is when it began,
    in UTC to the second; a screen doesn't say. `settings` are by the names in `layout`'s heads.
    `rows` are metrics in base units by the names of rail-udp, a row a replication (or a size, with
    its `datagram`); what a row doesn't say is not in it, and all of a failed one is not.
    """

    mode: str
    client: str
    server: str
    moment: datetime | None
    settings: Mapping[str, Setting]
    rows: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class CpuShares:
    """What a CPU did, or all of them together, in percent of the interval."""

    user: float
    system: float
    idle: float


@dataclass(frozen=True, slots=True)
class InterfaceCounts:
    """What an interface counted; `interrupts` by CPU, or None where nobody knows which are its."""

    rx_packets: int
    rx_bytes: int
    tx_packets: int
    tx_bytes: int
    interrupts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class LogRow:
    """A host's interval: `memory` in percent, cut off, if known; `pages`, `swaps` in and out.

    A CPU that was off for all of it is None in `cpus`.
    """

    cpus: tuple[CpuShares | None, ...]
    all_cpus: CpuShares
    memory: int | None
    interrupts: int
    pages: int
    swaps: int
    context_switches: int
    interfaces: Mapping[str, InterfaceCounts]


@dataclass(frozen=True, slots=True)
class LogFile:
    """A system log, `output.c_log` or `output.s_log`: the interval before, each row's, and after.

    An interval that was not logged is None. `interfaces` as Linux calls them, in the file's order.
    """

    host: str
    moment: datetime
    interfaces: tuple[str, ...]
    cpus: int
    rows: tuple[LogRow | None, ...]
