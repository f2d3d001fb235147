"""The cells of a table: a number of one case, or what its hosts can do in theory, or nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.number import NOT_DEFINED, scale, shown
from railgauge.report.definition.model import CellSpec, TableSpec
from railgauge.report.tables.against import ends_of, hold
from railgauge.report.tables.beside import Remarks
from railgauge.report.tables.logged import is_logged
from railgauge.report.tables.marks import Marks, Remark, remarks
from railgauge.report.tables.notes import of_one_metric
from railgauge.report.tables.statistic import own_unit, value_of, why_none
from railgauge.report.tables.table import Cell, Column, ReferenceValue
from railgauge.report.tables.theoretical import Limit, NoLimit, Theoretical
from railgauge.stats import Summary, oddities, summaries
from railgauge.store.records import Series

_ONE, _PERCENT = Decimal(1), Decimal("0.01")
_ENDS = ("interval_low", "interval_high")


class Standing(NamedTuple):
    """What stands at a place of the table: a case, a theoretical value, what it is held against."""

    one: Series | None
    limit: Limit | NoLimit | None = None
    reference: Series | None = None


class _Worth(NamedTuple):
    """What a cell is to show: None if it is missing, no numbers if there is no such statistic.

    `about` is said of the case, `told` of this very cell.
    """

    numbers: tuple[float, ...] | None = None
    found: Summary | None = None
    about: Sequence[Remark] = ()
    told: Sequence[Remark] = ()
    limit: Limit | None = None
    held: ReferenceValue | None = None
    beside: Sequence[float] = ()


_NOTHING = _Worth()


class CellMaker:
    """Makes the cells of one table."""

    def __init__(
        self,
        spec: TableSpec,
        columns: Sequence[Column],
        every: Sequence[Series],
        shown: Collection[int],
        marks: Marks,
        theoretical: Theoretical,
        beside: Remarks,
    ) -> None:
        """`every` are shown or held against; those in `shown` (by identity) stand in a column."""
        self._missing = visible(spec.missing)
        self._name = spec.name
        self._marked_once = of_one_metric(spec, columns)
        self._marks = marks
        self._theoretical = theoretical
        self._beside = beside
        self._scales: dict[tuple[str, str], Decimal | None] = {}
        # All at once, as one by one they take longer than all the rest.
        odd = oddities([one.values for one in every])
        self._odd = dict(zip(map(id, every), odd, strict=True))
        self._shown = shown
        there = [one for one in every if len(one.values)]
        summed = summaries([one.values for one in there])
        self._summaries = dict(zip(map(id, there), summed, strict=True))
        self._known: dict[int, tuple[Summary | None, list[Remark]]] = {}

    def cell(self, column: Column, there: Standing, said: Sequence[Remark] = ()) -> Cell:
        """Return the cell with what stands there; `said` is what the author says of it."""
        worth, one = self._worth(column, there), there.one
        told = [*worth.told, *said]
        every = [*worth.about, *told] if worth.about else told
        # Where a row is one case, its first cell has the marks of all of it.
        marked = told if self._marked_once and column.place else every
        if one is None:
            limit = worth.limit
            return Cell(
                text=self._text(column, worth),
                mark=self._marks.of(marked),
                note="; ".join(remark.text for remark in every),
                peak=None if limit is None else limit.value,
                peak_source="" if limit is None else limit.source,
                value=_finite(worth.numbers),
            )
        # By position, which is twice as fast, as there may be a hundred thousand.
        return Cell(
            self._text(column, worth),
            self._marks.of(marked),
            worth.found,
            one.run,
            one.test,
            one.case.key,
            one.planned,
            one.failed,
            int(np.count_nonzero(one.suspect)),
            "; ".join([remark.text for remark in every]),
            None if worth.limit is None else worth.limit.value,
            "" if worth.limit is None else worth.limit.source,
            _finite(worth.numbers),
            worth.held,
        )

    def value(self, column: Column, there: Standing) -> float | None:
        """Return the number that the cell shows, in the column's base unit, or None."""
        return _finite(self._worth(column, there).numbers)

    def _worth(self, column: Column, there: Standing) -> _Worth:
        if column.theoretical:
            return _theoretical(there.limit)
        if there.one is None:
            return _NOTHING
        found, about = self._about(there.one)
        if found is None:
            return _Worth(about=about)
        told: list[Remark] = []
        if column.compared:
            return self._held(column, there, told)
        limit = self._limit(column, there.one, told)
        if column.relative_to and limit is None:
            return _Worth(None, found, about, told=told)
        numbers = _numbers(column.statistic, found, limit, told)
        beside = _numbers(column.beside, found, limit, told) if column.beside and numbers else ()
        return _Worth(numbers, found, about, told, limit, beside=beside)

    def _held(self, column: Column, there: Standing, told: list[Remark]) -> _Worth:
        one, other = there.one, there.reference
        assert one is not None  # or there would be nothing to hold against anything
        found, about = self._about(one)
        assert found is not None
        reference, others = (None, []) if other is None else self._about(other)
        if other is None or reference is None:
            where = f"{column.against}, all else being equal"
            told.append(Remark(f"nothing was measured at {where}, to hold it against"))
            return _Worth(None, found, about, told)
        if other.unit != one.unit:
            raise InputError(
                f"table {self._name!r}: {one.metric} is in {one.unit!r} here and in {other.unit!r}"
                f" at {column.against}, which can't be held against one another: name another"
                " metric, or drop 'against'"
            )
        if id(other) not in self._shown:
            told += [Remark(f"{column.against}: {each.text}", each.kind) for each in others]
            if reference.n != found.n:
                told.append(Remark(f"{column.against}: n = {reference.n}"))
        numbers, held = hold(column, (one, found), (other, reference), told)
        # An interval of what is held against itself says nothing.
        itself = one is other
        none = not numbers and itself
        beside = ends_of(held, column, told) if column.beside and numbers and not itself else ()
        return _Worth(None if none else numbers, found, about, told, held=held, beside=beside)

    def _text(self, column: Column, worth: _Worth) -> str:
        numbers, beside = worth.numbers, worth.beside
        units = column.unit, column.base_unit
        if units not in self._scales:
            self._scales[units] = scale(*units)
        per_unit = self._scales[units]
        if numbers is None or per_unit is None:
            return self._missing
        if not numbers:
            return NOT_DEFINED
        text = _joined(shown(each, per_unit, column.digits) for each in numbers)
        return f"{text} {_beside(column, beside, per_unit)}" if beside else text

    def _about(self, one: Series) -> tuple[Summary | None, list[Remark]]:
        known = self._known.get(id(one))
        if known is None:
            summary = self._summaries.get(id(one))
            warnings = self._beside.warnings_of(one)
            known = summary, list(remarks(one, warnings, summary, self._odd[id(one)]))
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


