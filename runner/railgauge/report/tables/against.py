"""What a cell's value is held against: the case at other values of axes; how the two compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from railgauge.base.errors import InputError
from railgauge.report.definition.model import CellSpec, TableSpec
from railgauge.report.tables.axes import Axis, AxisValue, axis_value
from railgauge.report.tables.marks import Remark
from railgauge.report.tables.selection import engines_shown, make_axes, matching, telling
from railgauge.report.tables.statistic import LOCATIONS, value_of, why_none, words_of
from railgauge.report.tables.table import Column, ReferenceValue
from railgauge.stats import Summary, difference_interval, ratio_interval
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

Key: TypeAlias = tuple[AxisValue, ...]
_INTERVALS = {"interval": (0, 1), "interval_low": (0,), "interval_high": (1,)}


class References:
    """Finds what stands at the values that cells are held against, in the same row and column."""

    def __init__(
        self, spec: TableSpec, series: Sequence[Series], catalogue: Catalogue | None
    ) -> None:
        """InputError where a cell would be held against several cases."""
        self._spec = spec
        self._there: dict[int, dict[tuple[Key, Key], Series]] = {}
        self._axes: dict[int, dict[str, Axis]] = {}
        for place, cell in enumerate(spec.cells):
            if cell.against:
                select = {**spec.select, **cell.select, **cell.against}
                axes = make_axes(select, spec.axes, engines_shown(select, series), catalogue)
                found = matching((one for one in series if one.metric == cell.metric), select, axes)
                self._axes[place] = axes
                self._there[place] = self._grid(cell, found)

    @property
    def places(self) -> list[int]:
        """The places in the definition of the cells that are held against others."""
        return list(self._there)

    @property
    def every(self) -> list[Series]:
        """All that any cell may be held against."""
        return list(
            {id(one): one for there in self._there.values() for one in there.values()}.values()
        )

    def of(self, place: int, row: Key, column: Key) -> Series | None:
        """Return what the cell at `place` of the definition is held against there."""
        there = self._there.get(place)
        if there is None:
            return None
        against = self._spec.cells[place].against
        key = (
            _without(row, self._spec.rows, against),
            _without(column, self._spec.columns, against),
        )
        return there.get(key)

    def words(self, place: int) -> str:
        """Return what that cell is held against: `Sockbuf 10KiB`; "" for nothing."""
        axes = self._axes.get(place, {})
        return ", ".join(
            f"{axes[name].title} {axes[name].text(axes[name].parse(value))}"
            for name, value in self._spec.cells[place].against.items()
        )

    def is_itself(self, place: int, column: Key) -> bool:
        """Return whether all that this column shows would be held against itself."""
        against = self._spec.cells[place].against
        values = dict(zip(self._spec.columns, column, strict=True))
        return bool(against) and all(
            name in values and values[name] in self._axes[place][name].accepts([value])
            for name, value in against.items()
        )

    def _grid(self, cell: CellSpec, found: Sequence[Series]) -> dict[tuple[Key, Key], Series]:
        grid: dict[tuple[Key, Key], Series] = {}
        for one in found:
            row, column = (
                tuple(axis_value(one, name) for name in names if name not in cell.against)
                for names in (self._spec.rows, self._spec.columns)
            )
            first = grid.setdefault((row, column), one)
            if first is not one:
                raise InputError(
                    f"table {self._spec.name!r}: a cell would be held against several cases, which"
                    f" differ in {', '.join(telling([first, one]))}: say more in 'against', or add"
                    " to rows, columns or select"
                )
        return grid


def _without(key: Key, names: Sequence[str], against: Mapping[str, object]) -> Key:
    return tuple(value for name, value in zip(names, key, strict=True) if name not in against)


def hold(
    column: Column,
    one: tuple[Series, Summary],
    other: tuple[Series, Summary],
    told: list[Remark],
) -> tuple[tuple[float, ...], ReferenceValue]:
    """Return how `one` compares with the `other`, in the column's base unit, and the latter.

    No numbers where they can't be compared; `told` then says why.
    """
    (here, found), (there, reference) = one, other
    located = column.statistic in LOCATIONS
    ends = _interval(column.compared, here, there) if located else (None, None)
    statistic = "median" if column.statistic in _INTERVALS else column.statistic
    value, base = value_of(found, statistic), value_of(reference, statistic)
    held = ReferenceValue(base, there.run, there.test, there.case.key, *ends)
    if column.statistic in _INTERVALS:
        found_ends = () if here is there else ends_of(held, column, told)
        return tuple(found_ends[i] for i in _INTERVALS[column.statistic] if found_ends), held
    if value is None or base is None:
        single = f"a single value: no {words_of(column.statistic)}"
        told.append(Remark(why_none(column.statistic) or single))
        return (), held
    if column.compared == "difference":
        return (value - base,), held
    if base <= 0 or value < 0:
        told.append(Remark(f"no ratio: it would be {value:g} to {base:g}"))
        return (), held
    return (value / base - (column.compared == "change"),), held


def _interval(compared: str, here: Series, there: Series) -> tuple[float | None, float | None]:
    if here is there:
        return None, None
    if compared == "difference":
        found = difference_interval(there.values, here.values)
    else:
        found = ratio_interval(there.values, here.values)
    if found is None:
        return None, None
    less = 1.0 if compared == "change" else 0.0
    return found.low - less, found.high - less


def ends_of(held: ReferenceValue, column: Column, told: list[Remark]) -> tuple[float, ...]:
    """Return both ends of the interval; `told` says why there are none."""
    if held.low is None or held.high is None:
        above = "" if column.compared == "difference" else ", or some that aren't above 0"
        told.append(Remark(f"too few values{above}: no 95 % interval of the {column.compared}"))
        return ()
    return held.low, held.high
