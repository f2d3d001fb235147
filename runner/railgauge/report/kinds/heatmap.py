"""Heat map: a metric of each ordered pair of hosts; a slow row is a sender, a column a receiver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from railgauge.analysis import Summary, summarise
from railgauge.cases import Value
from railgauge.errors import InputError
from railgauge.report.axes import Axis
from railgauge.report.colours import colours
from railgauge.report.figure import Content, Grid, Scale
from railgauge.report.kinds import valued
from railgauge.report.kinds.base import Kind, Line, scale_of
from railgauge.report.matrix import Matrix, make_matrix
from railgauge.report.model import FigureSpec
from railgauge.report.notes import STATISTIC_WORDS
from railgauge.report.number import best_unit

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

_COLUMNS = ("run", "test", "link", "case_key", "client_host", "server_host")
# More cells a side, and the files grow to megabytes that nobody can tell apart.
_MOST_CELLS = 80
_MOST_NAMES = 40
_BAR_STEPS = 64
# One pair a hundred times slower must not make all the others look the same.
_WIDEST = 4.0
# And noise must not look like a difference.
_NARROWEST = 0.05
# What is good of the statistics that aren't values of the metric.
_BETTER = {"stdev": "lower", "mean_absolute_deviation": "lower", "cv": "lower", "n": "higher"}


def _members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    found = valued.members(store, runs, figure)
    return [one for one in found if one.case.server is not None]


def _draw(
    figure: FigureSpec,
    store: Store,
    lines: Sequence[Line[Series]],
    axis_of: Callable[[str], Axis],
) -> Content:
    shown = lines[0].members
    statistic = figure.y.statistic if "statistic" in figure.y.model_fields_set else "median"
    base = valued.base_unit(figure, statistic, shown)
    clients, servers = axis_of("client_host"), axis_of("server_host")
    matrix = make_matrix(f"figure {figure.name!r}", shown, statistic, clients)
    found = matrix.values[~np.isnan(matrix.values)]
    title = valued.what(figure.y.metric, statistic, "median")
    scale, per_unit = scale_of(
        figure, figure.y, title, base, best_unit(base, found.tolist()), log=False
    )
    if scale.log and np.any(found <= 0):
        raise InputError(
            f"figure {figure.name!r}: a value of 0 or less has no place on a logarithmic scale:"
            " leave out 'log' of 'y'"
        )
    lower = _BETTER.get(statistic, shown[0].better) == "lower"
    colouring = _Colouring(found / per_unit, scale, lower)
    step = math.ceil(len(matrix.hosts) / _MOST_CELLS)
    worst = _worst(matrix.values / per_unit, step, lower)
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
            size=len(worst),
            cells=_cells(worst, colouring),
            missing=np.argwhere(_any_in(matrix.missing, step))[:, ::-1].astype(np.float64),
            bar=colouring.bar(len(worst)),
            tics=_tics([clients.text(host) for host in matrix.hosts], step),
            bar_tics=colouring.tics(len(worst)),
            colours=Scale(f"{scale.title}, dark is worse", scale.unit),
        ),
    )


class _Colouring:
    """Which value has which colour: dark is worse; `values` (n,) are in the scale's unit."""

    def __init__(self, values: NDArray[np.float64], scale: Scale, lower: bool) -> None:
        self.scale, self.lower = scale, lower
        self.low, self.high = _ends(values)
        self.beyond = int(np.count_nonzero((values < self.low) | (values > self.high)))

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how good each of `values` is, from 0 to 1."""
        ends = np.array([self.low, self.high])
        # Both ends are shares of a median above 0 where there may be logarithms.
        low, high = np.log(ends) if self.scale.log else ends
        seen = np.log(values) if self.scale.log else values
        shares: NDArray[np.float64] = np.clip((seen - low) / (high - low), 0.0, 1.0)
        return 1.0 - shares if self.lower else shares

    def bar(self, size: int) -> NDArray[np.float64]:
        """Return the legend's steps beside `size` rows, the worst at the bottom."""
        shares = (np.arange(_BAR_STEPS) + 0.5) / _BAR_STEPS
        edges = size - 0.5 - np.arange(_BAR_STEPS + 1) / _BAR_STEPS * size
        return np.column_stack((edges[:-1], edges[1:], shares, colours(shares)))

    def tics(self, size: int) -> tuple[tuple[float, str], ...]:
        """Return where round values stand beside the legend."""
        step = _round_step(self.high - self.low)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        marks = np.arange(first, last + 1, dtype=np.float64) * step
        places = size - 0.5 - self.shares(marks) * size
        return tuple(
            (place, f"{mark:.6g}") for place, mark in zip(places.tolist(), marks, strict=True)
        )


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    middle, low, high = float(np.median(values)), float(values.min()), float(values.max())
    if middle > 0:
        low = min(max(low, middle / _WIDEST), middle * (1 - _NARROWEST))
        high = max(min(high, middle * _WIDEST), middle * (1 + _NARROWEST))
    return (low, high) if high > low else (low, low + 1.0)


