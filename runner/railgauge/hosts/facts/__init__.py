"""What a host *is*: one small module a source, reading apart from parsing.

To add a source: write a module like the ones here and name it in `SOURCES`. One program launch
asks for all of them. docs/facts.md lists what there is.
"""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.facts import (
    build,
    cgroup,
    clock,
    cpu,
    cpu_topology,
    dmi,
    ethtool,
    fabric,
    frequency,
    interrupts,
    kernel,
    limits,
    memory,
    mpi_installation,
    nic,
    numa,
    pci,
    routes,
    scheduling,
    sockets,
    system,
    virtualisation,
)
from railgauge.hosts.facts.asking import ask
from railgauge.hosts.facts.source import FactSource
from railgauge.hosts.transport.interface import Transport

# `routes` goes before those that ask about the interfaces it chooses.
_MODULES = (
    system,
    kernel,
    virtualisation,
    cpu,
    cpu_topology,
    frequency,
    numa,
    memory,
    dmi,
    clock,
    scheduling,
    limits,
    cgroup,
    build,
    mpi_installation,
    sockets,
    routes,
    nic,
    pci,
    ethtool,
    interrupts,
    fabric,
)
SOURCES: tuple[FactSource, ...] = tuple(module.SOURCE for module in _MODULES)
# A login takes no longer command line. Of so many only the interfaces towards them are kept.
_MOST_PEERS = 1000


def gather(transport: Transport, peers: Sequence[str] = (), *, engines: str = "") -> dict[str, str]:
    """Return the facts of the transport's host, in order of source; EnvironmentFailedError.

    An answer that no kernel gives ends in that, too. `peers` are the addresses of the hosts it is
    to talk to, `engines` is the folder of the engines built there. Of more than a thousand peers
    every second, third … is asked about.
    """
    sampled_peers = peers[:: -(-len(peers) // _MOST_PEERS) or 1]
    files = ask(transport, SOURCES, engines, sampled_peers)
    facts: dict[str, str] = {}
    for source in SOURCES:
        try:
            facts.update(source.parse(files))
        except (ValueError, LookupError, ArithmeticError) as error:
            about = source.parse.__module__.rpartition(".")[2]
            raise EnvironmentFailedError(
                f"host {transport.host}: what it says of itself ({about}) can't be read "
                f"({type(error).__name__}: {str(error)[:200]}): is its /proc that of Linux?"
            ) from error
    return facts
