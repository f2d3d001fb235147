"""What goes into the store and what comes out of it: plain values, no SQLAlchemy."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from railgauge import __version__
from railgauge.base.arrays import NDArray, np
from railgauge.base.errors import InputError
from railgauge.base.systemlog import PortLog as PortLog
from railgauge.base.systemlog import Suspicion as Suspicion
from railgauge.base.systemlog import SystemLog as SystemLog
from railgauge.engine.outcome import Launch as Launch
from railgauge.engine.outcome import Outcome as Outcome
from railgauge.engine.outcome import PublishedValue as PublishedValue
from railgauge.engine.outcome import Status as Status
from railgauge.hosts.peaks.peak import Peak as Peak
from railgauge.plan.cases import Case
from railgauge.stats.averages import Average, average_of
from railgauge.stats.stopping_rule import ENDED_LEVEL

if TYPE_CHECKING:
    from railgauge.plan.catalogue import MetricDescription

# The database where neither an option nor RAILGAUGE_DB nor a file of settings names one.
USUAL_DATABASE = "railgauge.db"
RunState = Literal["unfinished", "complete", "interrupted"]
# Why a case with a rule got no more replications: its interval is narrow enough, it has had the
# most that it may have, its measuring time is over.
CaseEnd = Literal["narrow", "most", "budget"]


@dataclass(frozen=True, slots=True)
class NewRun:
    """One execution of a plan, as known before anything starts.

    `directory` is the plan's folder, which relative file names in its text refer to. `plan_text`
    is empty for an imported run. `engines_hash` is of our engines' sources. `files` maps the names
    of what else the plan needs, its hosts file and the descriptions of other people's engines,
    to their texts. `labels` are what people call it by.
    """

    plan: str
    plan_text: str
    directory: str
    git_commit: str
    git_dirty: bool
    seed: int
    controller: str
    railgauge_version: str
    engines_hash: str
    files: Mapping[str, str]
    origin: Literal["measured", "imported"] = "measured"
    labels: Mapping[str, str] = field(default_factory=dict)


def imported_at(moments: Iterable[float | None], at: float | None) -> float | None:
    """Return when a run began whose replications began at these `moments`, or else `at`.

    All in seconds since 1970; None where nothing says. InputError if both do.
    """
    times = [moment for moment in moments if moment is not None]
    if times and at is not None:
        raise InputError("when it was measured is in the file already: leave --at out")
    return min(times, default=at)


def imported_run(
    plan: str, file: Path, git_commit: str = "", labels: Mapping[str, str] | None = None
) -> NewRun:
    """Return the run that is read from `file`, which railgauge didn't measure here."""
    return NewRun(
        plan=plan,
        plan_text="",
        directory=str(file.absolute().parent),
        git_commit=git_commit,
        git_dirty=False,
        seed=0,
        controller=socket.gethostname(),
        railgauge_version=__version__,
        engines_hash="",
        files={},
        origin="imported",
        labels=labels or {},
    )


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case of a test of this run, and how many replications were asked for.

    `skipped` says why it is not measured, empty for a case that is. Where a `rule` says when there
    are enough, there are `least` to `replications` of them, and `ended` says why there are no more
    (a CaseEnd; empty for one that goes on). `least` is None for a fixed number.
    """

    test: str
    case: Case
    replications: int
    skipped: str = ""
    least: int | None = None
    rule: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric's unit (base unit) and direction: higher, lower or neither is better.

    `kind` says what may be done with its values (stats.MetricKind), "" where nobody does.
    `smallest` is the smallest change that matters to the plan, a share; None where it says none.
    """

    unit: str
    better: str
    kind: str = ""
    smallest: float | None = None

    @classmethod
    def of(cls, metric: MetricDescription) -> MetricInfo:
        """Return what the description says of a metric."""
        return cls(metric.unit, metric.better, metric.kind)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A line of `railgauge list`. Times are ISO 8601, UTC; `ended_at` is empty before the end.

    Replications: `asked` for, `measured` (ok or suspect) and `failed`; warm-ups don't count. Of the
    `cases` some were `skipped`: nothing more is asked of them than what they gave before, as of one
    that ended early because it's known well enough. One that ran out of time before it had the
    least it needs still lacks those. A `partial` run measured some of its plan's cases only, as
    those that confirm others do.
    """

    id: int
    plan: str
    state: RunState
    origin: str
    started_at: str
    ended_at: str
    git_commit: str
    git_dirty: bool
    cases: int
    asked: int
    measured: int
    failed: int
    skipped: int = 0
    partial: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunConditions:
    """What a run was measured under; of facts of its hosts that changed, the last ones."""

    new: NewRun
    state: RunState
    facts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class StoredRun(RunConditions):
    """Everything about a run but its values; of peaks that changed, the last ones.

    `peaks` are the hosts' alone; `Store.peaks` has those of links, too. `uid` is the same in every
    database that the run is copied to.
    """

    id: int
    started_at: str
    ended_at: str
    cases: tuple[PlannedCase, ...]
    peaks: tuple[Peak, ...] = ()
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A replication that failed: when, the error's stable code and its sentence."""

    test: str
    case: Case
    replication: int
    started_at: str
    error_code: str
    error_message: str


