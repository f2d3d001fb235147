"""The engines, built once for all workers: as a host has them, and with the sanitizers."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support import ROOT

from railgauge.engine.deploy import bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.hosts.transport.local import LocalTransport

SANITIZE = os.environ.get("RAILGAUGE_SANITIZE", "")
# make coverage: the folder where engines are built that count which of their lines run.
COUNTED = os.environ.get("RAILGAUGE_COVERAGE", "")


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold a lock of all workers."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def session_folder(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this session that all workers share."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def deploy_here() -> Path:
    """Build the engines, and rail-mpi for each Open MPI, in this login's cache.

    Returns the host's folder of these sources. Of several workers one builds.
    """
    with alone(Path(tempfile.gettempdir()) / "railgauge-test-engines.lock"):
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


def build_engines(factory: pytest.TempPathFactory, mpi: str = "") -> Path:
    """Return a folder with all engines, rail-mpi for the Open MPI with that prefix.

    With the sanitizers of RAILGAUGE_SANITIZE, if there are any; else as a host has them. Whoever
    comes second waits for whoever builds.
    """
    if shutil.which("mpicc") == f"{mpi}/bin/mpicc":
        mpi = ""
    folder = Path(COUNTED or session_folder(factory)) / f"engines{mpi.replace('/', '-')}"
    with alone(folder.with_suffix(".lock")):
        if SANITIZE or COUNTED:
            # Less is optimized, and of debugging only lines kept: built in two thirds of the time.
            counted = "-O0 -g --coverage -fprofile-update=atomic -DUNCONFINED"
            flags = counted if COUNTED else "-O1 -g1"
            options = [f"BUILD={folder}", f"SANITIZE={SANITIZE}", f"MPI={mpi}", f"CFLAGS={flags}"]
            targets = ["mpi"] if mpi else []
            command = ["make", "-s", "-j4", "-C", str(ROOT / "engines"), *options, *targets]
            completed = subprocess.run(command, capture_output=True, text=True)
            assert completed.returncode == 0, completed.stdout + completed.stderr
        elif not folder.exists():
            _link(deploy_here() / "build", folder, mpi)
    return folder


def _link(build: Path, folder: Path, mpi: str) -> None:
    folder.mkdir()
    for path in build.iterdir():
        (folder / path.name).symlink_to(path)
    if mpi or shutil.which("mpicc"):
        installation = deploy_mpi(LocalTransport("here"), str(build), mpi or None)
        (folder / "rail-mpi").symlink_to(installation.program)
