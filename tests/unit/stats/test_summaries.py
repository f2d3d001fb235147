"""Summing up many series at once says, to the last bit, what summing them up one by one says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from railgauge.stats.dependence import stacked
from railgauge.stats.summaries import row_sums, summaries
from railgauge.stats.summary import summarise

_SEED = 20261121


def _of_all_kinds(n: int, rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Return series (n,) of what engines measure, and of what breaks sums."""
    wide = rng.normal(0, 1, n) * 10.0 ** rng.integers(-18, 18, n)
    return [
        rng.normal(9.4e9, 1e6, n),
        rng.lognormal(-12, 0.3, n),
        rng.integers(0, 3, n).astype(np.float64),
        np.round(rng.exponential(1e-5, n), 7),
        np.full(n, 0.1),
        np.zeros(n),
        np.where(rng.random(n) < 0.5, 0.0, -0.0),
        wide,
        np.concatenate((wide[: n // 2], -wide[: n // 2], np.ones(n % 2))),
        1e16 + rng.integers(0, 8, n),
        rng.normal(0, 1, n) * 1e-300,
        rng.normal(0, 1, n) * 1e300,
        rng.integers(-3, 3, n) * 5e-324,
        # Sums half-way between two numbers.
        np.where(np.arange(n) == 0, 1.0, 2.0**-53),
        np.where(np.arange(n) % 2, 1.0, 2.0**-53),
        np.where(np.arange(n) == n - 1, -1.0, 2.0**-54),
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10, 31, 49, 50, 51, 100, 257, 1000])
def test_many_at_once_say_what_each_says(n: int) -> None:
    rng = np.random.default_rng([_SEED, n])
    many = [values for _ in range(20) for values in _of_all_kinds(n, rng)]
    # repr tells -0.0 from 0.0.
    assert list(map(repr, summaries(many))) == [repr(summarise(values)) for values in many]


def test_lengths_may_be_mixed_and_their_order_stays() -> None:
    rng = np.random.default_rng(_SEED)
    many = [rng.normal(5, 1, n) for n in rng.integers(1, 30, 500)]
    assert summaries(many) == [summarise(values) for values in many]


def test_a_series_without_values_has_no_summary() -> None:
    with pytest.raises(ValueError, match="no values"):
        summaries([np.ones(3), np.zeros(0)])


def test_nothing_sums_up_to_nothing() -> None:
    assert summaries([]) == []


@pytest.mark.parametrize("n", [1, 2, 3, 8, 100, 999])
def test_sums_of_rows_are_exact_before_the_one_rounding(n: int) -> None:
    rng = np.random.default_rng([_SEED, n, 1])
    rows = np.stack([values for _ in range(50) for values in _of_all_kinds(n, rng)])
    exact = [math.fsum(row) for row in rows.tolist()]
    assert list(map(repr, row_sums(rows).tolist())) == list(map(repr, exact))


def test_what_is_next_to_nothing_tips_a_sum_over() -> None:
    tips = [2.0**-200, -(2.0**-200), 0.0]
    rows = np.array([[1.0, 2.0**-53, 1e-40, -1e-40, 3e-60, tip] for tip in tips])
    assert row_sums(rows).tolist() == [math.fsum(row) for row in rows.tolist()]
    rows = np.array([[1.0, 2.0**-53, tip] for tip in tips])
    assert row_sums(rows).tolist() == [1 + 2.0**-52, 1.0, 1.0]


def test_series_of_a_length_are_taken_together_or_in_blocks() -> None:
    arrays = [np.zeros(10)] * 5 + [np.zeros(3)]
    assert [len(places) for places, _ in stacked(arrays)] == [5, 1]
    assert [len(places) for places, _ in stacked(arrays, 20)] == [2, 2, 1, 1]


def test_each_has_the_interval_of_its_own_level() -> None:
    many = list(np.random.default_rng(4).normal(10, 1, (20, 30)))
    levels = [0.95, 0.99] * 10
    results = summaries(many, levels)
    assert results == [summarise(values, level) for values, level in zip(many, levels, strict=True)]
    wide, narrow = results[1].interval, summarise(many[1]).interval
    assert wide is not None
    assert narrow is not None
    assert wide.low < narrow.low < narrow.high < wide.high
