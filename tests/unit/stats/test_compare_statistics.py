"""What comparisons rest on, against scipy and against counting out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from railgauge.stats.between_runs import Variances, moderated, scatter
from railgauge.stats.dependence import variance_factors
from railgauge.stats.estimates import step_of
from railgauge.stats.hodges_lehmann import shifts
from railgauge.stats.multiple import benjamini_hochberg
from railgauge.stats.rank_test import rank_test, rank_tests
from railgauge.stats.spread import robust_spread

_SIZES = [(1, 1), (1, 7), (3, 4), (4, 3), (10, 10), (6, 25), (25, 25), (12, 60)]


def draw(a, b, rows=20, seed=1):
    random = np.random.default_rng(seed)
    first = random.normal(0, 1, (rows, a))
    return first, random.normal(0.7, 1.5, (rows, b))


@pytest.mark.parametrize(("a", "b"), _SIZES)
def test_without_ties_p_is_scipys_exact_one(a, b):
    first, second = draw(a, b)
    exact = stats.mannwhitneyu(first, second, axis=1, method="exact").pvalue
    assert rank_tests(first, second).p == pytest.approx(np.minimum(exact, 1), rel=1e-9)


def test_of_long_series_p_is_scipys_corrected_normal_one():
    first, second = (np.round(side, 1) for side in draw(80, 120))
    normal = stats.mannwhitneyu(first, second, axis=1, method="asymptotic").pvalue
    assert rank_tests(first, second).p == pytest.approx(normal, rel=1e-9)


def test_with_ties_p_is_the_one_that_a_single_test_counts_out():
    first, second = (np.round(side) for side in draw(10, 9, rows=200))
    p_values = rank_tests(first, second).p
    single = np.array([rank_test(*pair).p for pair in zip(first, second, strict=True)])
    small = single < 0.1
    assert small.sum() > 5
    assert p_values[small] == pytest.approx(single[small], rel=1e-9)
    # Where nothing can be significant the normal distribution does.
    assert p_values == pytest.approx(single, abs=0.1)


def test_with_too_many_patterns_of_ties_what_is_surest_is_exact():
    first, second = draw(20, 20, rows=4000)
    first, second = np.round(first * 3), np.round(second * 3)
    p_values = rank_tests(first, second).p
    for row in np.argsort(p_values)[:100]:
        assert p_values[row] == rank_test(first[row], second[row]).p


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.lists(st.integers(0, 4), min_size=1))
def test_how_often_the_second_is_greater_is_what_counting_says(first, second):
    pairs = [(y > x) + (y == x) / 2 for x in first for y in second]
    tests = rank_tests(np.array([first], float), np.array([second], float))
    assert tests.greater[0] == pytest.approx(sum(pairs) / len(pairs))
    assert tests.different[0] == len(set(first + second))


@given(st.lists(st.floats(0, 1), max_size=40))
def test_q_is_scipys(p):
    expected = stats.false_discovery_control(p) if p else []
    assert benjamini_hochberg(np.array(p)) == pytest.approx(np.asarray(expected), abs=1e-12)


def test_pairs_that_cannot_be_judged_do_not_count():
    q = benjamini_hochberg(np.array([0.01, np.nan, 0.04, np.nan]))
    assert q[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(q[[1, 3]]).all()


@pytest.mark.parametrize(("a", "b"), [*_SIZES, (260, 230)])
def test_the_shift_is_the_median_of_all_differences(a, b):
    first, second = draw(a, b, rows=5)
    expected = [np.median(np.subtract.outer(y, x)) for x, y in zip(first, second, strict=True)]
    assert shifts(first, second).estimate == pytest.approx(expected, abs=1e-6)


def test_of_long_series_with_ties_the_shift_is_one_of_the_differences():
    random = np.random.default_rng(4)
    first, second = (random.poisson(0.05, (1, 300)).astype(float) for _ in range(2))
    second[0, 0] = 7e6
    shift = shifts(first, second)
    assert [float(values[0]) for values in shift[:3]] == [0, 0, 0]
    assert shifts(np.full((1, 60_000), 0.1), np.array([[0.3]])).estimate[0] == 0.3 - 0.1


@pytest.mark.parametrize(("a", "b"), [(4, 4), (10, 10), (6, 25), (260, 230)])
def test_the_interval_has_the_shifts_that_the_test_does_not_reject(a, b):
    first, second = draw(a, b, rows=5)
    intervals = shifts(first, second)
    for row in range(5):
        for end, outwards in ((intervals.low[row], -1), (intervals.high[row], 1)):
            inside, outside = (
                rank_test(first[row], second[row] - (end + outwards * hair)).p
                for hair in (-1e-5, 1e-5)
            )
            assert outside <= 0.0501 < 0.0499 + inside


def test_an_interval_of_ten_and_ten_covers_what_a_table_says():
    # 10 and 10: 24 differences from either end are left out at 5 %, two-sided (critical U: 23).
    intervals = shifts(*draw(10, 10))
    first, second = draw(10, 10)
    ordered = np.sort(np.subtract.outer(second[0], first[0]).ravel())
    assert (intervals.low[0], intervals.high[0]) == (ordered[23], ordered[76])
    assert intervals.level == pytest.approx(0.9567, abs=1e-3)


def test_too_few_values_have_no_interval():
    intervals = shifts(*draw(3, 3))
    assert np.isinf(intervals.low).all() and np.isinf(intervals.high).all()


def test_with_ties_the_interval_covers_no_less():
    random = np.random.default_rng(4)
    first, second = (np.round(random.normal(0, 1.2, (2000, 8))) for _ in range(2))
    intervals = shifts(first, second)
    assert np.mean((intervals.low <= 0) & (intervals.high >= 0)) >= 0.95


def test_a_robust_spread_is_the_standard_deviation_in_spite_of_outliers():
    values = np.random.default_rng(5).normal(0, 2, 1000)
    values[:200] = 1e6
    assert robust_spread(values) == pytest.approx(2, rel=0.5)
    assert robust_spread(np.array([1.0])) == 0


def chained(random, rows, n, by):
    series = random.standard_normal((rows, n))
    for at in range(1, n):
        series[:, at] = by * series[:, at - 1] + np.sqrt(1 - by**2) * series[:, at]
    return list(series)


def test_series_whose_values_follow_each_other_count_for_fewer():
    random = np.random.default_rng(6)
    one_group = np.zeros(100, np.intp)
    factors = variance_factors(chained(random, 100, 10, 0.5), np.arange(100), one_group)
    assert np.median(factors) == pytest.approx(3, rel=0.2)
    long = variance_factors(chained(random, 1, 2000, 0.8), np.zeros(1, np.intp), one_group[:1])
    assert long[0] == pytest.approx(9, rel=0.25)


def test_series_that_follow_each_other_count_for_fewer_beside_others_that_do_not():
    random = np.random.default_rng(6)
    runs = [*chained(random, 30, 40, 0.8), *chained(random, 30, 40, 0.0)]
    factors = variance_factors(runs, np.arange(60), np.zeros(60, np.intp))
    # 9 and 1 in truth, 2.3 for all together.
    assert np.median(factors[:30]) > 5
    assert np.median(factors[30:]) < 1.6


def test_independent_values_count_for_what_they_are():
    random = np.random.default_rng(7)
    groups = np.arange(400) // 4
    factors = variance_factors(chained(random, 400, 10, 0.0), np.arange(400), groups)
    assert np.mean(factors > 1) < 0.05


def test_equal_values_and_short_runs_say_nothing_of_their_order():
    runs = [np.full(20, 3.0), np.arange(7.0)]
    assert variance_factors(runs, np.array([0, 1]), np.array([0, 1])).tolist() == [1, 1]


def test_what_cases_differ_by_is_told_by_those_most_alike():
    random = np.random.default_rng(8)
    error, degrees = np.full(60, 0.004), np.full(60, 18.0)
    shift = 0.005 + random.normal(0, 0.01, 60)
    shift[:10] += 0.2
    estimate = scatter(shift, error, degrees)
    assert estimate.centre == pytest.approx(0.005, abs=0.008)
    assert estimate.spread == pytest.approx(0.01, rel=0.6)


def test_half_of_the_cases_may_have_changed():
    random = np.random.default_rng(9)
    error = np.full(60, 0.004)
    shift = random.normal(0, 0.004, 60)
    shift[:29] += 0.05
    estimate = scatter(shift, error, np.full(60, 18.0))
    assert abs(estimate.centre) < 0.005
    assert estimate.spread < 0.012


def test_few_cases_tell_nothing_of_what_runs_differ_by():
    assert scatter(np.arange(9.0), np.ones(9), np.ones(9))[:2] == (0, 0)


def test_alike_variances_are_drawn_together_and_unlike_ones_are_not():
    random = np.random.default_rng(10)
    degrees = np.full(200, 2.0)
    estimates = random.chisquare(2, 200) / 2
    variances = moderated(Variances(estimates, degrees))
    assert variances.variance == pytest.approx(np.ones(200), abs=0.5)
    assert variances.degrees.min() > 20
    unlike = estimates * 10 ** random.uniform(-4, 4, 200)
    variances = moderated(Variances(unlike, degrees))
    assert variances.degrees.max() < 3


# Of a coarse clock most runs are the same to the last digit.
@pytest.mark.parametrize("values", [[1.0, 100.0], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]])
def test_few_variances_stay_as_they_are(values):
    variances = moderated(Variances(np.array(values), np.full(len(values), 2.0)))
    assert variances.variance.tolist() == values


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([45, 45, 46, 46], 1),
        ([4.5e-5] * 5 + [4.6e-5] * 5, 1e-6),
        ([100] * 5 + [90] * 5, 0),  # a digit each: nothing shows that it was rounded
        ([1000] * 5 + [970] * 5, 10),
        ([0] * 5 + [12] * 5, 1),
        ([1, 1, 1, 1, 3, 3, 3, 8, 8, 8], 2),
        ([7] * 10, 0),
        ([1.5, 2.25, 3.125, 4.0], 0),
        ([123.456789012] * 5 + [123.5] * 5, 0),
    ],
)
def test_a_step_shows_where_values_are_coarse(values, step):
    assert step_of(np.array(values, float)) == pytest.approx(step, rel=1e-9)
