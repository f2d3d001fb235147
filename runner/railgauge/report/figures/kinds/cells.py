"""Heat map over any two axes: a metric by, say, datagram and socket buffer, a cell a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit
from railgauge.plan.cases import Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content, Grid, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows, scale_of
from railgauge.report.figures.kinds.colouring import Colouring, better
from railgauge.report.figures.kinds.heatmap import MOST_CELLS, cells, tics
from railgauge.report.figures.kinds.limits import crossed
from railgauge.report.tables.axes import Axis, AxisValue, axis_value
from railgauge.report.tables.statistic import FIELDS, record, value_of, words_of
from railgauge.stats import summarise

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """`values` float64 (rows, columns) in base units, NaN: none; `ones` are the cases there.

    `x` and `y` are the columns' and rows' values on their axes, rows from the top.
    """

    x: Sequence[AxisValue]
    y: Sequence[AxisValue]
    values: NDArray[np.float64]
    ones: dict[tuple[int, int], Series]


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    shown = lines[0].members
    x_axis, y_axis = axis_of(figure.x.axis), axis_of(figure.y.axis)
    statistic = valued.shown_statistic(figure, shown)
    base = valued.base_unit(figure, statistic, shown)
    placed = _placed(figure, shown, statistic, x_axis, y_axis)
    found = placed.values[~np.isnan(placed.values)]
    title = valued.what(figure.metric, statistic)
    best = best_unit(base, found.tolist())
    scale, per_unit = scale_of(figure, figure.y, title, base, best, log=False)
    # What the definition calls the y axis is not what the colours show.
    scale = Scale(title, scale.unit, scale.log)
    if scale.log:
        valued.refuse_unloggable(figure, "y", min(found.tolist(), default=None))
    colouring = Colouring(found / per_unit, scale, better(statistic, shown[0].better))
    missing = [place[::-1] for place in placed.ones if np.isnan(placed.values[place])]
    return Content(
        style="grid",
        x=Scale(figure.x.title or x_axis.title),
        y=Scale(figure.y.title or y_axis.title),
        plotted=(),
        summary=tuple(_summary(placed, placed.values / per_unit, scale, (x_axis, y_axis))),
        header=valued.header(("x", x_axis.name), ("y", y_axis.name), series=False),
        records=tuple(_records(placed, x_axis, y_axis)),
        notes=tuple(_notes(shown, statistic, colouring, len(missing))),
        grid=Grid(
            columns=len(placed.x),
            rows=len(placed.y),
            cells=cells(placed.values / per_unit, colouring),
            missing=np.array(missing, np.float64).reshape(-1, 2),
            bar=colouring.bar(len(placed.y)),
            x_tics=tics([x_axis.text(value) for value in placed.x]),
            y_tics=tics([y_axis.text(value) for value in placed.y]),
            bar_tics=colouring.tics(len(placed.y)),
            colours=colouring.title,
        ),
    )


def _placed(
    figure: FigureSpec, shown: Sequence[Series], statistic: str, x_axis: Axis, y_axis: Axis
) -> _Cells:
    """Return which case stands where; InputError where two share a cell, or there are too many."""
    x = x_axis.sorted(axis_value(one, x_axis.name) for one in shown)
    # As on any y axis, the first stands at the bottom.
    y = y_axis.sorted(axis_value(one, y_axis.name) for one in shown)[::-1]
    for axis, there in ((x_axis, x), (y_axis, y)):
        if len(there) > MOST_CELLS:
            raise InputError(
                f"figure {figure.name!r}: {axis.name} has {len(there)} values, more than the"
                f" {MOST_CELLS} cells in a row that can be told apart: narrow 'select'"
            )
    columns, rows = ({value: i for i, value in enumerate(those)} for those in (x, y))
    values = np.full((len(y), len(x)), np.nan)
    ones: dict[tuple[int, int], Series] = {}
    for one in shown:
        at = axis_value(one, x_axis.name), axis_value(one, y_axis.name)
        place = rows[at[1]], columns[at[0]]
        if place in ones:
            where = f"stand at {x_axis.name} {at[0]} and {y_axis.name} {at[1]}"
            raise valued.two_cases(figure, where, ones[place], one)
        ones[place] = one
        value = value_of(summarise(one.values), statistic) if len(one.values) else None
        values[place] = np.nan if value is None else value
    return _Cells(x, y, values, ones)


def _summary(
    placed: _Cells, values: NDArray[np.float64], scale: Scale, axes: tuple[Axis, Axis]
) -> Iterator[str]:
    there = ~np.isnan(values)
    count = int(np.count_nonzero(there))
    start = f"{len(placed.x)} by {len(placed.y)} cells, {count} of {len(placed.ones)} have a value"
    if not count:
        yield f"{start}."
        return
    unit = valued.unit_of(scale)

    def told(place: int) -> str:
        row, column = divmod(place, values.shape[1])
        where = (
            f"{axis.name.replace('_', ' ')} {axis.text(value)}"
            for axis, value in zip(axes, (placed.x[column], placed.y[row]), strict=True)
        )
        return f"{values[row, column]:.4g}{unit} at {', '.join(where)}"

    least, most = int(np.nanargmin(values)), int(np.nanargmax(values))
    yield (
        f"{start}: median {np.median(values[there]):.4g}{unit}, least {told(least)}, greatest"
        f" {told(most)}."
    )


def _notes(
    shown: Sequence[Series], statistic: str, colouring: Colouring, missing: int
) -> Iterator[str]:
    counts = {len(one.values) for one in shown if len(one.values)}
    if max(counts, default=0) > 1:
        yield f"Cells: the {words_of(statistic)} of {valued.counted(counts)} replications."
    yield from colouring.notes("cell")
    measured = sum(1 for one in shown if len(one.values))
    yield from crossed(missing, "cell", measured - (len(shown) - missing), statistic)
    yield from valued.notes(shown, "Cells")


def _records(placed: _Cells, x_axis: Axis, y_axis: Axis) -> Iterator[tuple[Value | None, ...]]:
    for (row, column), one in sorted(placed.ones.items()):
        texts = x_axis.text(placed.x[column]), y_axis.text(placed.y[row])
        numbers: tuple[Value | None, ...] = (0, *(None,) * (len(FIELDS) - 1))
        if len(one.values):
            numbers = record(summarise(one.values), one.metric, one.unit)
        yield (*valued.columns("", one)[:-1], *texts, *numbers)


KIND: Kind[Series] = Kind(
    x=Shows(axis="any"),
    y=Shows(axis="any", metric="statistic", log=True),
    most=1,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    lacking=valued.lacking,
    together=True,
)
