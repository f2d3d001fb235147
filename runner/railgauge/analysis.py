"""Numbers in, numbers out: what a series of replications says. Nothing here reads or prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

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
    around = array - mean
    deviations = np.abs(around)
    stdev = None
    if n > 1:
        # Less what the mean's own rounding adds, which shows where values are huge and close.
        off = math.fsum(around.tolist())
        squares = math.fsum((around * around).tolist()) - off * off / n
        stdev = math.sqrt(max(squares, 0.0) / (n - 1))
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


# Fewer values than this make no two groups; a group has at least so many, and that share of all.
_LEAST_VALUES, _LEAST_MEMBERS, _LEAST_SHARE = 6, 2, 0.15
# Groups nearer to each other than this share of the greater one's median don't matter to a mean.
_LEAST_APART = 0.05


class TwoGroups(NamedTuple):
    """Values that fall into two groups: how many and the median of each, the lower ones first.

    `mean_apart`: the mean of all lies between the groups, so that no value is near it.
    """

    lower: int
    low: float
    upper: int
    high: float
    mean_apart: bool


def two_groups(values: NDArray[np.float64] | Sequence[float]) -> TwoGroups | None:
    """Return the two groups that `values` (n,) in any order fall into; None where they don't.

    They are split at the widest gap that leaves two values or more and 15 % of all on either side.
    It has to be 4 + 42 / n standard deviations (pooled, within the groups) wide, and the medians
    5 % of the greater apart. By simulation (test_two_groups.py) that finds two groups in fewer than
    1 of 100 series of 6 to 100 values that are normal, log-normal (sigma 0.3), exponential or
    uniform.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    n = len(x)
    if n < _LEAST_VALUES:
        return None
    least = max(_LEAST_MEMBERS, math.ceil(_LEAST_SHARE * n))
    gaps = np.diff(x[least - 1 : n - least + 1])
    k = least + int(np.argmax(gaps))
    gap, deviations = float(gaps[k - least]), 4 + 42 / n
    # Values that span so much on its sides can't spread little enough: spares most the rest.
    if gap * (1 + 2 * math.sqrt(n - 2) / deviations) < x[-1] - x[0]:
        return None
    below, above = x[:k], x[k:]
    squares = k * float(np.var(below)) + (n - k) * float(np.var(above))
    low, high = float(np.median(below)), float(np.median(above))
    apart = gap > 0 and high - low >= _LEAST_APART * max(abs(low), abs(high))
    if not apart or gap < deviations * math.sqrt(squares / (n - 2)):
        return None
    return TwoGroups(k, low, n - k, high, float(below[-1]) < float(x.mean()) < float(above[0]))


# A host falls short when its links do by more than so many standard deviations and at least 5 %.
HOST_DEVIATIONS, HOST_LEAST = 3.0, 0.05
# There are many more links than hosts, so it takes more for a single one to stand out.
LINK_DEVIATIONS, LINK_LEAST = 6.0, 0.10
# One in so many of its links may be up to speed all the same.
EXCUSED = 10
# Values to estimate a spread from; of more, as many quantiles.
_MOST = 1500

Verdict = Literal["slow", "apart", "silent"]


class HostFinding(NamedTuple):
    """A host, by its place in the matrix, that falls short in one direction (`sends`, or receives).

    `slow`: nearly all its links fall short. `apart`: so they do, but those to others that are found
    as well are up to speed, so that the cause lies on the way to the rest. `silent`: nothing was
    measured. `level` is what nine of ten of its links don't exceed, `others` the median of the
    other hosts' levels without it, in the values' unit; `short` of its `links` fall short.
    """

    host: int
    sends: bool
    verdict: Verdict
    level: float
    others: float
    links: int
    short: int


class LinkFinding(NamedTuple):
    """A link worse than what both its hosts reach with others (`expected`, in the values' unit)."""

    sender: int
    receiver: int
    value: float
    expected: float


