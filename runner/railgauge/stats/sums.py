"""Exact sums of many rows at once: what `math.fsum` returns, without a Python number each."""

from __future__ import annotations

import math
import sys
from typing import TypeAlias

from railgauge.base.arrays import NDArray, np

_Rows: TypeAlias = "NDArray[np.float64]"

_EPSILON, _TINY = sys.float_info.epsilon, sys.float_info.min


def row_sums(values: _Rows) -> _Rows:
    """Return (k,): the `fsum` of each row of `values` (k, n), n >= 1, where no sum overflows.

    Numbers are added in pairs, and the exact error of each addition (Knuth, The Art of Computer
    Programming 2, section 4.2.2, theorem B) is added up beside them. Where the sum doesn't round to
    the same number from both ends of what the errors' own sum may be off by, `fsum` decides.
    """
    n = values.shape[1]
    sums, errors = values, np.zeros_like(values)
    size = np.zeros(len(values))
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        first, second = sums[:, :half], sums[:, half : 2 * half]
        total = first + second
        part = total - first
        error = (first - (total - part)) + (second - part)
        size += np.abs(error).sum(axis=1)
        error += errors[:, :half] + errors[:, half : 2 * half]
        sums = np.concatenate((total, sums[:, 2 * half :]), axis=1)
        errors = np.concatenate((error, errors[:, 2 * half :]), axis=1)
    total, error = sums[:, 0], errors[:, 0]
    # Errors are added in fewer than 2 n steps, each off by less than half an epsilon of their size;
    # as much again covers what these lines round. Where there are none, nothing is off.
    off = np.where(size > 0, 4 * n * _EPSILON * size + _TINY, 0.0)
    low, high = total + (error - off), total + (error + off)
    # fsum knows no negative zero.
    fsums: _Rows = low + 0.0
    for row in np.flatnonzero(low != high).tolist():
        fsums[row] = math.fsum(values[row].tolist())
    return fsums
