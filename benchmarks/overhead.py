"""What the runner costs a replication, beyond the engine's own time.

A sweep of one external command (`echo`), one replication a case, results stored: railgauge beside a
bare Python loop of subprocess and one SQLite commit, in turn, in one process. Start-up (reading the
plan, building the engines) isn't counted. Prints medians in milliseconds a run and their ratio.

    python -m benchmarks.overhead [--runs 100 1000 10000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Observer, Outlook
from railgauge.run.job import Request
from railgauge.run.pipeline import execute, read

ENGINE = """\
railgauge_engine: 1
name: echo
summary: prints two numbers
parameters:
  x: {type: int, help: first}
  y: {type: int, help: second}
command: [echo, "{x}", "{y}"]
metrics:
  wall_time: {unit: s, better: lower, from: wall_time, help: from start to end}
"""
PLAN = """\
railgauge: 1
name: overhead
engines: [echo.yaml]
hosts:
  here: {{address: 127.0.0.1, transport: local}}
tests:
  - name: sweep
    engine: echo
    grid:
      x: [{xs}]
      y: [{ys}]
    replications: 1
"""


class Stopwatch(Observer):
    """Times the measuring part of a run."""

    seconds = 0.0
    _began = 0.0

    def begin(self, outlook: Outlook) -> None:
        self._began = time.perf_counter()

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        assert outcome.status != "failed", outcome

    def end(self) -> None:
        self.seconds = time.perf_counter() - self._began


def railgauge(folder: Path, runs: int) -> float:
    side = 100 if runs >= 10_000 else min(runs, 10)
    xs, ys = range(runs // side), range(side)
    (folder / "echo.yaml").write_text(ENGINE)
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(xs=", ".join(map(str, xs)), ys=", ".join(map(str, ys))))
    watch = Stopwatch()
    request = Request(str(folder / "railgauge.db"), plan=plan)
    with request, contextlib.ExitStack() as cleanup:
        finished = execute(read(request, watch, cleanup))
    assert finished.measured == runs, finished
    return watch.seconds


def bare_loop(folder: Path, runs: int) -> float:
    database = sqlite3.connect(folder / "bare.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE run (x INTEGER, y INTEGER, wall REAL)")
    began = time.perf_counter()
    for number in range(runs):
        started = time.perf_counter()
        subprocess.run(["echo", str(number // 10), str(number % 10)], stdout=subprocess.DEVNULL)
        wall = time.perf_counter() - started
        database.execute("INSERT INTO run VALUES (?, ?, ?)", (number // 10, number % 10, wall))
        database.commit()
    seconds = time.perf_counter() - began
    database.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'runs':>7} {'railgauge ms/run':>17} {'bare loop ms/run':>17} {'ratio':>6}")
    for runs in arguments.runs:
        rail: list[float] = []
        bare: list[float] = []
        for _ in range(arguments.repeats):
            for figures, measure in ((rail, railgauge), (bare, bare_loop)):
                with tempfile.TemporaryDirectory() as folder:
                    figures.append(measure(Path(folder), runs) / runs * 1e3)
        middle, beside = statistics.median(rail), statistics.median(bare)
        print(f"{runs:>7} {middle:>17.2f} {beside:>17.2f} {middle / beside:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
