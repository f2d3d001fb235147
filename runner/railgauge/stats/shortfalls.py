"""Which hosts and links fall short in a matrix of all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.spread import robust_spread

# A host falls short when its links do by more than so many standard deviations and at least 5 %.
HOST_DEVIATIONS, HOST_LEAST = 3.0, 0.05
# There are many more links than hosts, so it takes more for a single one to stand out.
LINK_DEVIATIONS, LINK_LEAST = 6.0, 0.10
# One in so many of its links may be up to speed all the same.
EXCUSED = 10
# So many pairs of links show how alike the two directions of a pair of hosts are.
_LEAST_PAIRS = 6
# The greatest logarithm whose exponential is a number.
_MOST = 700.0

Verdict = Literal["slow", "apart", "silent"]


class HostFinding(NamedTuple):
    """A host, by its place in the matrix, that falls short in one direction (`sends`, or receives).

    `slow`: nearly all its links fall short. `apart`: so they do, but those to others that are found
    as well are up to speed, so that the cause lies on the way to the rest. `silent`: nothing was
    measured. `level` is what nine of ten of its links don't exceed, `others_level` the median of
    the other hosts' levels without it, in the values' unit; `short` of its `links` fall short.
    """

    host: int
    sends: bool
    verdict: Verdict
    level: float
    others_level: float
    links: int
    short: int


class LinkFinding(NamedTuple):
    """A link worse than what both its hosts reach with others, or than the way back.

    That is `expected`, in the values' unit.
    """

    sender: int
    receiver: int
    value: float
    expected: float


class Shortfalls(NamedTuple):
    """What falls short in a matrix, links worst first.

    `spread` is the relative standard deviation of the links, `back_spread` that of their ratios to
    the way back. `judged` counts the hosts that could be judged: those with two partners or more,
    where three have as many.
    """

    hosts: tuple[HostFinding, ...]
    links: tuple[LinkFinding, ...]
    spread: float
    judged: int
    back_spread: float


def find_shortfalls(
    values: NDArray[np.float64],
    requested_links: NDArray[np.bool_],
    *,
    higher_is_better: bool,
    best: NDArray[np.float64] | None = None,
) -> Shortfalls:
    """Find the slow hosts and links in `values` (n, n) >= 0: sender by receiver, NaN where none.

    `requested_links` (n, n): which were to be measured. All is compared by ratio; of two middle
    values the worse is the median. A host's level is what a tenth of its links may exceed, so
    neither a slow partner nor the way to another rack pulls it down. A link is compared with the
    worse of its two hosts' medians over their other links, of those that aren't 0, so what is usual
    between two racks is no finding; and with the way back, from which it has to be as much farther
    than any other link of the two is from its own, so that what is usual one way is none, either.
    If `best` (n, n) is each link's best replication, that one has to fall short as well. The spread
    is the estimator Qn (Rousseeuw and Croux, JASA 88, 1993): it holds while half of the links are
    as they should be. ValueError for a negative value, or a 0 where lower is better.
    """
    measured = ~np.isnan(values)
    if np.any(values[measured] < 0) or (not higher_is_better and np.any(values[measured] == 0)):
        raise ValueError("only values above 0 have ratios")
    better = values if higher_is_better else -values
    # 0 is infinitely slow; the least number there is stands for it.
    spread = robust_spread(np.log(np.maximum(values[measured], np.finfo(np.float64).tiny)))
    least = min(math.exp(-HOST_DEVIATIONS * spread), 1 - HOST_LEAST)
    senders, receivers = _side(better, least), _side(better.T, least)
    hosts = [
        *_findings(True, senders, receivers, requested_links),
        *_findings(False, receivers, senders, requested_links.T),
    ]
    least = min(math.exp(-LINK_DEVIATIONS * spread), 1 - LINK_LEAST)
    most = better if best is None else best if higher_is_better else -best
    rest = better.copy()
    rest[senders.slow] = np.nan
    rest[:, receivers.slow] = np.nan
    back_spread = _back_spread(rest)
    least_back = min(math.exp(-LINK_DEVIATIONS * back_spread), 1 - LINK_LEAST)
    return Shortfalls(
        tuple(sorted(hosts, key=lambda finding: (finding.host, not finding.sends))),
        tuple(_short_links(rest, most, least, least_back)),
        math.expm1(min(spread, _MOST)),
        int(np.count_nonzero(~np.isnan(senders.others_level) | ~np.isnan(receivers.others_level))),
        math.expm1(min(back_spread, _MOST)),
    )


class _Side(NamedTuple):
    """All hosts in one direction, (n,): levels, the others' and whether it falls short of them.

    `links` (n,) were measured; of those the `fine` ones (n, n) are up to the others' level.
    """

    level: NDArray[np.float64]
    others_level: NDArray[np.float64]
    slow: NDArray[np.bool_]
    links: NDArray[np.int64]
    fine: NDArray[np.bool_]


def _side(better: NDArray[np.float64], least: float) -> _Side:
    """Judge the rows of `better` (n, n), greater is better: short is less than `least` of it.

    The others' level is what it would be without that host, be it slow or quick.
    """
    links = np.count_nonzero(~np.isnan(better), axis=1)
    place = np.maximum(_level_place(links), 0)
    level = np.take_along_axis(np.sort(better, axis=1), place[:, None], axis=1)[:, 0]
    level[links < 2] = np.nan
    others_level = np.full(len(level), np.nan)
    judged = ~np.isnan(level)
    if np.count_nonzero(judged) > 2:
        without = _without_each(better, _level_place)
        without[~judged] = np.nan
        np.fill_diagonal(without, np.nan)
        others_level[judged] = _lower_median(without.T)[judged]
    fine = _share(better, others_level[:, None]) >= least
    return _Side(level, others_level, _share(level, others_level) < least, links, fine)


def _findings(
    sends: bool, side: _Side, other: _Side, requested_links: NDArray[np.bool_]
) -> Iterator[HostFinding]:
    for host in np.flatnonzero(side.slow).tolist():
        fine = side.fine[host]
        # A slow host is slow with everyone: of two up to speed between them neither is.
        apart = bool(fine.any()) and bool(other.slow[fine].all())
        links = int(side.links[host])
        yield HostFinding(
            host=host,
            sends=sends,
            verdict="apart" if apart else "slow",
            level=abs(float(side.level[host])),
            others_level=abs(float(side.others_level[host])),
            links=links,
            short=links - int(np.count_nonzero(fine)),
        )
    silent = (side.links == 0) & (np.count_nonzero(requested_links, axis=1) > 1)
    for host in np.flatnonzero(silent).tolist():
        yield HostFinding(host, sends, "silent", math.nan, math.nan, 0, 0)


def _short_links(
    rest: NDArray[np.float64], most: NDArray[np.float64], least: float, least_back: float
) -> list[LinkFinding]:
    usual = (_without_each(rest, _median_place), _without_each(rest.T, _median_place).T)
    # Where most of a host's links carry nothing it says nothing of what is usual.
    expected = np.fmin(*(np.where(medians == 0, np.nan, medians) for medians in usual))
    short = (_share(rest, expected) < least) & (_share(most, expected) < least)
    one_way = ~short & _short_one_way(rest, most, least_back)
    expected[one_way] = rest.T[one_way]
    share = _share(rest, expected)
    senders, receivers = np.nonzero(short | one_way)
    order = np.argsort(share[senders, receivers], kind="stable")
    return [
        LinkFinding(i, j, abs(float(rest[i, j])), abs(float(expected[i, j])))
        for i, j in zip(senders[order].tolist(), receivers[order].tolist(), strict=True)
    ]


def _back_spread(rest: NDArray[np.float64]) -> float:
    """Return the spread of the logarithms of links over their ways back; infinite of too few."""
    with np.errstate(divide="ignore"):
        logs = np.log(_share(rest, rest.T)[np.triu_indices(len(rest), 1)])
    logs = logs[np.isfinite(logs)]
    return robust_spread(logs) if len(logs) >= _LEAST_PAIRS else math.inf


def _short_one_way(
    rest: NDArray[np.float64], most: NDArray[np.float64], least: float
) -> NDArray[np.bool_]:
    """Return (n, n) which links fall short of their ways back, as no other of their hosts does."""
    share = np.nan_to_num(_share(rest, rest.T), nan=1.0)
    np.fill_diagonal(share, 1.0)
    of_hosts = _without_each(share, np.zeros_like), _without_each(share.T, np.zeros_like).T
    worst = np.minimum(np.minimum(*of_hosts), 1.0)
    return (share < least * worst) & (_share(most, rest.T) < least)


def _share(better: NDArray[np.float64], of: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how good `better` is, 1 for as good as `of`; both are negative where lower is.

    Infinitely so where 0 is all that is expected; of nothing then, NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share: NDArray[np.float64] = np.where(of >= 0, better / of, of / better)
    return share


def _level_place(count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of `count` values, from the worst on, is their level."""
    return count - 1 - count // EXCUSED


def _median_place(count: NDArray[np.int64]) -> NDArray[np.int64]:
    return (count - 1) // 2


def _lower_median(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (m,): the lower median of each of the lines (m, n), NaN for no value."""
    count = np.count_nonzero(~np.isnan(lines), axis=1)
    place = np.maximum(_median_place(count), 0)
    return np.take_along_axis(np.sort(lines, axis=1), place[:, None], axis=1)[:, 0]


def _without_each(
    lines: NDArray[np.float64], place_of: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Return (m, n): for each value the one at `place_of` their count among its line's others.

    Places count from the least; NaN where there is no other.
    """
    order = np.argsort(lines, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(lines.shape[1])[None], axis=1)
    present = ~np.isnan(lines)
    count = np.count_nonzero(present, axis=1)[:, None] - present
    place = np.maximum(place_of(count), 0)
    # A value that stands no later than the one wanted moves it by one.
    place = np.minimum(place + (present & (ranks <= place)), lines.shape[1] - 1)
    ordered = np.take_along_axis(lines, order, axis=1)
    return np.where(count > 0, np.take_along_axis(ordered, place, axis=1), np.nan)
