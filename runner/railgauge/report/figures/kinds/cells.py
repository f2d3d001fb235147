"""Heat map over any two axes: a metric by, say, datagram and socket buffer, a cell a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import plain_number
from railgauge.plan.cases import Value
from railgauge.report.definition.statistic import summary_of, value_of, words_of
from railgauge.report.figures.figure import Content, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.colouring import Colouring
from railgauge.report.figures.kinds.heatmap import MOST_CELLS, make_grid, tics
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind
from railgauge.report.figures.kinds.unseen import map_crosses
from railgauge.report.tables.axes import Axis, AxisValue, axis_value
from railgauge.stats.summary import summarise

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """`values` float64 (rows, columns) in base units, NaN: none; `cases` are those there.

    `x` and `y` are the columns' and rows' values on their axes, rows from the top.
    """

    x: Sequence[AxisValue]
    y: Sequence[AxisValue]
    values: NDArray[np.float64]
    cases: dict[tuple[int, int], Series]


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    all_series = lines[0].members
    x_axis, y_axis = axis_of(figure.x.axis), axis_of(figure.y.axis)
    statistic = valued.shown_statistic(figure, all_series)
    base = valued.base_unit(figure, statistic, all_series)
    placed = _placed(figure, all_series, statistic, x_axis, y_axis)
    values = placed.values[~np.isnan(placed.values)]
    scale, per_unit = valued.value_scale(figure, figure.y, base, values, statistic)
    # What the definition calls the y axis is not what the colours show.
    scale = Scale(valued.metric_title(figure.metric, statistic), scale.unit, scale.log)
    if scale.log:
        valued.refuse_unloggable(figure, "y", min(values.tolist(), default=None))
    colouring = Colouring(values / per_unit, scale, statistic, all_series[0].better)
    missing = [place[::-1] for place in placed.cases if np.isnan(placed.values[place])]
    return Content(
        style="grid",
        x=Scale(figure.x.title or x_axis.title),
        y=Scale(figure.y.title or y_axis.title),
        plotted=(),
        summary=tuple(_summary(placed, placed.values / per_unit, scale, (x_axis, y_axis))),
        header=valued.header(("x", x_axis.name), ("y", y_axis.name), series=False),
        records=tuple(_records(placed, x_axis, y_axis)),
        notes=tuple(_notes(all_series, statistic, colouring, len(missing))),
        grid=make_grid(
            placed.values / per_unit,
            np.array(missing, np.float64).reshape(-1, 2),
            colouring,
            tics([x_axis.text(value) for value in placed.x]),
            tics([y_axis.text(value) for value in placed.y]),
        ),
    )


def _placed(
    figure: FigureSpec, all_series: Sequence[Series], statistic: str, x_axis: Axis, y_axis: Axis
) -> _Cells:
    """Return which case stands where; InputError where two share a cell, or there are too many."""
    x = x_axis.sorted(axis_value(series, x_axis.name) for series in all_series)
    # As on any y axis, the first stands at the bottom.
    y = y_axis.sorted(axis_value(series, y_axis.name) for series in all_series)[::-1]
    for axis, places in ((x_axis, x), (y_axis, y)):
        if len(places) > MOST_CELLS:
            raise InputError(
                f"figure {figure.name!r}: {axis.name} has {len(places)} values, more than the"
                f" {MOST_CELLS} cells in a row that can be distinguished: narrow 'select'"
            )
    columns, rows = ({value: i for i, value in enumerate(places)} for places in (x, y))
    placed = valued.by_place(
        figure,
        all_series,
        lambda series: (axis_value(series, x_axis.name), axis_value(series, y_axis.name)),
        lambda place: f"stand at {x_axis.name} {place[0]} and {y_axis.name} {place[1]}",
    )
    cases = {(rows[row], columns[column]): series for (column, row), series in placed.items()}
    values = np.full((len(y), len(x)), np.nan)
    for place, series in cases.items():
        if not len(series.values):
            continue
        summary = summary_of(series, summarise(series.values, series.level))
        value = value_of(summary, statistic)
        values[place] = np.nan if value is None else value
    return _Cells(x, y, values, cases)


def _summary(
    placed: _Cells, values: NDArray[np.float64], scale: Scale, axes: tuple[Axis, Axis]
) -> Iterator[str]:
    present = ~np.isnan(values)
    count = int(np.count_nonzero(present))
    have = "has" if count == 1 else "have"
    size = f"{len(placed.x)} by {len(placed.y)} cells"
    start = f"{size}, {count} of {len(placed.cases)} {have} a value"
    if not count:
        yield f"{start}."
        return
    unit = valued.unit_of(scale)

    def cell_text(place: int) -> str:
        row, column = divmod(place, values.shape[1])
        where = (
            f"{axis.name.replace('_', ' ')} {axis.text(value)}"
            for axis, value in zip(axes, (placed.x[column], placed.y[row]), strict=True)
        )
        return f"{plain_number(values[row, column])}{unit} at {', '.join(where)}"

    least, most = int(np.nanargmin(values)), int(np.nanargmax(values))
    middle = plain_number(float(np.median(values[present])))
    yield (f"{start}: median {middle}{unit}, least {cell_text(least)}, greatest {cell_text(most)}.")


def _notes(
    all_series: Sequence[Series], statistic: str, colouring: Colouring, missing: int
) -> Iterator[str]:
    counts = valued.replications(all_series)
    if max(counts, default=0) > 1:
        yield f"Cells: the {words_of(statistic)} of {valued.count_range(counts)} replications."
    yield from colouring.notes("cell")
    numberless = valued.measured(all_series) - (len(all_series) - missing)
    yield from map_crosses(missing, "cell", numberless, statistic)
    yield from valued.notes(all_series, "Cells")


def _records(placed: _Cells, x_axis: Axis, y_axis: Axis) -> Iterator[tuple[Value | None, ...]]:
    for (row, column), series in sorted(placed.cases.items(), key=itemgetter(0)):
        texts = x_axis.text(placed.x[column]), y_axis.text(placed.y[row])
        yield (*valued.columns("", series)[:-1], *texts, *valued.numbers(series))


KIND: Kind[Series] = Kind(
    x=AxisRules(axis="any"),
    y=AxisRules(axis="any", metric="statistic", log=True),
    most=1,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
    together=True,
)
