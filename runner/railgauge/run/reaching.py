"""Connects to the machines of a run; those that can't be reached are all named, or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from railgauge.base.errors import HostUnreachableError
from railgauge.base.side_by_side import everywhere
from railgauge.hosts.transport import check_transports, open_transport
from railgauge.hosts.transport.closing import close_all
from railgauge.hosts.transport.interface import Transport
from railgauge.hosts.transport.interface import run as run_program
from railgauge.plan.model import Host
from railgauge.plan.schedule import Dispatch, most_replications
from railgauge.run.job import ArrangedRun, EquippedRun, ReachedRun, extended

_REACH_SECONDS = 60.0
# Programs that have both in common share a machine: containers and a testbed's hosts have a network
# of their own, and are hosts of their own.
_IDENTITY = "cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/net"

_Before = TypeVar("_Before", bound=ReachedRun)
_After = TypeVar("_After")


def reach(
    job: ArrangedRun, open_host: Callable[[str, Host], Transport] = open_transport
) -> ReachedRun:
    """Connect to every machine that the rounds need, each over what `open_host` returns.

    Without `keep_going` all must be there; with it, what needs others is left out of the rounds.
    """
    plan = job.loaded.plan
    hosts = sorted(_hosts(job.schedule.dispatches))
    check_transports(plan.hosts[name] for name in hosts)
    first = {job.machines[name]: name for name in reversed(hosts)}
    transports: dict[str, Transport] = {}
    # Called with what is in there then: whatever happens, all that were opened get closed.
    job.cleanup.callback(lambda: close_all(transports.values()))
    for machine, name in first.items():
        transports[machine] = open_host(name, plan.hosts[name])

    def connect(reached: ReachedRun) -> ReachedRun:
        identities = everywhere(
            lambda machine: _connect(reached.transports[machine]), reached.transports
        )
        same = {name: identities.get(machine, machine) for name, machine in job.machines.items()}
        return replace(reached, schedule=reached.schedule.on(same))

    if first:
        job.observer.say(f"reaching {', '.join(sorted(first.values()))}")
    return keeping_going(
        connect, extended(ReachedRun, job, transports={**transports}, lost={}, left_out=0)
    )


def keeping_going(stage: Callable[[_Before], _After], job: _Before) -> _After:
    """Return what the stage makes of the run; with `keep_going` without the machines lost in it."""
    while True:
        try:
            return stage(job)
        except HostUnreachableError as error:
            if not (job.request.keep_going and error.reasons):
                raise
            job = _without(job, error.reasons)


def _connect(transport: Transport) -> str:
    """Return what is the same under all names of a machine; its name here where it can't say."""
    try:
        answer = run_program(transport, ["sh", "-c", _IDENTITY], timeout=_REACH_SECONDS)
    except TimeoutError as error:
        raise HostUnreachableError(
            f"{transport.host}: no answer within {_REACH_SECONDS:.0f} s: is it up, and can it "
            "be logged in to without a question?"
        ) from error
    return transport.host if answer.status else answer.stdout


def _without(job: _Before, reasons: Mapping[str, str]) -> _Before:
    """Leave out what needs one of these machines; HostUnreachableError if nothing is left then."""
    lost = {name: reasons[machine] for name, machine in job.machines.items() if machine in reasons}
    left = job.schedule.keep(lambda dispatch: lost.keys().isdisjoint(dispatch.hosts))
    before, after = (
        most_replications(schedule.dispatches, job.judge.open_cases)
        for schedule in (job.schedule, left)
    )
    left_out = job.left_out + before - after
    listed = "\n".join(dict.fromkeys(reasons.values()))
    if not left:
        raise HostUnreachableError(f"{listed}\nnothing can be measured without that")
    for reason in dict.fromkeys(reasons.values()):
        job.observer.say(f"left out: {reason}")
    needed = {job.machines[name] for name in _hosts(left.dispatches)}
    transports = {name: transport for name, transport in job.transports.items() if name in needed}
    changed: dict[str, Any] = {"schedule": left, "transports": transports}
    if isinstance(job, EquippedRun):
        used = [name for name in job.sites if job.machines[name] in needed]
        changed["sites"] = {name: job.sites[name] for name in used}
    return replace(job, **changed, lost={**job.lost, **lost}, left_out=left_out)


def _hosts(dispatches: Iterable[Dispatch]) -> set[str]:
    return {name for dispatch in dispatches for name in dispatch.hosts}
