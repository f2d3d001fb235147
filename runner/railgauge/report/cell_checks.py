"""What is checked in each cell of a table: its own selection, its metric or theoretical value."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping

from railgauge.catalogue import Catalogue
from railgauge.errors import Problem
from railgauge.plan.peaks import RESOURCES
from railgauge.report.checking import Checker, Place, wanted_engines
from railgauge.report.model import CellSpec, Selection
from railgauge.report.theoretical import BRACED
from railgauge.validation import suggest
from railgauge.yamlfile import Document

# What a ratio to a theoretical value makes no sense of.
_NO_RATIO = ("cv", "n")
# Metrics of both ways, which a time of one way would make look twice as long.
_BOTH_WAYS = re.compile(r"(min_)?rtt(_\w+)?")


class CellChecker(Checker):
    """Checks one cell; `select` is the table's and the cell's own together."""

    def __init__(
        self,
        document: Document,
        place: Place,
        cell: CellSpec,
        select: Mapping[str, Selection],
        catalogue: Catalogue,
    ) -> None:
        super().__init__(
            document,
            place,
            catalogue,
            select=cell.select,
            axes={},
            engines=wanted_engines(select),
        )
        self._cell = cell

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the cell."""
        yield from self._selected()
        yield from self._values()
        cell = self._cell
        if not cell.metric and not cell.peak:
            message = "the cell shows nothing: add the key 'metric', or 'peak'"
            yield self._problem((), message)
        if cell.metric and not cell.peak:
            yield from self._of_metric()
        if cell.peak:
            yield from self._alone()
            units = yield from self._resource("peak", cell.peak)
            if len(units) == 1:
                yield from self._unit(("unit",), f"the theoretical {cell.peak}", cell.unit, *units)

    def _alone(self) -> Iterator[Problem]:
        for key in ("metric", "statistic", "relative_to"):
            if key in self._cell.model_fields_set:
                message = f"a cell with 'peak' shows no measurement: drop {key!r}, or 'peak'"
                yield self._problem((key,), message, key=True)

    def _of_metric(self) -> Iterator[Problem]:
        cell = self._cell
        if not cell.relative_to:
            yield from self._metric((), cell.metric, cell.statistic, cell.unit)
            return
        yield from self._metric((), cell.metric, "mean", "")
        yield from self._unit(("unit",), "a ratio", cell.unit, "1")
        if cell.statistic in _NO_RATIO:
            yield self._problem(
                ("statistic",),
                f"the {cell.statistic} has no ratio to a theoretical value: drop 'relative_to'",
            )
        if cell.relative_to == "network_latency" and _BOTH_WAYS.fullmatch(cell.metric):
            yield self._problem(
                ("relative_to",),
                f"{cell.metric} is a time there and back, and network_latency is one way:"
                " name network_round_trip",
            )
        units = yield from self._resource("relative_to", cell.relative_to)
        of_metric = self._metrics().get(cell.metric, [])
        if units and of_metric and self._complete and not units.intersection(of_metric):
            yield self._problem(
                ("relative_to",),
                f"{cell.relative_to} is in {' or '.join(sorted(units))} and {cell.metric} in"
                f" {' or '.join(unit or '1' for unit in of_metric)}, which have no ratio:"
                " name another resource",
            )

    def _resource(self, key: str, template: str) -> Generator[Problem, None, set[str]]:
        """Yield what is wrong with the name of a resource, and return the units it may have."""
        for name in BRACED.findall(template):
            yield from self._axis_name((key,), name, key=False)
        fixed = BRACED.split(template)[::2]
        pattern = re.compile(".*".join(map(re.escape, fixed)))
        units = {unit for name, unit in RESOURCES.items() if pattern.fullmatch(name)}
        if not units:
            hint = suggest(template, RESOURCES) or f": known are {', '.join(RESOURCES)}"
            yield self._problem((key,), f"unknown resource {template!r}{hint}")
        return units
