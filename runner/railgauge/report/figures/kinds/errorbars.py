"""The bars at a figure's points: what they show of a case's replications, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit
from railgauge.report.definition.figure_model import Errors, FigureSpec
from railgauge.report.figures.figure import Scale
from railgauge.report.figures.kinds.base import scale_of
from railgauge.report.figures.kinds.valued import base_unit, counted, shown_statistic, what
from railgauge.report.tables.statistic import DEFAULT, LEAST_FOR_INTERVAL, value_of, words_of
from railgauge.stats import Summary, summarise

if TYPE_CHECKING:
    from railgauge.store.records import Series

# Of these the values behind them say how far off they may be.
CENTRES = ("arithmetic_mean", "harmonic_mean", "median")
# Which statistic stands between the ends of which bars, where a definition names none.
_USUAL: dict[Errors, str] = {"stdev": "arithmetic_mean"}
_WORDS: dict[Errors, str] = {
    "range": "the least and the greatest",
    "interval": "the 95 % interval of the median",
    "stdev": "one standard deviation either way",
}


class Shown(NamedTuple):
    """What a figure shows of each case: a statistic by its own name, and bars."""

    statistic: str
    errors: Errors


class Point(NamedTuple):
    """A case's number and the ends of its bar, in base units; NaN: no bar. `found`: all of it."""

    value: float
    low: float
    high: float
    found: Summary


def fits(errors: Errors, statistic: str) -> bool:
    """Tell whether such bars may stand around a statistic, be it called `mean` or by its name."""
    match errors:
        case "interval":
            return statistic == "median"
        case "stdev":
            return statistic in ("mean", "arithmetic_mean")
        case "range":
            return statistic in (*CENTRES, "mean")
    return True


def choose(figure: FigureSpec, shown: Sequence[Series]) -> Shown:
    """Return what to show; InputError where deviations would stand around another mean."""
    errors = figure.errors
    if errors is None:
        statistic = shown_statistic(figure, shown)
        return Shown(statistic, "range" if statistic in CENTRES else "none")
    statistic = shown_statistic(figure, shown, _USUAL.get(errors, DEFAULT))
    ratio = any(one.unit == "1" for one in shown) and "statistic" not in figure.y.model_fields_set
    if errors == "stdev" and (statistic != "arithmetic_mean" or ratio):
        raise InputError(
            f"figure {figure.name!r}: standard deviations stand around an arithmetic mean, which"
            f" {figure.metric} usually isn't shown by: use errors: range or errors: interval, or"
            " say y: {statistic: arithmetic_mean}"
        )
    return Shown(statistic, errors)


def upright(figure: FigureSpec, every: Sequence[Series]) -> tuple[Shown, Scale, float]:
    """Return what to show of `every` case, the y axis, and how many base units are one of its."""
    shown = choose(figure, every)
    base = base_unit(figure, shown.statistic, every)
    title = what(figure.metric, shown.statistic)
    best = best_unit(base, np.concatenate([one.values for one in every]).tolist())
    return shown, *scale_of(figure, figure.y, title, base, best, log=False)


def point(one: Series, shown: Shown) -> Point | None:
    """Return the case's point; None where it has no such number."""
    if not len(one.values):
        return None
    found = summarise(one.values)
    value = value_of(found, shown.statistic)
    if value is None:
        return None
    return Point(value, *_ends(found, shown.errors), found)


def numberless(shown: Sequence[Series], points: Sequence[Point]) -> int:
    """Return how many of `shown` have values and no point: of 0 there is no harmonic mean."""
    return sum(1 for one in shown if len(one.values)) - len(points)


def none_of(those: Sequence[Series], shown: Shown) -> str:
    """Return why there is no point of any of `those`."""
    if any(len(one.values) for one in those):
        return f"no {words_of(shown.statistic)} of what was measured"
    return "nothing measured"


def _ends(found: Summary, errors: Errors) -> tuple[float, float]:
    # A single value says nothing of how far others are from it.
    if errors == "range" and found.n > 1:
        return found.minimum, found.maximum
    if errors == "interval" and found.interval is not None:
        return found.interval.low, found.interval.high
    if errors == "stdev" and found.stdev is not None:
        return found.mean - found.stdev, found.mean + found.stdev
    return np.nan, np.nan


def told(shown: Shown, points: Sequence[Point], thing: str, bars: str) -> Iterator[str]:
    """Yield what the `thing`s (Points) and the `bars` at them show."""
    counts = [one.found.n for one in points]
    if max(counts, default=0) < 2:
        return
    without = sum(1 for one in points if np.isnan(one.low))
    sentence = f"{thing}: the {words_of(shown.statistic)} of {counted(counts)} replications"
    if shown.errors != "none" and without < len(points):
        sentence += f"; {bars}: {_WORDS[shown.errors]}"
    yield f"{sentence}."
    if shown.errors != "none" and without:
        values = (
            f"fewer than {LEAST_FOR_INTERVAL} values"
            if shown.errors == "interval"
            else "a single value"
        )
        yield f"{thing} without {bars}, as {values} can't have any: {without}."
