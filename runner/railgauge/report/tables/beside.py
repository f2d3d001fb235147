"""What is known of runs beside their values: where they come from, warnings, theoretical values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from railgauge.hosts.peaks import Peak

if TYPE_CHECKING:
    from railgauge.report.definition.model import TableSpec
    from railgauge.store import Store
    from railgauge.store.records import Series, StoredRun


@dataclass(frozen=True, slots=True)
class Remarks:
    """What tables say beside the values.

    `imported` are the runs whose values came from elsewhere, where one value may stand for many
    replications. `warnings` are the sentences of a case's launches, by run, test and case key;
    `peaks` what the hosts of a run could do at most, `facts` what they were, by host.
    """

    imported: Collection[int] = ()
    warnings: Mapping[tuple[int, str, str], Sequence[str]] = field(default_factory=dict)
    peaks: Mapping[int, Iterable[Peak]] = field(default_factory=dict)
    facts: Mapping[int, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def warnings_of(self, one: Series) -> Sequence[str]:
        """Return what the launches of the case of `one` warned of."""
        return self.warnings.get((one.run, one.test, one.case.key), ())


def read_beside(
    store: Store, runs: Iterable[StoredRun], tables: Iterable[TableSpec] | None = None
) -> Remarks:
    """Return what is known of these runs beside their values.

    Theoretical values are read only if one of `tables` shows some: a run over all pairs of 1,000
    hosts may have a million. Warnings are read unless there are none (None: it isn't known).
    """
    every = list(runs)
    shown = list(tables or ())
    wanted = any(cell.peak or cell.relative_to for table in shown for cell in table.cells)
    warnings: dict[tuple[int, str, str], tuple[str, ...]] = {}
    for run in every if shown or tables is None else ():
        for one in store.warnings(run.id):
            # The others are notes on the counters of one replication.
            if one.case is not None and one.replication is None:
                key = run.id, one.test, one.case.key
                warnings[key] = (*warnings.get(key, ()), one.message)
    return Remarks(
        imported={run.id for run in every if run.new.origin == "imported"},
        warnings=warnings,
        peaks={run.id: store.peaks(run.id) for run in every} if wanted else {},
        facts={run.id: run.facts for run in every},
    )
