"""rail-mem side by side with likwid-bench, with compiled STREAM loops and with a pointer chase.

Each round runs both contenders once for every row, one after the other and in changing order, so
that what disturbs the machine disturbs both. Rows in memory use 2.4 GB (say --bytes for another
size: four times the last-level cache at least), rows in the second-level cache 1.2 MB. All count
bytes as STREAM does: those that the loop names, without the lines that a plain store reads first.

    python -m benchmarks.mem [--rounds 7] [--rows WORD] [--bytes 2400000000] [--seconds 0.5]
        [--json] [--goals]

likwid-bench comes with Debian's likwid. STREAM and pmbw aren't in Debian: mem_stream.c has
STREAM's loops for the compiler at -O3, whose copy may become a call of the C library's memcpy;
mem_permread.c has the access pattern of pmbw's PermReadSimpleLoop. A ratio is the median of the
rounds' own, above 1 where ours is better.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import engines, need, output_of

HERE = Path(__file__).resolve().parent
ARRAYS = {"read": 1, "copy": 2, "triad": 3, "latency": 1}
IN_CACHE = 1_200_000
BLOCKS = (192, 250, 256, 257, 384)  # MiB of each array: a spacing that collides is slower
LATENCY_BYTES = 64 << 20


@dataclass
class Row:
    """One thing to compare. Values are byte/s (higher is better) or seconds (lower is)."""

    mode: str
    where: str
    threads: int
    size: int
    other: str  # likwid's test, "stream" or "permread"
    options: tuple[str, ...] = ()
    goal: float | None = None  # of the ratio
    rail: list[float] = field(default_factory=list)
    reference: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return " ".join([self.mode, *self.options, self.where, f"{self.threads}t", self.other])

    @property
    def ratio(self) -> float:
        pairs = zip(self.rail, self.reference, strict=True)
        better = [b / a if self.mode == "latency" else a / b for a, b in pairs]
        return statistics.median(better)

    def text(self, values: list[float]) -> str:
        middle = statistics.median(values)
        return f"{middle * 1e9:.2f} ns" if self.mode == "latency" else f"{middle / 1e9:.2f} GB/s"


def suffix() -> str:
    flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    return "avx512" if " avx512f " in flags else "avx"


def rows(size: int) -> list[Row]:
    unit = suffix()
    table = []
    past = ("--nontemporal=true",)
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        goal = 1.0 if threads == 1 else None
        for where, total in (("memory", size), ("L2", IN_CACHE * threads)):
            table += [
                Row("read", where, threads, total, f"load_{unit}"),
                Row("copy", where, threads, total, f"copy_{unit}"),
                Row("triad", where, threads, total, f"stream_{unit}"),
            ]
        table += [
            Row("copy", "memory", threads, size, f"copy_mem_{unit}", past, goal),
            Row("triad", "memory", threads, size, f"stream_mem_{unit}", past),
            Row("copy", "memory", threads, size, "stream", (), goal),
            Row("copy", "memory", threads, size, "stream", past),
            Row("triad", "memory", threads, size, "stream"),
        ]
    for mib in BLOCKS:
        table.append(Row("triad", f"{mib}MiB", 1, 3 * mib << 20, "stream", (), 1.0))
    table += [
        Row("latency", where, 1, total, "permread", (f"--stride={stride}",))
        for where, total in (("L1", 16 << 10), ("L2", 1 << 20), ("64MiB", LATENCY_BYTES))
        for stride in (8, 64)
    ]
    return table


def rail_mem(row: Row, program: Path, seconds: float) -> float:
    step = 64 * row.threads * ARRAYS[row.mode]
    block = row.size // step * step // row.threads // ARRAYS[row.mode]
    options = [f"--mode={row.mode}", f"--block={block}", f"--threads={row.threads}"]
    options += [f"--duration={seconds}s", "--replications=1", "--json", *row.options]
    text = output_of([str(program), "client", *options])
    (metrics,) = (
        event["metrics"]
        for event in map(json.loads, text.splitlines())
        if event["event"] == "replication"
    )
    return float(metrics["latency" if row.mode == "latency" else "throughput"])


def run_other(row: Row, folder: Path, seconds: float) -> float:
    if row.other == "permread":
        stride = row.options[0].partition("=")[2]
        command = [str(folder / "mem_permread"), str(row.size), stride, str(seconds)]
        return float(output_of(command))
    if row.other == "stream":
        environment = {"OMP_NUM_THREADS": str(row.threads), "OMP_PROC_BIND": "true"}
        command = [str(folder / "mem_stream"), row.mode, str(row.size), "4"]
        return float(output_of(command, **environment))
    # Its own least duration is a second, of which it finds out first how often to repeat.
    group = f"N:{row.size // 1000}kB:{row.threads}"
    text = output_of(["likwid-bench", "-t", row.other, "-w", group, "-s", "1"])
    match = re.search(r"MByte/s:\s+([0-9.]+)", text)
    if match is None:
        sys.exit(f"likwid-bench -t {row.other} printed no MByte/s:\n{text[-1500:]}")
    return float(match[1]) * 1e6


def build(folder: Path) -> None:
    for name in ("mem_stream", "mem_permread"):
        flags = ["-O3", "-march=native", "-fopenmp"] if name == "mem_stream" else ["-O2"]
        command = [os.environ.get("CC", "cc"), *flags, "-o", str(folder / name)]
        subprocess.run([*command, str(HERE / f"{name}.c")], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", default="", help="only rows whose name has this word")
    parser.add_argument("--bytes", type=int, default=2_400_000_000)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--goals", action="store_true", help="rows with a goal alone")
    arguments = parser.parse_args()
    need(shutil.which("likwid-bench"), "likwid-bench (Debian: likwid)")
    table = [row for row in rows(arguments.bytes) if arguments.rows in row.name]
    table = [row for row in table if row.goal or not arguments.goals]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        program = engines() / "rail-mem"
        for number in range(arguments.rounds):
            for row in table:
                contenders = [(row.rail, rail_mem, program), (row.reference, run_other, folder)]
                for values, contender, where in contenders[:: 1 if number % 2 else -1]:
                    values.append(contender(row, where, arguments.seconds))
                print(
                    f"{number + 1}/{arguments.rounds} {row.name}: {row.rail[-1]:.4g} against "
                    f"{row.reference[-1]:.4g}",
                    file=sys.stderr,
                )
    show(table, as_json=arguments.json)


def show(table: list[Row], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([{**vars(row), "ratio": row.ratio} for row in table], indent=2))
        return
    print(f"{'':52} {'rail-mem':>13} {'other':>13}  ratio  spread    goal")
    for row in table:
        spread = (max(row.rail) - min(row.rail)) / statistics.median(row.rail)
        print(
            f"{row.name:52} {row.text(row.rail):>13} {row.text(row.reference):>13} "
            f"{row.ratio:6.3f} {spread:7.1%} {row.goal or '':>7}"
        )


if __name__ == "__main__":
    main()
