"""The cases of a run without a verdict: how many replications they had, and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property

from railgauge.report.pages.page import RunRecords
from railgauge.report.site.linked_cells import LinkedCell, outcomes
from railgauge.store import Store
from railgauge.store.records import PlannedCase

_CaseName = tuple[str, str]


class UnjudgedCases:
    """The cases without a series, of the run of `records`."""

    def __init__(self, store: Store, records: RunRecords) -> None:
        self._store, self._records = store, records

    def replications(self, planned: PlannedCase) -> LinkedCell:
        """Return how many replications were measured, and how many are suspect or failed."""
        name = planned.test, planned.case.key
        failed = self._failed[name]
        return outcomes(len(self._numbers.get(name, ())) - failed, self._suspect[name], failed)

    def reason(self, planned: PlannedCase) -> str:
        """Return why the case has no verdict; empty where that is unknown."""
        name = planned.test, planned.case.key
        if planned.skipped:
            return f"it was skipped: {planned.skipped}"
        if len(self._numbers.get(name, ())) > self._failed[name]:
            return "none of its metrics says whether more or less is better"
        return "" if name in self._numbers else "nothing was measured"

    @cached_property
    def _numbers(self) -> Mapping[_CaseName, Collection[int]]:
        return self._store.replication_numbers(self._records.run.id)

    @cached_property
    def _failed(self) -> Counter[_CaseName]:
        return Counter((failure.test, failure.case.key) for failure in self._records.failures)

    @cached_property
    def _suspect(self) -> Counter[_CaseName]:
        failures, suspicions = (
            {(record.test, record.case.key, record.replication) for record in records}
            for records in (self._records.failures, self._records.suspicions)
        )
        return Counter((test, key) for test, key, _ in suspicions - failures)
