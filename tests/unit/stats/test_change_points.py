"""Change points: found and dated where a level changed, and hardly ever where none did."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import ruptures
from numpy.typing import NDArray
from tests.support.trials import trials

from railgauge.stats.change_points import ChangePoint, change_points

Values = NDArray[np.float64]
_Draw = Callable[[np.random.Generator, int], Values]
NOISE = 0.02


def normal(random: np.random.Generator, n: int) -> Values:
    return random.standard_normal(n)


def skewed(random: np.random.Generator, n: int) -> Values:
    return random.exponential(1, n)


def with_outliers(random: np.random.Generator, n: int) -> Values:
    values = random.standard_normal(n)
    struck = random.random(n) < 0.03
    values[struck] -= random.uniform(5, 25, int(struck.sum()))
    return values


def dependent(random: np.random.Generator, n: int) -> Values:
    values = random.standard_normal(n)
    for i in range(1, n):
        values[i] = 0.3 * values[i - 1] + math.sqrt(1 - 0.3**2) * values[i]
    return values


DRAWS: dict[str, _Draw] = {
    "normal": normal,
    "skewed": skewed,
    "outliers": with_outliers,
    "dependent": dependent,
}


def nights(n: int, draw: _Draw, random: np.random.Generator) -> Values:
    """Return n nights around 1e9 with 2 % noise."""
    values: Values = 1e9 * np.exp(NOISE * draw(random, n))
    return values


def stepped(seed: int, *levels: tuple[int, float], noise: float = NOISE) -> Values:
    """Return so many nights at each level, one after the other."""
    random = np.random.default_rng(seed)
    level = np.concatenate([np.full(n, height) for n, height in levels])
    values: Values = level * np.exp(noise * random.standard_normal(len(level)))
    return values


def places(points: list[ChangePoint]) -> list[int]:
    return [point.index for point in points]


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize(("n", "series"), [(10, 600), (60, 600), (365, 200)])
def test_a_level_that_never_changed_has_a_point_in_at_most_five_of_a_hundred(
    draw: _Draw, n: int, series: int
) -> None:
    random = np.random.default_rng(n)
    drawn = trials(series)
    count = sum(bool(change_points(nights(n, draw, random))) for _ in range(drawn))
    assert count <= 0.05 * drawn


@pytest.mark.parametrize(("n", "series"), [(60, 300), (365, 100)])
def test_nights_of_two_modes_have_one_level(n: int, series: int) -> None:
    def two_modes(random: np.random.Generator, n: int) -> Values:
        return 0.25 * random.standard_normal(n) + 2.5 * (random.random(n) < 0.3)

    random = np.random.default_rng(n)
    count = sum(bool(change_points(nights(n, two_modes, random))) for _ in range(series))
    assert count <= 0.05 * series


@pytest.mark.parametrize("size", [0.95, 1.05])
def test_five_percent_in_sixty_nights_is_dated_within_two_nights(size: float) -> None:
    random = np.random.default_rng(11)
    near = 0
    drawn = trials(600)
    for _ in range(drawn):
        place = int(random.integers(10, 51))
        values = nights(60, normal, random)
        values[place:] *= size
        near += any(abs(point.index - place) <= 2 for point in change_points(values))
    assert near >= 0.95 * drawn


def test_outlier_nights_make_no_points_and_hide_none() -> None:
    random = np.random.default_rng(12)
    near = more = 0
    for _ in range(200):
        values = nights(60, with_outliers, random)
        values[30:] *= 0.93
        points = change_points(values)
        near += any(abs(point.index - 30) <= 2 for point in points)
        more += len(points) > 1
    assert near >= 190
    assert more <= 10


@pytest.mark.parametrize("place", [0, 20, 38, 39])
@pytest.mark.parametrize("length", [1, 2])
def test_one_or_two_nights_that_stand_out_are_no_level(place: int, length: int) -> None:
    values = stepped(13, (40, 1e9))
    values[place : place + length] *= 0.3
    assert change_points(values) == []


def test_three_nights_in_a_row_are_a_level() -> None:
    values = stepped(13, (40, 1e9), (3, 0.85e9))
    assert places(change_points(values)) == [40]


@pytest.mark.parametrize("draw", [normal, skewed, dependent])
def test_a_year_of_nightly_looks_at_one_level_confirms_no_point(draw: _Draw) -> None:
    count = 0
    for seed in range(trials(40)):
        values = nights(365, draw, np.random.default_rng(seed))
        for night in range(6, 366):
            points = change_points(values[max(0, night - 100) : night])
            count += len(points)
            assert all(point.provisional for point in points)
    assert count


def test_five_percent_are_confirmed_on_the_fourth_night() -> None:
    confirmed = 0
    for seed in range(100):
        values = stepped(seed, (96, 1e9), (4, 0.95e9), noise=0.01)
        confirmed += [(p.index, p.provisional) for p in change_points(values)] == [(96, False)]
    assert confirmed >= 80


def test_many_nights_confirm_a_change_though_the_levels_overlap() -> None:
    values = stepped(25, (40, 1e9), (40, 0.95e9))
    assert values[40:].max() > np.quantile(values[:40], 0.2)
    (point,) = change_points(values)
    assert not point.provisional


@pytest.mark.parametrize(("length", "provisional"), [(3, True), (4, False)])
def test_a_deep_fall_is_confirmed_by_four_nights_and_so_it_stays(
    length: int, provisional: bool
) -> None:
    lasting = stepped(26, (20, 941.0), (length, 470.0), noise=0.01)
    mended = stepped(26, (20, 941.0), (length, 470.0), (40, 941.0), noise=0.01)
    assert [p.provisional for p in change_points(lasting)] == [provisional]
    assert [p.provisional for p in change_points(mended)] == [provisional] * 2


@pytest.mark.parametrize(("length", "provisional"), [(7, True), (12, False)])
def test_few_nights_without_any_noise_are_provisional(length: int, provisional: bool) -> None:
    (point,) = change_points([1e9] * length + [0.5e9] * length)
    assert point.provisional == provisional


def test_a_change_tells_both_levels_and_their_ratio() -> None:
    values = stepped(14, (30, 100.0), (30, 90.0), noise=0.005)
    (point,) = change_points(values)
    assert point.index == 30
    assert point.before == np.median(values[:30])
    assert point.after == np.median(values[30:])
    assert point.ratio == point.after / point.before
    assert point.p < 1e-20


def test_a_fall_and_its_end_are_two_points() -> None:
    values = stepped(15, (40, 100.0), (15, 90.0), (45, 100.0), noise=0.01)
    assert places(change_points(values)) == [40, 55]


@pytest.mark.parametrize("fall", [0.03, 0.08, 0.2, 0.5])
def test_a_fall_that_was_mended_is_dated_however_deep_it_was(fall: float) -> None:
    near = 0
    for seed in range(100):
        values = stepped(seed, (14, 941.0), (30, 941.0 * (1 - fall)), (16, 941.0), noise=0.01)
        points = places(change_points(values))
        near += all(any(abs(point - place) <= 2 for point in points) for place in (14, 44))
    # Of 3 % it is 95 of 100 in many more draws.
    assert near >= (90 if fall == 0.03 else 95)


@pytest.mark.parametrize(("fall", "length"), [(0.05, 7), (0.2, 3), (0.5, 3)])
def test_a_fall_of_a_few_nights_is_dated_with_its_end(fall: float, length: int) -> None:
    near = 0
    for seed in range(100):
        first = 8 + seed % 40
        low, rest = 941.0 * (1 - fall), 60 - first - length
        values = stepped(seed, (first, 941.0), (length, low), (rest, 941.0), noise=0.01)
        points = places(change_points(values))
        near += all(
            any(abs(point - place) <= 1 for point in points) for place in (first, first + length)
        )
    assert near >= 93


@pytest.mark.parametrize(("nights_in_all", "fall"), [(15, 0.5), (20, 0.2), (45, 0.2), (45, 0.5)])
def test_a_deep_fall_of_three_nights_is_found_among_few(nights_in_all: int, fall: float) -> None:
    count = 0
    for seed in range(100):
        rest = nights_in_all - 8
        values = stepped(seed, (5, 941.0), (3, 941.0 * (1 - fall)), (rest, 941.0), noise=0.01)
        count += places(change_points(values)) == [5, 8]
    assert count >= 93


def test_the_nights_within_a_level_change_nothing_however_far_it_is_from_the_next() -> None:
    random = np.random.default_rng(24)
    more = 0
    for _ in range(200):
        values = nights(60, dependent, random)
        values[30:] *= 0.5
        more += len(change_points(values)) > 1
    assert more <= 10


def test_several_levels_are_all_found() -> None:
    values = stepped(16, (30, 100.0), (30, 90.0), (30, 110.0), (30, 105.0), noise=0.01)
    assert places(change_points(values)) == pytest.approx([30, 60, 90], abs=1)


def test_several_changes_never_hide_one_another() -> None:
    levels = [(20, 1.0), (3, 0.8), (10, 1.0), (12, 0.93), (3, 0.88)]
    for seed in range(100):
        values = stepped(seed, *levels, noise=0.005)
        points = places(change_points(values))
        for place in (20, 23, 33, 45):
            assert any(abs(point - place) <= 1 for point in points), (seed, points)


@pytest.mark.parametrize("noise", [0.005, 0.01])
def test_of_levels_of_any_length_nearly_all_are_found(noise: float) -> None:
    random = np.random.default_rng(3)
    dated = changes = 0
    for seed in range(100):
        lengths = random.integers(3, 21, size=int(random.integers(3, 7)))
        steps = random.choice([-1, 1], len(lengths)) * random.uniform(0.05, 0.3, len(lengths))
        levels = np.cumprod(1 + steps)
        values = stepped(seed, *zip(lengths.tolist(), levels.tolist(), strict=True), noise=noise)
        points = places(change_points(values))
        expected = np.cumsum(lengths)[:-1].tolist()
        changes += len(expected)
        dated += sum(any(abs(point - place) <= 2 for point in points) for place in expected)
    assert dated >= 0.985 * changes


def test_a_change_is_dated_where_it_was_though_another_is_near() -> None:
    aside = 0
    for seed in range(100):
        first = 10 + seed * 9 // 5
        values = stepped(seed, (first, 1.0), (7, 0.95), (193 - first, 1.0), noise=0.01)
        aside += places(change_points(values)) != [first, first + 7]
    assert aside <= 2


def test_a_change_smaller_than_what_matters_is_none() -> None:
    values = stepped(17, (100, 100.0), (100, 99.0), noise=0.002)
    assert change_points(values) == []
    assert places(change_points(values, least=0.005)) == [100]


def test_a_stricter_level_keeps_only_what_is_surer() -> None:
    values = stepped(18, (20, 100.0), (8, 96.0))
    (point,) = change_points(values, level=0.05)
    assert change_points(values, level=point.p) == [point]
    assert change_points(values, level=point.p / 2) == []


def test_a_series_read_backwards_changes_at_the_same_place() -> None:
    values = stepped(19, (25, 100.0), (35, 92.0))
    assert places(change_points(values)) == [60 - p for p in places(change_points(values[::-1]))]


def test_the_unit_of_the_values_has_no_say() -> None:
    values = stepped(20, (25, 100.0), (35, 92.0))
    assert places(change_points(values)) == places(change_points(values * 1e-9))


@pytest.mark.parametrize("value", [5.0, 0.0, -3.0, 1e300, 5e-324])
def test_a_constant_has_no_change(value: float) -> None:
    assert change_points(np.full(50, value)) == []


@pytest.mark.parametrize("level", [5.0, 0.1, 941_234_567.8])
def test_of_a_step_without_any_noise_p_is_the_chance_of_that_order(level: float) -> None:
    (point,) = change_points([level] * 10 + [1.2 * level] * 10)
    assert (point.index, point.before, point.after) == (10, level, 1.2 * level)
    assert point.p == pytest.approx(20 / math.comb(20, 10))


@pytest.mark.parametrize(
    ("before", "after", "indices"), [(7, 7, [7]), (25, 3, [25]), (6, 6, []), (3, 3, [])]
)
def test_few_nights_without_any_noise_may_be_in_that_order_by_chance(
    before: int, after: int, indices: list[int]
) -> None:
    assert places(change_points([1e9] * before + [0.5e9] * after)) == indices


def test_losses_that_begin_are_found_though_zero_has_no_ratio() -> None:
    random = np.random.default_rng(21)
    values = np.concatenate([np.zeros(30), random.uniform(0.01, 0.02, 30)])
    (point,) = change_points(values)
    assert (point.index, point.before) == (30, 0.0)
    assert math.isnan(point.ratio)


def test_rare_losses_are_no_change() -> None:
    values = np.zeros(60)
    values[[7, 25, 26, 50]] = 0.001, 0.2, 0.001, 0.003
    assert change_points(values) == []


def test_negative_values_change_too() -> None:
    values = stepped(22, (30, 1.0), (30, 1.2)) - 2.0
    (point,) = change_points(values)
    assert point.index == pytest.approx(30, abs=1)
    assert math.isnan(point.ratio)


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_values_have_no_change(n: int) -> None:
    assert change_points([1.0, 1.0, 1.0, 9.0, 9.0][:n]) == []


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_has_no_level(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        change_points([1.0, value, 1.0])


def one_change() -> Iterator[tuple[int, Values]]:
    random = np.random.default_rng(23)
    for _ in range(100):
        n = int(random.integers(40, 200))
        place = int(random.integers(10, n - 10))
        yield place, stepped(int(random.integers(1 << 30)), (place, 100.0), (n - place, 93.0))


def test_a_single_change_is_dated_as_ruptures_dates_it() -> None:
    apart = []
    for place, values in one_change():
        (index, _) = ruptures.Dynp(model="l2", min_size=3, jump=1).fit(np.log(values)).predict(1)
        nearest = min(change_points(values), key=lambda point: abs(point.index - place))
        apart.append(abs(nearest.index - index))
    assert np.mean(np.array(apart) <= 1) >= 0.95


def test_all_levels_are_those_that_ruptures_finds() -> None:
    for seed in range(20):
        values = stepped(seed, (40, 100.0), (30, 90.0), (50, 97.0), (25, 80.0), noise=0.01)
        pelt = ruptures.Pelt(model="l2", min_size=3, jump=1).fit(np.log(values))
        assert places(change_points(values)) == pytest.approx(
            pelt.predict(3 * 1e-4 * math.log(len(values)) * 2)[:-1], abs=1
        )


def energy(left: Values, right: Values) -> float:
    """Return E-divisive's statistic (exponent 1) as its paper writes it, pair by pair."""
    between = np.abs(left[:, None] - right).mean()
    within = [np.abs(part[:, None] - part).mean() for part in (left, right)]
    n, m = len(left), len(right)
    return float(n * m / (n + m) * (2 * between - within[0] - within[1]))


@pytest.mark.parametrize("seed", range(5))
def test_the_first_place_is_where_the_statistic_of_the_paper_is_greatest(seed: int) -> None:
    values = stepped(seed, (20, 100.0), (20, 94.0), noise=0.005)
    logs = np.log(values)
    best = max(range(3, 38), key=lambda k: energy(logs[:k], logs[k:]))
    assert places(change_points(values)) == [best]
