"""The measuring part of a run: round after round, machines in parallel, one writer to the store.

Worker threads launch engines and put what comes into a queue; the main thread alone takes from it,
stores what there is at once and calls the observer. What ends a launch is stored when the next has
begun, or when its programs take long to end: no launch waits for the database. Ctrl-C is a message
in the same queue.
"""

from __future__ import annotations

import contextlib
import math
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from railgauge.base.errors import HostUnreachableError
from railgauge.base.stop_signals import calling_on_signal, get_interruptibly
from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import EquippedHost, measure
from railgauge.engine.observing.observe import Observing
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.running_programs import RunningPrograms
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.schedule import Dispatch, Round
from railgauge.plan.wall_time import LaunchTimes, within
from railgauge.run.stopping import Judge
from railgauge.run.time_left import TimeLeft
from railgauge.store import Store
from railgauge.store.records import CaseEnd, LaunchResults

# Replications that wait to be stored go into one transaction, up to this many.
_MOST_TOGETHER = 256
# A launch whose last replication is there has ended by then, mostly.
_END_SECONDS = 0.05
# The programs of a local launch are started by then.
_START_SECONDS = 0.005
# Shorter waits aren't worth a line.
_ANNOUNCED_SECONDS = 5.0

Namer = Callable[[Dispatch], str]
"""Names a dispatch's case apart from the others of its plan: `stream gw→gw datagram=1460`."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is to be measured now: `total` replications of run `run`, of cases that `name` names.

    Each of a group's pairs has its own. `left` returns at any time how many seconds the rest of
    them takes.
    """

    run: int
    total: int
    name: Namer
    catalogue: Catalogue
    left: Callable[[], float]


