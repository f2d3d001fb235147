"""What is checked in each figure of a definition against its kind and the engines it may show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from railgauge.base.errors import Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.yamlfile import Document
from railgauge.report.checks.checking import Checker, Place
from railgauge.report.definition.figure_model import YSpec
from railgauge.report.definition.statistic import own_unit
from railgauge.report.figures.kinds import KINDS, kind_of
from railgauge.report.figures.kinds.errorbars import fits
from railgauge.report.figures.kinds.kind import AxisRules, Kind
from railgauge.report.tables.axes import FIXED_AXES

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec, XSpec

_TO_SHOW = {
    "number": "the parameter to show, such as datagram",
    "any": "the axis to show, such as link",
}

_AROUND = {
    "range": "a range stands around a mean or the median",
    "interval": "the 95 % interval stands around the median",
    "stdev": "standard deviations stand around the arithmetic mean",
}


class FigureChecker(Checker):
    """Checks one figure."""

    def __init__(
        self, document: Document, place: Place, figure: FigureSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, catalogue, figure.select, figure.axes)
        self._figure = figure

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the figure."""
        kind = kind_of(self._figure)
        yield from super().problems()
        yield from self._axis_names(kind)
        if kind is None:
            hint = suggest(self._figure.kind, KINDS) or f": known are {', '.join(KINDS)}"
            yield self._problem(("kind",), f"unknown kind {self._figure.kind!r}{hint}")
            return
        x_axis, y_axis = ("x", self._figure.x, kind.x), ("y", self._figure.y, kind.y)
        for name, spec, shows in (x_axis, y_axis):
            yield from self._quantity(name, spec, shows)
            yield from self._own_unit(name, spec, shows)
        yield from self._limits(kind.y)
        yield from self._peak(kind.y)
        yield from self._extras(kind)

    @property
    def _of_kind(self) -> str:
        return f"a figure of kind {self._figure.kind}"

    def _axis_names(self, kind: Kind[Any] | None) -> Iterator[Problem]:
        figure = self._figure
        along = kind.along(figure) if kind is not None else figure.x.axis
        used = {along, figure.y.axis}
        yield from self._axis_list("each", figure.each, used)
        yield from self._axis_list("series", figure.series, used)

    def _quantity(self, name: str, spec: XSpec | YSpec, shows: AxisRules) -> Iterator[Problem]:
        """Yield what is wrong with the keys that choose what an axis shows."""
        if shows.choices:
            if spec.axis and spec.axis not in shows.choices:
                hint = suggest(spec.axis, shows.choices) or f": use {' or '.join(shows.choices)}"
                yield self._problem((name, "axis"), f"unknown axis {spec.axis!r}{hint}")
        elif shows.axis:
            yield from self._axis_key(name, spec.axis, shows)
        elif spec.axis:
            yield self._fixed(name, "axis")
        if shows.metric and not spec.metric:
            yield self._missing(name, "metric", "what to show, such as throughput")
        elif shows.metric:
            statistic = spec.statistic if isinstance(spec, YSpec) else "median"
            yield from self._metric((name,), spec.metric, statistic, spec.unit)
        elif "metric" in spec.model_fields_set:
            yield self._fixed(name, "metric")
        if "statistic" in spec.model_fields_set and shows.metric != "statistic":
            yield self._fixed(name, "statistic")
        if spec.log and not shows.log:
            message = f"{name!r} can't be logarithmic in {self._of_kind}: drop 'log'"
            yield self._problem((name, "log"), message)

    def _axis_key(self, name: str, axis: str, shows: AxisRules) -> Iterator[Problem]:
        if not axis:
            yield self._missing(name, "axis", _TO_SHOW[shows.axis])
        elif shows.axis == "number" and axis in FIXED_AXES:
            message = f"{axis!r} is no parameter: name one whose values are numbers"
            yield self._problem((name, "axis"), message)
        else:
            yield from self._axis_name((name, "axis"), axis, key=False)

    def _own_unit(self, name: str, spec: XSpec | YSpec, shows: AxisRules) -> Iterator[Problem]:
        """Yield what is wrong with the unit of an axis that shows no metric."""
        if shows.metric or not spec.unit:
            return
        place = (name, "unit")
        if shows.unit is not None:
            yield from self._unit(place, f"its {name} axis", spec.unit, shows.unit)
        elif shows.axis == "number":
            units = dict.fromkeys(info.unit for info in self._infos(spec.axis))
            if units:
                yield from self._unit(place, spec.axis, spec.unit, *units)
        else:
            message = f"what the {name} axis shows is written as in a plan: drop 'unit'"
            yield self._problem(place, message, key=True)

    def _limits(self, shows: AxisRules) -> Iterator[Problem]:
        y = self._figure.y
        for key, end in (("from", y.from_), ("to", y.to)):
            if end is None:
                continue
            if not shows.limits:
                message = f"{self._of_kind} ends where its values do: drop {key!r}"
                yield self._problem(("y", key), message, key=True)
            elif y.log and end <= 0:
                message = f"a logarithmic axis can't end at {end:g}: use a number above 0"
                yield self._problem(("y", key), message)
        if shows.limits and y.from_ is not None and y.to is not None and y.from_ >= y.to:
            message = f"the axis would end at {y.to:g}, below its begin: use a number above 'from'"
            yield self._problem(("y", "to"), message)

    def _peak(self, shows: AxisRules) -> Iterator[Problem]:
        y, place = self._figure.y, ("y", "peak")
        if not y.peak:
            return
        if not shows.peak:
            message = (
                f"{self._of_kind} has no line of theoretical values: drop 'peak', or use lines"
            )
            yield self._problem(place, message, key=True)
        elif own_unit(y.statistic) is not None:
            message = f"the {y.statistic} has no theoretical value beside it: drop 'peak'"
            yield self._problem(place, message, key=True)
        else:
            yield from self._comparable(place, y.peak, y.metric)

    def _extras(self, kind: Kind[Any]) -> Iterator[Problem]:
        figure, y = self._figure, self._figure.y
        for key, fitting, message in (
            ("replication", kind.traced, "shows all replications"),
            ("errors", kind.errors, "has no error bars"),
            ("bins", kind.bins, "has no bins"),
        ):
            if getattr(figure, key) is not None and not fitting:
                yield self._problem((key,), f"{self._of_kind} {message}: drop {key!r}", key=True)
        bars = figure.errors if kind.errors and "statistic" in y.model_fields_set else None
        if bars is not None and not fits(bars, y.statistic):
            message = f"{_AROUND[bars]}, not around the {y.statistic}"
            yield self._problem(("errors",), f"{message}: change one of the two")
        if figure.series and kind.together:
            message = f"{self._of_kind} has no series: use 'each'"
            yield self._problem(("series",), message, key=True)

    def _fixed(self, name: str, key: str) -> Problem:
        message = f"{self._of_kind} chooses its {name} axis itself: drop {key!r}"
        return self._problem((name, key), message, key=True)

    def _missing(self, name: str, key: str, meaning: str) -> Problem:
        message = f"{self._of_kind} needs the key {key!r} in {name!r}: {meaning}"
        return self._problem((name,) if name in self._figure.model_fields_set else (), message)
