"""Between what two series' ratio, or their difference, lies."""

from __future__ import annotations

import math
from typing import TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats.hodges_lehmann import shifts
from railgauge.stats.interval import Interval

_Values: TypeAlias = "NDArray[np.float64]"
# A ratio of more than e to this is no double.
_MOST = 709.0


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
