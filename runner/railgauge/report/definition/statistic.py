"""The statistics that a table or figure may show: what they are called, and their values.

`mean` is the one that fits what is measured (`average_of`), of which its unit and its kind, as its
engine describes it, tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Literal

from railgauge.stats import Summary, average_of

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
# Fewer values than this have no 95 % interval of their median.
LEAST_FOR_INTERVAL = 6
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


def common_kind(kinds: Iterable[str]) -> str:
    """Return the kind of values that are shown together; "", so that the unit tells, if it differs.

    Runs of one metric may differ in it: one that is older than its engine's table lacks it.
    """
    distinct = set(kinds)
    return distinct.pop() if len(distinct) == 1 else ""


def resolved(statistic: str, unit: str, kind: str) -> str:
    """Return the statistic by its own name: `mean` is one of two, or stays `mean` for a ratio.

    `unit` is the metric's base unit, `kind` what its engine says it is.
    """
    if statistic != "mean":
        return statistic
    average = average_of(unit, kind)
    return "mean" if average == "none" else f"{average}_mean"


def value_of(summary: Summary, statistic: str) -> float | None:
    """Return a `resolved` statistic, None where there is none.

    A single value is its own mean of any kind: of a ratio, and of 0.
    """
    if statistic in ("mean", "harmonic_mean") and summary.n == 1:
        return summary.mean
    if statistic == "mean":
        return None
    return _getter(statistic)(summary)


@lru_cache
def _getter(statistic: str) -> Callable[[Summary], float | None]:
    return attrgetter("mean" if statistic == "arithmetic_mean" else statistic)


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


def record(summary: Summary, unit: str, kind: str) -> tuple[int | float | str | None, ...]:
    """Return the values of `FIELDS`, of a metric of that kind in the base unit `unit`."""
    means = {
        "mean": value_of(summary, resolved("mean", unit, kind)),
        "mean_kind": average_of(unit, kind),
        "arithmetic_mean": summary.mean,
    }
    return tuple([means[name] if name in means else getattr(summary, name) for name in FIELDS])
