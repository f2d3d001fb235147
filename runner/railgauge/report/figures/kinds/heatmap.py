"""Heat map: a metric of each ordered pair of hosts; a slow row is a sender, a column a receiver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit
from railgauge.plan.cases import Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.colours import colours
from railgauge.report.figures.figure import Content, Grid, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.base import FigureLine, Kind, Shows, scale_of
from railgauge.report.figures.kinds.colouring import Colouring, better
from railgauge.report.figures.kinds.limits import crossed
from railgauge.report.tables.axes import Axis
from railgauge.report.tables.matrix import Matrix, make_matrix
from railgauge.report.tables.narrowness import alarms
from railgauge.report.tables.statistic import FIELDS, record, words_of
from railgauge.stats import summarise

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

_COLUMNS = ("run", "test", "link", "case_key", "client_host", "server_host")
# More cells a side, and the files grow to megabytes that nobody can tell apart.
MOST_CELLS = 80
_MOST_NAMES = 40


def _members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    found = valued.members(store, runs, figure)
    return [one for one in found if one.case.server is not None]


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    shown = lines[0].members
    statistic = valued.shown_statistic(figure, shown)
    base = valued.base_unit(figure, statistic, shown)
    clients, servers = axis_of("client_host"), axis_of("server_host")
    matrix = make_matrix(f"figure {figure.name!r}", shown, statistic, clients)
    found = matrix.values[~np.isnan(matrix.values)]
    title = valued.what(figure.metric, statistic)
    scale, per_unit = scale_of(
        figure, figure.y, title, base, best_unit(base, found.tolist()), log=False
    )
    if scale.log and np.any(found <= 0):
        raise InputError(
            f"figure {figure.name!r}: a value of 0 or less has no place on a logarithmic scale:"
            " leave out 'log' of 'y'"
        )
    good = better(statistic, shown[0].better)
    lower = good == "lower"
    colouring = Colouring(found / per_unit, scale, good)
    step = math.ceil(len(matrix.hosts) / MOST_CELLS)
    worst = _worst(matrix.values / per_unit, step, lower)
    names = tics([clients.text(host) for host in matrix.hosts], step)
    header, records = _records(shown)
    return Content(
        style="grid",
        x=_host_scale(figure.x.title, servers, "Server"),
        y=_host_scale("", clients, "Client"),
        plotted=(),
        summary=tuple(_summary(matrix, per_unit, scale, lower, clients)),
        header=header,
        records=records,
        notes=tuple(_notes(shown, matrix, statistic, colouring, step)),
        grid=Grid(
            columns=len(worst),
            rows=len(worst),
            cells=cells(worst, colouring),
            missing=np.argwhere(_any_in(matrix.missing, step))[:, ::-1].astype(np.float64),
            bar=colouring.bar(len(worst)),
            x_tics=names,
            y_tics=names,
            bar_tics=colouring.tics(len(worst)),
            colours=colouring.title,
        ),
    )


def _worst(values: NDArray[np.float64], step: int, lower: bool) -> NDArray[np.float64]:
    """Return the worst of each `step` by `step` pairs, NaN where none has a value."""
    nothing = -np.inf if lower else np.inf
    filled = _blocks(np.where(np.isnan(values), nothing, values), step, nothing)
    worst: NDArray[np.float64] = filled.max(axis=(1, 3)) if lower else filled.min(axis=(1, 3))
    return np.where(worst == nothing, np.nan, worst)


def _any_in(those: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
    return np.asarray(_blocks(those.astype(np.float64), step, 0.0).any(axis=(1, 3)))


def _blocks(values: NDArray[np.float64], step: int, beyond: float) -> NDArray[np.float64]:
    count = math.ceil(len(values) / step)
    padded = np.full((count * step, count * step), beyond)
    padded[: len(values), : len(values)] = values
    return padded.reshape(count, step, count, step)


def cells(worst: NDArray[np.float64], colouring: Colouring) -> NDArray[np.float64]:
    """Return `Grid.cells` of the values in `worst` (rows, columns), NaN: none."""
    rows, columns = np.nonzero(~np.isnan(worst))
    values = worst[rows, columns]
    return np.column_stack((columns, rows, values, colours(colouring.shares(values))))


def tics(names: Sequence[str], step: int = 1) -> tuple[tuple[float, str], ...]:
    """Return where which of the rows' (or columns') `names` stand, `step` of them in a cell."""
    places = range(0, math.ceil(len(names) / step), math.ceil(len(names) / step / _MOST_NAMES))
    return tuple((float(place), names[place * step]) for place in places)


def _host_scale(said: str, axis: Axis, usual: str) -> Scale:
    return Scale(said or (axis.title if axis.titled else usual))


def _summary(matrix: Matrix, per_unit: float, scale: Scale, lower: bool, axis: Axis) -> list[str]:
    there = ~np.isnan(matrix.values)
    count, asked = int(np.count_nonzero(there)), int(np.count_nonzero(matrix.planned))
    start = f"{len(matrix.hosts)} hosts, {count} of {asked} pairs have a value"
    if not count:
        return [f"{start}."]
    unit = f" {scale.unit}" if scale.unit else ""
    values = matrix.values / per_unit
    badness = np.where(there, values if lower else -values, -np.inf)

    def told(place: int) -> str:
        row, column = divmod(place, len(values))
        pair = f"{axis.text(matrix.hosts[row])} to {axis.text(matrix.hosts[column])}"
        return f"{values[row, column]:.4g}{unit} from {pair}"

    worst, best = int(badness.argmax()), int(np.where(there, badness, np.inf).argmin())
    return [
        f"{start}: median {np.median(values[there]):.4g}{unit}, worst {told(worst)},"
        f" best {told(best)}.",
        f"By the medians of their pairs, the worst client is {_line(matrix, values, lower, axis)}"
        f"{unit}), the worst server {_line(matrix, values.T, lower, axis)}{unit}).",
    ]


def _line(matrix: Matrix, values: NDArray[np.float64], lower: bool, axis: Axis) -> str:
    medians = [
        float(np.median(row[~np.isnan(row)])) if not np.isnan(row).all() else np.nan
        for row in values
    ]
    worst = int(np.nanargmax(medians) if lower else np.nanargmin(medians))
    return f"{axis.text(matrix.hosts[worst])} ({medians[worst]:.4g}"


def _notes(
    shown: Sequence[Series], matrix: Matrix, statistic: str, colouring: Colouring, step: int
) -> list[str]:
    counts = {len(one.values) for one in shown if len(one.values)}
    darker = "worse" if colouring.good else "less"
    notes = [f"Rows are clients, columns servers; darker is {darker}."]
    if counts and counts != {1}:
        several = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        notes[0] += f" Of each pair the {words_of(statistic)} of {several} replications."
    notes += colouring.notes("pair")
    missing = int(np.count_nonzero(matrix.missing))
    measured = sum(1 for one in shown if len(one.values))
    numberless = measured - int(np.count_nonzero(~np.isnan(matrix.values)))
    notes += crossed(missing, "pair", numberless, statistic)
    if step > 1:
        notes.append(
            f"A cell stands for {step} by {step} hosts and shows the worst pair among them."
        )
    suspect = sum(1 for one in shown if one.suspect.any())
    if suspect:
        notes.append(f"Pairs with suspect replications, which are included: {suspect}.")
    return [*notes, *alarms(shown)]


def _records(
    shown: Sequence[Series],
) -> tuple[tuple[str, ...], tuple[tuple[Value | None, ...], ...]]:
    nothing = (0,) + (None,) * (len(FIELDS) - 1)
    return (*_COLUMNS, *FIELDS), tuple(
        (
            *(one.run, one.test, one.case.link, one.case.key, one.case.client, one.case.server),
            *(_record(one) if len(one.values) else nothing),
        )
        for one in shown
    )


def _record(one: Series) -> tuple[int | float | str | None, ...]:
    return record(summarise(one.values), one.metric, one.unit)


KIND: Kind[Series] = Kind(
    x=Shows(unit=""),
    y=Shows(metric="statistic", log=True),
    most=1,
    absent="name a run of pairs of hosts, or another metric",
    members=_members,
    draw=_draw,
    lacking=valued.lacking,
    together=True,
)
