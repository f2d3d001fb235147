"""What is checked in each table and list of slow nodes against the engines it may show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from railgauge.base.errors import Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.yamlfile import Document
from railgauge.report.checks.cell_checks import CellChecker
from railgauge.report.checks.checking import Checker, Place
from railgauge.report.definition.cell_names import name_of, places_of
from railgauge.report.definition.definition_model import SlowNodesSpec, TableSpec
from railgauge.report.tables.parameter_rows import PARAMETERS
from railgauge.report.tables.table_series import own_axes


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
