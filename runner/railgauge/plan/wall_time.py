"""How long launches and whole schedules are expected to take: measuring, and all that is beside it.

Its constants are medians of runs on small machines that were busy with little else. They needn't be
right to a tenth: where a launch takes seconds they hardly count, and where a database has a run of
the same plan, that run's own times take their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from railgauge.plan.cases import Case
from railgauge.plan.catalogue import SOAK, Catalogue, EngineInfo, Value
from railgauge.plan.links import Link
from railgauge.plan.model import Plan
from railgauge.plan.schedule import Dispatch, Round

# Hosts are reached, engines looked for, facts read and an idle stretch is kept before and after.
_RUN_SECONDS = 2.5
# A program starts on a host, agrees with its peer, reports and ends; more where ssh carries it.
_PROGRAM_SECONDS = 0.025
_SSH_SECONDS = 0.02
# mpirun starts its ranks, and ends them.
_JOB_SECONDS = 0.4
# rail-soak's --calibrate, before and after each replication, and starting it.
_CALIBRATION_SECONDS = 1.0
_SOAKER_SECONDS = 0.1
# One reading of all the equipment on a path.
_READING_SECONDS = 0.1
# engines/udp: the least silence after which nothing more will come (SHORTEST_DRAIN_NS).
_DRAIN_SECONDS = 0.05
# engines/cpu: load before the first replication (SETTLE_NS, FIRST_LEAD).
_LEAD_SECONDS = 0.12
# A trace is fetched, unpacked and stored: more for each datagram.
_TRACE_SECONDS, _TRACED_SECONDS = 0.02, 3e-6
# Arrays are touched page by page, files laid out past the page cache (bytes a second). Somebody
# else's program writes a file first and has it brought to the device after.
_TOUCH_RATE = 1.2e9
_LAYOUT_RATE = 600e6
_PROGRAM_LAYOUT_RATE = 500e6
# Arrays that are made; the order of an array's random places takes as long as two.
_ARRAYS = {"random": 3, "copy": 2, "scale": 2, "add": 3, "triad": 3}
# Of what is bounded by a count: a link without a known rate carries that much (bit/s), one within
# this machine more; a message takes a CPU that long (s), an answer that. A launch that takes longer
# by this is guessed.
_USUAL_RATE = 1e9
_LOCAL_RATE = 1e10
_MESSAGE_SECONDS = 3e-6
_USUAL_ROUND_TRIP = 100e-6
_SHORT_SECONDS = 1.0
# How many a message takes to come back, and a connection to be made and closed by the other end.
_ROUND_TRIPS = {"latency": 1, "connect": 2}
# A matrix measures so much of each pair, one after another (docs/mpi.md).
_PARTS = 4


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """What a launch takes in seconds, part by part.

    Once: its programs' `start`, `preparation` (memory, files) and `warmup`. For each replication:
    `duration`, and `ending`, which is all else until the next one may begin. What observes it:
    `calibration` of soakers before and after, and the `settle` time of equipment, which is waited
    for after the traffic, and before it too unless that has been over for so long. A launch is
    `single` that measures one replication only. Where it is `guessed`, `duration` may be anything.
    """

    start: float = 0.0
    preparation: float = 0.0
    warmup: float = 0.0
    duration: float = 0.0
    ending: float = 0.0
    calibration: float = 0.0
    settle: float = 0.0
    single: bool = False
    guessed: bool = False

    @property
    def once(self) -> float:
        """What a launch takes however many replications it measures."""
        settling = self.settle + 2 * _READING_SECONDS if self.settle else 0.0
        return self.start + self.preparation + self.warmup + 2 * self.calibration + settling

    @property
    def repeated(self) -> float:
        """What a replication takes."""
        return self.duration + self.ending

    def seconds(self, replications: int) -> float:
        """Return what so many replications take, in as many launches as they need."""
        if self.single:
            return replications * (self.once + self.repeated)
        return self.once + replications * self.repeated

    def fitting(self, seconds: float) -> int:
        """Return how many replications end within `seconds`."""
        if seconds <= self.once:
            return 0
        if self.single:
            return int(seconds // (self.once + self.repeated))
        return int((seconds - self.once) // self.repeated) if self.repeated else 2**63


@dataclass(slots=True)
class LaunchTimes:
    """The LaunchTime of each case.

    Without the `plan`, hosts are this machine, and no equipment is read. `observed` are the seconds
    that a replication took in an earlier run, all included, by test and key of its case.
    """

    catalogue: Catalogue
    plan: Plan | None = None
    observed: Mapping[tuple[str, str], float] = field(default_factory=dict)
    _by_key: dict[str, dict[str, LaunchTime]] = field(default_factory=dict)
    _distinct: dict[LaunchTime, LaunchTime] = field(default_factory=dict)
    _far: dict[str, bool] = field(default_factory=dict)

    def of(self, dispatch: Dispatch) -> LaunchTime:
        """Return what a launch of the dispatch's case takes."""
        return self.of_case(dispatch.test, dispatch.case)

    def of_case(self, test: str, case: Case) -> LaunchTime:
        """Return what a launch of a test's case takes."""
        of_test = self._by_key.get(test)
        if of_test is None:
            of_test = self._by_key[test] = {}
        time = of_test.get(case.key)
        if time is None:
            time = self._expected(test, case)
            # Most cases of a large plan take as long as many others.
            time = of_test[case.key] = self._distinct.setdefault(time, time)
        return time

    def seconds(self, dispatch: Dispatch) -> float:
        """Return what the dispatch takes."""
        return self.of(dispatch).seconds(len(dispatch.replications))

    def _expected(self, test: str, case: Case) -> LaunchTime:
        if (test, case.key) in self.observed:
            return LaunchTime(duration=self.observed[test, case.key])
        engine = self.catalogue.engine(case.engine)
        parameters = case.parameters
        soaked = bool(parameters.get(SOAK))
        settle = self._settle(case)
        duration, is_sure = self._duration(engine, case)
        return LaunchTime(
            start=self._start(engine, case),
            preparation=_preparation(engine, case),
            warmup=float(parameters.get("warmup", 0)),
            duration=duration + _omitted(engine, parameters),
            ending=_ending(engine, case),
            calibration=_CALIBRATION_SECONDS + _SOAKER_SECONDS if soaked else 0.0,
            settle=settle,
            single=engine.launched_singly or soaked or settle > 0,
            guessed=not is_sure,
        )

    def _start(self, engine: EngineInfo, case: Case) -> float:
        if engine.parallel:
            return _JOB_SECONDS
        alone = case.server is None or case.parameters.get("mode") in engine.solo_modes
        hosts = [case.client] if case.server is None or alone else [case.client, case.server]
        return sum(_PROGRAM_SECONDS + _SSH_SECONDS * self._is_far(name) for name in hosts)

    def _is_far(self, name: str) -> bool:
        if name not in self._far:
            host = self.plan.hosts.get(name) if self.plan else None
            self._far[name] = host is not None and (
                host.ssh is not None or host.scheduler is not None
            )
        return self._far[name]

    def _link(self, case: Case) -> Link | None:
        """Return the link that the case is about, if it is about one."""
        if self.plan is None or case.server is None or case.members:
            return None
        link = self.plan.links.get(case.link)
        return link if isinstance(link, Link) else None

    def _settle(self, case: Case) -> float:
        link = self._link(case)
        if self.plan is None or link is None:
            return 0.0
        return max((self.plan.equipment[port.device].settle for port in link.path), default=0.0)

    def _duration(self, engine: EngineInfo, case: Case) -> tuple[float, bool]:
        """Return the seconds of a replication, and whether that is more than a guess."""
        parameters = case.parameters
        if engine.is_timed(parameters):
            return float(parameters["duration"]), True
        if engine.has_effect("pair_time", parameters):
            rounds = len(case.members) - 1 + len(case.members) % 2
            return _PARTS * rounds * float(parameters["pair_time"]), True
        if not (engine.has_effect("count", parameters) and parameters.get("count")):
            return 0.0, False
        link = self._link(case)
        is_far = any(self._is_far(name) for name in (case.client, case.server) if name)
        rate = (link and link.rate) or (_USUAL_RATE if is_far else _LOCAL_RATE)
        gap = _gap(engine, parameters, rate)
        round_trips = _ROUND_TRIPS.get(str(parameters.get("mode")), 0)
        gap = max(gap, round_trips * ((link and link.rtt) or _USUAL_ROUND_TRIP))
        length = float(parameters["count"]) * gap
        return length, 0 < length <= _SHORT_SECONDS


