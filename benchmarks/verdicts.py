"""How often the verdict of a gate is wrong, by simulation, for many ways in which runs differ.

Of each setting so many nights are judged as `railgauge gate` judges them, from the series that are
read of a store to the verdict after what looks slower was measured once more: 10 replications with
1 % of noise in each run, and levels of runs that differ by `noise` in a shape of their own.

- alarms: nights on which a case is slower though none changed, at the first look;
- changes: those on which a case is slower or faster;
- confirmed: alarms that are left after the second look, which a case that flips may meet at its
  other level, while all others keep the night's;
- 5 %, 20 %: how often the first case is slower, at the first look, if it fell by so much;
- covers: how many of the 95 % intervals hold what is true, that nothing changed.

The bistable shape has normal levels, and one case three of ten of whose runs are 5 to 10 % slower.
A goal stands beside each figure that has one; ! marks a miss by more than the draws are off by.

With --latency the cases are those of `udp`'s mode latency for 1 s of round trips of 50 us, and what
is judged of a case comes from the same ones: their median, their mean, which goes with it, their
99th percentile, which scatters three times as much, and the losses, of which each takes 1 s. A
round trip is lost as often every night: never, once in 100,000 or once in 1,000. --metrics names
those that are judged. Two faults of the first case that hardly move the median stand beside falls:

- lost: 0.5 % of the round trips are lost;
- resent: one in a thousand takes 200 ms longer, as a TCP segment that is sent again.

With --stored the plan had so many runs before the baseline's, which show how its runs differ.

With --histories instead, of 60 nights with and without a change of 5 %: how often a point is
found in a series that has none, and one within two nights of the change. With --peers these are
also searched by those of apache-otava and ruptures that are installed.

    python -m benchmarks.verdicts [--times 200] [--shapes normal t3] [--noises 0.01 0.02]
        [--within 0.01] [--cases 1 4 9 10 50] [--baselines 1 2 3 5] [--processes 2]
        [--stored 30] [--latency] [--losses 0 1e-5 1e-3] [--metrics rtt_p50 rtt_p99]
        [--histories] [--peers]
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.history import (
    dependent,
    exponential,
    heavy_tails,
    log_normal,
    normal,
    outliers,
    two_modes,
)
from railgauge.compare.compare import Comparison, Result, compare
from railgauge.compare.confirm import cases_of, compare_suspects, confirmed, suspects
from railgauge.compare.earlier_runs import by_medians
from railgauge.compare.reading import ReadRuns
from railgauge.compare.select import Selection
from railgauge.plan.cases import Case
from railgauge.stats.change_points import change_points
from railgauge.store.records import PlannedCase, Series

Values = NDArray[np.float64]
# By metric, costs: (runs, cases, replications), NaN where a replication has none.
Measured = Mapping[str, Values]
Draw = Callable[[np.random.Generator, int], Values]
SEED, REPLICATIONS, WITHIN, FALLS, NIGHTS = 20, 10, 0.01, {"5 %": 0.05, "20 %": 0.2}, 60
# Latency: a round trip's seconds and how much longer one takes whose segment is sent again, the
# 99th percentile over the median, how many times its noise is theirs, and what a fault loses.
ROUND_TRIP, RESENT, TAIL, TAIL_NOISE, LOST = 50e-6, 0.2, 1.5, 3.0, 0.005
LATENCY = ("rtt_p50", "rtt_p99", "rtt_mean", "loss_rate")
DRAWS: dict[str, Draw] = {
    "normal": normal,
    "exponential": exponential,
    "log-normal": log_normal,
    "t3": heavy_tails,
    "AR 0.3": dependent(0.3),
    "outliers": outliers,
    "bistable": two_modes,
}
# What is promised, in %: false alarms of normal levels, and of the other shapes from three runs on.
MOST_FALSE, MOST_FALSE_OTHERS, LEAST_TWENTY, LEAST_COVERED = 5.0, 10.0, 95.0, 93.0


class Setting(NamedTuple):
    """What is simulated: the levels' shape and standard deviation, how many cases and runs.

    `within` is the noise within a run. `losses` is how often a round trip is lost, of cases whose
    `metrics` are those of latency; None where each is a single time.
    """

    shape: str
    noise: float
    cases: int
    baseline: int
    within: float = WITHIN
    losses: float | None = None
    metrics: tuple[str, ...] = LATENCY
    stored: int = 0


def levels(random: np.random.Generator, setting: Setting) -> Values:
    """Return the logarithms of levels (stored + runs + 2, cases), the second look's last."""
    runs = setting.stored + setting.baseline + 1
    flips = setting.shape == "bistable"
    draw = normal if flips else DRAWS[setting.shape]
    columns = [setting.noise * draw(random, runs) for _ in range(setting.cases)]
    nights = np.stack(columns, axis=1)
    all_levels = np.concatenate([nights, nights[-1:]])
    if flips:
        apart = math.log1p(random.uniform(0.05, 0.1))
        all_levels[:, -1] += apart * (random.random(runs + 1) < 0.3)
    return all_levels