def _finite(numbers: Sequence[float] | None) -> float | None:
    return numbers[0] if numbers and math.isfinite(numbers[0]) else None


def _theoretical(limit: Limit | NoLimit | None) -> _Worth:
    if limit is None:
        return _NOTHING
    if isinstance(limit, NoLimit):
        return _Worth(told=[Remark(limit.why)])
    return _Worth((limit.value,), limit=limit)


def _joined(texts: Iterable[str]) -> str:
    every = list(texts)
    return every[0] if len(every) == 1 else f"[{', '.join(every)}]"


def _beside(column: Column, numbers: Sequence[float], per_unit: Decimal) -> str:
    """Return the second statistic of a cell as it stands behind the first."""
    own = own_unit(column.beside)
    if own == "1":
        return f"({shown(numbers[0], _PERCENT, 1)} %)"
    if own is not None:
        return f"({shown(numbers[0], _ONE, 0)})"
    text = _joined(shown(each, per_unit, column.digits) for each in numbers)
    if column.beside in ("stdev", "mean_absolute_deviation"):
        return f"± {text}"
    return text if len(numbers) > 1 else f"({text})"


def _numbers(
    statistic: str, summary: Summary, limit: Limit | None, told: list[Remark]
) -> tuple[float, ...]:
    """Return a statistic in its base unit, and remark why there is none."""
    numbers = []
    for end in _ENDS if statistic == "interval" else (statistic,):
        value = value_of(summary, end)
        if value is None:
            why = why_none(statistic)
            told += [Remark(why)] if why else []
            return ()
        relative = limit is not None and own_unit(statistic) is None
        numbers.append(value / limit.value if limit is not None and relative else value)
    return tuple(numbers)


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
        what = "counters" if is_logged(cell.metric) else "engines"
        which = "those of one unit" if is_logged(cell.metric) else "one engine"
        raise InputError(
            f"table {spec.name!r}: {cell.peak or cell.metric} is in {first!r} for some {what}"
            f" and in {second!r} for others: select {which}"
        )
    return next(iter(units), None)
