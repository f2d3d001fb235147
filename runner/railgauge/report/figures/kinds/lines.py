"""A metric against a parameter, as lines or as points: throughput by datagram size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.base.number import scale
from railgauge.plan.cases import Value
from railgauge.report.definition.statistic import record
from railgauge.report.figures.figure import Content, PlottedSeries, Scale, Style, place_text
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.errorbars import PointAxis, PointLine, point_axis
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.unseen import beyond, refuse_unseen
from railgauge.report.tables.axes import Axis, axis_value
from railgauge.report.tables.theoretical import NoLimit, Theoretical

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series

# More sizes than these have round numbers instead.
_MOST_SIZES = 12
_LABEL = "theoretical"


class PeakLines:
    """The theoretical values of a figure's cases, which lie on the x axis where these do.

    Of a figure that shows none it has no lines. Lines with one and the same course are drawn once.
    """

    def __init__(self, figure: FigureSpec, store: Store, all_series: Sequence[Series]) -> None:
        self._template = figure.y.peak
        self._figure = figure
        self._reasons: dict[str, None] = {}
        # The points (x, y) of each line, and the labels of the series that it is for.
        self._lines: dict[tuple[tuple[float, float], ...], list[str]] = {}
        runs = {series.run for series in all_series} if self._template else set()
        facts = {run: store.run(run).facts for run in runs}
        self._theoretical = Theoretical({run: store.peaks(run) for run in runs}, facts)

    def add(self, label: str, places: Mapping[float, Series], y: PointAxis) -> None:
        """Take the values of a series' cases by their places on x, in the axes' units."""
        if not self._template:
            return
        points = []
        for place, series in sorted(places.items()):
            limit = self._theoretical.of(self._template, series)
            if isinstance(limit, NoLimit):
                self._reasons[limit.reason] = None
                continue
            if scale(limit.unit, series.unit) is None:
                raise InputError(
                    f"figure {self._figure.name!r}: the theoretical {self._template} is in"
                    f" {limit.unit}, which can't stand beside {self._figure.metric} in"
                    f" {series.unit or '1'}: name another resource in 'peak'"
                )
            points.append((place, limit.value / y.per_unit))
        if points:
            self._lines.setdefault(tuple(points), []).append(label)

    def plotted(self) -> tuple[PlottedSeries, ...]:
        """Return the lines, ready to be drawn."""
        return tuple(
            PlottedSeries(label, np.array(points, np.float64), theoretical=True)
            for label, points in self._labelled()
        )

    def sentences(self, y: PointAxis) -> tuple[str, ...]:
        """Return a sentence for each line."""
        sentences = []
        for label, points in self._labelled():
            values = sorted({value for _, value in points})
            outer = dict.fromkeys((values[0], values[-1]))
            ends = [valued.number_text(value) for value in outer]
            sentences.append(f"{label}: {' to '.join(ends)}{valued.unit_of(y.scale)}.")
        return tuple(sentences)

    def notes(self) -> tuple[str, ...]:
        """Return where the values come from, and why there are none."""
        reasons = (f"{reason[:1].upper()}{reason[1:]}." for reason in self._reasons)
        return (*self._theoretical.sentences(), *reasons)

    def _labelled(self) -> list[tuple[str, tuple[tuple[float, float], ...]]]:
        # Lines along one level differ in where they begin and end at most.
        levels: dict[frozenset[float], list[tuple[str, tuple[tuple[float, float], ...]]]] = {}
        for points, labels in self._lines.items():
            level = frozenset(value for _, value in points)
            levels.setdefault(level, []).extend((label, points) for label in labels)
        lines = []
        for members in levels.values():
            longest = max((points for _, points in members), key=len)
            names = dict.fromkeys(label for label, _ in members)
            label = _LABEL if len(levels) == 1 else f"{_LABEL}: {', '.join(names)}"
            lines.append((label, longest))
        return lines


def _draw(
    style: Style,
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    axis = axis_of(figure.x.axis)
    x, per_x = scale_of(figure, figure.x, axis.title, axis.unit, log=False)
    all_series = [series for line in lines for series in line.members]
    y = point_axis(figure, all_series)
    peaks = PeakLines(figure, store, all_series)
    drawn = [_draw_line(figure, line, axis, (x, per_x), y, peaks) for line in lines]
    points = [point for line in drawn for point in line.points]
    refuse_unseen(figure, y.scale, [point.value for point in points])
    missing = {place for line in drawn for place in line.missing}
    measured = missing.union(*(line.plotted.points[:, 0].tolist() for line in drawn))
    plotted = (*(line.plotted for line in drawn), *peaks.plotted())
    ends = [end for series in plotted for end in series.points[:, 1:].ravel().tolist()]
    return Content(
        style=style,
        x=x if figure.x.unit else _at_sizes(x, axis, measured),
        y=y.scale,
        plotted=plotted,
        summary=(*(line.sentence for line in drawn), *peaks.sentences(y)),
        header=valued.header(("x", figure.x.axis)),
        records=tuple(record for line in drawn for record in line.records),
        notes=(
            *y.notes(all_series, points, "Points", "bars"),
            *beyond(y.scale, ends),
            *valued.notes(all_series),
            *peaks.notes(),
        ),
        missing=tuple(sorted(missing)),
    )


def _at_sizes(x: Scale, axis: Axis, measured: Collection[float]) -> Scale:
    """Return an axis of few sizes with a tic at each of them, as tables write it."""
    if axis.unit != "B" or not 0 < len(measured) <= _MOST_SIZES:
        return x
    tics = tuple((place, axis.text(int(place))) for place in sorted(measured))
    return replace(x, unit="", tics=tics)


def _draw_line(
    figure: FigureSpec,
    line: FigureLine[Series],
    axis: Axis,
    scale: tuple[Scale, float],
    y: PointAxis,
    peaks: PeakLines,
) -> PointLine:
    x, per_x = scale
    placed = valued.by_place(
        figure,
        line.members,
        partial(_number, figure),
        lambda number: f"stand at {figure.x.axis} {number} of {line.label}",
    )
    peaks.add(line.label, {number / per_x: series for number, series in placed.items()}, y)
    rows, points, missing, records = [], [], [], []
    for number, series in sorted(placed.items(), key=itemgetter(0)):
        point = y.point(series)
        if point is None:
            missing.append(number / per_x)
            continue
        points.append(point)
        rows.append((number / per_x, point.value, point.low, point.high))
        numbers = record(point.summary, series.average)
        records.append((*valued.columns(line.label, series), number, *numbers))
    if x.log:
        valued.refuse_unloggable(figure, "x", min(placed))
    if y.scale.log:
        ends = [end for row in rows for end in row[1:3] if not np.isnan(end)]
        valued.refuse_unloggable(figure, "y", min(ends, default=None))
    plotted = PlottedSeries(line.label, np.array(rows, np.float64).reshape(-1, 4))
    # The author's own words stand for a number, such as one that leaves a choice to the kernel.
    labels = tuple((number / per_x, label) for number in placed if (label := axis.label(number)))
    extremes = (
        _extremes(rows, replace(x, tics=labels), y.scale) if rows else y.absence(line.members)
    )
    return PointLine(plotted, points, missing, f"{line.label}: {extremes}.", records)


def _number(figure: FigureSpec, series: Series) -> float:
    value: Value | None = axis_value(series, figure.x.axis)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"figure {figure.name!r}: {figure.x.axis} is {value!r} in test {series.test!r}, which"
            " has no place on a line: choose a parameter with a number for 'x.axis', narrow"
            " 'select', or use kind: bars"
        )
    return value


def _extremes(rows: Sequence[tuple[float, ...]], x: Scale, y: Scale) -> str:
    """Return the least and the greatest value and where they are."""
    ends = (min(rows, key=itemgetter(1)), max(rows, key=itemgetter(1)))
    values = [f"{valued.number_text(*row[1:4])}{valued.unit_of(y)}" for row in ends]
    texts = [f"{text} at {place_text(row[0], x)}" for text, row in zip(values, ends, strict=True)]
    if len(rows) == 1:
        return texts[0]
    if ends[0][1] == ends[1][1]:
        return f"{values[0]} at all {len(rows)} points"
    return f"least {texts[0]}, greatest {texts[1]}"


def _kind(style: Style) -> Kind[Series]:
    return Kind(
        x=AxisRules(axis="number", log=True),
        y=AxisRules(metric="statistic", log=True, limits=True, peak=True),
        most=20,
        absent=valued.ABSENT,
        members=valued.members,
        draw=partial(_draw, style),
        errors=True,
    )


KIND = _kind("lines")
POINTS = _kind("points")
