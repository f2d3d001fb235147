"""How many random cases a test draws: thousands are for nights."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("RAILGAUGE_LONG"))


def trials(count: int) -> int:
    """Return `count` in make test-long, a fifth of it elsewhere."""
    return count if LONG else count // 5
