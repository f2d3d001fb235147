"""What goes into the store comes out of it: on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event
from tests.support.copy_samples import fill, run_contents
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    failed,
    measured,
    planned,
    rows,
    suspect,
    warmup,
)

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase

VIEW = """
run plan git_commit started_at test engine link client_host server_host case_key parameters
replication metric value unit status
"""
COLUMNS = VIEW.split()


def test_a_run_comes_back_as_it_began(store: Store) -> None:
    cases = planned(case(1460), case(64), replications=7)
    run = store.begin_run(RUN, cases, METRICS)
    stored = store.run(run)
    assert stored.new == RUN
    assert stored.cases == tuple(cases)
    assert (stored.state, stored.ended_at) == ("unfinished", "")
    assert stored.started_at.endswith("Z")


def test_each_run_keeps_the_texts_of_its_own_files(store: Store) -> None:
    file_sets = [{}, {"hosts.yaml": "old\r\n"}, {"hosts.yaml": "new\n", "engine fetch": ""}]
    runs = [
        store.begin_run(replace(RUN, files=files), planned(case()), METRICS) for files in file_sets
    ]
    assert [store.run(run).new.files for run in runs] == file_sets


def test_what_is_added_together_is_stored_when_that_ends(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    count = "SELECT count(DISTINCT replication) AS n FROM measurement"
    with store.together():
        for number in (1, 2):
            store.add(run, "stream", case().key, measured(number), LAUNCH)
        assert rows(where, count) == [{"n": 0}]
    store.add(run, "stream", case().key, measured(3), LAUNCH)
    assert rows(where, count) == [{"n": 3}]
    assert rows(where, "SELECT count(*) AS n FROM launch") == [{"n": 1}]


def test_what_is_added_together_with_a_mistake_is_not_stored(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match="no case nonsense"), store.together():
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        store.add(run, "stream", "nonsense", measured(2), LAUNCH)
    assert store.replication_numbers(run) == {}
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    assert rows(where, "SELECT count(DISTINCT replication) AS n FROM measurement") == [{"n": 1}]
    assert rows(where, "SELECT count(*) AS n FROM launch") == [{"n": 1}]


def test_values_come_back_by_case_and_replication(store: Store) -> None:
    large, small = case(1460), case(64)
    run = store.begin_run(RUN, planned(large, small), METRICS)
    for number, value in ((2, 2.5e8), (1, 1.5e8), (3, 3.5e8)):
        store.add(run, "stream", large.key, measured(number, value), LAUNCH)
    store.add(run, "stream", small.key, measured(1, 0.1), LAUNCH)
    series_of = {
        (metric_series.case.key, metric_series.metric): metric_series
        for metric_series in store.series([run])
    }
    assert series_of[large.key, "throughput"].values.tolist() == [1.5e8, 2.5e8, 3.5e8]
    assert series_of[small.key, "throughput"].values.tolist() == [0.1]
    series = series_of[large.key, "loss_rate"]
    assert series.values.tolist() == [0.25, 0.25, 0.25]
    assert (series.unit, series.better, series.planned, series.failed) == ("1", "lower", 3, 0)
    assert series.case == large
    assert (series.run, series.plan, series.test) == (run, "sharcnet-udp", "stream")


def test_series_are_in_the_plans_order(store: Store) -> None:
    cases = [case(size) for size in (40960, 64, 1460)]
    run = store.begin_run(RUN, planned(*cases), METRICS)
    for bench_case in reversed(cases):
        store.add(run, "stream", bench_case.key, measured(1), LAUNCH)
    assert [s.case.key for s in store.series([run], ["throughput"])] == [c.key for c in cases]


def test_only_the_metrics_asked_for_come(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    assert [series.metric for series in store.series([run], ["loss_rate"])] == ["loss_rate"]
    assert store.series([run], ["rtt_p99"]) == []


def test_series_of_several_runs_come_run_by_run(store: Store) -> None:
    runs = [store.begin_run(RUN, planned(case()), METRICS) for _ in range(2)]
    for run in runs:
        store.add(run, "stream", case().key, measured(1, run), LAUNCH)
    all_series = store.series([runs[1], runs[0], runs[1]], ["throughput"])
    assert [(series.run, series.values.tolist()) for series in all_series] == [
        (runs[1], [runs[1]]),
        (runs[0], [runs[0]]),
    ]


def test_failed_replications_are_counted_and_listed(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    store.add(run, "stream", case().key, failed(2), LAUNCH)
    (series,) = store.series([run], ["throughput"])
    assert (series.failed, len(series.values)) == (1, 1)
    (failure,) = store.failures(run)
    assert (failure.test, failure.case, failure.replication) == ("stream", case(), 2)
    assert failure.error_code == "connection-refused"
    assert failure.error_message == "hh1 refused: is its firewall open?"
    assert failure.started_at == "2025-11-21T02:00:02.250000Z"


def test_suspect_replications_are_flagged_also_beside_gaps(store: Store) -> None:
    whole, gaps = case(1460), case(64)
    run = store.begin_run(RUN, planned(whole, gaps), METRICS)
    for number in (1, 2, 3):
        outcome = suspect(number) if number == 2 else measured(number)
        store.add(run, "stream", whole.key, outcome, LAUNCH)
    store.add(run, "stream", gaps.key, failed(1), LAUNCH)
    store.add(run, "stream", gaps.key, measured(2), LAUNCH)
    store.add(run, "stream", gaps.key, suspect(5), LAUNCH)
    flags = {s.case.key: s.suspect.tolist() for s in store.series([run], ["throughput"])}
    assert flags == {whole.key: [False, True, False], gaps.key: [False, True]}


def test_a_case_without_values_has_empty_series_of_its_tests_metrics(store: Store) -> None:
    good, lost = case(1460), case(64)
    run = store.begin_run(RUN, planned(good, lost), METRICS)
    store.add(run, "stream", good.key, Outcome(1, MOMENT, {"throughput": 1e9}), LAUNCH)
    store.add(run, "stream", lost.key, failed(1), LAUNCH)
    counts = [(s.case.key, s.metric, len(s.values), s.failed) for s in store.series([run])]
    assert counts == [(good.key, "throughput", 1, 0), (lost.key, "throughput", 0, 1)]


def test_a_test_without_values_has_empty_series_of_the_metrics_asked_for(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, failed(1), LAUNCH)
    (series,) = store.series([run], ["throughput", "rtt_p99"])
    assert (series.metric, len(series.values), len(series.suspect)) == ("throughput", 0, 0)
    assert store.series([run]) == []


def test_done_holds_outcomes_of_every_kind_but_warmups(store: Store) -> None:
    large, small = case(1460), case(64)
    run = store.begin_run(RUN, planned(large, small), METRICS)
    store.add(run, "stream", large.key, warmup(), LAUNCH)
    store.add(run, "stream", large.key, measured(1), LAUNCH)
    store.add(run, "stream", large.key, suspect(2), LAUNCH)
    store.add(run, "stream", large.key, failed(3), LAUNCH)
    store.add(run, "stream", small.key, warmup(), LAUNCH)
    assert store.replication_numbers(run) == {("stream", large.key): {1, 2, 3}}


def test_a_case_of_two_tests_is_told_apart(store: Store) -> None:
    planned_cases = planned(case(), test="first") + planned(case(), test="second")
    run = store.begin_run(RUN, planned_cases, METRICS)
    store.add(run, "second", case().key, measured(2), LAUNCH)
    assert store.replication_numbers(run) == {("second", case().key): {2}}
    assert {s.test: len(s.values) for s in store.series([run])} == {"second": 1}


def test_a_replication_is_never_stored_twice(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1, 1.0), LAUNCH)
    with pytest.raises(StoreError, match="only one of them"):
        store.add(run, "stream", case().key, measured(1, 2.0), LAUNCH)
    assert store.series([run], ["throughput"])[0].values.tolist() == [1.0]


def test_a_refused_outcome_leaves_nothing_behind_and_the_next_is_stored(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    launch = Launch(MOMENT)
    with pytest.raises(StoreError, match="'colour'"):
        store.add(run, "stream", case().key, Outcome(1, MOMENT, {"colour": 1.0}), launch)
    store.add(run, "stream", case().key, measured(1), launch)
    assert store.replication_numbers(run) == {("stream", case().key): {1}}


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome(1, MOMENT, {"throughput": float("nan")}), "nan as its throughput"),
        (Outcome(1, MOMENT, {"throughput": float("inf")}), "inf as its throughput"),
        (Outcome(1, MOMENT, {}), "is ok with 0"),
        (Outcome(1, MOMENT, {"throughput": 1.0}, status="failed"), "is failed with 1"),
        (Outcome(0, MOMENT, {"throughput": 1.0}), "1 or more, not 0"),
        (Outcome(1, 1e300, {"throughput": 1.0}), "not a moment"),
    ],
)
def test_an_outcome_that_is_no_measurement_is_refused(
    store: Store, outcome: Outcome, reason: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match=reason):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    assert store.replication_numbers(run) == {}


def test_an_outcome_of_an_unplanned_case_is_refused(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(1460)), METRICS)
    with pytest.raises(StoreError, match="has no case"):
        store.add(run, "stream", case(64).key, measured(1), LAUNCH)


def test_a_run_goes_on_in_another_process_where_it_stopped(where: str) -> None:
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        store.add(run, "stream", case().key, warmup(), LAUNCH)
        store.add(run, "stream", case().key, measured(1, 1.0), LAUNCH)
        store.finish_run(run, "interrupted")
    with Store.open(where, create=False) as store:
        assert store.run(run).state == "interrupted"
        store.reopen_run(run)
        assert store.run(run).state == "unfinished"
        store.add(run, "stream", case().key, warmup(), Launch(MOMENT))
        store.add(run, "stream", case().key, measured(2, 2.0), Launch(MOMENT))
        store.finish_run(run, "complete")
        (summary,) = store.runs()
        assert (summary.state, summary.measured) == ("complete", 2)
        assert summary.ended_at > summary.started_at
        assert store.series([run], ["throughput"])[0].values.tolist() == [1.0, 2.0]


def test_runs_are_summed_up_each_by_itself(store: Store) -> None:
    first = store.begin_run(RUN, planned(case(1), case(2), replications=4), METRICS)
    second = store.begin_run(replace(RUN, plan="other"), planned(case(1)), METRICS)
    store.add(first, "stream", case(1).key, warmup(), LAUNCH)
    store.add(first, "stream", case(1).key, measured(1), LAUNCH)
    store.add(first, "stream", case(1).key, suspect(2), LAUNCH)
    store.add(first, "stream", case(2).key, failed(1), LAUNCH)
    summaries = [(r.id, r.plan, r.cases, r.asked, r.measured, r.failed) for r in store.runs()]
    assert summaries == [(first, "sharcnet-udp", 2, 8, 2, 1), (second, "other", 1, 3, 0, 0)]
    assert store.runs([first]) + store.runs([second]) == store.runs([second, first]) == store.runs()
    assert store.runs([]) == []


def test_facts_that_did_not_change_are_kept_once_and_changed_ones_beside_the_old(
    store: Store, where: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add_facts(run, "gw1", {"kernel": "6.1", "cpu": "E5-2670"})
    store.add_facts(run, "gw1", {"kernel": "6.2", "cpu": "E5-2670"})
    store.add_facts(run, "hh1", {"kernel": "6.1"})
    assert store.run(run).facts == {
        "gw1": {"kernel": "6.2", "cpu": "E5-2670"},
        "hh1": {"kernel": "6.1"},
    }
    query = (
        "SELECT value FROM host_fact WHERE host = 'gw1' AND name = 'kernel' ORDER BY recorded_at"
    )
    assert [row["value"] for row in rows(where, query)] == ["6.1", "6.2"]


def test_a_metric_whose_unit_changed_stands_beside_the_old_one(store: Store) -> None:
    old = store.begin_run(RUN, planned(case()), {"udp": {"jitter": MetricInfo("ms", "lower")}})
    new = store.begin_run(RUN, planned(case()), {"udp": {"jitter": MetricInfo("s", "lower")}})
    for run, value in ((old, 2.0), (new, 0.002)):
        store.add(run, "stream", case().key, Outcome(1, MOMENT, {"jitter": value}), LAUNCH)
    assert [(s.unit, s.values[0]) for s in store.series([old, new])] == [("ms", 2.0), ("s", 0.002)]


def test_what_a_metric_is_travels_with_its_run(store: Store) -> None:
    # As an engine said it, which no longer is there or now says something else.
    counted = {"udp": {"laps": MetricInfo("", "higher", "count")}}
    shared = {"udp": {"laps": MetricInfo("", "higher", "share")}}
    runs = [store.begin_run(RUN, planned(case()), metrics) for metrics in (counted, shared)]
    for run in runs:
        store.add(run, "stream", case().key, Outcome(1, MOMENT, {"laps": 3.0}), LAUNCH)
    assert [series.kind for series in store.series(runs)] == ["count", "share"]
    assert [series.kind for series in store.history(case().key, "laps")] == ["count", "share"]


def test_what_a_run_does_not_say_of_a_metric_the_tables_that_ship_do(store: Store) -> None:
    silent = {name: MetricInfo("", "neither") for name in ("lost_packets", "loss_rate", "runs")}
    run = store.begin_run(RUN, planned(case()), {"udp": silent})
    outcome = Outcome(1, MOMENT, dict.fromkeys(silent, 1.0))
    store.add(run, "stream", case().key, outcome, LAUNCH)
    kinds = {series.metric: series.kind for series in store.series([run])}
    # Whatever it is called: nobody knows of the last one what it is.
    assert kinds == {"lost_packets": "count", "loss_rate": "share", "runs": ""}
    assert [series.kind for series in store.history(case().key, "lost_packets")] == ["count"]


def test_a_run_that_is_not_there_is_the_users_mistake(store: Store) -> None:
    for run in (1, 0, -1, 2**40, 2**70):
        for ask in (store.run, store.replication_numbers, store.failures, store.reopen_run):
            with pytest.raises(InputError, match="railgauge list"):
                ask(run)
        with pytest.raises(InputError, match=f"no run {run} "):
            store.series([run])


def test_odd_names_and_texts_survive(store: Store) -> None:
    odd = case(link="gw→gw \"'; DROP TABLE run; -- \U0001f984\n%s :x {}" + "x" * 5000)
    run = store.begin_run(RUN, planned(odd, test="a'b"), METRICS)
    outcome = replace(failed(1), error_message="NUL \0 and half a surrogate \udcff")
    store.add(run, "a'b", odd.key, outcome, LAUNCH)
    store.add_facts(run, "gw→1", {"model": "π\0"})
    assert store.run(run).cases[0].case == odd
    (failure,) = store.failures(run)
    assert failure.error_message == "NUL \ufffd and half a surrogate \\udcff"
    assert store.run(run).facts == {"gw→1": {"model": "π\ufffd"}}


def test_the_measurement_view_has_the_public_columns(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1, 165_110_000.0), LAUNCH)
    measurements = rows(where, "SELECT * FROM measurement WHERE metric = 'throughput'")
    assert list(measurements[0]) == COLUMNS
    assert json.loads(str(measurements[0].pop("parameters"))) == case().parameters
    assert measurements == [
        {
            "run": run,
            "plan": "sharcnet-udp",
            "git_commit": "0123abcd",
            "started_at": "2025-11-21T02:00:01.250000Z",
            "test": "stream",
            "engine": "udp",
            "link": "gw→hh",
            "client_host": "gw1",
            "server_host": "hh1",
            "case_key": case().key,
            "replication": 1,
            "metric": "throughput",
            "value": 165_110_000.0,
            "unit": "bit/s",
            "status": "ok",
        }
    ]


def test_a_failed_replication_stands_in_the_view_once_without_a_value(
    store: Store, where: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    store.add(run, "stream", case().key, suspect(2), LAUNCH)
    store.add(run, "stream", case().key, failed(3), LAUNCH)
    measurements = rows(
        where,
        "SELECT replication, status, metric, value, unit FROM measurement ORDER BY replication",
    )
    assert [(row["replication"], row["status"]) for row in measurements] == [
        (1, "ok"),
        (1, "ok"),
        (2, "suspect"),
        (2, "suspect"),
        (3, "failed"),
    ]
    assert (measurements[-1]["metric"], measurements[-1]["value"], measurements[-1]["unit"]) == (
        None,
        None,
        None,
    )


def test_warmups_stand_in_a_view_of_their_own(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, warmup(), LAUNCH)
    store.add(run, "stream", case().key, measured(1, 8.0), LAUNCH)
    store.add(run, "stream", case().key, warmup(), LAUNCH)
    store.add(run, "stream", case().key, replace(failed(0), warmup=True), LAUNCH)
    assert rows(
        where, "SELECT avg(value) AS mean FROM measurement WHERE metric = 'throughput'"
    ) == [{"mean": 8.0}]
    assert rows(where, "SELECT count(*) AS n FROM measurement") == [{"n": 2}]
    warmups = rows(where, "SELECT * FROM warmup ORDER BY replication, metric")
    assert list(warmups[0]) == COLUMNS
    assert [(row["replication"], row["metric"], row["value"]) for row in warmups] == [
        (1, "loss_rate", 1.0),
        (1, "throughput", 1.0),
        (2, "loss_rate", 1.0),
        (2, "throughput", 1.0),
        (3, None, None),
    ]
    (series,) = store.series([run], ["throughput"])
    assert (series.values.tolist(), series.failed) == ([8.0], 0)


def test_a_launch_is_stored_once_with_what_both_ends_were_granted(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, measured(1), LAUNCH)
    store.add(run, "stream", case().key, measured(2), LAUNCH)
    store.add(run, "stream", case().key, measured(3), Launch(MOMENT, LAUNCH.client))
    launches = rows(where, "SELECT client, server, warnings, started_at FROM launch ORDER BY id")
    assert launches[0] == {
        "client": '{"sockbuf":10240}',
        "server": '{"sockbuf":20480}',
        "warnings": '["receive buffer clamped"]',
        "started_at": "2025-11-21T02:00:00.250000Z",
    }
    assert len(launches) == 2
    linked = rows(where, "SELECT number, launch_id FROM replication ORDER BY number")
    assert [row["launch_id"] for row in linked] == [1, 1, 2]


def test_a_large_plan_is_stored_whole(store: Store) -> None:
    cases = [case(size, count=count) for size in range(100) for count in range(100)]
    run = store.begin_run(RUN, planned(*cases), METRICS)
    store.begin_run(RUN, planned(*cases), METRICS)
    assert [planned_case.case for planned_case in store.run(run).cases] == cases
    assert [summary.cases for summary in store.runs()] == [10_000, 10_000]


def test_an_import_is_all_or_nothing(store: Store) -> None:
    imported = replace(RUN, origin="imported", plan_text="")
    good = ("stream", case().key, Outcome(1, None, {"throughput": 1.0}))
    bad = ("stream", case().key, Outcome(2, None, {"throughput": float("nan")}))
    with pytest.raises(StoreError):
        store.import_run(imported, [PlannedCase("stream", case(), 2)], METRICS, [good, bad])
    assert store.runs() == []
    run = store.import_run(imported, [PlannedCase("stream", case(), 1)], METRICS, [good])
    assert [(summary.id, summary.origin, summary.state) for summary in store.runs()] == [
        (run, "imported", "complete")
    ]


def test_sqlite_before_3_35_stores_the_same(tmp_path: Path) -> None:
    """It knows no INSERT … RETURNING."""
    statements: list[str] = []
    with (
        Store.open(str(tmp_path / "new.db")) as new,
        Store.open(str(tmp_path / "old.db")) as old,
    ):
        old._engine.dialect.insert_returning = False
        event.listen(
            old._engine, "before_cursor_execute", lambda *details: statements.append(details[2])
        )
        runs = fill(new)
        assert fill(old) == runs
        assert statements
        assert [statement for statement in statements if "RETURNING" in statement] == []
        assert [run_contents(old, run)[1:] for run in runs] == [
            run_contents(new, run)[1:] for run in runs
        ]
