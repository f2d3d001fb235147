"""rail-mpi's ranks under a real mpirun: the one that belongs to the mpicc which built them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.engine_lab import Engines, Outcome

from railgauge.engine.mpi_job import MPIRUN_ENVIRONMENT

# Ends ranks that wait for one another for ever; on a machine that stalls much takes a minute.
DEADLINE = "--deadline=150s"
# Open MPI never frees some of its memory: only what the engine itself took may count as lost.
_LEAKS = Path(__file__).with_name("mpi_leaks.txt")

# The order: of what is preloaded. The exit status: no engine's own.
_SANITIZER = "verify_asan_link_order=0:exitcode=99"
# A look for leaks takes five times what the rest of a launch does: for one launch of each way to
# measure.
_WATCHED = {True: ":fast_unwind_on_malloc=0", False: ":detect_leaks=0"}
# What of MPI_Init looks for hardware that no test has: half of its CPU time goes into libfabric's
# search of all the kernel's symbols for InfiniBand, and under the sanitizer nearly all of it into
# the names of PCI devices, whose text libpciaccess reallocates thousands of times.
_NOT_HERE = {"HWLOC_COMPONENTS": "-pci", "FI_PROVIDER": "^verbs"}


def environment(*, leaks: bool = False, **more: str) -> dict[str, str]:
    """Let mpirun start ranks as in a run, and the leak checker, if it looks, know MPI's leaks."""
    return {
        **os.environ,
        **MPIRUN_ENVIRONMENT,
        "ASAN_OPTIONS": _SANITIZER + _WATCHED[leaks],
        "LSAN_OPTIONS": f"suppressions={_LEAKS}:print_suppressions=0",
        **_NOT_HERE,
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


def run(
    engines: Engines,
    count: int,
    mode: str,
    *options: object,
    preload: Path | None = None,
    leaks: bool = False,
) -> Outcome:
    """Measure once in that mode among so many ranks of rail-mpi, its standard input held open.

    `preload`: what takes the place of some of the MPI library's functions in them. `leaks`: memory
    that is lost fails the launch, under the sanitizers.
    """
    program = engines.argv("mpi", f"--mode={mode}", "--json", "--yield", "--replications=1")
    job = argv(count, *preloaded(preload), *program, DEADLINE, *options)
    return engines.start_other(*job, **environment(leaks=leaks)).finish()


def preloaded(library: Path | None) -> list[str]:
    """Return what comes before a program to have it run with that library."""
    return ["env", f"LD_PRELOAD={library}"] if library else []


def build_library(source: Path, place: Path, compiler: str = "") -> Path:
    """Build a library to preload of a C file, with the mpicc in PATH or another compiler."""
    library = place / f"{source.stem}.so"
    mpicc = compiler or str(Path(launcher()).with_name("mpicc"))
    command = [mpicc, "-shared", "-fPIC", "-pthread", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return library
