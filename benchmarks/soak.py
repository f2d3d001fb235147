"""rail-soak's figure for a known load, on a machine that should be idle otherwise.

A process burns 25, 50 and 100 % of one CPU in periods of 10 ms by its own CPU clock, each CPU in
turn; rail-soak says what load it saw on that CPU between marks around it. What a busy machine takes
beside is in rail-soak's figure and not in the process's, so it counts as an error here.

    python -m benchmarks.soak [--rounds 10] [--seconds 4] [--shares 25 50 100] [--patience 300]
        [--tolerance 0.02]

The exit code is 0 unless something failed to run; a figure off by more is no failure.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import engines

HERE = Path(__file__).resolve().parent
TOLERANCE = 2.0  # percentage points of one CPU


class BusyError(Exception):
    """The machine is not idle."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One measurement, in percent of the CPU: what was burned, and what rail-soak made of it."""

    burned: float
    account: float
    load: float
    lost: float
    slowdown: float
    other_load: float
    steal: float

    @property
    def error(self) -> float:
        """What rail-soak saw too much, in percentage points."""
        return self.load - self.burned


def build(folder: Path) -> None:
    """Put rail-soak and the burner there."""
    (folder / "rail-soak").symlink_to(engines() / "rail-soak")
    source = HERE / "soak_burner.c"
    cc = os.environ.get("CC", "cc")
    subprocess.run(
        [cc, "-std=c11", "-D_GNU_SOURCE", "-O2", source, "-o", folder / "burner"], check=True
    )


def start(*argv: object) -> subprocess.Popen[str]:
    """Start a program that is talked to."""
    words = [str(word) for word in argv]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    """Return the next line of what it says."""
    assert process.stdout
    return process.stdout.readline()


def send_line(process: subprocess.Popen[str], line: str) -> None:
    """Give it a line."""
    assert process.stdin
    process.stdin.write(line + "\n")
    process.stdin.flush()


def next_event(soak: subprocess.Popen[str], kind: str) -> dict[str, Any]:
    """Return the next event of that kind."""
    while line := line_of(soak):
        event: dict[str, Any] = json.loads(line)
        if event.get("code") in ("not-idle", "soak-busy"):
            raise BusyError(event["message"])
        if event["event"] == "error":
            raise SystemExit(f"rail-soak: {event['message']}")
        if event["event"] == kind:
            return event
    raise SystemExit("rail-soak ended without a word")


def mark(name: str, label: str) -> None:
    """Mark as an engine does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as marks:
        marks.connect(b"\0" + name.encode())
        marks.send(f"{label} 1 1".encode())
        marks.recv(16)


def measure(folder: Path, cpu: int, share: float, options: argparse.Namespace) -> Trial:
    """Burn that share of the CPU and ask rail-soak about it."""
    name = f"soak-bench-{os.getpid()}"
    allowed = f"--tolerance={options.tolerance}"
    soak = start(folder / "rail-soak", "--json", f"--marks={name}", allowed)
    burner = start(folder / "burner", cpu, share / 100, options.seconds)
    try:
        next_event(soak, "calibrated")
        mark(name, "begin")
        send_line(burner, "go")
        burned, account = (float(word) for word in line_of(burner).split())
        mark(name, "end")
        send_line(soak, "finish")
        load = next_event(soak, "load")
    finally:
        for process in (soak, burner):
            process.kill()
            process.communicate()
    (cpu_entry,) = (entry for entry in load["cpus"] if entry["cpu"] == cpu)
    other_loads = [entry["load"] for entry in load["cpus"] if entry["cpu"] != cpu]
    hundredth = load["elapsed"] / 100
    return Trial(
        burned / hundredth,
        account / hundredth,
        cpu_entry["load"] * 100,
        cpu_entry["lost"] * 100,
        cpu_entry["slowdown"] * 100,
        statistics.fmean(other_loads) * 100 if other_loads else 0.0,
        cpu_entry["steal"] * 100,
    )


def measure_when_idle(folder: Path, cpu: int, share: float, options: argparse.Namespace) -> Trial:
    """Measure once the machine is idle; ends the benchmark if it never is."""
    limit = time.monotonic() + options.patience
    while True:
        try:
            return measure(folder, cpu, share, options)
        except BusyError as error:
            if time.monotonic() > limit:
                raise SystemExit(f"rail-soak: {error}") from error
        time.sleep(1)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--shares", type=float, nargs="+", default=[25, 50, 100])
    parser.add_argument("--patience", type=float, default=300, help="seconds to wait for idleness")
    parser.add_argument("--tolerance", type=float, default=0.02, help="of idleness, rail-soak's")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    trials: dict[float, list[Trial]] = {share: [] for share in options.shares}
    print("   CPU  burned %  rusage %  load %  lost %  slowdown %  other CPUs %  steal %  error")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        for number in range(options.rounds):
            for share in options.shares:
                cpu = cpus[number % len(cpus)]
                trial = measure_when_idle(folder, cpu, share, options)
                trials[share].append(trial)
                print(
                    f"{cpu:6d} {trial.burned:9.2f} {trial.account:9.2f} {trial.load:7.2f}"
                    f" {trial.lost:7.2f} {trial.slowdown:11.2f} {trial.other_load:13.2f}"
                    f" {trial.steal:8.2f} {trial.error:+6.2f}",
                    flush=True,
                )
    for share, measured in trials.items():
        errors = [trial.error for trial in measured]
        good = sum(abs(error) <= TOLERANCE for error in errors)
        print(
            f"{share:g} %: {good} of {len(errors)} within {TOLERANCE:g} percentage points of one "
            f"CPU; error from {min(errors):+.2f} to {max(errors):+.2f}, "
            f"median {statistics.median(errors):+.2f}"
        )
        lost = [trial.lost - trial.burned for trial in measured]
        print(f"    the time lost alone, without slowdown: {min(lost):+.2f} to {max(lost):+.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
