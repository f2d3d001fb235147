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
    found = oddities(many)
    assert [one.autocorrelation for one in found] == [autocorrelation(one) for one in many]
    assert [one.trend for one in found] == pytest.approx([trend(one) for one in many])
    assert [one.groups for one in found] == [two_groups(one) for one in many]
    # There was something to be found.
    assert sum(one.autocorrelation is not None for one in found) > 100
    assert sum(one.trend is not None for one in found) > 100
    assert sum(one.groups is not None for one in found) > 100
