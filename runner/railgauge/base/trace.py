"""Traces: the number and times of each arrival or round trip, as the engines' bytes and as arrays.

docs/trace.md gives the format, `RGT1`. Bytes come from another machine or a file: whatever is wrong
with them is a TraceError, and what they make us allocate is bounded by their length.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from railgauge.base.arrays import NDArray, np
from railgauge.base.varints import (
    VARINT_BYTES,
    invalid,
    read_header,
    read_numbers,
    signed,
    varints,
    zigzag,
)

MAGIC = b"RGT1"
MAX_RECORDED = 10_000_000
_HEADER_NUMBERS = 6
MAX_BYTES = len(MAGIC) + VARINT_BYTES * (_HEADER_NUMBERS + 3 * MAX_RECORDED)
# Times relative to the first, in ns: 36 years, so that no difference of two differences overflows.
_FARTHEST = 2**60
# Of RFC 3550's sum the terms before the last 1024 weigh less than 10^-28 together.
_JITTER_TERMS = 1024

TraceClock = Literal["monotonic", "realtime", "sender", "realtime-both"]
_CLOCKS: tuple[TraceClock, ...] = ("monotonic", "realtime", "sender", "realtime-both")
# Of a fit of the clocks' skew: points at least and most, and what no clock differs by (adjtimex).
_FEWEST_POINTS, _MOST_POINTS = 16, 1000
_LARGEST_SKEW = 5e-4


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The first n arrivals of a replication, in order of arrival, duplicates included; or answers.

    `sequence` int64 (n,): numbers from 0, below `sent`. `received` and `sent_at` int64 (n,): ns
    since the first arrival's own; negative where a datagram overtook it or a stamp is out of order.
    `first_received` and `first_sent`: ns, each by its end's clock; 0 without arrivals. `clock` is
    the receiver's: CLOCK_MONOTONIC_RAW read by it, or CLOCK_REALTIME as its kernel stamped, with
    which the sender stamped, too (`realtime-both`), or not (`realtime`, by earlier engines); or the
    `sender`'s own, who timed round trips: `sent_at` is when each was due, `received` its end.
    `sent` datagrams left the sender, `arrived` reached the receiver in all, at least n.
    """

    clock: TraceClock
    sent: int
    arrived: int
    sequence: NDArray[np.int64]
    received: NDArray[np.int64]
    sent_at: NDArray[np.int64]
    first_received: int
    first_sent: int


def decode(data: bytes) -> Trace:
    """Return the trace in `data`, version RGT1; TraceError when it isn't exactly one."""
    if not data.startswith(MAGIC):
        raise invalid(f"it begins with {data[:4]!r} and not with {MAGIC!r}")
    if len(data) > MAX_BYTES:
        raise invalid(f"its {len(data)} bytes are more than the largest has")
    header, start = read_header(data, _HEADER_NUMBERS)
    clock, sent, arrived, recorded, first_received, first_sent = header
    if clock >= len(_CLOCKS):
        raise invalid(f"it names an unknown clock, {clock}")
    if recorded > min(arrived, MAX_RECORDED):
        raise invalid(f"it records {recorded} of {arrived} arrivals, {MAX_RECORDED} at most")
    if not recorded and (first_received or first_sent):
        raise invalid("it has a first time without an arrival")
    columns = read_numbers(data, start, 3 * recorded).reshape(recorded, 3)
    return Trace(
        clock=_CLOCKS[clock],
        sent=sent,
        arrived=arrived,
        sequence=_sequence(signed(columns[:, 0]), sent),
        received=_times(signed(columns[:, 1])),
        sent_at=_times(signed(columns[:, 2])),
        first_received=first_received,
        first_sent=first_sent,
    )


def encode(trace: Trace) -> bytes:
    """Return the bytes that `decode` makes `trace` of; the trace has to be a consistent one."""
    header = (
        _CLOCKS.index(trace.clock),
        trace.sent,
        trace.arrived,
        len(trace.sequence),
        trace.first_received,
        trace.first_sent,
    )
    columns = np.empty((len(trace.sequence), 3), np.int64)
    columns[:, 0] = np.diff(trace.sequence, prepend=-1) - 1
    columns[:, 1] = np.diff(trace.received, prepend=0)
    columns[:, 2] = np.diff(trace.sent_at, prepend=0)
    return MAGIC + varints(np.array(header, np.uint64)) + varints(zigzag(columns.reshape(-1)))


def pack(data: bytes) -> bytes:
    """Return a trace's bytes as the store keeps them: compressed by zlib."""
    # Level 1: as small as the default, within 1 %, and twice as fast (5 million arrivals: 0.6 s).
    return zlib.compress(data, 1)


def unpack(blob: bytes) -> Trace:
    """Return the trace that the store keeps as `blob`; TraceError when it holds none."""
    return decode(inflated(blob))


def inflated(blob: bytes) -> bytes:
    """Return the bytes that `pack` made `blob` of; TraceError when it didn't."""
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(blob, MAX_BYTES + 1)
    except zlib.error as error:
        raise invalid(f"it cannot be decompressed: {error}") from error
    if len(data) <= MAX_BYTES and not inflater.eof:
        raise invalid("its compressed form is cut off")
    if inflater.unused_data:
        raise invalid("more bytes follow its compressed form")
    return data


