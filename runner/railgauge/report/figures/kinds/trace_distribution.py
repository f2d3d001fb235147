"""How the times in a trace are distributed: histogram and empirical distribution function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.distribution import counting, ecdf_curve, steps, with_margins
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.trace_quantity import NS, Quantity, unit_for, without_place
from railgauge.report.figures.thin import thinned, visible_values

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

_BINS_PER_DECADE = 20
_BINS = 100


def histogram_of(quantity: Quantity) -> Kind[StoredTrace]:
    """Return the kind of figure that counts a trace's times in bins."""

    def draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
        traces = quantity.read(figure, store, lines)
        all_times = [quantity.times(trace) for _, _, trace in traces]
        x, per_x = scale_of(figure, figure.x, quantity.title, "s", unit_for(all_times), log=True)
        counted = quantity.counted.replace("_", " ").capitalize()
        y, _ = scale_of(figure, figure.y, counted, "", log=False)
        edges = _edges(all_times, x.log)
        plotted, summary, records = [], [], []
        for (label, stored, _), times in zip(traces, all_times, strict=True):
            counts, _ = np.histogram(times, edges)
            points = steps(edges * NS / per_x, counts)
            plotted.append(PlottedSeries(label, points[: None if counts.any() else 0]))
            summary.append(quantity.summary(label, times))
            start = traced.columns(label, stored)
            bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
            records += [(*start, low * NS, high * NS, count) for low, high, count in bins]
        return Content(
            style="steps",
            x=with_margins(x, plotted),
            y=counting(y, plotted),
            plotted=tuple(plotted),
            summary=tuple(summary),
            header=(*traced.COLUMNS, "from_seconds", "to_seconds", quantity.counted),
            records=tuple(records),
            notes=tuple(without_place(all_times, log=x.log)),
        )

    return traced.kind_of_traces(draw, x=AxisRules(unit="s", log=True), y=AxisRules(unit=""))


def ecdf_of(quantity: Quantity) -> Kind[StoredTrace]:
    """Return the kind of figure that shows which share of a trace's times is no greater."""

    def draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
        traces = quantity.read(figure, store, lines)
        all_times = [quantity.times(trace) for _, _, trace in traces]
        x, per_x = scale_of(figure, figure.x, quantity.title, "s", unit_for(all_times), log=True)
        counted = quantity.counted.replace("_", " ")
        y, per_y = scale_of(figure, figure.y, f"Share of {counted}", "1", "%", log=False)
        plotted, summary, records = [], [], []
        drawn = count = 0
        for (label, stored, _), times in zip(traces, all_times, strict=True):
            values = np.sort(times).astype(np.float64)
            curve = ecdf_curve(values * NS / per_x, x.log)
            places = visible_values(curve[:, 0], curve[:, 1], log=x.log)
            drawn, count = drawn + len(places), count + len(curve)
            plotted.append(PlottedSeries(label, curve[places] / (1.0, per_y)))
            summary.append(quantity.summary(label, times))
            start = traced.columns(label, stored)
            shares = ecdf_curve(values, log=False)[1:]
            records += [(*start, time * NS, share) for time, share in shares.tolist()]
        return Content(
            style="steps",
            x=with_margins(x, plotted),
            y=replace(y, low=0.0, high=1 / per_y),
            plotted=tuple(plotted),
            summary=tuple(summary),
            header=(*traced.COLUMNS, "seconds", "share"),
            records=tuple(records),
            notes=(
                *thinned(drawn, count, "steps"),
                *without_place(all_times, log=x.log),
            ),
        )

    return traced.kind_of_traces(draw, x=AxisRules(unit="s", log=True), y=AxisRules(unit="1"))


def _edges(all_times: Sequence[NDArray[np.int64]], log: bool) -> NDArray[np.float64]:
    """Return the bins' edges in ns, float64 (k + 1,), from the least to the greatest time."""
    times = np.concatenate([*all_times, np.empty(0, np.int64)])
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
