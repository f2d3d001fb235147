"""What one worker of a session builds and all others use."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def build_engines(factory: pytest.TempPathFactory, name: str, *targets: str, mpi: str = "") -> Path:
    """Build the engines once a session, with the sanitizers of RAILGAUGE_SANITIZE if there are any.

    `name` is the build folder's; whoever comes second waits for whoever builds.
    """
    base = factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = session / name
    folder.mkdir(exist_ok=True)
    sanitize = os.environ.get("RAILGAUGE_SANITIZE", "")
    options = [f"BUILD={folder}", f"SANITIZE={sanitize}", f"MPI={mpi}"]
    with (session / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-s", "-j4", "-C", ROOT / "engines", *options, *targets],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
