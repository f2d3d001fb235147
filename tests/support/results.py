"""What a run has stored, as any program reads it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any


def select(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query to the results in a folder."""
    with contextlib.closing(sqlite3.connect(folder / "railgauge.db", timeout=30)) as database:
        return database.execute(query).fetchall()