def _omitted(engine: EngineInfo, parameters: Mapping[str, Any]) -> float:
    return float(parameters.get("omit", 0)) if engine.has_effect("omit", parameters) else 0.0


def _gap(engine: EngineInfo, parameters: Mapping[str, Value], rate: float) -> float:
    """Return the seconds from one message to the next, on a link of `rate`."""

    def number(name: str) -> float:
        value = parameters.get(name, 0) if engine.has_effect(name, parameters) else 0
        return float(value) if isinstance(value, int | float) else 0.0

    bits = 8 * (number("datagram") or number("message") or number("size"))
    paced = number("rate")
    sent = bits / (min(rate, paced) if paced else rate)
    return max(_MESSAGE_SECONDS, number("wait"), number("interval"), sent)


def _preparation(engine: EngineInfo, case: Case) -> float:
    """Return what comes before the first replication: load, memory touched, files laid out."""
    parameters = case.parameters
    if engine.program is not None:
        return 0.0  # It is started anew for each replication.
    if _has_files(engine, case):
        return _layout(case, _LAYOUT_RATE)
    if engine.has_effect("block", parameters):
        arrays = _ARRAYS.get(str(parameters.get("mode")), 1)
        return arrays * _threads(case) * float(parameters["block"]) / _TOUCH_RATE
    return _LEAD_SECONDS if engine.has_effect("precision", parameters) else 0.0


