"""Student's quantiles and tails against scipy's, which reports and histories do without."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from railgauge.stats.student import student_reach, student_tails

# All sums up to where the expansion takes over, on either side of that, and many degrees.
_FREEDOM = [*range(1, 120), *range(990, 1012), 5_000, 10**5, 10**7, 10**9]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_students_quantiles_are_scipys_to_twelve_digits(level: float) -> None:
    quantiles = [student_reach(freedom, level) for freedom in _FREEDOM]
    np.testing.assert_allclose(quantiles, stdtrit(_FREEDOM, (1 + level) / 2), rtol=1e-12)


@pytest.mark.parametrize("level", [1e-6, 0.01, 1 - 1e-6, 1 - 1e-9])
def test_a_level_far_from_the_usual_ones_has_its_quantile(level: float) -> None:
    quantiles = [student_reach(freedom, level) for freedom in (1, 2, 9, 400)]
    np.testing.assert_allclose(quantiles, stdtrit([1, 2, 9, 400], (1 + level) / 2), rtol=1e-6)


@pytest.mark.parametrize("reach", [1e-6, 0.01, 0.5, 1.0, 1.2247, 1.5, 3.0, 10.0, 100.0, 1e10])
def test_students_tails_are_scipys_to_ten_digits_however_thin(reach: float) -> None:
    freedom = [*range(1, 130), 363, 1000, 10_000]
    expected = 2 * stdtr(freedom, -reach)
    thick = expected > 1e-290
    tails = np.array([student_tails(degrees, reach) for degrees in freedom])
    np.testing.assert_allclose(tails[thick], expected[thick], rtol=1e-10)
    assert np.all(tails[~thick] < 1e-290)


def test_nothing_is_farther_than_infinity_and_everything_than_nothing() -> None:
    assert student_tails(4, 0.0) == 1.0
    assert 0 <= student_tails(1, math.inf) < 1e-100
    assert student_tails(10, math.inf) == 0.0
