"""What the kernel counted at an interface, look by look: the truth about what passed it.

`rail-reference counters` reads the counters on a host, as any user may. It shares no code with the
engines, and says nothing until it is asked to end.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.recording_program import recording_program
from railgauge.hosts.transport.interface import Transport

# A window that a stream passes in has frames of at least so many bytes, and so many on average:
# a control channel's are smaller, and come one by one.
_FRAME = 1000
_MEAN_FRAME = 500
# The pauses between streams are at least so much longer than any within one.
_TELLING = 2.0
# The share of a stream's windows in which all frames have one length.
_PURE = 0.5
# Bytes of IP's and UDP's headers, by IP's version.
_HEADERS = {4: 20 + 8, 6: 40 + 8}
# What a card may count of a frame beside the packet: nothing, IPoIB's header, Ethernet's, and with
# that four bytes of check sum or of a VLAN's tag, or both.
_LINK_HEADERS = (0, 4, 14, 18, 22)
# Bytes of a frame.
_SMALLEST = 42
# Bins of idle time, in s.
_BIN = 0.02

_Counts = NDArray[np.int64]
_Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DirectionCounts:
    """Bytes and packets of one direction, int64 (n,), at looks that began and ended at these s."""

    begins: _Times
    ends: _Times
    octets: _Counts
    packets: _Counts


@dataclass(frozen=True, slots=True)
class CounterRecord:
    """What came in and what left, and by how much the protocols' counters moved meanwhile.

    `protocols` are by name: `Udp.InDatagrams`.
    """

    received: DirectionCounts
    sent: DirectionCounts
    protocols: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FrameLength:
    """How long frames of one payload are: `link` bytes of them are neither IP's nor above it."""

    octets: int
    link: int
    version: int

    @property
    def ip_header(self) -> int:
        """Bytes of IP's header."""
        return 20 if self.version == 4 else 40


@dataclass(frozen=True, slots=True)
class DatagramBounds:
    """How many datagrams there were: those among which nothing else passed, most likely, and as
    many as all bytes have room for.
    """

    least: int
    likely: int
    most: int


@dataclass(frozen=True, slots=True)
class CountedStream:
    """A stream as an interface counted it: its `octets` and `packets` window by window.

    It takes `seconds`, of which `spread` (standard) is uncertain: it began and ended between looks.
    """

    seconds: float
    spread: float
    octets: _Counts
    packets: _Counts


def parse_counters(lines: Sequence[str]) -> CounterRecord:
    """Return the record that rail-reference's lines are; EnvironmentFailedError if not whole."""
    looks = [line.split()[1:] for line in lines if line.startswith("i ")]
    if len(looks) < 2 or lines[-1] != "done":
        raise EnvironmentFailedError("the record of an interface's counters isn't whole")
    begins, ends = np.array([look[:2] for look in looks], np.float64).T
    counts = np.array([look[2:] for look in looks], np.int64)
    return CounterRecord(
        DirectionCounts(begins, ends, counts[:, 0], counts[:, 1]),
        DirectionCounts(begins, ends, counts[:, 2], counts[:, 3]),
        _protocols(lines),
    )


def _protocols(lines: Sequence[str]) -> dict[str, int]:
    """Return by how much each counter moved from the first look at it to the last."""
    pairs: dict[str, list[list[str]]] = {}
    for line in lines:
        protocol, colon, words = line.partition(": ")
        if colon:
            pairs.setdefault(protocol, []).append(words.split())
    moved = {}
    for protocol, rows in pairs.items():
        for name, first, last in zip(rows[0], rows[1], rows[-1], strict=True):
            moved[f"{protocol}.{name}"] = int(last) - int(first)
    return moved


def counted_streams(counts: DirectionCounts, number: int) -> list[CountedStream]:
    """Return the `number` streams that passed, in their order.

    EnvironmentFailedError where they can't be distinguished, since something else passed, or since
    the card counts only from time to time.
    """
    octets, packets = np.diff(counts.octets), np.diff(counts.packets)
    carrying = np.flatnonzero((octets >= _FRAME) & (octets >= _MEAN_FRAME * packets))
    if not number or len(carrying) < 2 * number:
        raise EnvironmentFailedError(f"the interface's counters don't show {number} streams")
    pauses = np.diff(counts.ends[carrying])
    order = np.argsort(pauses)
    cuts = np.sort(order[len(order) - (number - 1) :])
    longest = float(pauses[order[len(order) - number]])
    if len(cuts) and pauses[cuts].min() < _TELLING * longest:
        raise EnvironmentFailedError(
            "no pauses between the streams: other traffic passes the interface, or its counters "
            "move only from time to time"
        )
    return [_stream(counts, part[0], part[-1]) for part in np.split(carrying, cuts + 1)]


