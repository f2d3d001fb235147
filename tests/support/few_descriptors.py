"""A process that may open few more files, as under a small `ulimit -n`."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Leave this process so many descriptors while inside."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fillers: list[int] = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(open_descriptors()) + 1 + free, hard))
        while True:
            try:
                fillers.append(os.dup(0))
            except OSError:
                break
        for _ in range(free):
            os.close(fillers.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for number in fillers:
            os.close(number)


def open_descriptors() -> set[int]:
    """Return the descriptors that this process has, that of looking for them among them."""
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
