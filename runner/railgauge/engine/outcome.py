"""What a launch of an engine and each of its replications came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from railgauge.base.errors import EngineError
from railgauge.base.systemlog import PortLog, Suspicion, SystemLog
from railgauge.plan.cases import Value

Status = Literal["ok", "failed", "suspect"]
# Why a published table has no number in a cell: it is lost in what is left of the source, it can't
# be measured at all, or nobody did.
Absence = Literal["lost", "impossible", "not measured"]
ABSENCES: tuple[Absence, ...] = get_args(Absence)


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """What a source says of a number that it printed, or why it printed none.

    The number is the arithmetic mean of so many `replications` (None: the source doesn't say), with
    their sample standard deviation, least and greatest value, in the metric's base unit, where it
    gives them. With an `absence` there is no number.
    """

    replications: int | None = None
    stdev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    absence: Absence | None = None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Launch:
    """One start of an engine for a case: what its `settings` and `warning` events said.

    Stored with the first outcome that names it; identity is the object's own.
    `started_at` in seconds since 1970, UTC.
    """

    started_at: float
    client: Mapping[str, Value] = field(default_factory=dict)
    server: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one replication ended. `started_at` in seconds since 1970, UTC; metrics in base units.

    A failed one has an error code and message and no metrics. A warm-up has number 0. Only an
    imported one may not know when it started. `trace` is what `railgauge.base.trace.decode` reads,
    empty when none was asked for. Where the pairs of a group were measured, `pairs` are the metrics
    of each, by client and server, and there are no others. `logs` are of the hosts that measured,
    the client's first, or by rank; `ports` of the equipment between them. A suspect one has been
    measured, but has `suspicions`. `user_time` is the user CPU time (s) of somebody else's program,
    whether or not its metrics have it: not stored, but what others used is derived from it.
    `published` is what the source of an imported one says of its metrics.
    """

    replication: int
    started_at: float | None
    metrics: Mapping[str, float]
    status: Status = "ok"
    warmup: bool = False
    error_code: str = ""
    error_message: str = ""
    trace: bytes = b""
    pairs: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    logs: tuple[SystemLog, ...] = ()
    ports: tuple[PortLog, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    user_time: float | None = None
    published: Mapping[str, PublishedValue] = field(default_factory=dict)

    def suspected(self, suspicions: Sequence[Suspicion]) -> Outcome:
        """Return it with these suspicions, if it can be suspect: it was measured, and counts."""
        if self.status == "failed" or self.warmup or not suspicions:
            return self
        return replace(self, status="suspect", suspicions=(*self.suspicions, *suspicions))

    def failed(self, error: EngineError) -> Outcome:
        """Return it as failed: what was measured without all that was asked for is no case."""
        if self.status == "failed":
            return self
        return Outcome(
            self.replication,
            self.started_at,
            {},
            status="failed",
            warmup=self.warmup,
            error_code=error.code,
            error_message=str(error),
        )
