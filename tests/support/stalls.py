"""Freezes random processes of a command: `python -m tests.support.stalls COMMAND...`

What a busy machine does now and then, this does several times a second: at any instant a process
gets no CPU for a while. By the freezer of control groups (cgroup v2, cgroup.freeze, Linux 5.2),
which takes no CPU. As after SIGSTOP and SIGCONT, a call with a time limit of its socket may end
with EINTR (signal(7)). Needs root. Ends as the command does.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

_LANES = 12  # so many are frozen at once, at most
_SHORTEST, _LONGEST = 0.02, 1.5  # seconds
MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


def _mount() -> Path:
    for mount in MOUNTS:
        if (mount / "cgroup.procs").is_file() and (mount / "cgroup.subtree_control").is_file():
            return mount
    raise SystemExit("stalls: cgroup v2 is not mounted at /sys/fs/cgroup or its unified/")


def _move(processes: Sequence[str], group: Path) -> None:
    for process in processes:
        with contextlib.suppress(OSError):  # it has ended
            (group / "cgroup.procs").write_text(process)


def _members(group: Path) -> list[str]:
    return (group / "cgroup.procs").read_text().split()


def _freeze_at_random(group: Path, cell: Path, ended: threading.Event) -> None:
    while not ended.wait(random.uniform(0, 0.05)):
        members = _members(group)
        if not members:
            continue
        _move([random.choice(members)], cell)
        (cell / "cgroup.freeze").write_text("1")
        time.sleep(_SHORTEST * (_LONGEST / _SHORTEST) ** random.random())
        (cell / "cgroup.freeze").write_text("0")
        # With those that it started before it was frozen.
        while members := _members(cell):
            _move(members, group)
            time.sleep(0.01)  # for what is just being started or ends


def run(command: Sequence[str], lanes: int = _LANES) -> int:
    """Run the command while processes of it are frozen; return its status."""
    top = _mount() / f"stalls-{os.getpid()}"
    group, cells = top / "running", [top / str(lane) for lane in range(lanes)]
    for folder in (top, group, *cells):
        folder.mkdir()
    ended = threading.Event()
    threads = [
        threading.Thread(target=_freeze_at_random, args=(group, cell, ended)) for cell in cells
    ]
    # The shell puts itself there, so that all that the command starts is there from the beginning.
    enter = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(group / "cgroup.procs")]
    try:
        process = subprocess.Popen([*enter, *command])
        for thread in threads:
            thread.start()
        return process.wait()
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        _move(_members(group), top.parent)
        for folder in (*cells, group, top):
            folder.rmdir()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
