"""Digests of what is stored: they change when that does, and only the case's own."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    failed,
    logged,
    measured,
    planned,
    system_log,
    warmup,
)

from railgauge.base.errors import StoreError
from railgauge.plan.catalogue.headlines import headlines
from railgauge.store import Store
from railgauge.store.digest import Digests
from railgauge.store.records import Launch

FIRST, SECOND = case(1460), case(2920)


@pytest.fixture
def store(where: str):
    with Store.open(where) as opened:
        run = opened.begin_run(RUN, planned(FIRST, SECOND), METRICS)
        for planned_case in (FIRST, SECOND):
            opened.add(run, "stream", planned_case.key, measured(1, 1e9 / 3), LAUNCH)
        yield opened


def store_digests(store: Store) -> Digests:
    return store.digests(headlines())


def test_nothing_changes_by_itself(store: Store):
    assert store_digests(store) == store_digests(store)
    assert store_digests(store).measured == {1}
    assert store_digests(store).failed == {1: 0}


@pytest.mark.parametrize(
    "outcome",
    [measured(2), failed(2), replace(measured(2), metrics={"throughput": 5e-10, "loss_rate": 0.0})],
    ids=["measured", "failed", "tiny"],
)
def test_an_outcome_more_changes_its_case_alone(store: Store, outcome):
    before = store_digests(store)
    store.add(1, "stream", FIRST.key, outcome, LAUNCH)
    after = store_digests(store)
    assert after.settings == before.settings
    assert after.cases[1]["stream", FIRST.key] != before.cases[1]["stream", FIRST.key]
    assert after.cases[1]["stream", SECOND.key] == before.cases[1]["stream", SECOND.key]
    assert after.failed == {1: int(outcome.status == "failed")}


def test_a_launch_that_has_only_warmed_up_is_seen_by_what_it_was_granted(store: Store):
    before = store_digests(store)
    store.add(1, "stream", FIRST.key, warmup(), Launch(MOMENT + 9, {"sockbuf": 7}))
    after = store_digests(store)
    assert after.cases[1]["stream", FIRST.key] != before.cases[1]["stream", FIRST.key]
    assert after.cases[1]["stream", SECOND.key] == before.cases[1]["stream", SECOND.key]


def test_a_skipped_case_and_another_state_or_fact_are_seen(store: Store):
    before = store_digests(store)
    store.skip_cases(1, {("stream", SECOND.key): "no disk"})
    assert (
        store_digests(store).cases[1]["stream", SECOND.key] != before.cases[1]["stream", SECOND.key]
    )
    store.add_facts(1, "gw1", {"kernel": "6.1"})
    with_facts = store_digests(store)
    assert with_facts.settings != before.settings
    store.finish_run(1, "complete")
    assert store_digests(store).settings != with_facts.settings


def test_what_is_added_to_a_run_that_is_over_is_seen_before_and_after_it_is_counted(store: Store):
    store.finish_run(1, "complete")
    over = store_digests(store)
    assert (over.measured, over.failed, over.over) == ({1}, {1: 0}, {1})
    store.add(1, "stream", FIRST.key, failed(2), LAUNCH)
    added = store_digests(store)
    assert added.cases[1]["stream", FIRST.key] != over.cases[1]["stream", FIRST.key]
    store.finish_run(1, "complete")
    counted = store_digests(store)
    first = ("stream", FIRST.key)
    assert counted.cases[1][first] not in (over.cases[1][first], added.cases[1][first])
    assert (counted.measured, counted.failed, counted.over) == ({1}, {1: 1}, {1})


def test_a_run_that_is_over_without_a_value_is_not_measured(store: Store):
    run = store.begin_run(RUN, planned(FIRST), METRICS)
    store.add(run, "stream", FIRST.key, failed(1), LAUNCH)
    store.finish_run(run, "interrupted")
    digests = store_digests(store)
    assert (digests.measured, digests.failed[run]) == ({1}, 1)


def test_two_runs_alike_are_two(store: Store):
    store.begin_run(RUN, planned(FIRST), METRICS)
    digests = store_digests(store)
    assert digests.settings[1] != digests.settings[2]
    assert list(digests.cases[2]) == [("stream", FIRST.key)]
    assert digests.measured == {1}


def test_logs_have_a_digest_of_their_own(store: Store):
    assert store.logged_runs([1]) == []
    before = store.log_digest(1)
    store.add(1, "stream", FIRST.key, logged(2, system_log()), LAUNCH)
    assert store.log_digest(1) != before
    assert store.logged_runs([1]) == [1]


def test_cases_and_metrics_are_known_whatever_measured_them(store: Store):
    assert store.all_cases() == {FIRST.key: FIRST, SECOND.key: SECOND}
    assert store.metric_names() == {"udp": ["throughput", "loss_rate"]}


def test_a_case_that_a_damaged_database_lost_is_an_error(tmp_path):
    path = tmp_path / "lost.db"
    with Store.open(str(path)) as store:
        store.finish_run(store.begin_run(RUN, planned(FIRST), METRICS), "complete")
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM bench_case")
    database.close()
    with (
        Store.open(str(path), check=False) as store,
        pytest.raises(StoreError, match="a run has a case 1 that isn't stored: the database"),
    ):
        store_digests(store)
