"""By how much one series lies above another, with the interval that the rank test gives it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special
from railgauge.stats.interval import Interval
from railgauge.stats.rank_test import steps, tails

_Values: TypeAlias = "NDArray[np.float64]"
# Differences held at once; so many of a row are partly ordered, of more those below are counted.
_AT_ONCE = 4_000_000
_MOST_DIFFERENCES = 50_000
# Halvings of the range of differences: to a hundred-millionth of it.
_HALVINGS = 27
_MOST_EXACT_STEPS = 5_000_000
# A ratio of more than e to this is no double.
_MOST = 709.0


class Shifts(NamedTuple):
    """How far second series lie above first ones, (m,) each, in the values' unit.

    `low` and `high` bound the interval of coverage `level`; infinite where there are too few
    values for one, and `level` 1.
    """

    estimate: _Values
    low: _Values
    high: _Values
    level: float


def shifts(first: _Values, second: _Values, level: float = 0.95) -> Shifts:
    """Return the shift from each row of `first` (m, a) to that of `second` (m, b); a, b >= 1.

    The median of all differences (Hodges and Lehmann, Ann. Math. Statist. 34, 1963). The interval
    has the shifts that the Mann-Whitney test doesn't reject: it covers at least `level`, with ties
    as well, whatever the distribution. For long series that is by the normal approximation, and
    all is found to a hundred-millionth of the range of the differences.
    """
    m, (a, b) = len(first), (first.shape[1], second.shape[1])
    place, covered = _place(a, b, level)
    ranks = sorted({max(place, 0), (a * b - 1) // 2, a * b // 2, a * b - 1 - max(place, 0)})
    statistics = np.empty((m, len(ranks)))
    if a * b > _MOST_DIFFERENCES:
        for row in range(m):
            statistics[row] = _counted(first[row], second[row], ranks)
    else:
        rows = max(_AT_ONCE // (a * b), 1)
        for at in range(0, m, rows):
            block = slice(at, at + rows)
            differences = second[block, None, :] - first[block, :, None]
            flat = differences.reshape(len(differences), a * b)
            flat.partition(ranks, axis=1)
            statistics[block] = flat[:, ranks]
    by_rank = {rank: statistics[:, column] for column, rank in enumerate(ranks)}
    estimate = (by_rank[(a * b - 1) // 2] + by_rank[a * b // 2]) / 2
    if place < 0:
        return Shifts(estimate, np.full(m, -np.inf), np.full(m, np.inf), 1.0)
    return Shifts(estimate, by_rank[place], by_rank[a * b - 1 - place], covered)


def _counted(first: _Values, second: _Values, ranks: list[int]) -> list[float]:
    """Return the differences of those ranks, from 0 on, by halving where they may lie."""
    first, second = np.sort(first), np.sort(second)
    differences = []
    for rank in ranks:
        low, high = float(second[0] - first[-1]), float(second[-1] - first[0])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = int(np.searchsorted(second, first + middle, side="right").sum())
            low, high = (low, middle) if below > rank else (middle, high)
        # The greatest difference up to there: of equal values 0, not nearly 0.
        places = np.searchsorted(second, first + high, side="right") - 1
        differences.append(float((second[places] - first)[places >= 0].max(initial=low)))
    return differences


@lru_cache(maxsize=1024)
def _place(a: int, b: int, level: float) -> tuple[int, float]:
    """Return which of the ordered differences bounds the interval, from either end (from 0 on),
    and what it covers; -1 where even the outermost cover too little.
    """
    k, n = min(a, b), a + b
    if steps(k, n) > _MOST_EXACT_STEPS:
        spread = math.sqrt(a * b * (n + 1) / 12)
        place = math.floor(a * b / 2 + float(special.ndtri((1 - level) / 2)) * spread - 0.5)
        return max(place, -1), level
    # Twice the ranks: U pairs off the least are a distance of a b - 2 U.
    missed = tails(k, (1,) * n)[a * b :: -2]
    place = int(np.searchsorted(missed, 1 - level, side="right")) - 1
    return place, 1.0 - float(missed[place]) if place >= 0 else 1.0


def ratio_interval(reference: _Values, values: _Values) -> Interval | None:
    """Return the 95 % interval of the median of all ratios, one of `values` to `reference`'s.

    None where a value isn't above 0, a ratio no double, or where there are too few: for 95 % it
    takes 4 and 4, 3 and 5, or 2 and 8. It supposes that all are independent, and nothing of how
    they spread.
    """
    if not len(reference) or not len(values) or min(reference.min(), values.min()) <= 0:
        return None
    interval = difference_interval(np.log(reference), np.log(values))
    if interval is None or interval.high > _MOST:
        return None
    return Interval(math.exp(interval.low), math.exp(interval.high), interval.level)


def difference_interval(reference: _Values, values: _Values) -> Interval | None:
    """Return the 95 % interval of the median of all differences of `values` less `reference`.

    In the values' unit; None where there are too few (Hodges and Lehmann, Ann. Math. Statist. 34,
    1963).
    """
    if not len(reference) or not len(values):
        return None
    moved = shifts(reference[None, :], values[None, :])
    low, high = float(moved.low[0]), float(moved.high[0])
    return Interval(low, high, moved.level) if math.isfinite(low + high) else None
