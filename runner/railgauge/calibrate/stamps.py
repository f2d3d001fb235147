"""Truths about traces and pace: the kernel's stamps of each datagram, matched by its number."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.trace import Trace
from railgauge.calibrate.packets import recording
from railgauge.calibrate.rig import INTERFACE, LINK, RECEIVER, SENDER, Rig, link
from railgauge.calibrate.truth import Truth
from railgauge.calibrate.uncertainty import compared, without_value

# Seconds from one datagram to the next; 1 % more is ten times the limit.
_GAP = 1e-3
_LIMIT = 1e-6
_DATAGRAM = 1460
_COUNT = 200
_REPLICATIONS = 10
# No delay and no rate: nothing waits between the sender's clock reading and the kernel's stamp.
_WIRING = link("mtu: 1500")
# Seconds by which a stream's last datagram may take longer than its first one, or the first one
# longer, from a clock reading to a stamp: caches are cold at first, and a CPU that slept wakes up.
_ENDS = 50e-6
# Two clocks of a host run apart by more than this share only if one was set.
_SLEWED = 1e-3
_CLOCK_TRIES = 20
# The share of the datagrams in which a fault shows at least: the others may catch up.
_MOST = 0.75
_FEW = "not most of the datagrams show it, so this machine held some of them up"

_Stamps = NDArray[np.int64]
_Seconds = NDArray[np.float64]


class ClockReading(NamedTuple):
    """CLOCK_REALTIME and CLOCK_MONOTONIC_RAW at one moment, in ns, and by how much they may miss
    it.
    """

    wall: int
    raw: int
    width: int


@dataclass(frozen=True, slots=True)
class ClockRate:
    """How many seconds of CLOCK_REALTIME go into one of CLOCK_MONOTONIC_RAW, of which the share
    `uncertainty` (standard) is uncertain.
    """

    ratio: float
    uncertainty: float

    @property
    def reason(self) -> str:
        """Why the stamps of CLOCK_REALTIME can't be relied on; empty if they can."""
        return "" if abs(self.ratio - 1) < _SLEWED else "the wall clock was set meanwhile"


@dataclass(frozen=True, slots=True)
class Observation:
    """A paced stream's traces, with the kernel's stamp (ns, CLOCK_REALTIME) of each datagram in
    them, and the clocks meanwhile.
    """

    traces: tuple[Trace, ...]
    stamps: tuple[_Stamps, ...]
    clock: ClockRate
    reason: str


def stamp_truths() -> Iterator[Truth]:
    """Yield the truths about the traces of the engine udp, and about its pace."""
    gaps = partial(CertificateCheck, engine="udp", unit="s", limit=_LIMIT, relative=False)
    yield Truth(gaps("udp trace arrivals"), _WIRING, _arrivals)
    yield Truth(gaps("udp trace arrival gaps"), _WIRING, _arrival_gaps)
    yield Truth(gaps("udp trace sending gaps"), _WIRING, _sending_gaps)
    yield Truth(gaps("udp pace"), _WIRING, _pace)


