"""What the replications of many cases say together of how they depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from railgauge.stats.autocorrelation import autocorrelation
from railgauge.stats.dependence import shared_autocorrelation


def _following(cases: int, n: int, rho: float, seed: int) -> list[NDArray[np.float64]]:
    """Return series each of whose values keeps `rho` of the one before."""
    noise = np.random.default_rng(seed).normal(0, 1, (cases, n))
    values = noise.copy()
    for k in range(1, n):
        values[:, k] = rho * values[:, k - 1] + np.sqrt(1 - rho**2) * noise[:, k]
    return list(values)


def test_many_cases_show_what_ten_values_of_one_do_not() -> None:
    cases = _following(20, 10, 0.5, 1)
    assert sum(autocorrelation(values) is not None for values in cases) <= 4
    assert shared_autocorrelation(cases) == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("cases", [1, 5, 30])
def test_independent_replications_are_taken_for_dependent_in_one_of_a_hundred_runs(
    cases: int,
) -> None:
    correlations = [shared_autocorrelation(_following(cases, 10, 0.0, seed)) for seed in range(400)]
    assert sum(shared is not None for shared in correlations) <= 10


def test_cases_that_move_together_are_not_as_many_proofs() -> None:
    correlations = []
    for seed in range(400):
        block = np.random.default_rng(seed + 1000).normal(0, 3, 10)
        correlations.append(
            shared_autocorrelation([values + block for values in _following(30, 10, 0.0, seed)])
        )
    assert sum(shared is not None for shared in correlations) <= 16


@pytest.mark.parametrize("many", [[], [np.zeros(0)], [np.ones(20)], [np.arange(7.0)]])
def test_too_few_or_equal_values_show_none(many: list[NDArray[np.float64]]) -> None:
    assert shared_autocorrelation(many) is None