def _threads(case: Case) -> float:
    return float(case.parameters.get("threads", 1))


def _layout(case: Case, rate: float) -> float:
    """Return how long a file of each thread takes to be brought to the device."""
    return _threads(case) * float(case.parameters["size"]) / rate


def _has_files(engine: EngineInfo, case: Case) -> bool:
    return all(engine.has_effect(name, case.parameters) for name in ("folder", "size"))


def _ending(engine: EngineInfo, case: Case) -> float:
    """Return what goes with each replication beside its duration.

    What the page cache has of files is flushed, what may be lost is awaited; somebody else's
    program does as described.
    """
    parameters = case.parameters
    has_files = _has_files(engine, case)
    if engine.program is not None:
        layout = _layout(case, _PROGRAM_LAYOUT_RATE) if has_files else 0.0
        return engine.program.overhead + layout
    if has_files:
        cached = not parameters.get("direct", True) and "write" in str(parameters.get("mode"))
        return _layout(case, _LAYOUT_RATE) if cached else 0.0
    if not engine.has_effect("datagram", parameters):
        return 0.0
    drains = {"stream": 1, "bidirectional": 2}.get(str(parameters.get("mode")), 0)
    paced = any(parameters.get(name) for name in ("rate", "wait"))
    traced = float(parameters.get("trace", 0))
    trace = _TRACE_SECONDS + traced * _TRACED_SECONDS if traced else 0.0
    return trace + (0.0 if paced else drains * _DRAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Wall time in seconds of so many `rounds`; the lengths of `unknown` launches are guesses."""

    seconds: float
    unknown: int
    rounds: int


class Spanned(NamedTuple):
    """A test's replications 2 to `least` begin in equal parts of `seconds` after the first ended.

    Others need no waiting.
    """

    least: int
    seconds: float


def estimate(
    rounds: Iterable[Round],
    times: LaunchTimes,
    spans: Mapping[str, Spanned] | None = None,
    concurrency: int = 1,
) -> Estimate:
    """Return how long a run of `rounds` takes: in each as long as its longest launch.

    Tests in `spans` wait as long as it takes to span that time, in which others may be measured.
    Equipment is waited for before a launch too, unless this is the only one at a time and the last
    traffic ended that long ago.
    """
    unknown = rounds_taken = 0
    now = 0.0
    # When the last of a spanned test's cases had its first replication.
    ends: dict[str, float] = {}
    quiet = 0.0  # For how long nothing has been sent.
    for dispatches in rounds:
        rounds_taken += 1
        if spans and dispatches and (span := spans.get(dispatches[0].test)):
            share = min(1.0, (dispatches[0].replications[0] - 1) / (span.least - 1))
            first = ends.get(dispatches[0].test, now)
            waited = max(0.0, first + share * span.seconds - now)
            now += waited
            quiet += waited
        longest = settle = 0.0
        for dispatch in dispatches:
            time = times.of(dispatch)
            count = len(dispatch.replications)
            unknown += (count if time.single else 1) * time.guessed
            took = time.seconds(count)
            if time.settle:
                took += max(0.0, time.settle - (quiet if concurrency == 1 else 0.0))
                took += 0.0 if concurrency == 1 else (count - 1) * time.settle
                settle = max(settle, time.settle)
            # There may be millions, and calls of max() take several times as long.
            longest = took if took > longest else longest
        if dispatches:
            quiet = settle
            now += longest
            if spans and dispatches[0].replications[0] == 1:
                ends[dispatches[0].test] = now
    return Estimate(now + _RUN_SECONDS if rounds_taken else 0.0, unknown, rounds_taken)


def within(dispatch: Dispatch, seconds: float, times: LaunchTimes) -> Dispatch | None:
    """Return `dispatch` with those of its replications that end within `seconds`, None if none do.

    A launch whose length is a guess fits as long as there is time for what is known of it.
    """
    time = times.of(dispatch)
    numbers = dispatch.replications
    count = time.fitting(seconds) if not time.guessed else len(numbers) * (seconds > time.once)
    numbers = numbers[:count]
    return dispatch._replace(replications=numbers) if numbers else None
