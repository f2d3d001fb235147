"""Heat map: a metric of each ordered pair of hosts; a slow row is a sender, a column a receiver."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import plain_number, plural
from railgauge.plan.cases import Value
from railgauge.report.definition.statistic import FIELDS, words_of
from railgauge.report.figures.figure import Content, Grid, Scale, Tics
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.colouring import Colouring, colours
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind
from railgauge.report.figures.kinds.unseen import map_crosses
from railgauge.report.tables.axes import Axis
from railgauge.report.tables.matrix import Matrix, make_matrix
from railgauge.report.tables.narrowness import alarms

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import Series

_COLUMNS = ("run", "test", "link", "case_key", "client_host", "server_host")
# With more cells a side the files grow to megabytes, and nobody can distinguish the cells.
MOST_CELLS = 80
_MOST_NAMES = 40


def _members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    all_series = valued.members(store, runs, figure)
    return [series for series in all_series if series.case.server is not None]


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[FigureLine[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    all_series = lines[0].members
    statistic = valued.shown_statistic(figure, all_series)
    base = valued.base_unit(figure, statistic, all_series)
    clients, servers = axis_of("client_host"), axis_of("server_host")
    matrix = make_matrix(f"figure {figure.name!r}", all_series, statistic, clients)
    values = matrix.values[~np.isnan(matrix.values)]
    scale, per_unit = valued.value_scale(figure, figure.y, base, values, statistic)
    if scale.log:
        valued.refuse_unloggable(figure, "y", min(values.tolist(), default=None), "scale")
    colouring = Colouring(values / per_unit, scale, statistic, all_series[0].better)
    step = math.ceil(len(matrix.hosts) / MOST_CELLS)
    missing = np.argwhere(_any_in(matrix.missing, step))[:, ::-1].astype(np.float64)
    names = tics([clients.text(host) for host in matrix.hosts], step)
    return Content(
        style="grid",
        x=_host_scale(figure.x.title, servers, "Server"),
        y=_host_scale("", clients, "Client"),
        plotted=(),
        summary=tuple(_summary(matrix, matrix.values / per_unit, colouring, clients)),
        header=(*_COLUMNS, *FIELDS),
        records=tuple(map(_record, all_series)),
        notes=tuple(_notes(all_series, matrix, statistic, colouring, step)),
        grid=make_grid(
            _worst(matrix.values / per_unit, step, colouring.lower),
            missing,
            colouring,
            names,
            names,
        ),
    )


def make_grid(
    values: NDArray[np.float64],
    missing: NDArray[np.float64],
    colouring: Colouring,
    x_tics: Tics,
    y_tics: Tics,
) -> Grid:
    """Return the grid of `values` (rows, columns), NaN: none; `missing` as `Grid.missing`."""
    places = np.nonzero(~np.isnan(values))
    present = values[places]
    colour = colours(colouring.shares(present))
    return Grid(
        columns=values.shape[1],
        rows=len(values),
        cells=np.column_stack((*places[::-1], present, colour)),
        missing=missing,
        bar=colouring.bar(len(values)),
        x_tics=x_tics,
        y_tics=y_tics,
        bar_tics=colouring.tics(len(values)),
        colours=colouring.title,
    )


def _worst(values: NDArray[np.float64], step: int, lower: bool) -> NDArray[np.float64]:
    """Return the worst of each `step` by `step` pairs, NaN where none has a value."""
    best = -np.inf if lower else np.inf
    filled = _blocks(np.where(np.isnan(values), best, values), step, best)
    worst: NDArray[np.float64] = filled.max(axis=(1, 3)) if lower else filled.min(axis=(1, 3))
    return np.where(worst == best, np.nan, worst)


def _any_in(flags: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
    return np.asarray(_blocks(flags.astype(np.float64), step, 0.0).any(axis=(1, 3)))


def _blocks(values: NDArray[np.float64], step: int, beyond: float) -> NDArray[np.float64]:
    count = math.ceil(len(values) / step)
    padded = np.full((count * step, count * step), beyond)
    padded[: len(values), : len(values)] = values
    return padded.reshape(count, step, count, step)


def tics(names: Sequence[str], step: int = 1) -> Tics:
    """Return where which of the rows' (or columns') `names` stand, `step` of them in a cell."""
    places = range(0, math.ceil(len(names) / step), math.ceil(len(names) / step / _MOST_NAMES))
    return tuple((float(place), names[place * step]) for place in places)


def _host_scale(title: str, axis: Axis, usual: str) -> Scale:
    return Scale(title or (axis.title if axis.titled else usual))


def _summary(
    matrix: Matrix, values: NDArray[np.float64], colouring: Colouring, axis: Axis
) -> list[str]:
    present = ~np.isnan(values)
    count, pairs = int(np.count_nonzero(present)), int(np.count_nonzero(matrix.planned))
    have = "has" if count == 1 else "have"
    start = f"{len(matrix.hosts)} hosts, {count} of {plural(pairs, 'pair')} {have} a value"
    if not count:
        return [f"{start}."]
    unit = valued.unit_of(colouring.scale)
    badness = np.where(present, values if colouring.lower else -values, -np.inf)

    def pair_text(place: int) -> str:
        row, column = divmod(place, len(values))
        pair = f"{axis.text(matrix.hosts[row])} to {axis.text(matrix.hosts[column])}"
        return f"{plain_number(values[row, column])}{unit} from {pair}"

    def host_text(rows: NDArray[np.float64]) -> str:
        medians = [
            np.nan if np.isnan(row).all() else float(np.median(row[~np.isnan(row)])) for row in rows
        ]
        worst = int(np.nanargmax(medians) if colouring.lower else np.nanargmin(medians))
        return f"{axis.text(matrix.hosts[worst])} ({plain_number(medians[worst])}{unit})"

    worst, best = int(badness.argmax()), int(np.where(present, badness, np.inf).argmin())
    low, high = ("worst", "best") if colouring.good else ("least", "greatest")
    middle = plain_number(float(np.median(values[present])))
    return [
        f"{start}: median {middle}{unit}, {low} {pair_text(worst)}, {high} {pair_text(best)}.",
        f"By the medians of their pairs, the {low} client is {host_text(values)}, the {low} server"
        f" {host_text(values.T)}.",
    ]


def _notes(
    all_series: Sequence[Series], matrix: Matrix, statistic: str, colouring: Colouring, step: int
) -> Iterator[str]:
    counts = valued.replications(all_series)
    order = f"Rows are clients, columns servers; darker is {'worse' if colouring.good else 'less'}."
    if counts and counts != {1}:
        counted = valued.count_range(counts)
        order += f" Of each pair the {words_of(statistic)} of {counted} replications."
    yield order
    yield from colouring.notes("pair")
    missing = int(np.count_nonzero(matrix.missing))
    numberless = valued.measured(all_series) - int(np.count_nonzero(~np.isnan(matrix.values)))
    yield from map_crosses(missing, "pair", numberless, statistic)
    if step > 1:
        yield f"A cell stands for {step} by {step} hosts and shows the worst pair among them."
    suspect = sum(1 for series in all_series if series.suspect.any())
    if suspect:
        yield f"Pairs with suspect replications, which are included: {suspect}."
    yield from alarms(all_series)


def _record(series: Series) -> tuple[Value | None, ...]:
    case = series.case
    columns = (series.run, series.test, case.link, case.key, case.client, case.server)
    return (*columns, *valued.numbers(series))


KIND: Kind[Series] = Kind(
    x=AxisRules(unit=""),
    y=AxisRules(metric="statistic", log=True),
    most=1,
    absent="name a run of pairs of hosts, or another metric",
    members=_members,
    draw=_draw,
    together=True,
)
