"""How quick a comparison of many cases is, and how often it is wrong: `make bench-compare`.

The time has to stay under 2 s for 10,000 cases of 10 and 10 replications. Nothing may be told to
have changed in more than 5 of 100 cases, nor in more than 5 of 100 comparisons of 50 cases in
which nothing did, whatever way the values vary; a slowdown of 3 % with 1 % of noise has to be
found in 95 of 100; but for what the draws are off by. Exit status 1 if one of these isn't so.

    python -m benchmarks.compare [--times 200] [--cases 10000] [--no-limits]
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np
from tests.support.comparison_samples import KINDS, false_alarms, found_slower, normal

from railgauge.analysis import Side, compare_all

# With 10 among 50 cases it is 95 of 100 by simulation; 2,000 draws are off by one at most.
SECONDS, SHARE, POWER = 2.0, 0.05, 0.94


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="simulated comparisons")
    parser.add_argument("--cases", type=int, default=10_000, help="of the largest comparison")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    times = arguments.times
    fine = [speed(arguments.cases), *(alarms(runs, times) for runs in (1, 3, 5)), power(times)]
    return 0 if all(fine) or arguments.no_limits else 1


def speed(most: int) -> bool:
    """Print the processor time of comparisons; the first has a limit."""
    draw = np.random.default_rng(1)
    taken = []
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
            taken.append(time.process_time() - begin)
            print(f"{cases:6,} cases, {runs} × {n} and {n} values{kind}: {taken[-1]:.2f} s")
    return max(taken[:2]) < SECONDS


def alarms(baseline: int, times: int) -> bool:
    """Print how often a change is told where there is none, and where there is one of 3 %."""
    # 95 of 100 times so many draws aren't off by more.
    most = SHARE + 1.64 * math.sqrt(SHARE * (1 - SHARE) / times)
    print(f"\n{times} comparisons of 50 cases, 10 replications, with {baseline} earlier runs:")
    print(f"{'values':20}{'false, of cases':>18}{'of comparisons':>18}{'3 % slower found':>18}")
    fine = True
    for name, kind in KINDS.items():
        cases, comparisons = false_alarms(np.random.default_rng(1), kind, times, baseline=baseline)
        found = found_slower(np.random.default_rng(2), kind, times, baseline=baseline)
        print(f"{name:20}{cases:18.2%}{comparisons:18.1%}{found:18.1%}", flush=True)
        fine &= cases <= SHARE and comparisons <= most
    return fine


def power(times: int) -> bool:
    """Print how often a slowdown of 3 % is found at 1 % of noise, many times over."""
    print()
    shares = []
    for cases in (1, 10, 50):
        shares.append(found_slower(np.random.default_rng(3), normal, 10 * times, cases=cases))
        print(f"3 % slower with 1 % of noise, one of {cases} cases: found in {shares[-1]:.1%}")
    return min(shares) >= POWER


if __name__ == "__main__":
    sys.exit(main())
