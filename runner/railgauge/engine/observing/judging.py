"""What a replication's logs make of it: more metrics, and reasons not to trust it."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from dataclasses import replace

from railgauge.base.derived import derive
from railgauge.base.errors import EngineError
from railgauge.base.systemlog import Suspicion
from railgauge.engine.observing.scene import Scene, TrafficWay
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.validity import HostActivity, judge, most_bytes, under_rate, untimed
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import SOAK
from railgauge.plan.schedule import Dispatch
from railgauge.plan.system_log import Suspect

_LOSSES = frozenset(("lost_packets", "dropped_messages"))
_IP_HEADER = 48  # IPv6's, with that of a fragment
# Two hosts that are one machine: what one sends there the other has received there too.
_LOOPBACK = "lo"


def judged(scene: Scene, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> Outcome:
    """Return the outcome with what speaks against it; a failed one or a warm-up as it is.

    One whose figures can't be calculated with is failed as `inconsistent`.
    """
    if outcome.status == "failed" or outcome.warmup:
        return outcome
    try:
        outcome = _with_derived(dispatch.case, outcome)
        suspicions = [*_beyond_limits(scene, dispatch, outcome, launch)]
    except (ArithmeticError, ValueError) as error:
        message = (
            f"engine {dispatch.case.engine} reported figures that no host can have ({error}); "
            "none of this replication's can be relied on. Are the engines and rail-watch on the "
            "hosts those of this railgauge? If so, please report it as a defect of the engine"
        )
        return outcome.failed(EngineError("inconsistent", message))
    return outcome.suspected([*_unheld(scene, dispatch), *suspicions])


def _with_derived(case: Case, outcome: Outcome) -> Outcome:
    """Return the outcome with the metrics that its logs give; ArithmeticError for absurd ones."""
    if not outcome.metrics:
        return outcome
    logs = {log.host: log for log in outcome.logs}
    sides = {"client": logs.get(case.client), "server": logs.get(case.server or "")}
    available = {side: log for side, log in sides.items() if log is not None}
    derived = derive(outcome.metrics, available)
    if infinite := [name for name, value in derived.items() if not math.isfinite(value)]:
        raise ArithmeticError(f"{', '.join(infinite)} would be infinite")
    return replace(outcome, metrics={**outcome.metrics, **derived})


def _beyond_limits(
    scene: Scene, dispatch: Dispatch, outcome: Outcome, launch: Launch
) -> Iterator[Suspicion]:
    """Yield what the limits of its test say against it."""
    logging = scene.tests[dispatch.test].system_log
    limits = Suspect() if logging is None else logging.suspect
    if limits is None:
        return
    case, metrics = dispatch.case, outcome.metrics
    if _is_ours(scene, case):
        hosts = (case.client, case.server)
        yield from under_rate(case.parameters, metrics, hosts, limits.under_rate)
        yield from untimed(case.parameters, metrics, hosts, limits.untimed)
    if logging is not None and limits.unwatched:
        yield from _unwatched(scene, dispatch, [log.host for log in outcome.logs])
    for log in outcome.logs:
        part = _part(scene, dispatch, log.host, outcome, launch)
        part = replace(part, measures_loss=not _LOSSES.isdisjoint(metrics))
        yield from judge(log, part, limits)


def _is_ours(scene: Scene, case: Case) -> bool:
    """Return whether one of our engines measures: a rate of others may mean something else."""
    return scene.catalogue.engine(case.engine).program is None


def _sends_datagrams(scene: Scene, case: Case) -> bool:
    """Return whether one of our engines sends datagrams, whose size the plan chooses."""
    return _is_ours(scene, case) and "datagram" in scene.catalogue.engine(case.engine).parameters


def _unheld(scene: Scene, dispatch: Dispatch) -> Iterator[Suspicion]:
    """Yield a reason for each host whose machine another run may have measured on meanwhile."""
    for host in dict.fromkeys(dispatch.hosts):
        if reason := scene.holds.failure(scene.machines[host]):
            message = f"{reason}: another run may have measured there meanwhile: measure again"
            yield Suspicion("unheld", host, message)


def _unwatched(scene: Scene, dispatch: Dispatch, logs: Container[str]) -> Iterator[Suspicion]:
    """Yield a reason for each host whose log is missing: nobody has judged what it did."""
    for host in dict.fromkeys(scene.measuring(dispatch)):
        if host not in logs:
            watcher = scene.watchers.get(scene.machines[host])
            reason = "rail-watch was not started" if watcher is None else watcher.failure
            message = (
                f"{host}: no system log shows what else ran there, as "
                f"{reason or 'rail-watch gave none'}: see that it runs there, and measure again"
            )
            yield Suspicion("unwatched", host, message)


def _part(
    scene: Scene, dispatch: Dispatch, host: str, outcome: Outcome, launch: Launch
) -> HostActivity:
    """Return what the test itself did on `host`, as far as its engine reports that."""
    case = dispatch.case
    if case.members or not outcome.metrics:
        return HostActivity(None, None, None)
    if scene.catalogue.engine(case.engine).program is not None:
        # What somebody else's program sends beside what it reports is its own affair.
        return HostActivity(_user_time(scene, dispatch, host, outcome), None, None)
    peer = case.server if host == case.client else case.client
    way = scene.way(dispatch, host, peer) if peer else TrafficWay(None, 0)
    datagrams = _sends_datagrams(scene, case)
    size = way.mtu - _IP_HEADER if datagrams else launch.client.get("mss", 0)
    most = most_bytes(
        outcome.metrics,
        float(size) if isinstance(size, int | float) else 0.0,
        packets=datagrams,
        write=float(case.parameters.get("write", 0)),
    )
    if most is not None and way.interface == _LOOPBACK:
        most *= 2
    return HostActivity(_user_time(scene, dispatch, host, outcome), way.interface, most)


def _user_time(scene: Scene, dispatch: Dispatch, host: str, outcome: Outcome) -> float | None:
    """Return the user CPU time of the test's programs on the host's kernel, None if unknown."""
    case, kernels = dispatch.case, scene.kernels
    same = {name for name, kernel in kernels.items() if kernel == kernels[host]}
    measuring = scene.measuring(dispatch)
    engine = scene.catalogue.engine(case.engine)
    # Soakers, more ranks and other launches on this kernel are no foreign load either.
    if (
        case.parameters.get(SOAK)
        or case.parameters.get("ranks_per_host", 1) != 1
        or (engine.parallel and engine.program is not None)
        or (not scene.alone and same - {*measuring})
    ):
        return None
    if len(measuring) == 1:
        return outcome.metrics.get("client_user_time", outcome.user_time)
    times = [
        _side_time(outcome, side)
        for side, name in zip(("client", "server"), measuring, strict=True)
        if name in same
    ]
    return None if None in times else sum(time for time in times if time is not None)


def _side_time(outcome: Outcome, side: str) -> float | None:
    """Return the user CPU time of one end, an omitted beginning included."""
    time = outcome.metrics.get(f"{side}_user_time")
    return None if time is None else time + outcome.metrics.get(f"omitted_{side}_user_time", 0)
