"""Bars, grouped: a metric by any axis, a bar for each series at each of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import errorbars, valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows
from railgauge.report.figures.kinds.limits import crosses
from railgauge.report.tables.axes import Axis, AxisValue, axis_value
from railgauge.report.tables.statistic import record

if TYPE_CHECKING:
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
    every = [one for line in lines for one in line.members]
    places = _places(figure, axis, every)
    shown, y, per_y = errorbars.upright(figure, every)
    plotted, summary, records = [], [], []
    found: list[errorbars.Point] = []
    missing: list[float] = []
    wide = _GROUP / len(lines)
    for number, line in enumerate(lines):
        rows, told = [], []
        for value, one in _by_place(figure, line, places):
            left = places[value] - _GROUP / 2 + number * wide
            at = errorbars.point(one, shown)
            if at is None:
                missing.append(left + wide / 2)
                told.append(f"nothing at {axis.text(value)}")
                continue
            found.append(at)
            right = left + wide * (_FILLED if len(lines) > 1 else 1)
            rows.append((left, right, at.value / per_y, at.low / per_y, at.high / per_y))
            number_text = valued.written(at.value / per_y, 4)
            told.append(f"{number_text}{valued.unit_of(y)} at {axis.text(value)}")
            text = axis.text(value)
            numbers = record(at.found, one.metric, one.unit)
            records.append((*valued.columns(line.label, one), text, *numbers))
        plotted.append(PlottedSeries(line.label, np.array(rows, np.float64).reshape(-1, 5)))
        summary.append(f"{line.label}: {', '.join(told)}.")
    if all(row >= 0 for one in plotted for row in one.points[:, 2:].ravel() if not np.isnan(row)):
        y = replace(y, low=0.0)
    tics = tuple((float(place), axis.text(value)) for value, place in places.items())
    return Content(
        style="bars",
        x=Scale(figure.x.title or axis.title, tics=tics, low=-0.6, high=len(places) - 0.4),
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=valued.header(("x", figure.x.axis)),
        records=tuple(records),
        notes=(
            *errorbars.told(shown, found, "Bars", "lines on them"),
            *crosses(len(missing), "case", errorbars.numberless(every, found), shown.statistic),
            *valued.notes(every, "Bars"),
        ),
        missing=tuple(missing),
    )


def _places(figure: FigureSpec, axis: Axis, every: Sequence[Series]) -> dict[AxisValue, int]:
    values = axis.sorted(axis_value(one, figure.x.axis) for one in every)
    if len(values) > _MOST_GROUPS:
        raise InputError(
            f"figure {figure.name!r} would show {len(values)} groups of bars, more than the"
            f" {_MOST_GROUPS} that can be read: narrow 'select', or use kind: points"
        )
    return {value: place for place, value in enumerate(values)}


def _by_place(
    figure: FigureSpec, line: FigureLine[Series], places: dict[AxisValue, int]
) -> list[tuple[AxisValue, Series]]:
    """Return the line's series with their values on x, in order; InputError where two share one."""
    found: dict[AxisValue, Series] = {}
    for one in line.members:
        value = axis_value(one, figure.x.axis)
        if value in found:
            where = f"stand at {figure.x.axis} {value} of {line.label}"
            raise valued.two_cases(figure, where, found[value], one)
        found[value] = one
    return sorted(found.items(), key=lambda item: places[item[0]])


KIND: Kind[Series] = Kind(
    x=Shows(axis="any"),
    y=Shows(metric="statistic"),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    lacking=valued.lacking,
    errors=True,
)
