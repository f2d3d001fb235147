"""The case that a cell's value is compared with, at other values of axes, and the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.errors import InputError
from railgauge.base.number import plain_number
from railgauge.report.definition.statistic import (
    LEAST_FOR_INTERVAL,
    LOCATIONS,
    interval_of,
    is_published_mean,
    sample_mean,
    value_of,
    why_none,
    why_unpublished,
    words_of,
)
from railgauge.report.tables.axes import Axis, Key, axis_value
from railgauge.report.tables.marks import Remark
from railgauge.report.tables.selection import differing_axes, engines_shown, make_axes, selector
from railgauge.report.tables.table import Column, Method, ReferenceValue
from railgauge.stats.hodges_lehmann import difference_interval, ratio_interval
from railgauge.stats.mean_difference import mean_difference_interval
from railgauge.stats.summary import Summary
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import CellSpec, TableSpec

_INTERVALS = {"interval": (0, 1), "interval_low": (0,), "interval_high": (1,)}


class References:
    """Finds the series, in the same row and column, that cells are compared with, by their index.

    A cell is known by its place in the definition.
    """

    def __init__(
        self, spec: TableSpec, series: Sequence[Series], catalogue: Catalogue | None
    ) -> None:
        """InputError where a cell would be compared with several cases."""
        self._spec = spec
        self._series = series
        self._grids: dict[int, dict[tuple[Key, Key], int]] = {}
        self._axes: dict[int, dict[str, Axis]] = {}
        for place, cell in enumerate(spec.cells):
            if cell.against:
                select = {**spec.select, **cell.select, **cell.against}
                axes = make_axes(select, spec.axes, engines_shown(select, series), catalogue)
                self._axes[place] = axes
                self._grids[place] = self._grid(cell, selector(select, axes))

    @property
    def places(self) -> list[int]:
        """The cells that are compared with others."""
        return list(self._grids)

    @property
    def indices(self) -> list[int]:
        """All series that any cell may be compared with."""
        return list(dict.fromkeys(i for grid in self._grids.values() for i in grid.values()))

    def of(self, place: int, row: Key, column: Key) -> int | None:
        """Return the series that the cell is compared with in that row and column."""
        if place not in self._grids:
            return None
        against = self._spec.cells[place].against
        key = (
            _without(row, self._spec.rows, against),
            _without(column, self._spec.columns, against),
        )
        return self._grids[place].get(key)

    def words(self, place: int) -> str:
        """Return what that cell is compared with: `Sockbuf 10KiB`; "" for nothing."""
        axes = self._axes.get(place, {})
        return ", ".join(
            f"{axes[name].title} {axes[name].text(axes[name].parse(value))}"
            for name, value in self._spec.cells[place].against.items()
        )

    def is_itself(self, place: int, column: Key) -> bool:
        """Return whether all that this column shows would be compared with itself."""
        against = self._spec.cells[place].against
        values = dict(zip(self._spec.columns, column, strict=True))
        return bool(against) and all(
            name in values and values[name] in self._axes[place][name].accepts([value])
            for name, value in against.items()
        )

    def _grid(
        self, cell: CellSpec, is_selected: Callable[[Series], bool]
    ) -> dict[tuple[Key, Key], int]:
        grid: dict[tuple[Key, Key], int] = {}
        for i, series in enumerate(self._series):
            if series.metric != cell.metric or not is_selected(series):
                continue
            row, column = (
                tuple(axis_value(series, name) for name in names if name not in cell.against)
                for names in (self._spec.rows, self._spec.columns)
            )
            first = grid.setdefault((row, column), i)
            if first != i:
                differing = ", ".join(differing_axes([self._series[first], series]))
                raise InputError(
                    f"table {self._spec.name!r}: a cell would be compared with several cases, which"
                    f" differ in {differing}: say more in 'against', or add to rows, columns or"
                    " select"
                )
        return grid


def _without(key: Key, names: Sequence[str], against: Mapping[str, object]) -> Key:
    return tuple(value for name, value in zip(names, key, strict=True) if name not in against)


def compare(
    column: Column,
    measured: tuple[Series, Summary],
    reference: tuple[Series, Summary],
    remarks: list[Remark],
) -> tuple[tuple[float, ...], ReferenceValue]:
    """Return how `measured` compares with the `reference`, in base units, and the latter's value.

    No numbers where they can't be compared; `remarks` then gets the reason.
    """
    (series, summary), (other, other_summary) = measured, reference
    located = column.statistic in LOCATIONS
    method: Method = "pairs"
    ends: tuple[float | None, float | None] = (None, None)
    if other.published is not None or series.published is not None:
        method = "constant" if summary.stdev is None or other_summary.stdev is None else "means"
        ends = _published_interval(column, measured, reference)
    elif located:
        ends = _interval(column.compared, series, other)
    statistic = "median" if column.statistic in _INTERVALS else column.statistic
    value, base = value_of(summary, statistic), value_of(other_summary, statistic)
    reference_value = ReferenceValue(base, other.run, other.test, other.case.key, *ends, method)
    if column.statistic in _INTERVALS:
        numbers = () if series is other else interval_ends(reference_value, column, remarks)
        return tuple(numbers[i] for i in _INTERVALS[column.statistic] if numbers), reference_value
    if value is None or base is None:
        remarks.append(Remark(_why_none(column, series if value is None else other)))
        return (), reference_value
    if column.compared == "difference":
        return (value - base,), reference_value
    if base <= 0 or value < 0:
        remarks.append(
            Remark(f"no ratio: it would be {plain_number(value, 6)} to {plain_number(base, 6)}")
        )
        return (), reference_value
    return (value / base - (column.compared == "change"),), reference_value


def _why_none(column: Column, series: Series) -> str:
    if is_published_mean(series):
        return why_unpublished(series, column.statistic)
    single = f"a single value: no {words_of(column.statistic)}"
    return why_none(column.statistic) or single


def _published_interval(
    column: Column, measured: tuple[Series, Summary], reference: tuple[Series, Summary]
) -> tuple[float | None, float | None]:
    """Return the interval of a comparison of which a side is a number that somebody printed.

    Of two means whose spreads are known it is Welch's, if it is a difference. A reference whose
    spread isn't known is taken for exact.
    """
    (series, summary), (_, other) = measured, reference
    no_ends = (None, None)
    base = value_of(other, column.statistic)
    if base is None or series.published is not None:
        return no_ends
    if other.stdev is not None:
        is_difference = column.compared == "difference" and column.statistic == "arithmetic_mean"
        if not is_difference or min(summary.n, other.n) < LEAST_FOR_INTERVAL:
            return no_ends
        difference = mean_difference_interval(sample_mean(other), sample_mean(summary))
        return no_ends if difference is None else (difference.low, difference.high)
    interval = interval_of(series, summary, column.statistic)
    if interval is None:
        return no_ends
    if column.compared == "difference":
        return interval.low - base, interval.high - base
    if base <= 0:
        return no_ends
    less = 1.0 if column.compared == "change" else 0.0
    return interval.low / base - less, interval.high / base - less


def _interval(compared: str, series: Series, other: Series) -> tuple[float | None, float | None]:
    if series is other:
        return None, None
    if compared == "difference":
        interval = difference_interval(other.values, series.values)
    else:
        interval = ratio_interval(other.values, series.values)
    if interval is None:
        return None, None
    base = 1.0 if compared == "change" else 0.0
    return interval.low - base, interval.high - base


def interval_ends(
    reference: ReferenceValue, column: Column, remarks: list[Remark]
) -> tuple[float, ...]:
    """Return both ends of the interval; `remarks` gets the reason where there are none."""
    if reference.low is None or reference.high is None:
        above = "" if column.compared == "difference" else ", or some that aren't above 0"
        remarks.append(Remark(f"too few values{above}: no 95 % interval of the {column.compared}"))
        return ()
    return reference.low, reference.high
