"""Puts together what rail-watch says: its counters' values, and what they counted in intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import EngineError
from railgauge.base.systemlog import Phase, SystemLog, TimeSeries
from railgauge.engine.watch.watch_events import (
    CounterNames,
    Gone,
    Labels,
    Line,
    Ready,
    WatchMark,
    WatchSample,
)

# Samples of one interval that are kept; with more, each two become one, again and again.
_MOST_SAMPLES = 4_000
# What the kernel takes back a part of by itself, proc_stat(5) warns: no reset.
_CORRECTED = re.compile(r"cpu/(?:all|[0-9]+)/(?:idle|iowait)", re.ASCII)

# When, and what changed: a row a counter, of its index and its difference.
_Changes = NDArray[np.int64]
_Sample = tuple[float, _Changes]


@dataclass(slots=True)
class _Interval:
    """An interval that has begun: what was counted then, and the samples since.

    What marks counted since the last of these is `pending`: the next one's, as they are none.
    """

    began: WatchMark
    values: list[int]
    samples: list[_Sample] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    reset: set[int] = field(default_factory=set)
    ended: int = 0


@dataclass(slots=True)
class WatchRecord:
    """What one rail-watch has said so far.

    `logs` are what was counted in the replications that have ended, by launch and replication,
    `own` around the run, by phase.
    """

    host: str
    ready: Ready | None = None
    logs: dict[tuple[int, int], SystemLog] = field(default_factory=dict)
    own: dict[Phase, SystemLog] = field(default_factory=dict)
    _ends: dict[int, int] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)
    _gauges: set[int] = field(default_factory=set)
    _corrected: set[int] = field(default_factory=set)
    _dead: set[int] = field(default_factory=set)
    _labels: dict[str, str] = field(default_factory=dict)
    _values: list[int] = field(default_factory=list)
    _open: dict[tuple[int, int], _Interval] = field(default_factory=dict)
    _idle: _Interval | None = None
    _at: float = 0.0

    def take(self, line: Line) -> None:
        """Take note of a line; EngineError `contract` where it contradicts those before."""
        if self.ready is None and not isinstance(line, Ready):
            raise EngineError("contract", f"rail-watch on {self.host} was not ready")
        match line:
            case Ready():
                self.ready = line
            case CounterNames():
                self._add_counters(line)
            case Labels():
                self._labels.update(line.labels)
            case Gone():
                self._dead.update(line.indices)
            case WatchSample():
                self._apply(line)
            case WatchMark():
                self._apply(line)
                self._mark(line)

    def expect(self, launch: int, ends: int) -> None:
        """Take note that so many ends on this machine will mark each replication of a launch."""
        self._ends[launch] = ends

    def forget(self, launch: int) -> None:
        """Drop what there is of a launch that is over."""
        self._ends.pop(launch, None)
        self.logs = {key: log for key, log in self.logs.items() if key[0] != launch}
        self._open = {key: interval for key, interval in self._open.items() if key[0] != launch}

    def _add_counters(self, line: CounterNames) -> None:
        if line.first != len(self._names):
            raise EngineError("contract", f"rail-watch on {self.host} left out counters")
        self._names.extend(line.names)
        for index, name in enumerate(line.names, line.first):
            if index in line.gauges:
                self._gauges.add(index)
            elif _CORRECTED.fullmatch(name):
                self._corrected.add(index)
        self._values.extend([0] * len(line.names))

    def _apply(self, line: WatchSample | WatchMark) -> None:
        if line.at < self._at:
            raise EngineError("contract", f"rail-watch on {self.host} went back in time")
        self._at = line.at
        changed, values, fell = line.changed, self._values, []
        try:
            for index, difference in zip(changed[::2], changed[1::2], strict=True):
                values[index] += difference
                if difference < 0 and index not in self._corrected:
                    fell.append(index)
        except IndexError:
            raise EngineError(
                "contract", f"rail-watch on {self.host} counted what it never named"
            ) from None
        if self._idle is not None:
            self._idle.reset.update(fell)
        for interval in self._open.values():
            interval.reset.update(fell)
            interval.pending.extend(changed)
            if isinstance(line, WatchSample):
                _keep_sample(interval, line.at)

    def _mark(self, mark: WatchMark) -> None:
        if mark.launch is None or mark.replication is None:
            self._mark_own(mark)
        elif mark.launch in self._ends:
            self._mark_replication((mark.launch, mark.replication), mark)

    def _mark_replication(self, key: tuple[int, int], mark: WatchMark) -> None:
        """Open an interval or end it: with two ends on one machine, from the first to the last."""
        if mark.label == "begin":
            self._open.setdefault(key, _Interval(mark, self._values.copy()))
        elif mark.label == "end" and (interval := self._open.get(key)):
            interval.ended += 1
            if interval.ended == self._ends[key[0]]:
                del self._open[key]
                _keep_sample(interval, mark.at)
                self.logs[key] = self._log(interval, mark, "replication")

    def _mark_own(self, mark: WatchMark) -> None:
        """Take a mark of ours: `before` and `after` end what the one before, `idle`, began."""
        if self._idle is not None and mark.label in ("before", "after"):
            phase: Phase = "before" if mark.label == "before" else "after"
            self.own[phase] = self._log(self._idle, mark, phase)
        self._idle = _Interval(mark, self._values.copy())

    def _log(self, interval: _Interval, ended: WatchMark, phase: Phase) -> SystemLog:
        assert self.ready is not None
        began, names, values = interval.began, self._names, self._values
        # Those that came meanwhile have no value from before.
        counters = enumerate(zip(names, values, interval.values, strict=False))
        left_out = self._gauges | self._dead | interval.reset
        counts = {
            name: value - before
            for index, (name, value, before) in counters
            if value > before and index not in left_out
        }
        gauges = {names[index]: values[index] for index in sorted(self._gauges - self._dead)}
        return SystemLog(
            self.host,
            phase,
            self.ready.started_at + began.at,
            ended.at - began.at,
            self.ready.ticks_per_second,
            counts,
            gauges,
            self._labels_of(counts),
            self._series(interval, counts, gauges),
        )

    def _labels_of(self, counts: Mapping[str, int]) -> dict[str, str]:
        labelled = {name.rpartition("/")[0] for name in counts if name.startswith("interrupt/")}
        return {name: self._labels[name] for name in sorted(labelled) if name in self._labels}

    def _series(
        self, interval: _Interval, counts: Mapping[str, int], gauges: Mapping[str, int]
    ) -> TimeSeries | None:
        """Return the samples of the counters that moved and of the gauges that changed."""
        began, before, samples = interval.began, interval.values, interval.samples
        if len(samples) < 2:  # the last is the end itself
            return None
        moved = np.zeros(len(self._names), dtype=np.bool_)
        for _, changes in samples:
            moved[changes[:, 0]] = True
        columns = [
            index
            for index in np.flatnonzero(moved[: len(before)]).tolist()
            if index not in self._dead
            and (self._names[index] in counts or self._names[index] in gauges)
        ]
        place = np.full(len(self._names), -1)
        place[columns] = np.arange(len(columns))
        values: NDArray[np.int64] = np.zeros((len(samples) + 1, len(columns)), dtype=np.int64)
        times = np.zeros(len(samples) + 1)
        for at, index in enumerate(columns):
            values[0, at] = _signed(before[index]) if index in self._gauges else 0
        for row, (when, changes) in enumerate(samples, 1):
            times[row] = when - began.at
            at_columns = place[changes[:, 0]]
            selected = at_columns >= 0
            np.add.at(values[row], at_columns[selected], changes[selected, 1])
        np.cumsum(values, axis=0, out=values)
        return TimeSeries(times, tuple(self._names[index] for index in columns), values)


def _signed(value: int) -> int:
    """Return the number of 64 bits that stands for `value` where sums overflow."""
    return (value + 2**63) % 2**64 - 2**63


def _keep_sample(interval: _Interval, at: float) -> None:
    """Make a sample of what is pending."""
    interval.samples.append((at, np.array(interval.pending, dtype=np.int64).reshape(-1, 2)))
    interval.pending = []
    if len(interval.samples) > _MOST_SAMPLES:
        samples = interval.samples
        pairs = zip(samples[::2], samples[1::2], strict=False)
        interval.samples = [(second[0], _sum(first[1], second[1])) for first, second in pairs]
        interval.samples += samples[len(samples) & ~1 :]


def _sum(first: _Changes, second: _Changes) -> _Changes:
    """Return what changed in both together, each counter once."""
    rows = np.concatenate((first, second))
    indices, places = np.unique(rows[:, 0], return_inverse=True)
    total = np.stack((indices, np.zeros_like(indices)), axis=1)
    np.add.at(total[:, 1], places, rows[:, 1])
    return total
