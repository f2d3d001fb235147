"""What railgauge says while engines are built, by a compiler that makes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support import command_line


def progress_of_builds(folder: Path, *arguments: str) -> list[str]:
    """Return what railgauge writes to stderr where its engines have to be built in a new cache.

    Each build goes on once the line about it was read, and makes nothing that runs.
    """
    make, gate = folder / "make", folder / "gate"
    os.mkfifo(gate)
    make.write_text(
        '#!/bin/sh\n[ "$1" != --version ] || exec echo GNU Make 4.3\n'
        f'case "$1 $2" in "-j2 -C") mkdir -p "$3/build";; esac\n'
        f"case $1 in -j*) timeout 60 cat {gate};; esac\necho cc -o build/rail-tcp tcp.c\n"
    )
    (folder / "mpicc").write_text("#!/bin/sh\n")
    for program in ("make", "mpicc"):
        (folder / program).chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    lines = []
    with command_line.Popen(
        [*command_line.COMMAND, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if line.startswith("building"):
                gate.write_text("")
    return lines
