"""The kinds of figures, a module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from railgauge.report.figures.kinds import (
    arrival,
    bars,
    cells,
    distribution,
    heatmap,
    interval_series,
    lines,
    loss_lengths,
    replications,
    trace_times,
)
from railgauge.report.figures.kinds.kind import Kind
from railgauge.report.figures.kinds.trace_distribution import ecdf_of, histogram_of
from railgauge.report.figures.kinds.trace_quantity import DELAY, GAP, JITTER, ROUND_TRIP

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec

KINDS: Mapping[str, Kind[Any]] = {
    "arrival": arrival.KIND,
    "bars": bars.KIND,
    "delay_histogram": histogram_of(DELAY),
    "delays": trace_times.DELAYS,
    "ecdf": distribution.ECDF,
    "gaps": histogram_of(GAP),
    "heatmap": heatmap.KIND,
    "histogram": distribution.HISTOGRAM,
    "jitter_ecdf": ecdf_of(JITTER),
    "jitter_histogram": histogram_of(JITTER),
    "lines": lines.KIND,
    "loss_runs": loss_lengths.KIND,
    "loss_series": interval_series.over_time(interval_series.LOSSES),
    "points": lines.POINTS,
    "replications": replications.KIND,
    "retransmit_series": interval_series.over_time(interval_series.RETRANSMITS),
    "round_trip_ecdf": ecdf_of(ROUND_TRIP),
    "round_trip_histogram": histogram_of(ROUND_TRIP),
    "round_trips": trace_times.ROUND_TRIPS,
    "rtt_series": interval_series.over_time(interval_series.RTT),
    "throughput_series": interval_series.over_time(interval_series.THROUGHPUT),
    "window_series": interval_series.over_time(interval_series.WINDOW),
}


def kind_of(figure: FigureSpec) -> Kind[Any] | None:
    """Return the figure's kind, None if there is none of that name.

    A heat map is one of pairs of hosts, or one over the two axes that it names.
    """
    if figure.kind == "heatmap" and (figure.x.axis or figure.y.axis):
        return cells.KIND
    return KINDS.get(figure.kind)
