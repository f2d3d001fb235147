"""Truths about mpi: the segments of Open MPI's TCP connection, as they pass an interface."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railgauge.base.certificate import CertificateCheck
from railgauge.base.number import plural
from railgauge.calibrate.network import LATE_LOOK
from railgauge.calibrate.packets import PacketRecord, recording
from railgauge.calibrate.rig import INTERFACE, LINK, RECEIVER, SENDER, Rig, RigResult, link
from railgauge.calibrate.truth import Truth
from railgauge.calibrate.uncertainty import compared, counted, without_value

_RATE = 200e6  # bit/s
_LIMIT = 0.01
_REPLICATIONS = 10
# Below Open MPI's eager limit, 64 KiB over TCP: a message goes at once, in one piece, and nothing
# but the other end's last word comes back.
_MESSAGE = 50_000
# Of half a second at that rate.
_MESSAGES = 250
_COUNTED_MESSAGES = 100
# Bytes that Open MPI puts before each message, at most: with ob1 over TCP it is 22.
_HEADERS = 100
# Seconds one way.
_DELAY = 10e-3
_TRIPS = 10
# No other message of the job has this size, nor one with its headers.
_TRIP_MESSAGE = 333
# rail-mpi's round trips before the timed ones of a replication, and after them.
_BEFORE, _AFTER = 10, 1
# Fewer bytes are no message of the test, but a word of the library or of the engine.
_WORD = 150


@dataclass(frozen=True, slots=True)
class Burst:
    """A stream as the receiver's interface had it: its seconds from the empty message before it to
    the end, its payload in bytes, each counted once, and the seconds until the receiver spoke.
    """

    seconds: float
    payload: int
    answer: float


@dataclass(frozen=True, slots=True)
class Trips:
    """Round trips of a replication: their mean in s, and the mean in s that passed at this end
    between the arrival of an answer and the next message.
    """

    mean: float
    pause: float


def mpi_truths() -> Iterator[Truth]:
    """Yield the truths about the engine mpi."""
    rate = link(f"rate: {_RATE:.0f}bit/s")
    name = f"mpi throughput at {_RATE / 1e6:.0f} Mbit/s"
    yield Truth(CertificateCheck(name, "mpi", "bit/s", _LIMIT, relative=True), rate, _throughput)
    name = f"mpi round trip over {2e3 * _DELAY:g} ms"
    trip = CertificateCheck(name, "mpi", "s", _LIMIT, relative=True)
    yield Truth(trip, link(f"delay: {_DELAY * 1e3:g}ms"), _round_trips)
    messages = CertificateCheck("mpi messages", "mpi", "", 0.0, relative=False)
    yield Truth(messages, rate, _messages)


def _throughput(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare with the bytes that the receiver's interface got over the same seconds."""
    measured, record = _measure(pair, RECEIVER, _stream(_MESSAGES), _REPLICATIONS)
    values, streams = measured.values("throughput"), bursts(record.segments(), _MESSAGES)
    if len(streams) != len(values) or not streams:
        return without_value(check, measured.reason or _differ(len(values), len(streams)))
    truths = [burst.payload * 8 / burst.seconds for burst in streams]
    # How late the engine sees a message shows in its answer to the last one.
    delays = [burst.answer * math.sqrt(2) / burst.seconds for burst in streams]
    budget = {
        "the headers": _HEADERS / _MESSAGE / math.sqrt(3),
        LATE_LOOK: float(np.median(delays)) / math.sqrt(3),
        **record.clock_budget,
    }
    return compared(check, values, truths, budget, measured.reason)


