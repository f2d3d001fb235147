"""How long a report over a million stored measurements takes, in the shapes of a site's runs.

For each shape: `Store.series()` alone, then the whole command `railgauge report` (start of Python,
pivot, HTML, LaTeX, CSV and text files included); medians, in seconds.

    python benchmarks/report_million.py [--repeats 5] [--large]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from million import build

from railgauge.store import Store

# cases, replications of each, metrics of each replication
SHAPES = ((5_000, 10, 20), (1_000, 1_000, 1), (10_000, 100, 1))
# A table of 100,000 cells, which nobody prints.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also a table of 100,000 cells")
    arguments = parser.parse_args()
    print(f"{'cases':>8} {'repl.':>6} {'metrics':>8} {'series() s':>11} {'report s':>9}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.yaml").write_text(SPEC)
        for shape in (*SHAPES, *([LARGE] if arguments.large else [])):
            cases, replications, metrics = shape
            path = folder / "-".join(map(str, (*shape, "million.db")))
            run = build(path, cases=cases, replications=replications, metrics=metrics)

            def read(path: Path = path, run: int = run, wanted: int = cases * replications) -> None:
                with Store.open(str(path), create=False) as store:
                    series = store.series([run], ["throughput"])
                assert sum(len(each.values) for each in series) == wanted

            def report(path: Path = path) -> None:
                command = [sys.executable, "-m", "railgauge", "report", "--db", str(path)]
                command += ["--spec", str(folder / "spec.yaml"), "--out", str(folder / "out")]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

            print(
                f"{cases:>8} {replications:>6} {metrics:>8} "
                f"{median_seconds(read, arguments.repeats):>11.2f} "
                f"{median_seconds(report, arguments.repeats):>9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
