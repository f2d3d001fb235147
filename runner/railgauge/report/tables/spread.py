"""How far the values behind a table's numbers spread, in a sentence that holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from railgauge.base.number import at_most
from railgauge.report.tables.statistic import LEAST_FOR_INTERVAL
from railgauge.report.tables.table import Cell, Column
from railgauge.stats import Summary

_INTERVAL = "95 % interval of the median"


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
    bound: Callable[[Sequence[Summary], Column], tuple[str, str] | None],
    ending: str = "",
) -> str:
    """Return what is bounded and by how much at most, of kinds with `bound`s."""
    bounds: dict[str, list[str]] = {}
    for kind in kinds:
        largest = bound([summary for summary in kind.summaries if summary.n > 1], kind.column)
        if largest is not None:
            name = f" ({kind.label})" if named else ""
            bounds.setdefault(largest[0], []).append(largest[1] + name)
    return "; ".join(
        f"{measure} at most {', '.join(values)}{ending}" for measure, values in bounds.items()
    )


def _deviation(summaries: Sequence[Summary], column: Column) -> tuple[str, str] | None:
    """Return the measure of spread and its bound, rounded up: "at most" must hold."""
    if _absolute(column):
        deviations = [summary.stdev for summary in summaries if summary.stdev is not None]
        return ("standard deviation", _plain(max(deviations), column)) if deviations else None
    ratios = [summary.cv for summary in summaries if summary.cv is not None]
    return ("coefficient of variation", f"{at_most(max(ratios), 0.01, 1)} %") if ratios else None


def _reach(summaries: Sequence[Summary], column: Column) -> tuple[str, str] | None:
    reaches = list(_reaches(summaries, relative=not _absolute(column)))
    if not reaches:
        return None
    if _absolute(column):
        return _INTERVAL, _plain(max(reaches), column)
    return _INTERVAL, f"{at_most(max(reaches), 0.01, 1)} %"


def _reaches(summaries: Sequence[Summary], *, relative: bool) -> Iterator[float]:
    for summary in summaries:
        if summary.interval_low is None or summary.interval_high is None:
            continue
        median = summary.median
        reach = max(summary.interval_high - median, median - summary.interval_low)
        if not relative:
            yield reach
        elif median:
            yield reach / abs(median)


def _absolute(column: Column) -> bool:
    return column.metric_unit in ("", "1")


def _plain(value: float, column: Column) -> str:
    if column.unit == "%":
        # No share of the value, as a coefficient of variation is.
        return f"{at_most(value, 0.01, 2)} percentage points"
    return at_most(value, 1, 2)
