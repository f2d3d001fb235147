"""Histogram of loss runs: how many runs of 1, 2, 3 … lost packets a trace has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import plural
from railgauge.base.trace import Trace, loss_runs
from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.distribution import bin_edges, counting, steps, with_margins
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, scale_of

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

# Up to so many lengths have a bin each.
_BINS = 100


def _draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
    x, _ = scale_of(figure, figure.x, "Packets lost in a row", "", log=False)
    y, _ = scale_of(figure, figure.y, "Loss runs", "", log=False)
    traces = [store.trace(line.members[0]) for line in lines]
    all_lengths = [loss_runs(trace)[:, 1] for trace in traces]
    floats = [lengths.astype(np.float64) for lengths in all_lengths]
    edges = bin_edges(floats, figure.bins or _BINS, log=False, counts=True)
    plotted, summary, records = [], [], []
    for line, trace, lengths in zip(lines, traces, all_lengths, strict=True):
        counts, _ = np.histogram(lengths, edges)
        points = steps(edges, counts)
        plotted.append(PlottedSeries(line.label, points[: None if counts.any() else 0]))
        summary.append(f"{line.label}: {_summary(trace, lengths)}.")
        if not len(lengths):
            continue
        start = traced.columns(line.label, line.members[0])
        lows, highs = np.ceil(edges[:-1]).astype(int), np.floor(edges[1:]).astype(int)
        bins = zip(lows.tolist(), highs.tolist(), counts.tolist(), strict=True)
        records += [(*start, *numbers) for numbers in bins]
    return Content(
        style="steps",
        x=with_margins(x, plotted),
        y=counting(y, plotted),
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=(*traced.COLUMNS, "from_lost", "to_lost", "loss_runs"),
        records=tuple(records),
    )


def _summary(trace: Trace, lengths: NDArray[np.int64]) -> str:
    whole = len(trace.sequence) == trace.arrived
    # Above the highest number in the trace, losses are unknown.
    limit = "" if whole else f" up to number {int(trace.sequence.max(initial=0))}"
    if not len(lengths):
        return f"none of {trace.sent:,} lost{limit}"
    lost = f"{int(lengths.sum()):,} of {trace.sent:,} lost"
    parts = (
        f"{lost} in {plural(len(lengths), 'loss run')}{limit}",
        f"shortest {int(lengths.min()):,}",
        f"median {float(np.median(lengths)):,.10g}",
        f"longest {int(lengths.max()):,}",
    )
    return ", ".join(parts)


KIND = traced.kind_of_traces(_draw, x=AxisRules(unit=""), y=AxisRules(unit=""), bins=True)
