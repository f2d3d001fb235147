"""Connects to the machines of a run; those that can't be reached are all named, or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from railgauge.base.errors import HostUnreachableError
from railgauge.base.side_by_side import everywhere
from railgauge.hosts.transport import check_transports, open_transport
from railgauge.hosts.transport.closing import close_all
from railgauge.hosts.transport.interface import Transport
from railgauge.hosts.transport.interface import run as run_program
from railgauge.plan.schedule import Dispatch, extent
from railgauge.run.job import ArrangedRun, ReachedRun, extended

_REACH_SECONDS = 60.0


def reach(job: ArrangedRun) -> ReachedRun:
    """Connect to every machine that the rounds need.

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
        transports[machine] = open_transport(name, plan.hosts[name])

    def connect(machine: str) -> str:
        try:
            _connect(transports[machine])
        except HostUnreachableError as error:
            if not job.request.keep_going:
                raise
            return str(error)
        return ""

    if first:
        job.observer.say(f"reaching {', '.join(sorted(first.values()))}")
    reasons = {machine: reason for machine, reason in everywhere(connect, first).items() if reason}
    usable = {name: transport for name, transport in transports.items() if name not in reasons}
    reached = extended(ReachedRun, job, transports=usable, lost={}, left_out=0)
    return _without(reached, reasons) if reasons else reached


def _connect(transport: Transport) -> None:
    try:
        run_program(transport, ["true"], timeout=_REACH_SECONDS)
    except TimeoutError as error:
        raise HostUnreachableError(
            f"{transport.host}: no answer within {_REACH_SECONDS:.0f} s: is it up, and can it "
            "be logged in to without a question?"
        ) from error


def _without(job: ReachedRun, reasons: Mapping[str, str]) -> ReachedRun:
    """Leave out what needs one of these machines; HostUnreachableError if nothing is left then."""
    lost = {name: reasons[machine] for name, machine in job.machines.items() if machine in reasons}
    left = job.schedule.keep(lambda dispatch: lost.keys().isdisjoint(dispatch.hosts))
    left_out = extent(job.schedule.dispatches).planned - extent(left.dispatches).planned
    listed = "\n".join(dict.fromkeys(reasons.values()))
    if not left:
        raise HostUnreachableError(f"{listed}\nnothing can be measured without that")
    for reason in dict.fromkeys(reasons.values()):
        job.observer.say(f"left out: {reason}")
    needed = {job.machines[name] for name in _hosts(left.dispatches)}
    transports = {name: transport for name, transport in job.transports.items() if name in needed}
    return replace(job, schedule=left, transports=transports, lost=lost, left_out=left_out)


def _hosts(dispatches: Iterable[Dispatch]) -> set[str]:
    return {name for dispatch in dispatches for name in dispatch.hosts}
