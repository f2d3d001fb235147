"""rail-mpi's ranks under a real mpirun: the one that belongs to the mpicc which built them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.engine_lab import Engines, Outcome

# Ends ranks that wait for one another for ever; on a machine that stalls much takes a minute.
DEADLINE = "--deadline=150s"
# Open MPI never frees some of its memory: only what the engine itself took may count as lost.
_LEAKS = Path(__file__).with_name("mpi_leaks.txt")


def environment(**more: str) -> dict[str, str]:
    """Let root start ranks, and the leak checker know which leaks are the library's."""
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "ASAN_OPTIONS": "fast_unwind_on_malloc=0",
        "LSAN_OPTIONS": f"suppressions={_LEAKS}:print_suppressions=0",
        **more,
    }


def launcher() -> str:
    """Path of the mpirun beside the mpicc in PATH; empty if there is none."""
    compiler = shutil.which("mpicc")
    return (compiler and shutil.which("mpirun", path=str(Path(compiler).parent))) or ""


def argv(ranks: int, *program: object) -> list[str]:
    """Start so many ranks of a program, more of them than there are CPUs if need be."""
    start = [launcher(), "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return [*start, *(str(word) for word in program)]


def run(engines: Engines, count: int, mode: str, *options: object) -> Outcome:
    """Measure once in that mode among so many ranks of rail-mpi, its standard input held open."""
    program = engines.argv("mpi", f"--mode={mode}", "--json", "--yield", "--replications=1")
    job = argv(count, *program, DEADLINE, *options)
    return engines.start_other(*job, **environment()).finish()
