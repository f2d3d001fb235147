"""What is told of a run's cases of which nothing is judged: how many replications they had, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property

from railgauge.report.formats.page import RunRecords
from railgauge.report.site.cells import LinkedCell, outcomes
from railgauge.store import Store
from railgauge.store.records import PlannedCase

_CaseName = tuple[str, str]


class Bare:
    """Tells of cases without a series, of the run of `records`."""

    def __init__(self, store: Store, records: RunRecords) -> None:
        self._store, self._records = store, records

    def replications(self, planned: PlannedCase) -> LinkedCell:
        """Return how many replications were measured, and how many are suspect or failed."""
        name = planned.test, planned.case.key
        failed = self._failed[name]
        return outcomes(len(self._done.get(name, ())) - failed, self._suspect[name], failed)

    def why(self, planned: PlannedCase) -> str:
        """Return why nothing of the case is judged; empty where nothing is known."""
        name = planned.test, planned.case.key
        if planned.skipped:
            return f"it was skipped: {planned.skipped}"
        if len(self._done.get(name, ())) > self._failed[name]:
            return "none of its metrics says whether more or less is better"
        return "" if name in self._done else "nothing was measured"

    @cached_property
    def _done(self) -> Mapping[_CaseName, Collection[int]]:
        return self._store.replication_numbers(self._records.run.id)

    @cached_property
    def _failed(self) -> Counter[_CaseName]:
        return Counter((one.test, one.case.key) for one in self._records.failures)

    @cached_property
    def _suspect(self) -> Counter[_CaseName]:
        failed = {(one.test, one.case.key, one.replication) for one in self._records.failures}
        each = {(one.test, one.case.key, one.replication) for one in self._records.suspicions}
        return Counter((test, key) for test, key, _ in each - failed)
