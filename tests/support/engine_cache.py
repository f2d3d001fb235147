"""The engines as railgauge builds them on a host, built once here and copied to the labs' hosts."""

from __future__ import annotations

import fcntl
import shutil
import sys
import tempfile
from pathlib import Path

from railgauge.engine.deploy import bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.transport.local import LocalTransport

_LOCK = Path(tempfile.gettempdir()) / "railgauge-test-engines.lock"


def deploy_here() -> Path:
    """Build the engines, and rail-mpi for each Open MPI, in this login's cache.

    Returns the host's folder of these sources. Of several workers one builds.
    """
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        transport = LocalTransport("here")
        build = deploy(transport, bundle())
        if shutil.which("mpicc"):
            deploy_mpi(transport, build, None)
        if (Path(sys.prefix) / "bin/mpicc").exists():
            deploy_mpi(transport, build, sys.prefix)
    return Path(build).parent


def copy_to(home: Path) -> None:
    """Give the login with this home folder the engines, as if they had been built there."""
    built = deploy_here()
    folder = home / ".cache/railgauge/engines" / built.name
    if not folder.exists():
        shutil.copytree(built, folder, symlinks=True)
