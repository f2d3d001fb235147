"""Whether a value depends on the one measured before it, so that n values are not n."""

from __future__ import annotations

import math
from collections.abc import Sequence

from railgauge.base.arrays import NDArray, np

# Fewer values say nothing of their order. A correlation is reported if it is as improbable as this.
_LEAST_VALUES, _LEVEL = 10, 0.01


def autocorrelation(values: NDArray[np.float64] | Sequence[float]) -> float | None:
    """Return how neighbours in `values` (n,), in order of measurement, correlate; else None.

    It is the lag-1 serial correlation of their ranks (ties share the mean of theirs), from -1 to 1:
    one wild value can't make or hide it. None with fewer than 10 values, where all are equal, and
    where the order may be chance: not significant at 1 %, two-sided, against all orders of these
    very ranks, whose mean and variance are exact (Wald and Wolfowitz, Annals of Mathematical
    Statistics 14, 1943, here for a series without a circle) and whose shape is taken for normal.
    """
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    if n < _LEAST_VALUES:
        return None
    _, places, counts = np.unique(array, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places.ravel()]
    around = ranks - (n + 1) / 2
    squares, deviation = _over_all_orders(around)
    if squares == 0:
        return None
    product = float(np.sum(around[1:] * around[:-1]))
    return _significant(product, squares, deviation, n)


def autocorrelations_of_ranks(ranks: NDArray[np.float64]) -> list[float | None]:
    """Return the same for each row of `ranks` (k, n): 1 to n in order of measurement, no ties."""
    n = ranks.shape[1]
    if n < _LEAST_VALUES:
        return [None] * len(ranks)
    around = ranks - (n + 1) / 2
    squares, deviation = _over_all_orders(np.arange(n) - (n - 1) / 2)
    products: list[float] = np.einsum("ij,ij->i", around[:, 1:], around[:, :-1]).tolist()
    return [_significant(product, squares, deviation, n) for product in products]


def _significant(product: float, squares: float, deviation: float, n: int) -> float | None:
    z = (product + squares / n) / deviation
    return product / squares if math.erfc(abs(z) / math.sqrt(2)) <= _LEVEL else None


def _over_all_orders(around: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sum of squares of centred ranks (n,), and how far neighbours' products deviate."""
    n = len(around)
    squares, fourths = float(np.sum(around**2)), float(np.sum(around**4))
    # The mean of their square over all orders: a product with itself, its neighbour, with the rest.
    itself = (squares**2 - fourths) / n
    neighbour = 2 * (2 * fourths - squares**2) / (n * (n - 1))
    rest = (3 * squares**2 - 6 * fourths) / (n * (n - 1))
    variance = itself + neighbour + rest - (squares / n) ** 2
    return squares, math.sqrt(max(variance, 0.0))
