"""What a host did within its replications, over time: CPU load, interface throughput, interrupts.

A line's value over a stretch is what was counted in it over its length, so it is drawn as steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railgauge.base.characters import visible
from railgauge.base.derived import CPU_KINDS, idle_kinds
from railgauge.base.intervals import Intervals
from railgauge.base.number import best_unit, plain_number, scale
from railgauge.base.systemlog import SystemLog, TimeSeries
from railgauge.plan.cases import Case
from railgauge.report.figures.kinds.interval_series import (
    LOSSES,
    RETRANSMITS,
    RTT,
    THROUGHPUT,
    WINDOW,
    outline,
)

# Fewer samples than this show nothing that the totals don't.
_FEWEST = 3
# More steps than this across a figure can't be distinguished.
_MOST_STEPS = 100

Steps = NDArray[np.float64]
Rates = Callable[[TimeSeries], NDArray[np.float64] | None]
Quantities = tuple[tuple[str, Rates], ...]
_OF_SIDE = {"server": (THROUGHPUT, LOSSES), "client": (RTT, WINDOW, RETRANSMITS)}


@dataclass(frozen=True, slots=True, eq=False)
class TimelinePoints:
    """A quantity of one host: float64 (n, 2) of seconds and value for each replication drawn.

    `suspect` are those of suspect replications.
    """

    label: str
    sound: tuple[Steps, ...]
    suspect: tuple[Steps, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """A figure: quantities of one host in one unit, over the time within its replications."""

    name: str
    title: str
    y: str
    quantities: tuple[TimelinePoints, ...]
    top: float | None = None

    @property
    def alt_text(self) -> str:
        """Return the text that stands for the picture where it can't be seen."""
        parts = []
        for points in self.quantities:
            values = np.concatenate([steps[:, 1] for steps in (*points.sound, *points.suspect)])
            least, greatest = (
                plain_number(float(end)) for end in (np.nanmin(values), np.nanmax(values))
            )
            parts.append(f"{points.label}: least {least}, greatest {greatest}")
        return f"{self.y}. {'; '.join(parts)}."


def timelines(logs: Sequence[tuple[SystemLog, bool]]) -> list[Timeline]:
    """Return a host's figures over `logs`, a (log, whether suspect) for each replication.

    None of a quantity that no replication has at least three samples of.
    """
    sampled = [
        (log.series, suspect)
        for log, suspect in logs
        if log.series is not None and len(log.series.times) >= _FEWEST
    ]
    figures = []
    soaked = any(log.soak for log, _ in logs)
    for name, title, y, top, quantities in _figures(_busiest(logs), soaked=soaked):
        drawn = [_timeline_points(label, rates, sampled) for label, rates in quantities]
        if drawn := [points for points in drawn if points.sound or points.suspect]:
            figures.append(Timeline(name, title, y, tuple(drawn), top))
    return figures


def _timeline_points(
    label: str, rates: Rates, logs: Sequence[tuple[TimeSeries, bool]]
) -> TimelinePoints:
    sound: list[Steps] = []
    suspect: list[Steps] = []
    for series, doubtful in logs:
        merged = _merge_short_stretches(series)
        values = rates(merged)
        if values is not None and np.any(np.isfinite(values)):
            # A step is drawn from its begin, so the last one needs its end, too.
            begins = np.concatenate(([0.0], merged.times))
            steps = np.column_stack((begins, np.append(values, values[-1:])))
            (suspect if doubtful else sound).append(steps)
    return TimelinePoints(label, tuple(sound), tuple(suspect))


def _merge_short_stretches(series: TimeSeries) -> TimeSeries:
    """Return the samples without those that follow too soon, as their stretches show only noise.

    What was counted in between goes to the next one, and to the last.
    """
    times = series.times
    usual_length = float(np.median(np.diff(times, prepend=0.0)))
    shortest_length = max(usual_length / 2, float(times[-1]) / _MOST_STEPS)
    places: list[int] = []
    last = 0.0
    for place, time in enumerate(times.tolist()):
        if time - last >= shortest_length:
            places.append(place)
            last = time
    places[-1:] = [len(times) - 1]
    return TimeSeries(times[places], series.names, series.values[places])


def _stretch_counts(series: TimeSeries, names: Sequence[str]) -> NDArray[np.float64] | None:
    """Return what the counters `names` counted in each stretch; None without any of them."""
    places = [place for place, name in enumerate(series.names) if name in set(names)]
    if not places:
        return None
    totals = series.values[:, places].sum(axis=1)
    counts: NDArray[np.float64] = np.diff(totals, prepend=0).astype(np.float64)
    return counts


