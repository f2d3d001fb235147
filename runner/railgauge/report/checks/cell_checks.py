"""What is checked in each cell of a table: its own selection, its metric or theoretical value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base.errors import Problem
from railgauge.base.quantities import unit_of
from railgauge.base.suggestion import suggest_or_list
from railgauge.engine.granted_settings import NAMES, TEXTS, UNITS
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.yamlfile import Document
from railgauge.report.checks.checking import Checker, Place, Selections
from railgauge.report.definition.definition_model import CellSpec
from railgauge.report.definition.statistic import LOCATIONS, own_unit
from railgauge.report.tables.axes import FIXED_AXES, REPLICATION, granted_name
from railgauge.report.tables.logged import SIDES, axes_of, is_logged, without_axes

# Statistics that have no ratio to a theoretical value.
_NO_RATIO = ("cv", "n", "outliers")


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
