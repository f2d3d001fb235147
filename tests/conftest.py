"""What tests of several folders need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from tests.support.own_machine import separate

T = TypeVar("T")

separate()
# The same examples wherever the suite runs; other ones, and many, for nights (make test-long).
settings.register_profile("test", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("long", deadline=None, print_blob=True, max_examples=2000)
settings.load_profile(os.environ.get("RAILGAUGE_EXAMPLES", "test"))


def _require(condition: object, what: str) -> None:
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"CI must have {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def require() -> Callable[[object, str], None]:
    """Skip the test on a user's machine that lacks something; in CI that is a failure."""
    return _require


def _ends(pid: int) -> bool:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def process_ends() -> Callable[[int], bool]:
    """Tell whether a process is gone within five seconds (a zombie is)."""
    return _ends


def _undisturbed(measure: Callable[[], T], holds: Callable[[T], object]) -> T:
    end = time.monotonic() + 120
    seen: list[T] = []
    while True:
        seen.append(measure())
        if holds(seen[-1]):
            return seen[-1]
        early = time.monotonic() < end or len(seen) < 3
        assert early, f"never in {len(seen)} attempts: {seen[-3:]}"
        time.sleep(min(1.0, 0.02 * len(seen)))


@pytest.fixture(scope="session")
def undisturbed() -> Callable[..., object]:
    """Measure again until `holds`, for what is only true of a machine that nobody else keeps busy.

    What must hold of every measurement belongs in `measure`, or is asserted of what is returned.
    """
    return _undisturbed
