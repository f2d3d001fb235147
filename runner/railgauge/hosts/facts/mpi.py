"""The MPI whose mpirun comes first in PATH."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first

_SCRIPT = "ask mpi mpirun --version"


def parse(files: Files) -> dict[str, str]:
    """Return `mpi`: the first line of what mpirun says of its version."""
    version = first(files, "mpi")
    return {"mpi": version} if version else {}


SOURCE = FactSource((), parse, _SCRIPT)