def _cpu(*kinds: str) -> Rates:
    """Return what computes the share of the CPUs' time that was of `kinds`, in %."""

    def rates(series: TimeSeries) -> NDArray[np.float64] | None:
        all_ticks = _stretch_counts(series, [f"cpu/all/{kind}" for kind in CPU_KINDS])
        kind_ticks = _stretch_counts(series, [f"cpu/all/{kind}" for kind in kinds])
        if all_ticks is None:
            return None
        if kind_ticks is None:
            kind_ticks = np.zeros(len(all_ticks))
        # Where no tick was counted, the share is not defined.
        shares = np.full(len(all_ticks), np.nan)
        np.divide(kind_ticks, all_ticks, out=shares, where=all_ticks > 0)
        return 100 * shares

    return rates


def _per_second(counter: str, factor: float = 1.0) -> Rates:
    """Return what computes `factor` times how much the counter rose a second."""

    def rates(series: TimeSeries) -> NDArray[np.float64] | None:
        counts = _stretch_counts(series, [counter])
        if counts is None:
            return None
        counts /= np.diff(series.times, prepend=0.0)
        return counts * factor

    return rates


def _figures(
    interface: str, *, soaked: bool
) -> Iterator[tuple[str, str, str, float | None, Quantities]]:
    """Yield each figure's name, title, y axis and its top, and quantities."""
    busy_kinds = [kind for kind in CPU_KINDS if kind not in idle_kinds(soaked=soaked)]
    busy = (("busy", _cpu(*busy_kinds)), ("in interrupts", _cpu("irq", "softirq")))
    yield "cpu", "CPU load", "share of all CPUs' time (%)", 100.0, busy
    traffic = (
        ("received", _per_second(f"interface/{interface}/rx_bytes", 8e-6)),
        ("sent", _per_second(f"interface/{interface}/tx_bytes", 8e-6)),
    )
    yield "traffic", f"Throughput of {visible(interface)}", "Mbit/s", None, traffic
    interrupts = (
        ("interrupts", _per_second("stat/interrupts")),
        ("context switches", _per_second("stat/context_switches")),
    )
    yield "interrupts", "Interrupts", "per second", None, interrupts


def _busiest(logs: Sequence[tuple[SystemLog, bool]]) -> str:
    """Return the interface with the most bytes: the one that the test's traffic took."""
    carried: dict[str, int] = {}
    for log, _ in logs:
        for name, number in log.counts.items():
            if name.startswith("interface/") and name.endswith(("/rx_bytes", "/tx_bytes")):
                interface = name.removeprefix("interface/").rpartition("/")[0]
                carried[interface] = carried.get(interface, 0) + number
    return max(sorted(carried), key=carried.__getitem__, default="")


def blocks(timeline: Timeline) -> Iterator[tuple[str, bool, tuple[Steps, ...]]]:
    """Yield each block of the figure's data: its label, whether suspect, a line a replication."""
    for points in timeline.quantities:
        for suspect, lines in ((False, points.sound), (True, points.suspect)):
            if lines:
                yield points.label, suspect, lines


def series_timelines(
    case: Case, side: str, series: Sequence[tuple[Intervals, bool]]
) -> Iterator[Timeline]:
    """Yield the figures of a host that is the client, the server or both (`side`).

    `series` has a replication's (series, whether suspect) for each that has one.
    """
    for quantity in (shown for end, of_end in _OF_SIDE.items() if end in side for shown in of_end):
        all_steps = [
            (quantity.steps(intervals, case), suspect)
            for intervals, suspect in series
            if quantity.column(intervals) is not None
        ]
        if not all_steps:
            continue
        values = [value for steps, _ in all_steps for value in steps[:, 2].tolist()]
        unit = best_unit(quantity.unit, values)
        per_unit = float(scale(unit, quantity.unit) or 1)
        sound, suspect_ones = (
            tuple(outline(steps) / (1.0, per_unit) for steps, of in all_steps if of == suspect)
            for suspect in (False, True)
        )
        label = quantity.title.lower()
        points = TimelinePoints(label, sound, suspect_ones)
        name = f"series-{quantity.columns[0].replace('_', '-')}"
        yield Timeline(name, f"{quantity.title} in the series", unit or label, (points,))
