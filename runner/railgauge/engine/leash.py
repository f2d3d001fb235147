"""Ends the programs that run, all at once, from another thread than those that read them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from railgauge.errors import HostUnreachableError
from railgauge.transport.base import Process


class Leash:
    """Holds the programs that run now, so that another thread can end them all at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Process] = set()
        self._pulled = False

    @property
    def pulled(self) -> bool:
        """Whether everything was told to end."""
        return self._pulled

    def pull(self) -> None:
        """End all programs, and those that are started from now on."""
        with self._lock:
            self._pulled = True
            held = tuple(self._held)
        for process in held:
            process.kill()

    @contextlib.contextmanager
    def hold(self, process: Process) -> Iterator[Process]:
        """Hold `process` for a while; at the end of it the program has ended."""
        with self._lock:
            self._held.add(process)
            pulled = self._pulled
        try:
            if pulled:
                process.kill()
            yield process
        finally:
            process.close_stdin()
            try:
                process.wait(timeout=5.0)
            except (TimeoutError, HostUnreachableError):
                process.kill()
            with self._lock:
                self._held.discard(process)
