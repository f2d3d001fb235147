"""Every replication as a mark, over their numbers or over time: drifts, outliers, what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.plan.cases import Value
from railgauge.report.definition.statistic import DEFAULT
from railgauge.report.figures.axis_ends import time_scale
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, scale_of
from railgauge.report.figures.kinds.unseen import beyond, crosses, refuse_unseen, within
from railgauge.report.figures.thin import thinned, visible_values
from railgauge.report.tables.axes import Axis

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series
    from railgauge.store.stored_replications import Moment

_Moments = Mapping[int, Mapping[tuple[str, str], Sequence["Moment"]]]

_OVER = ("replication", "time")


class _Mark(NamedTuple):
    """A replication as `Moment` has it, and the case that it is of."""

    series: Series
    number: int
    status: str
    started_at: str
    value: float | None


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where marks stand: on x by their numbers or by time, on y by their values.

    `per_y` is how many base units the unit of `y` is.
    """

    over_time: bool
    y: Scale
    per_y: float

    def place(self, mark: _Mark) -> float:
        """Return the mark's place on x."""
        if self.over_time:
            return datetime.fromisoformat(mark.started_at).timestamp()
        return float(mark.number)

    def rows(self, marks: Sequence[_Mark], status: str) -> NDArray[np.float64]:
        """Return (n, 2): x and y of the marks of that status, in order."""
        rows = [
            (self.place(mark), mark.value / self.per_y)
            for mark in marks
            if mark.status == status and mark.value is not None
        ]
        return np.array(sorted(rows), np.float64).reshape(-1, 2)


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    all_series = [series for line in lines for series in line.members]
    base = valued.base_unit(figure, DEFAULT, all_series)
    values = np.concatenate([series.values for series in all_series])
    y, per_y = valued.value_scale(figure, figure.y, base, values)
    axes = _Axes(figure.x.axis == "time", y, per_y)
    moments = _moments(store, all_series, figure.metric)
    read = [_marks(figure, moments, line, over_time=axes.over_time) for line in lines]
    # Those that have a place on x.
    drawn = [[mark for mark in marks if mark.started_at or not axes.over_time] for marks in read]
    timeless = sum(map(len, read)) - sum(map(len, drawn))
    if timeless and not any(drawn):
        raise InputError(
            f"figure {figure.name!r}: nobody knows when these replications were measured: use"
            " x: {axis: replication}"
        )
    pairs = list(zip((line.label for line in lines), drawn, strict=True))
    plotted = [_plotted(figure, label, marks, axes) for label, marks in pairs]
    placed = [mark for marks in drawn for mark in marks]
    failed = [axes.place(mark) for mark in placed if mark.value is None]
    heights = [mark.value / per_y for mark in placed if mark.value is not None]
    refuse_unseen(figure, y, heights)
    count = sum(len(series.points) + len(series.suspect) for series in plotted)
    return Content(
        style="marks",
        x=_x(figure, [axes.place(mark) for mark in placed]),
        y=y,
        plotted=tuple(plotted),
        summary=tuple(f"{label}: {_summary(marks, axes)}." for label, marks in pairs),
        header=(*valued.COLUMNS, "replication", "started_at", "status", "metric", "value", "unit"),
        records=tuple(_record(label, mark) for label, marks in pairs for mark in marks),
        notes=(
            *thinned(count, len(heights), "replications"),
            *crosses(len(failed), "replication"),
            *_notes(all_series, moments, placed, timeless),
            *beyond(y, heights),
            *valued.oddities(all_series, "Series"),
        ),
        missing=tuple(sorted(set(failed))),
    )


def _plotted(figure: FigureSpec, label: str, marks: Sequence[_Mark], axes: _Axes) -> PlottedSeries:
    rows = {status: axes.rows(marks, status) for status in ("ok", "suspect")}
    if axes.y.log:
        least = min((block[:, 1].min() for block in rows.values() if len(block)), default=None)
        valued.refuse_unloggable(figure, "y", least)
    points, suspect = (
        block[visible_values(block[:, 0], within(axes.y, block[:, 1]), log_y=axes.y.log)]
        for block in rows.values()
    )
    return PlottedSeries(label, points, suspect)


def _moments(store: Store, all_series: Sequence[Series], metric: str) -> _Moments:
    """Return the replications of all series by run, then by test and case key."""
    keys: dict[int, dict[str, None]] = {}
    for series in all_series:
        keys.setdefault(series.run, {})[series.case.key] = None
    return {run: store.moments(run, case_keys, metric) for run, case_keys in keys.items()}


def _marks(
    figure: FigureSpec, moments: _Moments, line: FigureLine[Series], *, over_time: bool
) -> list[_Mark]:
    """Return the replications of a series; over time there may be a case of each of its runs."""
    if not over_time:
        valued.only_one(figure, line.label, line.members)
    by_run = valued.by_place(
        figure, line.members, attrgetter("run"), lambda _: f"are of {line.label} in one run"
    )
    return [
        _Mark(series, *moment)
        for run, series in by_run.items()
        for moment in moments[run].get((series.test, series.case.key), ())
    ]


def _x(figure: FigureSpec, places: Sequence[float]) -> Scale:
    if figure.x.axis == "time":
        scale = time_scale(places)
        return replace(scale, title=figure.x.title or scale.title)
    x, _ = scale_of(figure, figure.x, "Replication", "", log=False)
    # Half a place is left at either end, so that no mark sits on an axis.
    return replace(x, low=0.5, high=max(places, default=1.0) + 0.5)


def _summary(marks: Sequence[_Mark], axes: _Axes) -> str:
    values = np.array([mark.value / axes.per_y for mark in marks if mark.value is not None])
    suspect = sum(1 for mark in marks if mark.status == "suspect")
    failed = sum(1 for mark in marks if mark.value is None)
    if not len(values):
        return "nothing measured" + (f", {failed} failed" if failed else "")
    unit = valued.unit_of(axes.y)
    least, median, greatest = (
        f"{valued.number_text(float(value))}{unit}"
        for value in (values.min(), np.median(values), values.max())
    )
    text = f"{plural(len(values), 'value')}, median {median}, least {least}, greatest {greatest}"
    text += f"; {suspect} suspect" if suspect else ""
    return text + (f"; {failed} without a value" if failed else "")


def _record(label: str, mark: _Mark) -> tuple[Value | None, ...]:
    series = mark.series
    start = (*valued.columns(label, series), mark.number, mark.started_at, mark.status)
    return (*start, series.metric, mark.value, series.unit)


def _notes(
    all_series: Sequence[Series], moments: _Moments, placed: Sequence[_Mark], timeless: int
) -> Iterator[str]:
    yield from valued.means(all_series)
    if timeless:
        undrawn = plural(timeless, "replication")
        yield f"Not drawn, as nobody knows when they were measured: {undrawn}."
    unmeasured = sum(
        max(0, series.planned - len(moments[series.run].get((series.test, series.case.key), ())))
        for series in all_series
        if series.least is None and not series.skipped
    )
    if unmeasured:
        yield f"Replications not measured: {unmeasured}."
    suspect = sum(1 for mark in placed if mark.status == "suspect")
    if suspect:
        yield f"Hollow marks: {plural(suspect, 'suspect replication')}."


def _along(figure: FigureSpec) -> str:
    return "run" if figure.x.axis == "time" else ""


KIND: Kind[Series] = Kind(
    x=AxisRules(unit="", choices=_OVER),
    y=AxisRules(metric="values", log=True, limits=True),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    along=_along,
)
