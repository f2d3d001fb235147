"""A database server that goes away while a run is stored: nothing is lost, and nothing twice."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError
from tests.support.command_line import railgauge
from tests.support.postgres_lab import (
    kill_backends,
    make_database,
    postgres_folder,
    postgres_server,
    refusing_server,
)
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, logged, planned, system_log

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store

REPLICATIONS = 60
KILLS = 2
# PostgreSQL's codes.
CANNOT_CONNECT_NOW = "57P03"
INVALID_PASSWORD = "28P01"


@pytest.fixture
def own_server(postgres_data: Path) -> Iterator[Path]:
    """Give a server of one's own, as a killed backend ends every session of all databases."""
    binaries = postgres_folder()
    if binaries is None:
        pytest.skip("there is no PostgreSQL server")
    with postgres_server(binaries, postgres_data) as folder:
        yield folder


def test_killed_backends_cost_no_replication_and_no_claim(own_server: Path) -> None:
    where = make_database(own_server, "killed")
    stopped = threading.Event()
    kills: list[int] = []

    def killing() -> None:
        while not stopped.wait(0.05) and len(kills) < KILLS:
            if count := kill_backends(own_server, "killed"):
                kills.append(count)

    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case(), replications=10_000), METRICS)
        with store.claim(run):
            killer = threading.Thread(target=killing)
            killer.start()
            number = 0
            try:
                # As long as it takes on this machine to be killed so often.
                while number < REPLICATIONS or killer.is_alive():
                    number += 1
                    outcome = logged(number, system_log())
                    store.add(run, "stream", case().key, outcome, LAUNCH)
            finally:
                stopped.set()
                killer.join()
            # The last kill may have come after the last replication: the claim comes back with one.
            number += 1
            store.add(run, "stream", case().key, logged(number, system_log()), LAUNCH)
            with Store.open(where) as other, pytest.raises(InputError, match="is being measured"):
                other.claim(run).__enter__()
            store.finish_run(run, "interrupted")
        assert len(kills) == KILLS
        stored = store.replication_numbers(run)["stream", case().key]
        assert stored == set(range(1, number + 1))
        assert [stored_log.replication for stored_log in store.logs(run)] == sorted(stored)
        assert store.checksums().changed == ()
        assert store.run(run).state == "interrupted"


