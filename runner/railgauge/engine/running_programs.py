"""Ends the programs that run, all at once, from another thread than those that read them."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence

from railgauge.hosts.transport.interface import Process, Transport, end
from railgauge.hosts.transport.kept_shell import SHELL, KeptShell

# Where a shell runs, and how it is started.
_Kind = tuple[Transport, tuple[str, ...]]

_LAST_SECONDS = 5.0  # for a program that is done, on a host that is busy


class RunningPrograms:
    """Holds the programs that run now, so that another thread can end them all at once.

    A shell whose program ended well is kept, for the next one on its host, until all are ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[Process] = set()
        self._idle: defaultdict[_Kind, list[KeptShell]] = defaultdict(list)
        self._ended = threading.Event()
        self._started = threading.Event()

    @property
    def ended(self) -> bool:
        """Whether everything was requested to end."""
        return self._ended.is_set()

    def pause(self, seconds: float) -> None:
        """Return after some seconds, or as soon as everything was requested to end."""
        self._ended.wait(seconds)

    def expect_start(self) -> None:
        """Have `await_start` wait for a launch that hasn't started yet."""
        self._started.clear()

    def note_start(self) -> None:
        """Note that all programs of a launch are started."""
        self._started.set()

    def await_start(self, seconds: float) -> None:
        """Return when `note_start` was called since `expect_start`, or after some seconds."""
        self._started.wait(seconds)

    def end_all(self) -> None:
        """End all programs, and those that are started from now on.

        They have a second to end by themselves when their standard input is closed.
        """
        with self._lock:
            self._ended.set()
            processes = (
                *self._processes,
                *(shell for idle in self._idle.values() for shell in idle),
            )
            self._idle.clear()
        end(processes)

    @contextlib.contextmanager
    def hold(self, process: Process) -> Iterator[Process]:
        """Hold `process` for a while; at the end of it the program has ended."""
        self._add(process)
        try:
            yield process
        finally:
            self._release(process)

    @contextlib.contextmanager
    def start(
        self, transport: Transport, argv: Sequence[str], shell_argv: tuple[str, ...] = SHELL
    ) -> Iterator[Process]:
        """Start a program by a shell and hold it for a while; at the end of it it has ended.

        Raises what `Transport.start` does, except that what can't be started ends with status 126
        or 127 where there is a shell.
        """
        if not transport.has_shell:
            with self.hold(transport.start(argv)) as process:
                yield process
            return
        kind = transport, shell_argv
        shell = self._idle_shell(kind) or KeptShell(transport, shell_argv)
        self._add(shell)
        try:
            shell.run(argv)
            yield shell
        finally:
            self._release(shell, kind)

    def _idle_shell(self, kind: _Kind) -> KeptShell | None:
        while True:
            with self._lock:
                idle = self._idle[kind]
                shell = idle.pop() if idle else None
            if shell is None or shell.ready:
                return shell

    def _add(self, process: Process) -> None:
        with self._lock:
            self._processes.add(process)
            late = self._ended.is_set()
        if late:
            end((process,))

    def _release(self, process: Process, kind: _Kind | None = None) -> None:
        """Let go of a program: it has ended, or is ended now unless it's a shell to be kept."""
        with self._lock:
            if kind is not None and isinstance(process, KeptShell) and process.ready:
                self._processes.discard(process)
                self._idle[kind].append(process)
                return
        try:
            end((process,), grace=_LAST_SECONDS)
        finally:
            with self._lock:
                self._processes.discard(process)
