"""What a plan wants of its hosts, beyond programs being started there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from railgauge.plan.catalogue import Value
from railgauge.plan.load import LoadedPlan
from railgauge.plan.model import Mpi
from railgauge.plan.space import Space

_BUFFERS = ("sockbuf", "server_sockbuf", "sndbuf", "rcvbuf", "server_sndbuf", "server_rcvbuf")


@dataclass(frozen=True, slots=True)
class Needs:
    """The largest socket buffer a test asks for (bytes), its ports, 0 where any will do, and MPI.

    `data_ports` are as many from the first as a test has threads. `needs_mpi` says whether there
    is a test of the engine mpi, `mpi` how the hosts start it. `certified` are the engines of which
    it requires a certificate.
    """

    sockbuf: int = 0
    control_port: int = 0
    data_ports: tuple[int, ...] = ()
    needs_mpi: bool = False
    mpi: Mpi = field(default_factory=Mpi)
    certified: tuple[str, ...] = ()


def needs_of(loaded: LoadedPlan, mpi: Mpi) -> Needs:
    """Return what the plan wants of hosts that start MPI as `mpi` says."""
    buffers = {0}
    ports: set[int] = set()
    for space in loaded.spaces:
        buffers |= {int(size) for size in _values(space, *_BUFFERS)}
        if set(_values(space, "mode")) - set(space.engine.solo_modes):
            threads = max((int(count) for count in _values(space, "threads")), default=1)
            for first in _values(space, "data_port"):
                ports |= set(range(int(first), int(first) + threads)) if first else set()
    return Needs(
        max(buffers),
        loaded.plan.control_port,
        tuple(sorted(ports)),
        any(space.engine.parallel for space in loaded.spaces),
        mpi,
        tuple(sorted({test.engine for test in loaded.plan.tests if loaded.plan.require})),
    )


def _values(space: Space, *names: str) -> Iterator[Value]:
    """Yield what the test sets these parameters to, in any of its cases."""
    for row in (space.fixed, *(row for axis in space.axes for row in axis)):
        yield from (row[name] for name in names if name in row)