def read_runs(measured: Measured, cases: Sequence[Sequence[int]]) -> ReadRuns:
    """Return what is read of a store, of each run `cases`."""
    count = next(iter(measured.values())).shape[1]
    all_cases = [
        Case(f"{number:08x}", "tcp", f"a→{number}", "a", "b", {"mode": "stream"})
        for number in range(count)
    ]

    def series(run: int, number: int, metric: str) -> Series:
        name = (run, "plan", "test", all_cases[number], metric, "s", "lower")
        values = measured[metric][run, number]
        values = values[~np.isnan(values)]
        return Series(*name, values, np.zeros(len(values), np.bool_), 0, REPLICATIONS)

    return ReadRuns(
        {
            run: [PlannedCase("test", all_cases[number], REPLICATIONS) for number in numbers]
            for run, numbers in enumerate(cases)
        },
        {
            run: {
                ("test", all_cases[number].key): {
                    metric: series(run, number, metric) for metric in measured
                }
                for number in numbers
            }
            for run, numbers in enumerate(cases)
        },
        {},
    )


def look(measured: Measured, stored: Measured) -> Comparison:
    """Return the last run but one compared with those before it: the last is the second look's."""
    runs, count, _ = next(iter(measured.values())).shape
    tonight = runs - 2
    baseline = Selection("baseline", tuple(range(tonight)))
    reading = read_runs(measured, [range(count)] * (tonight + 1))
    first = compare(reading, baseline, Selection("tonight", (tonight,)))
    return by_medians(first, medians_of(stored, measured))


def medians_of(stored: Measured, measured: Measured) -> Callable[[Result], Sequence[float]]:
    """Return what has a case's medians of all runs before the last two, where some are stored."""

    def medians(result: Result) -> Sequence[float]:
        name, number = result.metric, int(result.case.key, 16)
        if not len(stored[name]):
            return ()
        runs = np.concatenate([stored[name][:, number], measured[name][:-2, number]])
        return np.nanmedian(runs, axis=1).tolist()

    return medians


def second_look(measured: Measured, stored: Measured, first: Comparison) -> Comparison:
    """Return what is left of the first look after the last run measured it again."""
    names = cases_of(suspects(first))
    if not names:
        return first
    runs, count, _ = next(iter(measured.values())).shape
    again = [number for number in range(count) if ("test", f"{number:08x}") in names]
    tonight = runs - 2
    reading = read_runs(measured, [*([range(count)] * (tonight + 1)), again])
    baseline = first.selected[0]
    comparison = compare(reading, baseline, Selection("both", (tonight, tonight + 1)))
    anew = compare_suspects(reading, baseline, tonight, tonight + 1)
    left = confirmed(first, anew, comparison)[0]
    return by_medians(left, medians_of(stored, measured))


def slowed(measured: Measured, fall: float) -> Measured:
    """Return what was measured with the first case's times slower, tonight and once more."""
    slower = {metric: values.copy() for metric, values in measured.items()}
    for metric in slower.keys() - {"loss_rate"}:
        slower[metric][-2:, 0] /= 1 - fall
    return slower


def round_trips(random: np.random.Generator, setting: Setting) -> tuple[Measured, Measured]:
    """Return what round trips come to, and what they do where the first case has both faults."""
    body, tail = (
        np.exp(
            means[..., None] + setting.within * random.standard_normal((*means.shape, REPLICATIONS))
        )
        for means in (levels(random, setting), levels(random, setting))
    )
    tail = TAIL * tail**TAIL_NOISE
    mean = ROUND_TRIP * body * (0.98 + 0.02 * tail)
    losses = lost(random, setting.losses or 0, body.shape)
    times = {"rtt_p50": ROUND_TRIP * body, "rtt_mean": mean}
    # Of a lost round trip nobody knows how long it took.
    p99 = np.where(losses < 0.01, ROUND_TRIP * body * tail, np.nan)
    fine = {**times, "rtt_p99": p99, "loss_rate": losses}
    faulty = {metric: values.copy() for metric, values in fine.items()}
    place = (slice(-2, None), 0)
    faulty["loss_rate"][place] = lost(random, LOST, losses[place].shape)
    resent = np.minimum(random.poisson(1 / (1000 * ROUND_TRIP + RESENT), mean[place].shape), 4)
    faulty["rtt_mean"][place] += RESENT * resent * ROUND_TRIP / (1 - RESENT * resent)
    return fine, faulty


