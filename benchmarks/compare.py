"""How quick a comparison of many cases is, and how often it is wrong: `make bench-compare`.

The time has to stay under 2 s for 10,000 cases of 10 and 10 replications. Nothing may be told to
have changed in more than 5 of 100 cases, nor in more than 5 of 100 comparisons of 50 cases in
which nothing did, whatever way the values vary; a slowdown of 3 % with 1 % of noise has to be
found in 90 of 100 (94 if heavy tails weren't allowed for, which a single run can't rule out); but
for what the draws are off by. Where runs differ by 1 or 2 %, 1 to 50 cases
held against one, two or three runs may raise an alarm in 5 of 100 comparisons, and a fall of 20 %
has to be found in 95 of 100 with a single run. Exit status 1 if one of these isn't so.

    python -m benchmarks.compare [--times 200] [--cases 10000] [--no-limits]
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np
from tests.support.comparison_samples import KINDS, differing, false_alarms, found_slower, normal

from railgauge.stats.series_changes import Side, compare_all

# 2,000 draws of POWER are off by one of 100 at most.
SECONDS, SHARE, POWER, FOUND = 2.0, 0.05, 0.90, 0.95
NUMBERS = (1, 4, 9, 10, 50)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="simulated comparisons")
    parser.add_argument("--cases", type=int, default=10_000, help="of the largest comparison")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    times = arguments.times
    fine = [
        speed(arguments.cases),
        *(alarms(runs, times) for runs in (1, 3, 5)),
        few_runs(times),
        power(times),
    ]
    return 0 if all(fine) or arguments.no_limits else 1


def speed(most: int) -> bool:
    """Print the processor time of comparisons; the first has a limit."""
    draw = np.random.default_rng(1)
    times = []
    for cases, runs, n in (
        (most, 1, 10),
        (most, 5, 10),
        (most // 2, 1, 100),
        (most // 20, 1, 1000),
    ):
        for kind, digits in (("", 9), (", many ties", 0)):
            values = draw.normal(100, 1, (cases, runs + 1, n)).round(digits)
            pairs = [(Side(list(case[:-1])), Side([case[-1]])) for case in values]
            begin = time.process_time()
            compare_all(pairs, ["lower"] * cases, [0.02] * cases)
            times.append(time.process_time() - begin)
            print(f"{cases:6,} cases, {runs} × {n} and {n} values{kind}: {times[-1]:.2f} s")
    return max(times[:2]) < SECONDS


def alarms(baseline: int, times: int) -> bool:
    """Print how often a change is told where there is none, and where there is one of 3 %."""
    print(f"\n{times} comparisons of 50 cases, 10 replications, with {baseline} earlier runs:")
    print(f"{'values':20}{'false, of cases':>18}{'of comparisons':>18}{'3 % slower found':>18}")
    fine = True
    for name, kind in KINDS.items():
        cases, comparisons = false_alarms(np.random.default_rng(1), kind, times, baseline=baseline)
        detection_rate = found_slower(np.random.default_rng(2), kind, times, baseline=baseline)
        print(f"{name:20}{cases:18.2%}{comparisons:18.1%}{detection_rate:18.1%}", flush=True)
        fine &= cases <= SHARE and comparisons <= _most(times)
    return fine


def _most(times: int) -> float:
    """Return what so many draws stay below 95 of 100 times where the share is SHARE."""
    return SHARE + 1.64 * math.sqrt(SHARE * (1 - SHARE) / times)


def few_runs(times: int) -> bool:
    """Print what few runs in the baseline come to where runs differ: by cases, in %."""
    drawn = ", ".join(f"{_draws(times, n):,}" for n in NUMBERS)
    print(
        f"\nruns that differ; comparisons with a false alarm, by number of cases, in % of {drawn}"
    )
    print(f"{'runs differ by':24}{'baseline':>9}" + "".join(f"{n:>7}" for n in NUMBERS))
    good = True
    for between, together in ((0.01, False), (0.02, False), (0.01, True), (0.02, True)):
        for baseline in (1, 2, 3):
            kind = differing(between, together=together)
            shares = []
            for n in NUMBERS:
                draws, random = _draws(times, n), np.random.default_rng(1)
                alarmed = false_alarms(random, kind, draws, cases=n, baseline=baseline)[1]
                good &= alarmed <= _most(draws)
                shares.append(alarmed)
            _row(f"{between:.0%}, {'all alike' if together else 'each case'}", baseline, shares)
    print(f"\none case that fell, found, in %, of {times}")
    for fall, between, baseline, together in (
        (0.2, 0.01, 1, False),
        (0.2, 0.02, 1, False),
        (0.2, 0.02, 3, False),
        (0.2, 0.02, 3, True),
        (0.05, 0.01, 3, False),
        (0.05, 0.01, 3, True),
    ):
        kind, slower = differing(between, together=together), 1 / (1 - fall) - 1
        shares = [
            found_slower(
                *(np.random.default_rng(2), kind, times), slower=slower, cases=n, baseline=baseline
            )
            for n in NUMBERS
        ]
        good &= baseline != 1 or min(shares) >= FOUND
        suffix = ", all alike" if together else ""
        _row(f"by {fall:.0%}; {between:.0%}{suffix}", baseline, shares)
    return good


def _draws(times: int, cases: int) -> int:
    """Return how many comparisons are drawn: of few cases more, as each takes less."""
    return times * max(1, 8 // cases)


def _row(name: str, baseline: int, shares: list[float]) -> None:
    print(
        f"{name:24}{baseline:>9}" + "".join(f"{100 * share:7.1f}" for share in shares), flush=True
    )


def power(times: int) -> bool:
    """Print how often a slowdown of 3 % is found at 1 % of noise, many times over."""
    print()
    shares = []
    for cases in (15, 50):
        shares.append(found_slower(np.random.default_rng(3), normal, 10 * times, cases=cases))
        print(f"3 % slower with 1 % of noise, one of {cases} cases: found in {shares[-1]:.1%}")
    return min(shares) >= POWER


if __name__ == "__main__":
    sys.exit(main())
