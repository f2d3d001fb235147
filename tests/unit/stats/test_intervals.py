"""Intervals of the median and of the mean: right ends, and covering what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from railgauge.stats.interval import Interval, harmonic_interval, mean_interval, median_interval
from railgauge.stats.summary import summarise

_ANY = st.floats(allow_nan=False, allow_infinity=False)
_SERIES = st.lists(_ANY, min_size=6, max_size=60)


def test_ten_values_have_their_second_and_ninth_around_the_median() -> None:
    interval = median_interval([3.0, 1.0, 10.0, 2.0, 5.0, 4.0, 9.0, 6.0, 8.0, 7.0])
    assert interval == Interval(2.0, 9.0, pytest.approx(1 - 2 * 11 / 1024))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_fewer_than_six_values_have_no_interval_of_the_median(n: int) -> None:
    values = [float(k) for k in range(n)]
    assert median_interval(values) is None
    if n:
        assert summarise(values).interval is None


def test_six_values_have_the_whole_range_for_an_interval() -> None:
    interval = median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert interval == Interval(1.0, 6.0, pytest.approx(0.96875))


def test_less_certainty_needs_fewer_values_and_more_needs_more() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0], 0.9) == Interval(1.0, 5.0, 0.9375)
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.99) is None


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_the_ends_of_the_medians_interval_are_those_of_the_binomial_distribution(
    level: float,
) -> None:
    for n in [*range(1, 120), 500, 999, 1000, 1001, 1100, 20_000, 100_000]:
        below = stats.binom.cdf(np.arange(n // 2), n, 0.5)
        rank = int(np.count_nonzero(below <= (1 - level) / 2 * (1 + 1e-9)))
        interval = median_interval(np.arange(1.0, n + 1), level)
        if rank == 0:
            assert interval is None
            continue
        covers = 1 - 2 * below[rank - 1]
        assert interval == (rank, n + 1 - rank, pytest.approx(covers, rel=1e-7))
        assert covers >= level - 1e-9


@pytest.mark.parametrize("n", [6, 10, 17, 50])
def test_the_medians_interval_covers_what_it_says_however_values_spread(n: int) -> None:
    random = np.random.default_rng(n)
    for draw, true in ((random.standard_exponential, math.log(2)), (random.standard_cauchy, 0.0)):
        intervals = [median_interval(draw(n)) for _ in range(3000)]
        level = intervals[0].level if intervals[0] else 0.0
        covered = sum(
            interval is not None and interval.low <= true <= interval.high for interval in intervals
        )
        # Three standard errors and a half.
        assert abs(covered / 3000 - level) < 3.5 * math.sqrt(level * (1 - level) / 3000)


@given(_SERIES)
def test_the_medians_interval_is_around_the_median_in_any_order(values: list[float]) -> None:
    interval = median_interval(values)
    summary = summarise(values)
    assert interval is not None
    assert interval == summary.interval == median_interval(values[::-1])
    assert interval.low in values
    assert interval.high in values
    assert interval.low <= summary.median <= interval.high


@given(_SERIES)
def test_the_medians_interval_of_values_with_the_other_sign_is_its_mirror(
    values: list[float],
) -> None:
    interval, mirrored = median_interval(values), median_interval([-value for value in values])
    assert interval is not None
    assert mirrored == Interval(-interval.high, -interval.low, interval.level)


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert median_interval([5e-324] * 8) == Interval(5e-324, 5e-324, pytest.approx(1 - 2 / 256))
    assert mean_interval([0.1] * 8) == Interval(0.1, 0.1, 0.95)


@given(
    st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=2, max_size=50),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_the_means_interval_is_students(values: list[float], level: float) -> None:
    interval = mean_interval(values, level)
    assert interval is not None
    error = stats.sem(values)
    low, high = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error or 1e-300)
    assert interval.low == pytest.approx(low, rel=1e-7, abs=1e-6)
    assert interval.high == pytest.approx(high, rel=1e-7, abs=1e-6)
    assert interval.level == level


@given(st.integers(min_value=-900, max_value=900))
def test_intervals_scale_with_the_unit_even_a_huge_or_a_tiny_one(power: int) -> None:
    values = np.array([10.25, 11.5, 9.75, 10.0, 10.5, 12.0, 9.5])
    for interval in (median_interval, mean_interval, harmonic_interval):
        plain, scaled = interval(values), interval(np.ldexp(values, power))
        assert plain is not None
        assert scaled == Interval(
            math.ldexp(plain.low, power), math.ldexp(plain.high, power), plain.level
        )


@pytest.mark.parametrize("values", [[], [1.0]])
def test_fewer_than_two_values_have_no_interval_of_the_mean(values: list[float]) -> None:
    assert mean_interval(values) is None


def test_the_harmonic_means_interval_is_that_of_the_reciprocals() -> None:
    values = [10.0, 30.0, 20.0, 25.0, 12.5, 40.0]
    interval, reciprocals = (
        harmonic_interval(values),
        mean_interval([1 / value for value in values]),
    )
    assert interval is not None
    assert reciprocals is not None
    assert interval == pytest.approx((1 / reciprocals.high, 1 / reciprocals.low, 0.95))
    assert interval.low < summarise(values).harmonic_mean < interval.high  # type: ignore[operator]


# The last: its reciprocals spread so far that their mean may be 0.
@pytest.mark.parametrize("values", [[], [1.0], [0.0, 1.0, 2.0], [-1.0, 1.0], [1.0, 1e6, 1e6]])
def test_where_there_is_no_upper_end_there_is_no_interval_of_the_harmonic_mean(
    values: list[float],
) -> None:
    assert harmonic_interval(values) is None


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        median_interval([1.0] * 10, level)
    with pytest.raises(ValueError, match="between 0 and 1"):
        mean_interval([1.0] * 10, level)
