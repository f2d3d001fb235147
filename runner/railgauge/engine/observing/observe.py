"""Observes the launches of a run: before, while and after they measure."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.base.systemlog import PortLog, SystemLog
from railgauge.engine.command_lines import Terms
from railgauge.engine.observing.judging import judged
from railgauge.engine.observing.scene import Scene
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.running_programs import RunningPrograms
from railgauge.engine.watch.soaker import Soaker
from railgauge.engine.watch.watcher import Watcher
from railgauge.plan.catalogue import SOAK
from railgauge.plan.schedule import Dispatch

Measured = Iterator[tuple[Outcome, Launch]]
Measure = Callable[[Sequence[int], Terms], Measured]
"""Starts an engine for these replications, on these terms."""


class Observing:
    """Observes the launches of one run; may be used from several threads."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._numbers = itertools.count(1)
        self._quiet_since = time.monotonic()

    def launch(
        self,
        dispatch: Dispatch,
        numbers: Sequence[int],
        terms: Terms,
        measure: Measure,
        programs: RunningPrograms,
    ) -> Measured:
        """Yield what `measure` does, each replication with all that was observed of it.

        Where something has to happen before and after each, only the first of `numbers` is
        measured.
        """
        self._scene.renew(dispatch)
        ports = self._scene.ports(dispatch, programs.pause)
        with contextlib.ExitStack() as stack:
            number = next(self._numbers)
            try:
                soakers = self._soakers(dispatch, number, programs, stack)
            except EngineError as error:
                yield _refused(numbers[0], error)
                return
            terms = self._watched_terms(dispatch, terms, number, soakers)
            if not soakers and ports is None:
                for outcome, launch in self._logged(dispatch, numbers, terms, measure):
                    yield judged(self._scene, dispatch, outcome, launch), launch
                self._quiet_since = time.monotonic()
                return
            if ports is not None:
                # Other launches may go on now, unless this is the only one.
                ports.before(time.monotonic() - self._quiet_since if self._scene.alone else 0.0)
            measured, lost = _drain(self._logged(dispatch, numbers[:1], terms, measure))
            self._quiet_since = time.monotonic()
            if ports is not None:
                measured = _with_ports(measured, *ports.after())
            for outcome, launch in self._soaked(number, soakers, measured):
                yield judged(self._scene, dispatch, outcome, launch), launch
            if lost is not None:
                raise lost

    def _soakers(
        self,
        dispatch: Dispatch,
        number: int,
        programs: RunningPrograms,
        stack: contextlib.ExitStack,
    ) -> dict[str, Soaker]:
        """Start soakers, on each kernel for the first of its hosts; EngineError if one isn't idle.

        They are calibrated at the same time.
        """
        if not dispatch.case.parameters.get(SOAK):
            return {}
        scene = self._scene
        first: dict[str, str] = {}
        for host in scene.measuring(dispatch):
            first.setdefault(scene.kernels[host], host)
        soakers = {}
        for place, host in enumerate(first.values()):
            site = scene.sites[host]
            name = f"{scene.token}-soak-{number}-{place}"
            soakers[host] = Soaker(site.transport, site.engines, name)
            stack.enter_context(programs.hold(soakers[host].process))
        for soaker in soakers.values():
            soaker.calibrate()
        return soakers

    def _watched_terms(
        self, dispatch: Dispatch, terms: Terms, number: int, soakers: Mapping[str, Soaker]
    ) -> Terms:
        """Return the terms with the watchers' names for each host.

        The ranks of our own engine, which all measure, get all or none.
        """
        watchers = self._scene.watching(dispatch)
        left = dict(soakers)  # one end notifies them, also where both are on one host
        names = tuple(
            "+".join(
                watcher.name for watcher in (watchers.get(host), left.pop(host, None)) if watcher
            )
            for host in dispatch.hosts
        )
        measuring = names[: len(self._scene.measuring(dispatch))]
        if not any(names) or (dispatch.case.members and not all(measuring)):
            return terms
        return replace(terms, watch=names, launch=number)

    def _logged(
        self, dispatch: Dispatch, numbers: Sequence[int], terms: Terms, measure: Measure
    ) -> Measured:
        """Yield what is measured, each replication with the log of each host that has one."""
        # Without names on its terms no end of a launch notifies its watcher.
        watchers = self._scene.watching(dispatch) if terms.watch else {}
        number = terms.launch
        ends = [watchers[host] for host in self._scene.measuring(dispatch) if host in watchers]
        with _expecting(Counter(ends), number):
            count = 0
            for outcome, launch in measure(numbers, terms):
                count += not outcome.warmup
                if outcome.status == "failed" or outcome.warmup:
                    yield outcome, launch
                    continue
                logs = _logs(watchers, number, count)
                # An engine that could not notify its watcher won't later: don't wait for it again.
                watchers = {log.host: watchers[log.host] for log in logs}
                yield replace(outcome, logs=logs), launch

    def _soaked(
        self,
        number: int,
        soakers: Mapping[str, Soaker],
        measured: Sequence[tuple[Outcome, Launch]],
    ) -> Measured:
        """Yield what was measured with the loads that the soakers saw."""
        if not soakers:
            yield from measured
            return
        kernels = self._scene.kernels
        for soaker in soakers.values():
            soaker.finish()  # They calibrate at the same time.
        try:
            loads = {kernels[host]: soaker.loads() for host, soaker in soakers.items()}
        except EngineError as error:
            for outcome, launch in measured:
                yield outcome.failed(error), launch
            return
        except HostUnreachableError as error:
            for outcome, launch in measured:
                yield outcome.failed(EngineError("host-lost", str(error))), launch
            raise
        suspicions = [suspicion for soaker in soakers.values() for suspicion in soaker.suspicions]
        for outcome, launch in measured:
            logs = [
                replace(log, soak=loads[kernels[log.host]].get((number, 1), ()))
                for log in outcome.logs
            ]
            yield replace(outcome, logs=tuple(logs)).suspected(suspicions), launch


