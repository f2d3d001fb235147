"""The statistics that a table or figure may show: what they are called, and their values.

Costs (seconds, bytes, counts) have an arithmetic mean, rates (bit/s, op/s) of the same work each
time a harmonic one, rates over the same time each an arithmetic one, ratios none (Hoefler and
Belli, "Scientific Benchmarking of Parallel Computing Systems", SC'15, rules 3 and 4): `mean` is the
one that fits its metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Literal

from railgauge.stats.averages import Average, average_of
from railgauge.stats.interval import Interval, harmonic_interval, mean_interval
from railgauge.stats.mean_difference import SampleMean, mean_difference_interval
from railgauge.stats.summary import Summary
from railgauge.store.records import Series

# What a figure may show: one number.
Number = Literal[
    "mean",
    "arithmetic_mean",
    "harmonic_mean",
    "median",
    "interval_low",
    "interval_high",
    "lower_quartile",
    "upper_quartile",
    "minimum",
    "maximum",
    "stdev",
    "mean_absolute_deviation",
    "cv",
    "n",
    "outliers",
]
# What is shown where a definition names none: it has an interval, of any metric, and outliers leave
# it as it is.
DEFAULT: Literal["median"] = "median"
# Fewer values than this have no 95 % interval of their median, and none of a mean is shown.
LEAST_FOR_INTERVAL = 6
MEANS = ("arithmetic_mean", "harmonic_mean")
NO_MEAN = "no mean: ratios are not averaged; the median stands for them"
# In sentences and titles, and in the narrow headings of a column; others are their own words.
_WORDS = {
    "stdev": "standard deviation",
    "cv": "coefficient of variation",
    "n": "number of replications",
    "interval": "95 % interval of the median",
    "interval_low": "lower end of the median's 95 % interval",
    "interval_high": "upper end of the median's 95 % interval",
}
_SHORT = {
    "stdev": "sd",
    "mean_absolute_deviation": "mean abs. deviation",
    "cv": "CV",
    "n": "n",
    "interval": "95 % interval",
    "interval_low": "95 % from",
    "interval_high": "95 % to",
}
_COUNTED = ("n", "outliers")
# Of where the values lie, so that the interval of a shift from others is theirs, too.
LOCATIONS = (
    "mean",
    "arithmetic_mean",
    "harmonic_mean",
    "median",
    "interval",
    "interval_low",
    "interval_high",
)
# CSV files and JSON have these, the metric's base unit being that of all but four of them.
FIELDS = (
    "n",
    "mean",
    "mean_kind",
    "median",
    "interval_low",
    "interval_high",
    "interval_level",
    "stdev",
    "mean_absolute_deviation",
    "cv",
    "minimum",
    "lower_quartile",
    "upper_quartile",
    "maximum",
    "outliers",
    "arithmetic_mean",
)


def common_average(all_series: Iterable[Series], unit: str) -> Average:
    """Return which mean fits values in the base unit `unit` that are shown together.

    Runs of one metric may differ in its kind, as one that is older than its engine's table lacks
    it: then the unit says it. What is true of some series only (`timed`) is statement of none.
    """
    together = list(all_series)
    kinds = {series.kind for series in together}
    timed = bool(together) and all(series.timed for series in together)
    return average_of(unit, kinds.pop() if len(kinds) == 1 else "", timed=timed)


def resolved(statistic: str, average: Average) -> str:
    """Return the statistic by its own name: `mean` is the one that fits, or itself for a ratio."""
    if statistic != "mean":
        return statistic
    return "mean" if average == "none" else f"{average}_mean"


def value_of(summary: Summary, statistic: str) -> float | None:
    """Return a `resolved` statistic, None where there is none.

    A single value is its own mean of any kind: of a ratio, and of 0.
    """
    if statistic in ("mean", "harmonic_mean") and summary.n == 1:
        return summary.mean
    if statistic == "mean":
        return None
    value = _getter(statistic)(summary)
    # Of a published mean most is unknown.
    return None if value is not None and math.isnan(value) else value


@lru_cache
def _getter(statistic: str) -> Callable[[Summary], float | None]:
    return attrgetter("mean" if statistic == "arithmetic_mean" else statistic)


def interval_of(series: Series, summary: Summary, statistic: str) -> Interval | None:
    """Return the 95 % interval that belongs to a `resolved` statistic: a mean's or the median's.

    None with too few values, and where a mean has none.
    """
    if statistic not in MEANS:
        return summary.interval
    if summary.n < LEAST_FOR_INTERVAL:
        return None
    if is_published_mean(series):
        return _published_interval(summary) if statistic == "arithmetic_mean" else None
    of_mean = harmonic_interval if statistic == "harmonic_mean" else mean_interval
    return of_mean(series.values, series.level)


def is_published_mean(series: Series) -> bool:
    """Return whether the series is a number that somebody printed as a mean of several values."""
    return series.mean_of > 0


def summary_of(series: Series, summary: Summary) -> Summary:
    """Return what is known of a series whose values come to `summary`.

    A published mean of n has n, the mean, and what its source says of the spread; all else is NaN
    or None: it has neither a median nor quartiles.
    """
    statement = series.published
    if statement is None or not is_published_mean(series):
        return summary
    unknown, mean = math.nan, summary.mean
    return Summary(
        n=statement.replications or 1,
        mean=mean,
        median=unknown,
        stdev=statement.stdev,
        minimum=unknown if statement.minimum is None else statement.minimum,
        maximum=unknown if statement.maximum is None else statement.maximum,
        mean_absolute_deviation=unknown,
        cv=statement.stdev / abs(mean) if statement.stdev is not None and mean else None,
        lower_quartile=unknown,
        upper_quartile=unknown,
        outliers=0,
        interval_low=None,
        interval_high=None,
        interval_level=None,
        harmonic_mean=None,
    )


def sample_mean(summary: Summary) -> SampleMean:
    """Return the arithmetic mean with the spread of its values, as far as it is known."""
    return SampleMean(summary.mean, summary.stdev, summary.n)


def _published_interval(summary: Summary) -> Interval | None:
    mean = sample_mean(summary)
    return mean_difference_interval(SampleMean(0.0, None, 1), mean)


def why_unpublished(series: Series, statistic: str) -> str:
    """Return why a published mean has no such `resolved` statistic, for a footnote."""
    statement = series.published
    count = 0 if statement is None else statement.replications
    return f"published as an arithmetic mean of {count}: no {words_of(statistic)} is known"


def interval_words(statistic: str) -> str:
    """Return what a sentence calls the interval that belongs to a `resolved` statistic."""
    return f"95 % interval of the {words_of(statistic) if statistic in MEANS else 'median'}"


def words_of(statistic: str) -> str:
    """Return what a sentence calls a statistic."""
    return _WORDS.get(statistic, statistic.replace("_", " "))


def short(statistic: str) -> str:
    """Return what a column's heading calls a statistic, to stand by itself."""
    return _SHORT.get(statistic, statistic.replace("_", " "))


def own_unit(statistic: str) -> str | None:
    """Return the base unit of a statistic that isn't in its metric's, None for all others."""
    return "1" if statistic == "cv" else "" if statistic in _COUNTED else None


def why_none(statistic: str) -> str:
    """Return why a series has no such `resolved` statistic, for a footnote."""
    match statistic:
        case "mean":
            return NO_MEAN
        case "harmonic_mean":
            return "no harmonic mean: not all values are above 0"
        case "interval" | "interval_low" | "interval_high":
            return f"fewer than {LEAST_FOR_INTERVAL} values: no 95 % interval of the median"
    return ""


def record(summary: Summary, average: Average) -> tuple[int | float | str | None, ...]:
    """Return the values of `FIELDS`, of a metric whose mean is `average`."""
    means = {
        "mean": value_of(summary, resolved("mean", average)),
        "mean_kind": average,
        "arithmetic_mean": summary.mean,
    }
    values = [means[name] if name in means else getattr(summary, name) for name in FIELDS]
    return tuple(
        [None if isinstance(value, float) and value != value else value for value in values]
    )
