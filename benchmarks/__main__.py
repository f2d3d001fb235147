"""Runs every benchmark at its smallest size, to see that it still works: no claim about times.

    python -m benchmarks [NAME ...]

Prints what they print, then a table of them all. Exit status 1 if one failed; a benchmark that
needs what this machine lacks is skipped.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import LACKING

ROOT = Path(__file__).resolve().parents[1]


class Smallest(NamedTuple):
    """The arguments of a benchmark's smallest size, and a part of its table's heading."""

    arguments: str
    heading: str
    package: str = ""  # Debian's, of what it can't be without


BENCHMARKS = {
    "aa": Smallest(
        "--comparisons 1 --no-confirm --sizes 1 --replications 4 --baseline-runs 1",
        "alarms:",
    ),
    "certificates": Smallest("--times 1 --only 'report means'", "root", "iproute2"),
    "check": Smallest("--cases 100 --repeats 1", "check of"),
    "compare": Smallest("--times 1 --cases 40 --no-limits", "3 % slower found"),
    "coverage": Smallest("--batches 1 --series 20 --most 20 --no-limits", "just looking"),
    "cpu": Smallest(
        "--rounds 1 --duration 10ms --iterations 100 --matrix 64 --tries 1", "op/cycle", "likwid"
    ),
    "disk": Smallest("--size 4 --rounds 1 --seconds 1 --only '1M psync'", "CPU us/IO", "fio"),
    "dispatch": Smallest("--cases 3 --duration 10ms", "over ssh", "openssh-server"),
    "estimates": Smallest("jumbo-sweep --replications 1", "said s"),
    "export": Smallest("--values 2000 --runs 2 --databases 1 --repeats 1", "peak MB"),
    "gate": Smallest("--cases 20 --repeats 1 --shapes 1", "judge s"),
    "hosts": Smallest("--hosts 4 --sshd 2 --build 0.1", "reach", "openssh-server"),
    "history": Smallest("--series 2 --nights 21 --cases 2 --repeats 1 --no-limits", "nights"),
    "mem": Smallest(
        "--rounds 1 --rows 'triad memory 1t' --bytes 1000000 --seconds 0.01", "rail-mem", "likwid"
    ),
    "mpi": Smallest("--rounds 1 --duration 10 --rows 'MiB, tcp'", "rail-mpi", "netpipe-openmpi"),
    "network": Smallest("--rounds 1 --duration 0.5 --works udp-batch", "rail-udp"),
    "overhead": Smallest("--runs 10 --repeats 1", "bare loop"),
    "page": Smallest("--cases 300 --repeats 1", "open s", "chromium"),
    "report": Smallest("--values 1000 --repeats 1 --no-limits", "memory MB"),
    "scale": Smallest("--hosts 8 --deaths 1", "ms/case"),
    "site": Smallest("--nights 5 --cases 2 --repeats 1 --no-limits", "first build:"),
    "soak": Smallest(
        "--rounds 1 --seconds 0.2 --shares 50 --tolerance 1 --patience 60", "rusage %"
    ),
    "verdicts": Smallest(
        "--times 2 --shapes t3 --noises 0.01 --cases 10 --baselines 3 --processes 1 --no-limits",
        "covers",
    ),
    "watch": Smallest("--runs 2 --duration 200ms --seconds 0.2", "us a sample", "iproute2"),
    "year": Smallest(
        "--nights 3 --cases 2 --replications 2 --logged 1 --repeats 1 --commands list", "goal s"
    ),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a benchmark."""

    seconds: float
    status: int
    output: str
    errors: str

    @property
    def result(self) -> str:
        return {0: "ok", LACKING: "skipped"}.get(self.status, "failed")

    @property
    def headline(self) -> str:
        """The last line of what it printed, or of why it didn't."""
        lines = (self.errors if self.status else self.output).strip().splitlines()
        return " ".join(lines[-1].split()) if lines else f"status {self.status}, and no word why"


def run_smallest(
    name: str, run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
) -> Ran:
    """Run a benchmark at its smallest size, from the checkout's root; `run` starts it."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *shlex.split(BENCHMARKS[name].arguments)]
    began = time.monotonic()
    completed = run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return Ran(time.monotonic() - began, completed.returncode, completed.stdout, completed.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME")
    names = parser.parse_args().names or list(BENCHMARKS)
    runs = {}
    for name in names:
        print(f"--- {name} {BENCHMARKS[name].arguments}", flush=True)
        runs[name] = run_smallest(name)
        print(runs[name].output + runs[name].errors, flush=True)
    print(f"{'benchmark':<10} {'s':>6}  {'result':<8} {'its last line':<}")
    for name, ran in runs.items():
        print(f"{name:<10} {ran.seconds:>6.1f}  {ran.result:<8} {ran.headline}")
    return 1 if any(ran.result == "failed" for ran in runs.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
