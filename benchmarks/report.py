"""How long a report over a million stored measurements takes, in the shapes of a site's runs.

For each shape: `Store.series()` alone, then the whole command `railgauge report` (start of Python,
pivot, HTML, LaTeX, CSV and text files included); medians, in seconds. Beside them the command's
CPU time, which is what it takes on an idle machine, and the most memory that it had. It ends with 1
where that is more than it is to be.

    python -m benchmarks.report [--repeats 5] [--values 1000000] [--large]
        [--no-limits]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.million import build
from railgauge.store import Store

# What a report of a million measurements may take: seconds of CPU, and bytes.
MOST_SECONDS, MOST_BYTES = 2.0, 500e6
# A table of 100,000 cells, which nobody prints: cases, replications of each, metrics of each.
LARGE = (100_000, 10, 1)
SPEC = """\
railgauge_report: 1
name: million
title: A million measurements
tables:
  - name: stream
    title: Throughput
    rows: [link, datagram]
    columns: [sockbuf]
    cells: [{metric: throughput, unit: Mbit/s}]
"""


def median_seconds(action: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def report(path: Path, folder: Path) -> tuple[float, float, int]:
    """Return the wall and the CPU time of the command, in seconds, and its most memory, in B."""
    command = [sys.executable, "-m", "railgauge", "report", "--db", str(path)]
    command += ["--spec", str(folder / "spec.yaml"), "--out", str(folder / "out")]
    # Compiled modules are kept where railgauge is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: ended with status {status}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also a table of 100,000 cells")
    parser.add_argument("--values", type=int, default=1_000_000, help="1,000 at least")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    values = arguments.values
    shapes = [(values // 200, 10, 20), (values // 1000, 1000, 1), (values // 100, 100, 1)]
    print(f"{'cases':>8} {'repl.':>6} {'metrics':>8} {'series() s':>11} ", end="")
    print(f"{'report s':>9} {'its CPU s':>10} {'memory MB':>10}")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.yaml").write_text(SPEC)
        for shape in (*shapes, *([LARGE] if arguments.large else [])):
            cases, replications, metrics = shape
            path = folder / "-".join(map(str, (*shape, "million.db")))
            run = build(path, cases=cases, replications=replications, metrics=metrics)

            def read(path: Path = path, run: int = run, count: int = cases * replications) -> None:
                with Store.open(str(path), create=False) as store:
                    series = store.series([run], ["throughput"])
                assert sum(len(case_series.values) for case_series in series) == count

            seconds = median_seconds(read, arguments.repeats)
            runs = [report(path, folder) for _ in range(arguments.repeats)]
            wall, cpu = (statistics.median(run[place] for run in runs) for place in (0, 1))
            memory = max(run[2] for run in runs)
            good &= shape == LARGE or (cpu < MOST_SECONDS and memory < MOST_BYTES)
            print(f"{cases:>8} {replications:>6} {metrics:>8} {seconds:>11.2f} ", end="")
            print(f"{wall:>9.2f} {cpu:>10.2f} {memory / 1e6:>10.0f}", flush=True)
    sys.exit(not good and not arguments.no_limits)


if __name__ == "__main__":
    main()
