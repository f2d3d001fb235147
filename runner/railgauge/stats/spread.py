"""How far values spread, measured so that outliers don't matter."""

from __future__ import annotations

from railgauge.base.arrays import NDArray, np


def robust_spread(values: NDArray[np.float64], most: int = 1500) -> float:
    """Return Qn of `values` (n,), in their unit: a standard deviation; 0 for fewer than two.

    It holds while nearly half of the values are outliers (Rousseeuw and Croux, JASA 88, 1993). Of
    more than `most` values as many quantiles stand for them all.
    """
    if len(values) < 2:
        return 0.0
    ordered = np.sort(values)
    if len(ordered) > most:
        ordered = ordered[np.linspace(0, len(ordered) - 1, most).round().astype(np.intp)]
    n = len(ordered)
    first, second = np.triu_indices(n, 1)
    half = n // 2 + 1
    place = half * (half - 1) // 2 - 1
    return 2.2219 * float(np.partition(ordered[second] - ordered[first], place)[place])


def unbiased_spread(values: NDArray[np.float64], most: int = 1500) -> float:
    """Return Qn of `values` (n,) without its bias in small samples, in their unit.

    Croux and Rousseeuw, COMPSTAT 1992: of ten values it is 1.38 times the standard deviation.
    """
    n = len(values)
    return robust_spread(values, most) * n / (n + (1.4 if n % 2 else 3.8))
