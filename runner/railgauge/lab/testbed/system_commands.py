"""Runs ip and tc, and finds and ends processes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.transport.netns import enter, namespace_file
from railgauge.lab.testbed.state import TOKEN, ClusterRecord

_TIMEOUT = 120.0


def tool(record: ClusterRecord, *argv: str, lines: Sequence[Sequence[str]] = ()) -> str:
    """Run a program to its end where the testbed is, with `lines` as its input.

    Returns its output; EnvironmentFailedError with its own words when it fails. It carries the
    testbed's token, for `down` has to end what a killed `up` had begun.
    """
    text = "".join(f"{' '.join(line)}\n" for line in lines)
    try:
        completed = subprocess.run(
            [*enter(record.holder), *argv],
            input=text,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            env={**environment(), TOKEN: record.token},
            check=False,
        )
    except FileNotFoundError as error:
        raise EnvironmentFailedError(
            f"there is no {error.filename!r}: install it (Debian: iproute2, util-linux)"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailedError(f"{' '.join(argv)}: {error}") from error
    if completed.returncode:
        error_lines = completed.stderr.split("\n")
        reason = "; ".join(error_lines).strip("; ") or f"status {completed.returncode}"
        raise EnvironmentFailedError(f"`{' '.join(argv)}` failed: {reason}")
    return completed.stdout


def environment() -> dict[str, str]:
    """Return the environment in which tc is found: ordinary users often don't look where it is."""
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": os.pathsep.join((path, "/usr/sbin", "/sbin"))}


def processes_of(token: str) -> list[int]:
    """Return the processes that carry the token in their environment."""
    entry = f"{TOKEN}={token}".encode()
    pids = []
    for pid in _processes():
        with contextlib.suppress(OSError):  # it has ended, or is somebody else's
            if entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                pids.append(pid)
    return pids


def inside(namespaces: Sequence[str], holder: int | None) -> list[int]:
    """Return the processes that run in one of the network namespaces."""
    places = set()
    for namespace in namespaces:
        with contextlib.suppress(OSError):
            status = namespace_file(namespace, holder).stat()
            places.add((status.st_dev, status.st_ino))
    pids = []
    for pid in _processes():
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{pid}/ns/net").stat()
            if (status.st_dev, status.st_ino) in places:
                pids.append(pid)
    return pids


def end(pids: Sequence[int], *, grace: float = 2.0) -> None:
    """End processes: SIGTERM, after `grace` seconds SIGKILL; return when they have ended."""
    descriptors = {}
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                descriptors[pid] = os.pidfd_open(pid)
        for number, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
            for descriptor in descriptors.values():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(descriptor, number)
            left = _await(descriptors, wait)
            if not left:
                return
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)
    raise EnvironmentFailedError(
        f"processes {', '.join(map(str, left))} of the testbed don't end: end them yourself "
        "(kill -9) and try again"
    )


def _await(descriptors: dict[int, int], wait: float) -> list[int]:
    """Return which processes are still there after at most `wait` seconds."""
    deadline = time.monotonic() + wait
    running = dict(descriptors)
    while running:
        poll = select.poll()
        for descriptor in running.values():
            poll.register(descriptor, select.POLLIN)
        ended = {fd for fd, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)}
        if not ended:
            break
        running = {pid: fd for pid, fd in running.items() if fd not in ended}
    return list(running)


def _processes() -> Iterator[int]:
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            yield int(path.name)
