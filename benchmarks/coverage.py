"""How often the interval that a stopping rule ends with covers the true value, by simulation.

For each shape of noise (around 1, in many sizes), statistic and least number of replications: the
worst coverage over all spreads; by railgauge's rule, by one that just looks at
each replication whether the interval is narrow, and for the mean by the old "3 to 10 replications
until ±2.5 %". Then how often outliers and autocorrelation are found in series that have none.

    python -m benchmarks.coverage [--batches 5] [--series 4000] [--most 1000]
"""

from __future__ import annotations

import argparse
from bisect import insort
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from railgauge.stats import FEWEST, StopRule, autocorrelation, narrow_enough, outliers
from railgauge.stats.interval import median_ranks

Statistic = Literal["median", "mean"]
Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
# What counts is how many times the share asked for the spread is, nearly: so all from those that
# end at once to those that hardly ever do, with one share after the other.
SHARES = (0.005, 0.01, 0.025, 0.05)
ASKED = [(SHARES[k % 4], SHARES[k % 4] * 0.5 * 1.25**k) for k in range(17)]
LEASTS = (6, 10)


class Shape(NamedTuple):
    """Noise with a standard deviation of 1: how to draw it, and its true median and mean."""

    draw: Draw
    median: float
    mean: float


def lognormal(sigma: float) -> Shape:
    mean = float(np.exp(sigma**2 / 2))
    stdev = mean * float(np.sqrt(np.expm1(sigma**2)))
    return Shape(
        lambda random, size: np.exp(random.normal(0, sigma, size)) / stdev, 1 / stdev, mean / stdev
    )


SHAPES = {
    "normal": Shape(lambda random, size: random.normal(0, 1, size), 0.0, 0.0),
    "log-normal 0.2": lognormal(0.2),
    "log-normal 0.5": lognormal(0.5),
    "exponential": Shape(
        lambda random, size: random.standard_exponential(size), float(np.log(2)), 1.0
    ),
    "uniform": Shape(lambda random, size: random.uniform(-(3**0.5), 3**0.5, size), 0.0, 0.0),
}


class Walk(NamedTuple):
    """Of the first n of each series (series, n): how far the interval reaches, and if it covers."""

    reach: Floats
    middle: Floats
    covers: NDArray[np.bool_]
    skewness: Floats


def walk(noise: Floats, statistic: Statistic, true: float) -> Walk:
    """Return what the first 1, 2, 3 … values of each series of `noise` say of the true value."""
    return walk_mean(noise, true) if statistic == "mean" else walk_median(noise, true)


