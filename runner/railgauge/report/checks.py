"""What is checked in each table and figure of a definition against the engines it may show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from railgauge.cases import Value
from railgauge.catalogue import SOAK, Catalogue, EngineInfo
from railgauge.derived import derived_metrics
from railgauge.errors import InputError, Problem
from railgauge.report.axes import FIXED_AXES, Axis, parameter_info
from railgauge.report.kinds import KINDS
from railgauge.report.kinds.base import Kind
from railgauge.report.model import FigureSpec, SlowNodesSpec, TableSpec
from railgauge.report.number import fitting_units, scale
from railgauge.validation import suggest
from railgauge.yamlfile import Document

Place = tuple[str | int, ...]


class _Checker:
    """Checks what tables and figures have in common: `select` and `axes`."""

    def __init__(
        self,
        document: Document,
        place: Place,
        part: TableSpec | SlowNodesSpec | FigureSpec,
        catalogue: Catalogue,
    ) -> None:
        self._document = document
        self._place = place
        self._part = part
        self._catalogue = catalogue
        wanted = _listed(part.select["engine"]) if "engine" in part.select else None
        known = catalogue.engines
        names = list(known) if wanted is None else [str(name) for name in wanted]
        self._engines: list[EngineInfo] = [known[name] for name in names if name in known]
        self._complete = len(self._engines) == len(names)

    def _problem(self, place: Sequence[str | int], message: str, *, key: bool = False) -> Problem:
        return self._document.problem((*self._place, *place), message, key=key)

    def _selected(self) -> Iterator[Problem]:
        for name in self._part.select:
            yield from self._axis_name(("select", name), name, key=True)

    def _each(self, each: Sequence[str], *taken: str) -> Iterator[Problem]:
        seen = set(taken)
        for i, name in enumerate(each):
            yield from self._axis_name(("each", i), name, key=False)
            if name in seen:
                yield self._problem(("each", i), f"axis {name!r} is there already: leave it out")
            seen.add(name)

    def _axes_said(self) -> Iterator[Problem]:
        for name in self._part.axes:
            yield from self._axis_name(("axes", name), name, key=True)

    def _axis_name(self, place: Sequence[str | int], name: str, *, key: bool) -> Iterator[Problem]:
        parameters = [name for engine in self._engines for name in engine.parameters]
        known = dict.fromkeys([*FIXED_AXES, *parameters, SOAK])
        if self._complete and name not in known:
            hint = suggest(name, known) or f": known here are {', '.join(known)}"
            yield self._problem(place, f"unknown axis {name!r}{hint}", key=key)

    def _values(self) -> Iterator[Problem]:
        for name, wanted in self._part.select.items():
            many = isinstance(wanted, list)
            if not _listed(wanted):
                yield self._problem(("select", name), "the list is empty: name a value to show")
            for i, value in enumerate(_listed(wanted)):
                place = ("select", name, i) if many else ("select", name)
                yield from self._value(place, name, value)
        for name, said in self._part.axes.items():
            for text in said.labels:
                axis = self._axis(name)
                try:
                    axis.label(text, "")
                except InputError as error:
                    yield self._problem(("axes", name, "labels", text), str(error), key=True)
            for i, value in enumerate(said.order):
                yield from self._value(("axes", name, "order", i), name, value)

    def _value(self, place: Sequence[str | int], name: str, value: Value) -> Iterator[Problem]:
        try:
            self._axis(name).parse(value)
        except InputError as error:
            yield self._problem(place, str(error))

    def _axis(self, name: str) -> Axis:
        return Axis(
            name, parameter_info(name, [engine.name for engine in self._engines], self._catalogue)
        )

    def _metric(self, place: Place, metric: str, statistic: str, unit: str) -> Iterator[Problem]:
        metrics = self._metrics()
        if metric not in metrics:
            if self._complete:
                hint = suggest(metric, metrics) or f": known here are {', '.join(metrics)}"
                yield self._problem((*place, "metric"), f"unknown metric {metric!r}{hint}")
            return
        base = {"cv": "1", "n": ""}.get(statistic, metrics[metric])
        yield from self._unit((*place, "unit"), f"the {statistic} of {metric}", unit, base)

    def _unit(self, place: Place, what: str, unit: str, base: str) -> Iterator[Problem]:
        if unit and scale(unit, base) is None:
            fitting = ", ".join(fitting_units(base))
            yield self._problem(place, f"{unit!r} can't show {what}: use one of {fitting}")

    def _metrics(self) -> Mapping[str, str]:
        # What an engine doesn't say of itself, the hosts' system logs may say of it.
        logged = derived_metrics(two_sided=True, soak=True) if self._engines else {}
        return {
            name: metric.unit for engine in self._engines for name, metric in engine.metrics.items()
        } | {name: unit for name, (unit, _) in logged.items()}


class TableChecker(_Checker):
    """Checks one table."""

    def __init__(
        self, document: Document, place: Place, table: TableSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, table, catalogue)
        self._table = table

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the table."""
        yield from self._axis_names()
        yield from self._values()
        for i, cell in enumerate(self._table.cells):
            yield from self._metric(("cells", i), cell.metric, cell.statistic, cell.unit)

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


class SlowNodesChecker(_Checker):
    """Checks one list of slow nodes."""

    def __init__(
        self, document: Document, place: Place, listing: SlowNodesSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, listing, catalogue)
        self._listing = listing

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the list."""
        yield from self._each(self._listing.each)
        yield from self._selected()
        yield from self._axes_said()
        yield from self._values()
        yield from self._metric((), self._listing.metric, "median", self._listing.unit)


class FigureChecker(_Checker):
    """Checks one figure."""

    def __init__(
        self, document: Document, place: Place, figure: FigureSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, figure, catalogue)
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
            info = parameter_info(axis, [one.name for one in self._engines], self._catalogue)
            if info is not None:
                yield from self._unit(("x", "unit"), axis, self._figure.x.unit, info.unit)

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


def _listed(value: Value | Sequence[Value]) -> list[Value]:
    return [value] if isinstance(value, str | int | float | bool) else list(value)
