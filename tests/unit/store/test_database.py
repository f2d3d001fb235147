"""Opening databases: new, old, foreign, damaged, read-only, shared, full, killed."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, select, text
from tests.support.copy_samples import stored_links
from tests.support.postgres_lab import make_database
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    RUN,
    case,
    connected,
    execute,
    measured,
    planned,
    script,
)

from railgauge.base.errors import InputError, LostDatabaseError, StoreError
from railgauge.store import Store
from railgauge.store.database_url import connect
from railgauge.store.migrate import VERSION_TABLE, revisions
from railgauge.store.models import Base, Measurement
from railgauge.store.read import fetch

WRITER = """
import sys
from tests.support.store_samples import *
from railgauge.store import Store
store = Store.open(sys.argv[1])
run, last = int(sys.argv[2]), int(sys.argv[3])
for number in range(1, last + 1):
    store.add(run, "stream", case().key, measured(number, number), LAUNCH)
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "railgauge.db"


def begin(where: Path | str) -> int:
    with Store.open(str(where)) as store:
        return store.begin_run(RUN, planned(case(), replications=1000), METRICS)


def test_the_migrations_make_what_the_models_say(without_schema: str) -> None:
    Store.open(without_schema).close()
    with connected(without_schema) as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == revisions()[-1]
        # Which alembic doesn't compare.
        where = f"{connection.dialect.name}_where"
        conditions = {
            index["name"]: str(index["dialect_options"][where])
            for indexes in inspect(connection).get_multi_indexes().values()
            for index in indexes
            if where in index.get("dialect_options", {})
        }
    # PostgreSQL writes (status <> 'ok'::text).
    assert {name: text.strip("()").split("::")[0] for name, text in conditions.items()} == {
        str(index.name): str(index.dialect_options["sqlite"]["where"])
        for table in Base.metadata.tables.values()
        for index in table.indexes
        if index.dialect_options["sqlite"]["where"] is not None
    }


def test_opening_an_up_to_date_database_needs_no_migration_tool(path: Path) -> None:
    Store.open(str(path)).close()
    body = (
        "import sys; from railgauge.store import Store\n"
        "Store.open(sys.argv[1]).close(); print('alembic' in sys.modules)"
    )
    command = [sys.executable, "-c", body, str(path)]
    assert subprocess.check_output(command, text=True) == "False\n"


def test_a_database_of_a_newer_railgauge_is_refused(where: str) -> None:
    Store.open(where).close()
    execute(where, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(InputError, match=r"newer railgauge \(schema 9999.*upgrade railgauge"):
        Store.open(where)


def test_another_programs_database_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="another program's database"):
        Store.open(str(path))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    connection.close()
    assert len(path.read_bytes()) == len(before)


@pytest.mark.parametrize("content", [b"railgauge: 1\nname: a plan\n", b"x", b"SQLite format 2\0"])
def test_a_file_that_is_no_database_is_refused_and_not_touched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for create in (True, False):
        with pytest.raises(InputError, match="is not a SQLite database"):
            Store.open(str(path), create=create)
    assert path.read_bytes() == content


def test_a_damaged_database_is_told(path: Path) -> None:
    run = begin(path)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * len(data[4096:])
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"is damaged: copy the file away"):
        Store.open(str(path)).run(run)


def test_facts_of_a_large_file_are_looked_at_by_a_check_alone(path: Path) -> None:
    run = begin(path)
    with Store.open(str(path)) as store:
        store.add_facts(run, "gw1", {"kernel": "6.1"})
        with store.writing() as connection:
            connection.execute(text("UPDATE run SET plan_text = printf('%.*c', 33 << 20, 'x')"))
            query = text("SELECT rootpage FROM sqlite_master WHERE name = 'host_fact'")
            page = connection.execute(query).scalar_one()
    with path.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    with Store.open(str(path)) as store:
        assert [summary.id for summary in store.runs()] == [run]
        with pytest.raises(StoreError, match="is damaged"):
            store.check()


