"""What is checked in all parts of a definition alike: `select`, `axes`, metrics and their units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from railgauge.base.derived import derived_metrics
from railgauge.base.errors import InputError, Problem
from railgauge.base.number import fitting_units, scale
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import SOAK, Catalogue, EngineInfo, ParameterInfo
from railgauge.plan.catalogue.only_imported import ONLY_IMPORTED
from railgauge.plan.validation import suggest
from railgauge.plan.yamlfile import Document
from railgauge.report.definition.model_parts import AxisSpec, Selection
from railgauge.report.tables.axes import FIXED_AXES, Axis, parameter_infos
from railgauge.report.tables.statistic import own_unit

Place = tuple[str | int, ...]


def wanted_engines(select: Mapping[str, Selection]) -> list[str] | None:
    """Return the engines that `select` names, None where it names none."""
    return [str(name) for name in listed(select["engine"])] if "engine" in select else None


class Checker:
    """Checks what tables and figures have in common: `select` and `axes`."""

    def __init__(
        self,
        document: Document,
        place: Place,
        catalogue: Catalogue,
        *,
        select: Mapping[str, Selection],
        axes: Mapping[str, AxisSpec],
        engines: Sequence[str] | None,
        own_axes: Sequence[str] = (),
    ) -> None:
        """Check `select` and `axes` at `place` against `engines` (None: all in the catalogue).

        `own_axes` are known here beside those of every measurement.
        """
        self._document = document
        self._place = place
        self._catalogue = catalogue
        self._select = select
        self._axes = axes
        self._own_axes = own_axes
        known = catalogue.engines
        names = list(known) if engines is None else engines
        self._engines: list[EngineInfo] = [known[name] for name in names if name in known]
        self._complete = len(self._engines) == len(names)

    def _problem(self, place: Sequence[str | int], message: str, *, key: bool = False) -> Problem:
        return self._document.problem((*self._place, *place), message, key=key)

    def _selected(self) -> Iterator[Problem]:
        for name in self._select:
            yield from self._axis_name(("select", name), name, key=True)

    def _each(self, each: Sequence[str], *taken: str) -> Iterator[Problem]:
        seen = set(taken)
        for i, name in enumerate(each):
            yield from self._axis_name(("each", i), name, key=False)
            if name in seen:
                yield self._problem(("each", i), f"axis {name!r} is there already: leave it out")
            seen.add(name)

    def _axes_said(self) -> Iterator[Problem]:
        for name in self._axes:
            yield from self._axis_name(("axes", name), name, key=True)

    def _axis_name(self, place: Sequence[str | int], name: str, *, key: bool) -> Iterator[Problem]:
        parameters = [name for engine in self._engines for name in engine.parameters]
        known = dict.fromkeys([*FIXED_AXES, *parameters, SOAK, *self._own_axes])
        if self._complete and name not in known:
            hint = suggest(name, known) or f": known here are {', '.join(known)}"
            yield self._problem(place, f"unknown axis {name!r}{hint}", key=key)

    def _values(self) -> Iterator[Problem]:
        for name, wanted in self._select.items():
            many = isinstance(wanted, list)
            if not listed(wanted):
                yield self._problem(("select", name), "the list is empty: name a value to show")
            for i, value in enumerate(listed(wanted)):
                place = ("select", name, i) if many else ("select", name)
                yield from self._value(place, name, value)
        for name, said in self._axes.items():
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
        return Axis(name, self._infos(name))

    def _infos(self, name: str) -> list[ParameterInfo]:
        return parameter_infos(name, [engine.name for engine in self._engines], self._catalogue)

    def _metric(self, place: Place, metric: str, statistic: str, unit: str) -> Iterator[Problem]:
        metrics = self._metrics()
        if metric not in metrics:
            if self._complete:
                hint = suggest(metric, metrics) or f": known here are {', '.join(metrics)}"
                yield self._problem((*place, "metric"), f"unknown metric {metric!r}{hint}")
            return
        own = own_unit(statistic)
        bases = metrics[metric] if own is None else [own]
        yield from self._unit((*place, "unit"), f"the {statistic} of {metric}", unit, *bases)

    def _unit(self, place: Place, what: str, unit: str, *bases: str) -> Iterator[Problem]:
        """Yield what is wrong with a unit that fits none of the base units `bases`."""
        if unit and all(scale(unit, base) is None for base in bases):
            fitting = ", ".join(name for base in bases for name in fitting_units(base))
            yield self._problem(place, f"{unit!r} can't show {what}: use one of {fitting}")

    def _metrics(self) -> Mapping[str, list[str]]:
        """Return metric -> its unit, or those that it has for different engines."""
        found: dict[str, list[str]] = {}
        for engine in self._engines:
            theirs = {name: unit for name, (unit, _) in ONLY_IMPORTED.get(engine.name, {}).items()}
            own = {name: metric.unit for name, metric in engine.metrics.items()}
            for name, unit in {**own, **theirs}.items():
                units = found.setdefault(name, [])
                if unit not in units:
                    units.append(unit)
        # What an engine doesn't say of itself, the hosts' system logs may say of it.
        logged = derived_metrics(two_sided=True, soak=True) if self._engines else {}
        return found | {name: [unit] for name, (unit, _) in logged.items()}


def listed(value: Value | Sequence[Value]) -> list[Value]:
    """Return what a selection wants, be it one value or a list."""
    return [value] if isinstance(value, str | int | float | bool) else list(value)
