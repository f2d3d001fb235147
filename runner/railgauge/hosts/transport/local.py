"""Programs on this machine: plain child processes, each leading a session of its own."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.drain import StderrDrain
from railgauge.hosts.transport.interface import Exit, StartedProcesses, advice, end
from railgauge.hosts.transport.line_buffer import LineBuffer

_READ = 65536
_DRAIN = StderrDrain()


class LocalProcess:
    """A child of ours. One thread reads it; any thread may end it or wait for it."""

    def __init__(self, host: str, argv: Sequence[str]) -> None:
        """Start it; OSError or ValueError where that can't be done."""
        # Readable once it is killed: something out of its process group may hold its output open.
        # Before there is a child, which would have to be ended where this fails.
        self._killed = os.eventfd(0, os.EFD_CLOEXEC)
        weakref.finalize(self, os.close, self._killed)
        child = subprocess.Popen(
            argv,
            env={**os.environ, "PATH": search_path()},
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C at the terminal is for the controller alone, and kill() needs a group.
            start_new_session=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child = child
        self._lines = LineBuffer(host)
        self._stdin = child.stdin
        self._stdout = child.stdout
        self._readable = select.poll()
        for readable in (child.stdout.fileno(), self._killed):
            self._readable.register(readable, select.POLLIN)
        self._stderr = _DRAIN.watch(child.stderr)
        self._reaping = threading.Lock()

    @property
    def stdin_open(self) -> bool:
        """Whether closing its standard input would be news to it."""
        return not self._stdin.closed

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`; a child's host can't be lost."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (line := self._lines.take()) is None:
            if self._lines.ended:
                return None
            ready = _await(self._readable, deadline)
            stdout = self._stdout.fileno()
            chunk = os.read(stdout, _READ) if stdout in ready else b""
            self._lines.feed(chunk)
            if not chunk:
                self._stdout.close()
        return line

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        self.send(text.encode() + b"\n")

    def send(self, data: bytes) -> None:
        """Write `data` to its standard input, as much of it as it takes before it ends."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._stdin.write(rest) :]
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
        os.eventfd_write(self._killed, 1)
        self._stdin.close()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._reap():
            self._await_end(deadline)
        self._stdin.close()
        return Exit(self._child.returncode, self._stderr.finish())

    def _reap(self) -> bool:
        """Return whether it has ended."""
        with self._reaping:
            return self._child.poll() is not None

    def _await_end(self, deadline: float | None) -> None:
        """Return when it has ended, or soon; TimeoutError past the deadline."""
        with self._reaping:
            if self._child.returncode is not None:
                return  # by another thread; its number may be somebody else's now
            try:
                process = os.pidfd_open(self._child.pid)
            except OSError:  # Linux before 5.3, or too many open files
                process = -1
        if process < 0:
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError
            time.sleep(0.001)
            return
        try:
            ready = select.poll()
            ready.register(process, select.POLLIN)
            _await(ready, deadline)
        finally:
            os.close(process)


def _await(ready: select.poll, deadline: float | None) -> set[int]:
    """Return which of the polled descriptors are readable; TimeoutError past the deadline."""
    remaining = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    if events := ready.poll(remaining):
        return {descriptor for descriptor, _ in events}
    raise TimeoutError


def search_path() -> str:
    """Return the PATH of the programs here: what pip put beside this Python is found last."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))


class LocalTransport:
    """The machine we are on, under the name `host` that the plan gives it.

    `prefix` stands before each command line: a program that becomes the one it is given.
    """

    has_shell = True

    def __init__(self, host: str, prefix: Sequence[str] = ()) -> None:
        self.host = host
        self._prefix = tuple(prefix)
        self._started: StartedProcesses[LocalProcess] = StartedProcesses(host)

    def start(self, argv: Sequence[str]) -> LocalProcess:
        """See `Transport.start`."""
        self._started.check_open()
        command = [*self._prefix, *argv]
        try:
            process = LocalProcess(self.host, command)
        except OSError as error:
            remedy = advice(error, "check its spelling, PATH and permissions")
            raise EnvironmentFailedError(
                f"{self.host}: can't start {command[0]!r}: {error.strerror}; {remedy}"
            ) from error
        except ValueError as error:
            raise EnvironmentFailedError(
                f"{self.host}: can't start {argv[0]!r}: {error}"
            ) from error
        self._started.add(process)
        try:
            self._started.check_open()
        except HostUnreachableError:
            end((process,))
            raise
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
        self._started.close()
        self._started.end()
