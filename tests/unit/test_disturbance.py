"""What lets a failed test run again."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.disturbance import LATE, Disturbance


def test_a_thread_that_is_kept_from_waking_is_seen() -> None:
    disturbance = Disturbance()
    before = time.monotonic()
    sum(range(40_000_000))  # holds the interpreter
    assert time.monotonic() - before > 2 * LATE
    assert disturbance.seen()


def test_a_machine_left_alone_is_not(undisturbed: Callable[..., object]) -> None:
    disturbance = Disturbance()

    def seen() -> bool:
        disturbance.begin()
        time.sleep(0.1)
        return disturbance.seen()

    undisturbed(seen, lambda seen: not seen)
