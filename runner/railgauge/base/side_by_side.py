"""Does something with each of many machines, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from railgauge.base.errors import EnvironmentFailedError

# Not with all of a large cluster at once.
_AT_ONCE = 32
T = TypeVar("T")


def everywhere(action: Callable[[str], T], machines: Iterable[str]) -> dict[str, T]:
    """Return machine -> what `action` gives there; all failures at once."""
    results: dict[str, T] = {}
    failures: list[EnvironmentFailedError] = []
    workers = ThreadPoolExecutor(_AT_ONCE)
    try:
        futures = {machine: workers.submit(action, machine) for machine in machines}
        for machine, future in futures.items():
            try:
                results[machine] = future.result()
            except EnvironmentFailedError as error:
                failures.append(error)
    finally:
        # Not waited for after Ctrl-C: what still runs there ends when its transport is closed.
        workers.shutdown(wait=False, cancel_futures=True)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise EnvironmentFailedError("\n".join(dict.fromkeys(str(failure) for failure in failures)))
    return results
