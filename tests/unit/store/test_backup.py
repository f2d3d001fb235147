"""Backups of a database that others write to."""

from __future__ import annotations

import contextlib
import os
import pwd
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.copy_samples import contents, fill
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store
from railgauge.store.backup import backup


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(str(tmp_path / "railgauge.db"))
    run = store.begin_run(RUN, planned(case(), replications=3), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    return store


def test_a_backup_while_a_run_writes_has_what_was_stored(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    # Its log isn't in the file yet, and a transaction is open.
    with store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM value")
        size = backup(store.name, target)
        connection.rollback()
    assert target.stat().st_size == size
    assert sorted(file.name for file in tmp_path.glob("*backup*")) == ["backup.db"]
    store.add(1, "stream", case().key, measured(2), LAUNCH)
    store.close()
    with Store.open(str(target), create=False) as copied:
        assert copied.replication_numbers(1) == {("stream", case().key): {1}}
        assert [series.values.tolist() for series in copied.series([1])] == [[1e9], [0.25]]


def test_a_database_that_one_may_only_read_is_backed_up(
    require: Callable[[object, str], None],
) -> None:
    require(os.geteuid() == 0, "root, to be another user")
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(prefix="railgauge-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder, "railgauge.db")
        own = Path(folder, "own")
        own.mkdir()
        os.chown(own, nobody.pw_uid, nobody.pw_gid)
        with Store.open(str(path)) as store:
            fill(store)
            expected = contents(store)
        # With all that a backup imports.
        backup(str(path), Path(folder, "backup.db"))
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setgid(nobody.pw_gid)
                os.setuid(nobody.pw_uid)
                backup(str(path), own / "backup.db")
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with Store.open(str(own / "backup.db")) as copied:
            assert contents(copied) == expected


def test_a_file_that_is_there_stays(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    target.write_text("mine")
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    for path in (target, tmp_path / "link.db"):
        with pytest.raises(InputError, match="exists already"):
            backup(store.name, path)
    assert target.read_text() == "mine"
    assert not (tmp_path / "elsewhere.db").exists()
    store.close()


def test_a_damaged_database_has_no_backup(store: Store, tmp_path: Path) -> None:
    store.close()
    connection = sqlite3.connect(store.name)
    with connection:
        connection.execute("UPDATE value SET value = 2e9 WHERE value > 1")
    connection.close()
    with pytest.raises(StoreError, match="not what was stored"):
        backup(store.name, tmp_path / "backup.db")
    assert os.listdir(tmp_path) == ["railgauge.db"]  # noqa: PTH208


def test_a_backup_that_cannot_be_written_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write the backup .*: No such file .*: check"):
        backup(store.name, tmp_path / "missing" / "backup.db")
    store.close()


def test_a_server_has_its_own_backups(postgres: Path) -> None:
    from tests.support.postgres_lab import make_database

    url = make_database(postgres, "test_backup")
    Store.open(url).close()
    with pytest.raises(InputError, match=r"back it up by pg_dump, or into a file by `railgauge"):
        backup(url, Path("backup.db"))
