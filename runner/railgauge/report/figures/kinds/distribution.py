"""How a case's replications are distributed: histogram and empirical distribution function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import best_unit
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows, scale_of
from railgauge.report.figures.thin import visible_values
from railgauge.report.tables.axes import Axis
from railgauge.stats import summarise

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

_MOST_BINS = 100


class _Taken:
    """The values of each series in the x axis' unit, sorted, and the scale they stand on."""

    def __init__(self, figure: FigureSpec, lines: Sequence[FigureLine[Series]]) -> None:
        self.every = [one for line in lines for one in line.members]
        self.ones = [valued.only_one(figure, line.label, line.members) for line in lines]
        base = valued.base_unit(figure, "median", self.every)
        best = best_unit(base, np.concatenate([one.values for one in self.ones]).tolist())
        title = valued.what(figure.metric)
        self.x, self.per_x = scale_of(figure, figure.x, title, base, best, log=False)
        self.values = [np.sort(one.values) / self.per_x for one in self.ones]

    def summary(self, lines: Sequence[FigureLine[Series]]) -> tuple[str, ...]:
        """Return a sentence for each series."""
        pairs = zip(lines, self.values, strict=True)
        return tuple(f"{line.label}: {_told(values, self.x)}." for line, values in pairs)

    def notes(self, *, drawn_from_0: bool) -> Iterator[str]:
        """Yield what isn't drawn, and what is odd."""
        nothing = sum(1 for one in self.values if not len(one))
        if nothing:
            yield f"Without a value, failed or not measured, and so not drawn: {nothing} series."
        none = sum(int(np.count_nonzero(one <= 0)) for one in self.values) if self.x.log else 0
        if none:
            left = "; the curves begin above them" if drawn_from_0 else ""
            yield f"Values of 0 or less, which have no place on a logarithmic axis: {none}{left}."
        yield from valued.notes(self.every, "Series")


def _told(values: NDArray[np.float64], x: Scale) -> str:
    if not len(values):
        return "nothing measured"
    found, unit = summarise(values), valued.unit_of(x)
    if found.n == 1:
        return f"1 value, {valued.written(found.median, 4)}{unit}"
    parts = (
        ("minimum", found.minimum),
        ("lower quartile", found.lower_quartile),
        ("median", found.median),
        ("upper quartile", found.upper_quartile),
        ("maximum", found.maximum),
    )
    listed = ", ".join(f"{name} {valued.written(value, 4)}{unit}" for name, value in parts)
    return f"{found.n} values, {listed}"


