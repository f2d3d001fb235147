"""What is odd about many series at once: quick enough for all cells of a large table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.autocorrelation import autocorrelation, autocorrelations_of_ranks
from railgauge.stats.dependence import stacked
from railgauge.stats.trend import trend, trends_of_ranks
from railgauge.stats.two_groups import TwoGroups, may_have_groups, two_groups

# So many values at a time: what fits into a cache.
_BLOCK = 1 << 17


class Oddities(NamedTuple):
    """A series' `autocorrelation`, `trend` and `two_groups`, None where there is nothing odd."""

    autocorrelation: float | None
    trend: float | None
    groups: TwoGroups | None


_NONE = Oddities(None, None, None)


def oddities(many: Sequence[NDArray[np.float64]]) -> list[Oddities]:
    """Return what is odd about each of `many` series (n,), in order of measurement."""
    by_place = [_NONE] * len(many)
    for places, rows in stacked(many, _BLOCK):
        for place, odd in zip(places.tolist(), _of_rows(rows), strict=True):
            by_place[place] = odd
    return by_place


def _of_rows(values: NDArray[np.float64]) -> Iterator[Oddities]:
    """Yield what is odd about each row of `values` (k, n)."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    ranks = np.empty_like(values)
    places = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape)
    np.put_along_axis(ranks, order, places, axis=1)
    related = autocorrelations_of_ranks(ranks)
    rising = trends_of_ranks(ranks)
    grouped = may_have_groups(ordered)
    for row, (ties, correlation, slope, groups) in enumerate(
        zip(tied.tolist(), related, rising, grouped.tolist(), strict=True)
    ):
        if ties:
            correlation, slope = autocorrelation(values[row]), trend(values[row])
        yield Oddities(correlation, slope, two_groups(ordered[row]) if groups else None)
