"""Series within a replication over its time: throughput, losses, and what TCP's sender saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.intervals import Intervals, Readings
from railgauge.base.number import best_unit, in_best_unit, plural
from railgauge.plan.cases import Case
from railgauge.report.figures.figure import Content, PlottedSeries
from railgauge.report.figures.kinds import traced
from railgauge.report.figures.kinds.distribution import counting
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.trace_quantity import NS

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

# More steps than this across a figure can't be distinguished.
_MOST_STEPS = 500


@dataclass(frozen=True, slots=True)
class IntervalQuantity:
    """What of a series is shown: the columns that may have it, and its axis.

    A state is shown as it was at an interval's end, in units of `scale`; else what was counted, a
    second if `per_second`. Of throughput packets count as so many bytes as their datagrams have.
    """

    title: str
    unit: str
    columns: tuple[str, ...]
    scale: float = 1.0
    state: bool = False
    per_second: bool = False

    def column(self, series: Intervals) -> Readings | None:
        """Return the readings that it is made of, None if there are none."""
        names = [name for name in self.columns if name in series.columns]
        return series.columns[names[0]] if names else None

    def steps(
        self, series: Intervals, case: Case, most: int | None = _MOST_STEPS
    ) -> NDArray[np.float64]:
        """Return rows of begin (s), end (s) and value, float64 (n, 3); at most `most` of them.

        For that, intervals are taken together; a last one that is too short for a rate is part of
        the one before.
        """
        column = self.column(series)
        assert column is not None
        places = np.arange(len(column.ends))
        if most is not None:
            size = -(-len(places) // most)
            places = np.unique(np.append(places[size - 1 :: size], places[-1]))
        ends, readings = column.ends[places], column.readings[places]
        begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        if len(ends) > 1 and most is not None and 2 * (ends[-1] - ends[-2]) < series.length:
            keep = np.delete(np.arange(len(ends)), -2)
            ends, readings, begins = ends[keep], readings[keep], np.delete(begins, -1)
        seconds = (ends - begins) * NS
        values = readings if self.state else np.diff(readings, prepend=0)
        factor = self.scale
        if self.per_second and "received_packets" in series.columns:
            factor *= float(case.parameters.get("datagram", 0))
        scaled = values * factor
        if self.per_second:
            scaled = np.divide(scaled, seconds, out=np.zeros(len(ends)), where=seconds > 0)
        return np.column_stack((begins * NS, ends * NS, scaled))


THROUGHPUT = IntervalQuantity(
    "Throughput", "bit/s", ("received_bytes", "received_packets"), 8.0, per_second=True
)
LOSSES = IntervalQuantity("Lost datagrams an interval", "", ("lost_packets",))
RETRANSMITS = IntervalQuantity("Retransmits an interval", "", ("retransmits",))
WINDOW = IntervalQuantity("Congestion window", "B", ("congestion_window",), state=True)
RTT = IntervalQuantity("Round trip time", "s", ("rtt",), NS, state=True)


def outline(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the steps go up or down, float64 (n + 1, 2): a step is drawn from its begin."""
    return np.vstack((steps[:, [0, 2]], steps[-1:, [1, 2]]))


def over_time(quantity: IntervalQuantity) -> Kind[StoredTrace]:
    """Return the kind of figure that shows it over the time within a replication."""

    def draw(figure: FigureSpec, store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> Content:
        drawn, notes, summary = [], [], []
        for line in lines:
            (stored,) = line.members
            series = store.intervals(stored)
            column = _required(figure, line.label, quantity, series)
            drawn.append((line.label, stored, series, quantity.steps(series, stored.case)))
            steps = drawn[-1][3]
            summary.append(_summary(line.label, quantity, len(column.ends), steps))
            if _merged(len(column.ends), steps):
                notes.append(f"{line.label}: several intervals are drawn as one.")
        values = np.concatenate([steps[:, 2] for *_, steps in drawn])
        x, per_x = scale_of(figure, figure.x, "Time within the replication", "s", log=False)
        unit = best_unit(quantity.unit, values.tolist())
        y, per_y = scale_of(figure, figure.y, quantity.title, quantity.unit, unit, log=False)
        plotted = tuple(
            PlottedSeries(label, outline(steps) / (per_x, per_y)) for label, *_, steps in drawn
        )
        return Content(
            style="steps",
            x=x,
            # A late datagram takes a loss back.
            y=y if quantity.unit or values.min() < 0 else counting(y, plotted),
            plotted=plotted,
            summary=tuple(summary),
            header=(*traced.COLUMNS, "from_seconds", "to_seconds", _csv_name(quantity)),
            records=tuple(
                (*traced.columns(label, stored), *row)
                for label, stored, series, _ in drawn
                for row in quantity.steps(series, stored.case, None).tolist()
            ),
            notes=(*notes, *_omitted(series for _, _, series, _ in drawn)),
        )

    rules = AxisRules(unit=quantity.unit)
    return traced.kind_of_traces(draw, x=AxisRules(unit="s"), y=rules, parameter="series")


def _omitted(all_series: Iterable[Intervals]) -> Iterator[str]:
    for omit in sorted({series.omit for series in all_series} - {0}):
        yield f"The first {in_best_unit(omit * NS, 's')} were omitted from the metrics."


def _required(
    figure: FigureSpec, label: str, quantity: IntervalQuantity, series: Intervals
) -> Readings:
    column = quantity.column(series)
    if column is None:
        raise InputError(
            f"figure {figure.name!r}: the series of {label!r} has no"
            f" {quantity.columns[0].replace('_', ' ')}, but"
            f" {', '.join(series.columns).replace('_', ' ')}: narrow 'select'"
        )
    return column


def _csv_name(quantity: IntervalQuantity) -> str:
    return "throughput" if quantity.per_second else quantity.columns[0]


def _merged(count: int, steps: NDArray[np.float64]) -> bool:
    """Return whether steps are of several intervals, not the last alone, too short for a rate."""
    return count > len(steps) + 1


def _summary(label: str, quantity: IntervalQuantity, count: int, steps: NDArray[np.float64]) -> str:
    least, greatest = (
        in_best_unit(float(value), quantity.unit)
        for value in (steps[:, 2].min(), steps[:, 2].max())
    )
    # Of fewer steps these are the values of several intervals each.
    intervals = plural(len(steps), "interval")
    if _merged(count, steps):
        intervals = f"{plural(count, 'interval')} in {plural(len(steps), 'step')}"
    return f"{label}: {intervals}, least {least}, greatest {greatest}."
