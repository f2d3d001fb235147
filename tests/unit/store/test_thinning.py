"""Old runs' logs, traces and series are deleted, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from tests.support.copy_samples import contents, fill, run_contents, stored_links
from tests.support.store_samples import METRICS, RUN, case, planned

from railgauge.base.errors import InputError
from railgauge.store import Store
from railgauge.store.copy_tables import TABLES, owned
from railgauge.store.log_models import LOG
from railgauge.store.models import LaunchRow, Run, RunCase, TraceRow
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
        labels = {"label_set", "label"} if where.endswith(".db") else set()
        assert {name for name in after if not after[name]} == GOES | labels
        # Their checksums speak no more of what went.
        assert after.pop("replication").keys() != before.pop("replication").keys()
        assert {name: after[name] for name in after if name not in GOES | labels} == {
            name: before[name] for name in before if name not in GOES | labels
        }
        assert excess(store, LATER, baselines=True).runs == ()
        store.check()
        assert not store.checksums().changed
        assert store.logs(runs[0]) == store.run_logs(runs[0]) == store.traces(runs) == []


def test_younger_runs_and_those_of_baselines_keep_theirs(where: str) -> None:
    with Store.open(where) as store:
        spared, old, *_ = fill(store)
        assert excess(store, store.run(spared).started_at, baselines=True).runs == ()
        whole = run_contents(store, spared)
        surplus = excess(store, LATER)
        assert surplus.runs == (old,)
        assert surplus.size < excess(store, LATER, baselines=True).size
        thin(store, surplus.runs)
        assert run_contents(store, spared) == whole
        assert not store.logs(old)


def stored_run(where: str) -> int:
    """Store a run of its own: a store keeps launches by their identity."""
    with Store.open(where) as store:
        run = stored_links(store)
        store.drop_baseline("good")
        return run


def by_run(store: Store) -> dict[str, Counter[int]]:
    """Return how many rows each run has in the tables that go."""
    launches = {"port_log": LaunchRow, "port_counter_log": LaunchRow}
    with store.reading() as connection:
        counts = {"log": Counter(connection.scalars(select(LOG.c.run_id)).all())}
        for table in owned("log"):
            query = select(LOG.c.run_id).join(table, table.c.log_id == LOG.c.id)
            counts[table.name] = Counter(connection.scalars(query).all())
        for name in GOES - counts.keys():
            query = select(RunCase.run_id).select_from(RunCase)
            if name in launches:
                query = query.join(LaunchRow).join(
                    TABLES[name], TABLES[name].c.launch_id == LaunchRow.id
                )
            else:
                query = query.join(TABLES[name], TABLES[name].c.run_case_id == RunCase.id)
            counts[name] = Counter(connection.scalars(query).all())
    return counts


def test_of_many_runs_those_go_that_are_old_and_in_no_baseline(where: str) -> None:
    with Store.open(where) as store:
        runs = [stored_run(where) for _ in range(5)]
        for year, run in zip((2023, 2020, 2024, 2021, 2022), runs, strict=True):
            moment = f"{year}-01-01T00:00:00.000000Z"
            with store.writing() as connection:
                connection.execute(update(Run).where(Run.id == run).values(started_at=moment))
        store.set_baseline("good", [runs[3]], "")
        store.set_baseline("better", [runs[0], runs[2]], "")
        before = by_run(store)
        assert all(set(counts) == set(runs) for counts in before.values())
        whole = {run: run_contents(store, run) for run in runs}
        old = excess(store, "2023-01-01T00:00:00.000000Z")
        removed = {runs[1], runs[4]}
        assert set(old.runs) == removed
        assert old.rows == {name: sum(before[name][run] for run in removed) for name in old.rows}
        thin(store, old.runs)
        assert by_run(store) == {
            name: Counter({run: count for run, count in counts.items() if run not in removed})
            for name, counts in before.items()
        }
        for run in runs:
            assert (run_contents(store, run) == whole[run]) is (run not in removed)
        assert rows(store)["label_set"] == 2
        assert not store.checksums().changed


def test_the_size_of_what_goes_may_be_beyond_32_bits(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        young, old = stored_run(store.name), stored_run(store.name)
        tables = ["log", "port_log", "port_counter_log", *(table.name for table in owned("log"))]
        with store.writing() as connection:
            moment = "2020-01-01T00:00:00.000000Z"
            connection.execute(update(Run).where(Run.id == old).values(started_at=moment))
            # A table of this name is read instead of SQLite's own.
            connection.exec_driver_sql("CREATE TABLE dbstat (name TEXT, aggregate INT, pageno INT)")
            for name in tables:
                connection.exec_driver_sql("INSERT INTO dbstat VALUES (?, 1, 3000000)", (name,))
        store.set_baseline("good", [young], "")
        traces = sum(len(row.data) for row in over_time(store, old))
        assert excess(store, LATER).size == len(tables) * 3_000_000 * 4096 // 2 + traces


def over_time(store: Store, run: int) -> list[Any]:
    """Return the run's traces and series."""
    with store.reading() as connection:
        return [
            row
            for name in ("trace", "series")
            for row in connection.execute(
                select(TABLES[name])
                .join(RunCase, RunCase.id == TABLES[name].c.run_case_id)
                .where(RunCase.run_id == run)
            )
        ]


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
        space = give_back(store)
        assert (space.smaller, space.postponed) == (0, False)
        assert 40_000 < space.free < 200_000
        with store.writing() as connection:
            connection.execute(update(Run).values(plan_text=""))
        space = give_back(store)
        assert space.smaller > 2_000_000
        assert space.free == 0
    assert path.stat().st_size < 1_000_000


def test_a_file_is_not_written_anew_while_a_run_is_measured(tmp_path: Path) -> None:
    path = str(tmp_path / "railgauge.db")
    with Store.open(path) as store, Store.open(path) as other:
        run = stored_links(store)
        with store.writing() as connection:
            connection.execute(update(TraceRow).values(data=bytes(3_000_000)))
        thin(store, [run])
        measured = other.begin_run(RUN, planned(case()), METRICS)
        with other.claim(measured):
            space = give_back(store)
            assert (space.smaller, space.postponed) == (0, True)
            assert space.free > 2_000_000
        space = give_back(store)
        assert space.smaller > 2_000_000
        assert (space.free, space.postponed) == (0, False)
