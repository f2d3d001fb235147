"""What a table is made of beside the metrics that are stored: single replications, system logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from railgauge.plan.cases import Case
from railgauge.report.definition.model import CellSpec, TableSpec
from railgauge.report.definition.model_parts import Selection
from railgauge.report.tables.axes import REPLICATION, Placed
from railgauge.report.tables.logged import Logs, axes_of, idle_logs, is_logged
from railgauge.report.tables.selection import engines_shown, make_axes, matching
from railgauge.store.records import PlannedCase, Series, StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store import Store

P = TypeVar("P", bound=Placed)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A case of a run, as axes see it."""

    run: int
    plan: str
    test: str
    case: Case
    planned: PlannedCase


def own_axes(cells: Iterable[CellSpec]) -> list[str]:
    """Return the axes that a table has beside those of every measurement."""
    found = [name for cell in cells for name in axes_of(cell.metric)]
    return list(dict.fromkeys([REPLICATION, *found]))


def stored_metrics(tables: Iterable[TableSpec]) -> set[str]:
    """Return the metrics that the tables show and the store has as such."""
    every = {cell.metric for one in tables for cell in one.cells}
    return {metric for metric in every if metric and not is_logged(metric)}


def is_singly(table: TableSpec) -> bool:
    """Return whether the table tells replications apart."""
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

    def of(self, table: TableSpec) -> Sequence[Series]:
        """Return the series that `build` makes the table of."""
        singly = is_singly(table)
        logged = [cell for cell in table.cells if is_logged(cell.metric)]
        if not singly and not logged:
            return self._series
        stored = self._split(table) if singly else self._series
        # Nothing but logs: what was counted before and after stands beside it.
        idle = singly and len(logged) == len(table.cells)
        return [*stored, *self._logged(table, logged, singly=singly, idle=idle)]

    def _split(self, table: TableSpec) -> Iterator[Series]:
        """Yield what the table may show of `series`, a series each replication."""
        wanted: dict[int, Series] = {}
        for cell in table.cells:
            of_metric = [one for one in self._series if one.metric == cell.metric]
            wanted |= {id(one): one for one in self._matching(of_metric, table, cell)}
        by_case: dict[tuple[int, str, str], list[Series]] = {}
        for one in self._series:
            if id(one) in wanted:
                by_case.setdefault((one.run, one.test, one.case.key), []).append(one)
        for (run, test, key), those in by_case.items():
            for replication in self._store.replications(run, test, key):
                for one in those:
                    value = replication.metrics.get(one.metric)
                    values = [] if value is None else [value[0]]
                    parameters = {**one.case.parameters, REPLICATION: replication.number}
                    yield replace(
                        one,
                        case=replace(one.case, parameters=parameters),
                        values=np.array(values, dtype=np.float64),
                        suspect=np.full(len(values), replication.status == "suspect"),
                        failed=int(replication.status == "failed"),
                        planned=1,
                        least=None,
                        rule="",
                        ended="",
                    )

    def _logged(
        self, table: TableSpec, cells: Sequence[CellSpec], *, singly: bool, idle: bool
    ) -> Iterator[Series]:
        cases = [
            _Measured(run.id, run.new.plan, one.test, one.case, one)
            for run in self._runs.values()
            for one in run.cases
        ]
        metrics: dict[int, dict[str, None]] = {}
        for cell in cells:
            for one in self._matching(cases, table, cell):
                metrics.setdefault(id(one), {})[cell.metric] = None
        around = idle_logs(self._store, self._runs.values()) if idle and metrics else {}
        for one in cases:
            if id(one) not in metrics:
                continue
            there = around.get(one.run, ())
            logs = Logs(self._store, self._runs[one.run], one.planned, idle=there)
            for metric in metrics[id(one)]:
                yield from logs.series(metric, singly=singly)

    def _matching(self, items: Sequence[P], table: TableSpec, cell: CellSpec) -> list[P]:
        """Return what the cell selects or is held against, but by axes that only series have."""
        own = own_axes(table.cells)
        shown: Mapping[str, Selection] = {**table.select, **cell.select}
        found: dict[int, P] = {}
        for selected in (shown, {**shown, **cell.against}) if cell.against else (shown,):
            select = {name: value for name, value in selected.items() if name not in own}
            axes = make_axes(select, {}, engines_shown(select, items), self._catalogue)
            found |= {id(one): one for one in matching(items, select, axes)}
        return list(found.values())
