"""Numbers in, numbers out: what a series of replications says. Nothing here reads or prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Summary(NamedTuple):
    """What a series of n values says, in the values' own unit.

    `stdev` is the sample standard deviation (n - 1), None for a single value.
    `mean_absolute_deviation` is the mean distance from the mean. `cv` is the coefficient of
    variation, stdev / |mean|: None where either is missing or the mean is 0.
    """

    n: int
    mean: float
    median: float
    stdev: float | None
    minimum: float
    maximum: float
    mean_absolute_deviation: float
    cv: float | None


def summarise(values: NDArray[np.float64] | Sequence[float]) -> Summary:
    """Summarise `values` (n,), n >= 1, in any order; ValueError when there are none.

    Sums are exact before the one rounding (fsum), so the result depends neither on the order of
    the values nor on the machine.
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    ordered: list[float] = array.tolist()
    n = len(ordered)
    if n == 0:
        raise ValueError("there is nothing to summarise: no values")
    # A mean can't lie outside the values; rounding the division could put it there by one ulp.
    mean = min(max(math.fsum(ordered) / n, ordered[0]), ordered[-1])
    deviations = np.abs(array - mean)
    stdev = None
    if n > 1:
        stdev = math.sqrt(math.fsum((deviations * deviations).tolist()) / (n - 1))
    middle = n // 2
    median = ordered[middle] if n % 2 else math.fsum(ordered[middle - 1 : middle + 1]) / 2
    return Summary(
        n=n,
        mean=mean,
        median=median,
        stdev=stdev,
        minimum=ordered[0],
        maximum=ordered[-1],
        mean_absolute_deviation=math.fsum(deviations.tolist()) / n,
        cv=stdev / abs(mean) if stdev is not None and mean else None,
    )
