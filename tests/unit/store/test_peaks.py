"""Peaks and skipped cases go into the store and come out of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    PEAK,
    RUN,
    case,
    failed,
    measured,
    pair,
    planned,
    warmup,
)

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store

ABSENT = "iperf3 isn't on gw1"


def test_peaks_come_back_by_host_and_resource(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    other = store.begin_run(RUN, planned(case()), METRICS)
    clock = replace(PEAK, resource="cpu_double", value=147.2e9, unit="op/s", source="found: …\0")
    store.add_peaks(run, [replace(PEAK, host="hh1"), PEAK, clock])
    stored_clock = replace(clock, source="found: …\ufffd")
    assert store.peaks(run) == (stored_clock, PEAK, replace(PEAK, host="hh1"))
    assert store.peaks(other) == ()


def test_of_a_peak_that_changed_the_last_one_counts_and_the_first_is_kept(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add_peaks(run, [PEAK])
    store.add_peaks(run, [PEAK])
    faster = replace(PEAK, value=70e9, source="found: 4 channels")
    store.add_peaks(run, [faster])
    assert store.peaks(run) == (faster,)
    store.add_peaks(run, [PEAK])
    assert store.peaks(run) == (PEAK,)


def test_what_was_stored_last_counts_also_where_the_clock_was_set_back(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    other_host = replace(PEAK, host="hh1")
    store.add_peaks(run, [PEAK, other_host])
    store.add_facts(run, "gw1", {"kernel": "6.1", "cpu": "E5-2670"})
    ahead = "2999-12-31T23:59:59.999999Z"
    with store.writing() as connection:
        for table in ("peak", "host_fact"):
            connection.exec_driver_sql(f"UPDATE {table} SET recorded_at = '{ahead}'")
    for value, kernel in ((60e9, "6.2"), (70e9, "6.3"), (80e9, "6.1")):
        changed = replace(PEAK, value=value)
        store.add_peaks(run, [changed, other_host])
        store.add_facts(run, "gw1", {"kernel": kernel, "cpu": "E5-2670"})
        assert store.peaks(run) == (changed, other_host)
        assert store.run(run).facts == {"gw1": {"kernel": kernel, "cpu": "E5-2670"}}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_peak_that_nothing_could_reach_is_refused(store: Store, value: float) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match="can't be the peak memory of gw1"):
        store.add_peaks(run, [PEAK, replace(PEAK, value=value)])
    assert store.peaks(run) == ()


def test_peaks_of_a_run_that_is_not_there_are_told(store: Store) -> None:
    with pytest.raises(InputError, match="there is no run 7"):
        store.peaks(7)
    with pytest.raises(InputError, match="there is no run 7"):
        store.add_peaks(7, [PEAK])


def test_a_skipped_case_says_why_and_is_not_asked_for(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(64), case(1460), replications=3), METRICS)
    store.add(run, "stream", case(64).key, measured(1), LAUNCH)
    store.skip_cases(run, {("stream", case(1460).key): ABSENT})
    assert [planned_case.skipped for planned_case in store.run(run).cases] == ["", ABSENT]
    all_series = store.series([run], ["throughput"])
    assert [(len(series.values), series.planned, series.skipped) for series in all_series] == [
        (1, 3, ""),
        (0, 3, ABSENT),
    ]
    summary = store.runs()[0]
    assert (summary.cases, summary.skipped, summary.asked, summary.measured) == (2, 1, 3, 1)


def test_a_case_is_skipped_in_its_test_and_run_alone(store: Store) -> None:
    cases = [*planned(case()), *planned(case(), test="again")]
    runs = [store.begin_run(RUN, cases, METRICS) for _ in range(2)]
    store.skip_cases(runs[0], {("again", case().key): ABSENT})
    assert [[planned_case.skipped for planned_case in store.run(run).cases] for run in runs] == [
        ["", ABSENT],
        ["", ""],
    ]


def test_a_case_that_is_there_again_is_asked_for_again(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(), replications=3), METRICS)
    store.skip_cases(run, {("stream", case().key): ABSENT})
    store.skip_cases(run, {("stream", case().key): None})
    assert store.run(run).cases[0].skipped == ""
    assert (store.runs()[0].asked, store.runs()[0].skipped) == (3, 0)


def test_what_a_case_gave_before_it_was_skipped_was_asked_for(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(), replications=5), METRICS)
    for outcome in (warmup(), measured(1), failed(2)):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    store.skip_cases(run, {("stream", case().key): ABSENT})
    summary = store.runs()[0]
    assert (summary.asked, summary.measured, summary.failed) == (2, 1, 1)


def test_a_run_may_begin_with_skipped_cases(store: Store) -> None:
    planned_case = replace(planned(case())[0], skipped=ABSENT)
    assert store.run(store.begin_run(RUN, [planned_case], METRICS)).cases == (planned_case,)


def test_many_cases_are_skipped_at_once_or_none(store: Store) -> None:
    cases = [pair("n1", f"n{number}", ()) for number in range(2, 9)]
    run = store.begin_run(RUN, planned(*cases), METRICS)
    reasons = {("stream", host_pair.key): ABSENT for host_pair in cases}
    with pytest.raises(StoreError, match="has no case nosuch"):
        store.skip_cases(run, {**reasons, ("stream", "nosuch"): ABSENT})
    assert {planned_case.skipped for planned_case in store.run(run).cases} == {""}
    store.skip_cases(run, reasons)
    assert {planned_case.skipped for planned_case in store.run(run).cases} == {ABSENT}


def test_a_case_that_the_run_has_not_cannot_be_skipped(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match=f"run {run} has no case .* in a test 'other'"):
        store.skip_cases(run, {("other", case().key): ABSENT})
