"""How far the values behind a table's numbers spread, in a sentence that holds for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.number import at_most, plural
from railgauge.report.definition.statistic import (
    LEAST_FOR_INTERVAL,
    MEANS,
    interval_words,
    value_of,
)
from railgauge.report.tables.table import Cell, Column
from railgauge.stats.dependence import shared_autocorrelation
from railgauge.stats.summary import Summary
from railgauge.store.records import Series

TOO_FEW = "too few"
# In brief, what `dependence` says.
DEPENDENT = "Each replication resembles the one before: 95 % intervals are too narrow."
# Of more metrics and runs than this, how many more there are is enough.
_MOST_GROUPS = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """The cells with values of one metric and one selection of their own, by one of the columns."""

    label: str
    column: Column
    cells: list[Cell]

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of their values."""
        return [cell.summary for cell in self.cells if cell.summary is not None]


def spread(kinds: Sequence[Measured], *, named: bool) -> str:
    """Return the largest spread of each kind: relative where it has a dimension, else absolute.

    Kinds are `named` where there are several.
    """
    return _bounds(kinds, named, _deviation)


def intervals(kinds: Sequence[Measured], *, named: bool) -> str:
    """Return how far the intervals reach at most, and how many cells have too few values for one.

    They are those of the means where these are shown, else those of the medians.
    """
    counts = [summary.n for kind in kinds for summary in kind.summaries]
    without = sum(1 for n in counts if n < LEAST_FOR_INTERVAL)
    if max(counts, default=1) == 1:
        return ""
    if without == len(counts):
        distinct = {interval_words(kind.column.statistic) for kind in kinds if kind.cells}
        of_which = distinct.pop() if len(distinct) == 1 else "95 % interval"
        return f"{TOO_FEW} for a {of_which}, which takes {LEAST_FOR_INTERVAL}"
    text = _bounds(kinds, named, _reach, " to either side")
    if without:
        have = "has" if without == 1 else "have"
        noun = "one" if text else "a 95 % interval"
        cells = f"{without} of {plural(len(counts), 'cell')}"
        few = f"{cells} {have} too few for {noun} ({LEAST_FOR_INTERVAL})"
        text = f"{text}; {few}" if text else few
    return text


def dependence(series: Iterable[Series]) -> tuple[str, ...]:
    """Return the sentence on metrics whose replications depend on the ones before, over all cases.

    One case hardly ever shows it.
    """
    groups: dict[tuple[int, str], list[Series]] = {}
    for entry in series:
        groups.setdefault((entry.run, entry.metric), []).append(entry)
    parts = []
    for (run, metric), members in groups.items():
        shared = shared_autocorrelation([entry.values for entry in members])
        if shared is not None:
            times = math.sqrt((1 + shared) / (1 - shared))
            cases = plural(len(members), "case")
            parts.append(
                f"{visible(metric)} of run {run} (autocorrelation {shared:.2f} over {cases}; about"
                f" {times:.1f} times as wide would do)"
            )
    if not parts:
        return ()
    listed = "; ".join(parts[:_MOST_GROUPS])
    more = f"; and {len(parts) - _MOST_GROUPS} more" if len(parts) > _MOST_GROUPS else ""
    return (
        "Each replication resembles the one before, so that 95 % intervals cover less than 95 %:"
        f" {listed}{more}.",
    )


def _bounds(
    kinds: Sequence[Measured],
    named: bool,
    measured: Callable[[Measured, bool], tuple[str, list[float]]],
    ending: str = "",
) -> str:
    """Return by kind the largest of what is `measured`, rounded up: "at most" must hold."""
    bounds: dict[str, list[str]] = {}
    for kind in kinds:
        absolute = kind.column.metric_unit in ("", "1")
        measure, values = measured(kind, absolute)
        most = max(values, default=math.inf)
        if most == math.inf:
            continue
        if not absolute:
            bound = f"{at_most(most, 0.01, 1)} %"
        elif kind.column.unit == "%":
            # No share of the value, as a coefficient of variation is.
            bound = f"{at_most(most, 0.01, 2)} percentage points"
        else:
            bound = at_most(most, 1, 2)
        bounds.setdefault(measure, []).append(f"{bound} ({kind.label})" if named else bound)
    return "; ".join(
        f"{measure} at most {', '.join(values)}{ending}" for measure, values in bounds.items()
    )


def _deviation(kind: Measured, absolute: bool) -> tuple[str, list[float]]:
    if absolute:
        deviations = [summary.stdev for summary in kind.summaries if summary.stdev is not None]
        return "standard deviation", deviations
    ratios = [
        _share(summary.stdev, summary.mean)
        for summary in kind.summaries
        if summary.stdev is not None
    ]
    return "coefficient of variation", ratios


def _reach(kind: Measured, absolute: bool) -> tuple[str, list[float]]:
    statistic = kind.column.statistic
    reaches = []
    for cell in kind.cells:
        if cell.summary is None or cell.interval is None:
            continue
        middle = value_of(cell.summary, statistic if statistic in MEANS else "median")
        if middle is not None:
            reach = max(cell.interval.high - middle, middle - cell.interval.low)
            reaches.append(reach if absolute else _share(reach, middle))
    return interval_words(statistic), reaches


def _share(spread: float, middle: float) -> float:
    """Return which share of its middle a spread is: infinite around 0, where no bound holds."""
    if not middle:
        return math.inf if spread else 0.0
    return spread / abs(middle)
