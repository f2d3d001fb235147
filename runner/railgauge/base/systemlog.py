"""System logs: what the kernel counted on a host around one replication, as plain values.

Counters are named as rail-watch names them, a path each: `cpu/0/user` (in clock ticks),
`interface/eth0/rx_packets`, `interrupt/24/1` (interrupt 24 on CPU 1), `protocol/Udp/RcvbufErrors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from railgauge.base.arrays import NDArray, np

Phase = Literal["replication", "before", "after"]


@dataclass(frozen=True, slots=True, eq=False)
class TimeSeries:
    """Samples of a host's counters within an interval.

    `times` float64 (n,) in seconds since its begin, rising; `values` int64 (n, k), a column for
    each of `names`: what a counter had counted since the begin, or a gauge's value.
    """

    times: NDArray[np.float64]
    names: tuple[str, ...]
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SoakLoad:
    """What one CPU did beside its soaker, in shares of 1.

    `lost` is the time that the soaker did not get, `slowdown` how much slower it ran in its own
    time, `load` what both took from it: 1 - (1 - lost)(1 - slowdown).
    """

    cpu: int
    load: float
    lost: float
    slowdown: float


@dataclass(frozen=True, slots=True)
class SystemLog:
    """What a host's kernel counted in an interval: a replication, or an idle stretch around a run.

    `started_at` in seconds since 1970, UTC, `elapsed` in seconds by the host's own clock. `counts`
    are differences, only of the counters that moved, and of none that began or were reset
    meanwhile; `gauges` are values at the end. `labels` say what devices `interrupt/IRQ` is of.
    """

    host: str
    phase: Phase
    started_at: float
    elapsed: float
    ticks_per_second: int
    counts: Mapping[str, int]
    gauges: Mapping[str, int]
    labels: Mapping[str, str] = field(default_factory=dict)
    series: TimeSeries | None = None
    soak: tuple[SoakLoad, ...] = ()


@dataclass(frozen=True, slots=True)
class PortLog:
    """What a switch or router counted at one of its ports while a replication was measured.

    `position` is its place in the link's path, the client being 0. `counts` by the name of the
    counter in IF-MIB (RFC 2863): `ifHCInOctets`, `ifOutDiscards` …
    """

    position: int
    device: str
    interface: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A reason not to trust a replication: a stable code, the host it is about, and a sentence."""

    code: str
    host: str | None
    message: str
