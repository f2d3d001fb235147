"""What the store has of a case of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from railgauge.base.intervals import Intervals
from railgauge.base.systemlog import PortLog, Suspicion, SystemLog
from railgauge.plan.cases import Case
from railgauge.report.pages.contents import Details
from railgauge.store.stored_replications import StoredReplication


@dataclass(frozen=True, slots=True)
class CaseRecords:
    """What the store has of a case of a run.

    `logs`, `suspicions`, `ports` and `series` are by replication.
    `settings` are what was in effect, as (heading, text), `definitions` what its metrics are.
    """

    run: int
    plan: str
    test: str
    case: Case
    replications: Sequence[StoredReplication]
    logs: Mapping[int, Sequence[SystemLog]]
    suspicions: Mapping[int, Sequence[Suspicion]] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    ports: Mapping[int, Sequence[PortLog]] = field(default_factory=dict)
    settings: Sequence[tuple[str, str]] = ()
    definitions: Sequence[Details] = ()
    series: Mapping[int, Intervals] = field(default_factory=dict)
