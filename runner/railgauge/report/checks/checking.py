"""What is checked in all parts of a definition alike: `select`, `axes`, metrics and their units."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.errors import InputError, Problem
from railgauge.base.number import fitting_units, scale
from railgauge.base.suggestion import suggest, suggest_or_list
from railgauge.engine.granted_settings import NAMES
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import SOAK, Catalogue, ParameterInfo
from railgauge.plan.catalogue.result_metrics import result_metrics
from railgauge.plan.declared_peaks import RESOURCES
from railgauge.plan.yamlfile import Document
from railgauge.report.definition.model_parts import Selection
from railgauge.report.definition.statistic import own_unit
from railgauge.report.tables.axes import (
    FIXED_AXES,
    OF_RUNS,
    Axis,
    granted_name,
    parameter_infos,
    selected_values,
)
from railgauge.report.tables.run_axes import is_run_axis
from railgauge.report.tables.theoretical import BRACED

if TYPE_CHECKING:
    from railgauge.report.definition.model_parts import AxisSpec

Place = tuple[str | int, ...]
Selections = Mapping[str, Selection]
# Metrics of both ways, which a time of one way would make look twice as long.
_BOTH_WAYS = re.compile(r"(min_)?rtt(_\w+)?")
# Sums of both directions, of which a network carries each at its full rate.
_BOTH_DIRECTIONS = re.compile(r"total_(local_)?throughput")


class Checker:
    """Checks what tables and figures have in common: `select` and `axes`."""

    def __init__(
        self,
        document: Document,
        place: Place,
        catalogue: Catalogue,
        select: Selections,
        axes: Mapping[str, AxisSpec],
        selects: Sequence[Selections] = (),
        own_axes: Sequence[str] = (),
    ) -> None:
        """Check `select` and `axes` at `place` against the engines that `selects` (or it) select.

        These are all in the catalogue where one of them selects none. `own_axes` are known here
        in addition to those of every measurement.
        """
        self._document = document
        self._place = place
        self._catalogue = catalogue
        self._select = select
        self._axes = axes
        self._own_axes = own_axes
        parts = selects or [select]
        names = list(catalogue.engines)
        if all("engine" in part for part in parts):
            names = [str(name) for part in parts for name in selected_values(part["engine"])]
        infos = {name: catalogue.engines.get(name) for name in names}
        self._engines = [info for info in infos.values() if info is not None]
        self._complete = len(self._engines) == len(infos)

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the part."""
        for name, selection in self._select.items():
            yield from self._axis_name(("select", name), name, key=True)
            values = selected_values(selection)
            if not values:
                yield self._problem(("select", name), "the list is empty: name a value to show")
            for i, value in enumerate(values):
                place = ("select", name, i) if isinstance(selection, list) else ("select", name)
                yield from self._value(place, name, value)
        for name, spec in self._axes.items():
            yield from self._axis_name(("axes", name), name, key=True)
            for text in spec.labels:
                try:
                    self._axis(name).set_label(text, "")
                except InputError as error:
                    yield self._problem(("axes", name, "labels", text), str(error), key=True)
            for i, value in enumerate(spec.order):
                yield from self._value(("axes", name, "order", i), name, value)

    def _problem(self, place: Sequence[str | int], message: str, *, key: bool = False) -> Problem:
        return self._document.problem((*self._place, *place), message, key=key)

    def _axis_list(
        self, key: str, names: Sequence[str], used: set[str], allowed: str | None = None
    ) -> Iterator[Problem]:
        """Yield what is wrong with a list of axes, none of which may be in `used`; add them there.

        The word `allowed` may stand in it, too.
        """
        for i, name in enumerate(names):
            if name != allowed:
                yield from self._axis_name((key, i), name, key=False)
            if name in used:
                yield self._problem((key, i), f"axis {name!r} is there already: leave it out")
            used.add(name)

    def _axis_name(self, place: Sequence[str | int], name: str, *, key: bool) -> Iterator[Problem]:
        parameters = [name for engine in self._engines for name in engine.parameters]
        names = dict.fromkeys([*FIXED_AXES, *OF_RUNS, *parameters, SOAK, *self._own_axes])
        if (setting := granted_name(name)) is not None:
            if setting not in NAMES:
                hint = suggest_or_list(setting, NAMES)
                yield self._problem(place, f"{name!r} names no setting of an end{hint}", key=key)
            return
        if is_run_axis(name):
            return
        if self._complete and name not in names:
            hint = suggest(name, names) or f": known here are {', '.join(names)}"
            yield self._problem(place, f"unknown axis {name!r}{hint}", key=key)

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

    def _unit(self, place: Place, quantity: str, unit: str, *bases: str) -> Iterator[Problem]:
        """Yield what is wrong with a unit that fits none of the base units `bases`."""
        if unit and all(scale(unit, base) is None for base in bases):
            fitting = ", ".join(name for base in bases for name in fitting_units(base))
            yield self._problem(place, f"{unit!r} can't show {quantity}: use one of {fitting}")

    def _comparable(self, place: Place, template: str, metric: str) -> Iterator[Problem]:
        """Yield why a metric can't be compared with the theoretical value of a resource."""
        if template == "network_latency" and _BOTH_WAYS.fullmatch(metric):
            yield self._problem(
                place,
                f"{metric} is a time there and back, and network_latency is one way:"
                " name network_round_trip",
            )
        if template == "network" and _BOTH_DIRECTIONS.fullmatch(metric):
            yield self._problem(
                place,
                f"{metric} is of both directions together, and network is of each:"
                " name a metric of one direction",
            )
        units = yield from self._resource(place, template)
        of_metric = self._metrics().get(metric, [])
        if units and of_metric and self._complete and not units.intersection(of_metric):
            yield self._problem(
                place,
                f"{template} is in {' or '.join(sorted(units))} and {metric} in"
                f" {' or '.join(unit or '1' for unit in of_metric)}, which have no ratio:"
                " name another resource",
            )

    def _resource(self, place: Place, template: str) -> Generator[Problem, None, set[str]]:
        """Yield what is wrong with the name of a resource, and return the units it may have."""
        for name in BRACED.findall(template):
            yield from self._axis_name(place, name, key=False)
        fixed = BRACED.split(template)[::2]
        pattern = re.compile(".*".join(map(re.escape, fixed)))
        units = {unit for name, unit in RESOURCES.items() if pattern.fullmatch(name)}
        if not units:
            hint = suggest(template, RESOURCES) or f": known are {', '.join(RESOURCES)}"
            yield self._problem(place, f"unknown resource {template!r}{hint}")
        return units

    def _metrics(self) -> Mapping[str, list[str]]:
        """Return metric -> its unit, or those that it has for different engines."""
        metrics: dict[str, list[str]] = {}
        for engine in self._engines:
            for name, metric in result_metrics(engine).items():
                of_metric = metrics.setdefault(name, [])
                if metric.unit not in of_metric:
                    of_metric.append(metric.unit)
        return metrics
