"""A run is measured by one process at a time, on SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.store_samples import METRICS, RUN, case, execute, planned, script

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store

# Holds a run until its standard input ends.
HOLDER = """
import sys
from railgauge.store import Store
with Store.open(sys.argv[1]) as store, store.claim(int(sys.argv[2])):
    print("claimed", flush=True)
    sys.stdin.read()
print("released", flush=True)
"""


def begin(where: str, runs: int = 1) -> list[int]:
    with Store.open(where) as store:
        return [store.begin_run(RUN, planned(case()), METRICS) for _ in range(runs)]


def holder(where: str, run: int) -> subprocess.Popen[str]:
    """Start a process that holds the run already when this returns."""
    process = script(HOLDER, where, run)
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process


@contextlib.contextmanager
def claim_left(store: Store, run: int) -> Iterator[None]:
    """Claim a run whose holder was killed: a server notices a little later that it is gone."""
    limit = time.monotonic() + (60 if store.name.startswith("postgresql") else 0)
    with contextlib.ExitStack() as claimed:
        while True:
            try:
                claimed.enter_context(store.claim(run))
                break
            except InputError:
                if time.monotonic() >= limit:
                    raise
                time.sleep(0.05)
        yield


def test_a_run_that_another_process_measures_is_refused_until_it_is_done(where: str) -> None:
    (run,) = begin(where)
    other = holder(where, run)
    with Store.open(where, create=False) as store:
        with pytest.raises(InputError) as caught, store.claim(run):
            raise AssertionError("claimed twice")
        assert str(caught.value).startswith(f"run {run} is being measured now by ")
        assert str(caught.value).endswith(": wait for it, or stop it first")
        assert other.communicate()[0] == "released\n"
        with store.claim(run):
            pass


def test_a_refusal_names_the_holder(tmp_path: Path) -> None:
    where = str(tmp_path / "railgauge.db")
    (run,) = begin(where)
    other = holder(where, run)
    named = f"by process {other.pid} on host {re.escape(socket.gethostname())}: wait"
    with (
        Store.open(where) as store,
        pytest.raises(InputError, match=named),
        store.claim(run),
    ):
        raise AssertionError("claimed twice")
    other.communicate()


def test_the_claim_of_a_killed_process_is_free_at_once(where: str) -> None:
    (run,) = begin(where)
    other = holder(where, run)
    other.kill()
    other.wait()
    with Store.open(where) as store, claim_left(store, run):
        # Also the dead one's name has gone.
        with (
            Store.open(where) as second,
            pytest.raises(InputError) as caught,
            second.claim(run),
        ):
            raise AssertionError("claimed twice")
        assert str(other.pid) not in str(caught.value)


def test_one_process_cannot_claim_a_run_twice(where: str) -> None:
    (run,) = begin(where)
    with Store.open(where) as store, store.claim(run):
        with pytest.raises(InputError, match="is being measured now"), store.claim(run):
            raise AssertionError("claimed twice")
        with pytest.raises(InputError, match="is being measured now"), store.claim(run):
            raise AssertionError("a refused claim released the one that holds")


def test_other_runs_of_the_database_are_free(where: str) -> None:
    first, second = begin(where, 2)
    with Store.open(where) as store, store.claim(first), store.claim(second):
        pass


def test_a_claim_does_not_keep_its_holder_or_others_from_storing(where: str) -> None:
    first, second = begin(where, 2)
    with Store.open(where) as store, store.claim(first):
        store.finish_run(first, "complete")
        with Store.open(where) as other:
            other.finish_run(second, "complete")
        assert [run.state for run in store.runs()] == ["complete", "complete"]


def test_a_claim_ends_with_an_error_inside_which_stays_what_it_is(where: str) -> None:
    (run,) = begin(where)
    with Store.open(where) as store:
        for error in (ValueError("mine"), KeyboardInterrupt()):
            with pytest.raises(type(error)) as caught, store.claim(run):
                raise error
            assert caught.value is error
        with store.claim(run):
            pass


def test_a_run_that_is_not_there_cannot_be_claimed(where: str) -> None:
    begin(where)
    with Store.open(where) as store:
        for run in (0, 2, 2**40):
            with pytest.raises(InputError, match=f"no run {run} "), store.claim(run):
                raise AssertionError("claimed nothing")


def test_a_program_that_outlives_the_holder_does_not_hold_on(where: str) -> None:
    (run,) = begin(where)
    with Store.open(where) as store:
        with store.claim(run):
            started = subprocess.Popen(
                [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
            )
        with store.claim(run):
            pass
    started.communicate(b"\n")


# A second holder would find the first one's mark. Without the database's work around it, many
# attempts fall between a holder's last two steps, the removal of the file and its release.
CLAIMER = """
import os, sys
from railgauge.base.errors import InputError
from railgauge.store.claim import claim_file
claimed = 0
while claimed < 500:
    try:
        with claim_file(sys.argv[1], 1):
            os.mkdir(sys.argv[2])
            os.rmdir(sys.argv[2])
            claimed += 1
    except InputError:
        pass
