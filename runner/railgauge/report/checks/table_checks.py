"""What is checked in each table and list of slow nodes against the engines it may show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.errors import Problem
from railgauge.base.quantities import unit_of
from railgauge.base.suggestion import suggest, suggest_or_list
from railgauge.engine.granted_settings import NAMES, TEXTS, UNITS
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.yamlfile import Document
from railgauge.report.checks.checking import Checker, Place, Selections
from railgauge.report.definition.cell_names import name_of, places_of
from railgauge.report.definition.statistic import LOCATIONS, own_unit
from railgauge.report.tables.axes import FIXED_AXES, REPLICATION, granted_name
from railgauge.report.tables.logged import SIDES, axes_of, is_logged, without_axes
from railgauge.report.tables.parameter_rows import PARAMETERS
from railgauge.report.tables.table_series import own_axes

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import CellSpec, SlowNodesSpec, TableSpec

# Statistics that have no ratio to a theoretical value.
_NO_RATIO = ("cv", "n", "outliers")


class TableChecker(Checker):
    """Checks one table."""

    def __init__(
        self, document: Document, place: Place, table: TableSpec, catalogue: Catalogue
    ) -> None:
        self._selects = [{**table.select, **cell.select} for cell in table.cells]
        own = own_axes(table.cells)
        super().__init__(document, place, catalogue, table.select, table.axes, self._selects, own)
        self._table = table
        self._rows = [name for name in table.rows if name != PARAMETERS]

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the table."""
        yield from super().problems()
        yield from self._axis_names()
        yield from self._group()
        yield from self._sort()
        for i in range(len(self._table.footnotes)):
            yield from self._footnote(i)
        for i, (cell, select) in enumerate(zip(self._table.cells, self._selects, strict=True)):
            place = (*self._place, "cells", i)
            yield from CellChecker(
                self._document, place, cell, select, self._catalogue, self._own_axes
            ).problems()
            yield from self._against(i)
        if not any(cell.metric for cell in self._table.cells):
            message = "no cell shows a measurement: add one with the key 'metric'"
            yield self._problem(("cells",), message)

    def _axis_names(self) -> Iterator[Problem]:
        used: set[str] = set()
        yield from self._axis_list("rows", self._table.rows, used, allowed=PARAMETERS)
        yield from self._axis_list("columns", self._table.columns, used)
        if not self._rows:
            message = f"{PARAMETERS!r} may stand for none: add another axis, such as link"
            yield self._problem(("rows",), message)
        for name in self._table.axes:
            if name not in used and PARAMETERS not in used:
                message = f"axis {name!r} is neither in rows nor in columns: add it there"
                yield self._problem(("axes", name), message, key=True)

    def _against(self, i: int) -> Iterator[Problem]:
        table = self._table
        cell = table.cells[i]
        put = (*self._rows, *table.columns, *table.select, *cell.select)
        yield from self._places(("cells", i, "against"), cell.against, put, "rows, columns, select")

    def _group(self) -> Iterator[Problem]:
        rows, group = self._rows, self._table.group
        if group and group not in rows:
            hint = suggest(group, rows) or f": they are {', '.join(rows)}"
            yield self._problem(("group",), f"{group!r} is no axis of the rows{hint}")
        elif group and group == self._table.rows[-1]:
            message = f"each row would be a group: {group!r} is the last axis of the rows"
            before = (
                f"name one before it, such as {rows[-2]!r}" if len(rows) > 1 else "drop 'group'"
            )
            yield self._problem(("group",), f"{message}: {before}")

    def _sort(self) -> Iterator[Problem]:
        sort, columns = self._table.sort, self._table.columns
        if sort is None:
            return
        yield from self._cell(("sort", "by"), sort.by)
        yield from self._places(("sort", "column"), sort.column, columns, "columns")
        missing = [name for name in columns if name not in sort.column]
        if missing:
            example = ", ".join(f"{name}: …" for name in missing)
            message = f"there are several columns to sort by: name one, column: {{{example}}}"
            yield self._problem(("sort", "column") if sort.column else ("sort",), message)

    def _footnote(self, i: int) -> Iterator[Problem]:
        note, table = self._table.footnotes[i], self._table
        place = ("footnotes", i)
        axes = [*self._rows, *table.columns]
        yield from self._places((*place, "where"), note.where, axes, "rows, columns")
        if note.cell:
            yield from self._cell((*place, "cell"), note.cell)
        if not note.where and not note.cell:
            message = "the footnote names no place: add 'where' or 'cell', or use 'notes'"
            yield self._problem(place, message)
        elif not note.where and len(table.cells) == 1 and table.columns:
            message = "the only cell has no heading to mark: name rows or columns in 'where'"
            yield self._problem((*place, "cell"), message)

    def _cell(self, place: Place, name: str) -> Iterator[Problem]:
        """Yield what is wrong with the name of a cell."""
        count = len(places_of(self._table.cells, name))
        if not count:
            names = list(dict.fromkeys(map(name_of, self._table.cells)))
            hint = suggest(name, names) or f": known here are {', '.join(names)}"
            yield self._problem(place, f"no cell is called {name!r}{hint}")
        elif count > 1:
            message = f"{count} cells are called {name!r}: give each a 'label' of its own"
            yield self._problem(place, message)

    def _places(
        self, place: Place, where: Mapping[str, Value], axes: Collection[str], of: str
    ) -> Iterator[Problem]:
        """Yield what is wrong with values of axes, which `of` has."""
        for name, value in where.items():
            if name not in axes:
                hint = suggest(name, axes) or f": there are {', '.join(axes) or 'none'}"
                message = f"axis {name!r} is not in {of}{hint}"
                yield self._problem((*place, name), message, key=True)
            else:
                yield from self._value((*place, name), name, value)


