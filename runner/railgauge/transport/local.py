"""Programs on this machine: plain child processes, each leading a session of its own."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from railgauge.errors import EnvironmentFailedError
from railgauge.transport.base import Exit
from railgauge.transport.drain import StderrDrain
from railgauge.transport.lines import LineBuffer

_READ = 65536
_DRAIN = StderrDrain()


class LocalProcess:
    """A child of ours. One thread reads it; any thread may kill it."""

    def __init__(self, host: str, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child = child
        self._lines = LineBuffer(host)
        self._stdin = child.stdin
        self._stdout = child.stdout
        self._stdout_ready = select.poll()
        self._stdout_ready.register(child.stdout, select.POLLIN)
        self._stderr = _DRAIN.watch(child.stderr)
        self._reaping = threading.Lock()

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`; a child's host can't be lost."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (line := self._lines.take()) is None:
            if self._lines.ended:
                return None
            _await(self._stdout_ready, deadline)
            chunk = os.read(self._stdout.fileno(), _READ)
            self._lines.feed(chunk)
            if not chunk:
                self._stdout.close()
        return line

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        try:
            self._stdin.write(text.encode() + b"\n")
        except (BrokenPipeError, ValueError):
            return  # It ended or its stdin is closed: its output and exit status say so.

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self._stdin.close()

    def kill(self) -> None:
        """See `Process.kill`: its whole process group gets SIGKILL."""
        with self._reaping:
            # Before it is reaped nobody else can have its number, even if it has ended.
            if self._child.returncode is None:
                with contextlib.suppress(PermissionError):  # sudo's; it minds its stdin
                    os.killpg(self._child.pid, signal.SIGKILL)
        self._stdin.close()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        if self._child.returncode is None:
            _await_end(self._child.pid, timeout)
            with self._reaping:
                self._child.wait()
        self._stdin.close()
        return Exit(self._child.returncode, self._stderr.finish())


def _await(ready: select.poll, deadline: float | None) -> None:
    """Return when the polled descriptor is readable; TimeoutError past the deadline."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    if not ready.poll(left):
        raise TimeoutError


def _await_end(pid: int, timeout: float | None) -> None:
    """Return when our child `pid` has ended, without reaping it; TimeoutError after `timeout` s."""
    if timeout is None:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return
    deadline = time.monotonic() + timeout
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        _poll_end(pid, deadline)  # Linux before 5.3
        return
    try:
        ready = select.poll()
        ready.register(pidfd, select.POLLIN)
        _await(ready, deadline)
    finally:
        os.close(pidfd)


def _poll_end(pid: int, deadline: float) -> None:
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(0.001)


class LocalTransport:
    """The machine we are on, under the name `host` that the plan gives it."""

    def __init__(self, host: str) -> None:
        self.host = host
        self._started: weakref.WeakSet[LocalProcess] = weakref.WeakSet()
        self._lock = threading.Lock()

    def start(self, argv: Sequence[str]) -> LocalProcess:
        """See `Transport.start`."""
        try:
            child = subprocess.Popen(
                list(argv),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C at the terminal is for the controller alone, and kill() needs a group.
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentFailedError(
                f"{self.host}: can't start {argv[0]!r}: {error.strerror}; "
                "check its spelling, PATH and permissions"
            ) from error
        except ValueError as error:
            raise EnvironmentFailedError(
                f"{self.host}: can't start {argv[0]!r}: {error}"
            ) from error
        process = LocalProcess(self.host, child)
        with self._lock:
            self._started.add(process)
        return process

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """See `Transport.put`."""
        try:
            root = Path(directory).expanduser()
            root.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        except (OSError, RuntimeError) as error:
            raise EnvironmentFailedError(
                f"{self.host}: can't write to {directory}: {error}; "
                "make room or make the folder writable"
            ) from error

    def close(self) -> None:
        """See `Transport.close`."""
        with self._lock:
            for process in list(self._started):
                process.close_stdin()
