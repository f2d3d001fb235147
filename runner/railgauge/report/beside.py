"""What is known of runs beside their values: where they come from, warnings, theoretical values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from railgauge.peaks import Peak

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import Series


@dataclass(frozen=True, slots=True)
class Beside:
    """What tables say beside the values.

    `imported` are the runs whose values came from elsewhere, where one value may stand for many
    replications. `warnings` are the sentences of a case's launches, by run, test and case key;
    `peaks` what the hosts of a run could do at most.
    """

    imported: Collection[int] = ()
    warnings: Mapping[tuple[int, str, str], Sequence[str]] = field(default_factory=dict)
    peaks: Mapping[int, Iterable[Peak]] = field(default_factory=dict)

    def warnings_of(self, one: Series) -> Sequence[str]:
        """Return what the launches of the case of `one` warned of."""
        return self.warnings.get((one.run, one.test, one.case.key), ())


def read_beside(store: Store, run_ids: Iterable[int]) -> Beside:
    """Return what the store knows of these runs beside their values."""
    imported: set[int] = set()
    warnings: dict[tuple[int, str, str], tuple[str, ...]] = {}
    peaks: dict[int, tuple[Peak, ...]] = {}
    for run in dict.fromkeys(run_ids):
        if store.run(run).new.origin == "imported":
            imported.add(run)
        peaks[run] = store.peaks(run)
        for one in store.warnings(run):
            # The others are notes on the counters of one replication.
            if one.case is not None and one.replication is None:
                key = run, one.test, one.case.key
                warnings[key] = (*warnings.get(key, ()), one.message)
    return Beside(imported, warnings, peaks)
