"""Values that rise or fall in the order of their measurement: told where it is sure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from railgauge.stats.trend import trend


def test_a_trend_is_the_rank_correlation_with_the_order() -> None:
    values = np.random.default_rng(1).normal(0, 1, 40).round(1) + np.arange(40) / 10
    assert len(set(values)) < 40
    assert trend(values) == pytest.approx(stats.spearmanr(np.arange(40), values).statistic)
    assert trend(-values) == pytest.approx(-(trend(values) or 0))


def test_values_in_no_order_have_no_trend() -> None:
    assert trend([3.0, 9.0, 1.0, 7.0, 10.0, 2.0, 6.0, 8.0, 4.0, 5.0]) is None


@pytest.mark.parametrize("values", [[], [1.0], [float(k) for k in range(7)], [4.0] * 30])
def test_too_few_or_equal_values_have_none(values: list[float]) -> None:
    assert trend(values) is None


@pytest.mark.parametrize("n", [8, 10, 20, 100])
def test_a_trend_is_seen_by_chance_in_one_of_a_hundred_series(n: int) -> None:
    random = np.random.default_rng(n)
    alarms = sum(trend(random.standard_exponential(n)) is not None for _ in range(2000))
    assert alarms <= 30