"""


def test_of_many_that_claim_at_once_only_one_at_a_time_gets_it(tmp_path: Path) -> None:
    claimers = [script(CLAIMER, tmp_path / "railgauge.db", tmp_path / "mark") for _ in range(4)]
    assert [claimer.wait() for claimer in claimers] == [0] * 4
    assert list(tmp_path.iterdir()) == []


def test_a_released_claim_leaves_no_file(tmp_path: Path) -> None:
    where = tmp_path / "railgauge.db"
    (run,) = begin(str(where))
    with Store.open(str(where)) as store:
        with store.claim(run):
            assert (tmp_path / f"railgauge.db.run-{run}.lock").exists()
        assert not list(tmp_path.glob("*.lock"))


def test_a_claim_that_the_disk_has_no_room_for_leaves_no_file(tmp_path: Path) -> None:
    where = tmp_path / "railgauge.db"
    (run,) = begin(str(where))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store.open(str(where)) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(StoreError, match="cannot be claimed"), store.claim(run):
                raise AssertionError("claimed without a lock")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not list(tmp_path.glob("*.lock"))
        with store.claim(run):
            pass


def test_two_names_of_one_database_are_one_claim(tmp_path: Path) -> None:
    (run,) = begin(str(tmp_path / "railgauge.db"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "link.db").symlink_to(tmp_path / "railgauge.db")
    with (
        Store.open(str(tmp_path / "railgauge.db")) as store,
        Store.open(str(elsewhere / "link.db")) as alias,
        store.claim(run),
        pytest.raises(InputError, match="is being measured now"),
        alias.claim(run),
    ):
        raise AssertionError("claimed twice")


def test_a_database_that_cannot_be_written_cannot_be_claimed(tmp_path: Path) -> None:
    where = str(tmp_path / "railgauge.db")
    (run,) = begin(where)
    # A folder stands where the lock would, as not even root can open that.
    lock = tmp_path / f"railgauge.db.run-{run}.lock"
    lock.mkdir()
    with (
        Store.open(where) as store,
        pytest.raises(StoreError, match=f"cannot be claimed for run {run} .*Is a directory"),
        store.claim(run),
    ):
        raise AssertionError("claimed without a lock")


def test_a_link_in_place_of_the_lock_costs_nobody_the_file_it_leads_to(tmp_path: Path) -> None:
    where = str(tmp_path / "railgauge.db")
    (run,) = begin(where)
    mine = tmp_path / "thesis.tex"
    mine.write_text("years of work")
    lock = tmp_path / f"railgauge.db.run-{run}.lock"
    lock.symlink_to(mine)
    with (
        Store.open(where) as store,
        pytest.raises(StoreError, match=f"a link is in place of its lock file: remove {lock}"),
        store.claim(run),
    ):
        raise AssertionError("claimed by another's file")
    assert mine.read_text() == "years of work"
    assert lock.is_symlink()


def test_a_server_that_ends_the_claim_does_not_end_the_run(postgres: Path) -> None:
    from tests.support.postgres_lab import make_database

    where = make_database(postgres, "test_claim_ended")
    (run,) = begin(where)
    with Store.open(where) as store:
        with store.claim(run):
            execute(
                where,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            store.finish_run(run, "complete")
        with store.claim(run):
            pass
        assert store.run(run).state == "complete"
