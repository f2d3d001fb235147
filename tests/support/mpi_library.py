"""rail-mpi under every MPI library that is here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support import ranks
from tests.support.engine_cache import SANITIZE
from tests.support.engine_lab import Engines, Outcome, Running

PREFIXES = [p for p in (sys.prefix, "/usr") if (Path(p) / "bin/mpicc").exists()]
if SANITIZE:
    PREFIXES = PREFIXES[-1:]  # what differs between the two is not our code


class Mpi:
    """rail-mpi built with one MPI library, and that library's mpirun."""

    def __init__(self, engines: Engines, prefix: str, program: Path) -> None:
        self.engines = engines
        self.mpirun = f"{prefix}/bin/mpirun"
        self.program = str(program)
        version = subprocess.run([self.mpirun, "--version"], capture_output=True, text=True)
        self.is_old = " 4." in version.stdout

    def argv(self, *options: object, count: int = 2, preload: Path | None = None) -> list[str]:
        start = [self.mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(count)]
        return [*start, *ranks.preloaded(preload), self.program, *(str(o) for o in options)]

    def library(self, source: Path, place: Path) -> Path:
        """Build what takes the place of some of this library's functions, to preload."""
        return ranks.build_library(source, place, str(Path(self.mpirun).with_name("mpicc")))

    def start(
        self,
        *options: object,
        count: int = 2,
        preload: Path | None = None,
        leaks: bool = False,
        **more: str,
    ) -> Running:
        deadline = [] if any("--deadline" in str(o) for o in options) else [ranks.DEADLINE]
        argv = self.argv(*options, "--json", "--yield", *deadline, count=count, preload=preload)
        return self.engines.start_other(*argv, **ranks.environment(leaks=leaks, **more))

    def run(
        self,
        mode: str,
        *options: object,
        count: int = 2,
        preload: Path | None = None,
        leaks: bool = False,
        **more: str,
    ) -> Outcome:
        brief = () if any("--count" in str(o) for o in options) else ("--duration=0.05s",)
        arguments = (f"--mode={mode}", "--replications=1", *brief, *options)
        return self.start(*arguments, count=count, preload=preload, leaks=leaks, **more).finish()
