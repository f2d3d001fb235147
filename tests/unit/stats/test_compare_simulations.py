"""How often comparisons are wrong; `make bench-compare` does this for longer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.comparison_samples import (
    autocorrelated,
    bimodal,
    coarse_clock,
    compared,
    differing,
    drifting,
    drifting_as_noisy,
    drifting_much,
    drifting_together,
    false_alarms,
    found_slower,
    log_normal,
    normal,
    sticky_modes,
)

from railgauge.stats.series_changes import Side, compare_all

_KINDS = [
    normal,
    log_normal,
    bimodal,
    sticky_modes,
    autocorrelated,
    drifting,
    drifting_together,
    drifting_much,
    drifting_as_noisy,
    coarse_clock,
]


@pytest.mark.parametrize("baseline", [1, 3])
@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_where_nothing_changed_a_change_is_rarely_told(kind, baseline):
    cases, comparisons = false_alarms(np.random.default_rng(1), kind, 60, baseline=baseline)
    assert cases <= 0.05
    assert comparisons <= 0.05


@pytest.mark.parametrize("together", [False, True], ids=["own", "together"])
@pytest.mark.parametrize("between", [0.01, 0.02])
@pytest.mark.parametrize("baseline", [1, 2])
@pytest.mark.parametrize("cases", [1, 4, 9, 10, 50])
def test_what_runs_differ_by_is_rarely_told_as_a_change(cases, baseline, between, together):
    kind = differing(between, together=together)
    draw = np.random.default_rng(5)
    _, comparisons = false_alarms(draw, kind, 60, cases=cases, baseline=baseline)
    assert comparisons <= 0.05


@pytest.mark.parametrize("between", [0.01, 0.02])
@pytest.mark.parametrize("cases", [1, 4, 9, 10, 50])
def test_a_fall_of_twenty_percent_is_found_with_a_single_run_in_the_baseline(cases, between):
    draw = np.random.default_rng(6)
    assert found_slower(draw, differing(between), 60, slower=0.25, cases=cases) >= 0.95


@pytest.mark.parametrize("cases", [10, 50])
def test_a_fall_of_five_percent_is_found_with_three_runs_in_the_baseline(cases):
    draw = np.random.default_rng(7)
    power = found_slower(draw, differing(0.005), 60, slower=0.0526, cases=cases, baseline=3)
    # Of more draws in 94 of 100: heavy tails can't be ruled out by few runs.
    assert power >= 0.88


@pytest.mark.parametrize("cases", [4, 9])
def test_a_fall_of_twenty_percent_is_found_with_three_runs_of_few_cases(cases):
    draw = np.random.default_rng(6)
    power = found_slower(draw, differing(0.02), 40, slower=0.25, cases=cases, baseline=3)
    # In 69 and 37 of 100 by what three runs alone say.
    assert power >= 0.9


@pytest.mark.parametrize(("cases", "share"), [(1, 0.6), (4, 0.4)])
def test_three_runs_of_few_steady_cases_show_a_fall_of_three_percent(cases, share):
    draw = np.random.default_rng(6)
    power = found_slower(draw, differing(0.003), 60, slower=0.031, cases=cases, baseline=3)
    # In 10 of 100 where the guess counts however steady a machine is.
    assert power >= share


@pytest.mark.parametrize(("cases", "baseline", "share"), [(3, 5, 0.6), (9, 3, 0.35), (9, 5, 0.6)])
def test_few_cases_lend_each_other_what_their_runs_differ_by(cases, baseline, share):
    draw = np.random.default_rng(7)
    kind = differing(0.01)
    power = found_slower(draw, kind, 60, slower=0.0526, cases=cases, baseline=baseline)
    # Nine cases: in 17 and 29 of 100 where each is judged with a guess.
    assert power >= share


def _skewed(draw, shape):
    levels = 0.02 * draw.lognormal(0, 1, (*shape[:2], 1)) / 2.16
    return normal(draw, shape) * np.exp(levels)


def test_skewed_levels_rarely_make_an_alarm_though_five_runs_of_few_cases_lack_the_tail():
    draw, alarms = np.random.default_rng(9), 0
    for _ in range(120):
        alarms += any(pair.change == "slower" for pair in compared(_skewed(draw, (6, 9, 10))))
    # In 28 of 100 by what each case's own runs say; of 400 draws in 11.
    assert alarms <= 19


@pytest.mark.parametrize("between", [0.01, 0.04, 0.08])
def test_what_is_usual_makes_no_alarms_where_runs_of_few_cases_differ_by_less_or_more(between):
    draw = np.random.default_rng(9)
    for cases in (1, 4):
        kind = differing(between)
        _, comparisons = false_alarms(draw, kind, 60, cases=cases, baseline=3)
        assert comparisons <= 0.1


def test_three_runs_of_a_case_alone_that_differ_by_two_percent_make_few_alarms():
    draw = np.random.default_rng(1)
    _, comparisons = false_alarms(draw, differing(0.02), 1600, cases=1, baseline=3)
    # In 6.0 of 100 where a case alone has as many degrees of freedom as nine.
    assert comparisons <= 0.05


def test_cases_that_are_off_together_are_no_surer_of_what_runs_differ_by():
    draw = np.random.default_rng(1)
    kind = differing(0.02, together=True)
    _, comparisons = false_alarms(draw, kind, 200, cases=10, baseline=3)
    # In 8 of 100 where they are taken for independent.
    assert comparisons <= 0.05


@pytest.mark.parametrize("cases", [7, 10])
def test_cases_that_are_far_off_together_are_no_changes_of_their_own(cases):
    draw = np.random.default_rng(1)
    kind = differing(0.05, together=True)
    _, comparisons = false_alarms(draw, kind, 150, cases=cases, baseline=5)
    # In 18 of 100 where what they have in common is that of runs' means, and their shift isn't.
    assert comparisons <= 0.08


def test_a_case_that_fell_among_cases_that_are_off_together_is_found():
    draw = np.random.default_rng(2)
    kind = differing(0.02, together=True)
    # In 52 of 100 where what they have in common isn't taken off.
    assert found_slower(draw, kind, 60, slower=0.25, cases=50, baseline=3) >= 0.95


def test_a_case_that_lacks_a_run_doesnt_hide_that_others_are_off_together():
    draw = np.random.default_rng(4)
    values = differing(0.02, together=True)(draw, (5, 12, 10))
    values[-1, [0, 11]] *= 1.25
    pairs = [(Side(list(case[:-1])), Side([case[-1]])) for case in values.swapaxes(0, 1)]
    pairs[-1] = (Side(pairs[-1][0].runs[1:]), pairs[-1][1])
    results = compare_all(pairs, ["lower"] * 12, [0.02] * 12)
    assert results[0].change == "slower"
    assert {result.change for result in results[1:-1]} <= {"same", "not enough data"}


def test_cases_that_move_by_exactly_the_same_count_as_one():
    kind = differing(0.02)

    def same(draw, shape):
        case = kind(draw, (shape[0], 1, shape[2]))
        return np.repeat(case, shape[1], axis=1) * np.linspace(1, 2, shape[1])[:, None]

    _, comparisons = false_alarms(np.random.default_rng(5), same, 400, cases=12, baseline=3)
    # In 7.8 of 100 where they are taken for independent.
    assert comparisons <= 0.05


def test_a_case_that_moves_with_the_mean_of_all_leaves_a_fall_beside_it_to_be_found():
    draw, finds = np.random.default_rng(3), 0
    for _ in range(60):
        logs = 0.02 * draw.standard_normal((4, 1)) + 0.003 * draw.standard_normal((4, 49))
        logs = np.append(logs, logs.mean(axis=1, keepdims=True), axis=1)
        logs[-1, 0] += np.log(1.25)
        results = compared(np.exp(logs)[..., None] * np.linspace(0.995, 1.005, 11))
        finds += results[0].change == "slower"
    # In 32 of 60 where a single such case hides what the others have in common.
    assert finds >= 0.95 * 60


def _heavy_tails(draw, shape):
    levels = draw.standard_t(3, (*shape[:2], 1)) / np.sqrt(3)
    return normal(draw, shape) * np.exp(0.01 * levels)


def test_heavy_tails_between_runs_rarely_make_an_alarm_with_three_runs():
    draw, alarms = np.random.default_rng(9), 0
    for _ in range(60):
        pairs = compared(_heavy_tails(draw, (4, 50, 10)))
        alarms += any(pair.change == "slower" for pair in pairs)
    # 10 where all cases' spreads are taken for what one more run shows.
    assert alarms <= 6


def _outliers(draw, shape):
    levels = 0.01 * draw.standard_normal((*shape[:2], 1))
    # Three of a hundred runs of a case are a twentieth to a quarter faster.
    struck = draw.random(levels.shape) < 0.03
    return normal(draw, shape) * np.exp(levels - struck * draw.uniform(0.05, 0.25, levels.shape))


@pytest.mark.parametrize("kind", [_heavy_tails, _outliers])
@pytest.mark.parametrize("baseline", [1, 2])
def test_many_cases_show_heavy_tails_with_one_or_two_runs(kind, baseline):
    draw, changes = np.random.default_rng(9), 0
    for _ in range(30):
        pairs = compared(kind(draw, (baseline + 1, 50, 10)))
        changes += any(pair.change in ("faster", "slower") for pair in pairs)
    assert changes <= 12


@pytest.mark.parametrize("fallen", [1, 3, 20])
def test_cases_that_fell_together_are_no_heavy_tails(fallen):
    draw, count = np.random.default_rng(9), 0
    for _ in range(10):
        values = differing(0.01)(draw, (2, 50, 10))
        values[-1, :fallen] *= 1.25
        count += sum(pair.change == "slower" for pair in compared(values)[:fallen])
    assert count >= 0.95 * 10 * fallen


def test_a_case_that_was_at_both_levels_in_the_baseline_rarely_makes_an_alarm():
    draw, alarms = np.random.default_rng(9), 0
    for _ in range(30):
        values = differing(0.01)(draw, (4, 50, 10))
        values[2:, -1] *= 1.08
        alarms += compared(values)[-1].change == "slower"
    # 6 where steady cases lend it their spread.
    assert alarms <= 3


@pytest.mark.parametrize(("cases", "share"), [(15, 0.87), (50, 0.89)])
def test_a_slowdown_of_three_percent_is_found_at_one_percent_of_noise(cases, share):
    # Of 600 draws in 91 and 92 of 100; 300 are off by two.
    assert found_slower(np.random.default_rng(2), normal, 300, cases=cases) >= share


def test_many_cases_of_a_coarse_clock_show_that_runs_are_alike():
    # Of many more draws in 86 of 100: a clock of ten steps hides it.
    assert found_slower(np.random.default_rng(8), coarse_clock, 40) >= 0.7


def test_more_runs_in_the_baseline_find_what_drift_hides():
    power_of_1, power_of_5 = (
        found_slower(np.random.default_rng(3), drifting, 60, baseline=runs) for runs in (1, 5)
    )
    assert power_of_1 < power_of_5
    assert power_of_5 > 0.6


@pytest.mark.parametrize("baseline", [3, 5])
def test_a_night_that_is_measured_twice_counts_as_one(baseline):
    draw = np.random.default_rng(4)
    alarms = 0
    for _ in range(60):
        nights = np.exp(0.02 * draw.standard_normal((baseline + 1, 50, 1)))
        # The last run confirms the one before, in the same night.
        runs = normal(draw, (baseline + 2, 50, 10)) * np.concatenate([nights, nights[-1:]])
        pairs = [(Side(list(case[:-2])), Side(list(case[-2:]))) for case in runs.swapaxes(0, 1)]
        comparisons = compare_all(pairs, ["lower"] * 50, [0.02] * 50)
        alarms += any(comparison.change in ("faster", "slower") for comparison in comparisons)
    # 1 and 4 of 100 in many more draws, more than half if they were two nights.
    assert alarms <= 6
