"""Tries again to connect where what went wrong may pass by itself.

Only connecting: what was begun over a connection is never begun again.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import TypeVar

from railgauge.base.errors import HostUnreachableError

TRIES = 3
# Seconds before the second try; twice as long before each one more.
_PAUSE = 0.5
T = TypeVar("T")


def with_retries(
    connect: Callable[[], T],
    is_transient: Callable[[HostUnreachableError], bool],
    given_up: threading.Event,
) -> T:
    """Return what `connect` gives, which is called up to three times.

    After a HostUnreachableError that `is_transient` it's called again, about 0.5 and 1.5 s after
    the first, each pause up to half as long or longer, so that many who failed together don't all
    come back together. Setting `given_up` ends the waiting: the last error is raised.
    """
    pause = _PAUSE
    for _ in range(TRIES - 1):
        try:
            return connect()
        except HostUnreachableError as error:
            if not is_transient(error) or given_up.wait(pause * random.uniform(0.5, 1.5)):  # noqa: S311
                raise
        pause *= 2
    try:
        return connect()
    except HostUnreachableError as error:
        if not is_transient(error):
            raise
        raise HostUnreachableError(f"{error} (tried {TRIES} times)") from error
