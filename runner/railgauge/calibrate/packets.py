"""What passed an interface, packet by packet: the truth about throughputs and round trips.

`packet_recorder.py` records it in the host's network namespace; it shares no code with the engines.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.recording_program import recording_program
from railgauge.hosts.transport.interface import Transport

_RECORDER = Path(__file__).with_name("packet_recorder.py")
# As many packets are kept: 256 MiB of them.
_SLOTS = 1 << 20
_PROTOCOLS = {"udp": 17, "tcp": 6}
# Between two streams nothing comes for longer than this, in ns.
_PAUSE = 50_000_000
_FIN = 1
# Less is no stream, but the control channel.
_STREAM = 200_000


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as it came in: from its first packet to its last one, in s; the payload after the
    first packet, in bytes, each of them counted once; and its packets.
    """

    seconds: float
    payload: int
    packets: int


@dataclass(slots=True)
class PacketRecord:
    """The packets of an interface: int64 (n, 8), as the recorder's lines have them.

    Stamp (ns), whether it left, protocol, ports, payload bytes, number, flags. The clock of the
    stamps and the engines' went apart by the share `clocks_apart` meanwhile.
    """

    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 8), np.int64))
    clocks_apart: float = math.inf

    @property
    def clock_budget(self) -> dict[str, float]:
        """The standard uncertainty of a time between two stamps by the engines' clock, a share."""
        return {"the clocks' rates": self.clocks_apart / math.sqrt(3)}

    def streams(self, protocol: str) -> list[Stream]:
        """Return the streams of `udp` or `tcp` that came in, in their order."""
        rows = self._of(protocol)
        rows = rows[(rows[:, 1] == 0) & (rows[:, 5] > 0)]
        parts = []
        for flow in _flows(rows):
            breaks = np.flatnonzero(np.diff(flow[:, 0]) > _PAUSE) + 1
            parts += [part for part in np.split(flow, breaks) if part[:, 5].sum() > _STREAM]
        return [_stream(part) for part in sorted(parts, key=lambda part: int(part[0, 0]))]

    def round_trips(self, payload: int | None = None) -> list[float]:
        """Return the seconds from each datagram that left to the next one that came.

        With `payload` of those that have so many bytes of it.
        """
        rows = self._of("udp")
        if payload is not None:
            rows = rows[rows[:, 5] == payload]
        requests, replies = rows[:-1], rows[1:]
        trips = (requests[:, 1] == 1) & (replies[:, 1] == 0)
        return [float(trip) for trip in (replies[trips, 0] - requests[trips, 0]) / 1e9]

    def numbered_streams(self, payload: int, *, left: bool) -> list[NDArray[np.int64]]:
        """Return number and stamp (ns) of each datagram of so many bytes that left, or came.

        int64 (n, 2) for each stream, in their order; a stream begins with number 0.
        """
        rows = self._of("udp")
        flow = rows[(rows[:, 1] == int(left)) & (rows[:, 5] == payload)][:, [6, 0]]
        return np.split(flow, np.flatnonzero(flow[:, 0] == 0))[1:]

    def control_retransmits(self) -> int:
        """Return how many segments left again on connections that carry no stream.

        Of what takes a number: payload, and the begin and end of a connection.
        """
        return sum(map(_repeated, self._numbered_flows(streams=False)))

    def repeated_ends(self) -> int:
        """Return how often the end of a stream, a segment without payload, left again."""
        flows = self._numbered_flows(streams=True)
        return sum(_repeated(flow[(flow[:, 5] == 0) & (flow[:, 7] & _FIN > 0)]) for flow in flows)

    def _numbered_flows(self, *, streams: bool) -> list[NDArray[np.int64]]:
        """Return what left and takes a number, of connections that carry streams or that don't."""
        rows = self._of("tcp")
        flows = _flows(rows[(rows[:, 1] == 1) & ((rows[:, 5] > 0) | (rows[:, 7] > 0))])
        return [flow for flow in flows if (flow[:, 5].sum() >= _STREAM) == streams]

    def segments(self) -> NDArray[np.int64]:
        """Return the segments with a payload, both ways, of the connection that carried most.

        int64 (n, 8), as the recorder's lines have them.
        """
        rows = self._of("tcp")
        rows = rows[rows[:, 5] > 0]
        if not len(rows):
            return rows
        ports = np.sort(rows[:, 3:5], axis=1)
        flows = [rows[(ports == pair).all(axis=1)] for pair in np.unique(ports, axis=0)]
        rows = max(flows, key=lambda flow: int(flow[:, 5].sum()))
        return rows

    def _of(self, protocol: str) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = self.rows[self.rows[:, 2] == _PROTOCOLS[protocol]]
        return rows


def _repeated(rows: NDArray[np.int64]) -> int:
    return len(rows) - len(np.unique(rows[:, 6]))


def _flows(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of each pair of ports."""
    pairs = np.unique(rows[:, 3:5], axis=0)
    return [rows[(rows[:, 3:5] == ports).all(axis=1)] for ports in pairs]


def timed_round_trips(trips: list[float], replications: int, count: int) -> list[list[float]]:
    """Return each replication's `count` round trips, without the first, which engines don't time.

    Empty if there are not exactly so many.
    """
    whole = count + 1
    if len(trips) != replications * whole:
        return []
    return [trips[first + 1 : first + whole] for first in range(0, len(trips), whole)]


def _stream(rows: NDArray[np.int64]) -> Stream:
    if rows[0, 2] == _PROTOCOLS["tcp"]:
        # What is sent again counts once; numbers start anew after 2 ** 32.
        ends = (rows[:, 6] + rows[:, 5] - rows[0, 6] - rows[0, 5]) & 0xFFFFFFFF
        ends[ends >= 1 << 31] = 0
        last = int(ends.argmax())
        payload = int(ends[last])
    else:
        last = len(rows) - 1
        payload = int(rows[1:, 5].sum())
    return Stream(float(rows[last, 0] - rows[0, 0]) / 1e9, payload, len(rows))


@contextlib.contextmanager
def recording(
    transport: Transport, interface: str, *, python: str = sys.executable, slots: int = _SLOTS
) -> Iterator[PacketRecord]:
    """Record what passes `interface` of the transport's host, until the block ends.

    `python` is a Python there, and `slots` as many packets are kept. EnvironmentFailedError where
    that isn't allowed.
    """
    program = _RECORDER.read_text(encoding="utf-8")
    argv = [python, "-S", "-c", program, interface, str(slots)]
    with recording_program(transport, argv, "packets") as end:
        record = PacketRecord()
        yield record
        lines = end()
    dropped, wall, raw = map(int, lines.pop().split())
    if dropped:
        raise EnvironmentFailedError("packets came faster than they could be recorded")
    record.clocks_apart = abs(wall / raw - 1)
    record.rows = np.array([line.split() for line in lines], np.int64).reshape(-1, 8)
