"""Series within a replication: what each end had counted by the end of each interval.

docs/trace.md gives the format, `RGI1`. Bytes come from another machine or a file: whatever is wrong
with them is a TraceError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railgauge.base.arrays import NDArray, np
from railgauge.base.trace import inflated
from railgauge.base.varints import invalid, read_header, read_numbers, signed, varints, zigzag

MAGIC = b"RGI1"
# By their numbers in the format.
QUANTITIES: tuple[str, ...] = (
    "sent_bytes",
    "retransmits",
    "congestion_window",
    "rtt",
    "received_bytes",
    "sent_packets",
    "received_packets",
    "lost_packets",
)
# What was so at the end of an interval; all else is counted.
STATES = frozenset({"congestion_window", "rtt"})
# Of those that have one: the unit, and how many of it one reading is.
UNITS: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys(("sent_bytes", "received_bytes", "congestion_window"), ("B", 1)),
    "rtt": ("s", 1e-9),
}
_MOST_ROWS = 100_000
# ns: a day, as parameters have it; and 36 years.
_LONGEST, _FARTHEST = 86_400 * 10**9, 2**60


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """One quantity at the end of each interval: `ends` int64 (n,), ns since its end's first begin.

    `readings` int64 (n,): what was counted since then, bytes or packets; or a state, bytes or ns.
    The first `omitted` of them are of the omitted part.
    """

    ends: NDArray[np.int64]
    readings: NDArray[np.int64]
    omitted: int

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return what was counted in each interval, int64 (n,)."""
        return np.diff(self.readings, prepend=0)

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Return how long each interval was, float64 (n,)."""
        return np.diff(self.ends, prepend=0) * 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """A replication's: `length` and `omit` in ns, and the quantities by their names."""

    length: int
    omit: int
    columns: Mapping[str, Readings]

    @property
    def rows(self) -> int:
        """Return how many intervals the end has that has the most."""
        return max(len(column.ends) for column in self.columns.values())

    @property
    def sent(self) -> int:
        """Return how many bytes, or datagrams, were sent in all."""
        return self._total("sent_bytes", "sent_packets")

    @property
    def arrived(self) -> int:
        """Return how many of them arrived."""
        return self._total("received_bytes", "received_packets")

    def _total(self, *names: str) -> int:
        return sum(int(self.columns[name].readings[-1]) for name in names if name in self.columns)


def decode(data: bytes) -> Intervals:
    """Return the series in `data`, version RGI1; TraceError when it isn't exactly one."""
    if not data.startswith(MAGIC):
        raise invalid(f"it begins with {data[:4]!r} and not with {MAGIC!r}")
    (length, omit, count), start = read_header(data, 3)
    if not 0 < length <= _LONGEST or omit > _LONGEST or not 0 < count <= len(QUANTITIES):
        raise invalid(f"it has {count} columns of intervals of {length} ns")
    header, start = read_header(data, 3 * count, start)
    numbers, rows, elapsed = header[::3], header[1::3], header[2::3]
    omitted = -(-omit // length)
    if len({*numbers}) < count or max(numbers) >= len(QUANTITIES):
        raise invalid(f"its columns are {numbers}")
    if not omitted < min(rows) or max(rows) > _MOST_ROWS:
        raise invalid(f"it has {min(rows)} to {max(rows)} intervals")
    if max(elapsed) > _FARTHEST:
        raise invalid("it lasts more than 36 years")
    steps = signed(read_numbers(data, start, sum(rows)))
    columns = {}
    places = np.cumsum(rows)
    for number, duration, part in zip(numbers, elapsed, np.split(steps, places[:-1]), strict=True):
        ends = _ends(length, omit, omitted, len(part), duration)
        columns[QUANTITIES[number]] = Readings(ends, np.cumsum(part), omitted)
    return Intervals(length, omit, columns)


def encode(intervals: Intervals) -> bytes:
    """Return the bytes that `decode` makes `intervals` of, which have to be consistent."""
    header = [intervals.length, intervals.omit, len(intervals.columns)]
    for name, column in intervals.columns.items():
        header += [QUANTITIES.index(name), len(column.ends), int(column.ends[-1])]
    steps = np.concatenate([column.counts for column in intervals.columns.values()])
    return MAGIC + varints(np.array(header, np.uint64)) + varints(zigzag(steps))


def unpack(blob: bytes) -> Intervals:
    """Return the series that the store keeps as `blob`; TraceError when it holds none."""
    return decode(inflated(blob))


def _ends(length: int, omit: int, omitted: int, rows: int, elapsed: int) -> NDArray[np.int64]:
    """Return when each interval ended; the last one is a shorter or a longer one."""
    ends = np.arange(1, rows + 1) * length
    ends[omitted:] += omit - omitted * length
    ends[omitted - 1 : omitted] = omit
    ends[-1] = elapsed
    if rows > 1 and ends[-2] > elapsed:
        raise invalid("its last interval ends before it begins")
    return ends
