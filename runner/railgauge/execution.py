"""The measuring part of a run: round after round, machines in parallel, one writer to the store.

Worker threads launch engines and put what comes into a queue; the main thread alone takes from it,
stores each replication at once and tells the observer. Ctrl-C is a message in the same queue.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from railgauge.cases import Case
from railgauge.catalogue import Catalogue
from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import Site, measure
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.running import RunningPrograms
from railgauge.errors import HostUnreachableError
from railgauge.interrupts import asking
from railgauge.schedule import Dispatch, Round
from railgauge.store import Store

Namer = Callable[[Dispatch], str]
"""Tells a dispatch's case from the others of its plan: `stream gw→gw datagram=1460`."""


class Observer(Protocol):
    """Is told how a run comes along; called from the controller's main thread only."""

    def say(self, text: str) -> None:
        """Take note of a stage: `reaching gw1, gw2`."""

    def begin(self, run: int, total: int, name: Namer) -> None:
        """Take note that `total` replications of run `run` are to be measured now."""

    def dispatched(self, dispatch: Dispatch) -> None:
        """Take note that a case is being measured."""

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Take note of a replication, which is stored already."""

    def lost(self, host: str, why: str) -> None:
        """Take note that a host is lost; what needs it is left out from now on."""

    def end(self) -> None:
        """Take note that nothing more comes, however the run ended."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how the rounds are measured: hosts by name, launches' terms by case."""

    catalogue: Catalogue
    name: Namer
    sites: Mapping[str, Site]
    concurrency: int
    terms: Callable[[Case], Terms]


@dataclass(slots=True)
class Totals:
    """What an execution came to. `missing` were left out, with lost hosts or when stopped."""

    asked: int = 0
    measured: int = 0
    failed: int = 0
    missing: int = 0
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Measured:
    dispatch: Dispatch
    outcome: Outcome
    launch: Launch


@dataclass(frozen=True, slots=True)
class _Ended:
    dispatch: Dispatch
    error: BaseException | None


class _Stop:
    """The user wants the run to stop."""


_Message = _Measured | _Ended | _Stop


def hosts_of(dispatch: Dispatch) -> tuple[str, ...]:
    """Return the hosts that a dispatch needs."""
    case = dispatch.case
    return (case.client,) if case.server is None else (case.client, case.server)


class Execution:
    """The rounds of one run being measured. `lost` maps each host that was lost to why."""

    def __init__(self, store: Store, run: int, observer: Observer, setting: Setting) -> None:
        self.lost: dict[str, str] = {}
        self.totals = Totals()
        self._store = store
        self._run = run
        self._observer = observer
        self._setting = setting
        self._programs = RunningPrograms()
        self._messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()

    def run(self, rounds: Sequence[Round]) -> Totals:
        """Measure all rounds, or until the user stops it; returns what came of it."""
        total = sum(len(dispatch.replications) for each in rounds for dispatch in each)
        self.totals.asked = total
        self._observer.begin(self._run, total, self._setting.name)
        workers = ThreadPoolExecutor(self._setting.concurrency, "measure")
        try:
            with asking(lambda: self._messages.put(_Stop())):
                for each in rounds:
                    if self.totals.stopped:
                        break
                    self._run_round(each, workers)
        finally:
            self._programs.end_all()
            workers.shutdown()
            self._observer.end()
        self.totals.missing = total - self.totals.measured - self.totals.failed
        return self.totals

    def _run_round(self, dispatches: Round, workers: ThreadPoolExecutor) -> None:
        running = 0
        for dispatch in dispatches:
            if not any(self._setting_host(name) in self.lost for name in hosts_of(dispatch)):
                self._observer.dispatched(dispatch)
                workers.submit(self._work, dispatch)
                running += 1
        while running:
            match self._messages.get():
                case _Measured() as message:
                    self._note(message)
                case _Ended(error=error):
                    running -= 1
                    self._note_end(error)
                case _Stop():
                    self.totals.stopped = True
                    self._programs.end_all()

    def _setting_host(self, name: str) -> str:
        """Return the name under which the machine behind host `name` is reached."""
        return self._setting.sites[name].transport.host

    def _note(self, message: _Measured) -> None:
        outcome = message.outcome
        case = message.dispatch.case
        self._store.add(self._run, message.dispatch.test, case.key, outcome, message.launch)
        if not outcome.warmup:
            self.totals.failed += outcome.status == "failed"
            self.totals.measured += outcome.status != "failed"
        self._observer.measured(message.dispatch, outcome, message.launch)

    def _note_end(self, error: BaseException | None) -> None:
        if isinstance(error, HostUnreachableError):
            if error.host not in self.lost:
                self.lost[error.host] = str(error)
                self._observer.lost(error.host, str(error))
        elif error is not None:
            raise error

    def _work(self, dispatch: Dispatch) -> None:
        """Launch until each replication has an outcome; runs in a worker thread."""
        try:
            remaining = list(dispatch.replications)
            while remaining and not self._programs.ended:
                for outcome, launch in self._launch(dispatch, remaining):
                    # What fails because we end it says nothing about the case.
                    if self._programs.ended and outcome.status == "failed":
                        break
                    self._messages.put(_Measured(dispatch, outcome, launch))
                    if not outcome.warmup:
                        remaining.remove(outcome.replication)
        except BaseException as error:  # noqa: BLE001 - carried to the main thread, raised there
            self._messages.put(_Ended(dispatch, error))
        else:
            self._messages.put(_Ended(dispatch, None))

    def _launch(
        self, dispatch: Dispatch, numbers: Sequence[int]
    ) -> Iterator[tuple[Outcome, Launch]]:
        case, setting = dispatch.case, self._setting
        return measure(
            setting.catalogue.engine(case.engine),
            case,
            tuple(numbers),
            setting.sites[case.client],
            None if case.server is None else setting.sites[case.server],
            terms=setting.terms(case),
            programs=self._programs,
        )
