"""Old runs' logs, traces and series are deleted, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update
from tests.support.copy_samples import contents, fill, stored_links, told

from railgauge.base.errors import InputError
from railgauge.store import Store
from railgauge.store.copy_tables import TABLES, owned
from railgauge.store.models import Run, TraceRow
from railgauge.store.thinning import excess, give_back, thin

LATER = "9999"
GOES = {table.name for table in owned("log")} | {
    "log",
    "port_log",
    "port_counter_log",
    "trace",
    "series",
    "loss_run",
}


def rows(store: Store) -> dict[str, int]:
    return {name: sum(counts.values()) for name, counts in contents(store).items()}


def test_logs_and_traces_go_and_all_that_was_measured_stays(where: str) -> None:
    with Store.open(where) as store:
        runs = fill(store)
        before = contents(store)
        assert all(before[name] for name in GOES)
        counts = rows(store)
        old = excess(store, LATER, baselines=True)
        assert old.runs == tuple(runs[:2])
        assert old.rows == {name: counts[name] for name in ("log", "port_log", "trace", "series")}
        assert old.size > 0
        thin(store, old.runs)
        assert give_back(store)[1] == 0
        after = contents(store)
        assert {name for name in TABLES if not after[name]} == GOES
        # Their checksums speak no more of what went.
        assert after.pop("replication").keys() != before.pop("replication").keys()
        assert {name: after[name] for name in after if name not in GOES} == {
            name: before[name] for name in before if name not in GOES
        }
        assert excess(store, LATER, baselines=True).runs == ()
        store.check()
        assert not store.checksums().changed
        assert store.logs(runs[0]) == store.run_logs(runs[0]) == store.traces(runs) == []


def test_younger_runs_and_those_of_baselines_keep_theirs(where: str) -> None:
    with Store.open(where) as store:
        spared, old, *_ = fill(store)
        assert excess(store, store.run(spared).started_at, baselines=True).runs == ()
        whole = told(store, spared)
        found = excess(store, LATER)
        assert found.runs == (old,)
        assert found.size < excess(store, LATER, baselines=True).size
        thin(store, found.runs)
        assert told(store, spared) == whole
        assert not store.logs(old)


def test_nothing_is_deleted_while_one_of_the_runs_is_measured(where: str) -> None:
    with Store.open(where) as store, Store.open(where) as other:
        first, second, *_ = fill(store)
        before = rows(store)
        with other.claim(second), pytest.raises(InputError, match=f"run {second} is being measure"):
            thin(store, [first, second])
        assert rows(store) == before


def test_a_file_is_written_anew_only_where_that_gives_much_back(tmp_path: Path) -> None:
    path = tmp_path / "railgauge.db"
    with Store.open(str(path)) as store:
        run = stored_links(store)
        with store.writing() as connection:
            connection.execute(update(TraceRow).values(data=bytes(50_000)))
            connection.execute(update(Run).values(plan_text="x" * 2_000_000))
        thin(store, [run])
        smaller, free = give_back(store)
        assert smaller == 0
        assert 40_000 < free < 200_000
        with store.writing() as connection:
            connection.execute(update(Run).values(plan_text=""))
        smaller, nothing = give_back(store)
        assert smaller > 2_000_000
        assert nothing == 0
    assert path.stat().st_size < 1_000_000
