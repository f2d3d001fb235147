"""Outliers: told by the stated rule, in place, and never dropped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from railgauge.stats.outliers import outliers
from railgauge.stats.summaries import summaries
from railgauge.stats.summary import summarise

_ANY = st.floats(allow_nan=False, allow_infinity=False)


def test_a_value_more_than_three_ranges_beyond_the_quartiles_is_told_in_its_place() -> None:
    # Quartiles 12 and 16: from 0 to 28 is none.
    values = [12.0, 12.0, 16.0, 14.0, 28.1, 16.0, 14.0, 12.0, -0.1]
    assert np.flatnonzero(outliers(values)).tolist() == [4, 8]


def test_a_value_on_the_fence_is_no_outlier() -> None:
    assert not outliers([12.0, 12.0, 16.0, 14.0, 28.0, 16.0, 14.0, 12.0, 0.0]).any()


def test_nothing_is_dropped_from_what_is_summarised() -> None:
    values = [10.0, 10.1, 10.2, 9.9, 9.8, 10.0, 10.1, 500.0]
    summary = summarise(values)
    assert (summary.n, summary.outliers, summary.maximum) == (8, 1, 500.0)
    assert summary.mean == pytest.approx(sum(values) / 8)


def test_where_both_quartiles_are_equal_all_other_values_are_outliers() -> None:
    assert not outliers([1.0] * 5 + [2.0, 3.0, 4.0, 5.0, 6.0]).any()
    assert outliers([0.0] * 9 + [1.0]).tolist() == [False] * 9 + [True]
    assert not outliers([3.0] * 10).any()


# Of three equal values and another this one is at the fence, however that is rounded.
@given(st.lists(st.integers(min_value=-1000, max_value=1000), max_size=4))
@example([3, 3, 3, 1])
@example([3, 3, 3, 3, 3, 3, 1, 1])
def test_four_values_have_no_outlier(values: list[int]) -> None:
    sevenths = [np.array(values) / 7] * 8
    assert not outliers(sevenths[0]).any()
    assert not values or summaries(sevenths)[0].outliers == 0


@given(st.lists(st.floats(min_value=-1e9, max_value=1e9), min_size=1, max_size=60))
def test_quartiles_are_those_of_numpy_and_the_summary_counts_as_the_rule_tells(
    values: list[float],
) -> None:
    summary = summarise(values)
    lower, upper = np.percentile(values, [25, 75])
    assert summary.lower_quartile == pytest.approx(lower, rel=1e-12, abs=1e-12)
    assert summary.upper_quartile == pytest.approx(upper, rel=1e-12, abs=1e-12)
    assert summary.outliers == int(outliers(values).sum())
    assert summary.minimum <= summary.lower_quartile <= summary.median
    assert summary.median <= summary.upper_quartile <= summary.maximum


@given(st.lists(_ANY, min_size=1, max_size=40))
def test_which_values_are_outliers_depends_on_no_order(values: list[float]) -> None:
    order = np.random.default_rng(len(values)).permutation(len(values))
    array = np.array(values)
    assert outliers(array[order]).tolist() == outliers(array)[order].tolist()


@pytest.mark.parametrize("power", [-1000, -60, 60, 1000])
def test_the_unit_does_not_matter(power: int) -> None:
    values = np.array([12.0, 12.0, 16.0, 14.0, 30.0, 16.0, 14.0, 12.0, -2.0])
    assert outliers(np.ldexp(values, power)).tolist() == outliers(values).tolist()


@pytest.mark.parametrize(("n", "most"), [(10, 0.065), (30, 0.015), (100, 0.007)])
def test_normal_values_seldom_have_an_outlier(n: int, most: float) -> None:
    random = np.random.default_rng(n)
    assert sum(outliers(random.normal(10, 1, n)).any() for _ in range(3000)) <= 3000 * most
