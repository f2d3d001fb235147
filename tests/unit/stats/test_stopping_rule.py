"""When a series ends: as the rule says, and so that its interval still covers what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from railgauge.stats.interval import mean_interval, median_interval
from railgauge.stats.stopping_rule import ENDED_LEVEL, FEWEST, StopRule, narrow_enough, within_share
from railgauge.stats.trend import trend

_Floats = NDArray[np.float64]
_Draw = Callable[[np.random.Generator, int], _Floats]
# Noise around a true median and mean; what its size is, is the tests' choice.
_NOISE: dict[str, tuple[_Draw, float, float]] = {
    "normal": (lambda random, n: random.normal(0, 1, n), 0.0, 0.0),
    "lognormal": (lambda random, n: np.exp(random.normal(0, 0.5, n)), 1.0, math.exp(0.125)),
    "exponential": (lambda random, n: random.standard_exponential(n), math.log(2), 1.0),
}
_SERIES = 600


def _end(values: _Floats, rule: StopRule) -> int:
    """Return after how many values the rule ends the series."""
    return next((n for n in range(1, rule.most) if narrow_enough(values[:n], rule)), rule.most)


def test_quiet_values_end_at_the_least_number_asked_for() -> None:
    values = 100 + np.random.default_rng(1).normal(0, 0.01, 50)
    assert _end(values, StopRule(10, 50, "median", 0.01)) == 10
    assert _end(values, StopRule(30, 50, "median", 0.01)) == 30


@pytest.mark.parametrize(("statistic", "fewest"), [("median", 8), ("mean", 29)])
def test_whatever_the_plan_says_so_many_values_are_needed(statistic: str, fewest: int) -> None:
    values = np.tile([99.99, 100.01], 25)
    assert FEWEST[statistic] == fewest
    assert _end(values, StopRule(1, 50, statistic, 0.01)) == fewest  # type: ignore[arg-type]


def test_loud_values_go_on_to_the_most() -> None:
    values = 100 + np.random.default_rng(1).normal(0, 30, 50)
    rule = StopRule(10, 50, "median", 0.01)
    assert _end(values, rule) == 50
    assert not narrow_enough(values, rule)


def test_an_interval_that_would_be_shown_far_wider_than_asked_does_not_end_a_series() -> None:
    # Of these ten the 95 % interval is 99 to 101, that of 99 % is 90 to 110.
    values = [90.0, 110.0, 99.0, 101.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0]
    rule = StopRule(10, 50, "median", 0.02)
    assert within_share(values, rule)
    assert not narrow_enough(values, rule)
    assert narrow_enough([*values, 100.0, 100.0, 100.0], rule)


def test_with_the_most_values_only_the_interval_itself_counts() -> None:
    values = [90.0, 110.0, 99.0, 101.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0]
    assert narrow_enough(values, StopRule(10, 10, "median", 0.02))
    assert not narrow_enough(values, StopRule(10, 10, "median", 0.005))


def test_the_farther_end_of_the_interval_counts() -> None:
    values = [100.0] * 6 + [104.0] * 4
    interval = median_interval(values)
    assert interval is not None
    assert (interval.low, interval.high) == (100.0, 104.0)
    assert within_share(values, StopRule(6, 50, "median", 0.04))
    assert not within_share(values, StopRule(6, 50, "median", 0.039))


def test_a_skewed_series_goes_on_where_its_mean_is_asked_for() -> None:
    values = 100 + np.random.default_rng(3).exponential(1, 200)
    rule = StopRule(10, 200, "mean", 0.05)
    n = _end(values, rule)
    assert n > 60
    assert n > 28 + 25 * float(stats.skew(values[:n])) ** 2


def test_five_values_are_never_narrow() -> None:
    assert not within_share([1.0] * 5, StopRule(2, 50, "median", 0.5))
    assert not within_share([1.0], StopRule(2, 50, "mean", 0.5))


def test_equal_values_are_narrow_even_if_they_are_zero() -> None:
    assert narrow_enough([0.0] * 10, StopRule(10, 50, "median", 0.01))
    assert narrow_enough([0.0] * 40, StopRule(10, 50, "mean", 0.01))


@given(
    st.lists(st.floats(min_value=50, max_value=60), min_size=6, max_size=60),
    st.integers(min_value=-500, max_value=500),
)
def test_neither_unit_nor_sign_matters(values: list[float], power: int) -> None:
    for statistic in ("median", "mean"):
        rule = StopRule(8, 100, statistic, 0.03)  # type: ignore[arg-type]
        narrow = narrow_enough(values, rule)
        assert narrow_enough(np.ldexp(values, power), rule) == narrow
        assert narrow_enough([-value for value in values], rule) == narrow


@pytest.mark.parametrize("name", _NOISE)
@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_the_interval_a_series_ends_with_covers_the_true_value(name: str, statistic: str) -> None:
    draw, median, mean = _NOISE[name]
    true, interval = (median, median_interval) if statistic == "median" else (mean, mean_interval)
    rule = StopRule(10, 300, statistic, 0.01)  # type: ignore[arg-type]
    random = np.random.default_rng(2015)
    covered, early, ended = 0, 0, []
    for _ in range(_SERIES if statistic == "median" else _SERIES // 3):
        # Such spreads end after some 20 to 100 values, where the rule is at its worst.
        values = 1 + random.choice([0.015, 0.025, 0.035]) * (draw(random, rule.most) - true)
        n = _end(values, rule)
        ended.append(n)
        if n == rule.most:
            continue
        bounds = interval(values[:n], ENDED_LEVEL)
        early += 1
        covered += bounds is not None and bounds.low <= 1 <= bounds.high
    assert 15 <= np.median(ended) <= 150
    assert np.quantile(ended, 0.9) < rule.most
    # Truly 96 % or more (benchmarks/coverage.py); a standard error is one or two points.
    assert covered / early >= 0.94


@pytest.mark.parametrize("name", _NOISE)
@pytest.mark.parametrize("spread", [0.02, 0.03])
def test_of_the_series_that_ended_early_the_shown_intervals_cover_the_true_median(
    name: str, spread: float
) -> None:
    draw, true, _ = _NOISE[name]
    rule = StopRule(10, 50, "median", 0.01)
    random = np.random.default_rng(5)
    covered, early = 0, 0
    for _ in range(400):
        values = 1 + spread * (draw(random, rule.most) - true)
        n = _end(values, rule)
        if n < rule.most:
            interval = median_interval(values[:n], ENDED_LEVEL)
            early += 1
            covered += interval is not None and interval.low <= 1 <= interval.high
    # Truly 97 % or more; those of 95 % cover 85 to 92 % of them.
    assert early >= 60
    assert covered / early >= 0.93


@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_a_machine_that_warms_up_does_not_end_a_series(statistic: str) -> None:
    random = np.random.default_rng(4)
    rule = StopRule(10, 40, statistic, 0.02)  # type: ignore[arg-type]
    slower = 1 - 0.1 * np.exp(-np.arange(rule.most) / 6)
    series = [slower + random.normal(0, 0.005, rule.most) for _ in range(100)]
    assert sum(_end(values, rule) < rule.most for values in series) <= 2
    assert sum(trend(values) is not None for values in series) >= 95


def test_a_trend_within_what_the_rule_asks_for_ends_a_series() -> None:
    assert _end(100 + np.arange(50) / 100, StopRule(10, 50, "median", 0.01)) == 10


def test_three_to_ten_replications_until_it_looks_narrow_cover_far_less() -> None:
    random = np.random.default_rng(310)
    covered = 0
    for _ in range(_SERIES):
        values = 1 + 0.055 * (random.standard_exponential(10) - 1)
        n = next(
            (n for n in range(3, 10) if within_share(values[:n], StopRule(3, 10, "mean", 0.025))),
            10,
        )
        interval = mean_interval(values[:n])
        covered += interval is not None and interval.low <= 1 <= interval.high
    assert 0.76 <= covered / _SERIES <= 0.84
