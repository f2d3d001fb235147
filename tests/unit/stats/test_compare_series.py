"""Faster, same, slower, not enough data: what comparisons say of values, and why."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.comparison_samples import autocorrelated, compared, drifting_much, normal

from railgauge.stats.series_changes import Side, compare_all


def draw(*shape, seed=1):
    return normal(np.random.default_rng(seed), shape)


def one(first, second, better="lower", smallest=0.02, between_runs=0.0, **rest):
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
    found = one([values[0]], [values[1] * by], better)
    assert found.change == change
    assert found.ratio == pytest.approx(by, abs=0.012)
    assert found.low <= found.ratio <= found.high
    assert found.n == (10, 10)


def test_an_effect_below_a_half_is_one_for_the_worse():
    first, second = np.arange(1.0, 9), np.arange(101.0, 109)
    assert one([first], [second], "lower").effect == 0
    assert one([first], [second], "higher").effect == 1
    assert one([first], [first], "higher").effect == 0.5


def test_a_change_smaller_than_what_matters_is_none():
    values = draw(1, 2, 200)[0]
    found = one([values[0]], [values[1] * 1.01])
    assert found.change == "same"
    assert found.q < 0.01
    assert found.low > 1
    assert one([values[0]], [values[1] * 1.01], smallest=0.005).change == "slower"


def test_a_change_that_may_be_more_than_what_matters_is_not_called_the_same():
    values = draw(1, 2, 20)[0]
    found = one([values[0]], [values[1] * 1.018])
    assert found.q < 0.01
    assert found.ratio < 1.02 < found.high
    assert found.change == "not enough data"
    assert "replications of each would decide" in found.reason


def test_a_change_between_noisy_series_is_neither_told_nor_denied():
    values = np.exp(0.2 * np.random.default_rng(2).standard_normal((2, 10)))
    found = one([values[0]], [values[1]])
    assert found.change == "not enough data"
    assert "replications of each would decide" in found.reason or "too much" in found.reason


def test_fewer_than_four_values_of_each_are_not_judged():
    found = one([[1.0, 1.1, 1.2]], [[9.0, 9.1, 9.2]])
    assert found.change == "not enough data"
    assert found.reason == "3 and 3 replications can't show any change: take 4 of each"
    assert math.isnan(found.q)
    assert (found.low, found.high) == (0, math.inf)
    assert one([[1.0]], [[2.0]]).change == "not enough data"


def test_a_side_without_values_is_told():
    nothing = one([], [[1.0, 2.0]])
    assert nothing.change == "not enough data"
    assert nothing.reason == "no values on the first side"
    assert math.isnan(nothing.p) and math.isnan(nothing.ratio)
    assert one([[math.nan, math.inf]], [[1.0]]).n == (0, 1)


def test_no_pairs_give_no_results():
    assert compare_all([], [], []) == []


def test_what_has_no_direction_is_refused():
    with pytest.raises(ValueError, match="only what has a direction"):
        one([[1.0]], [[2.0]], better="")


def test_one_change_among_ten_thousand_cases_says_how_many_replications_it_takes():
    values = draw(2, 10_000, 10)
    values[1, 7] *= 1.2
    found = compared(values)
    assert found[7].change == "not enough data"
    assert found[7].reason == (
        "10 and 10 replications can't show a change of one among 10,000 cases: take 11 of each"
    )
    assert {each.change for each in found} <= {"same", "not enough data"}


def test_series_too_short_to_be_judged_do_not_cost_the_others():
    values = draw(2, 1, 10)
    values[1] *= 1.05
    short = [(Side([np.ones(2)]), Side([np.ones(2)]))] * 1000
    long = (Side([values[0, 0]]), Side([values[1, 0]]))
    found = compare_all([long, *short], ["lower"] * 1001, [0.02] * 1001, between_runs=0.0)
    assert found[0].change == "slower"
    assert found[0].q == found[0].p


def test_a_constant_that_stays_is_the_same_and_one_that_changes_is_told():
    assert one([[7.0] * 10], [[7.0] * 10]).change == "same"
    assert one([[7.0] * 10], [[7.0] * 10]).low == 1
    assert one([[100.0] * 10], [[90.0] * 10]).change == "faster"
    assert one([[1000.0] * 10], [[970.0] * 10], "higher").change == "slower"


def test_one_step_of_a_coarse_clock_is_no_change():
    found = one([[45e-6] * 10], [[46e-6] * 10])
    assert found.change == "not enough data"
    assert found.reason.startswith("values come in steps of 2.2 %")
    assert one([[45e-6] * 10], [[48e-6] * 10]).change == "slower"


def test_losses_are_compared_by_their_difference():
    none, some = np.zeros(10), np.array([3, 4, 5, 3, 4, 5, 6, 3, 7, 4.0])
    found = one([none], [some])
    assert found.change == "slower"
    assert math.isnan(found.ratio)
    # Counts may be rounded, too: one more or less at either end.
    assert (found.low, found.high) == (2, 6)
    assert one([none], [none]).change == "same"
    assert one([some], [none]).change == "faster"


def test_a_rate_that_falls_to_nothing_falls_by_no_more_than_all_of_it():
    rate = 100 * draw(1, 1, 12)[0][0]
    found = one([rate], [np.zeros(12)], "higher")
    assert found.change == "slower"
    assert found.low == -np.median(rate)
    assert found.reason.endswith(" and -100.0 %")
    # An offset may well be on the other side of 0.
    assert one([rate], [rate - 250], "higher").low < -np.median(rate)


def losing(share, n=30, seed=1, most=6):
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < share, random.integers(1, most, n), 0).astype(float)


@pytest.mark.parametrize("runs", [1, 3])
def test_losses_in_a_third_of_replications_are_slower_where_there_were_none(runs):
    nothing = [np.zeros(30)] * runs
    found = one(nothing, [losing(0.35)])
    assert found.change == "slower"
    assert found.reason == "more than before, when most values were 0"
    # All of the same number, too.
    assert one(nothing, [losing(0.35, most=2)]).change == "slower"
    assert one(nothing, [np.zeros(30)]).change == "same"


def test_losses_that_disappear_are_faster():
    assert one([losing(0.35)], [np.zeros(30)]).change == "faster"


def test_losses_that_come_and_go_between_runs_are_no_change():
    before = [np.zeros(30), losing(0.5, seed=2), losing(0.1, seed=3)]
    found = one(before, [losing(0.35)])
    assert found.change == "not enough data"
    assert "%" not in found.reason


def test_what_a_part_of_the_replications_changed_by_is_not_called_the_same():
    values = 1 + 0.005 * np.random.default_rng(1).standard_normal((2, 100))
    values[1, ::4] *= 1.5
    found = one([values[0]], [values[1]])
    assert found.low > 0.98 and found.high < 1.02
    assert found.change == "not enough data"
    assert found.reason.startswith("only some replications moved: the mean by +12.")


def test_a_throughput_that_fell_to_nothing_is_slower():
    found = one([draw(1, 1, 10)[0, 0]], [np.zeros(10)], "higher")
    assert found.change == "slower"
    assert math.isnan(found.ratio)


def test_a_single_outlier_changes_nothing():
    values = draw(1, 2, 10, seed=3)[0]
    before = one([values[0]], [values[1]])
    values[1, 4] = 100.0
    after = one([values[0]], [values[1]])
    assert (before.change, after.change) == ("same", "same")
    assert after.ratio == pytest.approx(before.ratio, abs=0.01)


def test_the_unit_makes_no_difference():
    values = draw(1, 2, 10, seed=4)[0]
    values[1] *= 1.04
    for scale in (1e-9, 1e9):
        small = one([values[0] * scale], [values[1] * scale])
        plain = one([values[0]], [values[1]])
        assert small.change == plain.change == "slower"
        assert small.ratio == pytest.approx(plain.ratio)


def test_the_order_of_pairs_makes_no_difference():
    values = draw(3, 30, 10, seed=5)
    values[-1, :5] *= 1.04
    there, back = compared(values), compared(values[:, ::-1])
    for one_way, other_way in zip(there, back[::-1], strict=True):
        assert one_way.change == other_way.change
        assert one_way.q == pytest.approx(other_way.q)


def test_turning_the_sides_turns_faster_to_slower():
    values = draw(2, 5, 10, seed=6)
    values[1, 0] *= 1.25
    there, back = compared(values)[0], compared(values[::-1])[0]
    assert (there.change, back.change) == ("slower", "faster")
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.p == pytest.approx(back.p)


def test_a_change_has_to_stand_out_from_what_the_baselines_runs_differ_by():
    values = draw(6, 20, 10, seed=7)
    values[:, 0] *= np.array([1, 1.06, 0.95, 1.04, 0.96, 1.05])[:, None]
    values[-1, 1] *= 1.05
    found = compared(values)
    assert found[0].change == "not enough data"
    assert found[1].change == "slower"
    alone = one([values[0, 0]], [values[-1, 0]])
    assert alone.change == "slower"


def test_what_the_baselines_runs_differ_by_is_told():
    values = drifting_much(np.random.default_rng(8), (4, 50, 10))
    told = [each.reason for each in compared(values) if "runs of the first side" in each.reason]
    assert told
    assert "differ among themselves" in told[0]


def test_two_runs_that_differ_in_every_case_tell_of_no_case():
    found = compared(drifting_much(np.random.default_rng(9), (2, 50, 10)))
    assert {each.change for each in found} <= {"same", "not enough data"}
    assert any("between these two runs" in each.reason or "anyway" in each.reason for each in found)


@pytest.mark.parametrize(("slower", "by"), [(25, 1.05), (50, 1.1)])
def test_half_of_the_cases_or_all_of_them_may_be_slower(slower, by):
    values = draw(2, 50, 10, seed=10)
    values[1, :slower] *= by
    changes = [each.change for each in compared(values)]
    assert changes[:slower].count("slower") >= 0.95 * slower
    assert changes[slower:].count("slower") == 0


@pytest.mark.parametrize(("by", "told"), [(1.013, "+1."), (1.05, "+4.")])
def test_what_all_cases_moved_by_is_no_change_of_one(by, told):
    values = draw(2, 50, 10, seed=11)
    values[1] *= by
    found = compared(values)
    assert {each.change for each in found} <= {"same", "not enough data"}
    beyond = [each for each in found if each.ratio >= 1.02]
    assert beyond
    assert all(f"most cases moved by {told}" in each.reason for each in beyond)


def test_what_did_not_move_with_the_others_has_not_changed_the_other_way():
    values = draw(2, 50, 10, seed=11)
    values[1, :40] *= 1.06
    values[1, 40:] *= 1.03
    assert not any(each.change == "faster" for each in compared(values))


@pytest.mark.parametrize("baseline", [1, 2])
def test_a_large_change_is_told_though_nothing_shows_what_runs_differ_by(baseline):
    values = draw(baseline + 1, 9, 10, seed=17)
    values[-1, 0] *= 1.25
    values[-1, 1] *= 1.05
    found = compared(values)
    assert [each.change for each in found] == ["slower"] + ["not enough data"] * 8
    assert [each.few_runs for each in found] == [False] + [True] * 8
    assert len({each.reason for each in found[1:]}) == 1
    assert found[1].reason.startswith(
        "not enough baseline runs: with fewer than three, runs are taken"
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
    found = compared(values)
    assert {each.change for each in found} <= {"same", "not enough data"}
    assert any("depends on the one before, they count as" in each.reason for each in found)


def test_no_interval_of_what_is_slower_holds_no_change():
    # Two groups of values: the interval is skewed, and wider as each value keeps to its group.
    random = np.random.default_rng(5)

    def grouped(share):
        kept = np.repeat(random.random((8, 7)) < share, 2, axis=1)
        return np.where(kept, 0.7, 1.0) * normal(random, kept.shape)

    pairs = [
        (Side([first]), Side([second, third]))
        for _ in range(20)
        for first, second, third in zip(grouped(0.1), grouped(0.6), grouped(0.6), strict=True)
    ]
    found = [
        each
        for at in range(0, len(pairs), 8)
        for each in compare_all(pairs[at : at + 8], ["higher"] * 8, [0.02] * 8)
    ]
    slower = [each for each in found if each.change == "slower"]
    assert len(slower) > 20
    assert max(each.high for each in slower) < 1


def test_no_interval_of_what_changed_by_steps_holds_no_change():
    random = np.random.default_rng(4)
    first = random.integers(100, 104, (300, 10)).astype(float)
    second = random.integers(100, 104, (300, 10)) + random.integers(0, 6, (300, 1))
    found = [
        one([before], [after], smallest=0.01)
        for before, after in zip(first, second.astype(float), strict=True)
    ]
    slower = [each for each in found if each.change == "slower"]
    unsure = [each for each in found if each.q <= 0.05 and each.low <= 1 and each.ratio > 1.01]
    assert len(slower) > 50
    assert min(each.low for each in slower) > 1
    assert len(unsure) > 5
    assert {each.change for each in unsure} == {"not enough data"}
    assert all("values come in steps" in each.reason for each in unsure)


def test_dependent_replications_hide_from_one_run_what_a_baseline_of_three_shows():
    values = autocorrelated(np.random.default_rng(16), (4, 50, 10))
    values[-1, 0] *= 1.1
    one_run, three_runs = compared(values[-2:])[0], compared(values)[0]
    assert one_run.change == "not enough data"
    assert "a baseline of three runs or more would decide" in one_run.reason
    assert three_runs.change == "slower"


def test_a_stricter_level_is_kept():
    values = draw(1, 2, 5, seed=15)[0]
    found = one([values[0]], [values[1] * 1.1])
    assert found.change == "slower"
    strict = one([values[0]], [values[1] * 1.1], level=0.001)
    assert strict.change == "not enough data"
    assert strict.reason == "5 and 5 replications can't show any change: take 7 of each"