def _stream(counts: DirectionCounts, first: int, last: int) -> CountedStream:
    """Return the stream from one window to another: window i is what came from look i to i + 1.

    Its first frame may be in a window before, in which others were many, its last one in one after.
    """
    octets, packets = np.diff(counts.octets), np.diff(counts.packets)
    before, after = int(first), int(last)
    while before > 0 and octets[before - 1] >= _FRAME:
        before -= 1
    while after + 1 < len(octets) and octets[after + 1] >= _FRAME:
        after += 1
    begin = counts.begins[before], counts.ends[first + 1]
    end = counts.begins[last], counts.ends[after + 1]
    seconds = float(sum(end) - sum(begin)) / 2
    spread = math.hypot(begin[1] - begin[0], end[1] - end[0]) / math.sqrt(12)
    if seconds <= 0:
        raise EnvironmentFailedError("a stream is shorter than the time between two looks at it")
    whole = slice(before, after + 1)
    return CountedStream(seconds, spread, octets[whole], packets[whole])


def frame_length(streams: Sequence[CountedStream], payload: int) -> FrameLength:
    """Return what the card counts of a datagram with so much payload, from most of the windows.

    EnvironmentFailedError where no header that we know explains it.
    """
    octets = np.concatenate([stream.octets for stream in streams])
    packets = np.concatenate([stream.packets for stream in streams])
    octets, packets = octets[packets > 0], packets[packets > 0]
    lengths, numbers = np.unique(octets // packets, return_counts=True)
    length = int(lengths[numbers.argmax()])
    if np.mean(octets == length * packets) < _PURE:
        raise EnvironmentFailedError(
            "the interface counts frames of many lengths while datagrams of one pass: other "
            "traffic, or a card that counts in a way of its own"
        )
    for version, headers in _HEADERS.items():
        link = length - payload - headers
        if link in _LINK_HEADERS:
            return FrameLength(length, link, version)
    raise EnvironmentFailedError(
        f"the interface counts {length} bytes for a datagram of {payload}, which no header explains"
    )


def datagrams(stream: CountedStream, frame: FrameLength) -> _Counts:
    """Return how many frames of this length each window most likely has, int64 (n,).

    As few of others as its bytes allow are among them: control segments are small.
    """
    missing = stream.packets * frame.octets - stream.octets
    strangers: _Counts = np.clip(-(-missing // (frame.octets - _SMALLEST)), 0, stream.packets)
    return stream.packets - strangers


def foreign_share(streams: Sequence[CountedStream], frame: FrameLength) -> float:
    """Return the share of bytes that aren't in frames of this length.

    A window with longer ones isn't known to have any of them.
    """
    foreign = 0
    for stream in streams:
        other = stream.octets - datagrams(stream, frame) * frame.octets
        longer = stream.octets > stream.packets * frame.octets
        foreign += int(np.where(longer, stream.octets, other).sum())
    return foreign / sum(int(stream.octets.sum()) for stream in streams)


def idle_share(counts: DirectionCounts, streams: Sequence[CountedStream]) -> float:
    """Return what passes in most of the time beside the streams, as a share of their rate.

    Of bins of idle time the median: what starts and ends programs there passes in a few of them.
    """
    moments = np.arange(counts.ends[0], counts.ends[-1], _BIN)
    rates = np.diff(np.interp(moments, counts.ends, counts.octets)) / _BIN
    rate = sum(s.octets.sum() for s in streams) / sum(s.seconds for s in streams)
    idle = rates[rates < rate / 2]
    return float(np.median(idle) / rate) if len(idle) else 1.0


def datagram_bounds(streams: Sequence[CountedStream], frame: FrameLength) -> DatagramBounds:
    """Return how many frames of this length passed."""
    pure = (s.packets[s.octets == s.packets * frame.octets].sum() for s in streams)
    return DatagramBounds(
        int(sum(pure)),
        sum(int(datagrams(stream, frame).sum()) for stream in streams),
        sum(int(stream.octets.sum()) for stream in streams) // frame.octets,
    )


@contextlib.contextmanager
def counting(
    transport: Transport, engines: str, interface: str
) -> Iterator[Callable[[], CounterRecord]]:
    """Read the counters of `interface` on the transport's host, until what it gives is called.

    `engines` is the folder of the programs there. EnvironmentFailedError if it can't be read.
    """
    argv = [f"{engines}/rail-reference", "counters", interface]
    with recording_program(transport, argv, "counters") as end:
        yield lambda: parse_counters(end())
