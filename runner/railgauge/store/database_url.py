"""From what the user named (a path or a URL) to an SQLAlchemy engine with the right settings."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from railgauge.base.errors import InputError, LostDatabaseError, NoDatabaseError, StoreError
from railgauge.base.real_path import real_path
from railgauge.store.explain import BUSY_SECONDS, NOT_WRITABLE

# How long a server may take to answer, in seconds.
_CONNECT_SECONDS = 10
# A server's machine that is gone ends no connection: it is asked after 30 s of silence and given up
# 30 s later, as it does with a claim's holder (claim.py). Linux would first ask after two hours.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
# The same for what is sent and not acknowledged, which Linux sends for a quarter of an hour (ms).
_SENT_MS = 60_000
# A question is of some runs' rows, which indices lead to. PostgreSQL expects many more of them: it
# would compile the question and scan whole tables by several processes, which takes five times as
# long. A server may have been built without one of these settings.
_SMALL_QUESTIONS = """
SELECT set_config(name, '0', false)
FROM unnest(ARRAY['jit', 'max_parallel_workers_per_gather']) AS name
WHERE current_setting(name, true) IS NOT NULL"""
_MAGIC = b"SQLite format 3\0"
_IMMUTABLE = "?mode=ro&immutable=1"
# Files that are read without a lock, and what they were when they were opened.
_ARCHIVED: WeakKeyDictionary[Engine, tuple[Path, tuple[int, ...]]] = WeakKeyDictionary()
# Files that are written to, and which they were when they were opened.
_WRITTEN: WeakKeyDictionary[Engine, tuple[Path, os.stat_result]] = WeakKeyDictionary()


class _File(sqlite3.Connection):
    """A connection that ends its cursors when it's closed.

    SQLite keeps the file open, with its -wal and -shm, while a statement is in the middle: that of
    a reader that was stopped, for as long as anything refers to it.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()
        self._is_open = True

    def cursor(self, *args: Any, **options: Any) -> Any:
        """See sqlite3.Connection.cursor."""
        cursor = super().cursor(*args, **options)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """See sqlite3.Connection.close."""
        while self._cursors:
            self._cursors.pop().close()
        self._is_open = False
        super().close()

    def rollback(self) -> None:
        """See sqlite3.Connection.rollback; nothing to do for what SQLAlchemy collects later."""
        if self._is_open:
            super().rollback()


def connect(
    where: str, *, create: bool, busy_seconds: float = BUSY_SECONDS, option: str = "--db"
) -> tuple[Engine, str]:
    """Return an engine for the path or URL `where` and its name for messages (no password in it).

    Nothing is opened yet, but all that can be said about the file or the URL is said here:
    InputError when it's wrong or, without `create`, not there; StoreError when it can't be read.
    A writer to an SQLite file will wait `busy_seconds` for another one. Messages name the `option`
    by which the user named it.
    """
    if "://" not in where:
        return _sqlite(Path(where), create, busy_seconds, option)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            "the database's URL cannot be understood: write a path or "
            "postgresql+psycopg://USER@HOST/DATABASE"
        ) from error
    backend = url.get_backend_name()
    if backend == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError("a database in memory would lose what is measured: name a file")
        return _sqlite(Path(url.database), create, busy_seconds, option)
    if backend == "postgresql":
        return _postgresql(url)
    raise InputError(
        f"{backend!r} is not a database railgauge knows: write a path (SQLite) or "
        "postgresql+psycopg://USER@HOST/DATABASE"
    )


def _postgresql(url: URL) -> tuple[Engine, str]:
    name = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=1,
            # A server that was restarted between two replications costs a reconnect, not a run.
            pool_pre_ping=True,
            # Else a database's own encoding decides: of SQL_ASCII the driver gives bytes.
            connect_args={
                "connect_timeout": _CONNECT_SECONDS,
                "client_encoding": "utf8",
                "tcp_user_timeout": _SENT_MS,
                **_KEEPALIVE,
            },
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise InputError(
            "PostgreSQL needs the driver psycopg: pip install 'railgauge[postgresql]'"
        ) from error
    event.listen(engine, "connect", _ask_small_questions)
    return engine, name


def _ask_small_questions(connection: Any, record: object) -> None:
    connection.execute(_SMALL_QUESTIONS)
    connection.commit()