def _drain(measured: Measured) -> tuple[list[tuple[Outcome, Launch]], HostUnreachableError | None]:
    """Return all that was measured, and what ended it if a host was lost meanwhile."""
    outcomes: list[tuple[Outcome, Launch]] = []
    try:
        for replication in measured:
            outcomes.append(replication)
    except HostUnreachableError as error:
        return outcomes, error
    return outcomes, None


@contextlib.contextmanager
def _expecting(ends: Mapping[Watcher, int], number: int) -> Iterator[None]:
    """Have the watchers listen for as many ends of a launch each, as long as it lasts."""
    for watcher, count in ends.items():
        watcher.expect(number, count)
    try:
        yield
    finally:
        for watcher in ends:
            watcher.forget(number)


def _logs(watchers: Mapping[str, Watcher], number: int, replication: int) -> tuple[SystemLog, ...]:
    """Return the log of each host that has one; hosts on one machine have the same."""
    logs = {
        watcher: watcher.log(number, replication) for watcher in dict.fromkeys(watchers.values())
    }
    return tuple(
        replace(log, host=host)
        for host, watcher in watchers.items()
        if (log := logs[watcher]) is not None
    )


def _with_ports(
    measured: Sequence[tuple[Outcome, Launch]],
    ports: tuple[PortLog, ...],
    warnings: tuple[str, ...],
) -> list[tuple[Outcome, Launch]]:
    """Return what was measured with what the switches counted meanwhile, and said.

    Also of one that failed: where all packets were lost they may know where.
    """
    changed: dict[Launch, Launch] = {}
    for _, launch in measured:
        changed.setdefault(launch, replace(launch, warnings=(*launch.warnings, *warnings)))
    return [
        (outcome if outcome.warmup else replace(outcome, ports=ports), changed[launch])
        for outcome, launch in measured
    ]


def _refused(number: int, error: EngineError) -> tuple[Outcome, Launch]:
    return Outcome(number, time.time(), {}).failed(error), Launch(time.time())
