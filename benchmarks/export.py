"""How long `railgauge export` takes over a million measurements, and how much memory at most.

For each format: the whole command (start of Python included) on a database of 100,000 and one of
1,000,000 measurements of one run, then 1,000,000 of a hundred runs. Medians of seconds; the memory
is the process's largest resident set. Where it is bounded, the two are alike.

    python -m benchmarks.export [--repeats 3] [--values 1000000] [--runs 100]
        [--databases 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.million import build

FORMATS = ("csv", "json", "parquet")


def export(database: Path, form: str, out: Path) -> tuple[float, float]:
    """Return the command's seconds and its peak memory in MB."""
    command = [sys.executable, "-m", "railgauge", "export", form]
    command += ["--db", str(database), "--out", str(out)]
    began = time.perf_counter()
    with Path(os.devnull).open("wb") as nowhere:
        quiet = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    assert status == 0, status
    return time.perf_counter() - began, used.ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--values", type=int, default=1_000_000, help="2,000 at least")
    parser.add_argument("--runs", type=int, default=100, help="of the last database")
    parser.add_argument("--databases", type=int, default=3, help="of these, the last ones")
    arguments = parser.parse_args()
    values, many, repeats = arguments.values, arguments.runs, arguments.repeats
    # runs, cases of each, replications of each, metrics of each
    shapes = (
        (1, values // 2000, 10, 20),
        (1, values // 200, 10, 20),
        (many, values // 50 // many, 10, 5),
    )
    print(f"{'values':>9} {'runs':>5} {'format':>8} {'s':>6} {'peak MB':>8} {'file MB':>8}")
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        for runs, cases, replications, metrics in shapes[-arguments.databases :]:
            database = Path(name) / f"{runs}-{cases}.db"
            for _ in range(runs):
                build(database, cases=cases, replications=replications, metrics=metrics)
            for form in FORMATS:
                took = [export(database, form, out) for _ in range(repeats)]
                print(
                    f"{runs * cases * replications * metrics:>9} {runs:>5} {form:>8} "
                    f"{statistics.median(seconds for seconds, _ in took):>6.1f} "
                    f"{max(memory for _, memory in took):>8.0f} "
                    f"{out.stat().st_size / 1e6:>8.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
