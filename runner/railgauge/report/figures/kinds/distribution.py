"""How a case's replications are distributed: histogram and empirical distribution function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import plural
from railgauge.report.definition.statistic import DEFAULT
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.thin import thinned, visible_values
from railgauge.report.tables.axes import Axis
from railgauge.stats.summary import summarise

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series

_MOST_BINS = 100
# Fewer values have no quarters.
_FOUR_QUARTERS = 4
# Of fewer counts gnuplot marks halves, too.
_FEW = 5


class _Samples:
    """The values of each series in the x axis' unit, sorted, and the scale they stand on."""

    def __init__(self, figure: FigureSpec, lines: Sequence[FigureLine[Series]]) -> None:
        self.labels = [line.label for line in lines]
        self.series = [valued.only_one(figure, line.label, line.members) for line in lines]
        base = valued.base_unit(figure, DEFAULT, self.series)
        values = np.concatenate([series.values for series in self.series])
        self.x, self.per_x = valued.value_scale(figure, figure.x, base, values)
        self.values = [np.sort(series.values) / self.per_x for series in self.series]

    def __iter__(self) -> Iterator[tuple[str, Series, NDArray[np.float64]]]:
        """Yield each series with its label and its sorted values."""
        return zip(self.labels, self.series, self.values, strict=True)

    def summary(self) -> tuple[str, ...]:
        """Return a sentence for each series."""
        return tuple(f"{label}: {_summary(values, self.x)}." for label, _, values in self)

    def notes(self, *, drawn_from_0: bool) -> Iterator[str]:
        """Yield what isn't drawn, and what is odd."""
        empty = len(self.series) - valued.measured(self.series)
        if empty:
            yield f"Without a value, failed or not measured, and so not drawn: {empty} series."
        low = sum(int(np.count_nonzero(values <= 0)) for values in self.values)
        if low and self.x.log:
            start = "; the curves begin above them" if drawn_from_0 else ""
            yield f"Values of 0 or less, which have no place on a logarithmic axis: {low}{start}."
        yield from valued.means(self.series)
        yield from valued.notes(self.series, "Series")


def _summary(values: NDArray[np.float64], x: Scale) -> str:
    if not len(values):
        return "nothing measured"
    summary, unit = summarise(values), valued.unit_of(x)
    count = plural(summary.n, "value")
    if summary.n == 1:
        return f"{count}, {valued.number_text(summary.median)}{unit}"
    parts = {
        "minimum": summary.minimum,
        "lower quartile": summary.lower_quartile,
        "median": summary.median,
        "upper quartile": summary.upper_quartile,
        "maximum": summary.maximum,
    }
    if summary.n < _FOUR_QUARTERS:
        del parts["lower quartile"], parts["upper quartile"]
    listed = ", ".join(f"{name} {valued.number_text(value)}{unit}" for name, value in parts.items())
    return f"{count}, {listed}"