@dataclass(frozen=True, slots=True)
class Series:
    """All the replications of one case of one run for one metric, in order of replication.

    `values` float64 (n,) in base units, `suspect` bool (n,); warm-ups are left out. `failed` counts
    the replications that failed, `planned` those the plan asked for. A case of which nothing was
    measured (yet) has n = 0; `skipped` says why it wasn't, if it was left out on purpose. `least`,
    `rule` and `ended` are as in PlannedCase, `kind` as in MetricInfo. `published` is what the
    source of an imported value says: then `values` has the mean that it printed, or nothing.
    """

    run: int
    plan: str
    test: str
    case: Case
    metric: str
    unit: str
    better: str
    values: NDArray[np.float64]
    suspect: NDArray[np.bool_]
    failed: int
    planned: int
    skipped: str = ""
    least: int | None = None
    rule: str = ""
    ended: str = ""
    kind: str = ""
    published: PublishedValue | None = None

    @property
    def timed(self) -> bool:
        """Whether each replication took a fixed time, in which it did what it could."""
        parameters = self.case.parameters
        return bool(parameters.get("duration")) and not parameters.get("count")

    @property
    def average(self) -> Average:
        """Which mean fits its values."""
        return average_of(self.unit, self.kind, timed=self.timed)

    @property
    def mean_of(self) -> int:
        """Of how many replications its value was published as a mean; 0 of what is no such mean."""
        of = 1 if self.published is None else self.published.replications or 1
        return of if of > 1 else 0

    @property
    def level(self) -> float:
        """The level of the interval that covers the true value as often as one of 95 % claims.

        It is higher where an interval ended the case because it was narrow.
        """
        judged = self.metric in self.rule.partition(" of ")[2].split(", ")
        early = self.ended == "narrow" and len(self.values) + self.failed < self.planned
        return ENDED_LEVEL if judged and early else 0.95


@dataclass(frozen=True, slots=True)
class Baseline:
    """Runs (ids, oldest first) that others are compared with; `created_at` is ISO 8601, UTC."""

    name: str
    description: str
    created_at: str
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaunchResults:
    """What one launch measured of a test's cases: (case key, outcome), and why cases ended by it.

    `ended`: by case key.
    """

    test: str
    results: Sequence[tuple[str, Outcome]]
    launch: Launch
    ended: Mapping[str, CaseEnd] = field(default_factory=dict)


class CaseTest(NamedTuple):
    """The test in which a run planned a case; a `partial` run has some of its plan's cases only."""

    run: int
    test: str
    partial: bool


@dataclass(frozen=True, slots=True)
class FoundCase:
    """A case with a plan and a test that it was measured in."""

    case: Case
    plan: str
    test: str


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """Which trace there is, of a measured replication; `Store.trace` returns the trace itself.

    Datagrams `sent`, arrivals (`arrived`, duplicates included) and how many of them are `recorded`.
    Of a series, which `Store.intervals` returns: the bytes or datagrams, and how many intervals.
    """

    run: int
    plan: str
    test: str
    case: Case
    replication: int
    sent: int
    arrived: int
    recorded: int


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A host's system log: around a replication of a case, or in the stretches around a run.

    Those have an empty `test` and no case or replication.
    """

    run: int
    test: str
    case: Case | None
    replication: int | None
    log: SystemLog


@dataclass(frozen=True, slots=True)
class StoredPort:
    """What a port of a switch or router counted during a replication."""

    run: int
    test: str
    case: Case
    replication: int
    port: PortLog


@dataclass(frozen=True, slots=True)
class StoredSuspicion:
    """A reason for which a replication is suspect."""

    test: str
    case: Case
    replication: int
    suspicion: Suspicion


@dataclass(frozen=True, slots=True)
class StoredWarning:
    """What an engine warned of when it was started, or what of a system log could not be stored.

    The former is about all the launch's replications (`replication` None), the latter about one or,
    without a case, about the stretches around the run.
    """

    test: str
    case: Case | None
    replication: int | None
    message: str
