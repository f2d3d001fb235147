"""One thread that empties the stderr of all local children, so that none ever blocks on it.

A server is left alone for hours; nobody would read its complaints otherwise.
"""

from __future__ import annotations

import os
import select
import threading
from typing import IO

from railgauge.hosts.transport.line_buffer import Tail

_READ = 65536


class DrainedStderr:
    """The stderr of one child; the thread and whoever waits for the child both read it."""

    def __init__(self, drain: StderrDrain, stream: IO[bytes]) -> None:
        self._drain = drain
        self._stream = stream
        self._tail = Tail()
        self._lock = threading.Lock()
        self.number = stream.fileno()

    def read(self) -> None:
        """Take what is there without blocking; lets go of the stream at its end."""
        with self._lock:
            while not self._stream.closed:
                try:
                    chunk = os.read(self.number, _READ)
                except BlockingIOError:
                    return
                self._tail.feed(chunk)
                if not chunk:
                    self._close()

    def finish(self) -> str:
        """Take what is left, let go of the stream, and return its end."""
        self.read()
        with self._lock:
            if not self._stream.closed:
                self._close()
        return self._tail.text()

    def _close(self) -> None:
        self._drain.forget(self)
        self._stream.close()


class StderrDrain:
    """The thread and what it watches; it starts with the first child."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, DrainedStderr] = {}
        self._started = False
        self._starting = threading.Lock()

    def watch(self, stream: IO[bytes]) -> DrainedStderr:
        """Empty `stream` from now on."""
        os.set_blocking(stream.fileno(), False)
        stderr = DrainedStderr(self, stream)
        self._watched[stderr.number] = stderr
        self._epoll.register(stderr.number, select.EPOLLIN)
        with self._starting:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name="railgauge-stderr", daemon=True).start()
        return stderr

    def forget(self, stderr: DrainedStderr) -> None:
        """Watch it no longer; its descriptor is still open, so its number is still its own."""
        self._epoll.unregister(stderr.number)
        del self._watched[stderr.number]

    def _run(self) -> None:
        while True:
            for number, _ in self._epoll.poll():
                if stderr := self._watched.get(number):
                    stderr.read()
