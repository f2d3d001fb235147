"""Closes the transports to many hosts side by side: one that doesn't answer takes seconds."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable

from railgauge.hosts.transport.interface import Transport

_AT_ONCE = 100
_SECONDS = 30.0


def close_all(transports: Iterable[Transport]) -> None:
    """Close them all; returns after half a minute though some may not be through with it.

    Those go on behind our back, and end with this process.
    """
    waiting: queue.SimpleQueue[Transport] = queue.SimpleQueue()
    count = 0
    for transport in transports:
        waiting.put(transport)
        count += 1
    threads = [
        threading.Thread(target=_close_some, args=(waiting,), name="closing", daemon=True)
        for _ in range(min(count, _AT_ONCE))
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + _SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def _close_some(waiting: queue.SimpleQueue[Transport]) -> None:
    while True:
        try:
            transport = waiting.get_nowait()
        except queue.Empty:
            return
        transport.close()
