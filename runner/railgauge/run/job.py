"""A run on its way: what was requested, what each stage adds to it, what it came to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from railgauge.base.errors import InputError
from railgauge.engine.deploy import Bundle
from railgauge.engine.measure import EquippedHost
from railgauge.engine.observing.scene import Holds, Scene
from railgauge.hosts.transport.interface import Transport
from railgauge.plan.cases import ExpandedTest
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.load import LoadedPlan
from railgauge.plan.schedule import Schedule
from railgauge.run.execution import Observer
from railgauge.run.stopping import Judge, Unsettled
from railgauge.schedulers.scheduler import MARGIN
from railgauge.store import Store
from railgauge.store.records import CaseEnd, StoredRun

_Stage = TypeVar("_Stage", bound="ReadRun")


@dataclass(frozen=True)
class Request:
    """What was requested: a plan's path, or the id of a run to go on with, and the database for it.

    A hosts file `hosts` takes the place of the plan's own hosts. In a job everything has
    ended `margin` seconds before its time is over. Where another run has a host, its end is waited
    for, `wait` seconds at most. With `keep_going` what needs a host that can't be reached is left
    out. A new run gets the `labels`. A database's server that is starting is waited for, which
    `say` is called with. To be closed, as the database may be open.
    """

    where: str
    plan: Path | None = None
    hosts: Path | None = None
    run: int | None = None
    allow_large: bool = False
    margin: float = MARGIN
    wait: float = 0.0
    keep_going: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = field(default=lambda _: None, repr=False, compare=False)
    _cleanup: contextlib.ExitStack = field(
        default_factory=contextlib.ExitStack, init=False, repr=False, compare=False
    )

    @cached_property
    def store(self) -> Store:
        """The database, opened when first needed: a mistake in a new plan leaves none behind."""
        opened = Store.open(self.where, create=self.run is None, say=self.say)
        return self._cleanup.enter_context(opened)

    @cached_property
    def stored_run(self) -> StoredRun:
        """The run to go on with, as it is stored; InputError for one that was imported."""
        assert self.run is not None
        stored = self.store.run(self.run)
        if stored.new.origin != "measured":
            raise InputError(f"run {self.run} was imported: there is nothing to go on with")
        return stored

    @property
    def has_database(self) -> bool:
        """Whether there is a database already; a server's is taken to be there."""
        return "://" in self.where or Path(self.where).exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._cleanup.__exit__(*error)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """A run whose plan was read; the classes below it are what the later stages make of it.

    What is opened for it is closed with `cleanup`. `files` are the `named_texts` as the plan was
    read with them, `git` its `git_state` then, `measured` the numbers of the replications that have
    an outcome, by test and key.
    """

    request: Request
    observer: Observer
    cleanup: contextlib.ExitStack
    loaded: LoadedPlan
    git: tuple[str, bool]
    seed: int
    sources: Bundle
    files: Mapping[str, str]
    measured: Mapping[tuple[str, str], Collection[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedRun(ReadRun):
    """With its cases."""

    tests: tuple[ExpandedTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrangedRun(ExpandedRun):
    """With its rounds.

    `machines` maps a host's name to the machine behind it (two names may stand for one). `judge`
    knows which of the cases whose replications end by a rule are open; `ended` are those that need
    no more without having it stored.
    """

    machines: Mapping[str, str]
    schedule: Schedule
    judge: Judge
    ended: Mapping[tuple[str, str], CaseEnd]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedRun(ArrangedRun):
    """With `transports` by machine.

    `lost` maps hosts that could not be reached to why, `left_out` counts the replications that
    need them.
    """

    transports: Mapping[str, Transport]
    lost: Mapping[str, str]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EquippedRun(ReachedRun):
    """With engines: `sites` by host."""

    sites: Mapping[str, EquippedHost]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun(EquippedRun):
    """With its machines held; `tell_others` says who has them to those who want them too."""

    tell_others: Callable[[str], None]
    holds: Holds


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRun(HeldRun):
    """With what other people's programs it can use.

    `skipped` are the cases, by test and key, that aren't measured, and why; `versions` the facts
    of those programs by machine.
    """

    skipped: Mapping[tuple[str, str], str]
    versions: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedRun(CheckedRun):
    """With the `facts` of each host."""

    facts: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun(InspectedRun):
    """In the store, with its number there."""

    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRun(RecordedRun):
    """With the scene that watchers see; None where nothing is left to be measured."""

    scene: Scene | None


def extended(stage: type[_Stage], before: ReadRun, **added: Any) -> _Stage:
    """Return `before` as the next stage's value, with the fields which that adds or changes."""
    values = {entry.name: getattr(before, entry.name) for entry in fields(before)}
    return stage(**(values | added))


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that came to its end.

    Of the replications `planned` for now, `measured` were measured, `suspect` ones among them, and
    `missing` left out with the `lost` hosts, or because it was `out_of_time` (`over_budget` where
    that was the plan's own time); `failed` counts all failed replications of the run. Each case
    that was `skipped` has a reason there. `unsettled` are those that ended before they got within
    the share that their rule asks for. It was `stopped` by the user when all was measured.
    """

    run: int
    catalogue: Catalogue
    planned: int
    measured: int
    failed: int
    missing: int
    suspect: int
    lost: Mapping[str, str]
    out_of_time: bool
    skipped: tuple[str, ...] = ()
    unsettled: tuple[Unsettled, ...] = ()
    over_budget: bool = False
    stopped: bool = False