def walk_median(noise: Floats, true: float) -> Walk:
    series, most = noise.shape
    low, middle, high = (np.full((series, most), np.nan) for _ in range(3))
    ranks = [(median_ranks(n) or (0, 0.0))[0] for n in range(1, most + 1)]
    for row, values in enumerate(noise.tolist()):
        ordered: list[float] = []
        for place, (value, rank) in enumerate(zip(values, ranks, strict=True)):
            insort(ordered, value)
            middle[row, place] = (ordered[place // 2] + ordered[(place + 1) // 2]) / 2
            if rank:
                low[row, place], high[row, place] = ordered[rank - 1], ordered[-rank]
    reach = np.fmax(high - middle, middle - low)
    return Walk(reach, middle, (low <= true) & (true <= high), np.zeros_like(reach))


def walk_mean(noise: Floats, true: float) -> Walk:
    n = np.arange(1, noise.shape[1] + 1)
    first, second, third = (np.cumsum((noise - true) ** power, axis=1) / n for power in (1, 2, 3))
    with np.errstate(all="ignore"):
        variance = np.maximum(second - first**2, 0)
        skewness = (third - 3 * first * second + 2 * first**3) / variance**1.5
        reach = stats.t.ppf(0.975, n - 1) * np.sqrt(variance / (n - 1))
    return Walk(reach, first + true, np.abs(first) <= reach, skewness)


def narrow(walked: Walk, spread: float, true: float, share: float) -> NDArray[np.bool_]:
    """Return (series, n): is the interval within `share`, of noise of `spread` around 1?"""
    # The noise is moved so that the true value is 1.
    middle = 1 + spread * (walked.middle - true)
    result: NDArray[np.bool_] = spread * walked.reach <= share * np.abs(middle)
    return result


def railgauges(walked: Walk, is_narrow: NDArray[np.bool_], statistic: Statistic) -> Floats:
    """Return (series, n): would narrow_enough stop here? (Said once more, for all at once.)"""
    n = np.arange(1, is_narrow.shape[1] + 1)
    fine = is_narrow
    if statistic == "mean":
        with np.errstate(invalid="ignore"):
            fine = fine & (n > 28 + 25 * walked.skewness**2)
    stop = fine & fine[:, np.maximum(n * 4 // 5, 1) - 1]
    stop[:, : FEWEST[statistic] - 1] = False
    return stop


def ends(stop: NDArray[np.bool_], least: int, most: int) -> NDArray[np.intp]:
    """Return after how many values each series ends that may stop where `stop` (series, n) says."""
    may = stop[:, :most].copy()
    may[:, : least - 1] = False
    may[:, most - 1] = True
    return may.argmax(axis=1) + 1


def covered(walked: Walk, end: NDArray[np.intp]) -> float:
    return float(walked.covers[np.arange(len(end)), end - 1].mean())


def same_as_shipped(noise: Floats, shape: Shape, statistic: Statistic, walked: Walk) -> None:
    """Hold this file's quick copy of the rule to the shipped one, on a few series."""
    true = shape.mean if statistic == "mean" else shape.median
    rule = StopRule(10, min(200, noise.shape[1]), statistic, 0.02)
    stop = railgauges(walked, narrow(walked, 0.1, true, rule.share), statistic)
    for row, end in enumerate(ends(stop[:20], rule.least, rule.most).tolist()):
        values = 1 + 0.1 * (noise[row] - true)
        stops = (n for n in range(1, rule.most) if narrow_enough(values[:n], rule))
        shipped = next(stops, rule.most)
        assert shipped == end, (statistic, row, shipped, end)


def coverages(noise: Floats, shape: Shape, statistic: Statistic) -> Floats:
    """Return (3, LEASTS, ASKED): how often the interval covers the true value.

    With the least number alone, if one just looks until it is narrow, and by railgauge's rule.
    """
    most = noise.shape[1]
    true = shape.mean if statistic == "mean" else shape.median
    walked = walk(noise, statistic, true)
    same_as_shipped(noise, shape, statistic, walked)
    found = np.empty((3, len(LEASTS), len(ASKED)))
    for column, (share, spread) in enumerate(ASKED):
        is_narrow = narrow(walked, spread, true, share)
        stop = railgauges(walked, is_narrow, statistic)
        for row, least in enumerate(LEASTS):
            found[0, row, column] = walked.covers[:, least - 1].mean()
            found[1, row, column] = covered(walked, ends(is_narrow, least, most))
            found[2, row, column] = covered(walked, ends(stop, least, most))
    return found


def table(batches: int, series: int, most: int) -> Iterator[str]:
    count, spreads = batches * series, len(ASKED)
    yield f"{count} series each, at most {most} values; the worst of {spreads} spreads"
    yield f"{'noise':16}{'of the':9}{'least':>6}{'fixed n':>9}{'just looking':>14}{'railgauge':>11}"
    for name, shape in SHAPES.items():
        for statistic in ("median", "mean"):
            random = np.random.default_rng(2015)
            found = [
                coverages(shape.draw(random, (series, most)), shape, statistic)
                for _ in range(batches)
            ]
            worst = np.mean(found, axis=0).min(axis=2)
            for least, (fixed, looking, ours) in zip(LEASTS, worst.T, strict=True):
                yield f"{name:16}{statistic:9}{least:>6}{fixed:>9.1%}{looking:>14.1%}{ours:>11.1%}"


def three_to_ten(series: int) -> Iterator[str]:
    random = np.random.default_rng(310)
    yield "\n3 to 10 replications until the mean's interval is within ±2.5 %: worst over spreads"
    for name, shape in SHAPES.items():
        walked = walk_mean(shape.draw(random, (series, 10)), shape.mean)
        worst = min(
            covered(walked, ends(narrow(walked, spread, shape.mean, 0.025), 3, 10))
            for spread in np.linspace(0.01, 0.1, 10)
        )
        yield f"{name:16}{worst:>8.1%}"


def false_alarms(series: int) -> Iterator[str]:
    random = np.random.default_rng(10)
    yield f"\n{'none in truth':16}{'n':>5}{'an outlier':>12}{'autocorrelation':>17}"
    for name, shape in SHAPES.items():
        for n in (10, 20, 50, 100):
            noise = shape.draw(random, (series, n))
            odd = np.mean([outliers(each).any() for each in noise])
            linked = np.mean([autocorrelation(each) is not None for each in noise])
            yield f"{name:16}{n:>5}{odd:>12.1%}{linked:>17.2%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--series", type=int, default=4000, help="of each batch")
    parser.add_argument("--most", type=int, default=1000, help="values of a series, ten at least")
    arguments = parser.parse_args()
    series = arguments.series * arguments.batches
    for lines in (
        table(arguments.batches, arguments.series, arguments.most),
        three_to_ten(series),
        false_alarms(series),
    ):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
