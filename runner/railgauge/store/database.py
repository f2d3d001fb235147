"""An open database: transactions on it, and which of its runs are ours to measure."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from railgauge.base.errors import InputError, RailgaugeError, StoreError
from railgauge.store import read
from railgauge.store.checksums import refuse_changed
from railgauge.store.claim import AdvisoryClaim, claim_file
from railgauge.store.damage import check_contents, check_pages, is_large
from railgauge.store.database_url import check_in_place, connect, unchanged
from railgauge.store.explain import BUSY_SECONDS, explained, is_deadlock, is_lost, is_starting
from railgauge.store.migrate import migrate
from railgauge.store.records import USUAL_DATABASE
from railgauge.store.run_checksums import refuse_changed_runs

# Values that are compared with their checksums whenever a file is opened: some 50 ms.
_COMPARED = 20_000
# Whose claim stands for the whole database.
_NO_RUN = 0
# Of an SQLite file's pages, for who measures.
_WRITERS_KIB = 512
# Between two looks for a server that went away, in seconds.
_PAUSE = 0.2
# Seconds after which a server is asked whether a claim is still there.
_CLAIM_CHECK = 1.0
# A change that a server goes away at so often is what it goes away for.
_MOST_TRIES = 10
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Database:
    """An open database, SQLite or PostgreSQL. To be used by one thread, and closed.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: Engine, name: str, busy_seconds: float) -> None:
        self.name = name
        self._busy_seconds = busy_seconds
        self._engine = engine
        self._preparation: Callable[[], None] | None = None
        # A server that never answered has another name, or is not there, unless it is starting.
        self._answered = False
        self._say: Callable[[str], None] | None = None
        self._claims: list[AdvisoryClaim] = []
        # The connection that last stored something under a claim, and when that was looked at.
        self._writer: object = None
        self._claims_checked = 0.0

    @classmethod
    def open(
        cls,
        where: str,
        *,
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
        check: bool = True,
        option: str = "--db",
        when_needed: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> Self:
        """Open the database at a path or URL, make it if it's missing, migrate it if it's old.

        Without `create` a missing one is an InputError, and one that may not be written to
        (an archived file) is opened for reading. `busy_seconds` is how long to wait for another
        program that is writing to the same SQLite file. StoreError for an SQLite file that is
        damaged where values are read from, or with replications that have changed (looked for in
        small files), unless it is not to be `check`ed. `option` is what the user named it by. If
        `when_needed`, all of this is done at the first use: a mistake before leaves nothing behind.
        A server that is starting is waited for if there is somebody to `say` so to.
        """
        engine, name = connect(where, create=create, busy_seconds=busy_seconds, option=option)
        opened = cls(engine, name, busy_seconds)
        opened._say = say
        opened._preparation = partial(opened._prepare, create=create, check=check, option=option)
        if not when_needed:
            try:
                opened._prepare_once()
            except BaseException:
                opened.close()
                raise
        return opened

    def command(self, words: str) -> str:
        """Return what to type so that railgauge does this with this database: `resume 3`.

        For who measures; what is published is the same wherever the database is.
        """
        usual = os.environ.get("RAILGAUGE_DB", USUAL_DATABASE)
        option = "" if self.name == usual else f" --db {shlex.quote(self.name)}"
        return f"railgauge {words}{option}"

    def _prepare_once(self) -> None:
        """Prepare the database, if that wasn't done yet."""
        preparation, self._preparation = self._preparation, None
        if preparation is not None:
            self.patiently(preparation)

    def _prepare(self, *, create: bool, check: bool, option: str) -> None:
        """Make or migrate the database, and check it; see `open`."""
        if check:
            with self.reading() as connection:
                check_pages(connection, self.name)
        with self._explained():
            migrate(self._engine, self.name, create=create, option=option)
        self._answered = True
        if check and self._engine.dialect.name == "sqlite":
            with self.reading() as connection:
                if not is_large(connection):
                    refuse_changed(connection, self.name, _COMPARED)
                    refuse_changed_runs(connection, self.name, _COMPARED)

    def close(self) -> None:
        """Close the database; SQLite's log is written back into the file."""
        with self._explained():
            self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            # What can't be understood was either stored by a railgauge with a bug, or never.
            is_unforeseen = not isinstance(error, RailgaugeError | OSError)
            if isinstance(error, Exception) and is_unforeseen and self._preparation is None:
                self.check()
        finally:
            self.close()

    def check(self, *, checksums: bool = True) -> None:
        """Raise StoreError if an SQLite file is damaged anywhere, or holds what was never stored.

        For who reads all of it, as this takes two to three times as long as the check at opening.
        Without `checksums` replications and runs that have changed pass.
        """
        with self.reading() as connection:
            check_contents(connection, self.name)
            if checksums:
                refuse_changed(connection, self.name)
                refuse_changed_runs(connection, self.name)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give one consistent view of the database, whatever is written meanwhile."""
        with (
            unchanged(self._engine, self.name),
            self._explained(),
            self._connect() as connection,
        ):
            if connection.dialect.name == "postgresql":
                # SQLite's transactions are that of themselves.
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction: all that is done inside is stored, or nothing."""
        with (
            self._explained(),
            self._connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection
        check_in_place(self._engine, self.name)

    def transact(
        self,
        change: Callable[[Connection], _T],
        is_stored: Callable[[Connection], bool] = lambda _: False,
        *,
        is_own: bool = False,
    ) -> _T:
        """Return what `change` does in a transaction, also if the server goes away meanwhile.

        A server that went away is waited for, as another writer of an SQLite file is, by who has
        a claim or changes what nobody else does (`is_own`). Then, or where the server undid it for
        another writer (a deadlock), the change is made again unless `is_stored` finds it, which a
        change that may be made twice doesn't need; ten times at most. InputError when another
        process took a run that was claimed.
        """
        results: list[_T] = []

        def attempt() -> _T:
            with self.writing() as connection:
                self._keep_claims(connection)
                if not (results and is_stored(connection)):
                    results[:] = [change(connection)]
            return results[0]

        # Others can be sure of nothing: somebody else may have stored the same meanwhile.
        return self.patiently(attempt, waits=is_own or bool(self._claims))

    def patiently(self, attempt: Callable[[], _T], *, waits: bool = True) -> _T:
        """Return what `attempt` does, made again if the server goes away meanwhile, as `transact`.

        With `waits` a server that went away is waited for, if it ever answered or is starting.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return attempt()
            except StoreError as error:
                if tries == _MOST_TRIES:
                    raise
                if is_deadlock(error):
                    continue
                if not (waits and (self._answered or self._say) and is_lost(error)):
                    raise
                self._await_server(error)

    def _keep_claims(self, connection: Connection) -> None:
        """Take the claims again that the server lost; InputError if another process was faster.

        It loses them without an error here: with sessions that the pool replaced, or with theirs
        alone, which is asked from time to time.
        """
        if not self._claims:
            return
        writer, now = connection.connection.driver_connection, time.monotonic()
        if writer is not self._writer or now - self._claims_checked >= _CLAIM_CHECK:
            for claim in self._claims:
                claim.renew()
            self._writer, self._claims_checked = writer, now

    def _await_server(self, lost: StoreError) -> None:
        """Return when the server answers and the claims are ours again; else raise StoreError."""
        limit = time.monotonic() + self._busy_seconds
        while True:
            # Before it's tried again: what it says to one it takes connections from is its answer.
            comes = self._answered or is_starting(lost)
            try:
                self._engine.connect().close()
                for claim in self._claims:
                    claim.renew()
            except DBAPIError as error:
                if not comes or not is_lost(error) or time.monotonic() >= limit:
                    with self._explained():
                        raise
            else:
                return
            if self._say and not self._answered:
                self._say(f"waiting for the database {self.name}: its server isn't ready yet")
                self._say = _silent
            time.sleep(_PAUSE)

    def _connect(self) -> Connection:
        """Return a connection, waiting for a server that was there before."""
        self._prepare_once()
        limit = time.monotonic() + (self._busy_seconds if self._answered else 0.0)
        while True:
            try:
                return self._engine.connect()
            except DBAPIError as error:
                if not is_lost(error) or time.monotonic() >= limit:
                    raise
            time.sleep(_PAUSE)

    @contextmanager
    def claim(self, run_id: int) -> Iterator[None]:
        """Have the run for this process alone while inside; InputError when another one has it.

        Only claims exclude each other: whoever measures a run or goes on with one takes it. A claim
        ends with its process, however that ends.
        """
        with ExitStack() as claimed:

            def take() -> None:
                with self.reading() as connection:
                    read.find_run(connection, run_id)
                with self._explained():
                    claimed.enter_context(self._claim(run_id))

            # Errors of what is done inside are not the claim's to explain.
            self.patiently(take)
            yield

    def _claim(self, run_id: int) -> AbstractContextManager[None]:
        if self._engine.dialect.name == "sqlite":
            return claim_file(self.name, run_id)
        return self._claim_advisory(run_id)

    def keep_few_pages(self) -> None:
        """Keep few of an SQLite file's pages: who adds rows for days needs none that are full."""
        if self._engine.dialect.name == "sqlite":
            with self._explained(), self._connect() as connection:
                connection.exec_driver_sql(f"PRAGMA cache_size = -{_WRITERS_KIB}")

    def vacuum(self, tables: Iterable[str]) -> None:
        """Give back the space of deleted rows: of an SQLite file; on a server, of these tables."""
        with self._explained(), self._connect() as connection:
            if self._engine.dialect.name == "sqlite":
                # Beside SQLAlchemy's transaction, which there may be none around it.
                driver = connection.connection.driver_connection
                assert driver is not None
                driver.execute("VACUUM")
            else:
                autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
                autocommit.exec_driver_sql(f"VACUUM (ANALYZE) {', '.join(sorted(tables))}")

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Wait for whoever is inside already, in any process: two copies would meet."""
        with ExitStack() as claimed:
            while True:
                try:
                    with self._explained():
                        claimed.enter_context(self._claim(_NO_RUN))
                except InputError:
                    time.sleep(_PAUSE)
                else:
                    break
            yield

    @contextmanager
    def _claim_advisory(self, run_id: int) -> Iterator[None]:
        with AdvisoryClaim(self._engine, run_id) as claim:
            self._claims.append(claim)
            try:
                yield
            finally:
                self._claims.remove(claim)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.name, self._busy_seconds)


def _silent(_: str) -> None:
    """Say it no more than once."""


def reading(
    query: Callable[Concatenate[Connection, _P], _T],
) -> Callable[Concatenate[Database, _P], _T]:
    """Return the query as a method of a database, with one consistent view of it.

    It is made again where the server goes away meanwhile.
    """

    @wraps(query)
    def method(database: Database, /, *args: _P.args, **options: _P.kwargs) -> _T:
        def attempt() -> _T:
            with database.reading() as connection:
                return query(connection, *args, **options)

        return database.patiently(attempt)

    return method


def writing(
    change: Callable[Concatenate[Connection, _P], _T],
) -> Callable[Concatenate[Database, _P], _T]:
    """Return the change as a method of a database, in a transaction of its own."""

    @wraps(change)
    def method(database: Database, /, *args: _P.args, **options: _P.kwargs) -> _T:
        return database.transact(lambda connection: change(connection, *args, **options))

    return method
