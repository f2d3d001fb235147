"""The series that a table is made of: stored metrics, single replications, system logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.systemlog import SystemLog
from railgauge.plan.cases import Case
from railgauge.report.tables.axes import REPLICATION, Placed, granted_name
from railgauge.report.tables.logged import Logs, axes_of, idle_logs, is_logged
from railgauge.report.tables.run_axes import RunAxes
from railgauge.report.tables.selection import engines_shown, make_axes, selector
from railgauge.store.records import PlannedCase, Series, StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import CellSpec, TableSpec
    from railgauge.report.definition.model_parts import Selection
    from railgauge.store import Store


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A case of a run, as axes see it."""

    run: int
    plan: str
    test: str
    case: Case
    planned: PlannedCase


def own_axes(cells: Iterable[CellSpec]) -> list[str]:
    """Return the axes that a table has in addition to those of every measurement."""
    logged = [name for cell in cells for name in axes_of(cell.metric)]
    return list(dict.fromkeys([REPLICATION, *logged]))


def stored_metrics(tables: Iterable[TableSpec]) -> set[str]:
    """Return the metrics that the tables show and the store has as such."""
    metrics = {cell.metric for table in tables for cell in table.cells}
    return {
        metric
        for metric in metrics
        if metric and not is_logged(metric) and granted_name(metric) is None
    }


def named_axes(table: TableSpec) -> list[str]:
    """Return the axes that the table names anywhere."""
    own = [name for cell in table.cells for name in (*cell.select, *cell.against)]
    return [*table.rows, *table.columns, *table.select, *own]


def shows_replications(table: TableSpec) -> bool:
    """Return whether the table shows single replications."""
    selects = [table.select, *(cell.select for cell in table.cells)]
    return any(REPLICATION in names for names in (table.rows, table.columns, *selects))


class TableSeries:
    """Gives each table the series that it is made of; reads only what a table asks for."""

    def __init__(
        self,
        store: Store,
        runs: Sequence[StoredRun],
        series: Sequence[Series],
        catalogue: Catalogue | None,
    ) -> None:
        """`series` are all of the runs, of the tables' `stored_metrics`."""
        self._store = store
        self._runs = {run.id: run for run in runs}
        self._series = series
        self._catalogue = catalogue
        self._run_axes = RunAxes(store, runs)

    def of(self, table: TableSpec) -> Sequence[Series]:
        """Return the series that `build` makes the table of."""
        by_replication = shows_replications(table)
        logged = [cell for cell in table.cells if is_logged(cell.metric)]
        granted = dict.fromkeys(
            cell.metric for cell in table.cells if granted_name(cell.metric) is not None
        )
        series = self._run_axes.placed(self._series, named_axes(table))
        if not by_replication and not logged and not granted:
            return series
        stored = self._split(table, series) if by_replication else series
        # Nothing but logs: show the counts before and after the run, too.
        idle = by_replication and len(logged) == len(table.cells)
        computed = [*self._logged(table, logged, by_replication=by_replication, idle=idle)]
        for metric in granted:
            cases = ((run.id, planned) for run in self._runs.values() for planned in run.cases)
            computed += self._run_axes.granted_series(metric, cases, by_replication=by_replication)
        return [*stored, *self._run_axes.placed(computed, named_axes(table))]

    def _split(self, table: TableSpec, all_series: Sequence[Series]) -> Iterator[Series]:
        """Yield what the table may show of `all_series`, a series each replication."""
        selectors = []
        for cell in table.cells:
            of_metric = [series for series in all_series if series.metric == cell.metric]
            selectors.append((cell.metric, self._selector(of_metric, table, cell)))
        by_case: dict[tuple[int, str, str], list[Series]] = {}
        for series in all_series:
            if any(series.metric == metric and selects(series) for metric, selects in selectors):
                by_case.setdefault((series.run, series.test, series.case.key), []).append(series)
        for (run, test, key), of_case in by_case.items():
            for replication in self._store.replications(run, test, key):
                for series in of_case:
                    value = replication.metrics.get(series.metric)
                    values = [] if value is None else [value[0]]
                    parameters = {**series.case.parameters, REPLICATION: replication.number}
                    yield replace(
                        series,
                        case=replace(series.case, parameters=parameters),
                        values=np.array(values, dtype=np.float64),
                        suspect=np.full(len(values), replication.status == "suspect"),
                        failed=int(replication.status == "failed"),
                        planned=1,
                        least=None,
                        rule="",
                        ended="",
                    )

    def _logged(
        self, table: TableSpec, cells: Sequence[CellSpec], *, by_replication: bool, idle: bool
    ) -> Iterator[Series]:
        cases = [
            PlacedCase(run.id, run.new.plan, planned.test, planned.case, planned)
            for run in self._runs.values()
            for planned in (run.cases if cells else ())
        ]
        cases = self._run_axes.placed(cases, named_axes(table))
        selectors = [(cell.metric, self._selector(cases, table, cell)) for cell in cells]
        idle_of: dict[int, list[SystemLog]] | None = None if idle else {}
        for case in cases:
            metrics = dict.fromkeys(metric for metric, selects in selectors if selects(case))
            if not metrics:
                continue
            if idle_of is None:
                idle_of = idle_logs(self._store, self._runs.values())
            run_logs = idle_of.get(case.run, ())
            logs = Logs(self._store, self._runs[case.run], case.planned, idle=run_logs)
            for metric in metrics:
                yield from logs.series(metric, by_replication=by_replication)

    def _selector(
        self, measurements: Sequence[Placed], table: TableSpec, cell: CellSpec
    ) -> Callable[[Placed], bool]:
        """Return whether the cell shows a measurement or is compared with it.

        Axes that only series have are left out.
        """
        own = own_axes(table.cells)
        own_select: Mapping[str, Selection] = {**table.select, **cell.select}
        selectors = []
        for selections in (own_select, {**own_select, **cell.against}):
            select = {name: value for name, value in selections.items() if name not in own}
            axes = make_axes(select, {}, engines_shown(select, measurements), self._catalogue)
            selectors.append(selector(select, axes))
        return lambda measurement: any(selects(measurement) for selects in selectors)
