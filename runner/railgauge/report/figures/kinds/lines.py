"""A metric against a parameter, as lines or as points: throughput by datagram size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.plan.cases import Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, PlottedSeries, Scale, Style
from railgauge.report.figures.kinds import errorbars, valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows, scale_of
from railgauge.report.figures.kinds.limits import beyond, crosses, refuse_unseen
from railgauge.report.tables.axes import Axis, axis_value
from railgauge.report.tables.statistic import record

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series


def _draw(
    style: Style,
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    axis = axis_of(figure.x.axis)
    x, per_x = scale_of(figure, figure.x, axis.title, axis.unit, log=False)
    every = [one for line in lines for one in line.members]
    shown, y, per_y = errorbars.upright(figure, every)
    plotted, summary, records = [], [], []
    found: list[errorbars.Point] = []
    missing: list[float] = []
    for line in lines:
        points = []
        those = _along(figure, line)
        for one in those:
            value, at = _number(figure, one), errorbars.point(one, shown)
            if at is None:
                missing.append(value / per_x)
                continue
            found.append(at)
            points.append((value / per_x, at.value / per_y, at.low / per_y, at.high / per_y))
            numbers = record(at.found, one.metric, one.unit)
            records.append((*valued.columns(line.label, one), value, *numbers))
        along = [_number(figure, one) for one in those]
        _refuse_unloggable(figure, x, y, along, points)
        plotted.append(PlottedSeries(line.label, np.array(points, np.float64).reshape(-1, 4)))
        nothing = errorbars.none_of(those, shown)
        summary.append(f"{line.label}: {_told(points, x, y) if points else nothing}.")
    seen = [row for one in plotted for row in one.points[:, 1:].ravel().tolist()]
    refuse_unseen(figure, y, [at.value / per_y for at in found])
    return Content(
        style=style,
        x=x,
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=valued.header(("x", figure.x.axis)),
        records=tuple(records),
        notes=(
            *errorbars.told(shown, found, "Points", "bars"),
            *crosses(len(missing), "case", errorbars.numberless(every, found), shown.statistic),
            *beyond(y, seen),
            *valued.notes(every),
        ),
        missing=tuple(sorted(set(missing))),
    )


def _along(figure: FigureSpec, line: FigureLine[Series]) -> list[Series]:
    """Return the line's series by their place on x; InputError where two share one."""
    places: dict[float, Series] = {}
    for one in line.members:
        place = _number(figure, one)
        if place in places:
            where = f"stand at {figure.x.axis} {axis_value(one, figure.x.axis)} of {line.label}"
            raise valued.two_cases(figure, where, places[place], one)
        places[place] = one
    return [places[place] for place in sorted(places)]


def _number(figure: FigureSpec, one: Series) -> float:
    value: Value | None = axis_value(one, figure.x.axis)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"figure {figure.name!r}: {figure.x.axis} is {value!r} in test {one.test!r}, which has"
            " no place on a line: choose a parameter with a number for 'x.axis', narrow 'select',"
            " or use kind: bars"
        )
    return value


def _refuse_unloggable(
    figure: FigureSpec,
    x: Scale,
    y: Scale,
    along: Sequence[float],
    points: Sequence[tuple[float, ...]],
) -> None:
    if x.log:
        valued.refuse_unloggable(figure, "x", min(along, default=None))
    if y.log:
        ends = [end for row in points for end in row[1:3] if not np.isnan(end)]
        valued.refuse_unloggable(figure, "y", min(ends, default=None))


def _told(points: Sequence[tuple[float, ...]], x: Scale, y: Scale) -> str:
    least, most = min(points, key=lambda p: p[1]), max(points, key=lambda p: p[1])
    at = [
        f"{valued.written(point[1], 4)}{valued.unit_of(y)}"
        f" at {valued.written(point[0], 6)}{valued.unit_of(x)}"
        for point in (least, most)
    ]
    return at[0] if len(points) == 1 else f"least {at[0]}, greatest {at[1]}"


def _kind(style: Style) -> Kind[Series]:
    return Kind(
        x=Shows(axis="number", log=True),
        y=Shows(metric="statistic", log=True, limits=True),
        most=20,
        absent=valued.ABSENT,
        members=valued.members,
        draw=partial(_draw, style),
        lacking=valued.lacking,
        errors=True,
    )


KIND = _kind("lines")
POINTS = _kind("points")
