"""`make test-stalls` freezes what a command starts, ends as it does, and leaves nothing."""

from __future__ import annotations

import os
import sys

import pytest
from tests.support import stalls

# Ends with 7 as soon as it sees that its child is frozen.
SEES_A_STALL = """
import pathlib, subprocess, sys, time
own = pathlib.Path("/proc/self/cgroup").read_text().split("::")[1].strip()
top = pathlib.Path(sys.argv[1] + own.split("stalls-")[0] + "stalls-" + sys.argv[2])
child = subprocess.Popen(["sleep", "600"])
while not any("frozen 1" in events.read_text() for events in top.glob("[0-9]*/cgroup.events")):
    time.sleep(0.001)
child.kill()
sys.exit(7)
"""


@pytest.mark.long
def test_a_command_s_processes_stall_and_it_ends_as_it_would(require) -> None:
    require(os.geteuid() == 0, "root")
    mounts = [x for x in stalls.MOUNTS if os.access(x / "cgroup.procs", os.W_OK)]
    require(mounts, "cgroup v2, to write to")
    mount = mounts[0]
    command = [sys.executable, "-c", SEES_A_STALL, str(mount), str(os.getpid())]
    assert stalls.run(command, lanes=1) == 7
    assert not list(mount.glob(f"stalls-{os.getpid()}"))