def _round_step(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= 6)


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


def _cells(worst: NDArray[np.float64], colouring: _Colouring) -> NDArray[np.float64]:
    rows, columns = np.nonzero(~np.isnan(worst))
    values = worst[rows, columns]
    return np.column_stack((columns, rows, values, colours(colouring.shares(values))))


def _tics(names: Sequence[str], step: int) -> tuple[tuple[float, str], ...]:
    cells = range(0, math.ceil(len(names) / step), math.ceil(len(names) / step / _MOST_NAMES))
    return tuple((float(cell), names[cell * step]) for cell in cells)


def _host_scale(said: str, axis: Axis, usual: str) -> Scale:
    return Scale(said or (axis.title if axis.titled else usual))


def _summary(matrix: Matrix, per_unit: float, scale: Scale, lower: bool, axis: Axis) -> list[str]:
    there = ~np.isnan(matrix.values)
    count, asked = int(np.count_nonzero(there)), int(np.count_nonzero(matrix.asked))
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
    shown: Sequence[Series], matrix: Matrix, statistic: str, colouring: _Colouring, step: int
) -> list[str]:
    counts = {len(one.values) for one in shown if len(one.values)}
    notes = ["Rows are clients, columns servers; darker is worse."]
    if counts and counts != {1}:
        several = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        name = STATISTIC_WORDS.get(statistic, statistic)
        notes[0] += f" Of each pair the {name} of {several} replications."
    if colouring.beyond:
        pairs = "pair is" if colouring.beyond == 1 else "pairs are"
        notes.append(
            f"{colouring.beyond} {pairs} more than {_WIDEST:g} times better or worse than the"
            " median: shown in the colour of that end."
        )
    missing = int(np.count_nonzero(matrix.missing))
    if missing:
        pairs = "pair has" if missing == 1 else "pairs have"
        notes.append(f"A cross: {missing} {pairs} no value, failed or not measured.")
    if step > 1:
        notes.append(
            f"A cell stands for {step} by {step} hosts and shows the worst pair among them."
        )
    suspect = sum(1 for one in shown if one.suspect.any())
    if suspect:
        notes.append(f"Pairs with suspect replications, which are included: {suspect}.")
    return notes


def _records(
    shown: Sequence[Series],
) -> tuple[tuple[str, ...], tuple[tuple[Value | None, ...], ...]]:
    nothing = (0,) + (None,) * (len(Summary._fields) - 1)
    return (*_COLUMNS, *Summary._fields), tuple(
        (
            *(one.run, one.test, one.case.link, one.case.key, one.case.client, one.case.server),
            *(summarise(one.values) if len(one.values) else nothing),
        )
        for one in shown
    )


KIND: Kind[Series] = Kind(
    x="",
    y=None,
    log=("y",),
    most=1,
    absent="name a run of pairs of hosts, or another metric",
    members=_members,
    draw=_draw,
    lacking=valued.lacking,
    together=True,
)
