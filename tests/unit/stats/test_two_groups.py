"""Two groups of values: found where there are two, and hardly ever where there is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from railgauge.stats.two_groups import TwoGroups, two_groups

_SERIES = 2000
_Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
_ONE_GROUP: dict[str, _Draw] = {
    "normal": lambda random, n: random.normal(10, 1, n),
    "lognormal": lambda random, n: np.exp(random.normal(0, 0.3, n)),
    "exponential": lambda random, n: random.exponential(1, n),
    "uniform": lambda random, n: random.uniform(0, 1, n),
}


def test_the_groups_are_counted_and_have_their_medians() -> None:
    values = [81.0, 50.0, 50.2, 80.8, 50.1, 81.2, 50.1, 50.3, 81.1, 49.9]
    assert two_groups(values) == (6, pytest.approx(50.1), 4, pytest.approx(81.05), True)


@pytest.mark.parametrize("draw", _ONE_GROUP.values(), ids=_ONE_GROUP)
@pytest.mark.parametrize("n", [6, 7, 8, 10, 15, 30, 100])
def test_one_group_is_taken_for_two_in_fewer_than_one_of_a_hundred(draw: _Draw, n: int) -> None:
    random = np.random.default_rng(n)
    count = sum(two_groups(draw(random, n)) is not None for _ in range(_SERIES))
    # The true rate is at most 0.91 % (100,000 series each); two standard errors more are chance.
    assert count <= _SERIES * 0.014


@pytest.mark.parametrize(("lower", "upper"), [(7, 3), (3, 7), (5, 5), (20, 80)])
def test_two_clear_groups_are_found_in_ninety_nine_of_a_hundred(lower: int, upper: int) -> None:
    random = np.random.default_rng(lower)
    count = 0
    for _ in range(_SERIES):
        noise = random.normal(1, 0.02, lower + upper)
        values = np.repeat([50.0, 81.0], [lower, upper]) * noise
        groups = two_groups(values)
        count += groups is not None and (groups.lower, groups.upper) == (lower, upper)
    assert count >= _SERIES * 0.99


def test_the_order_and_the_scale_of_the_values_do_not_matter() -> None:
    values = np.array([50.0, 81.0, 50.5, 81.5, 49.5, 80.5, 50.2])
    groups = two_groups(values)
    assert groups is not None
    assert two_groups(values[::-1]) == groups
    scaled = two_groups(values * 1e9)
    assert scaled is not None
    assert scaled.low == pytest.approx(groups.low * 1e9)
    assert (scaled.lower, scaled.upper) == (groups.lower, groups.upper)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1.0],
        [1.0, 1.0, 9.0, 9.0, 9.0],
        [3.0] * 20,
        [0.0] * 20,
        # A single outlier is no group, and 1 % apart doesn't matter to a mean.
        [50.0, 50.1, 50.2, 50.3, 50.4, 50.5, 50.6, 90.0],
        [100.0, 100.0, 100.0, 101.0, 101.0, 101.0],
    ],
)
def test_what_is_no_two_groups(values: list[float]) -> None:
    assert two_groups(values) is None


def test_a_mean_within_the_larger_group_is_told_from_one_that_nobody_had() -> None:
    wide = [*np.linspace(0, 10, 40).tolist(), *[30.0] * 8]
    groups = two_groups([50.0 + value for value in wide])
    assert groups is None or not groups.mean_apart
    clear = two_groups([0.0, 0.0, 0.0, 0.0, 5.0, 5.0])
    assert clear == TwoGroups(4, 0.0, 2, 5.0, True)
