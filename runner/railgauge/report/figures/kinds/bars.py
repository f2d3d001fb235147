"""Bars, grouped: a metric by any axis, a bar for each series at each of its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.report.definition.statistic import record
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.errorbars import PointAxis, PointLine, point_axis
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind
from railgauge.report.tables.axes import Axis, AxisValue, axis_value

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series

# More groups, and their names can't be read.
_MOST_GROUPS = 50
# Of the distance between groups, what the bars of one take, and of a bar's place what it fills.
_GROUP = 0.8
_FILLED = 0.9


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    axis = axis_of(figure.x.axis)
    all_series = [series for line in lines for series in line.members]
    places = _places(figure, axis, all_series)
    y = point_axis(figure, all_series)
    width = _GROUP / len(lines)
    filled = width * (_FILLED if len(lines) > 1 else 1)
    drawn = []
    for number, line in enumerate(lines):
        lefts = {value: place - _GROUP / 2 + number * width for value, place in places.items()}
        drawn.append(_draw_line(figure, line, axis, y, lefts, width, filled))
    points = [point for line in drawn for point in line.points]
    ends = [end for line in drawn for end in line.plotted.points[:, 2:].ravel().tolist()]
    above_0 = all(end >= 0 for end in ends if not math.isnan(end))
    tics = tuple((float(place), axis.text(value)) for value, place in places.items())
    return Content(
        style="bars",
        x=Scale(figure.x.title or axis.title, tics=tics, low=-0.6, high=len(places) - 0.4),
        y=replace(y.scale, low=0.0) if above_0 else y.scale,
        plotted=tuple(line.plotted for line in drawn),
        summary=tuple(line.sentence for line in drawn),
        header=valued.header(("x", figure.x.axis)),
        records=tuple(record for line in drawn for record in line.records),
        notes=(
            *y.notes(all_series, points, "Bars", "lines on them"),
            *valued.notes(all_series, "Bars"),
        ),
        missing=tuple(place for line in drawn for place in line.missing),
    )


def _draw_line(
    figure: FigureSpec,
    line: FigureLine[Series],
    axis: Axis,
    y: PointAxis,
    lefts: Mapping[AxisValue, float],
    width: float,
    filled: float,
) -> PointLine:
    """Draw a series' bars, which begin at `lefts` and fill so much of their `width`."""
    placed = valued.by_place(
        figure,
        line.members,
        lambda series: axis_value(series, figure.x.axis),
        lambda value: f"stand at {figure.x.axis} {value} of {line.label}",
    )
    rows, points, missing, texts, records = [], [], [], [], []
    for value, series in sorted(placed.items(), key=lambda entry: lefts[entry[0]]):
        left, text = lefts[value], axis.text(value)
        point = y.point(series)
        if point is None:
            missing.append(left + width / 2)
            texts.append(f"nothing at {text}")
            continue
        points.append(point)
        rows.append((left, left + filled, point.value, point.low, point.high))
        number = valued.number_text(point.value, point.low, point.high)
        texts.append(f"{number}{valued.unit_of(y.scale)} at {text}")
        numbers = record(point.summary, series.average)
        records.append((*valued.columns(line.label, series), text, *numbers))
    plotted = PlottedSeries(line.label, np.array(rows, np.float64).reshape(-1, 5))
    return PointLine(plotted, points, missing, f"{line.label}: {', '.join(texts)}.", records)


def _places(figure: FigureSpec, axis: Axis, all_series: Sequence[Series]) -> dict[AxisValue, int]:
    values = axis.sorted(axis_value(series, figure.x.axis) for series in all_series)
    if len(values) > _MOST_GROUPS:
        raise InputError(
            f"figure {figure.name!r} would show {len(values)} groups of bars, more than the"
            f" {_MOST_GROUPS} that can be read: narrow 'select', or use kind: points"
        )
    return {value: place for place, value in enumerate(values)}


KIND: Kind[Series] = Kind(
    x=AxisRules(axis="any"),
    y=AxisRules(metric="statistic"),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    errors=True,
)
