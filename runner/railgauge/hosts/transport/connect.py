"""Picks the transport that a host of the plan asks for."""

from __future__ import annotations

from railgauge.hosts.transport.base import Transport
from railgauge.hosts.transport.local import LocalTransport
from railgauge.hosts.transport.netns import NetnsTransport
from railgauge.hosts.transport.slurm import SlurmTransport
from railgauge.plan.model import Host


def open_transport(name: str, host: Host) -> Transport:
    """Return the transport to `host`, which the plan calls `name`.

    Nothing is connected yet; the first program is.
    """
    if host.netns is not None:
        return NetnsTransport(name, host.netns, host.holder)
    if host.transport == "slurm":
        return SlurmTransport(name, host.node or host.address)
    if host.ssh is None:
        return LocalTransport(name)
    # paramiko takes a tenth of a second to import, and most plans on one machine never need it.
    from railgauge.hosts.transport.ssh import SshTransport

    return SshTransport(name, host.ssh)
