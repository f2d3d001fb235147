"""Brings a database to the newest schema. Alembic is imported only where there is work for it.

A new SQLite file gets the newest schema as it stands in schema/database.sql, which is what the
migrations make of an empty file (`make schema`; a test compares them).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import OperationalError

from railgauge.base.assets import folder
from railgauge.base.errors import InputError, NoDatabaseError, StoreError

VERSION_TABLE = "railgauge_schema"
NEWEST = "database.sql"
# Any constant: PostgreSQL's writers that migrate at the same time take turns on it.
_ADVISORY_LOCK = 7_245_428_911


def migrate(engine: Engine, database: str, *, create: bool, option: str = "--db") -> None:
    """Bring the database to the newest schema, in one transaction; nothing to do is the fast path.

    InputError when it belongs to a newer railgauge or to another program or, without `create`,
    when it has no schema at all; StoreError when it's an old one that may not be written to.
    Messages name the `option` by which the user named it.
    """
    known_revisions = revisions()
    with engine.connect() as connection:
        revision = _revision(connection, database, known_revisions, option)
    if revision == known_revisions[-1]:
        return
    if revision is None and not create:
        raise NoDatabaseError(
            f"the database {database} is empty: run a plan first or pass another {option}"
        )
    try:
        _upgrade(engine, database, known_revisions, option)
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_READONLY"):
            raise StoreError(
                f"the database {database} was made by an older railgauge and has to be brought up "
                f"to date, but is not writable: copy the file and pass the copy as {option}"
            ) from error
        raise


def revisions() -> list[str]:
    """Return the revisions this railgauge knows, oldest first, by the names of their files."""
    return sorted(path.stem.split("_")[0] for path in _scripts().glob("versions/[0-9]*.py"))


def _scripts() -> Path:
    return folder("schema") / "migrations"


def _revision(
    connection: Connection, database: str, known_revisions: list[str], option: str
) -> str | None:
    inspector = inspect(connection)
    if not inspector.has_table(VERSION_TABLE):
        if connection.dialect.name == "sqlite" and inspector.get_table_names():
            raise InputError(f"{database} is another program's database: pass another {option}")
        return None
    # Our own constant name; no user's text gets into this statement.
    query = f"SELECT version_num FROM {VERSION_TABLE}"  # noqa: S608
    revision = connection.exec_driver_sql(query).scalar()
    if revision is not None and revision not in known_revisions:
        raise InputError(
            f"the database {database} was made by a newer railgauge (schema {revision}, "
            f"this one knows up to {known_revisions[-1]}): upgrade railgauge, "
            f"or pass another {option}"
        )
    return None if revision is None else str(revision)


def _upgrade(engine: Engine, database: str, known_revisions: list[str], option: str) -> None:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        # Looked at again, as another process may have migrated while this one waited.
        revision = _revision(connection, database, known_revisions, option)
        if revision is None and connection.dialect.name == "sqlite":
            for statement in _newest():
                connection.exec_driver_sql(statement)
        elif revision != known_revisions[-1]:
            run_migrations(connection)


@cache
def _newest() -> Sequence[str]:
    """Return the statements that make the newest schema."""
    statements, statement = [], ""
    for line in (folder("schema") / NEWEST).read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            statements.append(statement)
            statement = ""
    return statements


def run_migrations(connection: Connection) -> None:
    """Run all migrations that the database of this transaction hasn't had yet."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    # The option goes through ConfigParser's interpolation.
    config.set_main_option("script_location", str(_scripts()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