class Shortfalls(NamedTuple):
    """What falls short in a matrix, links worst first.

    `spread` is the relative standard deviation of the links. `judged` counts the hosts that could
    be judged: those with two partners or more, where three have as many.
    """

    hosts: tuple[HostFinding, ...]
    links: tuple[LinkFinding, ...]
    spread: float
    judged: int


def find_shortfalls(
    values: NDArray[np.float64],
    asked: NDArray[np.bool_],
    *,
    higher_is_better: bool,
    best: NDArray[np.float64] | None = None,
) -> Shortfalls:
    """Find the slow hosts and links in `values` (n, n) >= 0: sender by receiver, NaN where none.

    `asked` (n, n) tells which were to be measured. All is compared by ratio; of two middle values
    the worse is the median. A host's level is what a tenth of its links may exceed, so neither a
    slow partner nor the way to another rack pulls it down. A link is held against the worse of its
    two hosts' medians over their other links, so what is usual between two racks is no finding; if
    `best` (n, n) is each link's best replication, that one has to fall short as well. The spread is
    the estimator Qn (Rousseeuw and Croux, JASA 88, 1993): it holds while half of the links are as
    they should be. ValueError for a negative value, or a 0 where lower is better.
    """
    there = ~np.isnan(values)
    if np.any(values[there] < 0) or (not higher_is_better and np.any(values[there] == 0)):
        raise ValueError("only values above 0 have ratios")
    better = values if higher_is_better else -values
    # 0 is infinitely slow; the least number there is stands for it.
    spread = _spread(np.log(np.maximum(values[there], np.finfo(np.float64).tiny)))
    least = min(math.exp(-HOST_DEVIATIONS * spread), 1 - HOST_LEAST)
    senders, receivers = _side(better, least), _side(better.T, least)
    found = [
        *_findings(True, senders, receivers, asked),
        *_findings(False, receivers, senders, asked.T),
    ]
    if not higher_is_better:
        found = [one._replace(level=-one.level, others=-one.others) for one in found]
    least = min(math.exp(-LINK_DEVIATIONS * spread), 1 - LINK_LEAST)
    most = better if best is None else best if higher_is_better else -best
    return Shortfalls(
        tuple(sorted(found, key=lambda one: (one.host, not one.sends))),
        tuple(_short_links(better, most, senders.slow, receivers.slow, least)),
        math.expm1(spread),
        int(np.count_nonzero(~np.isnan(senders.others) | ~np.isnan(receivers.others))),
    )


class _Side(NamedTuple):
    """All hosts in one direction, (n,): levels, the others' and whether it falls short of them.

    `links` (n,) were measured; of those the `fine` ones (n, n) are up to the others' level.
    """

    level: NDArray[np.float64]
    others: NDArray[np.float64]
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
    others = np.full(len(level), np.nan)
    judged = ~np.isnan(level)
    if np.count_nonzero(judged) > 2:
        without = _without_each(better, _level_place)
        without[~judged] = np.nan
        np.fill_diagonal(without, np.nan)
        others[judged] = _lower_median(without.T)[judged]
    fine = _share(better, others[:, None]) >= least
    return _Side(level, others, _share(level, others) < least, links, fine)


def _findings(
    sends: bool, side: _Side, other: _Side, asked: NDArray[np.bool_]
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
            level=float(side.level[host]),
            others=float(side.others[host]),
            links=links,
            short=links - int(np.count_nonzero(fine)),
        )
    silent = (side.links == 0) & (np.count_nonzero(asked, axis=1) > 1)
    for host in np.flatnonzero(silent).tolist():
        yield HostFinding(host, sends, "silent", math.nan, math.nan, 0, 0)