def test_reading_a_missing_database_does_not_make_one(path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no database at .*: run a plan first or pass another --db"
    ):
        Store.open(str(path), create=False)
    assert not path.exists()


def test_reading_an_empty_database_does_not_fill_it(postgres: Path, path: Path) -> None:
    from tests.support.postgres_lab import make_database

    path.touch()
    for where in (str(path), make_database(postgres, "test_empty")):
        with pytest.raises(InputError, match="is empty: run a plan first or pass another --db"):
            Store.open(where, create=False)
    assert path.stat().st_size == 0


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    assert begin(path) == 1


def test_a_folder_or_device_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder: name a file, such as .*railgauge.db"):
        Store.open(str(tmp_path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="not a regular file"):
        Store.open(str(tmp_path / "fifo"))


def test_a_home_folder_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match=r"^~nobody-of-that-name/a\.db: no user of that name"):
        Store.open("~nobody-of-that-name/a.db")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder .*results does not exist: create it"):
        Store.open(str(tmp_path / "results" / "railgauge.db"))


def test_a_name_that_no_disk_takes_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="File name too long"):
        Store.open(str(tmp_path / ("x" * 300)))


@pytest.mark.parametrize("name", ["a?b#c%20 d.db", "gw→hh.db", "it's;.db", "file:x.db"])
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    run = begin(path)
    assert path.is_file()
    with Store.open(f"sqlite:///{path}".replace("?", "%3F").replace("#", "%23")) as store:
        if "%" not in name:
            assert store.run(run).new == RUN


