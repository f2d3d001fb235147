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
        """What their values say."""
        return [cell.summary for cell in self.cells if cell.summary is not None]


def spread(kinds: Sequence[Measured], *, named: bool) -> str:
    """Say the largest spread of each kind: relative where it has a dimension, else absolute.

    `named` says whether each kind goes by its name.
    """
    return _said(kinds, named, _deviation, lambda which, each: f"{which} at most {each}")


def intervals(kinds: Sequence[Measured], *, named: bool) -> str:
    """Say how far the intervals of the medians reach at most, and how many cells have none."""
    every = [one for kind in kinds for one in kind.summaries]
    without = sum(1 for one in every if one.interval_low is None)
    if not every or max(one.n for one in every) == 1:
        return ""
    if without == len(every):
        return f"too few for a 95 % interval of the median, which takes {LEAST_FOR_INTERVAL}"
    text = _said(kinds, named, _reach, lambda which, each: f"{which} at most {each} to either side")
    if without:
        have = "has" if without == 1 else "have"
        few = f"{without} of {len(every)} cells {have} too few for one ({LEAST_FOR_INTERVAL})"
        text = f"{text}; {few}" if text else few
    return text


def _said(
    kinds: Sequence[Measured],
    named: bool,
    largest: Callable[[Sequence[Summary], Column], tuple[str, str] | None],
    sentence: Callable[[str, str], str],
) -> str:
    said: dict[str, list[str]] = {}
    for kind in kinds:
        found = largest([one for one in kind.summaries if one.n > 1], kind.column)
        if found is not None:
            name = f" ({kind.label})" if named else ""
            said.setdefault(found[0], []).append(found[1] + name)
    return "; ".join(sentence(which, ", ".join(each)) for which, each in said.items())


def _deviation(found: Sequence[Summary], column: Column) -> tuple[str, str] | None:
    """Return the kind of spread and its bound, rounded up: "at most" must hold."""
    if _absolute(column):
        deviations = [one.stdev for one in found if one.stdev is not None]
        return ("standard deviation", _plain(max(deviations), column)) if deviations else None
    ratios = [one.cv for one in found if one.cv is not None]
    return ("coefficient of variation", f"{at_most(max(ratios), 0.01, 1)} %") if ratios else None


def _reach(found: Sequence[Summary], column: Column) -> tuple[str, str] | None:
    reaches = list(_reaches(found, relative=not _absolute(column)))
    if not reaches:
        return None
    if _absolute(column):
        return _INTERVAL, _plain(max(reaches), column)
    return _INTERVAL, f"{at_most(max(reaches), 0.01, 1)} %"


def _reaches(found: Sequence[Summary], *, relative: bool) -> Iterator[float]:
    for one in found:
        if one.interval_low is None or one.interval_high is None:
            continue
        reach = max(one.interval_high - one.median, one.median - one.interval_low)
        if not relative:
            yield reach
        elif one.median:
            yield reach / abs(one.median)


def _absolute(column: Column) -> bool:
    return column.metric_unit in ("", "1")


def _plain(value: float, column: Column) -> str:
    if column.unit == "%":
        # No share of the value, as a coefficient of variation is.
        return f"{at_most(value, 0.01, 2)} percentage points"
    return at_most(value, 1, 2)
