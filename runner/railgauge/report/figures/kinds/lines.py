"""A metric against a parameter, as lines or as points: throughput by datagram size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.plan.cases import Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.definition.statistic import record
from railgauge.report.figures.figure import Content, PlottedSeries, Scale, Style, place_text
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.errorbars import PointAxis, PointLine, point_axis
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.peak_lines import PeakLines
from railgauge.report.figures.kinds.unseen import beyond, refuse_unseen
from railgauge.report.tables.axes import Axis, axis_value

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

# More sizes than these have round numbers instead.
_MOST_SIZES = 12


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
