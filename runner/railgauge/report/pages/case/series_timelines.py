"""What a stream did within its replications, as the series of both ends have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base.intervals import Intervals
from railgauge.base.number import best_unit, scale
from railgauge.plan.cases import Case
from railgauge.report.figures.kinds.interval_series import (
    LOSSES,
    RETRANSMITS,
    RTT,
    THROUGHPUT,
    WINDOW,
    outline,
)
from railgauge.report.pages.case.timelines import Timeline, TimelinePoints

_OF_SIDE = {"server": (THROUGHPUT, LOSSES), "client": (RTT, WINDOW, RETRANSMITS)}


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
