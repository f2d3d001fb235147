"""Between what the difference of two means lies, of which others may have published the one."""

from __future__ import annotations

import math
from typing import NamedTuple

from railgauge.stats.interval import Interval
from railgauge.stats.student import student_reach

# By what share of it the quotient of a few sums may be off.
_ROUNDING = 1e-12
_LEVEL = 0.95


class SampleMean(NamedTuple):
    """An arithmetic mean of `n` values and their sample standard deviation (n - 1).

    None: nobody says how far they spread, so that the mean can only be taken for exact.
    """

    mean: float
    stdev: float | None
    n: int

    @property
    def error(self) -> float:
        """The variance of the mean."""
        return 0.0 if self.stdev is None else self.stdev**2 / self.n


def mean_difference_interval(reference: SampleMean, mean: SampleMean) -> Interval | None:
    """Return the 95 % interval of the difference of two means, `mean` less `reference`.

    In the means' unit; None where neither says how far its values spread, or one that says so is of
    a single value. With both spreads it is Welch's (Biometrika 34, 1947), his degrees of freedom
    rounded down; with one, Student's of that mean, the other being taken for exact. It supposes
    independent, normal values.
    """
    spread_sides = [side for side in (reference, mean) if side.stdev is not None]
    if not spread_sides or min(side.n for side in spread_sides) < 2:
        return None
    variance = math.fsum(side.error for side in spread_sides)
    parts = math.fsum(side.error**2 / (side.n - 1) for side in spread_sides)
    # Of values that are all alike there is nothing to divide. A whole number may come out rounded
    # down, as n - 1 of a single spread.
    freedom = (
        math.floor(variance**2 / parts * (1 + _ROUNDING))
        if parts
        else min(side.n for side in spread_sides) - 1
    )
    reach = student_reach(max(freedom, 1), _LEVEL) * math.sqrt(variance)
    difference = mean.mean - reference.mean
    return Interval(difference - reach, difference + reach, _LEVEL)