def test_a_relative_path_stands_where_the_user_is(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        begin(Path("here.db"))
    assert (tmp_path / "here.db").is_file()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://root@localhost/x", "'mysql' is not a database railgauge knows"),
        ("sqlite://", "would lose what is measured"),
        ("sqlite:///:memory:", "would lose what is measured"),
        ("postgresql://user@host:port/x", "URL cannot be understood"),
        ("://", "URL cannot be understood"),
    ],
)
def test_a_wrong_url_is_the_users_mistake(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Store.open(url)


def test_an_unreachable_server_is_told_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        Store.open("postgresql://me:secret@127.0.0.1:1/results")
    assert "postgresql://me:***@127.0.0.1:1/results" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_servers_database_of_any_encoding_can_be_used_or_says_why_not(postgres: Path) -> None:
    # What a server that was set up without a locale makes.
    with Store.open(make_database(postgres, "ascii", encoding="SQL_ASCII")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        assert store.all_cases()[case().key].link == case().link == "gw→hh"
        assert store.checksums().changed == ()
    with (
        Store.open(make_database(postgres, "latin1", encoding="LATIN1")) as store,
        pytest.raises(StoreError, match="its encoding isn't UTF8: name another one, made"),
    ):
        store.begin_run(RUN, planned(case()), METRICS)


def test_a_server_neither_compiles_a_question_nor_scans_whole_tables_for_it(postgres: Path) -> None:
    """It expects so many rows of a run that it would, and took five times as long."""
    with Store.open(make_database(postgres, "small_questions")) as store:
        store.runs()
        for open_connection in (store.reading, store.writing):
            with open_connection() as connection:
                query = "SELECT current_setting('jit'), current_setting('{}')"
                query = query.format("max_parallel_workers_per_gather")
                assert tuple(connection.execute(text(query)).one()) == ("off", "0")


def test_a_server_that_hides_its_settings_is_asked_like_any_other(postgres: Path) -> None:
    where = make_database(postgres, "hidden_settings")
    with Store.open(where) as store:
        store.begin_run(RUN, planned(case()), METRICS)
        with store.writing() as connection:
            connection.execute(text("REVOKE ALL ON pg_settings FROM PUBLIC"))
            connection.execute(text("CREATE ROLE guest LOGIN"))
            connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest"))
    with Store.open(where.replace("railgauge@", "guest@"), create=False) as store:
        assert len(store.runs()) == 1


def test_a_lock_held_by_another_program_is_told(path: Path) -> None:
    run = begin(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store.open(str(path), busy_seconds=0.25) as store:
        with pytest.raises(StoreError, match=r"is locked: .* for 0.25 s; .*try again"):
            store.finish_run(run, "complete")
        other.execute("ROLLBACK")
        store.finish_run(run, "complete")
    other.close()


def test_who_opens_a_database_that_another_is_just_making_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked"):
        Store.open(str(path), busy_seconds=0.1)
    letting_go = threading.Timer(0.3, other.execute, ["ROLLBACK"])
    letting_go.start()
    with Store.open(str(path)) as store:
        assert store.runs() == []
    letting_go.join()
    other.close()


def test_a_writer_that_is_killed_loses_nothing_it_had_stored(path: Path) -> None:
    run = begin(path)
    writer = script(WRITER, path, run, 100_000)
    assert writer.stdout is not None
    stored = [int(writer.stdout.readline()) for _ in range(300)]
    writer.send_signal(signal.SIGKILL)
    stored += [int(line) for line in writer.stdout.read().splitlines()]
    writer.wait()
    with Store.open(str(path), create=False) as store:
        numbers = store.replication_numbers(run)["stream", case().key]
        # The last one may have been stored and not yet been printed.
        assert set(stored) <= numbers <= {*stored, stored[-1] + 1}
        (series,) = store.series([run], ["throughput"])
        assert series.values.tolist() == sorted(numbers)
        store.add(run, "stream", case().key, measured(max(numbers) + 1), LAUNCH)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


READER = """
import sys
from railgauge.store import Store
store = Store.open(sys.argv[1], create=False)
run, last, before = int(sys.argv[2]), int(sys.argv[3]), 0
while before < last:
    series = store.series([run])
    if series:
        sizes = {len(each.values) for each in series}
        assert len(sizes) == 1, "half a replication was seen"
        assert before <= min(sizes), "a stored replication went away"
        before = min(sizes)
print(before)
"""


def test_two_processes_read_while_one_writes(where: str) -> None:
    run = begin(where)
    readers = [script(READER, where, run, 150) for _ in range(2)]
    writer = script(WRITER, where, run, 150)
    writer.communicate()
    assert [reader.communicate()[0] for reader in readers] == ["150\n", "150\n"]


def test_processes_that_make_the_same_database_at_once_all_get_it(without_schema: str) -> None:
    body = (
        "import sys; from tests.support.store_samples import *; from railgauge.store import Store\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    store.begin_run(RUN, planned(*(case(size) for size in range(200))), METRICS)"
    )
    makers = [script(body, without_schema) for _ in range(4)]
    assert [maker.wait() for maker in makers] == [0] * 4
    with Store.open(without_schema, create=False) as store:
        assert sorted(run.id for run in store.runs()) == [1, 2, 3, 4]


@pytest.mark.parametrize("event", ["deleted", "moved", "replaced"])
def test_a_database_that_goes_while_it_is_written_to_is_told(path: Path, event: str) -> None:
    run = begin(path)
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    with Store.open(str(path)) as store:
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        match event:
            case "deleted":
                path.unlink()
            case "moved":
                path.rename(path.with_suffix(".old"))
            case _:
                copy.replace(path)
        with pytest.raises(LostDatabaseError, match="was deleted, moved or replaced"):
            store.add(run, "stream", case().key, measured(2), LAUNCH)


@pytest.fixture
def small_disk(tmp_path: Path, require: Callable[[object, str], None]) -> Iterator[Path]:
    """Mount a disk of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    require(os.geteuid() == 0, "root, to mount a tmpfs")
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    require(subprocess.run(mounted).returncode == 0, "the right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_what_was_stored_stays(small_disk: Path) -> None:
    path = small_disk / "railgauge.db"
    run = begin(path)
    with Store.open(str(path)) as store:
        stored = 0
        with pytest.raises(StoreError, match=r"disk .*full"):
            for number in range(1, 100_000):
                store.add(run, "stream", case().key, measured(number), LAUNCH)
                stored = number
        assert stored > 10
        assert store.replication_numbers(run) == {("stream", case().key): set(range(1, stored + 1))}


def test_a_full_disk_is_told_when_the_database_is_made(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(1012 * 1024))
    with pytest.raises(StoreError, match=r"disk .*full"):
        Store.open(str(small_disk / "railgauge.db"))


def test_an_archived_database_can_be_read_where_nothing_may_be_written(small_disk: Path) -> None:
    path = small_disk / "railgauge.db"
    run = begin(path)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Store.open(str(path), create=False) as store:
        assert store.run(run).new == RUN
        with pytest.raises(StoreError, match="is not writable"):
            store.finish_run(run, "complete")
    with pytest.raises(StoreError, match="is not writable"):
        Store.open(str(path))
    with pytest.raises(StoreError, match="cannot be opened or created"):
        Store.open(str(small_disk / "new.db"))


def test_a_link_to_a_database_that_may_only_be_read_shows_what_its_log_has(
    small_disk: Path, tmp_path: Path
) -> None:
    path = tmp_path / "railgauge.db"
    run = begin(path)
    with Store.open(str(path)) as store:
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        # As after a kill.
        for file in path.parent.glob("railgauge.db*"):
            shutil.copy(file, small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    link = tmp_path / "link.db"
    link.symlink_to(small_disk / path.name)
    for name in (link, link.resolve()):
        with Store.open(str(name), create=False) as store:
            assert store.replication_numbers(run) == {("stream", case().key): {1}}


def test_who_may_only_read_is_told_of_what_is_written_meanwhile(
    small_disk: Path, tmp_path: Path
) -> None:
    path = small_disk / "railgauge.db"
    run = begin(path)
    view = tmp_path / "view"
    view.mkdir()
    subprocess.run(["mount", "--bind", str(small_disk), str(view)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(view)], check=True)
        reader = Store.open(str(view / path.name), create=False)
        with (
            pytest.raises(StoreError, match="written to by somebody else"),
            reader.reading(),
            Store.open(str(path)) as store,
        ):
            store.add(run, "stream", case().key, measured(1), LAUNCH)
        with pytest.raises(StoreError, match=r"written to by somebody else .* command again"):
            reader.replication_numbers(run)
        reader.close()
        with Store.open(str(view / path.name), create=False) as again:
            assert again.replication_numbers(run) == {("stream", case().key): {1}}
    finally:
        subprocess.run(["umount", str(view)], check=True)


def test_the_view_needs_nothing_but_sqlite(path: Path) -> None:
    run = begin(path)
    with Store.open(str(path)) as store:
        store.add(run, "stream", case().key, measured(1, 5.0), LAUNCH)
        # While the store is still open, as somebody who looks at a run that goes on would.
        connection = sqlite3.connect(path)
        mean = "SELECT avg(value) FROM measurement WHERE run = ? AND metric = 'throughput'"
        assert connection.execute(mean, (run,)).fetchone() == (5.0,)
        size = "SELECT json_extract(parameters, '$.datagram') FROM measurement LIMIT 1"
        assert connection.execute(size).fetchone() == (1460,)
        connection.close()


def test_closing_leaves_no_file_though_a_reader_was_stopped_in_the_middle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        stored_links(store)
    engine, _ = connect(str(tmp_path / "a.db"), create=False)
    connection = engine.connect()
    values = iter(fetch(connection, select(Measurement.value)))
    next(values)
    engine.dispose()
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]
    # They refer to the statement until here.
    del values, connection
    gc.collect()
    assert capsys.readouterr().err == ""
