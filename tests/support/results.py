"""What a run has stored and a report says, as any program reads it."""

from __future__ import annotations

import contextlib
import csv
import sqlite3
from pathlib import Path
from typing import Any


def select(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query to the results in a folder."""
    with contextlib.closing(sqlite3.connect(folder / "railgauge.db", timeout=30)) as database:
        return database.execute(query).fetchall()


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
