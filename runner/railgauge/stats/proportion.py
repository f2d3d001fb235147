"""Whether two series are one quantity, as half of a round trip beside the whole of it."""

from __future__ import annotations

import math

from railgauge.base.arrays import NDArray, np

# By what share factors and roundings may be off: doubles, not figures that a program printed.
_ROUNDING = 1e-9


def is_multiple(values: NDArray[np.float64], of: NDArray[np.float64]) -> bool:
    """Return whether `values` (n,) are all the same multiple of those `of` (n,) another series.

    Only of values above 0 that differ among themselves: what is always the same shows nothing.
    """
    if len(values) != len(of) or not len(of):
        return False
    # Hardly any are, which the ends show.
    ends = float(values[0]) * float(of[-1]), float(values[-1]) * float(of[0])
    if not math.isclose(*ends, rel_tol=_ROUNDING):
        return False
    if min(values.min(), of.min()) <= 0 or of.min() == of.max():
        return False
    ratios = values / of
    return bool(ratios.max() <= ratios.min() * (1 + _ROUNDING))
