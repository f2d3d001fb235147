"""Intervals of a difference of means agree with scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from railgauge.stats.interval import Interval
from railgauge.stats.mean_difference import SampleMean, mean_difference_interval


def sample(values: list[float]) -> SampleMean:
    return SampleMean(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


def test_of_two_spreads_it_is_welchs_with_whole_degrees_of_freedom() -> None:
    first, second = [10.0, 11.0, 12.5, 9.0, 10.5, 11.5, 10.0], [20.0, 24.0, 19.0, 22.0, 26.0, 21.0]
    interval = mean_difference_interval(sample(first), sample(second))
    exact = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert interval is not None
    # Fewer degrees of freedom than Welch's make it a little wider.
    assert interval.low <= exact.low
    assert interval.high >= exact.high
    assert interval.high - interval.low == pytest.approx(exact.high - exact.low, rel=0.05)


def test_against_an_exact_number_it_is_students() -> None:
    values = [10.0, 11.0, 12.5, 9.0, 10.5, 11.5, 10.0]
    interval = mean_difference_interval(SampleMean(4.0, None, 10), sample(values))
    exact = stats.ttest_1samp(values, 4.0).confidence_interval(0.95)
    assert interval is not None
    assert interval.low == pytest.approx(exact.low - 4.0)
    assert interval.high == pytest.approx(exact.high - 4.0)


def test_whole_degrees_of_freedom_are_not_rounded_away() -> None:
    # In binary numbers the quotient for n = 8 is a hair below 7, and of two such below 14.
    published = SampleMean(100.0, 2.83, 8)
    for reference, degrees, variance in (
        (SampleMean(0.0, None, 1), 7, 2.83**2 / 8),
        (published, 14, 2.83**2 / 4),
    ):
        interval = mean_difference_interval(reference, published)
        assert interval is not None
        half = stats.t.ppf(0.975, degrees) * variance**0.5
        assert (interval.high - interval.low) / 2 == pytest.approx(half, rel=1e-9)


def test_without_any_spread_there_is_none() -> None:
    assert mean_difference_interval(SampleMean(1, None, 5), SampleMean(2, None, 5)) is None
    assert mean_difference_interval(SampleMean(1, 0.5, 1), SampleMean(2, 0.5, 5)) is None


def test_values_that_are_all_alike_differ_exactly() -> None:
    interval = mean_difference_interval(SampleMean(1, 0.0, 5), SampleMean(3, 0.0, 5))
    assert interval == Interval(2, 2, 0.95)
