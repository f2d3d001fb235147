"""What the kinds that show a metric have in common: which values, what they are called, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.plan.cases import varying
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Scale
from railgauge.report.figures.kinds.base import Lacking
from railgauge.report.formats.csvfile import axis_columns
from railgauge.report.tables.axes import Placed
from railgauge.report.tables.marks import in_groups
from railgauge.report.tables.narrowness import alarms
from railgauge.report.tables.notes import words
from railgauge.report.tables.statistic import DEFAULT, FIELDS, own_unit, resolved, words_of
from railgauge.stats import two_groups

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series

ABSENT = "name other runs, or another metric"
# What begins each record of such a figure's CSV.
COLUMNS = ("run", "test", "link", "case_key", "series")


def columns(label: str, one: Series) -> tuple[int | str, ...]:
    """Return the values of COLUMNS."""
    return one.run, one.test, one.case.link, one.case.key, label


def header(*axes: tuple[str, str], series: bool = True) -> tuple[str, ...]:
    """Return the columns of a CSV of cases: COLUMNS, those of the `axes`, and statistic.FIELDS.

    `axes` are such as ("x", "datagram"). One called as another column is `x_NAME`. Without `series`
    the last one of COLUMNS isn't there.
    """
    first = COLUMNS if series else COLUMNS[:-1]
    return (*first, *axis_columns(axes, (*COLUMNS, *FIELDS)), *FIELDS)


def members(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[Series]:
    """Return each case's values of the metric that `figure` shows."""
    return [one for one in store.series(runs, [figure.metric]) if one.metric == figure.metric]


def lacking(
    store: Store, runs: Sequence[int], figure: FigureSpec, found: Sequence[Series]
) -> list[Lacking]:
    """Return nothing: a case without a value is a series of none."""
    return []


def base_unit(figure: FigureSpec, statistic: str, shown: Sequence[Series]) -> str:
    """Return the base unit of the statistic; InputError where engines disagree on it."""
    own = own_unit(statistic)
    if own is not None:
        return own
    units = {one.unit for one in shown}
    if len(units) > 1:
        raise InputError(
            f"figure {figure.name!r}: {figure.metric} is in {' and in '.join(sorted(units))}"
            " for different engines: select one engine"
        )
    return units.pop()


def shown_statistic(figure: FigureSpec, shown: Sequence[Series], usual: str = DEFAULT) -> str:
    """Return by its own name the statistic that `figure` shows; `usual` is it if none is said.

    Of ratios, which have no mean, it is the median.
    """
    y = figure.y
    said = y.statistic if "statistic" in y.model_fields_set else usual
    names = {resolved(said, y.metric, one.unit) for one in shown}
    return "median" if names == {"mean"} else min(names, default=said)


def what(metric: str, statistic: str = DEFAULT) -> str:
    """Return the title of a metric's statistic, which goes unsaid where it is the default."""
    name = words(metric)
    if statistic != DEFAULT:
        name = f"{words_of(statistic)} of {name}"
    return name[:1].upper() + name[1:]


def only_one(figure: FigureSpec, label: str, those: Sequence[Series]) -> Series:
    """Return the one of `those` that a series is of; InputError where there are several."""
    if len(those) > 1:
        raise two_cases(figure, f"are of the series {label!r}", those[0], those[1])
    return those[0]


def two_cases(figure: FigureSpec, where: str, first: Placed, second: Placed) -> InputError:
    """Return the error of two cases that stand at one place, which says in what they differ."""
    differ = [
        name
        for name, one, other in (
            ("run", first.run, second.run),
            ("test", first.test, second.test),
            ("engine", first.case.engine, second.case.engine),
            ("link", first.case.link, second.case.link),
        )
        if one != other
    ] + list(varying([first.case, second.case]))
    told = f", which differ in {', '.join(map(visible, differ))}" if differ else ""
    return InputError(
        f"figure {figure.name!r}: two cases {where}{told}: narrow 'select', name what differs in"
        " 'each' or 'series', or report one run at a time"
    )


def notes(shown: Sequence[Series], things: str = "Points") -> Iterator[str]:
    """Yield what is to be known of the values behind `things`: which are odd, which failed."""
    failed = sum(one.failed for one in shown)
    if failed:
        yield f"Failed replications, which have no value: {failed}."
    without = sum(_owed(one) for one in shown if len(one.values))
    if without:
        yield f"Replications not measured, or without this metric: {without}."
    suspect = sum(1 for one in shown if one.suspect.any())
    if suspect:
        yield f"{things} with suspect replications, which are included: {suspect}."
    yield from odd(shown, things)


def _owed(one: Series) -> int:
    """Return how many replications of a fixed number neither have a value nor failed."""
    return max(0, one.planned - len(one.values) - one.failed) if one.least is None else 0


def odd(shown: Sequence[Series], things: str) -> Iterator[str]:
    """Yield what is odd about the values behind `things`."""
    yield from alarms(shown)
    apart = sum(1 for one in shown if in_groups(one) and two_groups(one.values))
    if apart:
        yield f"{things} whose values fall into two groups: {apart}."


def counted(numbers: Iterable[int]) -> str:
    """Return how many replications stand behind each: `10`, or `2 to 10`."""
    every = set(numbers)
    return str(min(every)) if len(every) == 1 else f"{min(every)} to {max(every)}"


def written(value: float, digits: int) -> str:
    """Return a number with at least so many significant digits, without an exponent if large."""
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e15 else f"{value:.{digits}g}"


def unit_of(scale: Scale) -> str:
    """Return a scale's unit to stand behind a number, with a space before it."""
    return f" {scale.unit}" if scale.unit else ""


def refuse_unloggable(figure: FigureSpec, name: str, least: float | None) -> None:
    """Refuse what is 0 or less on the logarithmic axis `name`."""
    if least is not None and least <= 0:
        raise InputError(
            f"figure {figure.name!r}: a value of 0 or less has no place on a logarithmic axis:"
            f" leave out 'log' of {name!r}"
        )