def lost(random: np.random.Generator, losses: float, shape: tuple[int, ...]) -> Values:
    """Return which share of a second's round trips is lost: the first that is takes the second."""
    if not losses:
        return np.zeros(shape)
    trips = random.geometric(losses, shape)
    return np.where(trips <= 1 / ROUND_TRIP, 1 / trips, 0.0)


def rows(measured: Measured, runs: slice) -> Measured:
    """Return what some of the runs measured."""
    return {metric: values[runs] for metric, values in measured.items()}


def simulate(setting: Setting, number: int) -> dict[str, float]:
    """Return what night `number` comes to, as the module's text has it; `covers` is a share."""
    place = [list(DRAWS).index(setting.shape), round(1e4 * setting.noise), *setting[2:4]]
    random = np.random.default_rng([SEED, *place, number])
    faults: dict[str, Measured] = {}
    if setting.losses is None:
        means = levels(random, setting)
        noise = setting.within * random.standard_normal((*means.shape, REPLICATIONS))
        measured: Measured = {"time": np.exp(means[..., None] + noise)}
    else:
        fine, faulty = round_trips(random, setting)
        measured = {metric: fine[metric] for metric in setting.metrics}
        faults = {
            name: {**measured, **({metric: faulty[metric]} if metric in measured else {})}
            for name, metric in (("lost", "loss_rate"), ("resent", "rtt_mean"))
        }
    before, since = slice(setting.stored), slice(setting.stored, None)
    stored, measured = rows(measured, before), rows(measured, since)
    faults = {name: rows(fault, since) for name, fault in faults.items()}
    faults |= {name: slowed(measured, fall) for name, fall in FALLS.items()}
    first = look(measured, stored)
    slower = bool(first.of("slower"))
    # Without a ratio it is the difference that is 0.
    covers = [
        pair.low <= (1 if pair.ratio > 0 else 0) <= pair.high
        for pair in (result.judged for result in first.results)
    ]
    return {
        "alarms": slower,
        "changes": slower or bool(first.of("faster")),
        "confirmed": bool(second_look(measured, stored, first).of("slower")),
        **{
            name: any(result.case.key == f"{0:08x}" for result in look(fault, stored).of("slower"))
            for name, fault in faults.items()
        },
        "covers": float(np.mean(covers)),
    }


def goals(setting: Setting) -> dict[str, tuple[str, float]]:
    """Return the goal of each figure that has one: `<=` or `>=`, and the limit in %."""
    limits = {}
    if setting.shape == "normal":
        limits["changes"] = "<=", MOST_FALSE
        limits["20 %"] = ">=", LEAST_TWENTY
        limits["covers"] = ">=", LEAST_COVERED
    elif setting.baseline >= 3:
        limits["alarms"] = "<=", MOST_FALSE_OTHERS
    return limits


def missed(figure: float, goal: tuple[str, float], times: int) -> bool:
    """Return whether a figure in % is beyond its goal by more than so many draws are off by."""
    sign, limit = goal
    off = 1.64 * math.sqrt(limit * (100 - limit) / times)
    return figure > limit + off if sign == "<=" else figure < limit - off


