"""A metric against a parameter: throughput by datagram size, losses by wait between packets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from railgauge.analysis import Summary, summarise
from railgauge.cases import Value
from railgauge.errors import InputError
from railgauge.report.axes import Axis, axis_value
from railgauge.report.figure import Content, Plotted, Scale
from railgauge.report.kinds import valued
from railgauge.report.kinds.base import Kind, Line, scale_of
from railgauge.report.marks import groups_of
from railgauge.report.model import FigureSpec

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

_COLUMNS = ("run", "test", "link", "case_key", "series")
# Of these the values behind them say how far off they may be.
_CENTRES = ("mean", "median")


def _draw(
    figure: FigureSpec, store: Store, lines: Sequence[Line[Series]], axis_of: Callable[[str], Axis]
) -> Content:
    axis = axis_of(figure.x.axis)
    x, per_x = scale_of(figure, figure.x, axis.title, axis.unit, log=False)
    statistic = figure.y.statistic
    every = [one for line in lines for one in line.members]
    base = valued.base_unit(figure, statistic, every)
    title = valued.what(figure.y.metric, statistic)
    y, per_y = scale_of(figure, figure.y, title, base, log=False)
    bars = statistic in _CENTRES
    plotted, summary, records = [], [], []
    empty = several = 0
    for line in lines:
        points = []
        for one in _along(figure, line):
            if not len(one.values):
                empty += 1
                continue
            value, found = _number(figure, one), summarise(one.values)
            shown = getattr(found, statistic)
            if shown is None:
                empty += 1
                continue
            low, high = (found.minimum, found.maximum) if bars else (shown, shown)
            several = max(several, found.n)
            points.append((value / per_x, shown / per_y, low / per_y, high / per_y))
            case = (one.run, one.test, one.case.link, one.case.key, line.label)
            records.append((*case, value, *found))
        _refuse_unloggable(figure, x, y, points)
        plotted.append(Plotted(line.label, np.array(points, np.float64).reshape(-1, 4)))
        summary.append(f"{line.label}: {_told(points, x, y)}.")
    return Content(
        style="lines",
        x=x,
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=(*_COLUMNS, figure.x.axis, *Summary._fields),
        records=tuple(records),
        notes=_notes(several if bars else 0, empty, every),
    )


def _notes(several: int, empty: int, shown: Sequence[Series]) -> tuple[str, ...]:
    """Tell of bars over `several` replications, of `empty` cases, and of odd ones."""
    notes = []
    if several > 1:
        notes.append(f"Bars: the least and the greatest of {several} replications.")
    if empty:
        are = "s without a value are" if empty > 1 else " without a value is"
        notes.append(f"{empty} case{are} not shown.")
    suspect = sum(1 for one in shown if one.suspect.any())
    if suspect:
        notes.append(f"Points with suspect replications, which are included: {suspect}.")
    apart = sum(1 for one in shown if groups_of(one))
    if apart:
        notes.append(f"Points whose values fall into two groups: {apart}.")
    return tuple(notes)


def _along(figure: FigureSpec, line: Line[Series]) -> list[Series]:
    """Return the line's series by their place on x; InputError where two share one."""
    places: dict[float, Series] = {}
    for one in line.members:
        place = _number(figure, one)
        if place in places:
            raise InputError(
                f"figure {figure.name!r}: two cases stand at {figure.x.axis}"
                f" {axis_value(one, figure.x.axis)} of {line.label}: narrow 'select', or report"
                " one run at a time"
            )
        places[place] = one
    return [places[place] for place in sorted(places)]


def _number(figure: FigureSpec, one: Series) -> float:
    value: Value | None = axis_value(one, figure.x.axis)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"figure {figure.name!r}: {figure.x.axis} is {value!r} in test {one.test!r}, which has"
            " no place on a line: choose a parameter with a number for 'x.axis', or narrow 'select'"
        )
    return value


def _refuse_unloggable(
    figure: FigureSpec, x: Scale, y: Scale, points: Sequence[tuple[float, ...]]
) -> None:
    for name, column, log in (("x", 0, x.log), ("y", 1, y.log), ("y", 2, y.log)):
        if log and any(point[column] <= 0 for point in points):
            raise InputError(
                f"figure {figure.name!r}: a value of 0 or less has no place on a logarithmic axis:"
                f" leave out 'log' of {name!r}"
            )


def _told(points: Sequence[tuple[float, ...]], x: Scale, y: Scale) -> str:
    if not points:
        return "nothing measured"
    unit_x, unit_y = (f" {scale.unit}" if scale.unit else "" for scale in (x, y))
    least, most = min(points, key=lambda p: p[1]), max(points, key=lambda p: p[1])
    return ", ".join(
        f"{kind} {_written(point[1], 4)}{unit_y} at {_written(point[0], 6)}{unit_x}"
        for kind, point in (("least", least), ("greatest", most))
    )


def _written(value: float, digits: int) -> str:
    """Return a number with at least so many significant digits, without an exponent if large."""
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e15 else f"{value:.{digits}g}"


KIND: Kind[Series] = Kind(
    x=None,
    y=None,
    log=("x", "y"),
    most=20,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    lacking=valued.lacking,
)
