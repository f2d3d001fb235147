"""The Mann-Whitney test, against counting out every choice by hand."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.stats.rank_test import rank_test

_FEW = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5)


def counted_out(first: list[float], second: list[float]) -> float:
    """Return the share of all ways to part the values so whose ranks lie as far off or farther."""
    values = first + second
    ranks = [
        sum(other < value for other in values) + (1 + values.count(value)) / 2 for value in values
    ]
    middle = len(first) * (len(values) + 1) / 2
    distance = abs(sum(ranks[: len(first)]) - middle)
    choices = list(itertools.combinations(ranks, len(first)))
    return sum(abs(sum(choice) - middle) >= distance - 1e-9 for choice in choices) / len(choices)


@given(_FEW, _FEW)
def test_few_values_with_ties_give_exactly_what_counting_gives(first, second):
    assert rank_test(first, second).p == pytest.approx(counted_out(first, second), abs=1e-12)


@given(_FEW, _FEW)
def test_the_order_of_the_two_series_does_not_matter(first, second):
    assert rank_test(first, second) == rank_test(second, first)


def test_five_and_five_that_do_not_overlap_are_two_of_252_choices():
    result = rank_test([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
    assert result.p == result.least == pytest.approx(2 / 252)


def test_four_and_four_can_never_differ_by_one_percent():
    assert rank_test([1, 2, 3, 4], [5, 6, 7, 8]).least == pytest.approx(2 / 70)


def test_a_single_outlier_makes_no_difference():
    steady = [100.0 + number for number in range(10)]
    assert rank_test(steady, [*steady[1:], 1e9]).p > 0.5


def test_equal_values_do_not_differ_however_many_there_are():
    assert rank_test([7.0] * 10, [7.0] * 10).p == 1
    assert rank_test([7.0] * 500, [7.0] * 500).p == 1


def test_the_normal_approximation_has_its_textbook_value():
    # 60 and 60 without ties: mean 60 * 121 / 2 = 3630, variance 60 * 60 * 121 / 12 = 36300.
    first = [float(number) for number in range(60)]
    second = [number + 30.5 for number in first]
    low = sum(sum(other < value for other in first + second) + 1 for value in first)
    z = (abs(low - 3630) - 0.5) / math.sqrt(36300)
    assert rank_test(first, second).p == pytest.approx(math.erfc(z / math.sqrt(2)))


def test_a_series_without_values_is_refused():
    with pytest.raises(ValueError, match="nothing to compare"):
        rank_test([], [1.0])


def test_two_runs_of_the_same_thing_seldom_differ():
    draw = random.Random(1)
    differ = sum(
        rank_test([draw.gauss(0, 1) for _ in range(10)], [draw.gauss(0, 1) for _ in range(10)]).p
        < 0.01
        for _ in range(1000)
    )
    assert differ <= 20
