"""The one interface between railgauge and a host: start programs, stream their lines, put files.

Programs are argument vectors, never shell strings. Whoever starts a program holds its standard
input: closing it (or dying) is how everything we start on a host ends.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from railgauge.base.errors import EngineError, HostUnreachableError, RailgaugeError

MAX_OUTPUT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended: its exit status (negative: by that signal) and the end of its stderr."""

    status: int
    stderr: str


class Process(Protocol):
    """A program running on a host.

    One thread reads it; any thread may close its standard input, kill it and wait for it meanwhile.
    """

    def read_line(self, timeout: float | None = None) -> str | None:
        """Return the next line of its standard output without the newline, None at the end.

        Raises TimeoutError when `timeout` seconds pass without a whole line, HostUnreachableError
        when the host is lost. Lines longer than 8 MiB are an EngineError `contract`.
        """

    def send_line(self, text: str) -> None:
        """Write `text` and a newline to its standard input.

        A program that has ended takes nothing; `read_line` and `wait` report it.
        """

    def close_stdin(self) -> None:
        """Close its standard input, which asks an engine to end; harmless when done twice."""

    def kill(self) -> None:
        """End it at once, with what it started; harmless when it has ended.

        Whoever reads it gets what it wrote, then None. It has no chance to end what left its
        process group: `end` gives it one.
        """

    def wait(self, timeout: float | None = None) -> Exit:
        """Return how it ended; TimeoutError after `timeout` seconds."""


class Transport(Protocol):
    """A way to reach one host. Its methods may be called from several threads.

    The first program started connects to the host. `has_shell`: a POSIX sh is among them.
    """

    host: str
    has_shell: bool

    def start(self, argv: Sequence[str]) -> Process:
        """Start a program.

        Raises HostUnreachableError, or EnvironmentFailedError if the program can't be started.
        """

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """Write `files` (path below `directory` -> content), making folders as needed.

        A `~/` at the start of `directory` is the login's home folder.
        """

    def close(self) -> None:
        """End the programs still running there and let go of the host; harmless when done twice.

        Those that still have their standard input lose it first, with a second to end by
        themselves; the others are killed at once. Threads that wait for a program, or for the
        connection, come back soon: with the end of output, status -9 or HostUnreachableError,
        which is also what `start` raises from now on.
        """


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that ran to its end: status, its whole standard output, the end of its stderr.

    Every line of `stdout` ends with a newline, also the last.
    """

    status: int
    stdout: str
    stderr: str


def run(
    transport: Transport,
    argv: Sequence[str],
    *,
    timeout: float,
    on_line: Callable[[str], None] = lambda _: None,
) -> Completed:
    """Run `argv` on the transport's host to its end, with an empty standard input.

    `on_line` gets each line of its output as it comes.
    Raises TimeoutError after `timeout` seconds (the program is killed), EngineError `contract`
    when it writes more than 64 MiB, and what `start` and `read_line` raise.
    """
    deadline = time.monotonic() + timeout
    process = transport.start(argv)
    try:
        process.close_stdin()
        stdout = _read_all(process, transport.host, deadline, on_line)
        ended = process.wait(max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        _kill(process)
        raise TimeoutError(
            f"{transport.host}: {argv[0]!r} did not end within {timeout:g} s and was killed"
        ) from None
    except BaseException:
        _kill(process)
        raise
    return Completed(ended.status, stdout, ended.stderr)


def _read_all(process: Process, host: str, deadline: float, on_line: Callable[[str], None]) -> str:
    lines: list[str] = []
    size = 0
    while (line := process.read_line(max(0.0, deadline - time.monotonic()))) is not None:
        on_line(line)
        lines.append(line + "\n")
        size += len(line) + 1
        if size > MAX_OUTPUT:
            raise EngineError(
                "contract", f"{host}: a program wrote more than {MAX_OUTPUT >> 20} MiB"
            )
    return "".join(lines)


def end(processes: Iterable[Process], *, grace: float = 1.0) -> None:
    """End `processes`, all at once: by closing their standard input, after `grace` s by killing.

    Engines end by the former, and rail-exec with it ends its command, which no kill of ours
    reaches: that has a process group of its own. Returns as soon as all have ended.
    """
    ending = tuple(processes)
    deadline = time.monotonic() + grace
    for process in ending:
        process.close_stdin()
    for process in ending:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except (TimeoutError, HostUnreachableError):
            _kill(process)


def closed_error(host: str) -> HostUnreachableError:
    """Return what a closed transport's `start` raises."""
    return HostUnreachableError(
        f"{host}: nothing more is started there, for railgauge is ending; run it again"
    )


def advice(error: Exception, usual: str) -> str:
    """Return what to do about an error: the `usual`, unless too many files are open."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "let more files be open at a time (ulimit -n)"
    return usual


def shell_status(status: int) -> int:
    """Return a shell's exit status, a program's end by a signal as the signal's negative number."""
    return 128 - status if 128 < status <= 128 + 64 else status


class _StartedProcess(Process, Protocol):
    @property
    def stdin_open(self) -> bool:
        """Whether closing its standard input would be news to it."""


P = TypeVar("P", bound=_StartedProcess)


class StartedProcesses(Generic[P]):
    """The programs that a transport has started, until it is closed; for any thread."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._processes: weakref.WeakSet[P] = weakref.WeakSet()
        self._lock = threading.Lock()
        self.closed = False

    def check_open(self) -> None:
        """Raise HostUnreachableError once the transport is closed."""
        if self.closed:
            raise closed_error(self._host)

    def add(self, process: P) -> None:
        """Note a program; `check_open` afterwards, for `close` may have missed it."""
        with self._lock:
            self._processes.add(process)

    def close(self) -> None:
        """Let no more be started."""
        with self._lock:
            self.closed = True

    def end(self) -> None:
        """End those still running, as `Transport.close` says."""
        with self._lock:
            processes = tuple(self._processes)
        for process in processes:
            if not process.stdin_open:
                process.kill()
        end(processes)


def _kill(process: Process) -> None:
    process.kill()
    with contextlib.suppress(TimeoutError, RailgaugeError):
        process.wait(1.0)
