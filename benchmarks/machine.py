"""What benchmarks need of this machine: programs that not every machine has, and our engines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError
from railgauge.engine.deploy import bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.hosts.transport.local import LocalTransport

# The exit status of a benchmark that can't be run here; automake's tests have the same.
LACKING = 77
# Seconds, at most, of one program.
_PATIENCE = 300


def need(condition: object, requirement: str) -> None:
    """End with LACKING, saying what this machine lacks, unless `condition` holds."""
    if not condition:
        print(f"needs {requirement}", file=sys.stderr)
        sys.exit(LACKING)


def output_of(argv: Sequence[str], **env: str) -> str:
    """Return what a program prints; end with its complaint where it fails."""
    result = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if result.returncode:
        sys.exit(
            f"{' '.join(argv)}\nended with status {result.returncode}:\n{result.stderr[-1500:]}"
        )
    return result.stdout


def engines(mpi: str = "") -> Path:
    """Return the folder of our engines, built as for a run, where they are kept from run to run.

    With `mpi`, that of rail-mpi for the Open MPI with this prefix.
    """
    transport = LocalTransport("localhost")
    try:
        build = deploy(transport, bundle())
        return Path(deploy_mpi(transport, build, mpi).program).parent if mpi else Path(build)
    except EnvironmentFailedError as error:
        sys.exit(str(error))
    finally:
        transport.close()
