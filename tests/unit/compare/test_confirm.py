"""Measuring once more what looks slower: what is asked, and what counts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.support.verdict_samples import lane, noisy

from railgauge.compare.compare import Comparison, Result, compare
from railgauge.compare.confirm import cases_of, compare_suspects, confirmed, suspects
from railgauge.compare.reading import ReadRuns
from railgauge.compare.select import Selection
from railgauge.compare.verdict import few_runs_note
from railgauge.store.records import PlannedCase, Series

Values = Mapping[int, Sequence[float]]


def reading(runs: Mapping[int, Values]) -> ReadRuns:
    """Return what would be read of a store with these runs."""
    series_by_run: dict[int, dict[tuple[str, str], dict[str, Series]]] = {run: {} for run in runs}
    planned: dict[int, list[PlannedCase]] = {run: [] for run in runs}
    for run, cases in runs.items():
        for number, values in cases.items():
            case = lane(number)
            planned[run].append(PlannedCase("stream", case, 10))
            array = np.array(values, np.float64)
            none = np.zeros(len(array), np.bool_)
            series = Series(
                *(run, "fabric", "stream", case, "throughput", "bit/s", "higher"),
                *(array, none, 0, 10),
            )
            series_by_run[run]["stream", case.key] = {"throughput": series}
    return ReadRuns(planned, series_by_run, {run: {} for run in runs})


def judged(
    baseline: Sequence[Values], run: Values, again: Values
) -> tuple[Comparison, tuple[Result, ...]]:
    """Return what is left when what looks slower gives the values `again`."""
    runs = dict(enumerate([*baseline, run], 1))
    now = len(runs)
    first, second, union = (
        Selection(str(numbers), numbers) for numbers in (tuple(runs)[:-1], (now,), (now, now + 1))
    )
    compared = compare(reading(runs), first, second)
    suspect_lanes = {result.case.parameters["lane"] for result in suspects(compared)}
    anew = {number: values for number, values in again.items() if number in suspect_lanes}
    all_runs = reading({**runs, now + 1: anew})
    return confirmed(
        compared, compare_suspects(all_runs, first, now, now + 1), compare(all_runs, first, union)
    )


def changes(comparison: Comparison) -> dict[object, str]:
    return {result.case.parameters["lane"]: result.judged.change for result in comparison.results}


STEADY = {number: noisy(seed=number) for number in range(1, 9)}
NIGHTS = [
    STEADY,
    *({case: noisy(seed=night * 20 + case) for case in STEADY} for night in range(2, 5)),
]


def test_what_is_slower_again_counts():
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.95e9)
    comparison, unconfirmed = judged(NIGHTS, run, {4: noisy(0.95e9, seed=2)})
    assert changes(comparison) == {**dict.fromkeys(STEADY, "same"), 4: "slower"}
    assert unconfirmed == ()
    assert [side.n for side in comparison.results[0].sides] == [40, 20]


@pytest.mark.parametrize("slower", [10, 20])
def test_many_cases_that_are_slower_by_as_many_different_shares_are_all_confirmed(slower: int):
    levels = {case: 1e9 * (0.95 - 0.02 * case if case <= slower else 1) for case in range(1, 61)}
    baseline, run, again = (
        {case: noisy(level, seed=look + case) for case, level in of_look.items()}
        for look, of_look in ((0, dict.fromkeys(levels, 1e9)), (100, levels), (200, levels))
    )
    comparison, unconfirmed = judged([baseline], run, again)
    assert unconfirmed == ()
    assert [case for case, change in changes(comparison).items() if change == "slower"] == [
        *range(slower, 0, -1)
    ]


def test_what_is_slower_again_counts_though_its_own_runs_alone_would_not_show_it():
    # They differ by chance by as much as all others', of which three runs of one case say little.
    levels = {case: [0.99e9, 1e9, 1.01e9] for case in range(1, 31)} | {4: [0.985e9, 1e9, 1.015e9]}
    nights = [
        {case: noisy(level[(case + night) % 3], seed=night) for case, level in levels.items()}
        for night in range(3)
    ]
    tonight = {case: noisy(seed=9 + case) for case in levels} | {4: noisy(0.94e9)}
    comparison, unconfirmed = judged(nights, tonight, {4: noisy(0.94e9, seed=2)})
    assert unconfirmed == ()
    assert [result.case.parameters["lane"] for result in comparison.of("slower")] == [4]


def test_what_passed_by_itself_is_told_and_does_not_count():
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.95e9)
    comparison, (only,) = judged(NIGHTS, run, {4: noisy(seed=20)})
    assert "slower" not in changes(comparison).values()
    assert only.case.parameters["lane"] == 4
    assert only.judged.reason.startswith("it looked slower, but not so when measured once more")


def test_what_is_not_slower_again_is_the_same_only_if_all_its_values_say_so():
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.9e9)
    _, (only,) = judged(NIGHTS, run, {4: noisy(seed=20)})
    assert only.judged.low < 0.98
    assert only.judged.change == "not enough data"
    assert only.judged.reason.endswith("; of that run alone, any change is smaller than 2 %")


def test_what_all_values_call_the_same_is_the_same_for_that_reason():
    # Slower by hardly more than what matters, which is 2 %.
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.9799e9, noise=0.0002)
    _, (only,) = judged(NIGHTS, run, {4: noisy(0.9999e9, seed=20, n=40)})
    assert only.judged.change == "same"
    assert only.judged.low >= 0.98
    assert only.judged.reason.endswith("; of both runs together, any change is smaller than 2 %")


def test_what_was_not_slower_again_is_no_reason_to_name_more_runs():
    # Its own is another one: the note on runs would have said that it looked slower.
    run = {1: noisy(0.88e9), 2: noisy(seed=3)}
    comparison, (only,) = judged([{1: noisy(), 2: noisy(seed=2)}], run, {1: noisy(1e9, seed=4)})
    assert only.judged.change == "not enough data"
    assert few_runs_note(comparison).startswith("1 of 2 results: not enough baseline runs: with")


def test_what_could_not_be_measured_again_is_judged_by_the_first_run():
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.95e9)
    comparison, unconfirmed = judged(NIGHTS, run, {4: []})
    assert changes(comparison)[4] == "slower"
    assert "could not be measured again" in comparison.results[0].judged.reason
    assert unconfirmed == ()


def test_a_loss_where_there_was_none_is_looked_at_again_however_small():
    # One among so many isn't shown by one run; 0.1 % of nothing is no share.
    cases = range(1, 5001)
    baseline = {case: [0.0] * 10 for case in cases}
    run = {**baseline, 77: [0.001 + number * 7 % 10 / 1e5 for number in range(10)]}
    runs = reading({1: baseline, 2: run})
    for run_series in runs.series.values():
        for metrics in run_series.values():
            assert isinstance(metrics, dict)
            metrics["loss_rate"] = replace(
                metrics.pop("throughput"), metric="loss_rate", unit="1", better="lower"
            )
    compared = compare(runs, Selection("1", (1,)), Selection("2", (2,)))
    assert compared.of("slower") == []
    assert [result.case.parameters["lane"] for result in suspects(compared)] == [77]


def test_a_metric_that_only_the_second_look_has_is_left_out():
    run = {number: noisy(seed=number + 10) for number in STEADY}
    run[4] = noisy(0.95e9)
    runs = reading(dict(enumerate([*NIGHTS, run, {4: noisy(0.95e9, seed=20)}], 1)))
    metrics = runs.series[6]["stream", lane(4).key]
    assert isinstance(metrics, dict)
    metrics["latency"] = replace(metrics["throughput"], metric="latency", better="lower")
    first, second, third, union = (
        Selection(str(numbers), numbers) for numbers in ((1, 2, 3, 4), (5,), (6,), (5, 6))
    )
    comparison, unconfirmed = confirmed(
        *(compare(runs, first, selection) for selection in (second, third, union))
    )
    assert {result.metric for result in comparison.results} == {"throughput"}
    assert [result.case.parameters["lane"] for result in comparison.of("slower")] == [4]
    assert unconfirmed == ()


def test_a_metric_that_neither_side_has_is_no_result():
    runs = reading({1: {1: noisy(), 2: []}, 2: {1: noisy(), 2: []}})
    for run_series in runs.series.values():
        for metrics in run_series.values():
            assert isinstance(metrics, dict)
            empty = replace(metrics["throughput"], metric="latency", values=np.zeros(0))
            metrics["latency"] = empty
    compared = compare(runs, Selection("1", (1,)), Selection("2", (2,)))
    pairs = sorted((result.case.parameters["lane"], result.metric) for result in compared.results)
    assert pairs == [(1, "throughput"), (2, "")]


def test_one_slower_case_of_thousands_is_found_though_one_run_cannot_show_it():
    draw = random.Random(1)
    cases = range(1, 5001)
    first, second = (
        {case: [draw.gauss(1e9, 1e7) for _ in range(10)] for case in cases} for _ in range(2)
    )
    second[77] = [value * 0.96 for value in second[77]]
    again = {case: [draw.gauss(1e9, 1e7) for _ in range(10)] for case in cases}
    again[77] = [value * 0.96 for value in again[77]]
    comparison, unconfirmed = judged([first], second, again)
    slower = [result.case.parameters["lane"] for result in comparison.of("slower")]
    assert slower == [77]
    assert len(unconfirmed) < 20


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_a_plan_held_against_itself_seldom_raises_an_alarm(noise: float):
    alarms = 0
    for number in range(60):
        draw = random.Random(number)
        runs = [
            {case: [draw.gauss(1e9, noise * 1e9) for _ in range(10)] for case in range(1, 31)}
            for _ in range(3)
        ]
        comparison, _ = judged(runs[:1], *runs[1:])
        alarms += bool(comparison.of("slower"))
    # One in twenty is 3 of 60; chance alone makes more than eight of that in 1 of 200.
    assert alarms <= 8


def test_the_cases_to_measure_again_are_named_by_test_and_key():
    runs = reading({1: {1: noisy(), 2: noisy()}, 2: {1: noisy(0.9e9), 2: noisy(seed=2)}})
    comparison = compare(runs, Selection("1", (1,)), Selection("2", (2,)))
    (result,) = suspects(comparison)
    assert cases_of([result]) == {("stream", result.case.key)}