@contextmanager
def killed_at(store: Store, server: Path, words: str) -> Iterator[None]:
    """Kill the database's sessions just before the first statement that has these words."""
    kills: list[int] = []

    def kill(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        if not kills and words in statement:
            kills.append(kill_backends(server, "instants"))

    event.listen(store._engine, "before_cursor_execute", kill)
    try:
        yield
    finally:
        event.remove(store._engine, "before_cursor_execute", kill)
    assert kills != [0]
    assert kills, f"nothing said {words}"


def test_a_run_goes_on_whatever_a_backend_is_killed_at(own_server: Path) -> None:
    where, key = make_database(own_server, "instants"), ("stream", case().key)
    with Store.open(where) as store, ExitStack() as claimed:
        run = store.begin_run(RUN, planned(case()), METRICS)
        # Before there is a claim, as it is taken, and under it.
        for words in ("FROM run", "set_config", "pg_try_advisory_lock"):
            claimed.close()
            with killed_at(store, own_server, words):
                claimed.enter_context(store.claim(run))
        with killed_at(store, own_server, "UPDATE run_case"):
            store.skip_cases(run, {key: "no iperf3"})
        with killed_at(store, own_server, "FROM run"):
            assert store.run(run).cases[0].skipped == "no iperf3"
        with killed_at(store, own_server, "UPDATE run_case"):
            store.end_cases(run, {key: "narrow"})
        with killed_at(store, own_server, "FROM run"):
            assert store.replication_numbers(run) == {}
        assert store.run(run).cases[0].ended == "narrow"
        with Store.open(where) as other, pytest.raises(InputError, match="is being measured"):
            claimed.enter_context(other.claim(run))


@pytest.mark.parametrize("ended", ["all", "that of the claim"])
def test_a_claim_that_was_lost_between_two_replications_comes_back_with_the_next(
    postgres: Path, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    """Nothing fails: a pool replaces its dead connection by itself."""
    monkeypatch.setattr("railgauge.store.database._CLAIM_CHECK", 0.0)
    monkeypatch.setattr("railgauge.store.database._CLAIM_CHECK", 0.0)
    where = make_database(postgres, f"test_ended_{len(ended)}")
    with Store.open(where) as store, Store.open(where) as other:
        run = store.begin_run(RUN, planned(case()), METRICS)
        with store.claim(run):
            store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
            end_sessions(postgres, where, "" if ended == "all" else "AND locktype = 'advisory'")
            store.add(run, "stream", case().key, logged(2, system_log()), LAUNCH)
            with pytest.raises(InputError, match="is being measured"):
                other.claim(run).__enter__()
            end_sessions(postgres, where, "")
            with other.claim(run), pytest.raises(InputError, match="is being measured"):
                store.add(run, "stream", case().key, logged(3, system_log()), LAUNCH)
        assert store.replication_numbers(run) == {("stream", case().key): {1, 2}}


def test_a_claim_whose_server_has_not_noticed_that_its_connection_broke_comes_back(
    postgres: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a firewall that forgot the connection: the server goes on holding the claim."""
    monkeypatch.setattr("railgauge.store.database._CLAIM_CHECK", 0.0)
    where = make_database(postgres, "test_unnoticed")
    with Store.open(where) as store, Store.open(where) as other:
        run = store.begin_run(RUN, planned(case()), METRICS)
        with store.claim(run):
            (claim,) = store._claims
            assert claim._connection is not None
            driver = claim._connection.connection.dbapi_connection
            assert driver is not None
            with socket.socket(fileno=os.dup(driver.fileno())):
                near_end, far_end = socket.socketpair()
                far_end.close()
                with near_end:
                    os.dup2(near_end.fileno(), driver.fileno())
                store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
                with pytest.raises(InputError, match="is being measured"):
                    other.claim(run).__enter__()
        with other.claim(run):
            assert store.replication_numbers(run) == {("stream", case().key): {1}}


def end_sessions(server: Path, where: str, condition: str) -> None:
    """End the database's sessions that a condition on pg_locks leaves; return once they ended."""
    query = (
        "SELECT DISTINCT pg_terminate_backend(a.pid, 10000), a.pid FROM pg_stat_activity a "
        "LEFT JOIN pg_locks l ON l.pid = a.pid WHERE a.datname = %s AND a.pid <> pg_backend_pid() "
    )
    name = where.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(host=str(server), user="railgauge", dbname="postgres") as connection:
        ended = connection.execute(query + condition, [name]).fetchall()
    assert ended
    assert all(done for done, _ in ended)


@pytest.mark.parametrize("commits", [True, False])
def test_what_was_committed_when_the_server_went_away_is_not_stored_again(
    postgres: Path, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    original = Store.writing
    lost = [OperationalError("COMMIT", {}, psycopg.OperationalError("server closed"))]

    @contextmanager
    def writing(store: Store) -> Iterator[Connection]:
        with original(store) as connection:
            yield connection
            if lost and not commits:
                connection.rollback()
        if lost:
            raise StoreError("the server went away") from lost.pop()

    where = make_database(postgres, f"test_committed_{commits}".lower())
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        with store.claim(run):
            store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
            monkeypatch.setattr(Store, "writing", writing)
            store.add(run, "stream", case().key, logged(2, system_log()), LAUNCH)
            lost.append(OperationalError("COMMIT", {}, psycopg.OperationalError("closed")))
            store.add_logs(run, [system_log()])
        assert store.replication_numbers(run) == {("stream", case().key): {1, 2}}
        assert [stored_log.replication for stored_log in store.logs(run)] == [1, 2]
        assert len(store.run_logs(run)) == 1
    assert not lost


@pytest.mark.parametrize("commits", [True, False])
def test_a_run_begins_and_goes_on_once_while_its_server_goes_away(
    postgres: Path, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    original = Store.writing
    lost: list[OperationalError] = []

    @contextmanager
    def writing(store: Store) -> Iterator[Connection]:
        with original(store) as connection:
            yield connection
            if lost and not commits:
                connection.rollback()
        if lost:
            raise StoreError("the server went away") from lost.pop()

    where = make_database(postgres, f"test_begun_{commits}".lower())
    with Store.open(where) as store:
        monkeypatch.setattr(Store, "writing", writing)
        lost.append(OperationalError("COMMIT", {}, psycopg.OperationalError("server closed")))
        run = store.begin_run(RUN, planned(case()), METRICS)
        assert not lost
        assert list(store.run_ids()) == [run]
        with store.claim(run):
            store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
            store.finish_run(run, "interrupted")
        with store.claim(run):
            lost.append(OperationalError("COMMIT", {}, psycopg.OperationalError("closed")))
            store.reopen_run(run)
            assert not lost
            assert store.run(run).state == "unfinished"
            store.add(run, "stream", case().key, logged(2, system_log()), LAUNCH)
        assert store.replication_numbers(run) == {("stream", case().key): {1, 2}}


def test_what_a_server_undid_for_another_writer_is_stored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Store.writing
    deadlocks = [OperationalError("INSERT", {}, psycopg.errors.DeadlockDetected("deadlock"))]

    @contextmanager
    def writing(store: Store) -> Iterator[Connection]:
        with original(store) as connection:
            yield connection
            if deadlocks:
                raise StoreError("deadlock detected") from deadlocks.pop()

    with Store.open(str(tmp_path / "railgauge.db")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        monkeypatch.setattr(Store, "writing", writing)
        store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
        assert store.replication_numbers(run) == {("stream", case().key): {1}}
        assert [stored_log.replication for stored_log in store.logs(run)] == [1]
    assert not deadlocks


@pytest.mark.parametrize("answer", ["deadlock", "lost"])
def test_a_change_that_a_server_never_takes_is_an_error(
    postgres: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """As one that costs the server its process each time, for it needs more memory than it has."""
    kind = psycopg.errors.DeadlockDetected if answer == "deadlock" else psycopg.OperationalError
    tries: list[str] = []

    @contextmanager
    def writing(store: Store) -> Iterator[Connection]:
        tries.append(answer)
        assert len(tries) < 100
        raise StoreError("it ended") from OperationalError("INSERT", {}, kind("it ended"))
        yield

    with Store.open(make_database(postgres, f"test_never_{answer}")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        with store.claim(run), monkeypatch.context() as patch:
            patch.setattr(Store, "writing", writing)
            with pytest.raises(StoreError, match="it ended"):
                store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
        store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
    assert len(tries) > 1


def test_a_run_notices_that_its_servers_machine_is_gone(postgres: Path) -> None:
    """Who waits for an answer sends nothing: Linux would first ask after two hours."""
    with (
        Store.open(make_database(postgres, "test_keepalive")) as store,
        store.reading() as connection,
    ):
        driver = connection.connection.driver_connection
        assert driver is not None
        settings = driver.info.get_parameters()
    seconds = int(settings["keepalives_idle"])
    seconds += int(settings["keepalives_count"]) * int(settings["keepalives_interval"])
    assert seconds <= 60
    assert int(settings["tcp_user_timeout"]) <= 60_000


def test_a_server_that_is_not_there_yet_is_waited_for_when_a_run_opens_it(
    postgres: Path, tmp_path: Path
) -> None:
    where, lines = make_database(postgres, "test_not_there"), list[str]()

    def come(line: str) -> None:
        lines.append(line)
        folder.symlink_to(postgres)

    with TemporaryDirectory(prefix="railgauge-pg-") as name:
        folder = Path(name) / "later"
        where = where.replace(str(postgres), str(folder))
        with pytest.raises(StoreError, match="failed"):
            Store.open(where, say=lines.append, busy_seconds=0)
        with Store.open(where, say=come) as store:
            assert store.run_ids() == []
    assert len(lines) == 1


@pytest.mark.parametrize("wrong", ["database", "host"])
def test_what_a_server_will_go_on_refusing_ends_a_run_at_once(postgres: Path, wrong: str) -> None:
    lines: list[str] = []
    where = {
        "database": f"postgresql+psycopg://railgauge@/no-such?host={postgres}",
        "host": "postgresql+psycopg://railgauge@no-such-host.invalid/x",
    }[wrong]
    with pytest.raises(StoreError):
        Store.open(where, say=lines.append)
    assert lines == []


# The driver asks whether a server is ready without letting another thread run: of the process
# that does, no thread can stand for the server.
@pytest.mark.parametrize(
    ("command", "end", "code"),
    [
        (["resume", "latest"], "holds no run yet", 2),
        (["resume", "1"], "no run 1", 2),
        (["gate", "quickstart"], "there is no baseline 'quickstart'", 2),
        (["resume", "2"], "does not exist", 3),
    ],
)
def test_a_command_that_measures_waits_for_a_server_that_is_starting_and_says_so_once(
    postgres: Path, newest: str, command: list[str], end: str, code: int
) -> None:
    name = f"test_starting_{command[-1]}"
    if code == 2:
        make_database(postgres, name, newest)
    # Enough to be waited for twice.
    with refusing_server(postgres, CANNOT_CONNECT_NOW, 5) as folder:
        where = f"postgresql+psycopg://railgauge@/{name}?host={folder}"
        ended = railgauge(*command, "--db", where)
    assert ended.stderr.count("waiting for the database") == 1
    assert end in ended.stderr
    assert ended.returncode == code


@pytest.mark.parametrize(
    ("command", "code"), [("list", CANNOT_CONNECT_NOW), ("resume", INVALID_PASSWORD)]
)
def test_other_commands_and_other_refusals_end_at_once(
    postgres: Path, command: str, code: str
) -> None:
    with refusing_server(postgres, code, 1_000_000) as folder:
        where = f"postgresql+psycopg://railgauge@/x?host={folder}"
        ended = railgauge(command, *["1"] * (command == "resume"), "--db", where)
    assert ended.stderr.startswith("railgauge: the database postgresql")
    assert "waiting" not in ended.stderr
    assert ended.returncode == 3


def test_a_server_that_stays_away_is_an_error(own_server: Path) -> None:
    where = make_database(own_server, "away")
    with Store.open(where, busy_seconds=0.5) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        with pytest.raises(StoreError, match="failed"), store.claim(run):
            pid = int((own_server / "data" / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGINT)
            while (own_server / "data" / "postmaster.pid").exists():
                pass
            store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
