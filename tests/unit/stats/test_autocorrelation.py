"""Values that depend on the ones before: told where it is sure, and hardly ever else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from railgauge.stats.autocorrelation import autocorrelation

_Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
_INDEPENDENT: dict[str, _Draw] = {
    "normal": lambda random, n: random.normal(10, 1, n),
    "lognormal": lambda random, n: np.exp(random.normal(0, 1, n)),
    "counts": lambda random, n: random.poisson(1, n).astype(np.float64),
    "two modes": lambda random, n: (
        np.where(random.random(n) < 0.3, 50.0, 81.0) + random.normal(0, 0.1, n)
    ),
}


def _following(random: np.random.Generator, n: int, rho: float) -> NDArray[np.float64]:
    """Return a series each of whose values keeps `rho` of the one before."""
    noise = random.normal(0, 1, n)
    values = np.empty(n)
    values[0] = noise[0] / np.sqrt(1 - rho**2)
    for k in range(1, n):
        values[k] = rho * values[k - 1] + noise[k]
    return values


def test_a_drift_has_the_known_correlation_of_its_ranks() -> None:
    # Ranks 1 to 10 around 5.5: products of neighbours 57.75, squares 82.5.
    assert autocorrelation([2.0**k for k in range(10)]) == pytest.approx(57.75 / 82.5)


def test_values_that_take_turns_correlate_negatively() -> None:
    correlation = autocorrelation([50.0, 81.0] * 8)
    assert correlation == pytest.approx(-15 / 16)


def test_the_same_values_in_a_random_order_tell_nothing() -> None:
    assert autocorrelation([3.0, 9.0, 1.0, 7.0, 10.0, 2.0, 6.0, 8.0, 4.0, 5.0]) is None


@pytest.mark.parametrize("values", [[], [1.0], [float(k) for k in range(9)], [4.0] * 30])
def test_too_few_or_equal_values_have_none(values: list[float]) -> None:
    assert autocorrelation(values) is None


@pytest.mark.parametrize("draw", _INDEPENDENT.values(), ids=_INDEPENDENT)
@pytest.mark.parametrize("n", [10, 20, 100])
def test_independent_values_are_taken_for_dependent_in_one_of_a_hundred_series(
    draw: _Draw, n: int
) -> None:
    random = np.random.default_rng(n)
    count = sum(autocorrelation(draw(random, n)) is not None for _ in range(4000))
    # 0.3 to 1 % truly (benchmarks/coverage.py); three standard errors more are chance.
    assert count <= 4000 * 0.0147


@pytest.mark.parametrize(("rho", "n", "least"), [(0.8, 30, 0.85), (0.5, 100, 0.95)])
def test_a_strong_dependence_is_found(rho: float, n: int, least: float) -> None:
    random = np.random.default_rng(n)
    correlations = [autocorrelation(_following(random, n, rho)) for _ in range(500)]
    significant = [correlation for correlation in correlations if correlation is not None]
    assert len(significant) >= 500 * least
    assert np.median(significant) == pytest.approx(rho, abs=0.15)


@given(st.lists(st.integers(min_value=-50, max_value=50), min_size=10, max_size=60))
def test_only_the_ranks_matter_and_not_the_direction_of_time(values: list[int]) -> None:
    correlation = autocorrelation(values)
    assert autocorrelation([float(value) ** 3 * 2.0**900 for value in values]) == correlation
    assert autocorrelation([value * 5e-324 for value in values]) == correlation
    assert autocorrelation(values[::-1]) == (
        None if correlation is None else pytest.approx(correlation)
    )
    assert correlation is None or -1 <= correlation <= 1