class Observer:
    """Follows a run's progress, if only in part; called from the controller's main thread only."""

    def say(self, text: str) -> None:
        """Take note of a stage: `reaching gw1, gw2`."""

    def building(self, hosts: Sequence[str], begun: int, steps: int) -> None:
        """See `BuildObserver`."""

    def begin(self, outlook: Outlook) -> None:
        """Take note of what is to be measured now."""

    def dispatched(self, dispatch: Dispatch) -> None:
        """Take note that a case is being measured."""

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Take note of a replication, which is stored already."""

    def remaining(self, total: int, still_open: int) -> None:
        """Take note that there are at most `total` replications, measured ones among them.

        So many cases whose replications end by a rule are `still_open`.
        """

    def lost(self, host: str, reason: str) -> None:
        """Take note that a host is lost; what needs it is left out from now on."""

    def end(self) -> None:
        """Take note that nothing more comes, however the run ended."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how the rounds are measured: hosts by name, launches' terms by case.

    Everything has to end by the `deadline` (a moment of time.monotonic()), if there is one; where
    that is `final`, cases that have had their least replications by then are not gone on with.
    Without `observing` nothing watches the launches. Without `times` they are expected to take what
    their engines alone say.
    """

    catalogue: Catalogue
    name: Namer
    sites: Mapping[str, EquippedHost]
    concurrency: int
    terms: Callable[[Dispatch], Terms]
    deadline: float | None = None
    observing: Observing | None = None
    final: bool = False
    times: LaunchTimes | None = None


@dataclass(slots=True)
class Totals:
    """What an execution came to.

    Of those `measured` some may be `suspect`. `missing` were left out: with lost hosts, when the
    user stopped it, or when `out_of_time`; of a case that a rule ends, no more than the least.
    """

    planned: int = 0
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
    seconds: float  # Since the one before it, or since the launch.
    last: bool  # Of its dispatch's replications.


@dataclass(frozen=True, slots=True)
class _Ended:
    dispatch: Dispatch
    error: BaseException | None


class _Stop:
    """The user wants the run to stop, or its time is over."""


_Message = _Measured | _Ended | _Stop


class Execution:
    """The rounds of one run being measured. `lost` maps each host that was lost to why."""

    def __init__(
        self,
        store: Store,
        run: int,
        observer: Observer,
        setting: Setting,
        judge: Judge | None = None,
    ) -> None:
        self.lost: dict[str, str] = {}
        self.totals = Totals()
        self._store = store
        self._run = run
        self._observer = observer
        self._setting = setting
        self._judge = Judge((), setting.catalogue) if judge is None else judge
        self._times = setting.times or LaunchTimes(setting.catalogue)
        self._left = TimeLeft((), self._times)
        self._most = 0
        self._programs = RunningPrograms()
        self._messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._unstored: list[tuple[_Measured, LaunchResults]] = []

    def run(self, rounds: Iterable[Round], most: int, left: TimeLeft | None = None) -> Totals:
        """Measure all rounds, or until the user or the deadline stops it; returns what came.

        The next of the `rounds` is taken when one is measured; there are at `most` so many
        replications in them, of a group's pairs each, which take as long as is `left`.
        """
        setting = self._setting
        self._most = most
        self._left = left or self._left
        self._left.rested()
        outlook = Outlook(
            self._run, self._most, setting.name, setting.catalogue, self._left.seconds
        )
        self._observer.begin(outlook)
        if self._judge:
            self._observer.remaining(most, self._judge.still_open)
        workers = ThreadPoolExecutor(self._setting.concurrency, "measure")
        try:
            with calling_on_signal(self._request_stop):
                for dispatches in rounds:
                    self._run_round(dispatches, workers)
                    if self.totals.stopped or self.totals.out_of_time:
                        break
                self._store_results()
        finally:
            self._programs.end_all()
            workers.shutdown()
            self._observer.end()
        if self.totals.out_of_time and setting.final:
            self._store.end_cases(self._run, self._judge.end_all())
        totals = self.totals
        totals.planned = most - self._judge.spared - self._judge.optional
        totals.missing = totals.planned - totals.measured - totals.failed
        return totals

    def _run_round(self, dispatches: Round, workers: ThreadPoolExecutor) -> None:
        """Measure a round; what its launches end with is left to be stored."""
        running = self._begin_round(dispatches, workers)
        self._store_results()
        measuring = running
        while running:
            messages = self._next_messages()
            # First, as an error that came with them ends all.
            for message in messages:
                if isinstance(message, _Measured):
                    measuring -= message.last
                    self._unstored.append((message, self._results(message)))
            for message in messages:
                match message:
                    case _Ended(error=error):
                        running -= 1
                        self._note_end(error)
                    case _Stop():
                        self._stop()
            if running and (measuring or not messages):
                self._store_results()

    def _begin_round(self, dispatches: Round, workers: ThreadPoolExecutor) -> int:
        """Begin what of a round can be measured, and return how many launches that are."""
        running = 0
        able = [dispatch for dispatch in dispatches if not self._has_lost(dispatch)]
        self._wait(able)
        self._programs.expect_start()
        for dispatch in able:
            if not self.totals.stopped and (fitting := self._fitting(dispatch)):
                self._observer.dispatched(fitting)
                workers.submit(self._work, fitting)
                running += 1
        if running and self._unstored:
            # Python does one thing at a time: to store while programs are started delays these.
            self._programs.await_start(_START_SECONDS)
        return running

    def _has_lost(self, dispatch: Dispatch) -> bool:
        return bool(self.lost) and any(
            self._setting_host(name) in self.lost for name in dispatch.hosts
        )

    def _request_stop(self) -> None:
        # Also noted here: after the last round nobody reads messages.
        self.totals.stopped = True
        self._messages.put(_Stop())

    def _stop(self) -> None:
        self.totals.stopped = True
        self._programs.end_all()

    def _wait(self, dispatches: Sequence[Dispatch]) -> None:
        """Wait until all of these may begin, if their test is to span some time."""
        if not self._judge or not dispatches:
            return
        now = time.monotonic()
        begin = max(self._judge.not_before(dispatch, now) for dispatch in dispatches)
        if begin <= now:
            return
        deadline = self._setting.deadline
        if deadline is not None and deadline < begin:
            self.totals.out_of_time = True
            return
        self._store_results()
        first = dispatches[0]
        if begin - now >= _ANNOUNCED_SECONDS:
            self._observer.say(
                f"{first.test}: replication {first.replications[0]} begins in {begin - now:.0f} s, "
                "for the span that the plan asks for"
            )
        # Nothing is running: only the user has anything to say.
        with contextlib.suppress(queue.Empty):
            get_interruptibly(self._messages, begin - now)
            self._stop()
        self._left.rested()

    def _fitting(self, dispatch: Dispatch) -> Dispatch | None:
        """Return what of the dispatch can end before the deadline; nothing is begun after it."""
        if self._setting.deadline is None:
            return dispatch
        left = self._setting.deadline - time.monotonic()
        fitting = None if self.totals.out_of_time else within(dispatch, left, self._times)
        self.totals.out_of_time = fitting != dispatch
        return fitting

    def _next_messages(self) -> list[_Message]:
        """Return what came while the last was being stored, or wait for something to come.

        Nothing, if nothing comes for a moment while there is something to store.
        """
        message = self._next_message()
        if message is None:
            return []
        messages = [message]
        with contextlib.suppress(queue.Empty):
            while len(messages) < _MOST_TOGETHER:
                messages.append(self._messages.get_nowait())
        return messages

    def _next_message(self) -> _Message | None:
        """Return the next message; at the deadline, that it is time to stop."""
        left = math.inf
        if self._setting.deadline is not None and not self.totals.stopped:
            left = max(0.0, self._setting.deadline - time.monotonic())
        seconds = min(left, _END_SECONDS) if self._unstored else left
        try:
            return get_interruptibly(self._messages, seconds)
        except queue.Empty:
            if seconds < left:
                return None
            self.totals.out_of_time = True
            return _Stop()

    def _setting_host(self, name: str) -> str:
        """Return the name under which the machine behind host `name` is reached."""
        return self._setting.sites[name].transport.host

    def _store_results(self) -> None:
        """Store the replications that came and which cases end with them, then report them."""
        if not self._unstored:
            return
        self._store.add_results(self._run, [results for _, results in self._unstored])
        stored_now, self._unstored = self._unstored, []
        for message, stored in stored_now:
            dispatch = message.dispatch
            # Of a group's pairs the first one's.
            outcome = stored.results[0][1]
            if not outcome.warmup:
                self.totals.failed += (outcome.status == "failed") * len(dispatch.cases)
                self.totals.measured += (outcome.status != "failed") * len(dispatch.cases)
                self.totals.suspect += (outcome.status == "suspect") * len(dispatch.cases)
                self._left.measured(dispatch)
            self._observer.measured(dispatch, outcome, message.launch)
            if stored.ended:
                still_planned = self._most - self._judge.spared
                self._observer.remaining(still_planned, self._judge.still_open)

    def _results(self, message: _Measured) -> LaunchResults:
        """Return what the replication came to, with the end of those cases that need no more."""
        outcome, dispatch = message.outcome, message.dispatch
        outcomes = [(dispatch.case, outcome)]
        if dispatch.pairs:
            outcomes = [(case, _of_pair(case, outcome)) for case in dispatch.pairs]
        ended: dict[str, CaseEnd] = {}
        if self._judge:
            moment = time.monotonic()
            for case, own_outcome in outcomes:
                end = self._judge.note(dispatch.test, case, own_outcome, moment, message.seconds)
                if end is not None:
                    ended[case.key] = end
            if ended and not self._judge.is_open(dispatch):
                self._left.spared(dispatch, self._judge.left(dispatch))
        results = [(case.key, own_outcome) for case, own_outcome in outcomes]
        return LaunchResults(dispatch.test, results, message.launch, ended)

    def _note_end(self, error: BaseException | None) -> None:
        if isinstance(error, HostUnreachableError):
            if error.host not in self.lost:
                self.lost[error.host] = str(error)
                self._observer.lost(error.host, str(error))
        elif error is not None:
            self._store_results()
            raise error

    def _work(self, dispatch: Dispatch) -> None:
        """Launch until each replication has an outcome; runs in a worker thread."""
        try:
            remaining = list(dispatch.replications)
            began = time.monotonic()
            while remaining and not self._programs.ended:
                for outcome, launch in self._launch(dispatch, remaining):
                    # What fails because we end it says nothing about the case.
                    if self._programs.ended and outcome.status == "failed":
                        break
                    now = time.monotonic()
                    if not outcome.warmup:
                        remaining.remove(outcome.replication)
                    last = not remaining
                    self._messages.put(_Measured(dispatch, outcome, launch, now - began, last))
                    began = now
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
