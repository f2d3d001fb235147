"""What tests of several folders need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest


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
