"""Summaries of series: right digits, whatever the order and size of the values."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from railgauge.stats.summary import summarise

_VALUES = st.lists(
    st.floats(min_value=-1e15, max_value=1e15, allow_subnormal=False), min_size=1, max_size=50
)


def test_a_known_series_has_its_known_summary() -> None:
    summary = summarise([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert (summary.n, summary.mean, summary.median) == (8, 5.0, 4.5)
    assert (summary.minimum, summary.maximum) == (2.0, 9.0)
    assert summary.stdev == pytest.approx(math.sqrt(32 / 7))
    assert summary.mean_absolute_deviation == 1.5
    assert summary.cv == pytest.approx(math.sqrt(32 / 7) / 5)


def test_one_value_has_no_spread() -> None:
    summary = summarise([165.11e6])
    assert (summary.n, summary.mean, summary.median) == (1, 165.11e6, 165.11e6)
    assert summary.stdev is None
    assert summary.cv is None
    assert summary.mean_absolute_deviation == 0.0


def test_no_values_are_an_error_not_a_zero() -> None:
    with pytest.raises(ValueError, match="no values"):
        summarise([])


def test_a_mean_of_zero_has_no_coefficient_of_variation() -> None:
    assert summarise([-1.0, 1.0]).cv is None


def test_a_small_value_between_two_huge_ones_is_not_lost() -> None:
    assert summarise([1e16, 1.0, -1e16, 2.0]).mean == 0.75


def test_equal_values_have_exactly_their_own_mean() -> None:
    summary = summarise([0.1] * 10)
    assert summary.mean == 0.1
    assert summary.stdev == 0.0


@pytest.mark.parametrize("values", [[1.7e308] * 4, [-1.7e308, 1.7e308], [1e308, 1.5e308, 1.7e308]])
def test_values_near_the_largest_there_are_do_not_overflow(values: list[float]) -> None:
    summary = summarise(values)
    scaled = summarise([value / 2**100 for value in values])
    for name in ("mean", "median", "stdev", "mean_absolute_deviation", "lower_quartile"):
        if name == "stdev" and values[0] < 0:
            # Two values that far apart: more than any number.
            assert summary.stdev == math.inf
            continue
        assert getattr(summary, name) / 2**100 == pytest.approx(getattr(scaled, name), rel=1e-14)


def test_the_spread_of_subnormal_values_is_not_lost() -> None:
    summary = summarise([2e-320, 4e-320, 6e-320])
    assert summary.mean == pytest.approx(4e-320, rel=1e-3)
    assert summary.stdev == pytest.approx(2e-320, rel=1e-3)
    assert summary.cv == pytest.approx(0.5, rel=1e-3)


@given(
    st.lists(st.integers(min_value=-(10**9), max_value=10**9), min_size=1, max_size=50),
    st.integers(min_value=-900, max_value=900),
)
def test_a_summary_scales_with_the_unit(values: list[int], power: int) -> None:
    summary = summarise(values)
    scaled = summarise([math.ldexp(value, power) for value in values])
    for name in ("mean", "median", "minimum", "upper_quartile", "interval_low", "interval_high"):
        plain = getattr(summary, name)
        expected = None if plain is None else pytest.approx(math.ldexp(plain, power), rel=1e-12)
        assert getattr(scaled, name) == expected
    assert scaled.outliers == summary.outliers


@given(_VALUES)
@example([999999999938520.0, 999999999935794.9])
def test_summary_agrees_with_the_standard_library_in_any_order(values: list[float]) -> None:
    summary = summarise(values)
    assert summary == summarise(values[::-1])
    assert summary.minimum <= summary.mean <= summary.maximum
    assert summary.mean == pytest.approx(statistics.mean(values), rel=1e-12, abs=1e-290)
    assert summary.median == statistics.median(values)
    if len(values) > 1:
        assert summary.stdev == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-6)
