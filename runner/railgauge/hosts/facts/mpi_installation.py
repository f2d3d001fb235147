"""The MPI whose mpirun comes first in PATH."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

_SCRIPT = "ask mpi mpirun --version"


def parse(files: Files) -> dict[str, str]:
    """Return `mpi`: the first line of `mpirun --version`."""
    return first_lines(files, {"mpi": "mpi"})


SOURCE = FactSource((), parse, _SCRIPT)
