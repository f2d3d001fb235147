"""What the kinds that show a metric have in common: values, titles, records, notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.number import best_unit, plain_number
from railgauge.plan.cases import Value, varying
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.definition.statistic import (
    DEFAULT,
    FIELDS,
    common_average,
    own_unit,
    record,
    resolved,
    summary_of,
    words_of,
)
from railgauge.report.figures.figure import Scale
from railgauge.report.figures.kinds.kind import scale_of
from railgauge.report.formats.csvfile import axis_columns
from railgauge.report.tables.axes import Placed
from railgauge.report.tables.marks import in_groups
from railgauge.report.tables.narrowness import alarms
from railgauge.report.tables.notes import words
from railgauge.stats.digits import decimals_of_interval
from railgauge.stats.summary import summarise
from railgauge.stats.two_groups import two_groups

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec, XSpec, YSpec
    from railgauge.store import Store
    from railgauge.store.records import Series

K = TypeVar("K")

ABSENT = "name other runs, or another metric"
# What begins each record of such a figure's CSV.
COLUMNS = ("run", "test", "link", "case_key", "series")


def columns(label: str, series: Series) -> tuple[int | str, ...]:
    """Return the values of COLUMNS."""
    return series.run, series.test, series.case.link, series.case.key, label


def header(*axes: tuple[str, str], series: bool = True) -> tuple[str, ...]:
    """Return the columns of a CSV of cases: COLUMNS, those of the `axes`, and statistic.FIELDS.

    `axes` are such as ("x", "datagram"). One called as another column is `x_NAME`. Without `series`
    the last one of COLUMNS isn't there.
    """
    first = COLUMNS if series else COLUMNS[:-1]
    return (*first, *axis_columns(axes, (*COLUMNS, *FIELDS)), *FIELDS)


def numbers(series: Series) -> tuple[Value | None, ...]:
    """Return the values of statistic.FIELDS, of which a case without values has only n."""
    if not len(series.values):
        return (0, *(None,) * (len(FIELDS) - 1))
    summary = summary_of(series, summarise(series.values, series.level))
    return record(summary, series.average)


def members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    """Return each case's values of the metric that `figure` shows."""
    metric = figure.metric
    return [series for series in store.series(runs, [metric]) if series.metric == metric]


def base_unit(figure: FigureSpec, statistic: str, all_series: Sequence[Series]) -> str:
    """Return the base unit of the statistic; InputError where engines disagree on it."""
    own = own_unit(statistic)
    if own is not None:
        return own
    units = {series.unit for series in all_series}
    if len(units) > 1:
        raise InputError(
            f"figure {figure.name!r}: {figure.metric} is in {' and in '.join(sorted(units))}"
            " for different engines: select one engine"
        )
    return units.pop()


def value_scale(
    figure: FigureSpec,
    axis: XSpec | YSpec,
    base: str,
    values: NDArray[np.float64],
    statistic: str = DEFAULT,
) -> tuple[Scale, float]:
    """Return the axis of `values` (n,) in the unit `base`, as `scale_of` does."""
    title = metric_title(figure.metric, statistic)
    ladder_base = base if own_unit(statistic) else display_base(figure.metric, base)
    best = best_unit(ladder_base, values.tolist())
    return scale_of(figure, axis, title, base, best, log=False)


def shown_statistic(figure: FigureSpec, all_series: Sequence[Series], usual: str = DEFAULT) -> str:
    """Return by its own name the statistic that `figure` shows; `usual` where it names none.

    Of ratios, which have no mean, it is the median.
    """
    y = figure.y
    statistic = y.statistic if "statistic" in y.model_fields_set else usual
    averages = {common_average(all_series, unit) for unit in {s.unit for s in all_series}}
    names = {resolved(statistic, average) for average in averages}
    return "median" if names == {"mean"} else min(names, default=statistic)


def metric_title(metric: str, statistic: str = DEFAULT) -> str:
    """Return the title of a metric's statistic, which is left out where it is the default."""
    name = words(metric)
    if statistic != DEFAULT:
        name = f"{words_of(statistic)} of {name}"
    return name[:1].upper() + name[1:]


