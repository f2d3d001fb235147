"""One case over many runs, how it is found, and cases that end before all that was asked."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    execute,
    failed,
    measured,
    planned,
    suspect,
)
from tests.support.store_samples import warmup as warm_up

from railgauge.base.errors import StoreError
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

RULE = "ci95(median) <= 1% of throughput"


def night(store: Store, *outcomes: Outcome, run: NewRun = RUN, test: str = "stream") -> int:
    number = store.begin_run(run, planned(case(), case(64), test=test), METRICS)
    for outcome in outcomes:
        store.add(number, test, case().key, outcome, LAUNCH)
        store.add(number, test, case(64).key, replace(outcome), LAUNCH)
    return number


def test_history_has_a_series_for_each_run_that_measured_the_case(store: Store) -> None:
    first = night(store, warm_up(), measured(1, 5.0), suspect(2), failed(3), measured(4, 7.0))
    night(store, failed(1))
    night(store)
    store.begin_run(RUN, planned(case(9)), METRICS)
    last = night(store, measured(1, 6.0))
    history = store.history(case().key, "throughput")
    assert [entry.run for entry in history] == [first, last]
    # The same as they are among all of a run's series.
    for entry in history:
        (series,) = (
            candidate
            for candidate in store.series([entry.run], ["throughput"])
            if candidate.case == entry.case
        )
        assert entry.values.tolist() == series.values.tolist()
        assert entry.suspect.tolist() == series.suspect.tolist()
        assert replace(entry, values=series.values, suspect=series.suspect) == series
    assert history[0].values.tolist() == [5.0, 1e9, 7.0]
    assert history[0].suspect.tolist() == [False, True, False]
    assert (history[0].failed, history[0].planned) == (1, 3)


def test_history_knows_only_the_test_plan_and_runs_asked_for(store: Store) -> None:
    other = night(store, suspect(1), run=replace(RUN, plan="other"))
    again = night(store, failed(1), measured(2), test="again")
    key = case().key
    assert [series.run for series in store.history(key, "loss_rate", plan="other")] == [other]
    assert [series.run for series in store.history(key, "loss_rate", tests=["again"])] == [again]
    assert store.history(key, "loss_rate", tests=["again"], plan="other") == []
    history = store.history(key, "throughput")
    assert [series.run for series in history] == [other, again]
    for series in history:
        (alone,) = store.history(key, "throughput", runs=[series.run])
        assert (alone.run, alone.failed) == (series.run, series.failed)
        assert alone.values.tolist() == series.values.tolist()
        assert alone.suspect.tolist() == series.suspect.tolist()
    assert store.history(key, "throughput", runs=[]) == []
    assert store.history(key, "nosuch") == []
    assert store.history("no\0such", "loss_rate") == []


def test_histories_of_several_cases_are_those_of_each(store: Store) -> None:
    iperf = replace(case(), key="ab" * 8, engine="iperf3")
    for unit in ("bit/s", "B/s"):
        night(store, warm_up(), measured(1, 5.0), suspect(2), failed(3), test=unit.strip("/s"))
        metrics = {"iperf3": METRICS["udp"] | {"throughput": MetricInfo(unit, "higher")}}
        run = store.begin_run(RUN, planned(iperf), metrics)
        store.add(run, "stream", iperf.key, measured(1, 7.0), LAUNCH)
    keys = [iperf.key, case(64).key, "no\0such", case().key]
    for runs in (None, [1, 2, 4], []):
        histories = store.histories(keys, "throughput", runs=runs)
        assert list(histories) == keys
        for key, history in histories.items():
            assert str(history) == str(store.history(key, "throughput", runs=runs))
    assert [(series.run, series.unit) for series in store.history(iperf.key, "throughput")] == [
        (2, "bit/s"),
        (4, "B/s"),
    ]
    assert {key: len(history) for key, history in store.histories(keys, "throughput").items()} == {
        **dict.fromkeys(keys, 2),
        "no\0such": 0,
    }


def test_history_is_in_the_order_of_time_whatever_the_ids_are(store: Store, where: str) -> None:
    runs = [night(store, measured(1, float(number))) for number in range(3)]
    update = "UPDATE run SET checksum = NULL, started_at = :day WHERE id = :run"
    for run, day in zip(runs, ("2026-11-20", "2026-11-22", "2026-11-21"), strict=True):
        execute(where, update, run=run, day=f"{day}T00:00:00.000000Z")
    assert [series.run for series in store.history(case().key, "throughput")] == [1, 3, 2]
    assert [run.id for run in store.runs()] == [1, 3, 2]


def test_a_metric_whose_unit_changed_keeps_what_it_was(store: Store) -> None:
    for unit in ("bit/s", "B/s", "bit/s"):
        run = store.begin_run(
            RUN, planned(case()), {"udp": {"throughput": MetricInfo(unit, "higher")}}
        )
        outcome = Outcome(1, MOMENT, {"throughput": 8.0})
        store.add(run, "stream", case().key, outcome, Launch(MOMENT))
    history = store.history(case().key, "throughput")
    assert [(series.run, series.unit) for series in history] == [
        (1, "bit/s"),
        (2, "B/s"),
        (3, "bit/s"),
    ]


def test_cases_are_found_by_key_or_by_words(store: Store) -> None:
    night(store, measured(1))
    night(store, measured(1), run=replace(RUN, plan="Nightly 100%"))
    store.begin_run(RUN, planned(case(6400, link="gw→dp")), METRICS)

    def matches(text: str) -> list[tuple[str, object]]:
        return [(match.plan, match.case.parameters["datagram"]) for match in store.find_cases(text)]

    assert matches(case(64).key[:8].upper()) == [("Nightly 100%", 64), (RUN.plan, 64)]
    assert matches("datagram=64") == [("Nightly 100%", 64), (RUN.plan, 64)]
    assert matches("duration=5 NIGHTLY udp mode=stream datagram=1460") == [("Nightly 100%", 1460)]
    assert matches("gw→dp") == [(RUN.plan, 6400)]
    assert matches("100%") == [("Nightly 100%", 1460), ("Nightly 100%", 64)]
    assert matches("10_%") == matches("nosuch") == matches("nosuch\0") == []
    assert len(matches("")) == 5


def test_what_ended_early_lacks_nothing(store: Store) -> None:
    cases = [PlannedCase("stream", case(size), 50, least=3, rule=RULE) for size in (1, 2, 3, 4)]
    run = store.begin_run(RUN, cases, METRICS)
    for size, ended, count in ((1, "narrow", 4), (2, "budget", 2), (3, None, 1)):
        for number in range(1, count + 1):
            store.add(run, "stream", case(size).key, measured(number), LAUNCH)
        store.end_cases(run, {("stream", case(size).key): ended})
    store.skip_cases(run, {("stream", case(4).key): "no iperf3"})
    (summary,) = store.runs()
    # Narrow: the 4 it has. Out of time: at least 3. Going on: 50. Skipped: none.
    assert (summary.measured, summary.asked, summary.skipped) == (7, 4 + 3 + 50, 1)
    assert [planned_case.ended for planned_case in store.run(run).cases] == [
        "narrow",
        "budget",
        "",
        "",
    ]
    assert {(planned_case.least, planned_case.rule) for planned_case in store.run(run).cases} == {
        (3, RULE)
    }
    all_series = store.series([run], ["throughput"])
    assert [(series.least, series.ended, series.planned) for series in all_series[:2]] == [
        (3, "narrow", 50),
        (3, "budget", 50),
    ]
    store.end_cases(run, {("stream", case(size).key): None for size in (1, 2)})
    assert store.runs()[0].asked == 150


def test_a_case_ends_only_in_ways_that_there_are(store: Store) -> None:
    run = night(store)
    with pytest.raises(StoreError, match="narrow, most, budget, not as 'bored'"):
        store.end_cases(run, {("stream", case().key): "bored"})  # type: ignore[dict-item]
    with pytest.raises(StoreError, match="has no case"):
        store.end_cases(run, {("stream", "nosuch"): "most"})


def test_the_change_that_matters_is_kept_with_the_run(store: Store) -> None:
    metrics = {"udp": {"throughput": MetricInfo("bit/s", "higher", smallest=0.01)}}
    run = store.begin_run(RUN, planned(case()), metrics)
    assert store.smallest_changes(run) == {("udp", "throughput"): 0.01}
    other = store.begin_run(RUN, planned(case()), METRICS)
    assert store.smallest_changes(other) == {}


def test_history_reads_nothing_of_other_cases(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        night(store, measured(1))
        statements: list[tuple[str, Any]] = []
        with store.reading() as connection:
            event.listen(
                connection.engine,
                "before_cursor_execute",
                lambda *arguments: statements.append((arguments[2], arguments[3])),
            )
        assert len(store.history(case().key, "throughput")) == 1
    plan: list[str] = []
    with contextlib.closing(sqlite3.connect(tmp_path / "railgauge.db")) as database:
        for statement, parameters in statements:
            if statement.startswith("SELECT"):
                rows = database.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plan += [row[-1] for row in rows]
    read = [line.split() for line in plan if line.startswith(("SCAN", "SEARCH"))]
    assert {words[1] for words in read} >= {"value", "replication", "run_case", "bench_case"}
    assert [words for words in read if words[0] == "SCAN"] == []