def _sqlite(path: Path, create: bool, busy_seconds: float, option: str) -> tuple[Engine, str]:
    try:
        path = path.expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: no user of that name has a home folder here") from error
    name = str(path)
    _check_file(path, create, option)
    # Where SQLite has its -wal, which an archived one lacks.
    file = real_path(path)
    read_only = file.exists() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))
    if read_only and create:
        raise StoreError(f"the database {name} {NOT_WRITABLE}")
    query = _read_only_query(file) if read_only else ""
    uri = file.as_uri() + query

    connections: WeakSet[_File] = WeakSet()

    def open_file() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=busy_seconds, isolation_level=None, factory=_File
        )
        connections.add(connection)
        _configure(connection, read_only, busy_seconds)
        if not read_only:
            _WRITTEN.setdefault(engine, (file, file.stat()))
        return connection

    def close_files(_: Engine) -> None:
        # Also one that was in use when a signal came: the pool doesn't have that.
        while connections:
            connections.pop().close()

    engine = create_engine("sqlite://", creator=open_file, poolclass=QueuePool, pool_size=1)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "engine_disposed", close_files)
    if query == _IMMUTABLE:
        _ARCHIVED[engine] = file, _version(file)
    return engine, name


@contextmanager
def unchanged(engine: Engine, database: str) -> Iterator[None]:
    """Raise StoreError if what is read inside without a lock was written to: it's of two moments.

    Such a file looks damaged, too.
    """
    try:
        yield
    finally:
        file, version = _ARCHIVED.get(engine, (None, ()))
        if file is not None and _version(file) != version:
            raise StoreError(
                f"the database {database} was written to by somebody else while it was read here, "
                "where nothing may be written: call the command again"
            )


def check_in_place(engine: Engine, database: str) -> None:
    """Raise LostDatabaseError where the file that is written to is no longer the one of that name.

    SQLite writes to what was deleted, without an error, as long as it has it open.
    """
    if engine not in _WRITTEN:
        return
    file, opened = _WRITTEN[engine]
    try:
        if os.path.samestat(file.stat(), opened):
            return
    except FileNotFoundError:
        pass
    raise LostDatabaseError(
        f"the database {database} was deleted, moved or replaced by somebody else while it was "
        "written to here: what was stored in it meanwhile went with it; if it was moved, put it "
        "back, else restore a backup, and call the command again"
    )


def _version(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_file(path: Path, create: bool, option: str) -> None:
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a file, such as {path / 'railgauge.db'}")
        if not _exists(path):
            _check_missing(path, create, option)
            return
        if not path.is_file():
            raise InputError(f"{path} is not a regular file: pass another {option}")
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"the database {path} cannot be read: {reason}") from error
    if not start and not create:
        raise NoDatabaseError(
            f"the database {path} is empty: run a plan first or pass another {option}"
        )
    if start and start != _MAGIC:
        raise InputError(f"{path} is not a SQLite database: pass another {option}")


def _exists(path: Path) -> bool:
    """Return whether it is; OSError where the system can't say, as of a link to itself."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _check_missing(path: Path, create: bool, option: str) -> None:
    if not create:
        raise NoDatabaseError(
            f"there is no database at {path}: run a plan first or pass another {option}"
        )
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"the folder {path.parent} does not exist: create it, or pass another {option}"
        )


def _read_only_query(path: Path) -> str:
    """Return the URI's end for an archived database, which no writer has open."""
    # SQLite can't make a WAL's index in a folder we may not write to; without a WAL it needs none.
    archived = not Path(f"{path}-wal").exists()
    return _IMMUTABLE if archived else "?mode=ro"


def _configure(connection: sqlite3.Connection, read_only: bool, busy_seconds: float) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -32768")  # 32 MiB
    if read_only:
        return
    _log_ahead(connection, busy_seconds)
    # FULL syncs the log at each commit, so that not even a power cut takes a stored replication.
    # Measured: 0.06 ms a commit on an NVMe-backed VM, against 0.01 ms with NORMAL; a replication
    # takes a second or so, which leaves room for the 5 ms of a slower disk too.
    connection.execute("PRAGMA synchronous = FULL")


def _log_ahead(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Have the database log ahead; SQLite itself doesn't wait for others that are making it."""
    limit = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() >= limit:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Any) -> None:
    # The driver is in autocommit mode. A writer takes the lock at once: a reader that becomes
    # a writer halfway would fail without waiting.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