def _arrivals(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare the times of arrival, of the same clock, counted from each stream's first packet.

    Both are the kernel's stamp of the same packet: nothing that the machine does disturbs them.
    """
    observed = _observe(pair, RECEIVER, "kernel")
    values = [
        (trace.received + (trace.first_received - stamps[0])) / 1e9
        for trace, stamps in _pairs(observed)
    ]
    truths = [(stamps - stamps[0]) / 1e9 for _, stamps in _pairs(observed)]
    if not values:
        return without_value(check, observed.reason)
    return compared_by_datagram(check, values, truths, worst_budget(values, truths), "")


def _arrival_gaps(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare the gaps of the receiver's own clock readings."""
    observed = _observe(pair, RECEIVER, "user")
    times = [trace.received for trace in observed.traces]
    return _gaps(check, observed, times, observed.reason)


def _sending_gaps(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare the gaps of the sender's clock readings with those of the packets that left.

    A sender is late before it reads the clock: what else ran then disturbs nothing.
    """
    observed = _observe(pair, SENDER, "kernel")
    return _gaps(check, observed, [trace.sent_at for trace in observed.traces], "")


def _gaps(
    check: CertificateCheck, observed: Observation, times: Sequence[_Stamps], reason: str
) -> CertificateCheck:
    """Compare the gaps of `times`, of each trace its ns by CLOCK_MONOTONIC_RAW."""
    if not observed.traces:
        return without_value(check, observed.reason)
    values = [
        np.diff(part)[whole] / 1e9 for part, whole in zip(times, _whole_gaps(observed), strict=True)
    ]
    truths = _stamped_gaps(observed)
    reason = _reasons(reason, observed.clock.reason)
    return compared_by_datagram(check, values, truths, _gap_budget(observed.clock), reason)


def _pace(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare the gaps of the packets that left with the one that was asked for."""
    observed = _observe(pair, SENDER, "kernel")
    if not observed.traces:
        return without_value(check, observed.reason)
    values = _stamped_gaps(observed)
    truths = [np.full(len(part), _GAP) for part in values]
    reason = _reasons(observed.reason, observed.clock.reason)
    return compared_by_datagram(check, values, truths, _gap_budget(observed.clock), reason)


def _whole_gaps(observed: Observation) -> list[NDArray[np.bool_]]:
    """Return which gaps of each trace lack no datagram."""
    return [np.diff(trace.sequence) == 1 for trace in observed.traces]


def _stamped_gaps(observed: Observation) -> list[_Seconds]:
    """Return those gaps by the kernel's stamps, in seconds of CLOCK_MONOTONIC_RAW."""
    return [
        np.diff(stamps)[whole] / 1e9 / observed.clock.ratio
        for stamps, whole in zip(observed.stamps, _whole_gaps(observed), strict=True)
    ]


def compared_by_datagram(
    check: CertificateCheck,
    values: Sequence[_Seconds],
    truths: Sequence[_Seconds],
    budget: dict[str, float],
    reason: str,
) -> CertificateCheck:
    """Return `check` with the means of values and truths, replication by replication.

    A fault shows in most of the datagrams. If it doesn't, that is a reason.
    """
    means, true_means = ([float(part.mean()) for part in parts] for parts in (values, truths))
    result = compared(check, means, true_means, budget, reason)
    if result.error is None or abs(result.error) <= check.limit:
        return result
    errors = (np.concatenate(values) - np.concatenate(truths)) * np.sign(result.error)
    if np.mean(errors > check.limit) >= _MOST:
        return result
    return replace(result, reason=_reasons(result.reason, _FEW))


def _observe(pair: Rig, host: str, timestamp: str) -> Observation:
    """Send paced streams, with a record of what passes the interface of `host`.

    Without traces, or with others than the record's, there are none, and a reason.
    """
    rate = pair.effective_rate(_DATAGRAM * 8 / _GAP)
    settings = (
        f"datagram: {_DATAGRAM}, count: {_COUNT}, rate: {rate:.3f}bit/s, sockbuf: 1MiB, "
        f"trace: {_COUNT}, timestamp: {timestamp}"
    )
    before = read_clocks()
    with recording(pair.transport(host), INTERFACE) as record:
        measured = pair.measure(
            f"  - {{name: udp, engine: udp, links: [{LINK}], replications: {_REPLICATIONS}, "
            f"order: sequential, set: {{{settings}}}}}\n"
        )
    clock = clock_rate(before, read_clocks())
    streams = record.numbered_streams(_DATAGRAM, left=host == SENDER)
    if not measured.traces or len(streams) != len(measured.traces):
        numbers = f"{len(measured.traces)} traces and {len(streams)} recorded streams"
        return Observation((), (), clock, measured.reason or numbers)
    stamps = tuple(
        stamps_of(stream, trace) for stream, trace in zip(streams, measured.traces, strict=True)
    )
    return Observation(measured.traces, stamps, clock, measured.reason)


def stamps_of(stream: _Stamps, trace: Trace) -> _Stamps:
    """Return the stamp of each of the trace's datagrams, int64 (n,), out of (number, stamp) rows.

    EnvironmentFailedError if one of them isn't there, or no two are in a row.
    """
    stamps = dict(stream.tolist())
    missing = sum(number not in stamps for number in trace.sequence.tolist())
    if missing or not (np.diff(trace.sequence) == 1).any():
        raise EnvironmentFailedError(
            f"a trace has {len(trace.sequence)} datagrams, of which the record of packets lacks "
            f"{missing}"
        )
    return np.array([stamps[number] for number in trace.sequence.tolist()], np.int64)


def read_clocks() -> ClockReading:
    """Return the closest of a few readings of the two clocks."""
    readings = []
    for _ in range(_CLOCK_TRIES):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        readings.append(ClockReading(wall, (before + after) // 2, after - before))
    return min(readings, key=lambda reading: reading.width)


def clock_rate(before: ClockReading, after: ClockReading) -> ClockRate:
    """Return how the two clocks went between the two readings.

    Daemons change a clock's rate as they like, so all of its difference from 1 is uncertain too.
    """
    elapsed = after.raw - before.raw
    ratio = (after.wall - before.wall) / elapsed
    read = (before.width + after.width) / 2 / elapsed
    return ClockRate(ratio, (abs(ratio - 1) + read) / math.sqrt(3))


def worst_budget(values: Sequence[_Seconds], truths: Sequence[_Seconds]) -> dict[str, float]:
    """Return by how much one datagram differs from the mean difference at most, as its
    standard uncertainty: where stamps have to be the same, a mean would hide a single one.
    """
    errors = np.concatenate(values) - np.concatenate(truths)
    return {
        "the datagram that differs most": float(np.abs(errors - errors.mean()).max()) / math.sqrt(3)
    }


def _gap_budget(clock: ClockRate) -> dict[str, float]:
    """Return the standard uncertainties of a mean gap, in s, that its scatter doesn't show."""
    ends = _ENDS / (_COUNT - 1) / math.sqrt(3)
    return {"the clocks' rates": clock.uncertainty * _GAP, "the first and the last stamp": ends}


def _reasons(reason: str, further: str) -> str:
    return "; ".join(filter(None, (reason, further)))


def _pairs(observed: Observation) -> Iterator[tuple[Trace, _Stamps]]:
    return zip(observed.traces, observed.stamps, strict=True)
