"""Report definitions (reports/*.yaml): read strictly, every mistake with its line and column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from railgauge.cases import Value
from railgauge.catalogue import Catalogue, EngineInfo
from railgauge.errors import FileProblems, InputError, Problem
from railgauge.report.axes import FIXED_AXES, Axis, parameter_info
from railgauge.report.model import Spec, TableSpec
from railgauge.report.number import fitting_units, scale
from railgauge.validation import suggest, validate
from railgauge.yamlfile import Document, load

Place = tuple[str | int, ...]


def load_spec(path: Path, catalogue: Catalogue) -> Spec:
    """Return the report definition in `path`; FileProblems with every mistake in it.

    Axes, values, metrics and units are checked against the engines that the table selects (all
    that `catalogue` has, where it selects none). A table that selects an engine the catalogue
    doesn't have is checked when it meets its measurements.
    """
    document = load(path)
    spec = validate(document, Spec)
    problems = list(_names(document, spec))
    for i, table in enumerate(spec.tables):
        problems += _Checker(document, ("tables", i), table, catalogue).problems()
    if problems:
        raise FileProblems(problems)
    return spec


def _names(document: Document, spec: Spec) -> Iterator[Problem]:
    taken = {spec.name: "the report itself", "index": "the HTML page"}
    for i, table in enumerate(spec.tables):
        if table.name in taken:
            yield document.problem(
                ("tables", i, "name"),
                f"{table.name!r} is the name of {taken[table.name]}: each file needs its own",
            )
        taken.setdefault(table.name, "another table")


class _Checker:
    """Checks one table against the engines it may show."""

    def __init__(
        self, document: Document, place: Place, table: TableSpec, catalogue: Catalogue
    ) -> None:
        self._document = document
        self._place = place
        self._table = table
        self._catalogue = catalogue
        wanted = _listed(table.select["engine"]) if "engine" in table.select else None
        known = catalogue.engines
        names = list(known) if wanted is None else [str(name) for name in wanted]
        self._engines: list[EngineInfo] = [known[name] for name in names if name in known]
        self._complete = len(self._engines) == len(names)

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the table."""
        yield from self._axis_names()
        yield from self._values()
        yield from self._cells()

    def _problem(self, place: Sequence[str | int], message: str, *, key: bool = False) -> Problem:
        return self._document.problem((*self._place, *place), message, key=key)

    def _axis_names(self) -> Iterator[Problem]:
        seen: set[str] = set()
        for group, names in (("rows", self._table.rows), ("columns", self._table.columns)):
            for i, name in enumerate(names):
                yield from self._axis_name((group, i), name, key=False)
                if name in seen:
                    yield self._problem((group, i), f"axis {name!r} is there already: leave it out")
                seen.add(name)
        for name in self._table.select:
            yield from self._axis_name(("select", name), name, key=True)
        for name in self._table.axes:
            yield from self._axis_name(("axes", name), name, key=True)
            if name not in seen:
                message = f"axis {name!r} is neither in rows nor in columns: add it there"
                yield self._problem(("axes", name), message, key=True)

    def _axis_name(self, place: Sequence[str | int], name: str, *, key: bool) -> Iterator[Problem]:
        known = dict.fromkeys([*FIXED_AXES, *(p for e in self._engines for p in e.parameters)])
        if self._complete and name not in known:
            hint = suggest(name, known) or f": known here are {', '.join(known)}"
            yield self._problem(place, f"unknown axis {name!r}{hint}", key=key)

    def _values(self) -> Iterator[Problem]:
        for name, wanted in self._table.select.items():
            many = isinstance(wanted, list)
            if not _listed(wanted):
                yield self._problem(("select", name), "the list is empty: name a value to show")
            for i, value in enumerate(_listed(wanted)):
                place = ("select", name, i) if many else ("select", name)
                yield from self._value(place, name, value)
        for name, said in self._table.axes.items():
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

    def _cells(self) -> Iterator[Problem]:
        metrics = self._metrics()
        for i, cell in enumerate(self._table.cells):
            place = ("cells", i)
            if cell.metric not in metrics:
                if self._complete:
                    hint = suggest(cell.metric, metrics)
                    hint = hint or f": known here are {', '.join(metrics)}"
                    yield self._problem((*place, "metric"), f"unknown metric {cell.metric!r}{hint}")
                continue
            base = {"cv": "1", "n": ""}.get(cell.statistic, metrics[cell.metric])
            if cell.unit and scale(cell.unit, base) is None:
                fitting = ", ".join(fitting_units(base))
                yield self._problem(
                    (*place, "unit"),
                    f"{cell.unit!r} can't show the {cell.statistic} of {cell.metric}:"
                    f" use one of {fitting}",
                )

    def _metrics(self) -> Mapping[str, str]:
        return {
            name: metric.unit for engine in self._engines for name, metric in engine.metrics.items()
        }


def _listed(value: Value | Sequence[Value]) -> list[Value]:
    return [value] if isinstance(value, str | int | float | bool) else list(value)
