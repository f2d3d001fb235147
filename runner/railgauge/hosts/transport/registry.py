"""The registry of transports: how a host of the plan is connected to, and what that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.hosts.transport.allocation import AllocationTransport
from railgauge.hosts.transport.interface import Transport
from railgauge.hosts.transport.local import LocalTransport
from railgauge.hosts.transport.netns import NetnsTransport
from railgauge.schedulers import SCHEDULERS, require_nodes
from railgauge.schedulers.scheduler import Scheduler

if TYPE_CHECKING:
    from railgauge.plan.model import Host


@dataclass(frozen=True, slots=True)
class TransportKind:
    """`open` returns the transport to a host under its name in the plan, not connected yet.

    `check` raises InputError where hosts of this kind can't be measured from here.
    """

    open: Callable[[str, Host], Transport]
    check: Callable[[Sequence[Host]], None] = lambda hosts: None


def _ssh(name: str, host: Host) -> Transport:
    # paramiko takes a tenth of a second to import, and most plans on one machine never need it.
    from railgauge.hosts.transport.ssh import SshTransport

    return SshTransport(name, str(host.ssh))


def _allocation(scheduler: Scheduler) -> TransportKind:
    return TransportKind(
        lambda name, host: AllocationTransport(name, host.node_name, scheduler),
        lambda hosts: require_nodes(scheduler, [host.node_name for host in hosts]),
    )


# By `Host.transport_name`.
TRANSPORTS: Mapping[str, TransportKind] = {
    "local": TransportKind(lambda name, _: LocalTransport(name)),
    "netns": TransportKind(lambda name, host: NetnsTransport(name, str(host.netns), host.holder)),
    "ssh": TransportKind(_ssh),
    **{name: _allocation(scheduler) for name, scheduler in SCHEDULERS.items()},
}


def open_transport(name: str, host: Host) -> Transport:
    """Return the transport to `host`, which the plan calls `name`.

    Nothing is connected yet; the first program is.
    """
    return TRANSPORTS[host.transport_name].open(name, host)


def check_transports(hosts: Iterable[Host]) -> None:
    """Raise InputError where one of the hosts' transports can't be used from here."""
    by_transport: dict[str, list[Host]] = {}
    for host in hosts:
        by_transport.setdefault(host.transport_name, []).append(host)
    for name, members in by_transport.items():
        TRANSPORTS[name].check(members)
