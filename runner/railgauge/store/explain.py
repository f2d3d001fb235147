"""Turns the database drivers' exceptions into ours, with what to do about each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from railgauge.base.errors import StoreError

# How long a writer waits for another one, in seconds: longer than a backup or an export takes.
BUSY_SECONDS = 60

FULL = (
    "cannot grow: its disk is full; free some space (what was stored before is safe), "
    "then go on: a run with `railgauge resume`, all else by the same command"
)
DAMAGED = (
    "is damaged: copy the file away, then restore a backup, or save what can be read by "
    "`sqlite3 COPY .recover | sqlite3 NEW.db`, which may lack rows"
)
NOT_WRITABLE = (
    "is not writable: check the owner and permissions of the file and of its folder, "
    "or name another database"
)
# The start of SQLite's name for a failure -> what it means for the user.
_SQLITE = {
    "SQLITE_BUSY": (
        "is locked: another program has been writing to it for {busy_seconds:g} s; "
        "wait until that one is done (or end it), then try again"
    ),
    "SQLITE_FULL": FULL,
    "SQLITE_READONLY": NOT_WRITABLE,
    "SQLITE_CANTOPEN": (
        "cannot be opened or created: check the permissions of the file and of its folder, "
        "or name another database"
    ),
    "SQLITE_NOTADB": "is not a SQLite database; name another file",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_IOERR": "cannot be read or written: its disk failed or is full (see `dmesg`, `df`)",
    "SQLITE_TOOBIG": "refuses a text of more than a gigabyte",
}
# A server's code for a failure -> the same.
_POSTGRESQL = {
    "22P05": (
        "can't hold all characters, as its encoding isn't UTF8: name another one, made "
        "by CREATE DATABASE NAME ENCODING 'UTF8' TEMPLATE template0"
    ),
}
_DEADLOCK = "40P01"


@contextmanager
def explained(database: str, busy_seconds: float = BUSY_SECONDS) -> Iterator[None]:
    """Raise StoreError with a sentence about `database` for whatever a driver raises inside.

    `busy_seconds` is how long the driver has waited for other writers.
    """
    try:
        yield
    except IntegrityError as error:
        raise StoreError(
            f"the database {database} refuses a record that contradicts what it holds "
            f"({_first_line(error.orig or error)}); if another railgauge is measuring "
            "the same run, let only one of them go on"
        ) from error
    except DBAPIError as error:
        raise StoreError(_sentence(database, error.orig or error, busy_seconds)) from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise StoreError(_sentence(database, error, busy_seconds)) from error
    except UnicodeDecodeError as error:
        # SQLite's own message holds bytes of a damaged schema.
        raise StoreError(f"the database {database} {DAMAGED}") from error
    except OverflowError as error:
        raise StoreError(f"a number is too large for the database {database}: {error}") from error


def is_lost(error: BaseException | None) -> bool:
    """Return whether a server went away, or isn't ready yet: a driver's error, or ours of it."""
    driver_error = _driver_error(error)
    if driver_error is None or isinstance(driver_error.orig, sqlite3.Error):
        return False
    # 57P01 to 57P03: it was shut down, has crashed, is starting up. An error without a state is
    # that of a connection that could not be made.
    state = getattr(driver_error.orig, "sqlstate", None)
    return (
        driver_error.connection_invalidated
        or (state or "").startswith("57P")
        or (state is None and isinstance(driver_error, OperationalError))
    )


def is_starting(error: BaseException) -> bool:
    """Return whether a server that could not be connected to refuses everybody, or isn't there.

    It's asked again, as what it said may be in any language. Of a host's unknown name there is
    nobody to ask.
    """
    driver_error = _driver_error(error)
    refused = getattr(driver_error and driver_error.orig, "pgconn", None)
    if refused is None:
        return False
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import PGconn, Ping

    settings = {entry.keyword.decode(): entry.val.decode() for entry in refused.info if entry.val}
    answer = PGconn.ping(make_conninfo(**settings).encode())
    return answer in (Ping.REJECT, Ping.NO_RESPONSE)


def is_deadlock(error: BaseException) -> bool:
    """Return whether a server undid a transaction that waited for another, which waited for it."""
    return getattr(getattr(_driver_error(error), "orig", None), "sqlstate", None) == _DEADLOCK


def _driver_error(error: BaseException | None) -> DBAPIError | None:
    while error is not None and not isinstance(error, DBAPIError):
        error = error.__cause__
    return error


def _sentence(database: str, error: BaseException, busy_seconds: float) -> str:
    name = getattr(error, "sqlite_errorname", "")
    # The driver has no code for a text that is none.
    if str(error).startswith("Could not decode to UTF-8"):
        name = "SQLITE_CORRUPT"
    for start, meaning in _SQLITE.items():
        if name.startswith(start):
            return f"the database {database} {meaning.format(busy_seconds=busy_seconds)}"
    state = getattr(error, "sqlstate", None)
    if state in _POSTGRESQL:
        return f"the database {database} {_POSTGRESQL[state]}"
    return f"the database {database} failed: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