class SlowNodesChecker(Checker):
    """Checks one list of slow nodes."""

    def __init__(
        self, document: Document, place: Place, listing: SlowNodesSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, catalogue, listing.select, listing.axes)
        self._listing = listing

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the list."""
        yield from super().problems()
        yield from self._axis_list("each", self._listing.each, set())
        yield from self._metric((), self._listing.metric, "median", self._listing.unit)


class CellChecker(Checker):
    """Checks one cell; `select` is the table's and the cell's own together."""

    def __init__(
        self,
        document: Document,
        place: Place,
        cell: CellSpec,
        select: Selections,
        catalogue: Catalogue,
        own_axes: Sequence[str] = (),
    ) -> None:
        super().__init__(document, place, catalogue, cell.select, {}, [select], own_axes)
        self._cell = cell

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the cell."""
        yield from super().problems()
        cell = self._cell
        if not cell.metric and not cell.peak:
            message = "the cell shows nothing: add the key 'metric', or 'peak'"
            yield self._problem((), message)
        if granted_name(cell.metric) is not None and not cell.peak:
            yield from self._granted_metric()
        elif is_logged(cell.metric) and not cell.peak:
            yield from self._log_metric()
        elif cell.metric and not cell.peak:
            yield from self._engine_metric()
        yield from self._against()
        yield from self._beside()
        if cell.peak:
            yield from self._only_peak()
            units = yield from self._resource(("peak",), cell.peak)
            if len(units) == 1:
                yield from self._unit(("unit",), f"the theoretical {cell.peak}", cell.unit, *units)

    def _against(self) -> Iterator[Problem]:
        """Yield what is wrong with how the cell is compared with another."""
        cell = self._cell
        if not cell.against:
            if "compared" in cell.model_fields_set:
                message = "'as' says how a cell is compared with another: add 'against', or drop it"
                yield self._problem(("as",), message, key=True)
            return
        if cell.relative_to:
            message = "a cell is compared with one thing: drop 'relative_to', or 'against'"
            yield self._problem(("relative_to",), message, key=True)
        if cell.statistic in _NO_RATIO:
            message = f"the {cell.statistic} is compared with nothing: drop 'against'"
            yield self._problem(("statistic",), message)

    def _beside(self) -> Iterator[Problem]:
        cell = self._cell
        if cell.beside is None:
            return
        if cell.beside == cell.statistic:
            message = f"the {cell.beside} is what the cell shows: name another, or drop 'beside'"
        elif cell.against and cell.beside != "interval":
            message = f"beside a {cell.compared} only its 'interval' can stand: write that"
        elif cell.against and cell.statistic not in LOCATIONS:
            message = (
                f"a {cell.compared} of the {cell.statistic} has no interval: drop 'beside', or show"
                " the median"
            )
        elif own_unit(cell.statistic) is not None and own_unit(cell.beside) is None:
            message = f"the {cell.beside} has another unit than the {cell.statistic}: swap the two"
        else:
            return
        yield self._problem(("beside",), message)

    def _only_peak(self) -> Iterator[Problem]:
        for key in ("metric", "statistic", "beside", "relative_to", "against"):
            if key in self._cell.model_fields_set:
                message = f"a cell with 'peak' shows no measurement: drop {key!r}, or 'peak'"
                yield self._problem((key,), message, key=True)

    def _granted_metric(self) -> Iterator[Problem]:
        cell = self._cell
        name = granted_name(cell.metric) or ""
        if name in TEXTS:
            message = f"{cell.metric} is a text: name it in rows, columns or select"
            yield self._problem(("metric",), message)
            return
        if name not in NAMES:
            hint = suggest_or_list(name, NAMES)
            message = f"{cell.metric!r} names no setting of an end{hint}"
            yield self._problem(("metric",), message)
            return
        if cell.relative_to:
            message = f"{cell.metric} has no theoretical value: drop 'relative_to'"
            yield self._problem(("relative_to",), message, key=True)
            return
        own = own_unit(cell.statistic)
        base = UNITS.get(name, "") if own is None else own
        if cell.against and cell.compared != "difference":
            base = "1"
        yield from self._unit(("unit",), f"the {cell.statistic} of {cell.metric}", cell.unit, base)

    def _log_metric(self) -> Iterator[Problem]:
        cell = self._cell
        side, _, quantity = cell.metric.partition("/")
        if side not in SIDES or not quantity:
            example = quantity or "stat/interrupts"
            message = f"{cell.metric!r} names no system log: write client/{example} or server/…"
            yield self._problem(("metric",), message)
        if "{" in without_axes(cell.metric):
            message = (
                f"{cell.metric!r}: in braces stands the name of an axis, such as {{interface}}"
            )
            yield self._problem(("metric",), message)
        for name in axes_of(cell.metric):
            if name == REPLICATION or self._is_other_axis(name):
                message = f"{name!r} is another axis already: write another name in braces"
                yield self._problem(("metric",), message)
        if cell.relative_to:
            message = f"{cell.metric} has no theoretical value: drop 'relative_to'"
            yield self._problem(("relative_to",), message, key=True)
        else:
            own = own_unit(cell.statistic)
            base = unit_of(quantity) if own is None else own
            quantity = f"the {cell.statistic} of {cell.metric}"
            if cell.against and cell.compared != "difference":
                base, quantity = "1", f"a {cell.compared}"
            yield from self._unit(("unit",), quantity, cell.unit, base)

    def _is_other_axis(self, name: str) -> bool:
        return name in FIXED_AXES or any(name in engine.parameters for engine in self._engines)

    def _engine_metric(self) -> Iterator[Problem]:
        cell = self._cell
        as_ratio = bool(cell.against) and cell.compared != "difference"
        if not cell.relative_to and not as_ratio:
            yield from self._metric((), cell.metric, cell.statistic, cell.unit)
            return
        yield from self._metric((), cell.metric, "mean", "")
        quantity = f"a {cell.compared}" if as_ratio else "a ratio"
        yield from self._unit(("unit",), quantity, cell.unit, "1")
        if cell.relative_to:
            yield from self._relative_to()

    def _relative_to(self) -> Iterator[Problem]:
        cell = self._cell
        if cell.statistic in _NO_RATIO:
            yield self._problem(
                ("statistic",),
                f"the {cell.statistic} has no ratio to a theoretical value: drop 'relative_to'",
            )
        yield from self._comparable(("relative_to",), cell.relative_to, cell.metric)