def steps(edges: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (k + 2, 2): the steps of a histogram with those `edges` (k + 1,).

    A step begins at its x: from 0 up at the first edge, down to 0 at the last.
    """
    return np.column_stack((np.append(edges[:1], edges), np.concatenate(([0.0], counts, [0.0]))))


def counting(y: Scale, plotted: Sequence[PlottedSeries]) -> Scale:
    """Return the axis of counts from 0 on, with tics at whole numbers alone."""
    most = max((float(rows[:, 1].max()) for s in plotted if len(rows := s.points)), default=0.0)
    tics = tuple((float(n), str(n)) for n in range(int(most) + 1)) if 0 < most < _FEW else ()
    return replace(y, low=0.0, tics=tics)


def _histogram(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    samples = _Samples(figure, lines)
    y, _ = scale_of(figure, figure.y, "Replications", "", log=False)
    unitless = not any(series.unit for series in samples.series)
    edges = bin_edges(samples.values, figure.bins, log=samples.x.log, counts=unitless)
    lows, highs = ((ends * samples.per_x).tolist() for ends in (edges[:-1], edges[1:]))
    plotted, records = [], []
    for label, series, values in samples:
        counts, _ = np.histogram(values, edges)
        plotted.append(PlottedSeries(label, steps(edges, counts)[: None if counts.any() else 0]))
        start = (*valued.columns(label, series), series.metric)
        bins = zip(lows, highs, counts.tolist(), strict=True)
        records += [(*start, *numbers, series.unit) for numbers in bins]
    return Content(
        style="steps",
        x=with_margins(samples.x, plotted),
        y=counting(y, plotted),
        plotted=tuple(plotted),
        summary=samples.summary(),
        header=(*valued.COLUMNS, "metric", "from", "to", "replications", "unit"),
        records=tuple(records),
        notes=tuple(samples.notes(drawn_from_0=False)),
    )


def bin_edges(
    all_values: Sequence[NDArray[np.float64]], bins: int | None, *, log: bool, counts: bool
) -> NDArray[np.float64]:
    """Return the edges of the bins, float64 (k + 1,), from the least to the greatest value.

    By default there are twice the cube root of the longest series (Rice's rule), at most 100; of
    `counts` each holds equally many whole numbers, lest some get more than their neighbours.
    """
    values = np.concatenate(all_values)
    values = values[values > 0] if log else values
    if not len(values):
        return np.array([1.0, 10.0])
    low, high = float(values.min()), float(values.max())
    count = bins or min(_MOST_BINS, math.ceil(2 * max(map(len, all_values)) ** (1 / 3)))
    if counts and not log and bool(np.all(values == np.round(values))):
        width = math.ceil((high - low + 1) / count)
        return low - 0.5 + width * np.arange(math.ceil((high - low + 1) / width) + 1.0)
    if low == high:
        # One bin around the only value there is.
        margin = abs(low) / 100 or 1.0
        return np.array([low - margin, high + margin])
    edges = np.geomspace(low, high, count + 1) if log else np.linspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    return np.asarray(edges, np.float64)


def _ecdf(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    samples = _Samples(figure, lines)
    y, per_y = scale_of(figure, figure.y, "Share of replications", "1", "%", log=False)
    plotted, records = [], []
    drawn = count = 0
    for label, series, values in samples:
        curve = ecdf_curve(values, samples.x.log)
        places = visible_values(curve[:, 0], curve[:, 1], log=samples.x.log)
        # The first step begins at 0, the last one ends at 100 %.
        visible = curve[np.union1d(places, np.arange(len(curve))[:: max(len(curve) - 1, 1)])]
        drawn, count = drawn + len(visible), count + len(curve)
        plotted.append(PlottedSeries(label, visible / (1.0, per_y)))
        start = (*valued.columns(label, series), series.metric)
        shares = ecdf_curve(np.sort(series.values), log=False)[1:]
        records += [(*start, value, series.unit, share) for value, share in shares.tolist()]
    return Content(
        style="steps",
        x=with_margins(samples.x, plotted),
        y=replace(y, low=0.0, high=1 / per_y),
        plotted=tuple(plotted),
        summary=samples.summary(),
        header=(*valued.COLUMNS, "metric", "value", "unit", "share"),
        records=tuple(records),
        notes=(
            *thinned(drawn, count, "steps"),
            *samples.notes(drawn_from_0=True),
        ),
    )


def ecdf_curve(values: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    """Return (k, 2): each value of sorted `values` and which share of them is no greater.

    It begins at the least value's x with the share that lies to the left of the axis, 0 if none.
    """
    different, last = np.unique(values[::-1], return_index=True)
    shares = (len(values) - last) / max(len(values), 1)
    drawable = different > 0 if log else np.ones(len(different), np.bool_)
    curve = np.column_stack((different, shares))[drawable]
    if not len(curve):
        return np.empty((0, 2))
    left = shares[~drawable][-1] if not drawable.all() else 0.0
    return np.vstack(([[curve[0, 0], left]], curve))


def with_margins(x: Scale, plotted: Sequence[PlottedSeries]) -> Scale:
    """Return the axis with a margin at both ends, so that no step stands on the other axis."""
    places = [place for series in plotted for place in series.points[:, 0].tolist()]
    if not places:
        return x
    low, high = min(places), max(places)
    if x.log:
        factor = (high / low) ** 0.02 if high > low else 1.1
        return replace(x, low=low / factor, high=high * factor)
    margin = (high - low) / 50 or abs(low) / 100 or 1.0
    return replace(x, low=low - margin, high=high + margin)


HISTOGRAM: Kind[Series] = Kind(
    x=AxisRules(metric="values", log=True),
    y=AxisRules(unit=""),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_histogram,
    bins=True,
)
ECDF: Kind[Series] = Kind(
    x=AxisRules(metric="values", log=True),
    y=AxisRules(unit="1"),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_ecdf,
)