def _histogram(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    taken = _Taken(figure, lines)
    y, _ = scale_of(figure, figure.y, "Replications", "", log=False)
    y = replace(y, low=0.0)
    counted = not any(one.unit for one in taken.ones)
    edges = _edges(taken.values, figure.bins, log=taken.x.log, counts=counted)
    plotted, records = [], []
    for line, one, values in zip(lines, taken.ones, taken.values, strict=True):
        counts, _ = np.histogram(values, edges)
        # A step begins at its x: from nothing up at the first edge, down to nothing at the last.
        steps = (np.append(edges[:1], edges), np.concatenate(([0.0], counts, [0.0])))
        plotted.append(
            PlottedSeries(line.label, np.column_stack(steps)[: None if len(values) else 0])
        )
        bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        start = (*valued.columns(line.label, one), one.metric)
        records += [(*start, a * taken.per_x, b * taken.per_x, n, one.unit) for a, b, n in bins]
    return Content(
        style="steps",
        x=_around(taken.x, plotted),
        y=y,
        plotted=tuple(plotted),
        summary=taken.summary(lines),
        header=(*valued.COLUMNS, "metric", "from", "to", "replications", "unit"),
        records=tuple(records),
        notes=tuple(taken.notes(drawn_from_0=False)),
    )


def _edges(
    every: Sequence[NDArray[np.float64]], bins: int | None, *, log: bool, counts: bool
) -> NDArray[np.float64]:
    """Return the bins' edges, float64 (k + 1,), from the least to the greatest of `every` value.

    Unless said, there are twice the cube root of the longest series (Rice's rule), at most 100; of
    `counts` each holds equally many whole numbers, lest some get more than their neighbours.
    """
    values = np.concatenate(every)
    values = values[values > 0] if log else values
    if not len(values):
        return np.array([1.0, 10.0])
    low, high = float(values.min()), float(values.max())
    count = bins or min(_MOST_BINS, math.ceil(2 * max(map(len, every)) ** (1 / 3)))
    if counts and not log and bool(np.all(values == np.round(values))):
        wide = math.ceil((high - low + 1) / count)
        return low - 0.5 + wide * np.arange(math.ceil((high - low + 1) / wide) + 1.0)
    if low == high:
        # One bin around the only value there is.
        around = abs(low) / 100 or 1.0
        return np.array([low - around, high + around])
    edges = np.geomspace(low, high, count + 1) if log else np.linspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    return np.asarray(edges, np.float64)


def _ecdf(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    taken = _Taken(figure, lines)
    y, per_y = scale_of(figure, figure.y, "Share of replications", "1", "%", log=False)
    y = replace(y, low=0.0, high=1 / per_y)
    plotted, records = [], []
    drawn = held = 0
    for line, one, values in zip(lines, taken.ones, taken.values, strict=True):
        curve = _curve(values, taken.x.log)
        places = visible_values(curve[:, 0], curve[:, 1], log=taken.x.log)
        # The first step begins at 0, the last one ends at 100 %.
        shown = curve[np.union1d(places, np.arange(len(curve))[:: max(len(curve) - 1, 1)])]
        drawn, held = drawn + len(shown), held + len(curve)
        plotted.append(PlottedSeries(line.label, shown / (1.0, per_y)))
        start = (*valued.columns(line.label, one), one.metric)
        shares = _curve(np.sort(one.values), log=False)[1:]
        records += [(*start, value, one.unit, share) for value, share in shares.tolist()]
    notes = list(taken.notes(drawn_from_0=True))
    if drawn < held:
        notes.insert(0, f"{drawn} of {held} steps are drawn: the others fall on the same spots.")
    return Content(
        style="steps",
        x=_around(taken.x, plotted),
        y=y,
        plotted=tuple(plotted),
        summary=taken.summary(lines),
        header=(*valued.COLUMNS, "metric", "value", "unit", "share"),
        records=tuple(records),
        notes=tuple(notes),
    )


def _curve(values: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    """Return (k, 2): each value of sorted `values` and which share of them is no greater.

    It begins at the least value's x with the share that lies to the left of the axis, 0 if none.
    """
    different, last = np.unique(values[::-1], return_index=True)
    shares = (len(values) - last) / max(len(values), 1)
    there = different > 0 if log else np.ones(len(different), np.bool_)
    curve = np.column_stack((different, shares))[there]
    if not len(curve):
        return np.empty((0, 2))
    left = shares[~there][-1] if (~there).any() else 0.0
    return np.vstack(([[curve[0, 0], left]], curve))


def _around(x: Scale, plotted: Sequence[PlottedSeries]) -> Scale:
    """Return the axis with a little left at both ends, so that no step stands on the other axis."""
    places = [place for one in plotted for place in one.points[:, 0].tolist()]
    if not places:
        return x
    low, high = min(places), max(places)
    if x.log:
        beside = (high / low) ** 0.02 if high > low else 1.1
        return replace(x, low=low / beside, high=high * beside)
    beside = (high - low) / 50 or abs(low) / 100 or 1.0
    return replace(x, low=low - beside, high=high + beside)


HISTOGRAM: Kind[Series] = Kind(
    x=Shows(metric="values", log=True),
    y=Shows(unit=""),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_histogram,
    lacking=valued.lacking,
    bins=True,
)
ECDF: Kind[Series] = Kind(
    x=Shows(metric="values", log=True),
    y=Shows(unit="1"),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_ecdf,
    lacking=valued.lacking,
)
