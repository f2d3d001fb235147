"""The summaries of many series at once: to the last bit those of `summarise`, but faster."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats.dependence import stacked
from railgauge.stats.interval import median_ranks
from railgauge.stats.moments import LEAST, MOST
from railgauge.stats.outliers import fences
from railgauge.stats.summary import Summary, summarise

_Rows: TypeAlias = "NDArray[np.float64]"

# So many values at a time: what fits into a cache. Fewer series of one length aren't worth it.
_BLOCK, _FEWEST = 1 << 16, 8
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


def summaries(many: Sequence[_Rows], levels: Sequence[float] | None = None) -> list[Summary]:
    """Return the `summarise` of each of `many` series (n,), n >= 1; ValueError where one is empty.

    It is the same arithmetic, a series a row; huge and tiny numbers go one by one, and so do those
    whose interval is of another of the `levels` than 0.95, which all have without any.
    """
    of_each = [0.95] * len(many) if levels is None else levels
    by_place: list[Summary | None] = [None] * len(many)
    for places, rows in stacked(many, _BLOCK):
        if len(rows) < _FEWEST or not rows.size:
            continue
        for place, summary in zip(places.tolist(), _of_rows(rows), strict=True):
            by_place[place] = summary if of_each[place] == 0.95 else None
    return [
        summary or summarise(values, level)
        for summary, values, level in zip(by_place, many, of_each, strict=True)
    ]


def _of_rows(values: _Rows) -> Iterator[Summary | None]:
    """Yield the summary of each row of `values` (k, n); None: ask `summarise`."""
    n = values.shape[1]
    # Not where moments scale, nor where a zero is a negative one, whose place among zeros is open.
    size = np.abs(values).max(axis=1)
    plain = ((size > LEAST) & (size < MOST)) | (size == 0)
    plain &= ~((values == 0) & np.signbit(values)).any(axis=1)
    ordered = np.sort(np.where(plain[:, np.newaxis], values, 1.0), axis=1)
    least, greatest = ordered[:, 0], ordered[:, -1]
    mean, stdev, deviation = _moments(ordered)
    lower, upper = _quarter(ordered, n - 1), _quarter(ordered, 3 * (n - 1))
    low, high = (fence[:, np.newaxis] for fence in fences(lower, upper))
    outliers = (ordered < low).sum(axis=1) + (ordered > high).sum(axis=1)
    median = _median(ordered)
    cv = stdev / np.where(mean == 0, 1.0, np.abs(mean))
    rank, level = median_ranks(n) or (0, None)
    nones = [None] * len(ordered)
    ends = [ordered[:, rank - 1].tolist(), ordered[:, -rank].tolist()] if rank else [nones] * 2
    columns: list[list[Any]] = [
        [n] * len(ordered),
        mean.tolist(),
        median.tolist(),
        stdev.tolist() if n > 1 else nones,
        least.tolist(),
        greatest.tolist(),
        deviation.tolist(),
        _or_none(cv, mean != 0) if n > 1 else nones,
        lower.tolist(),
        upper.tolist(),
        outliers.tolist(),
        *ends,
        [level] * len(ordered),
        _or_none(_harmonic_means(ordered), least > 0),
    ]
    for fitting, row in zip(plain.tolist(), zip(*columns, strict=True), strict=True):
        yield Summary._make(row) if fitting else None


def _moments(ordered: _Rows) -> tuple[_Rows, _Rows, _Rows]:
    """Return the mean, the standard deviation and the mean absolute deviation, each (k,)."""
    n = ordered.shape[1]
    mean = _within(row_sums(ordered) / n, ordered)
    around = ordered - mean[:, np.newaxis]
    off = row_sums(around)
    squares = row_sums(around * around) - off * off / n
    stdev = np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1))
    return mean, stdev, row_sums(np.abs(around)) / n


def _harmonic_means(ordered: _Rows) -> _Rows:
    """Return the harmonic means (k,); of no use where not all values are above 0."""
    ordered = np.where(ordered[:, :1] > 0, ordered, 1.0)
    least = ordered[:, 0]
    return _within(least / (row_sums(least[:, np.newaxis] / ordered) / ordered.shape[1]), ordered)


def _within(mean: _Rows, ordered: _Rows) -> _Rows:
    clipped: _Rows = np.minimum(np.maximum(mean, ordered[:, 0]), ordered[:, -1])
    return clipped


def _quarter(ordered: _Rows, quarters: int) -> _Rows:
    """Return the value at a quarter of `quarters` places from the first, as `quartiles` does."""
    place, part = divmod(quarters, 4)
    low = ordered[:, place]
    if not part:
        return low
    high = ordered[:, place + 1]
    quartile: _Rows = np.minimum(np.maximum(low * (1 - part / 4) + high * (part / 4), low), high)
    return quartile


def _median(ordered: _Rows) -> _Rows:
    middle = ordered.shape[1] // 2
    if ordered.shape[1] % 2:
        return ordered[:, middle]
    return (ordered[:, middle - 1] + ordered[:, middle]) / 2


def _or_none(values: _Rows, present: NDArray[np.bool_]) -> list[float | None]:
    return [
        value if has_value else None
        for value, has_value in zip(values.tolist(), present.tolist(), strict=True)
    ]
