"""Histogram of inter-arrival times: how long after the one before each datagram came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import best_unit, format_number, scale
from railgauge.base.trace import interarrival
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.distribution import steps
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.tables.axes import Axis

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

_BINS_PER_DECADE = 20
_BINS = 100
_NS = 1e-9
_PERCENTILES = {"minimum": 0, "median": 50, "99th percentile": 99, "maximum": 100}


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[StoredTrace]],
    axis_of: Callable[[str], Axis],
) -> Content:
    x, per_unit = scale_of(figure, figure.x, "Inter-arrival time", "s", "µs", log=True)
    y, _ = scale_of(figure, figure.y, "Arrivals", "", log=False)
    gaps = [interarrival(store.trace(line.members[0])) for line in lines]
    edges = _edges(gaps, x.log)
    plotted, summary, records = [], [], []
    for line, times in zip(lines, gaps, strict=True):
        counts, _ = np.histogram(times, edges)
        points = steps(edges * _NS / per_unit, counts)
        plotted.append(PlottedSeries(line.label, points[: len(points) if len(times) else 0]))
        summary.append(f"{line.label}: {_summary(times)}.")
        start = traced.columns(line.label, line.members[0])
        bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        records += [(*start, low * _NS, high * _NS, count) for low, high, count in bins]
    low = sum(int(np.count_nonzero(times <= 0)) for times in gaps) if x.log else 0
    return Content(
        style="steps",
        x=x,
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=(*traced.COLUMNS, "from_seconds", "to_seconds", "arrivals"),
        records=tuple(records),
        notes=(f"{low} times of 0 or less (equal stamps) have no place here.",) if low else (),
    )


def _edges(gaps: Sequence[NDArray[np.int64]], log: bool) -> NDArray[np.float64]:
    """Return the bins' edges in ns, float64 (k + 1,), from the least to the greatest of `gaps`."""
    times = np.concatenate([*gaps, np.empty(0, np.int64)])
    if log:
        times = times[times > 0]
    if not len(times):
        return np.array([1.0, 10.0])
    low, high = float(times.min()), float(times.max())
    if log:
        first = np.floor(np.log10(low) * _BINS_PER_DECADE)
        last = np.floor(np.log10(high) * _BINS_PER_DECADE) + 1
        edges = 10.0 ** (np.arange(first, last + 1) / _BINS_PER_DECADE)
        edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
        return np.asarray(edges, np.float64)
    return np.linspace(low, max(high, low + _BINS), _BINS + 1)


def _summary(gaps: NDArray[np.int64]) -> str:
    if not len(gaps):
        return "fewer than two arrivals"
    parts = []
    for name, percent in _PERCENTILES.items():
        value = float(np.percentile(gaps, percent, method="inverted_cdf")) * _NS
        unit = best_unit("s", [value])
        per_unit = scale(unit, "s")
        assert per_unit is not None
        parts.append(f"{name} {format_number(value, per_unit, 2)} {unit}")
    return f"{len(gaps)} inter-arrival times, {', '.join(parts)}"


KIND: Kind[StoredTrace] = Kind(
    x=AxisRules(unit="s", log=True),
    y=AxisRules(unit=""),
    most=7,
    absent=traced.ABSENT,
    members=traced.one_of_each_case,
    draw=_draw,
    lacking=traced.lacking,
)
