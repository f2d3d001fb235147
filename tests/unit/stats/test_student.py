"""Student's quantiles against scipy's, which reports do without."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from railgauge.stats.student import student_reach

# All sums up to where the expansion takes over, on either side of that, and many degrees.
_FREEDOM = [*range(1, 120), *range(990, 1012), 5_000, 10**5, 10**7, 10**9]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_students_quantiles_are_scipys_to_twelve_digits(level: float) -> None:
    ours = [student_reach(freedom, level) for freedom in _FREEDOM]
    np.testing.assert_allclose(ours, stdtrit(_FREEDOM, (1 + level) / 2), rtol=1e-12)


@pytest.mark.parametrize("level", [1e-6, 0.01, 1 - 1e-6, 1 - 1e-9])
def test_a_level_far_from_the_usual_ones_has_its_quantile(level: float) -> None:
    ours = [student_reach(freedom, level) for freedom in (1, 2, 9, 400)]
    np.testing.assert_allclose(ours, stdtrit([1, 2, 9, 400], (1 + level) / 2), rtol=1e-6)