def _short_links(
    better: NDArray[np.float64],
    most: NDArray[np.float64],
    slow_senders: NDArray[np.bool_],
    slow_receivers: NDArray[np.bool_],
    least: float,
) -> list[LinkFinding]:
    rest = better.copy()
    rest[slow_senders] = np.nan
    rest[:, slow_receivers] = np.nan
    expected = np.fmin(_without_each(rest, _median_place), _without_each(rest.T, _median_place).T)
    share = _share(rest, expected)
    senders, receivers = np.nonzero((share < least) & (_share(most, expected) < least))
    order = np.argsort(share[senders, receivers], kind="stable")
    return [
        LinkFinding(i, j, abs(float(better[i, j])), abs(float(expected[i, j])))
        for i, j in zip(senders[order].tolist(), receivers[order].tolist(), strict=True)
    ]


def _share(better: NDArray[np.float64], of: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how good `better` is, 1 for as good as `of`; both are negative where lower is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: NDArray[np.float64] = np.where(of > 0, better / of, of / better)
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
    there = ~np.isnan(lines)
    others = np.count_nonzero(there, axis=1)[:, None] - there
    place = np.maximum(place_of(others), 0)
    # A value that stands no later than the one wanted moves it by one.
    place = np.minimum(place + (there & (ranks <= place)), lines.shape[1] - 1)
    ordered = np.take_along_axis(lines, order, axis=1)
    return np.where(others > 0, np.take_along_axis(ordered, place, axis=1), np.nan)


def _spread(values: NDArray[np.float64]) -> float:
    """Return Qn of `values` (n,): a standard deviation, untouched while half are outliers."""
    if len(values) < 2:
        return 0.0
    ordered = np.sort(values)
    if len(ordered) > _MOST:
        ordered = ordered[np.linspace(0, len(ordered) - 1, _MOST).round().astype(np.intp)]
    n = len(ordered)
    first, second = np.triu_indices(n, 1)
    half = n // 2 + 1
    place = half * (half - 1) // 2 - 1
    return 2.2219 * float(np.partition(ordered[second] - ordered[first], place)[place])


class RankTest(NamedTuple):
    """Whether two series differ: two-sided `p`, and the `least` p that so few values can give."""

    p: float
    least: float


# Steps up to which the exact distribution is counted out (some ms); the normal one is good by then.
_MOST_STEPS = 5_000_000


def rank_test(first: Sequence[float], second: Sequence[float]) -> RankTest:
    """Return the Mann-Whitney test of two series; ValueError where one of them is empty.

    It supposes nothing of how values spread, and one outlier can't carry it. Equal values share
    the mean of their ranks, and the distribution is the exact one of those very ranks, counted
    out as Streitberg and Röhmel do (Statistical Software Newsletter 12, 1986); for long series
    the normal one, corrected for ties and continuity (Lehmann, Nonparametrics, 1975, 1.5).
    """
    few, many = sorted((first, second), key=len)
    k, n = len(few), len(few) + len(many)
    if not k:
        raise ValueError("there is nothing to compare: no values")
    values = np.concatenate([np.asarray(few, np.float64), np.asarray(many, np.float64)])
    # Twice the rank, so that what ties share stays whole.
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[places.ravel()]
    distance = abs(int(ranks[:k].sum()) - k * (n + 1))
    if 2 * n * n * k * k > _MOST_STEPS:
        variance = k * (n - k) / 3 * (n + 1 - float((counts**3 - counts).sum()) / (n * (n - 1)))
        # Where all are tied there is no variance, and no distance either. Sums are 2 apart.
        z = max(distance - 1, 0) / math.sqrt(variance) if variance > 0 else 0.0
        return RankTest(math.erfc(z / math.sqrt(2)), 0.0)
    # ways[j, s]: how many choices of j of the values have ranks that add up to s.
    ways = np.zeros((k + 1, k * 2 * n + 1))
    ways[0, 0] = 1
    for rank in ranks.tolist():
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    sums = np.flatnonzero(ways[k])
    as_far = np.abs(sums - k * (n + 1)) >= distance
    total = math.comb(n, k)
    p = float(ways[k][sums[as_far]].sum()) / total
    return RankTest(min(p, 1.0), min(2 / total, 1.0))
