"""The cells of a table: a number of one case, or what its hosts can do in theory, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from railgauge.analysis import Summary, summarise
from railgauge.errors import InputError
from railgauge.report.axes import AxisValue
from railgauge.report.beside import Beside
from railgauge.report.characters import visible
from railgauge.report.marks import Marks, Remark, remarks
from railgauge.report.model import CellSpec, TableSpec
from railgauge.report.notes import heading
from railgauge.report.number import fitting_units, scale, shown
from railgauge.report.table import THEORETICAL, Cell, Column
from railgauge.report.theoretical import Limit, NoLimit, Theoretical
from railgauge.store.records import Series


def make_column(
    spec: TableSpec, key: tuple[AxisValue, ...], place: int, stored: str | None
) -> Column:
    """Return the column of the cell at `place` of the definition, whose values are in `stored`.

    None: there are no values, so that any unit will do. InputError where a unit doesn't fit.
    """
    cell = spec.cells[place]
    statistic = THEORETICAL if cell.peak else cell.statistic
    base, digits = stored if stored is not None else "", cell.digits
    if cell.relative_to or statistic == "cv":
        base = "1"
    elif statistic == "n":
        base, digits = "", 0
    unit = cell.unit or _own_unit(cell, base, stored)
    if stored is not None and scale(unit, base) is None:
        what = f"the theoretical {cell.peak}" if cell.peak else f"the {statistic} of {cell.metric}"
        raise InputError(
            f"table {spec.name!r}: {unit!r} can't show {what}:"
            f" use one of {', '.join(fitting_units(base))}"
        )
    name = cell.peak or cell.metric
    label = heading(cell, unit).text
    return Column(
        key, name, statistic, unit, base, stored or "", digits, place, cell.relative_to, label
    )


def _own_unit(cell: CellSpec, base: str, stored: str | None) -> str:
    # How many times as long as it takes at best reads better than a percentage.
    as_share = bool(cell.relative_to) and stored != "s"
    return "%" if as_share or cell.statistic == "cv" else base


class CellMaker:
    """Makes the cells of one table."""

    def __init__(
        self, spec: TableSpec, marks: Marks, theoretical: Theoretical, beside: Beside
    ) -> None:
        self._missing = visible(spec.missing)
        self._name = spec.name
        self._marks = marks
        self._theoretical = theoretical
        self._beside = beside
        self._scales: dict[tuple[str, str], Decimal | None] = {}
        self._known: dict[int, tuple[Summary | None, list[Remark]]] = {}

    def theoretical(self, column: Column, found: Limit | NoLimit | None) -> Cell:
        """Return the cell that shows a theoretical value."""
        if found is None:
            return Cell(self._missing)
        if isinstance(found, NoLimit):
            return self._without(found)
        per_unit = self._scale(column)
        text = shown(found.value, per_unit, column.digits) if per_unit else self._missing
        return Cell(text, peak=found.value, peak_source=found.source)

    def measured(self, column: Column, one: Series | None) -> Cell:
        """Return the cell of a case, or what stands for one that there isn't."""
        if one is None:
            return Cell(self._missing)
        summary, told = self._about(one)
        told = list(told)
        value = None if summary is None else getattr(summary, column.statistic)
        limit = self._limit(column, one, told) if summary is not None else None
        text = self._missing
        per_unit = self._scale(column)
        if summary is not None and per_unit and (limit or not column.relative_to):
            ratio = value if limit is None or value is None else value / limit.value
            text = shown(ratio, per_unit, column.digits)
        return Cell(
            text,
            self._marks.of(told),
            summary,
            one.run,
            one.test,
            one.case.key,
            one.asked,
            one.failed,
            int(np.count_nonzero(one.suspect)),
            "; ".join(remark.text for remark in told),
            None if limit is None else limit.value,
            "" if limit is None else limit.source,
        )

    def _about(self, one: Series) -> tuple[Summary | None, list[Remark]]:
        known = self._known.get(id(one))
        if known is None:
            summary = summarise(one.values) if len(one.values) else None
            known = summary, list(remarks(one, self._beside.warnings_of(one)))
            self._known[id(one)] = known
        return known

    def _limit(self, column: Column, one: Series, told: list[Remark]) -> Limit | None:
        """Return what the value is held against, if anything, and remark what is odd about it."""
        if not column.relative_to:
            return None
        found = self._theoretical.of(column.relative_to, one)
        if isinstance(found, NoLimit):
            told.append(Remark(found.why))
            return None
        if found.unit != one.unit:
            raise InputError(
                f"table {self._name!r}: {one.metric} is in {one.unit!r} and {column.relative_to} in"
                f" {found.unit!r}, which have no ratio: name another resource in 'relative_to'"
            )
        best = one.values.max() if one.better != "lower" else -one.values.min()
        if one.better and best > (found.value if one.better != "lower" else -found.value):
            told.append(Remark("some values are better than the theoretical one"))
        return found

    def _without(self, found: NoLimit) -> Cell:
        return Cell(self._missing, self._marks.of([Remark(found.why)]), note=found.why)

    def _scale(self, column: Column) -> Decimal | None:
        units = column.unit, column.base_unit
        if units not in self._scales:
            self._scales[units] = scale(*units)
        return self._scales[units]


def one_limit(
    spec: TableSpec, cell: CellSpec, theoretical: Theoretical, standing: Sequence[Series]
) -> Limit | NoLimit | None:
    """Return the theoretical value of the cases that stand in one place, None where none does.

    InputError where they have several.
    """
    found = list(dict.fromkeys(theoretical.of(cell.peak, one) for one in standing))
    limits = [one for one in found if isinstance(one, Limit)]
    if len({one.value for one in limits}) > 1:
        told = " and ".join(f"{one.value:g} {one.unit}" for one in limits)
        raise InputError(
            f"table {spec.name!r}: the cases of one row have different theoretical values of"
            f" {cell.peak} ({told}): give the cell with 'peak' a 'select' of its own, or add what"
            " they differ in to rows or columns"
        )
    return limits[0] if limits else found[0] if found else None


def one_unit(spec: TableSpec, cell: CellSpec, found: Iterable[str]) -> str | None:
    """Return the unit that all of `found` share, None if there is none; InputError for several."""
    units = dict.fromkeys(found)
    if len(units) > 1:
        first, second, *_ = units
        raise InputError(
            f"table {spec.name!r}: {cell.peak or cell.metric} is in {first!r} for some engines"
            f" and in {second!r} for others: select one engine"
        )
    return next(iter(units), None)
