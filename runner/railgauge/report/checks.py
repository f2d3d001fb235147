"""What is checked in each table and figure of a definition against the engines it may show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railgauge.catalogue import Catalogue
from railgauge.errors import Problem
from railgauge.report.axes import FIXED_AXES
from railgauge.report.cell_checks import CellChecker
from railgauge.report.checking import Checker, Place, wanted_engines
from railgauge.report.kinds import KINDS
from railgauge.report.kinds.base import Kind
from railgauge.report.model import FigureSpec, SlowNodesSpec, TableSpec
from railgauge.validation import suggest
from railgauge.yamlfile import Document


class TableChecker(Checker):
    """Checks one table."""

    def __init__(
        self, document: Document, place: Place, table: TableSpec, catalogue: Catalogue
    ) -> None:
        wanted = [wanted_engines({**table.select, **cell.select}) for cell in table.cells]
        every = [name for names in wanted if names is not None for name in names]
        super().__init__(
            document,
            place,
            catalogue,
            select=table.select,
            axes=table.axes,
            engines=None if None in wanted else list(dict.fromkeys(every)),
        )
        self._table = table

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the table."""
        yield from self._axis_names()
        yield from self._values()
        for i, cell in enumerate(self._table.cells):
            place = (*self._place, "cells", i)
            select = {**self._table.select, **cell.select}
            yield from CellChecker(self._document, place, cell, select, self._catalogue).problems()
        if not any(cell.metric for cell in self._table.cells):
            message = "no cell shows a measurement: add one with the key 'metric'"
            yield self._problem(("cells",), message)

    def _axis_names(self) -> Iterator[Problem]:
        seen: set[str] = set()
        for group, names in (("rows", self._table.rows), ("columns", self._table.columns)):
            for i, name in enumerate(names):
                yield from self._axis_name((group, i), name, key=False)
                if name in seen:
                    yield self._problem((group, i), f"axis {name!r} is there already: leave it out")
                seen.add(name)
        yield from self._selected()
        for name in self._table.axes:
            yield from self._axis_name(("axes", name), name, key=True)
            if name not in seen:
                message = f"axis {name!r} is neither in rows nor in columns: add it there"
                yield self._problem(("axes", name), message, key=True)


class SlowNodesChecker(Checker):
    """Checks one list of slow nodes."""

    def __init__(
        self, document: Document, place: Place, listing: SlowNodesSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(
            document,
            place,
            catalogue,
            select=listing.select,
            axes=listing.axes,
            engines=wanted_engines(listing.select),
        )
        self._listing = listing

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the list."""
        yield from self._each(self._listing.each)
        yield from self._selected()
        yield from self._axes_said()
        yield from self._values()
        yield from self._metric((), self._listing.metric, "median", self._listing.unit)


class FigureChecker(Checker):
    """Checks one figure."""

    def __init__(
        self, document: Document, place: Place, figure: FigureSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(
            document,
            place,
            catalogue,
            select=figure.select,
            axes=figure.axes,
            engines=wanted_engines(figure.select),
        )
        self._figure = figure

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the figure."""
        yield from self._axis_names()
        yield from self._values()
        kind = KINDS.get(self._figure.kind)
        if kind is None:
            hint = suggest(self._figure.kind, KINDS) or f": known are {', '.join(KINDS)}"
            yield self._problem(("kind",), f"unknown kind {self._figure.kind!r}{hint}")
            return
        yield from self._x(kind)
        yield from self._y(kind)
        for name, log in (("x", self._figure.x.log), ("y", self._figure.y.log)):
            if log and name not in kind.log:
                yield self._problem(
                    (name, "log"), f"{name!r} can't be logarithmic in {self._of_kind}: drop 'log'"
                )
        if self._figure.replication is not None and kind.y is None:
            yield self._problem(
                ("replication",),
                f"{self._of_kind} shows all replications: drop 'replication'",
                key=True,
            )

    @property
    def _of_kind(self) -> str:
        return f"a figure of kind {self._figure.kind}"

    def _axis_names(self) -> Iterator[Problem]:
        yield from self._each(self._figure.each, self._figure.x.axis)
        yield from self._selected()
        yield from self._axes_said()

    def _x(self, kind: Kind[Any]) -> Iterator[Problem]:
        axis = self._figure.x.axis
        if kind.x is not None:
            if axis:
                yield self._fixed("x", "axis")
            yield from self._unit(("x", "unit"), "its x axis", self._figure.x.unit, kind.x)
        elif not axis:
            yield self._wanting("x", "axis", "the parameter to show, such as datagram")
        elif axis in FIXED_AXES:
            yield self._problem(
                ("x", "axis"), f"{axis!r} is no parameter: name one whose values are numbers"
            )
        else:
            yield from self._axis_name(("x", "axis"), axis, key=False)
            units = dict.fromkeys(info.unit for info in self._infos(axis))
            if units:
                yield from self._unit(("x", "unit"), axis, self._figure.x.unit, *units)

    def _y(self, kind: Kind[Any]) -> Iterator[Problem]:
        y = self._figure.y
        if kind.y is None:
            if y.metric:
                yield from self._metric(("y",), y.metric, y.statistic, y.unit)
            else:
                yield self._wanting("y", "metric", "what to show, such as throughput")
            return
        for key in ("metric", "statistic"):
            if key in y.model_fields_set:
                yield self._fixed("y", key)
        yield from self._unit(("y", "unit"), "its y axis", y.unit, kind.y)

    def _fixed(self, name: str, key: str) -> Problem:
        message = f"{self._of_kind} chooses its {name} axis itself: drop {key!r}"
        return self._problem((name, key), message, key=True)

    def _wanting(self, name: str, key: str, what: str) -> Problem:
        message = f"{self._of_kind} needs the key {key!r} in {name!r}: {what}"
        return self._problem((name,) if name in self._figure.model_fields_set else (), message)