def only_one(figure: FigureSpec, label: str, members: Sequence[Series]) -> Series:
    """Return the single member of the series `label`; InputError where there are several."""
    if len(members) > 1:
        raise two_cases(figure, f"are of the series {label!r}", members[0], members[1])
    return members[0]


def by_place(
    figure: FigureSpec,
    members: Sequence[Series],
    place_of: Callable[[Series], K],
    where: Callable[[K], str],
) -> dict[K, Series]:
    """Return `members` by their places; InputError, saying `where`, if two share one."""
    placed: dict[K, Series] = {}
    for series in members:
        place = place_of(series)
        if place in placed:
            raise two_cases(figure, where(place), placed[place], series)
        placed[place] = series
    return placed


def two_cases(figure: FigureSpec, where: str, first: Placed, second: Placed) -> InputError:
    """Return the error of two cases at one place, which says in what they differ."""
    names = [
        name
        for name, value, other in (
            ("run", first.run, second.run),
            ("test", first.test, second.test),
            ("engine", first.case.engine, second.case.engine),
            ("link", first.case.link, second.case.link),
        )
        if value != other
    ] + list(varying([first.case, second.case]))
    differing = f", which differ in {', '.join(map(visible, names))}" if names else ""
    return InputError(
        f"figure {figure.name!r}: two cases {where}{differing}: narrow 'select', name what differs"
        " in 'each' or 'series', or report one run at a time"
    )


def measured(all_series: Iterable[Series]) -> int:
    """Return how many of `all_series` have any value."""
    return sum(1 for series in all_series if len(series.values))


def replications(all_series: Iterable[Series]) -> set[int]:
    """Return of how many replications those of `all_series` with a value are."""
    return {series.mean_of or len(series.values) for series in all_series if len(series.values)}


def means(all_series: Iterable[Series]) -> Iterator[str]:
    """Yield how many published means a figure of single replications shows as if they were such."""
    count = sum(series.mean_of > 0 for series in all_series)
    if count:
        yield f"Published means of several replications, each shown as one value: {count}."


def notes(all_series: Sequence[Series], noun: str = "Points") -> Iterator[str]:
    """Yield notes on the values that the `noun`s show: which are odd, which failed."""
    failed = sum(series.failed for series in all_series)
    if failed:
        yield f"Failed replications, which have no value: {failed}."
    unmeasured = sum(_unmeasured(series) for series in all_series if len(series.values))
    if unmeasured:
        yield f"Replications not measured, or without this metric: {unmeasured}."
    suspect = sum(1 for series in all_series if series.suspect.any())
    if suspect:
        yield f"{noun} with suspect replications, which are included: {suspect}."
    yield from oddities(all_series, noun)


def _unmeasured(series: Series) -> int:
    """Return how many replications of a fixed number neither have a value nor failed."""
    return (
        max(0, series.planned - len(series.values) - series.failed) if series.least is None else 0
    )


def oddities(all_series: Sequence[Series], noun: str) -> Iterator[str]:
    """Yield what is odd about the values that the `noun`s show."""
    yield from alarms(all_series)
    bimodal = sum(1 for series in all_series if in_groups(series) and two_groups(series.values))
    if bimodal:
        yield f"{noun} whose values fall into two groups: {bimodal}."


def count_range(counts: Iterable[int]) -> str:
    """Return from which to which count they go: `10`, or `2 to 10`."""
    distinct = set(counts)
    return str(min(distinct)) if len(distinct) == 1 else f"{min(distinct)} to {max(distinct)}"


def number_text(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return a number with the decimals that what it lies in, `low` to `high`, leaves it.

    Where that is nothing (NaN, or no width), nothing says how far it can be trusted: see
    `plain_number`.
    """
    if 0 < high - low < math.inf:
        return f"{value:.{decimals_of_interval(low, high)}f}"
    return plain_number(value)


def unit_of(scale: Scale) -> str:
    """Return a scale's unit to stand behind a number, with a space before it."""
    return f" {scale.unit}" if scale.unit else ""


def refuse_unloggable(
    figure: FigureSpec, name: str, least: float | None, noun: str = "axis"
) -> None:
    """Refuse 0 or less on the logarithmic axis `name`."""
    if least is not None and least <= 0:
        raise InputError(
            f"figure {figure.name!r}: a value of 0 or less has no place on a logarithmic {noun}:"
            f" leave out 'log' of {name!r}"
        )
