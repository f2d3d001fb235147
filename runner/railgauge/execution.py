"""The measuring part of a run: round after round, machines in parallel, one writer to the store.

Worker threads launch engines and put what comes into a queue; the main thread alone takes from it,
stores what there is at once and tells the observer. Ctrl-C is a message in the same queue.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from railgauge.cases import Case
from railgauge.catalogue import Catalogue
from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import Site, measure
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.running import RunningPrograms
from railgauge.errors import HostUnreachableError
from railgauge.interrupts import asking
from railgauge.observing import Observing
from railgauge.schedule import Dispatch, Round, within
from railgauge.store import Store

# Replications that wait to be stored go into one transaction, up to this many.
_MOST_TOGETHER = 256

Namer = Callable[[Dispatch], str]
"""Tells a dispatch's case from the others of its plan: `stream gw→gw datagram=1460`."""


class Observer(Protocol):
    """Is told how a run comes along; called from the controller's main thread only."""

    def say(self, text: str) -> None:
        """Take note of a stage: `reaching gw1, gw2`."""

    def begin(self, run: int, total: int, name: Namer, catalogue: Catalogue) -> None:
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
    """Where and how the rounds are measured: hosts by name, launches' terms by case.

    Everything has to end by the `deadline` (seconds since 1970), if there is one. Without
    `observing` nothing watches the launches.
    """

    catalogue: Catalogue
    name: Namer
    sites: Mapping[str, Site]
    concurrency: int
    terms: Callable[[Dispatch], Terms]
    deadline: float | None = None
    observing: Observing | None = None


@dataclass(slots=True)
class Totals:
    """What an execution came to.

    Of those `measured` some may be `suspect`. `missing` were left out: with lost hosts, when the
    user stopped it, or when `out_of_time`.
    """

    asked: int = 0
    measured: int = 0
    suspect: int = 0
    failed: int = 0
    missing: int = 0
    stopped: bool = False
    out_of_time: bool = False


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
    """The user wants the run to stop, or its time is over."""


_Message = _Measured | _Ended | _Stop


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
        """Measure all rounds, or until the user or the deadline stops it; returns what came."""
        every = [dispatch for each in rounds for dispatch in each]
        self.totals.asked = sum(len(each.replications) * len(each.cases) for each in every)
        launched = sum(len(each.replications) for each in every)
        setting = self._setting
        self._observer.begin(self._run, launched, setting.name, setting.catalogue)
        workers = ThreadPoolExecutor(self._setting.concurrency, "measure")
        try:
            with asking(lambda: self._messages.put(_Stop())):
                for each in rounds:
                    if self.totals.stopped or self.totals.out_of_time:
                        break
                    self._run_round(each, workers)
        finally:
            self._programs.end_all()
            workers.shutdown()
            self._observer.end()
        totals = self.totals
        totals.missing = totals.asked - totals.measured - totals.failed
        return totals

    def _run_round(self, dispatches: Round, workers: ThreadPoolExecutor) -> None:
        running = 0
        for dispatch in dispatches:
            if any(self._setting_host(name) in self.lost for name in dispatch.hosts):
                continue
            if fitting := self._fitting(dispatch):
                self._observer.dispatched(fitting)
                workers.submit(self._work, fitting)
                running += 1
        while running:
            messages = self._next_messages()
            self._note([each for each in messages if isinstance(each, _Measured)])
            for message in messages:
                match message:
                    case _Ended(error=error):
                        running -= 1
                        self._note_end(error)
                    case _Stop():
                        self.totals.stopped = True
                        self._programs.end_all()

    def _fitting(self, dispatch: Dispatch) -> Dispatch | None:
        """Return what of the dispatch can end before the deadline; nothing is begun after it."""
        if self._setting.deadline is None:
            return dispatch
        left = self._setting.deadline - time.time()
        fitting = (
            None if self.totals.out_of_time else within(dispatch, left, self._setting.catalogue)
        )
        self.totals.out_of_time = fitting != dispatch
        return fitting

    def _next_messages(self) -> list[_Message]:
        """Return what came while the last was being stored, or wait for something to come."""
        messages = [self._next_message()]
        with contextlib.suppress(queue.Empty):
            while len(messages) < _MOST_TOGETHER:
                messages.append(self._messages.get_nowait())
        return messages

    def _next_message(self) -> _Message:
        """Return the next message; at the deadline, that it is time to stop."""
        if self._setting.deadline is None or self.totals.stopped:
            return self._messages.get()
        try:
            return self._messages.get(timeout=max(0.0, self._setting.deadline - time.time()))
        except queue.Empty:
            self.totals.out_of_time = True
            return _Stop()

    def _setting_host(self, name: str) -> str:
        """Return the name under which the machine behind host `name` is reached."""
        return self._setting.sites[name].transport.host

    def _note(self, messages: Sequence[_Measured]) -> None:
        """Store the replications, then tell of them."""
        with self._store.together() if len(messages) > 1 else contextlib.nullcontext():
            first = [self._add(message) for message in messages]
        for message, outcome in zip(messages, first, strict=True):
            dispatch = message.dispatch
            if not outcome.warmup:
                self.totals.failed += (outcome.status == "failed") * len(dispatch.cases)
                self.totals.measured += (outcome.status != "failed") * len(dispatch.cases)
                self.totals.suspect += (outcome.status == "suspect") * len(dispatch.cases)
            self._observer.measured(dispatch, outcome, message.launch)

    def _add(self, message: _Measured) -> Outcome:
        """Store a replication; returns its outcome, of a group's pairs the first one's."""
        outcome, dispatch = message.outcome, message.dispatch
        if not dispatch.pairs:
            self._store.add(self._run, dispatch.test, dispatch.case.key, outcome, message.launch)
            return outcome
        every = [(case.key, _of_pair(case, outcome)) for case in dispatch.pairs]
        self._store.add_all(self._run, dispatch.test, every, message.launch)
        return every[0][1]

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

        def start(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
            return measure(
                setting.catalogue.engine(case.engine),
                case,
                tuple(numbers),
                [setting.sites[name] for name in dispatch.hosts],
                terms=terms,
                programs=self._programs,
            )

        terms = setting.terms(dispatch)
        if setting.observing is None:
            return start(numbers, terms)
        return setting.observing.launch(dispatch, numbers, terms, start, self._programs)


def _of_pair(case: Case, outcome: Outcome) -> Outcome:
    """Return what the outcome of a group's launch is for one of its pairs."""
    assert case.server is not None
    metrics = outcome.pairs.get((case.client, case.server), {})
    return replace(outcome, metrics=metrics, pairs={})
