"""How often the interval that a stopping rule ends with covers the true value, by simulation.

For each shape of noise (around 1, in many sizes), statistic and least number of replications: the
worst coverage over all spreads; by railgauge's rule, by one that just looks at each replication
whether the interval is narrow, and for the mean by the old "3 to 10 replications until ±2.5 %".
Before that: of the series alone that ended early, how often the intervals cover the median, and how
many values were taken; what becomes of a machine that warms up or drifts; how often the dependence
of replications is seen in one case and in many; how often outliers, autocorrelation and trends are
found in series that have none.

    python -m benchmarks.coverage [--batches 5] [--series 4000] [--most 1000] [--no-limits]
"""

from __future__ import annotations

import argparse
import sys
from bisect import insort
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from railgauge.stats.autocorrelation import autocorrelation
from railgauge.stats.dependence import shared_autocorrelation
from railgauge.stats.interval import median_interval, median_ranks
from railgauge.stats.outliers import outliers
from railgauge.stats.stopping_rule import ENDED_LEVEL, FEWEST, StopRule, narrow_enough
from railgauge.stats.trend import trend

Statistic = Literal["median", "mean"]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
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


def heaps(upper: float) -> Shape:
    """Return two normal heaps, `upper` of all values in the upper one, 5 deviations apart."""
    apart = 5.0
    stdev = (1 + upper * (1 - upper) * apart**2) ** 0.5
    median = optimize.brentq(
        lambda x: (1 - upper) * stats.norm.cdf(x) + upper * stats.norm.cdf(x - apart) - 0.5,
        -9,
        9 + apart,
    )

    def draw(random: np.random.Generator, size: tuple[int, int]) -> Floats:
        values: Floats = (random.random(size) < upper) * apart + random.normal(0, 1, size)
        return values / stdev

    return Shape(draw, median / stdev, upper * apart / stdev)


def following(share: float) -> Shape:
    """Return normal values each of which keeps a share of the one before."""

    def draw(random: np.random.Generator, size: tuple[int, int]) -> Floats:
        noise = random.normal(0, 1, size)
        values = noise.copy()
        for k in range(1, size[1]):
            values[:, k] = share * values[:, k - 1] + (1 - share**2) ** 0.5 * noise[:, k]
        return values

    return Shape(draw, 0.0, 0.0)


HEAPS = {"heaps 4:1": heaps(0.2), "heaps 3:2": heaps(0.4)}
# Beyond what any rule can see: values that depend on each other, and hardly any at the median.
BEYOND = {
    "keeps 0.3": following(0.3),
    "keeps 0.5": following(0.5),
    "beta 0.3": Shape(
        lambda random, size: random.beta(0.3, 0.3, size) * 6.4**0.5, 1.6**0.5, 1.6**0.5
    ),
}
# What drifts: a warm-up, that of the first few alone, and what never ends; shares of 1.
DRIFTS: dict[str, Callable[[Floats], Floats]] = {
    "-5 %, fades": lambda n: -0.05 * np.exp(-n / 4),
    "-5 %, slowly": lambda n: -0.05 * np.exp(-n / 8),
    "first three": lambda n: -0.05 * (n < 3),
    "0.2 % each": lambda n: 0.002 * (n - n[-1]),
}
# With the most replications that a plan has by default: what those that ended early show covers the
# true value so often, wherever so many did; and of those that drift so few have a wrong interval
# and no mark.
COVERS, COUNTED, UNMARKED = 0.93, 0.02, 0.15
DEFAULT_MOST = 50


class Walk(NamedTuple):
    """Of the first n of each series (series, n): how far the interval reaches, and if it covers.

    `wide` and `covers_wide` are those of `ENDED_LEVEL`. `furthest` is how far values are from the
    middle, `rising` whether they have more of a trend than four of five orders of them.
    """

    reach: Floats
    middle: Floats
    covers: Bools
    skewness: Floats
    wide: Floats
    covers_wide: Bools
    furthest: Floats
    rising: Bools


def walk(noise: Floats, statistic: Statistic, true: float) -> Walk:
    """Return what the first 1, 2, 3 … values of each series of `noise` say of the true value."""
    return walk_mean(noise, true) if statistic == "mean" else walk_median(noise, true)


