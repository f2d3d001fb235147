"""Does something with each of many machines, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.base.stop_signals import result_interruptibly

# Most of the time is the machines' own: of a thousand each builds the engines. Not all at once, or
# the logins of those that come last take longer than sshd waits for them.
_AT_ONCE = 256
T = TypeVar("T")


def everywhere(
    action: Callable[[str], T],
    machines: Iterable[str],
    meanwhile: Callable[[], None] = lambda: None,
) -> dict[str, T]:
    """Return machine -> what `action` gives there; all failures at once.

    `meanwhile` is called now and then in this thread, as long as there is no end.
    HostUnreachableError, with its `reasons`, where nothing failed but that machines were lost.
    """
    results: dict[str, T] = {}
    failures: dict[str, EnvironmentFailedError] = {}
    workers = ThreadPoolExecutor(_AT_ONCE)
    try:
        futures = {machine: workers.submit(action, machine) for machine in machines}
        for machine, future in futures.items():
            try:
                results[machine] = result_interruptibly(future, meanwhile)
            except EnvironmentFailedError as error:
                failures[machine] = error
    finally:
        # Not waited for after Ctrl-C: what still runs there ends when its transport is closed.
        workers.shutdown(wait=False, cancel_futures=True)
    if not failures:
        return results
    reasons = {machine: str(failure) for machine, failure in failures.items()}
    whole = next(iter(failures.values()))
    if len(failures) > 1:
        lost = all(isinstance(failure, HostUnreachableError) for failure in failures.values())
        kind = HostUnreachableError if lost else EnvironmentFailedError
        whole = kind("\n".join(dict.fromkeys(reasons.values())))
    if isinstance(whole, HostUnreachableError):
        whole.reasons = reasons
    raise whole
