"""Ends the programs that run, all at once, from another thread than those that read them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from railgauge.hosts.transport.interface import Process, end

_LAST_SECONDS = 5.0  # for a program that is done, on a host that is busy


class RunningPrograms:
    """Holds the programs that run now, so that another thread can end them all at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[Process] = set()
        self._ended = threading.Event()

    @property
    def ended(self) -> bool:
        """Whether everything was requested to end."""
        return self._ended.is_set()

    def pause(self, seconds: float) -> None:
        """Return after some seconds, or as soon as everything was requested to end."""
        self._ended.wait(seconds)

    def end_all(self) -> None:
        """End all programs, and those that are started from now on.

        They have a second to end by themselves when their standard input is closed.
        """
        with self._lock:
            self._ended.set()
            processes = tuple(self._processes)
        end(processes)

    @contextlib.contextmanager
    def hold(self, process: Process) -> Iterator[Process]:
        """Hold `process` for a while; at the end of it the program has ended."""
        with self._lock:
            self._processes.add(process)
            late = self._ended.is_set()
        try:
            if late:
                end((process,))
            yield process
        finally:
            try:
                end((process,), grace=_LAST_SECONDS)
            finally:
                with self._lock:
                    self._processes.discard(process)
