"""What benchmarks need of this machine: programs that not every machine has, and our engines."""

from __future__ import annotations

import sys
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError
from railgauge.engine.deploy import bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.hosts.transport.local import LocalTransport

# The exit status of a benchmark that can't be run here; automake's tests have the same.
LACKING = 77


def need(condition: object, requirement: str) -> None:
    """End with LACKING, saying what this machine lacks, unless `condition` holds."""
    if not condition:
        print(f"needs {requirement}", file=sys.stderr)
        sys.exit(LACKING)


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
