"""How much less values say that follow one another than as many independent ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats.between_runs import LEAST_CASES
from railgauge.stats.rank_test import doubled_ranks

_Values: TypeAlias = "NDArray[np.float64]"
# Runs shorter than this say too little of it.
LEAST_VALUES = 8
# What 99 of 100 sets of independent values don't exceed, in standard errors.
_SIGNIFICANT = 2.326
_MOST = 0.95


def stacked(
    arrays: Sequence[_Values], block: int | None = None
) -> Iterator[tuple[NDArray[np.intp], _Values]]:
    """Yield the places of arrays of the same length, with their values as rows.

    About `block` values at most at a time, all of a length without it.
    """
    lengths: dict[int, list[int]] = {}
    for place, array in enumerate(arrays):
        lengths.setdefault(len(array), []).append(place)
    for length, places in lengths.items():
        step = len(places) if block is None else max(1, block // max(length, 1))
        for first in range(0, len(places), step):
            chunk = places[first : first + step]
            yield np.array(chunk, np.intp), np.array([arrays[place] for place in chunk])


def variance_factors(
    runs: Sequence[_Values], of: NDArray[np.intp], group: NDArray[np.intp]
) -> _Values:
    """Return (m,) >= 1: how many times the variance is what independent values would have.

    `runs` are in order of measurement; run i belongs to pair `of`[i], pair j to `group`[j] (m,).
    (1 + r) / (1 - r) for lag-1 autocorrelation r, as in a process that forgets exponentially. r is
    that of the ranks, so that outliers don't hide it, freed of its bias in short runs (Marriott and
    Pope, Biometrika 41, 1954). Ten values say little of it: a pair has that of its group together
    if it is significant, moved towards its own as far as pairs are less alike than chance makes
    them; or what its own exceeds chance by if that is more.
    """
    m, groups = len(group), int(group.max(initial=-1)) + 1
    sums = np.zeros((3, m))
    for places, rows in stacked(runs):
        n = rows.shape[1]
        if n < LEAST_VALUES:
            continue
        ranks = doubled_ranks(rows)[0] - float(n + 1)
        squares = (ranks * ranks).sum(axis=1)
        varies = squares > 0
        r = (ranks[varies, 1:] * ranks[varies, :-1]).sum(axis=1) / squares[varies]
        owner = of[places[varies]]
        for total, part in zip(sums, (n * r + 1, n - 4.0, float(n)), strict=True):
            np.add.at(total, owner, part)
    own, error = _correlation(sums)
    common, common_error = _correlation(
        np.stack([np.bincount(group, total, groups) for total in sums])
    )
    likely = np.where(common > _SIGNIFICANT * common_error, common, 0.0)[group]
    for number in range(groups):
        pairs = np.flatnonzero((group == number) & (sums[1] > 0))
        if len(pairs) >= LEAST_CASES:
            noise = error[pairs] ** 2
            unlike = max(float(own[pairs].var(ddof=1) - noise.mean()), 0.0)
            likely[pairs] += unlike / (unlike + noise) * (own[pairs] - likely[pairs])
    r = np.clip(np.maximum(own - _SIGNIFICANT * error, likely), 0, _MOST)
    factors: _Values = (1 + r) / (1 - r)
    return factors


def shared_autocorrelation(many: Sequence[_Values]) -> float | None:
    """Return the lag-1 autocorrelation that `many` series (n,), in order of measurement, share.

    None where it isn't above 0, significant at 1 %: what ten values don't show, those of ten cases
    do. It is that of the ranks, freed of its bias as in `variance_factors`. Series that move
    together, replication by replication, count as the fewer independent ones that they are.
    """
    products = degrees = variance = 0.0
    for _, rows in stacked(many):
        n = rows.shape[1]
        if n < LEAST_VALUES:
            continue
        ranks = doubled_ranks(rows)[0] - float(n + 1)
        squares = (ranks * ranks).mean(axis=1)
        scaled = ranks[squares > 0] / np.sqrt(squares[squares > 0])[:, np.newaxis]
        k = len(scaled)
        if not k:
            continue
        # Of independent series the mean has a k-th of their variance.
        together = max(k * float((scaled.mean(axis=0) ** 2).mean()) - 1, 0.0) / max(k - 1, 1)
        products += float((scaled[:, 1:] * scaled[:, :-1]).sum()) + k
        degrees += k * (n - 4.0)
        variance += k * n * (1 + (k - 1) * together**2)
    if products <= _SIGNIFICANT * math.sqrt(variance):
        return None
    return min(products / degrees, _MOST)


def _correlation(sums: _Values) -> tuple[_Values, _Values]:
    """Return r (k,), and its standard error (k,) by chance, of sums (3, k) over runs of n values.

    The sums are of n r + 1, whose mean is n - 4 times the true r, of n - 4, and of n.
    """
    products, degrees, values = sums
    divisors = np.maximum(degrees, 1)
    return products / divisors, np.sqrt(values) / divisors