def loss_runs(trace: Trace) -> NDArray[np.int64]:
    """Return each stretch of numbers that never arrived: rows of (number before it, length).

    int64 (k, 2), ascending; the number before is −1 for a loss from the very start. When not all
    arrivals are recorded, nothing is known above the highest recorded number and nothing is said.
    """
    complete = len(trace.sequence) == trace.arrived
    # Nearly sorted, which the stable sort makes use of.
    numbers = np.sort(trace.sequence, kind="stable")
    ends = np.array([trace.sent] if complete else [], np.int64)
    bounds = np.concatenate((np.array([-1], np.int64), numbers, ends))
    lost = np.diff(bounds) - 1
    runs = np.flatnonzero(lost > 0)
    return np.stack((bounds[runs], lost[runs]), axis=1)


def jitter(trace: Trace) -> float:
    """Return RFC 3550's interarrival jitter (section 6.4.1) after the last arrival, in seconds.

    J += (|D| − J) / 16 from J = 0, with D the change in transit time between one arrival and the
    next; the clocks' offset cancels out. NaN with fewer than two arrivals.
    """
    changes = transit_changes(trace)[-_JITTER_TERMS:].astype(np.float64)
    if not len(changes):
        return float("nan")
    weights = (15 / 16) ** np.arange(len(changes))[::-1] / 16
    return float(changes @ weights) * 1e-9


def interarrival(trace: Trace) -> NDArray[np.int64]:
    """Return the ns from each arrival to the next, int64 (n − 1,); negative for stamps in disorder.

    Empty with fewer than two arrivals.
    """
    return np.diff(trace.received)


def transits(trace: Trace) -> NDArray[np.int64]:
    """Return the ns from each send to its arrival, int64 (n,), by the two ends' clocks.

    Of a trace by the `sender`'s clock these are round trips. Of others they are one-way delays plus
    what the receiver's clock is ahead of the sender's, which is the same for all but for drift.
    """
    first = trace.first_received - trace.first_sent
    return trace.received - trace.sent_at + first


def relative_delays(trace: Trace) -> NDArray[np.int64]:
    """Return by how many ns each one-way delay is above the smallest, int64 (n,).

    The clocks' offset cancels out, and what they drift apart is removed as far as it is certain: a
    skew of more than twice its error and at most 5e-4.
    """
    drift: NDArray[np.int64] = np.rint(certain_skew(trace) * trace.sent_at).astype(np.int64)
    transit: NDArray[np.int64] = trace.received - trace.sent_at - drift
    return transit - transit.min() if len(transit) else transit


def clock_skew(trace: Trace) -> tuple[float, float]:
    """Return by how much the receiver's clock is faster than the sender's, and the standard error.

    1e-6 is a microsecond a second. It is the slope of the line below the transits that is nearest
    to them (Moon, Skelly and Towsley, INFOCOM 1999), of which the quickest of 1000 stretches each
    are looked at; its error is half of what two halves differ by. NaN with fewer than 16 of them.
    """
    arrivals = len(trace.sequence)
    transit, points = trace.received - trace.sent_at, list[tuple[float, float]]()
    stretches = min(arrivals, _MOST_POINTS)
    edges = [number * arrivals // stretches for number in range(stretches + 1)] if arrivals else []
    for start, end in pairwise(edges):
        at = start + int(transit[start:end].argmin())
        sent = float(trace.sent_at[at])
        if not points or sent > points[-1][0]:
            points.append((sent, float(transit[at])))
    if len(points) < _FEWEST_POINTS:
        return math.nan, math.nan
    half = len(points) // 2
    error = abs(_slope_below(points[:half]) - _slope_below(points[half:])) / 2
    return _slope_below(points), error


def certain_skew(trace: Trace) -> float:
    """Return the clocks' skew where it is certain and no more than clocks differ by; else 0."""
    skew, error = clock_skew(trace)
    return skew if 2 * error < abs(skew) <= _LARGEST_SKEW else 0.0


def bounded_skew(trace: Trace) -> tuple[float, float]:
    """Return the clocks' skew and what it may be wrong by at most: twice its standard error.

    Where that is more than clocks differ by, 0 and what they may.
    """
    skew, error = clock_skew(trace)
    return (skew, 2 * error) if abs(skew) + 2 * error <= _LARGEST_SKEW else (0.0, _LARGEST_SKEW)


def _slope_below(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the points' lower hull where it spans their mean."""
    hull: list[tuple[float, float]] = []
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            hull.pop()
        hull.append((x, y))
    mean = sum(x for x, _ in points) / len(points)
    (x0, y0), (x1, y1) = next(
        (edge for edge in pairwise(hull) if edge[1][0] >= mean), (hull[-2], hull[-1])
    )
    return (y1 - y0) / (x1 - x0)


def transit_changes(trace: Trace) -> NDArray[np.int64]:
    """Return by how many ns each transit differs from the one before, int64 (n − 1,), without sign.

    RFC 3550's |D| (section 6.4.1), of which `jitter` is a moving average: how far each gap between
    two arrivals deviates from the gap between their sends. Empty with fewer than two arrivals.
    """
    return np.abs(np.diff(trace.received - trace.sent_at))


def _sequence(steps: NDArray[np.int64], sent: int) -> NDArray[np.int64]:
    """Return the numbers that `steps` lead to, each from the one expected next."""
    # A sum that wrapped can't be in range: two numbers in range are less than 2^63 apart, so the
    # step between them is their true difference.
    following = np.cumsum(steps + 1)
    outside = np.flatnonzero((following < 1) | (following > sent))
    if len(outside):
        raise invalid(
            f"arrival {int(outside[0]) + 1} has a number that none of the {sent} datagrams sent had"
        )
    return following - 1


def _times(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(steps) and steps[0]:
        raise invalid("its first arrival is not the one that its times count from")
    # What wrapped is out of range, as above.
    times = np.cumsum(steps)
    if len(times) and (times.max() > _FARTHEST or times.min() < -_FARTHEST):
        raise invalid("its arrivals are more than 36 years apart")
    return times