def _round_trips(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare with the times between messages that leave and come at the first rank's interface.

    What the engine adds to them is at most what passes until its next message.
    """
    settings = f"mode: latency, count: {_TRIPS}, size: {_TRIP_MESSAGE}"
    measured, record = _measure(pair, SENDER, settings, _REPLICATIONS)
    values = measured.values("rtt_mean")
    trips = replication_trips(record.segments(), len(values))
    if len(trips) != len(values) or not trips:
        return without_value(check, measured.reason or _differ(len(values), len(trips)))
    truths = [trip.mean for trip in trips]
    delays = [trip.pause / trip.mean for trip in trips]
    between = {"what passes between two round trips": float(np.mean(delays)) / math.sqrt(3)}
    budget = between | record.clock_budget
    return compared(check, values, truths, budget, measured.reason)


def _messages(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare with the whole messages in the bytes that came: headers make less than one."""
    measured, record = _measure(pair, RECEIVER, _stream(_COUNTED_MESSAGES), 4)
    values, streams = measured.values("sent_messages"), bursts(record.segments(), _COUNTED_MESSAGES)
    if len(streams) != len(values):
        return without_value(check, measured.reason or _differ(len(values), len(streams)))
    whole = sum(burst.payload // _MESSAGE for burst in streams)
    return counted(check, values, whole, measured.reason)


def _stream(count: int) -> str:
    # What is looked at after the stream would delay the receiver's answer.
    return f"mode: stream, size: {_MESSAGE}, count: {count}, verify: false"


def _measure(
    pair: Rig, host: str, settings: str, replications: int
) -> tuple[RigResult, PacketRecord]:
    """Measure, all replications in one job; return what passed the host's interface, too."""
    with recording(pair.transport(host), INTERFACE) as record:
        measured = pair.measure(
            f"  - {{name: mpi, engine: mpi, links: [{LINK}], replications: {replications}, "
            f'order: sequential, set: {{{settings}, pml: ob1, btl: "self,tcp"}}}}\n'
        )
    return measured, record


def _differ(values: int, truths: int) -> str:
    measured = plural(values, "replication was", "replications were")
    return f"{measured} measured and {truths} recorded"


def bursts(rows: NDArray[np.int64], messages: int) -> list[Burst]:
    """Return the streams of at least so many messages that came on a connection.

    A stream came without a word back in between, and the next word is the answer to it.
    """
    turns = np.flatnonzero(np.diff(rows[:, 1])) + 1
    parts = np.split(rows, turns)
    streams = [
        _burst(part, int(answer[0, 0]))
        for part, answer in itertools.pairwise(parts)
        if len(part) and part[0, 1] == 0
    ]
    return [burst for burst in streams if burst.payload >= messages * _MESSAGE]


def _burst(rows: NDArray[np.int64], answered_at: int) -> Burst:
    """Return the stream in rows that came: its clock starts with the last word before its data."""
    first_data = int(np.argmax(rows[:, 5] > _WORD))
    rows = rows[max(0, first_data - 1) :]
    begin = int(rows[0, 6] + rows[0, 5]) if first_data else int(rows[0, 6])
    starts = _offsets(rows[:, 6], begin)
    ends = starts + rows[:, 5]
    last = _delivered(starts.tolist(), ends.tolist())
    began_at, ended_at = int(rows[0, 0]), int(rows[last, 0])
    seconds, answer = (ended_at - began_at) / 1e9, (answered_at - ended_at) / 1e9
    return Burst(seconds, int(ends.max()), answer)


def _offsets(numbers: NDArray[np.int64], begin: int) -> NDArray[np.int64]:
    """Return sequence numbers, which start anew after 2 ** 32, as bytes after `begin`."""
    return (numbers - begin + (1 << 31)) % (1 << 32) - (1 << 31)


def _delivered(starts: Sequence[int], ends: Sequence[int]) -> int:
    """Return the segment with which all bytes were there, as TCP has them in their order."""
    due, last, waiting = 0, 0, dict[int, int]()
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        waiting[start] = max(end, waiting.get(start, end))
        before = due
        while ready := [begin for begin in waiting if begin <= due]:
            due = max(due, *(waiting.pop(begin) for begin in ready))
        if due > before:
            last = index
    return last


def replication_trips(rows: NDArray[np.int64], replications: int) -> list[Trips]:
    """Return the timed round trips of a connection, replication by replication.

    None if so many aren't there, each of a message that leaves and the answer that comes next.
    """
    sizes = rows[:, 5]
    rows = rows[(sizes >= _TRIP_MESSAGE) & (sizes <= _TRIP_MESSAGE + _HEADERS)]
    # TCP may send again what is late, which has the same number.
    firsts = np.unique(rows[:, [1, 6]], axis=0, return_index=True)[1]
    rows = rows[np.sort(firsts)]
    together = _BEFORE + _TRIPS + _AFTER
    # What comes before them is how the engine finds out how long they take.
    rows = rows[max(0, len(rows) - 2 * together * replications) :]
    turns = np.tile([1, 0], together * replications)
    if not np.array_equal(rows[:, 1], turns):
        return []
    stamps = rows[:, 0].reshape(replications, together, 2)
    timed = stamps[:, _BEFORE : _BEFORE + _TRIPS]
    trips = (timed[:, :, 1] - timed[:, :, 0]).mean(axis=1) / 1e9
    pauses = stamps[:, _BEFORE : _BEFORE + _TRIPS + 1, 0] - stamps[:, _BEFORE - 1 : -1, 1]
    # One more than trips: what passes before the first one may belong to it.
    between = pauses.sum(axis=1) / _TRIPS / 1e9
    return [Trips(float(trip), float(pause)) for trip, pause in zip(trips, between, strict=True)]
