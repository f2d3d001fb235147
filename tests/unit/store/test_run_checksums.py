"""Checksums of what describes runs: each change of it shows, none that is stored does."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.copy_samples import fill
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.base.errors import StoreError
from railgauge.store import Store
from railgauge.store.copy import copy

# Of run 1: a bit that a disk lost, as a statement.
CHANGES = {
    "its version": "UPDATE run SET railgauge_version = '0&1.0' WHERE id = 1",
    "its plan": "UPDATE run SET plan_text = plan_text || ' ' WHERE id = 1",
    "when it began": "UPDATE run SET started_at = '2020' || substr(started_at, 5) WHERE id = 1",
    "a fact": "UPDATE host_fact SET value = value || '0' WHERE run_id = 1",
    "a fact's host": "UPDATE host_fact SET host = 'gw2' WHERE run_id = 1",
    "a label": "UPDATE run_label SET value = 'other' WHERE run_id = 1",
    "what matters": "UPDATE run_metric SET smallest_change = 0.5 WHERE run_id = 1",
    "a better metric": "UPDATE metric SET better = 'lower' WHERE better = 'higher'",
    "a parameter": "UPDATE bench_case SET parameters = replace(parameters, '1460', '1461')",
    "a case's host": "UPDATE bench_case SET server_host = 'hh2'",
    "what was asked": "UPDATE run_case SET replications = replications + 1 WHERE run_id = 1",
    "a test": "UPDATE run_case SET test = 'other' WHERE id = 1",
    "what was granted": "UPDATE launch SET client = '{\"sockbuf\":1}'",
    "a warning": "UPDATE launch SET warnings = '[\"slow\"]'",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    with Store.open(str(path)) as store:
        for _ in range(2):
            cases = planned(case(), case(64), replications=2)
            run = store.begin_run(replace(RUN, labels={"kernel": "6.12"}), cases, METRICS)
            store.add_facts(run, "gw1", {"kernel": "6.1"})
            store.add(run, "stream", case().key, measured(1), replace(LAUNCH))
            store.finish_run(run, "complete")
    return path


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", CHANGES)
def test_what_describes_a_run_and_changed_in_place_is_refused(path: Path, name: str) -> None:
    change(path, CHANGES[name])
    with pytest.raises(StoreError, match=r"whose descriptions? (is|are) not what was stored"):
        Store.open(str(path))
    with Store.open(str(path), check=False) as store:
        assert 1 in store.changed_runs()
        with pytest.raises(StoreError, match=r"not what was stored, such as run 1"):
            store.check()
    checked = command_line.railgauge("db", "check", "--db", str(path))
    assert checked.returncode == 3
    assert "run 1: its texts, facts, labels, cases or settings aren't as stored" in checked.stdout


def test_a_copy_leaves_out_a_run_that_changed_and_its_baseline(path: Path, where: str) -> None:
    with Store.open(str(path)) as store:
        store.set_baseline("first", [1])
        store.set_baseline("second", [2])
    change(path, CHANGES["its version"])
    with Store.open(str(path), check=False) as source, Store.open(where) as target:
        copied = copy(source, target)
        assert copied.differences == [
            "run 1 isn't what was stored, and is left out",
            "the baseline 'first' has a run that is left out, and so is it",
        ]
        assert (copied.new, [run.id for run in target.runs()]) == (1, [1])
        assert [baseline.name for baseline in target.baselines()] == ["second"]
        assert target.changed_runs() == []


def test_what_is_stored_later_is_no_change(where: str) -> None:
    with Store.open(where) as store:
        fill(store)
        assert store.changed_runs() == []
        run = store.runs()[0].id
        store.reopen_run(run)
        store.add_facts(run, "gw1", {"kernel": "6.9"})
        assert store.changed_runs() == []
        store.finish_run(run, "complete")
        store.add_facts(run, "gw1", {"kernel": "6.10"})
        assert store.changed_runs() == []
        store.skip_cases(run, {})
        assert store.changed_runs() == []


def test_each_database_has_the_same(path: Path, where: str) -> None:
    def own(store: Store) -> set[int]:
        with store.reading() as connection:
            return {row[0] for row in connection.exec_driver_sql("SELECT checksum FROM run")}

    with Store.open(str(path)) as source, Store.open(where) as target:
        copy(source, target)
        assert own(source) == own(target)
        assert None not in own(target)
