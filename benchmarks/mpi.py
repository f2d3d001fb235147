"""rail-mpi side by side with NetPIPE (NPopenmpi) and OSU's osu_bw on two ranks of this machine.

Each round runs both once for every row, in turn and in changing order, so that what disturbs the
machine disturbs both. Both are started by the same mpirun over the same transport, rank 0 on one
CPU and rank 1 on another; rail-mpi is built with the mpicc beside that mpirun. NetPIPE prints half
of the mean round trip; rail-mpi's mean is taken for the comparison, though its own `latency` is
half of the median. A ratio is the median of the rounds' own, above 1 where ours is better.

    python -m benchmarks.mpi [--rounds 7] [--rows WORD] [--duration 700] [--json] [--goals]

NetPIPE comes with the system's Open MPI (Debian: netpipe-openmpi, libopenmpi-dev). The OSU
micro-benchmarks aren't in Debian: the variable OSU_BW names an osu_bw built with the same mpicc,
without which its rows are left out. It receives all messages into one buffer, as ours do with
buffers: reuse.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import engines, need, output_of
from railgauge.engine.mpi_job import MPIRUN_ENVIRONMENT

MPI = Path("/usr/bin")  # where Debian's NPopenmpi has its mpirun
DURATION = 700  # ms
SHARED = "self,vader"


@dataclass
class Row:
    """One thing to compare. Values are seconds (lower is better) or bit/s (higher is)."""

    name: str
    size: int
    btl: str
    stream: bool
    repeats: int  # the other's, for about as long as rail-mpi measures by default
    buffers: str = ""  # beside osu_bw: how rail-mpi receives
    goal: float | None = None  # of the ratio
    rail: list[float] = field(default_factory=list)
    reference: list[float] = field(default_factory=list)

    @property
    def unit(self) -> str:
        return "Gbit/s" if self.stream or self.size > 65536 else "us"

    def scaled(self, seconds_or_rate: float) -> float:
        return seconds_or_rate / 1e9 if self.unit == "Gbit/s" else seconds_or_rate * 1e6

    @property
    def ratio(self) -> float:
        """rail-mpi against the other program, above 1 where rail-mpi is better."""
        pairs = zip(self.rail, self.reference, strict=True)
        return statistics.median(a / b if self.unit == "Gbit/s" else b / a for a, b in pairs)


def rows(osu: str) -> list[Row]:
    table = []
    for buffers, goal in (("reuse", 0.97), ("rotate", None)) if osu else ():
        table += [
            Row(f"{mib} MiB, {buffers}, osu_bw", mib << 20, SHARED, True, 128 // mib, buffers, goal)
            for mib in (1, 4)
        ]
    for label, btl in (("shared memory", SHARED), ("tcp", "self,tcp")):
        table += [
            Row(f"latency 8 B, {label}", 8, btl, False, 700_000 if "vader" in btl else 80_000),
            Row(f"latency 4 KiB, {label}", 4096, btl, False, 200_000 if "vader" in btl else 40_000),
            Row(f"ping-pong 1 MiB, {label}", 1 << 20, btl, False, 2_000),
            Row(f"stream 1 MiB, {label}", 1 << 20, btl, True, 4_000),
        ]
    return table


def on_two_ranks(*words: str) -> str:
    return output_of([f"{MPI}/mpirun", "-n", "2", *words], **MPIRUN_ENVIRONMENT)


def rail_mpi(row: Row, program: Path, duration: int) -> float:
    """Seconds of half a mean round trip, or bit/s."""
    options = [
        f"--mode={'stream' if row.stream else 'latency'}",
        f"--size={row.size}",
        f"--btl={row.btl}",
        f"--duration={duration}ms",
        "--warmup=100ms",
        "--replications=1",
        "--json",
        *(["--blocking=false", f"--buffers={row.buffers}"] if row.buffers else []),
    ]
    text = on_two_ranks("--bind-to", "none", str(program), *options)
    events = [json.loads(line) for line in text.splitlines()]
    (metrics,) = (
        event["metrics"]
        for event in events
        if event["event"] == "replication" and not event["warmup"]
    )
    if row.stream:
        return float(metrics["throughput"])
    half = float(metrics["rtt_mean"]) / 2
    return row.size * 8 / half if row.unit == "Gbit/s" else half


def run_other(row: Row, folder: Path, duration: int, osu: str) -> float:
    out = folder / "netpipe.out"
    size, repeats = str(row.size), str(max(1, row.repeats * duration // DURATION))
    if row.buffers:
        bound = ["--bind-to", "core", "--mca", "pml", "ob1", "--mca", "btl", row.btl]
        sizes = ["-m", f"{size}:{size}", "-i", repeats, "-x", "2"]
        text = on_two_ranks(*bound, osu, *sizes)
        return float(text.split()[-1]) * 8e6
    options = ["-l", size, "-u", size, "-p", "0", "-n", repeats, "-o", str(out)]
    if row.stream:
        options.insert(0, "-s")
    mca = ["--mca", "pml", "ob1", "--mca", "btl", row.btl]
    on_two_ranks("--bind-to", "core", *mca, "NPopenmpi", *options)
    _, megabits, seconds = out.read_text().split()[:3]
    return float(megabits) * 2**20 if row.unit == "Gbit/s" else float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", default="", help="only rows whose name has this word")
    parser.add_argument("--duration", type=int, default=DURATION, help="in ms")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--goals", action="store_true", help="rows with a goal alone")
    arguments = parser.parse_args()
    osu = os.environ.get("OSU_BW", "")
    for tool in ("NPopenmpi", f"{MPI}/mpirun", f"{MPI}/mpicc"):
        need(shutil.which(tool), f"{tool} (Debian: netpipe-openmpi, libopenmpi-dev)")
    table = [row for row in rows(osu) if arguments.rows in row.name]
    table = [row for row in table if row.goal or not arguments.goals]
    need(table, "an osu_bw, named by OSU_BW")
    duration = arguments.duration
    program = engines(str(MPI.parent)) / "rail-mpi"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contenders: list[Callable[[Row], None]] = [
            lambda row: row.rail.append(rail_mpi(row, program, duration)),
            lambda row: row.reference.append(run_other(row, folder, duration, osu)),
        ]
        for number in range(arguments.rounds):
            for row in table:
                for contender in contenders[:: 1 if number % 2 else -1]:
                    contender(row)
    show(table, as_json=arguments.json)


def show(table: list[Row], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([{**vars(row), "ratio": row.ratio} for row in table], indent=2))
        return
    print(f"{'':32} {'rail-mpi':>10} {'other':>10}         ratio  spread    goal")
    for row in table:
        mine, other = statistics.median(row.rail), statistics.median(row.reference)
        spread = (max(row.rail) - min(row.rail)) / mine
        print(
            f"{row.name:32} {row.scaled(mine):10.3f} {row.scaled(other):10.3f} {row.unit:6} "
            f"{row.ratio:7.3f} {spread:7.1%} {row.goal or '':>7}"
        )


if __name__ == "__main__":
    main()
