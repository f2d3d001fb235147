"""Arrival traces: when each datagram came against its sequence number; a loss is a gap.

The figure that UDPmon's traces are known by, with its table of losses beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import best_unit, format_number, plural, scale
from railgauge.base.trace import Trace, loss_runs
from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, scale_of
from railgauge.report.figures.thin import thinned, visible_points
from railgauge.report.tables.table import Cell, Column, Heading, Row, RowLabel, Table

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

_MOST_ROWS = 100
_NS = 1e-9


def _draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
    x, _ = scale_of(figure, figure.x, "Packet sequence number", "", log=False)
    y, per_unit = scale_of(figure, figure.y, "Relative receive time", "s", "µs", log=False)
    plotted, summary, losses, records = [], [], [], []
    drawn = recorded = 0
    for line in lines:
        (stored,) = line.members
        trace = store.trace(stored)
        places = visible_points(trace.sequence, trace.received)
        times = trace.received[places] * _NS / per_unit
        plotted.append(PlottedSeries(line.label, np.column_stack((trace.sequence[places], times))))
        drawn, recorded = drawn + len(places), recorded + len(trace.sequence)
        runs = loss_runs(trace)
        losses.append((line.label, runs))
        records += [(*traced.columns(line.label, stored), *run) for run in runs.tolist()]
        summary.append(f"{line.label}: {_summary(trace, runs)}.")
    return Content(
        style="dots",
        x=x,
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=(*traced.COLUMNS, "after_sequence", "lost"),
        records=tuple(records),
        table=_table(figure, losses),
        notes=tuple(thinned(drawn, recorded, "arrivals")),
    )


def _summary(trace: Trace, runs: NDArray[np.int64]) -> str:
    recorded = len(trace.sequence)
    arrived = f"{plural(trace.arrived, 'arrival')} of {plural(trace.sent, 'datagram')} sent"
    if recorded < trace.arrived:
        arrived += f", the first {recorded:,} traced"
    if not recorded:
        return arrived
    last = float(trace.received.max()) * _NS
    unit = best_unit("s", [last])
    per_unit = scale(unit, "s")
    assert per_unit is not None
    last_text = f"the last after {format_number(last, per_unit, 3)} {unit}"
    # Above the highest number in the trace, losses are unknown.
    limit = "" if recorded == trace.arrived else f" up to number {int(trace.sequence.max())}"
    lost = int(runs[:, 1].sum())
    if not lost:
        return f"{arrived}, {last_text}, none lost{limit}"
    return f"{arrived}, {last_text}; {lost:,} lost in {plural(len(runs), 'loss run')}{limit}"


def _table(figure: FigureSpec, losses: Sequence[tuple[str, NDArray[np.int64]]]) -> Table | None:
    """Return each loss run, as `seq. #` and `# lost` have always been listed; None without any."""
    count = sum(len(runs) for _, runs in losses)
    if not count:
        return None
    rows: list[Row] = []
    for label, runs in losses:
        listed = runs[: _MOST_ROWS - len(rows)].tolist()
        for place, (after, lost) in enumerate(listed):
            span = 0 if place else len(listed)
            cells = (Cell(str(after)), Cell(str(lost)))
            rows.append(Row((RowLabel(label, span),), cells, (label,)))
    notes = ["Lost: as many datagrams in a row never arrived, after that sequence number."]
    if any(len(runs) and runs[0, 0] < 0 for _, runs in losses):
        notes.append("After -1: from the very first datagram, number 0, on.")
    if count > len(rows):
        notes.append(f"The first {len(rows)} of {count} loss runs; {figure.name}.csv has them all.")
    return Table(
        name=f"{figure.name}-losses",
        title=f"{figure.title}: loss runs",
        stub=("Stream",),
        header=((Heading("After sequence number"), Heading("Lost")),),
        row_axes=("series",),
        column_axes=(),
        columns=tuple(
            Column((), metric, "", "", "", "", 0) for metric in ("after_sequence", "lost")
        ),
        rows=tuple(rows),
        footnotes=(),
        notes=tuple(notes),
    )


KIND = traced.kind_of_traces(_draw, x=AxisRules(unit=""), y=AxisRules(unit="s"))