def judge_all(settings: Iterable[Setting], times: int, processes: int) -> bool:
    """Print the table of all settings; return whether every goal is met."""
    print(f"{times} nights of each setting, seed {SEED}; in %")
    good = True
    heads: Sequence[str] = ()
    with ProcessPoolExecutor(processes) as pool:
        for setting in settings:
            nights = list(
                pool.map(simulate, [setting] * times, range(times), chunksize=times // 8 + 1)
            )
            if not heads:
                heads = list(nights[0])
                lossy = f"{'lost':>7}" if setting.losses is not None else ""
                columns = "".join(f"{head:>13}" for head in heads)
                print(f"{'shape':12}{'noise':>6}{lossy}{'cases':>6}{'runs':>5}{columns}")
            limits, cells = goals(setting), []
            for name in heads:
                figure = 100 * float(np.mean([night[name] for night in nights]))
                goal = limits.get(name)
                fails = goal is not None and missed(figure, goal, times)
                good &= not fails
                text = f"{goal[0]}{goal[1]:.0f}{'!' if fails else ' '}" if goal else " " * 5
                cells.append(f"{figure:7.1f} {text:>5}")
            lossy = f"{setting.losses:7g}" if setting.losses is not None else ""
            name = f"{setting.shape:12}{setting.noise:6.0%}{lossy}{setting.cases:6}"
            print(f"{name}{setting.baseline:5}" + "".join(cells), flush=True)
    return good


def by_railgauge(values: Values) -> list[int]:
    return [point.index for point in change_points(values)]


def by_otava(values: Values) -> list[int]:
    analysis = importlib.import_module("otava.analysis")
    points, _ = analysis.compute_change_points(values.tolist(), window_len=30, max_pvalue=0.001)
    return [point.index for point in points]


def by_ruptures(values: Values) -> list[int]:
    """PELT with a Gaussian cost and BIC's penalty, the noise taken from neighbours."""
    ruptures = importlib.import_module("ruptures")
    spread = float(np.median(np.abs(np.diff(values)))) / 0.954
    penalty = 2 * math.log(len(values))
    search = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(values / spread)
    return [place for place in search.predict(pen=penalty) if place < len(values)]


SEARCHES: dict[str, Callable[[Values], list[int]]] = {
    "railgauge": by_railgauge,
    "otava": by_otava,
    "ruptures": by_ruptures,
}


def search_one(name: str, shape: str, noise: float, number: int) -> tuple[bool, bool]:
    """Return whether a point is found in a flat history, and near the change of another."""
    random = np.random.default_rng([SEED, list(DRAWS).index(shape), round(1e4 * noise), number])
    flat = np.exp(noise * DRAWS[shape](random, NIGHTS))
    place = int(random.integers(10, NIGHTS - 10))
    changed = flat.copy()
    changed[place:] *= 0.95 if number % 2 else 1.05
    points = SEARCHES[name](changed)
    return bool(SEARCHES[name](flat)), any(abs(point - place) <= 2 for point in points)


def search_all(settings: Iterable[tuple[str, float]], names: Sequence[str], times: int) -> None:
    """Print, side by side, what each of `names` finds in the same histories."""
    print(f"{times} histories of {NIGHTS} nights of each, seed {SEED}: with a point though nothing")
    print("changed, and with one within two nights of a change of 5 %, in %")
    heads = [f"{name} {kind}" for name in names for kind in ("false", "found")]
    print(f"{'shape':12}{'noise':>6}" + "".join(f"{head:>17}" for head in heads))
    for shape, noise in settings:
        cells = []
        for name in names:
            outcomes = [search_one(name, shape, noise, number) for number in range(times)]
            cells += (100 * np.mean(outcomes, axis=0)).tolist()
        print(f"{shape:12}{noise:6.0%}" + "".join(f"{cell:17.1f}" for cell in cells), flush=True)


def installed(modules: Iterable[str]) -> list[str]:
    """Return those that are there; on standard error, which aren't."""
    available = []
    for module in modules:
        try:
            importlib.import_module(module)
            available.append(module)
        except ImportError:
            print(f"{module} is not installed: see docs/statistics.md", file=sys.stderr)
    return available


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="simulated nights, or histories")
    parser.add_argument("--shapes", nargs="+", choices=DRAWS, default=list(DRAWS))
    parser.add_argument("--noises", nargs="+", type=float, default=[0.01, 0.02])
    parser.add_argument("--cases", nargs="+", type=int, default=[1, 4, 9, 10, 50])
    parser.add_argument("--baselines", nargs="+", type=int, default=[1, 2, 3, 5])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--within", type=float, default=WITHIN, help="noise within a run")
    parser.add_argument("--latency", action="store_true", help="cases of several metrics")
    parser.add_argument("--stored", type=int, default=0, help="runs before the baseline's")
    parser.add_argument("--losses", nargs="+", type=float, default=[0, 1e-5, 1e-3])
    parser.add_argument("--metrics", nargs="+", choices=LATENCY, default=list(LATENCY))
    parser.add_argument("--histories", action="store_true", help="change points, alone")
    parser.add_argument("--peers", action="store_true", help="with --histories: others' too")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    args = parser.parse_args()
    if args.histories:
        peers = installed(list(SEARCHES)[1:]) if args.peers else []
        search_all(product(args.shapes, args.noises), ["railgauge", *peers], args.times)
        return 0
    losses = args.losses if args.latency else [None]
    grid = product(args.shapes, args.noises, args.cases, args.baselines)
    settings = (
        Setting(*place, args.within, loss, tuple(args.metrics), args.stored)
        for loss, place in product(losses, grid)
    )
    good = judge_all(settings, args.times, args.processes)
    return 0 if good or args.no_limits else 1


if __name__ == "__main__":
    sys.exit(main())
