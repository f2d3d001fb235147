"""How long judging takes: two runs of 10,000 cases, and a gate over a million replications.

For each shape: reading both sides, judging them, and the whole command `railgauge compare` (start
of Python and the tables included); medians, in seconds, and the command's CPU time, which is what
it takes on an idle machine. What a gate measures takes its own time.

    python -m benchmarks.gate [--cases 10000] [--repeats 5] [--shapes 4]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.million import build
from benchmarks.report import median_seconds
from railgauge.compare.compare import compare
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--shapes", type=int, default=4, help="so many of the first")
    arguments = parser.parse_args()
    cases = arguments.cases
    # runs of the baseline, cases, replications of each
    shapes = ((1, cases, 10), (9, cases, 10), (1, cases // 2, 100), (1, cases * 5, 10))
    print(f"{'baseline':>8} {'cases':>7} {'repl.':>6} {'stored':>10} ", end="")
    print(f"{'read s':>7} {'judge s':>8} {'command s':>10} {'its CPU s':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes[: arguments.shapes]:
            measure(Path(folder), shape, arguments.repeats)


def measure(folder: Path, shape: tuple[int, int, int], repeats: int) -> None:
    runs, cases, replications = shape
    path = folder / "-".join(map(str, (*shape, "gate.db")))
    for _ in range(runs + 1):
        build(path, cases=cases, replications=replications, metrics=1)
    first, second = Selection("baseline", tuple(range(1, runs + 1))), Selection("run", (runs + 1,))
    with Store.open(str(path)) as store:
        store.set_baseline("million", first.runs)
        reading = read(store, [*first.runs, *second.runs])
        reads = median_seconds(lambda: read(store, [*first.runs, *second.runs]), repeats)
    judges = median_seconds(lambda: compare(reading, first, second), repeats)
    command = [sys.executable, "-m", "railgauge", "compare", "million", "latest", "--db", str(path)]

    def run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = median_seconds(run, repeats)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / repeats
    stored = (runs + 1) * cases * replications
    print(f"{runs:>8} {cases:>7,} {replications:>6} {stored:>10,} ", end="")
    print(f"{reads:>7.2f} {judges:>8.2f} {whole:>10.2f} {cpu:>10.2f}", flush=True)


if __name__ == "__main__":
    main()
