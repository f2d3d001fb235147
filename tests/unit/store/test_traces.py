"""Traces and their loss runs in the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.series_samples import store_series, tcp_series
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    RUN,
    case,
    execute,
    failed,
    lossy,
    measured,
    planned,
    trace,
)

from railgauge.base.errors import InputError, StoreError
from railgauge.base.trace import decode, unpack
from railgauge.store import Store
from railgauge.store.copy import copy

COLUMNS = ["run", "plan", "test", "link", "case_key", "replication", "after_sequence", "lost"]


def test_a_trace_comes_back_as_it_was_recorded(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, lossy(1), LAUNCH)
    (stored,) = store.traces([run])
    assert (stored.run, stored.plan, stored.test) == (run, "sharcnet-udp", "stream")
    assert (stored.case, stored.replication) == (case(), 1)
    assert (stored.sent, stored.arrived, stored.recorded) == (10, 6, 6)
    loaded_trace, recorded = store.trace(stored), decode(lossy(1).trace)
    assert loaded_trace.sequence.tolist() == recorded.sequence.tolist() == [1, 2, 3, 6, 7, 8]
    assert loaded_trace.received.tolist() == recorded.received.tolist()
    assert loaded_trace.sent_at.tolist() == recorded.sent_at.tolist()
    assert (loaded_trace.first_received, loaded_trace.first_sent, loaded_trace.clock) == (
        5,
        7,
        "monotonic",
    )


def test_each_trace_is_found_among_those_of_other_runs_tests_cases_and_replications(
    store: Store,
) -> None:
    cases = planned(case(1460), case(64)) + planned(case(1460), test="again")
    runs = [store.begin_run(RUN, cases, METRICS) for _ in range(2)]
    expected = []
    for run in runs:
        for planned_case in cases:
            for number in (1, 2):
                sent = 100 + len(expected)
                outcome = replace(measured(number), trace=trace(range(sent), sent))
                store.add(run, planned_case.test, planned_case.case.key, outcome, LAUNCH)
                expected.append((run, planned_case.test, planned_case.case, number, sent))
    actual = [
        (
            stored_trace.run,
            stored_trace.test,
            stored_trace.case,
            stored_trace.replication,
            len(store.trace(stored_trace).sequence),
        )
        for stored_trace in store.traces(runs)
    ]
    assert actual == expected
    second = store.traces([runs[1], runs[1]], replication=2)
    assert [stored_trace.sent for stored_trace in second] == [sent for *_, sent in expected[7::2]]


def test_loss_runs_stand_in_a_public_view(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, lossy(1), LAUNCH)
    store.add(run, "stream", case().key, replace(measured(2), trace=trace([0, 1], 2)), LAUNCH)
    query = f"SELECT {', '.join(COLUMNS)} FROM loss_runs ORDER BY after_sequence"
    place = (run, "sharcnet-udp", "stream", "gw→hh", case().key, 1)
    assert execute(where, query) == [(*place, -1, 1), (*place, 3, 2), (*place, 8, 1)]
    assert len(execute(where, "SELECT * FROM loss_runs")[0]) == len(COLUMNS)


def test_what_was_not_measured_well_keeps_no_trace(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    for outcome in (
        replace(failed(1), trace=lossy(1).trace),
        replace(lossy(0), warmup=True),
        measured(3),
    ):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    assert store.replication_numbers(run) == {("stream", case().key): {1, 3}}
    assert store.traces([run]) == []
    assert execute(where, "SELECT * FROM loss_runs") == []


def test_more_loss_runs_than_are_stored_at_once_are_all_stored_in_order(
    store: Store, where: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    outcome = replace(measured(1), trace=trace(range(0, 90_002, 2), 90_001))
    store.add(run, "stream", case().key, outcome, LAUNCH)
    loss_runs = execute(where, "SELECT place, after_sequence, lost FROM loss_run ORDER BY place")
    assert loss_runs == [(place, 2 * place, 1) for place in range(45_000)]


def test_counts_as_wide_as_64_bits_are_kept(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    outcome = replace(measured(1), trace=trace([0], 2**63 - 1))
    store.add(run, "stream", case().key, outcome, LAUNCH)
    assert store.traces([run])[0].sent == 2**63 - 1
    assert execute(where, "SELECT after_sequence, lost FROM loss_runs") == [(0, 2**63 - 2)]


def test_an_outcome_whose_trace_is_none_is_refused_whole(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match=r"replication 1 has no usable trace: .* cut off"):
        store.add(
            run, "stream", case().key, replace(measured(1), trace=lossy(1).trace[:-1]), LAUNCH
        )
    assert store.replication_numbers(run) == {}


def test_a_trace_whose_replication_is_refused_is_not_stored(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    with pytest.raises(StoreError, match="only one of them"):
        store.add(run, "stream", case().key, lossy(1), LAUNCH)
    assert execute(where, "SELECT * FROM trace") == []


def test_an_imported_replication_keeps_its_trace(store: Store) -> None:
    outcomes = [("stream", case().key, lossy(1)), ("stream", case().key, measured(2))]
    run = store.import_run(replace(RUN, origin="imported"), planned(case()), METRICS, outcomes)
    assert [store.trace(stored_trace).sent for stored_trace in store.traces([run])] == [10]


def test_traces_of_a_run_that_is_not_there_are_the_users_mistake(store: Store) -> None:
    with pytest.raises(InputError, match="no run 1 "):
        store.traces([1])


def test_a_trace_of_another_database_is_told(store: Store, tmp_path: Path) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, lossy(1), LAUNCH)
    (stored,) = store.traces([run])
    with (
        Store.open(str(tmp_path / "other.db")) as other,
        pytest.raises(InputError, match="no trace of replication 1 of test 'stream' in run 1"),
    ):
        other.trace(stored)


def test_a_damaged_trace_is_told_with_its_place(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, lossy(1), LAUNCH)
    execute(where, "UPDATE trace SET data = :data", data=b"x\x9c")
    with pytest.raises(StoreError, match=r"replication 1 of test 'stream' in run 1 is damaged"):
        store.trace(store.traces([run])[0])


def test_a_trace_is_read_with_sqlite_and_the_one_function(tmp_path: Path) -> None:
    path = tmp_path / "railgauge.db"
    with Store.open(str(path)) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        store.add(run, "stream", case().key, lossy(1), LAUNCH)
    connection = sqlite3.connect(path)
    (blob,) = connection.execute("SELECT data FROM trace").fetchone()
    connection.close()
    assert unpack(blob).sequence.tolist() == [1, 2, 3, 6, 7, 8]


def test_a_series_is_stored_and_copied_beside_traces(store: Store, tmp_path: Path) -> None:
    run = store_series(store, tcp_series())
    assert store.traces([run]) == []
    with Store.open(str(tmp_path / "copy.db")) as other:
        copy(store, other)
        for database in (store, other):
            (stored,) = database.interval_series([run], replication=1)
            assert (stored.sent, stored.arrived, stored.recorded) == (35_000, 35_000, 4)
            columns = database.intervals(stored).columns
            assert columns["rtt"].readings.tolist() == [200_000, 900_000, 250_000, 250_000]
        assert store.interval_series([run], replication=2) == []
        with pytest.raises(InputError, match="no trace of replication 1"):
            store.trace(stored)
