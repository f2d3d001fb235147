"""Writes the newest SQLite schema: `python -m railgauge.store.store_schema FOLDER`."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from sqlalchemy import create_engine

from railgauge.store.migrate import NEWEST, run_migrations


def schema_file() -> str:
    """Return, as SQL, what the migrations make of an empty database."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        run_migrations(connection)
        connection.commit()
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        statements = [
            text for text in driver.iterdump() if not text.startswith(("BEGIN", "COMMIT", "DELETE"))
        ]
    engine.dispose()
    return "\n".join(statements) + "\n"


if __name__ == "__main__":
    (Path(sys.argv[1]) / NEWEST).write_text(schema_file(), encoding="utf-8")
