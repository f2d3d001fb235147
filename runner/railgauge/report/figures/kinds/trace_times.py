"""The times in a trace by sequence number: one-way delays, round trips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.number import in_best_unit
from railgauge.base.trace import Trace, bounded_skew, certain_skew, transits
from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.trace_quantity import (
    DELAY,
    NS,
    ROUND_TRIP,
    Quantity,
    unit_for,
    without_place,
)
from railgauge.report.figures.thin import thinned, visible_values

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

_Notes = Callable[["Store", Sequence[tuple[str, "StoredTrace", Trace]]], Iterable[str]]


def _by_sequence(quantity: Quantity, title: str, notes: _Notes, *, log: bool) -> Kind[StoredTrace]:
    def draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
        traces = quantity.read(figure, store, lines)
        all_times = [quantity.times(trace) for _, _, trace in traces]
        x, _ = scale_of(figure, figure.x, title, "", log=False)
        unit = unit_for(all_times)
        y, per_y = scale_of(figure, figure.y, quantity.title, "s", unit, log=log)
        plotted, summary, records = [], [], []
        drawn = count = 0
        for (label, stored, trace), times in zip(traces, all_times, strict=True):
            points = np.column_stack((trace.sequence, times * NS / per_y))
            points = points[times > 0] if y.log else points
            places = visible_values(points[:, 0], points[:, 1], log_y=y.log)
            drawn, count = drawn + len(places), count + len(points)
            plotted.append(PlottedSeries(label, points[places]))
            summary.append(quantity.summary(label, times))
            start = traced.columns(label, stored)
            numbers = zip(trace.sequence.tolist(), (times * NS).tolist(), strict=True)
            records += [(*start, *pair) for pair in numbers]
        return Content(
            style="dots",
            x=x,
            y=y,
            plotted=tuple(plotted),
            summary=tuple(summary),
            header=(*traced.COLUMNS, "sequence", "seconds"),
            records=tuple(records),
            notes=(
                *thinned(drawn, count, quantity.nouns),
                *without_place(all_times, log=y.log),
                *notes(store, traces),
            ),
        )

    rules = AxisRules(unit="s", log=True)
    return traced.kind_of_traces(draw, x=AxisRules(unit=""), y=rules)


def _clocks(store: Store, traces: Sequence[tuple[str, StoredTrace, Trace]]) -> Iterator[str]:
    """Yield how the two ends' clocks differ, and so what the smallest delay itself is."""
    if any(trace.clock in ("realtime", "realtime-both") for _, _, trace in traces):
        yield (
            "Received by the receiving kernel's wall clock: only differences between delays are"
            " measured."
        )
    for label, _, trace in traces:
        if skew := certain_skew(trace):
            yield (
                f"{label}: the receiver's clock was {abs(skew) * 1e6:.3g} ppm"
                f" {'faster' if skew > 0 else 'slower'} than the sender's, which is removed."
            )
    for label, stored, trace in traces:
        if trace.clock != "monotonic" or not len(trace.sequence):
            continue
        settings = store.trace_settings(stored)
        offset, error = settings.get("clock_offset"), settings.get("clock_offset_error")
        if not isinstance(offset, int | float) or not isinstance(error, int | float):
            yield f"{label}: by how much the two ends' clocks differ was not measured."
            continue
        quickest = int(transits(trace).argmin())
        since = store.trace_age(stored) + float(trace.sent_at[quickest]) * NS
        skew, skew_error = bounded_skew(trace)
        smallest = float(transits(trace)[quickest]) * NS - offset - skew * since
        uncertainty = error + skew_error * since
        # Nothing arrives before it was sent.
        of_smallest = (
            f"is {in_best_unit(smallest, 's')}, ± {in_best_unit(uncertainty, 's')}"
            if smallest >= -uncertainty
            else f"would be {in_best_unit(-smallest, 's')} below 0: they didn't drift evenly"
        )
        yield (
            f"{label}: the server's clock was {in_best_unit(abs(offset), 's')}"
            f" {'ahead of' if offset >= 0 else 'behind'} the client's,"
            f" ± {in_best_unit(error, 's')}, before the first replication; by that, and by how they"
            f" drifted apart since, the smallest delay {of_smallest}."
        )


DELAYS = _by_sequence(DELAY, "Packet sequence number", _clocks, log=False)
ROUND_TRIPS = _by_sequence(ROUND_TRIP, "Round trip number", lambda *_: (), log=True)
