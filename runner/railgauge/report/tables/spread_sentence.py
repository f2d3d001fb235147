"""How far the values behind a table's numbers spread, in a sentence that holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from railgauge.base.number import at_most
from railgauge.report.definition.statistic import LEAST_FOR_INTERVAL
from railgauge.report.tables.table import Cell, Column
from railgauge.stats import Summary


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
    """Return how far the intervals of the medians reach at most, and how many cells have none."""
    summaries = [summary for kind in kinds for summary in kind.summaries]
    without = sum(1 for summary in summaries if summary.interval_low is None)
    if not summaries or max(summary.n for summary in summaries) == 1:
        return ""
    if without == len(summaries):
        return f"too few for a 95 % interval of the median, which takes {LEAST_FOR_INTERVAL}"
    text = _bounds(kinds, named, _reach, " to either side")
    if without:
        have = "has" if without == 1 else "have"
        few = f"{without} of {len(summaries)} cells {have} too few for one ({LEAST_FOR_INTERVAL})"
        text = f"{text}; {few}" if text else few
    return text


def _bounds(
    kinds: Sequence[Measured],
    named: bool,
    measured: Callable[[Sequence[Summary], bool], tuple[str, list[float]]],
    ending: str = "",
) -> str:
    """Return by kind the largest of what is `measured`, rounded up: "at most" must hold."""
    bounds: dict[str, list[str]] = {}
    for kind in kinds:
        absolute = kind.column.metric_unit in ("", "1")
        measure, values = measured(
            [summary for summary in kind.summaries if summary.n > 1], absolute
        )
        if values and not absolute:
            bound = f"{at_most(max(values), 0.01, 1)} %"
        elif values and kind.column.unit == "%":
            # No share of the value, as a coefficient of variation is.
            bound = f"{at_most(max(values), 0.01, 2)} percentage points"
        elif values:
            bound = at_most(max(values), 1, 2)
        else:
            continue
        bounds.setdefault(measure, []).append(f"{bound} ({kind.label})" if named else bound)
    return "; ".join(
        f"{measure} at most {', '.join(values)}{ending}" for measure, values in bounds.items()
    )


def _deviation(summaries: Sequence[Summary], absolute: bool) -> tuple[str, list[float]]:
    if absolute:
        deviations = [summary.stdev for summary in summaries if summary.stdev is not None]
        return "standard deviation", deviations
    ratios = [summary.cv for summary in summaries if summary.cv is not None]
    return "coefficient of variation", ratios


def _reach(summaries: Sequence[Summary], absolute: bool) -> tuple[str, list[float]]:
    reaches = []
    for summary in summaries:
        median, low, high = summary.median, summary.interval_low, summary.interval_high
        if low is not None and high is not None and (absolute or median):
            reach = max(high - median, median - low)
            reaches.append(reach if absolute else reach / abs(median))
    return "95 % interval of the median", reaches
