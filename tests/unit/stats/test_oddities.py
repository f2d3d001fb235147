"""What is odd about many series at once is what is odd about each of them."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.stats.autocorrelation import autocorrelation
from railgauge.stats.oddities import oddities
from railgauge.stats.trend import trend
from railgauge.stats.two_groups import two_groups


def test_many_series_at_once_give_what_each_gives_alone() -> None:
    rng = np.random.default_rng(8)
    many = [np.zeros(0), np.ones(1), np.ones(12)]
    for n in (2, 5, 6, 9, 10, 11, 30, 200):
        for _ in range(60):
            plain = rng.normal(50.0, 1.0, n)
            many += [plain, np.cumsum(plain - 50.0), np.round(plain)]
            many.append(np.where(rng.random(n) < 0.3, plain, plain + 31.0))
    results = oddities(many)
    assert [result.autocorrelation for result in results] == [
        autocorrelation(values) for values in many
    ]
    assert [result.trend for result in results] == pytest.approx([trend(values) for values in many])
    assert [result.groups for result in results] == [two_groups(values) for values in many]
    # There was something to be found.
    assert sum(result.autocorrelation is not None for result in results) > 100
    assert sum(result.trend is not None for result in results) > 100
    assert sum(result.groups is not None for result in results) > 100
