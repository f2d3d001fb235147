"""Faster, same, slower, not enough data: what comparisons say of values, and why."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from tests.support.comparison_samples import autocorrelated, compared, drifting_much, normal

from railgauge.stats.series_changes import Side, compare_all


def draw(*shape, seed=1):
    return normal(np.random.default_rng(seed), shape)


def compare_pair(first, second, better="lower", smallest=0.02, between_runs=0.0, **rest):
    """Compare two sides; runs differ by nothing but their replications if nothing else is said."""
    sides = [Side([np.asarray(run, float) for run in runs]) for runs in (first, second)]
    rest["between_runs"] = between_runs
    return compare_all([(sides[0], sides[1])], [better], [smallest], **rest)[0]


@pytest.mark.parametrize(
    ("better", "by", "change"),
    [
        ("lower", 1.05, "slower"),
        ("lower", 0.95, "faster"),
        ("higher", 1.05, "faster"),
        ("higher", 0.95, "slower"),
        ("higher", 1.00, "same"),
    ],
)
def test_a_cost_that_rises_and_a_rate_that_falls_are_slower(better, by, change):
    values = draw(1, 2, 10)[0]
    comparison = compare_pair([values[0]], [values[1] * by], better)
    assert comparison.change == change
    assert comparison.ratio == pytest.approx(by, abs=0.012)
    assert comparison.low <= comparison.ratio <= comparison.high
    assert comparison.n == (10, 10)


def test_an_effect_below_a_half_is_one_for_the_worse():
    first, second = np.arange(1.0, 9), np.arange(101.0, 109)
    assert compare_pair([first], [second], "lower").effect == 0
    assert compare_pair([first], [second], "higher").effect == 1
    assert compare_pair([first], [first], "higher").effect == 0.5


def test_a_change_smaller_than_what_matters_is_none():
    values = draw(1, 2, 200)[0]
    comparison = compare_pair([values[0]], [values[1] * 1.01])
    assert comparison.change == "same"
    assert comparison.q < 0.01
    assert comparison.low > 1
    assert compare_pair([values[0]], [values[1] * 1.01], smallest=0.005).change == "slower"


def test_a_change_that_may_be_more_than_what_matters_is_not_called_the_same():
    values = draw(1, 2, 20)[0]
    comparison = compare_pair([values[0]], [values[1] * 1.018])
    assert comparison.q < 0.01
    assert comparison.ratio < 1.02 < comparison.high
    assert comparison.change == "not enough data"
    assert "replications of each would decide" in comparison.reason


def test_a_change_between_noisy_series_is_neither_told_nor_denied():
    values = np.exp(0.2 * np.random.default_rng(2).standard_normal((2, 10)))
    comparison = compare_pair([values[0]], [values[1]])
    assert comparison.change == "not enough data"
    assert (
        "replications of each would decide" in comparison.reason or "too much" in comparison.reason
    )


def test_fewer_than_four_values_of_each_are_not_judged():
    comparison = compare_pair([[1.0, 1.1, 1.2]], [[9.0, 9.1, 9.2]])
    assert comparison.change == "not enough data"
    assert comparison.reason == "3 and 3 replications can't show any change: take 4 of each"
    assert math.isnan(comparison.q)
    assert (comparison.low, comparison.high) == (0, math.inf)
    assert compare_pair([[1.0]], [[2.0]]).change == "not enough data"


def test_a_side_without_values_is_told():
    comparison = compare_pair([], [[1.0, 2.0]])
    assert comparison.change == "not enough data"
    assert comparison.reason == "no values on the first side"
    assert math.isnan(comparison.p) and math.isnan(comparison.ratio)
    assert compare_pair([[math.nan, math.inf]], [[1.0]]).n == (0, 1)


def test_no_pairs_give_no_results():
    assert compare_all([], [], []) == []


def test_what_has_no_direction_is_refused():
    with pytest.raises(ValueError, match="only what has a direction"):
        compare_pair([[1.0]], [[2.0]], better="")


def test_one_change_among_ten_thousand_cases_says_how_many_replications_it_takes():
    values = draw(2, 10_000, 10)
    values[1, 7] *= 1.2
    comparisons = compared(values)
    assert comparisons[7].change == "not enough data"
    assert comparisons[7].reason == (
        "10 and 10 replications can't show a change of one among 10,000 results: take 11 of each"
    )
    assert {comparison.change for comparison in comparisons} <= {"same", "not enough data"}


def test_series_too_short_to_be_judged_do_not_cost_the_others():
    values = draw(2, 1, 10)
    values[1] *= 1.05
    short = [(Side([np.ones(2)]), Side([np.ones(2)]))] * 1000
    long = (Side([values[0, 0]]), Side([values[1, 0]]))
    comparisons = compare_all([long, *short], ["lower"] * 1001, [0.02] * 1001, between_runs=0.0)
    assert comparisons[0].change == "slower"
    assert comparisons[0].q == comparisons[0].p


def test_a_constant_that_stays_is_the_same_and_one_that_changes_is_told():
    assert compare_pair([[7.0] * 10], [[7.0] * 10]).change == "same"
    assert compare_pair([[7.0] * 10], [[7.0] * 10]).low == 1
    assert compare_pair([[100.0] * 10], [[90.0] * 10]).change == "faster"
    assert compare_pair([[1000.0] * 10], [[970.0] * 10], "higher").change == "slower"


def test_one_step_of_a_coarse_clock_is_no_change():
    comparison = compare_pair([[45e-6] * 10], [[46e-6] * 10])
    assert comparison.change == "not enough data"
    assert comparison.reason.startswith("values come in steps of 2.2 %")
    assert compare_pair([[45e-6] * 10], [[48e-6] * 10]).change == "slower"


def test_losses_are_compared_by_their_difference():
    none, losses = np.zeros(10), np.array([3, 4, 5, 3, 4, 5, 6, 3, 7, 4.0])
    comparison = compare_pair([none], [losses])
    assert comparison.change == "slower"
    assert math.isnan(comparison.ratio)
    # Counts may be rounded, too: one more or less at either end.
    assert (comparison.low, comparison.high) == (2, 6)
    assert compare_pair([none], [none]).change == "same"
    assert compare_pair([losses], [none]).change == "faster"


def test_a_rate_that_falls_to_nothing_falls_by_no_more_than_all_of_it():
    rate = 100 * draw(1, 1, 12)[0][0]
    comparison = compare_pair([rate], [np.zeros(12)], "higher")
    assert comparison.change == "slower"
    assert comparison.low == -np.median(rate)
    assert comparison.reason.endswith(" and -100.0 %")
    # An offset may well be on the other side of 0.
    assert compare_pair([rate], [rate - 250], "higher").low < -np.median(rate)


def losing(share, n=30, seed=1, most=6):
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < share, random.integers(1, most, n), 0).astype(float)


@pytest.mark.parametrize("runs", [1, 3])
def test_losses_in_a_third_of_replications_are_slower_where_there_were_none(runs):
    zeros = [np.zeros(30)] * runs
    comparison = compare_pair(zeros, [losing(0.35)])
    assert comparison.change == "slower"
    assert comparison.reason == "more than before, when most values were 0"
    # All of the same number, too.
    assert compare_pair(zeros, [losing(0.35, most=2)]).change == "slower"
    assert compare_pair(zeros, [np.zeros(30)]).change == "same"


def test_losses_that_disappear_are_faster():
    assert compare_pair([losing(0.35)], [np.zeros(30)]).change == "faster"


def test_losses_that_come_and_go_between_runs_are_no_change():
    before = [np.zeros(30), losing(0.5, seed=2), losing(0.1, seed=3)]
    comparison = compare_pair(before, [losing(0.35)])
    assert comparison.change == "not enough data"
    assert "%" not in comparison.reason


def test_what_a_part_of_the_replications_changed_by_is_not_called_the_same():
    values = 1 + 0.005 * np.random.default_rng(1).standard_normal((2, 100))
    values[1, ::4] *= 1.5
    comparison = compare_pair([values[0]], [values[1]])
    assert comparison.low > 0.98 and comparison.high < 1.02
    assert comparison.change == "not enough data"
    assert comparison.reason.startswith("only some replications moved: the mean by +12.")


def test_a_throughput_that_fell_to_nothing_is_slower():
    comparison = compare_pair([draw(1, 1, 10)[0, 0]], [np.zeros(10)], "higher")
    assert comparison.change == "slower"
    assert math.isnan(comparison.ratio)


def test_a_single_outlier_changes_nothing():
    values = draw(1, 2, 10, seed=3)[0]
    before = compare_pair([values[0]], [values[1]])
    values[1, 4] = 100.0
    after = compare_pair([values[0]], [values[1]])
    assert (before.change, after.change) == ("same", "same")
    assert after.ratio == pytest.approx(before.ratio, abs=0.01)


def test_the_unit_makes_no_difference():
    values = draw(1, 2, 10, seed=4)[0]
    values[1] *= 1.04
    for scale in (1e-9, 1e9):
        small = compare_pair([values[0] * scale], [values[1] * scale])
        plain = compare_pair([values[0]], [values[1]])
        assert small.change == plain.change == "slower"
        assert small.ratio == pytest.approx(plain.ratio)


def test_the_order_of_pairs_makes_no_difference():
    values = draw(3, 30, 10, seed=5)
    values[-1, :5] *= 1.04
    forward, backward = compared(values), compared(values[:, ::-1])
    for one_way, other_way in zip(forward, backward[::-1], strict=True):
        assert one_way.change == other_way.change
        assert one_way.q == pytest.approx(other_way.q)


def test_turning_the_sides_turns_faster_to_slower():
    values = draw(2, 5, 10, seed=6)
    values[1, 0] *= 1.25
    forward, backward = compared(values)[0], compared(values[::-1])[0]
    assert (forward.change, backward.change) == ("slower", "faster")
    assert forward.ratio == pytest.approx(1 / backward.ratio)
    assert forward.p == pytest.approx(backward.p)


def test_a_change_has_to_stand_out_from_what_the_baselines_runs_differ_by():
    values = draw(6, 20, 10, seed=7)
    values[:, 0] *= np.array([1, 1.06, 0.95, 1.04, 0.96, 1.05])[:, None]
    values[-1, 1] *= 1.05
    comparisons = compared(values)
    assert comparisons[0].change == "not enough data"
    assert comparisons[1].change == "slower"
    alone = compare_pair([values[0, 0]], [values[-1, 0]])
    assert alone.change == "slower"


def test_what_the_baselines_runs_differ_by_is_told():
    values = drifting_much(np.random.default_rng(8), (4, 50, 10))
    reasons = [
        comparison.reason
        for comparison in compared(values)
        if "runs of the first side" in comparison.reason
    ]
    assert reasons
    assert "differ among themselves" in reasons[0]


@pytest.mark.parametrize(("factor", "between"), [(2.0, "106 %"), (0.5, "51 %")])
def test_what_runs_differ_by_is_a_share_the_way_of_the_change(factor: float, between: str):
    levels = np.array([100, 120, 90, 100 * factor])
    *first, second = levels[:, None] * (1 + 0.01 * draw(4, 10))
    comparison = compare_pair(first, [second])
    assert comparison.change == "not enough data"
    assert comparison.reason.endswith(f"so that another may differ by {between} anyway")


def test_what_is_beyond_what_one_case_may_differ_by_may_be_one_of_many_all_the_same():
    comparisons = compared(drifting_much(np.random.default_rng(6), (4, 50, 10)))
    pattern = re.compile(r"([-+][.\d]+) %, but .* may differ by ([.\d]+) % anyway(.*)")
    reasons = [match for entry in comparisons if (match := pattern.fullmatch(entry.reason))]
    assert {match[3] for match in reasons} == {"", ", one of 50 results by more"}
    assert all(bool(match[3]) == (abs(float(match[1])) > float(match[2])) for match in reasons)


def test_two_runs_that_differ_in_every_case_tell_of_no_case():
    comparisons = compared(drifting_much(np.random.default_rng(9), (2, 50, 10)))
    assert {comparison.change for comparison in comparisons} <= {"same", "not enough data"}
    assert any(
        "between these two runs" in comparison.reason or "anyway" in comparison.reason
        for comparison in comparisons
    )


@pytest.mark.parametrize(("slower", "by"), [(25, 1.05), (50, 1.1)])
def test_half_of_the_cases_or_all_of_them_may_be_slower(slower, by):
    values = draw(2, 50, 10, seed=10)
    values[1, :slower] *= by
    changes = [comparison.change for comparison in compared(values)]
    assert changes[:slower].count("slower") >= 0.95 * slower
    assert changes[slower:].count("slower") == 0


@pytest.mark.parametrize(("by", "percent"), [(1.013, "+1."), (1.05, "+5.")])
def test_what_all_cases_moved_by_is_no_change_of_one(by, percent):
    values = draw(2, 50, 10, seed=11)
    values[1] *= by
    comparisons = compared(values)
    assert {comparison.change for comparison in comparisons} <= {"same", "not enough data"}
    beyond = [comparison for comparison in comparisons if comparison.ratio >= 1.02]
    assert beyond
    assert all(f"most cases moved by {percent}" in comparison.reason for comparison in beyond)


def test_what_did_not_move_with_the_others_has_not_changed_the_other_way():
    values = draw(2, 50, 10, seed=11)
    values[1, :40] *= 1.06
    values[1, 40:] *= 1.03
    assert not any(comparison.change == "faster" for comparison in compared(values))


@pytest.mark.parametrize("baseline", [1, 2])
def test_a_large_change_is_told_though_nothing_shows_what_runs_differ_by(baseline):
    values = draw(baseline + 1, 9, 10, seed=17)
    values[-1, 0] *= 1.25
    values[-1, 1] *= 1.05
    comparisons = compared(values)
    assert [comparison.change for comparison in comparisons] == ["slower"] + ["not enough data"] * 8
    assert [comparison.few_runs for comparison in comparisons] == [False] + [True] * 8
    assert len({comparison.reason for comparison in comparisons[1:]}) == 1
    assert comparisons[1].reason.startswith(
        "not enough baseline runs: with fewer than three, runs are taken"
    )


@pytest.mark.parametrize("baseline", [1, 2])
def test_the_slowest_few_are_taken_to_differ_from_run_to_run_by_more(baseline):
    values = draw(baseline + 1, 2, 10, seed=23) ** 3
    values[-1, 0] *= 1.12
    names = [(0, "rtt_p50"), (1, "rtt_p99")]

    def changes(extremes):
        pairs = [(Side([*values[:-1, case]]), Side([values[-1, case]])) for case in range(2)]
        judged = compare_all(pairs, ["lower"] * 2, [0.02] * 2, names=names, extremes=extremes)
        return [comparison.change for comparison in judged]

    assert changes([False, False])[0] == "slower"
    assert changes([True, False])[0] == "not enough data"
    # What scatters more tonight as it is worse doesn't hide it.
    values[-1, 0] = np.mean(values[-1, 0]) * (values[-1, 0] / np.mean(values[-1, 0])) ** 3 * 1.5
    assert changes([True, True])[0] == "slower"


def test_a_few_cases_show_that_one_run_differs_from_another_by_more_than_is_usual():
    # Nine cases of a single earlier run, of which one would be 13 % slower.
    levels = np.exp(0.08 * np.array([-1.5, -1, -0.6, -0.3, 0, 0.3, 0.6, 1, 1.5]))
    values = draw(2, 9, 10, seed=21)
    values[1] *= levels[:, None]
    assert {comparison.change for comparison in compared(values)} == {"not enough data"}
    # What they don't show is that runs differ by less.
    values[1] /= levels[:, None]
    values[1, 0] *= 1.09
    assert compared(values)[0].change == "not enough data"
    values[1, 0] *= 1.04
    assert compared(values)[0].change == "slower"


@pytest.mark.parametrize("baseline", [1, 3])
def test_metrics_of_a_case_are_not_taken_for_as_many_cases(baseline: int):
    # Their scatter is one round trip's: judged beside others each is as certain as by itself.
    draws = draw(baseline + 1, 5, 10, seed=22)
    metrics = {
        "rtt_p50": draws,
        "rtt_mean": draws**1.1,
        "rtt_p99": (draws * np.exp(0.04 * draw(baseline + 1, 5, 1, seed=23))) ** 2,
    }
    sides = {
        metric: [(Side(list(runs[:-1])), Side([runs[-1]])) for runs in values.swapaxes(0, 1)]
        for metric, values in metrics.items()
    }
    names = [(case, metric) for metric in metrics for case in range(5)]
    pairs = [pair for of_metric in sides.values() for pair in of_metric]
    together = compare_all(pairs, ["lower"] * 15, [0.02] * 15, names=names)
    alone = [
        compare_all(of_metric, ["lower"] * 5, [0.02] * 5, names=names[:5])
        for of_metric in sides.values()
    ]
    assert [result.p for result in together] == [result.p for of in alone for result in of]


@pytest.mark.parametrize(("unchanged", "more"), [(0, ""), (3, ", one of 4 results by more")])
def test_what_runs_are_taken_to_differ_by_is_not_said_to_be_seen(unchanged, more):
    # All less than before, but by chance so unevenly that the change may be none.
    before = Side([np.array([13.308, 13.26, 13.34, 13.3, 13.444])])
    after = Side([np.array([11.54, 11.468, 11.484, 13.252, 13.252])])
    pairs = [(before, after)] + [(before, before)] * unchanged
    comparison = compare_all(pairs, ["lower"] * len(pairs), [0.02] * len(pairs))[0]
    assert comparison.reason == (
        f"-13.3 %, but runs are taken to differ by up to 6.7 %{more}: a baseline of three runs or"
        " more would decide"
    )


def test_two_runs_that_differ_by_more_than_is_usual_show_it():
    values = draw(3, 1, 10, seed=18)
    values[0] *= 1.15
    values[2] *= 0.85
    assert compared(values[1:])[0].change == "faster"
    assert compared(values)[0].change == "not enough data"


def test_what_a_plan_calls_smaller_than_what_matters_is_the_same_with_one_run():
    assert compared(draw(2, 1, 10), smallest=0.1)[0].change == "same"


def test_replications_that_follow_each_other_count_for_fewer():
    values = np.repeat(draw(2, 40, 5, seed=12), 4, axis=2) * (1 + 1e-4 * draw(2, 40, 20, seed=13))
    values[1] *= 1 + 0.01 * np.random.default_rng(14).standard_normal((40, 1))
    comparisons = compared(values)
    assert {comparison.change for comparison in comparisons} <= {"same", "not enough data"}
    assert any(
        "depends on the one before, they count as" in comparison.reason
        for comparison in comparisons
    )


def test_no_interval_of_what_is_slower_holds_no_change():
    # Two groups of values: the interval is skewed, and wider as each value keeps to its group.
    random = np.random.default_rng(5)

    def grouped(share):
        mask = np.repeat(random.random((8, 7)) < share, 2, axis=1)
        return np.where(mask, 0.7, 1.0) * normal(random, mask.shape)

    pairs = [
        (Side([first]), Side([second, third]))
        for _ in range(20)
        for first, second, third in zip(grouped(0.1), grouped(0.6), grouped(0.6), strict=True)
    ]
    comparisons = [
        comparison
        for at in range(0, len(pairs), 8)
        for comparison in compare_all(pairs[at : at + 8], ["higher"] * 8, [0.02] * 8)
    ]
    slower = [comparison for comparison in comparisons if comparison.change == "slower"]
    assert len(slower) > 20
    assert max(comparison.high for comparison in slower) < 1


def test_no_interval_of_what_changed_by_steps_holds_no_change():
    random = np.random.default_rng(4)
    first = random.integers(100, 104, (300, 10)).astype(float)
    second = random.integers(100, 104, (300, 10)) + random.integers(0, 6, (300, 1))
    comparisons = [
        compare_pair([before], [after], smallest=0.01)
        for before, after in zip(first, second.astype(float), strict=True)
    ]
    slower = [comparison for comparison in comparisons if comparison.change == "slower"]
    unsure = [
        comparison
        for comparison in comparisons
        if comparison.q <= 0.05 and comparison.low <= 1 and comparison.ratio > 1.01
    ]
    assert len(slower) > 50
    assert min(comparison.low for comparison in slower) > 1
    assert len(unsure) > 5
    assert {comparison.change for comparison in unsure} == {"not enough data"}
    assert all("values come in steps" in comparison.reason for comparison in unsure)


def test_dependent_replications_hide_from_one_run_what_a_baseline_of_three_shows():
    values = autocorrelated(np.random.default_rng(16), (4, 50, 10))
    values[-1, 0] *= 1.1
    one_run, three_runs = compared(values[-2:])[0], compared(values)[0]
    assert one_run.change == "not enough data"
    assert "a baseline of three runs or more would decide" in one_run.reason
    assert three_runs.change == "slower"


def test_a_stricter_level_is_kept():
    values = draw(1, 2, 5, seed=15)[0]
    comparison = compare_pair([values[0]], [values[1] * 1.1])
    assert comparison.change == "slower"
    strict = compare_pair([values[0]], [values[1] * 1.1], level=0.001)
    assert strict.change == "not enough data"
    assert strict.reason == "5 and 5 replications can't show any change: take 7 of each"
