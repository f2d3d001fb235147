"""Who measures a run: at most one process at a time, and none once that process is dead."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self, TextIO

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from railgauge.base.errors import InputError, StoreError
from railgauge.store.explain import BUSY_SECONDS, FULL, NOT_WRITABLE

# The first half of PostgreSQL's key, any constant; the second is the run's id.
_ADVISORY_CLASS = 1_918_986_604
# The server asks a silent holder after 30 s and gives it up 30 s later, so that the claim of a
# controller that lost its power ends soon (Linux would first ask after two hours).
_KEEPALIVE = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}

# A server that hasn't noticed yet that its connection broke goes on holding the claim for it.
_END_LOST = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = :name AND pid <> pg_backend_pid()"
)
_PAUSE = 0.05

# Not through a link, as whoever may write to the folder would choose the file that is emptied; and
# no engine that is started goes on holding it.
_OPENED = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_MEANING = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EACCES: NOT_WRITABLE,
    errno.EPERM: NOT_WRITABLE,
    errno.EROFS: NOT_WRITABLE,
}


@contextlib.contextmanager
def claim_file(database: str, run_id: int) -> Iterator[None]:
    """Hold `DATABASE.run-ID.lock` beside the SQLite file; InputError while another holds it."""
    # One file for all the names (links) of one database.
    path = Path(f"{Path(database).resolve()}.run-{run_id}.lock")
    try:
        lock = _lock(path, run_id)
    except OSError as error:
        cannot = f"cannot be claimed for run {run_id}"
        meaning = _MEANING.get(
            error.errno or 0,
            f"{cannot} ({path}: {error.strerror}): keep it on a disk where files can be locked",
        )
        if error.errno == errno.ELOOP:
            meaning = f"{cannot}: a link is in place of its lock file: remove {path}"
        raise StoreError(f"the database {database} {meaning}") from error
    with lock:
        yield


def _lock(path: Path, run_id: int) -> contextlib.ExitStack:
    """Lock the file, with its holder's name in it, until that is closed.

    OSError, or InputError while it's held.
    """
    while True:
        with contextlib.ExitStack() as stack:
            number = os.open(path, _OPENED, 0o666)
            file = stack.enter_context(os.fdopen(number, "a+", encoding="utf-8", errors="replace"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise _claim_error(run_id, file.read(300).strip()) from None
            # The last holder may have removed this file since it was opened here.
            if _is_at(file, path):
                # While it's still locked: afterwards it may be the next holder's.
                stack.callback(_remove, path)
                file.truncate(0)
                file.write(f"process {os.getpid()} on host {socket.gethostname()}\n")
                file.flush()
                return stack.pop_all()


def _remove(path: Path) -> None:
    # One that stays behind is no claim either.
    with contextlib.suppress(OSError):
        path.unlink()


def _is_at(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


class AdvisoryClaim:
    """PostgreSQL's advisory lock for a run, held by a connection that does nothing else.

    Used as a context, which takes it and gives it back; InputError while another holds it.
    """

    def __init__(self, engine: Engine, run_id: int) -> None:
        self._engine = engine
        self._key = {"class": _ADVISORY_CLASS, "run": run_id}
        # By which the server's users, and we ourselves, know its sessions from all others.
        self._name = f"railgauge run {run_id} {secrets.token_hex(8)}"
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is None:
            return
        # The server notices a closed connection a little later; this is done when it returns.
        # Where the connection is lost, the claim is too.
        with contextlib.suppress(DBAPIError), self._connection as connection:
            connection.execute(text("SELECT pg_advisory_unlock(:class, :run)"), self._key)

    def renew(self) -> None:
        """Take it again if the server lost the connection; InputError if another was faster."""
        if self._connection is not None:
            try:
                self._connection.execute(text("SELECT 1"))
            except DBAPIError:
                # It would connect again by itself, without the lock.
                lost, self._connection = self._connection, None
                with contextlib.suppress(DBAPIError):
                    lost.close()
        if self._connection is None:
            self._take()

    def _take(self) -> None:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(self._engine.connect())
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            # Closed with the claim instead of going back to the pool, which would keep the lock.
            connection.detach()
            for name, value in {"application_name": self._name, **_KEEPALIVE}.items():
                connection.execute(
                    text("SELECT set_config(:name, :value, false)"),
                    {"name": name, "value": str(value)},
                )
            query = text("SELECT pg_try_advisory_lock(:class, :run)")
            limit = time.monotonic() + BUSY_SECONDS
            while True:
                # Looked for before: where there was none any more, what it had is free.
                lost = connection.execute(_END_LOST, {"name": self._name}).first()
                if connection.execute(query, self._key).scalar():
                    break
                if lost is None or time.monotonic() >= limit:
                    raise _claim_error(self._key["run"])
                time.sleep(_PAUSE)
            stack.pop_all()
            self._connection = connection


def _claim_error(run_id: int, holder: str = "") -> InputError:
    return InputError(
        f"run {run_id} is being measured now by {holder or 'another process'}: "
        "wait for it, or stop it first"
    )