def walk_median(noise: Floats, true: float) -> Walk:
    series, most = noise.shape
    levels = (0.95, ENDED_LEVEL)
    low, high = (np.full((len(levels), series, most), np.nan) for _ in range(2))
    middle = np.empty((series, most))
    ranks = [[(median_ranks(n, level) or (0, 0.0))[0] for level in levels] for n in range(most + 1)]
    for row, values in enumerate(noise.tolist()):
        ordered: list[float] = []
        for place, value in enumerate(values):
            insort(ordered, value)
            middle[row, place] = (ordered[place // 2] + ordered[(place + 1) // 2]) / 2
            for k, rank in enumerate(ranks[place + 1]):
                if rank:
                    low[k, row, place], high[k, row, place] = ordered[rank - 1], ordered[-rank]
    reach = np.fmax(high - middle, middle - low)
    covers = (low <= true) & (true <= high)
    return Walk(
        reach[0],
        middle,
        covers[0],
        np.zeros_like(middle),
        reach[1],
        covers[1],
        furthest(noise, middle),
        rising(noise),
    )


def walk_mean(noise: Floats, true: float) -> Walk:
    n = np.arange(1, noise.shape[1] + 1)
    first, second, third = (np.cumsum((noise - true) ** power, axis=1) / n for power in (1, 2, 3))
    with np.errstate(all="ignore"):
        variance = np.maximum(second - first**2, 0)
        skewness = (third - 3 * first * second + 2 * first**3) / variance**1.5
        error = np.sqrt(variance / (n - 1))
        reach, wide = (stats.t.ppf((1 + level) / 2, n - 1) * error for level in (0.95, ENDED_LEVEL))
    middle, off = first + true, np.abs(first)
    far = furthest(noise, middle)
    return Walk(reach, middle, off <= reach, skewness, wide, off <= wide, far, rising(noise))


def furthest(noise: Floats, middle: Floats) -> Floats:
    """Return how far of the first n values the furthest is from their `middle`."""
    least, most = np.minimum.accumulate(noise, axis=1), np.maximum.accumulate(noise, axis=1)
    result: Floats = np.maximum(most - middle, middle - least)
    return result


def rising(noise: Floats) -> Bools:
    """Return whether Spearman's correlation with the order has less than a chance of a fifth."""
    series, most = noise.shape
    products, result = np.ones(series), np.zeros((series, most), np.bool_)
    places = np.arange(1.0, most + 1)
    for n in range(2, most + 1):
        # Those that the new one is less than have a rank more.
        greater = noise[:, : n - 1] > noise[:, n - 1 : n]
        products += greater @ places[: n - 1] + n * (n - greater.sum(axis=1))
        around = products - n * (n + 1) ** 2 / 4
        correlation = around / (n * (n * n - 1) / 12)
        result[:, n - 1] = (n >= 8) & (np.abs(correlation) * (n - 1) ** 0.5 > 1.2815515655446)
    return result


def narrow(walked: Walk, spread: float, true: float, share: float, reach: Floats) -> Bools:
    """Return (series, n): is `reach` within `share` of the middle, with noise of `spread`?"""
    # The noise is moved so that the true value is 1.
    middle = 1 + spread * (walked.middle - true)
    result: Bools = spread * reach <= share * np.abs(middle)
    return result


def railgauges(
    walked: Walk, spread: float, true: float, share: float, statistic: Statistic
) -> Bools:
    """Return (series, n): would narrow_enough stop here? (Said once more, for all at once.)"""
    n = np.arange(1, walked.reach.shape[1] + 1)
    stop = narrow(walked, spread, true, share, walked.reach)
    if statistic == "mean":
        with np.errstate(invalid="ignore"):
            stop &= n > 28 + 25 * walked.skewness**2
    else:
        stop &= narrow(walked, spread, true, 3 * share, walked.wide)
    stop &= narrow(walked, spread, true, share, walked.furthest) | ~walked.rising
    stop[:, : FEWEST[statistic] - 1] = False
    return stop


def ends(stop: Bools, least: int, most: int) -> NDArray[np.intp]:
    """Return after how many values each series ends that may stop where `stop` (series, n) says."""
    may = stop[:, :most].copy()
    may[:, : least - 1] = False
    may[:, most - 1] = True
    return may.argmax(axis=1) + 1


def at_end(by_count: Bools, end: NDArray[np.intp]) -> Bools:
    result: Bools = by_count[np.arange(len(end)), end - 1]
    return result


def covered(walked: Walk, end: NDArray[np.intp], most: int) -> Bools:
    """Return whether the interval that a report shows of each series covers the true value."""
    return np.where(end < most, at_end(walked.covers_wide, end), at_end(walked.covers, end))


def same_as_shipped(noise: Floats, shape: Shape, statistic: Statistic, walked: Walk) -> None:
    """Hold this file's quick copy of the rule to the shipped one, on a few series."""
    true = shape.mean if statistic == "mean" else shape.median
    rule = StopRule(10, min(200, noise.shape[1]), statistic, 0.02)
    stop = railgauges(walked, 0.1, true, rule.share, statistic)
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
    coverage = np.empty((3, len(LEASTS), len(ASKED)))
    for column, (share, spread) in enumerate(ASKED):
        looking = narrow(walked, spread, true, share, walked.reach)
        stop = railgauges(walked, spread, true, share, statistic)
        for row, least in enumerate(LEASTS):
            coverage[0, row, column] = walked.covers[:, least - 1].mean()
            coverage[1, row, column] = at_end(walked.covers, ends(looking, least, most)).mean()
            coverage[2, row, column] = covered(walked, ends(stop, least, most), most).mean()
    return coverage


def table(batches: int, series: int, most: int) -> Iterator[str]:
    count, spreads = batches * series, len(ASKED)
    yield f"{count} series each, at most {most} values; the worst of {spreads} spreads"
    yield f"{'noise':16}{'of the':9}{'least':>6}{'fixed n':>9}{'just looking':>14}{'railgauge':>11}"
    for name, shape in SHAPES.items():
        for statistic in ("median", "mean"):
            random = np.random.default_rng(2015)
            batch_coverages = [
                coverages(shape.draw(random, (series, most)), shape, statistic)
                for _ in range(batches)
            ]
            worst = np.mean(batch_coverages, axis=0).min(axis=2)
            for least, (fixed, looking, rail) in zip(LEASTS, worst.T, strict=True):
                yield f"{name:16}{statistic:9}{least:>6}{fixed:>9.1%}{looking:>14.1%}{rail:>11.1%}"


def three_to_ten(series: int) -> Iterator[str]:
    random = np.random.default_rng(310)
    yield "\n3 to 10 replications until the mean's interval is within ±2.5 %: worst over spreads"
    for name, shape in SHAPES.items():
        walked = walk_mean(shape.draw(random, (series, 10)), shape.mean)
        worst = min(
            at_end(
                walked.covers,
                ends(narrow(walked, spread, shape.mean, 0.025, walked.reach), 3, 10),
            ).mean()
            for spread in np.linspace(0.01, 0.1, 10)
        )
        yield f"{name:16}{worst:>8.1%}"


def early(series: int, most: int) -> Iterator[tuple[str, bool]]:
    """Yield what became of the series that ended early, and if that is as it has to be."""
    yield f"\nof those that end early (1 %, 10 to {most}), which cover the median", True
    yield f"{'noise':16}{'of':>6}{'end early':>11}{'95 %':>8}{'shown':>8}{'values':>8}", True
    for name, shape in {**SHAPES, **HEAPS, **BEYOND}.items():
        random = np.random.default_rng(most)
        walked = walk_median(shape.draw(random, (series, most)), shape.median)
        for spread in (0.01, 0.02, 0.03):
            end = ends(railgauges(walked, spread, shape.median, 0.01, "median"), 10, most)
            of_early = end < most
            plain, wide = (
                at_end(covers, end)[of_early].mean() if of_early.any() else np.nan
                for covers in (walked.covers, walked.covers_wide)
            )
            line = f"{name:16}{spread:>6.0%}{of_early.mean():>11.1%}{plain:>8.1%}{wide:>8.1%}"
            counts = name not in BEYOND and most == DEFAULT_MOST and of_early.mean() >= COUNTED
            fine = not counts or bool(wide >= COVERS)
            yield f"{line}{end.mean():>8.1f}{'' if fine else '  MISSED'}", fine


def drifts(series: int, most: int) -> Iterator[tuple[str, bool]]:
    """Yield what becomes of a machine that warms up: by truth, where it ends up."""
    yield f"\na machine that drifts (1 %, 10 to {most}), its last level being the truth", True
    yield (
        f"{'drift':14}{'noise':>6}{'end early':>11}{'covers':>8}{'marked':>8}{'neither':>9}"
        f"{'values':>8}",
        True,
    )
    for name, drift in DRIFTS.items():
        for spread in (0.005, 0.01):
            random = np.random.default_rng(5)
            noise = random.normal(0, 1, (series, most))
            moved = noise + drift(np.arange(float(most))) / spread
            walked = walk_median(moved, 0.0)
            end = ends(railgauges(walked, spread, 0.0, 0.01, "median"), 10, most)
            covers = covered(walked, end, most)
            marked = np.array(
                [trend(row[:n]) is not None for row, n in zip(moved, end.tolist(), strict=True)]
            )
            neither = (~covers & ~marked).mean()
            fine = bool(neither <= UNMARKED)
            yield (
                f"{name:14}{spread:>6.1%}{(end < most).mean():>11.1%}{covers.mean():>8.1%}"
                f"{marked.mean():>8.1%}{neither:>9.1%}{end.mean():>8.1f}"
                f"{'' if fine else '  MISSED'}",
                fine,
            )


def false_alarms(series: int) -> Iterator[str]:
    random = np.random.default_rng(10)
    yield f"\n{'none in truth':16}{'n':>5}{'an outlier':>12}{'autocorrelation':>17}{'trend':>8}"
    for name, shape in SHAPES.items():
        for n in (10, 20, 50, 100):
            noise = shape.draw(random, (series, n))
            odd = np.mean([outliers(values).any() for values in noise])
            linked = np.mean([autocorrelation(values) is not None for values in noise])
            rises = np.mean([trend(values) is not None for values in noise])
            yield f"{name:16}{n:>5}{odd:>12.1%}{linked:>17.2%}{rises:>8.2%}"


def dependence(series: int) -> Iterator[str]:
    """Yield how often replications that depend on each other are noticed, in cases and runs."""
    yield f"\n{'keeps':>6}{'n':>4}{'covers':>8}{'noticed in a case':>19}{'in 10':>8}{'in 30':>8}"
    for share in (0.0, 0.3, 0.5, 0.8):
        for n in (10, 30):
            noise = following(share).draw(np.random.default_rng(n), (max(series, 60), n))
            covers = np.mean(
                [
                    interval is not None and interval.low <= 0 <= interval.high
                    for interval in map(median_interval, noise)
                ]
            )
            alone = np.mean([autocorrelation(values) is not None for values in noise])
            runs = [
                np.mean(
                    [
                        shared_autocorrelation(list(noise[first : first + cases])) is not None
                        for first in range(0, len(noise) - cases + 1, cases)
                    ]
                )
                for cases in (10, 30)
            ]
            yield f"{share:>6}{n:>4}{covers:>8.1%}{alone:>19.1%}{runs[0]:>8.1%}{runs[1]:>8.1%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--series", type=int, default=4000, help="of each batch")
    parser.add_argument("--most", type=int, default=1000, help="values of a series, ten at least")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    series = arguments.series * arguments.batches
    reached = []
    for judged in (early(series, 30), early(series, DEFAULT_MOST), drifts(series, DEFAULT_MOST)):
        for line, fine in judged:
            print(line, flush=True)
            reached.append(fine)
    for lines in (
        dependence(series),
        three_to_ten(series),
        false_alarms(series),
        table(arguments.batches, arguments.series, arguments.most),
    ):
        for line in lines:
            print(line, flush=True)
    return 0 if all(reached) or arguments.no_limits else 1


if __name__ == "__main__":
    sys.exit(main())
