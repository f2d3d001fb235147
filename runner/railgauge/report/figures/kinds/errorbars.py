"""The points of a figure and the bars at them: what they show of a case's replications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from railgauge.base.errors import InputError
from railgauge.plan.cases import Value
from railgauge.report.definition.statistic import (
    DEFAULT,
    LEAST_FOR_INTERVAL,
    summary_of,
    value_of,
    words_of,
)
from railgauge.report.figures.figure import PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.unseen import crosses
from railgauge.report.tables.narrowness import levels_note
from railgauge.stats.summary import Summary, summarise

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import Errors, FigureSpec
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

# What a source of published means may say, or not.
_SPREAD: dict[Errors, str] = {
    "range": "least and greatest value",
    "interval": "interval of the median",
    "stdev": "standard deviation",
}


class Point(NamedTuple):
    """A case's number and the ends of its bar, in the axis' unit; NaN: no bar."""

    value: float
    low: float
    high: float
    summary: Summary


class PointLine(NamedTuple):
    """A series as it is drawn: its points, its sentence, its CSV records.

    `missing` are the places on x of the cases without a point.
    """

    plotted: PlottedSeries
    points: list[Point]
    missing: list[float]
    sentence: str
    records: list[tuple[Value | None, ...]]


@dataclass(frozen=True, slots=True)
class PointAxis:
    """The y axis: the statistic that points show, by its own name, and the bars at them.

    `per_unit` is how many base units the scale's unit is.
    """

    statistic: str
    errors: Errors
    scale: Scale
    per_unit: float

    def point(self, series: Series) -> Point | None:
        """Return the case's point; None where it has no such number."""
        if not len(series.values):
            return None
        summary = summary_of(series, summarise(series.values, series.level))
        value = value_of(summary, self.statistic)
        if value is None:
            return None
        low, high = _ends(summary, self.errors)
        return Point(value / self.per_unit, low / self.per_unit, high / self.per_unit, summary)

    def absence(self, members: Sequence[Series]) -> str:
        """Return why none of `members` has a point."""
        if valued.measured(members):
            return f"no {words_of(self.statistic)} of what was measured"
        return "nothing measured"

    def notes(
        self, all_series: Sequence[Series], points: Sequence[Point], noun: str, bars: str
    ) -> Iterator[str]:
        """Yield what the `noun`s (Points), the `bars` at them and crosses below show."""
        yield from self._bar_notes(points, noun, bars)
        if self.errors == "interval":
            yield from levels_note(all_series)
        # Of 0 there is no harmonic mean.
        numberless = valued.measured(all_series) - len(points)
        yield from crosses(len(all_series) - len(points), "case", numberless, self.statistic)

    def _bar_notes(self, points: Sequence[Point], noun: str, bars: str) -> Iterator[str]:
        counts = [point.summary.n for point in points]
        if max(counts, default=0) < 2:
            return
        barless = [point.summary for point in points if np.isnan(point.low)]
        # Of a published mean there is no median.
        published = sum(1 for summary in barless if np.isnan(summary.median))
        counted = valued.count_range(counts)
        sentence = f"{noun}: the {words_of(self.statistic)} of {counted} replications"
        if self.errors != "none" and len(barless) < len(points):
            sentence += f"; {bars}: {_WORDS[self.errors]}"
        yield f"{sentence}."
        if self.errors == "none":
            return
        if few := len(barless) - published:
            values = (
                f"fewer than {LEAST_FOR_INTERVAL} values"
                if self.errors == "interval"
                else "a single value"
            )
            yield f"{noun} without {bars}, as {values} can't have any: {few}."
        if published:
            spread = _SPREAD[self.errors]
            yield f"{noun} without {bars}, as no {spread} is published: {published}."


def fits(errors: Errors, statistic: str) -> bool:
    """Return whether such bars may stand around a statistic, be it called `mean` or by its name."""
    match errors:
        case "interval":
            return statistic == "median"
        case "stdev":
            return statistic in ("mean", "arithmetic_mean")
        case "range":
            return statistic in (*CENTRES, "mean")
    return True


def point_axis(figure: FigureSpec, all_series: Sequence[Series]) -> PointAxis:
    """Return the y axis over `all_series`; InputError where engines disagree on its unit."""
    statistic, errors = _choose(figure, all_series)
    base = valued.base_unit(figure, statistic, all_series)
    values = np.concatenate([series.values for series in all_series])
    return PointAxis(
        statistic, errors, *valued.value_scale(figure, figure.y, base, values, statistic)
    )


def _choose(figure: FigureSpec, all_series: Sequence[Series]) -> tuple[str, Errors]:
    """Return the statistic and the bars; InputError for deviations around another mean."""
    errors = figure.errors
    if errors is None:
        statistic = valued.shown_statistic(figure, all_series)
        return statistic, "range" if statistic in CENTRES else "none"
    statistic = valued.shown_statistic(figure, all_series, _USUAL.get(errors, DEFAULT))
    ratio = any(series.unit == "1" for series in all_series)
    ratio = ratio and "statistic" not in figure.y.model_fields_set
    if errors == "stdev" and (statistic != "arithmetic_mean" or ratio):
        raise InputError(
            f"figure {figure.name!r}: standard deviations stand around an arithmetic mean, which"
            f" {figure.metric} usually isn't shown by: use errors: range or errors: interval, or"
            " say y: {statistic: arithmetic_mean}"
        )
    return statistic, errors


def _ends(summary: Summary, errors: Errors) -> tuple[float, float]:
    # A single value shows no spread.
    if errors == "range" and summary.n > 1:
        return summary.minimum, summary.maximum
    if errors == "interval" and summary.interval is not None:
        return summary.interval.low, summary.interval.high
    if errors == "stdev" and summary.stdev is not None:
        return summary.mean - summary.stdev, summary.mean + summary.stdev
    return np.nan, np.nan
