"""Every replication as a mark, over their numbers or over time: drifts, outliers, what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit
from railgauge.plan.cases import Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows, scale_of
from railgauge.report.figures.kinds.limits import beyond, crosses, refuse_unseen, within
from railgauge.report.figures.kinds.moments import time_scale
from railgauge.report.figures.thin import visible_values
from railgauge.report.tables.axes import Axis

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.moments import Moment
    from railgauge.store.records import Series

_Read = Mapping[int, Mapping[tuple[str, str], Sequence["Moment"]]]

_OVER = ("replication", "time")


class _Mark(NamedTuple):
    """A replication: its case, number, status, when it began, its value in the base unit."""

    one: Series
    number: int
    status: str
    began: str
    value: float | None


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    over_time = figure.x.axis == "time"
    every = [one for line in lines for one in line.members]
    base = valued.base_unit(figure, "median", every)
    best = best_unit(base, np.concatenate([one.values for one in every]).tolist())
    title = valued.what(figure.metric)
    y, per_y = scale_of(figure, figure.y, title, base, best, log=False)
    read = _read(store, every, figure.metric)
    marks = [_marks(figure, read, line, over_time=over_time) for line in lines]
    known = [[one for one in those if one.began or not over_time] for those in marks]
    timeless = sum(map(len, marks)) - sum(map(len, known))
    if timeless and not any(known):
        raise InputError(
            f"figure {figure.name!r}: nobody knows when these replications were measured: use"
            " x: {axis: replication}"
        )
    plotted, summary, records = [], [], []
    drawn = 0
    for line, those in zip(lines, known, strict=True):
        rows = {status: _rows(those, status, per_y, over_time) for status in ("ok", "suspect")}
        if y.log:
            least = min((row[:, 1].min() for row in rows.values() if len(row)), default=None)
            valued.refuse_unloggable(figure, "y", least)
        shown = {
            status: row[visible_values(row[:, 0], within(y, row[:, 1]), log_y=y.log)]
            for status, row in rows.items()
        }
        drawn += sum(map(len, shown.values()))
        plotted.append(PlottedSeries(line.label, shown["ok"], shown["suspect"]))
        summary.append(f"{line.label}: {_told(those, y, per_y)}.")
        records += [_record(line.label, one) for one in those]
    failed = [_place(one, over_time) for those in known for one in those if one.value is None]
    values = [one.value / per_y for those in known for one in those if one.value is not None]
    refuse_unseen(figure, y, values)
    return Content(
        style="marks",
        x=_x(figure, known, over_time=over_time),
        y=y,
        plotted=tuple(plotted),
        summary=tuple(summary),
        header=(*valued.COLUMNS, "replication", "started_at", "status", "metric", "value", "unit"),
        records=tuple(records),
        notes=(
            *_thinned(drawn, len(values)),
            *crosses(len(failed), "replication"),
            *_timeless(timeless),
            *_unmeasured(every, read),
            *_hollow(known),
            *beyond(y, values),
            *valued.odd(every, "Series"),
        ),
        missing=tuple(sorted(set(failed))),
    )


def _read(store: Store, every: Sequence[Series], metric: str) -> _Read:
    """Return the replications of all series by run, then by test and case key."""
    keys: dict[int, dict[str, None]] = {}
    for one in every:
        keys.setdefault(one.run, {})[one.case.key] = None
    return {run: store.moments(run, those, metric) for run, those in keys.items()}


def _marks(
    figure: FigureSpec, read: _Read, line: FigureLine[Series], *, over_time: bool
) -> list[_Mark]:
    """Return the replications of a series; over time there may be a case of each of its runs."""
    if not over_time:
        valued.only_one(figure, line.label, line.members)
    found: list[_Mark] = []
    runs: dict[int, Series] = {}
    for one in line.members:
        if one.run in runs:
            raise valued.two_cases(figure, f"are of {line.label} in one run", runs[one.run], one)
        runs[one.run] = one
        found += [_Mark(one, *each) for each in read[one.run].get((one.test, one.case.key), [])]
    return found


def _place(mark: _Mark, over_time: bool) -> float:
    return datetime.fromisoformat(mark.began).timestamp() if over_time else float(mark.number)


def _rows(
    marks: Sequence[_Mark], status: str, per_y: float, over_time: bool
) -> NDArray[np.float64]:
    rows = [
        (_place(one, over_time), one.value / per_y)
        for one in marks
        if one.status == status and one.value is not None
    ]
    return np.array(sorted(rows), np.float64).reshape(-1, 2)


def _x(figure: FigureSpec, known: Sequence[Sequence[_Mark]], *, over_time: bool) -> Scale:
    places = [_place(one, over_time) for those in known for one in those]
    if over_time:
        scale = time_scale(places)
        return replace(scale, title=figure.x.title or scale.title)
    x, _ = scale_of(figure, figure.x, "Replication", "", log=False)
    # Half a place is left at either end, so that no mark sits on an axis.
    return replace(x, low=0.5, high=max(places, default=1.0) + 0.5)


def _told(marks: Sequence[_Mark], y: Scale, per_y: float) -> str:
    values = np.array([one.value / per_y for one in marks if one.value is not None])
    suspect = sum(1 for one in marks if one.status == "suspect")
    failed = sum(1 for one in marks if one.value is None)
    if not len(values):
        return "nothing measured" + (f", {failed} failed" if failed else "")
    unit = valued.unit_of(y)
    least, middle, most = (
        f"{valued.written(float(value), 4)}{unit}"
        for value in (values.min(), np.median(values), values.max())
    )
    plural = "s" if len(values) > 1 else ""
    told = f"{len(values)} value{plural}, median {middle}, least {least}, greatest {most}"
    told += f"; {suspect} suspect" if suspect else ""
    return told + (f"; {failed} without a value" if failed else "")


def _record(label: str, mark: _Mark) -> tuple[Value | None, ...]:
    start = (*valued.columns(label, mark.one), mark.number, mark.began, mark.status)
    return (*start, mark.one.metric, mark.value, mark.one.unit)


def _thinned(drawn: int, held: int) -> Iterator[str]:
    if drawn < held:
        yield f"{drawn} of {held} replications are drawn: the others fall on the same spots."


def _timeless(count: int) -> Iterator[str]:
    if count:
        yield f"Not drawn, as nobody knows when they were measured: {count} replications."


def _unmeasured(every: Sequence[Series], read: _Read) -> Iterator[str]:
    count = sum(
        max(0, one.planned - len(read[one.run].get((one.test, one.case.key), ())))
        for one in every
        if one.least is None and not one.skipped
    )
    if count:
        yield f"Replications not measured: {count}."


def _hollow(known: Sequence[Sequence[_Mark]]) -> Iterator[str]:
    suspect = sum(1 for those in known for one in those if one.status == "suspect")
    if suspect:
        plural = "s" if suspect > 1 else ""
        yield f"Hollow marks: {suspect} suspect replication{plural}."


def _along(figure: FigureSpec) -> str:
    return "run" if figure.x.axis == "time" else ""


KIND: Kind[Series] = Kind(
    x=Shows(unit="", choices=_OVER),
    y=Shows(metric="values", log=True, limits=True),
    most=7,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    lacking=valued.lacking,
    along=_along,
)
