"""A machine of its own for each parallel worker: its network, its names, its files, its lock.

As root a worker has a network namespace of its own, so that ports, abstract sockets, counters and
the names of namespaces are nobody else's, and what it sees in /sys is this network. Its tests'
folders stand in memory: a disk would spend a good part of their time on thousands of fsync. Without
root all workers share the network and the disk; then only the lock's name is a worker's own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWNET = 0x00020000, 0x40000000  # unshare(2)
_NAMES = Path("/run/netns")
_CGROUPS = Path("/sys/fs/cgroup")
_LEAST_MEMORY = 8 * 1024 * 1024  # KiB
_USERS_SETTINGS = ("DB", "WAIT", "MARGIN", "DEBUG", "SSH_CONFIG")


def separate() -> None:
    """Give this process and what it starts no user's settings, and, if it may, its own network."""
    # What a script starts in its background ignores Ctrl-C, and so would all that tests start.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, handler)
    # Tests would store into the database of whoever runs them.
    for name in _USERS_SETTINGS:
        os.environ.pop(f"RAILGAUGE_{name}", None)
    # Machines are held for a run, and several sessions may share one.
    os.environ["RAILGAUGE_LOCK"] = f"railgauge-test-{os.getpid()}"
    if os.geteuid() != 0 or "PYTEST_XDIST_WORKER" not in os.environ:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS | _CLONE_NEWNET):
        return  # a container's root
    _mount("--make-rslave", "/")
    with tempfile.TemporaryDirectory() as place:
        # A sysfs shows the network of whoever mounts it, and none of the control groups.
        _mount("-t", "sysfs", "sysfs", place)
        if _CGROUPS.is_dir():
            _mount("--rbind", str(_CGROUPS), f"{place}/fs/cgroup")
        _mount("--move", place, "/sys")
    _NAMES.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "tmpfs", str(_NAMES))
    _ip("link", "set", "lo", "up")
    # Open MPI wants an interface beside the loopback.
    _ip("link", "add", "net0", "type", "veth", "peer", "name", "net1")
    for name in ("net0", "net1"):
        _ip("link", "set", name, "up")
    _ip("addr", "add", "10.193.0.1/24", "dev", "net0")


def keep_in_memory(folder: Path) -> None:
    """Mount a file system in memory on `folder`, seen by this worker and what it starts alone.

    It goes with the worker. Before Linux 6.6 it had no direct access, which tests of disks need.
    """
    if not _is_separate() or _available_memory() < _LEAST_MEMORY:
        return
    _mount("-t", "tmpfs", "-o", "mode=700", "tmpfs", str(folder))
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT))
    except OSError:
        let_go(folder)


def let_go(folder: Path) -> None:
    """Unmount what `keep_in_memory` mounted on `folder`, if it did."""
    if folder.is_mount():
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _available_memory() -> int:
    with Path("/proc/meminfo").open() as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def _is_separate() -> bool:
    """Return whether this process has file systems of its own."""
    own, parents = (Path(f"/proc/{process}/ns/mnt") for process in ("self", os.getppid()))
    try:
        return own.readlink() != parents.readlink()
    except PermissionError:  # Of init, where whoever started this has ended.
        return False


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)
