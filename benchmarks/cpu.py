"""rail-cpu beside likwid-bench's peakflops and a matrix product by OpenBLAS, in turn.

Double precision on one thread and on all: medians of each, the ratios of rail-cpu's to the others',
and what rail-cpu says of the clock: operations per cycle at the clock that it measured, of what the
pipelines can do. Then the best of a few launches of every precision and vector unit that the engine
describes and the CPU has. Wants an idle machine: where a core's other hardware thread computes too,
both get a part of the pipelines, and no clock tells that. Needs likwid; OpenBLAS is numpy's.

    python -m benchmarks.cpu [--rounds 15] [--duration 500ms] [--matrix 2048] [--tries 5]
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
from pathlib import Path

from benchmarks.machine import engines, need, output_of
from railgauge.plan.catalogue import load_catalogue

KERNELS = {"avx512": "peakflops_avx512_fma", "avx2": "peakflops_avx_fma", "sse2": "peakflops_sse"}
PRODUCT = """
import sys, time, numpy
n = int(sys.argv[1])
a, b = numpy.random.rand(n, n), numpy.random.rand(n, n)
a @ b
begun = time.perf_counter()
a @ b
print(2 * n**3 / (time.perf_counter() - begun))
"""

Metrics = dict[str, float]


def rail_cpu(program: Path, *options: str) -> tuple[str, Metrics] | None:
    """The vector unit and the metrics; None where the CPU has no such unit."""
    completed = subprocess.run(
        [program, "client", "--json", "--replications=1", "--deadline=60s", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    events = [json.loads(line) for line in completed.stdout.splitlines()]
    if events[-1]["event"] == "error" and events[-1]["code"] == "bad-parameter":
        return None
    completed.check_returncode()
    vector = next(e["client"]["vector"] for e in events if e["event"] == "settings")
    return vector, next(e["metrics"] for e in events if e["event"] == "replication")


def likwid(kernel: str, threads: int, iterations: int) -> float:
    work = f"S0:{20 * threads}kB:{threads}"
    text = output_of(["likwid-bench", "-t", kernel, "-w", work, "-i", str(iterations)])
    match = re.search(r"MFlops/s:\s+([\d.]+)", text)
    assert match, text
    return float(match[1]) * 1e6


def openblas(threads: int, n: int) -> float:
    command = [sys.executable, "-c", PRODUCT, str(n)]
    return float(output_of(command, OPENBLAS_NUM_THREADS=str(threads)))


def beside_others(program: Path, threads: int, arguments: argparse.Namespace) -> None:
    measured: list[Metrics] = []
    flops: list[float] = []
    products: list[float] = []
    options = (f"--threads={threads}", f"--duration={arguments.duration}")
    for _ in range(arguments.rounds):
        measurement = rail_cpu(program, *options)
        assert measurement
        vector, metrics = measurement
        measured.append(metrics)
        flops.append(likwid(KERNELS[vector], threads, arguments.iterations))
        products.append(openblas(threads, arguments.matrix))
    rates = [m["operation_rate"] for m in measured]
    ours_median = statistics.median(rates)
    print(f"\ndouble precision, {vector}, {threads} thread(s), {arguments.rounds} rounds")
    for name, values in (
        ("rail-cpu", rates),
        (f"likwid-bench {KERNELS[vector]}", flops),
        ("OpenBLAS dgemm", products),
    ):
        median = statistics.median(values)
        print(
            f"  {name:36} {median / 1e9:9.2f} GFLOP/s (best {max(values) / 1e9:.2f});"
            f" rail-cpu is {ours_median / median:.3f} of it,"
            f" best of best {max(rates) / max(values):.3f}"
        )
    for metric, scale, unit in (
        ("clock", 1e9, "GHz"),
        ("operations_per_cycle", 1, "op/cycle"),
        ("clock_efficiency", 1, "of the pipelines"),
    ):
        values = [m[metric] / scale for m in measured if metric in m]
        if values:
            print(f"  {metric:36} {statistics.median(values):9.3f} {unit}")


def each_unit(program: Path, arguments: argparse.Namespace) -> None:
    tries = arguments.tries
    print(f"\none thread, best of {tries}      Gop/s       GHz  op/cycle  of the pipelines")
    parameters = load_catalogue().engine("cpu").parameters
    units = [unit for unit in parameters["vector"].choices if unit != "auto"]
    for precision in parameters["precision"].choices:
        for vector in units:
            options = (
                f"--precision={precision}",
                f"--vector={vector}",
                f"--duration={arguments.duration}",
            )
            measured = [
                measurement[1] for _ in range(tries) if (measurement := rail_cpu(program, *options))
            ]
            if not measured:
                continue
            m = max(measured, key=lambda metrics: metrics["operation_rate"])
            efficiency = f"{m['clock_efficiency']:.4f}" if "clock_efficiency" in m else "-"
            print(
                f"{precision:8} {vector:10} {m['operation_rate'] / 1e9:12.2f}"
                f" {m['clock'] / 1e9:9.3f} {m['operations_per_cycle']:9.2f} {efficiency:>17}"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--duration", default="500ms")
    parser.add_argument(
        "--iterations",
        type=int,
        default=400_000,
        help="of likwid's kernel over 20 kB: a third of a second at 80 GFLOP/s",
    )
    parser.add_argument("--matrix", type=int, default=2048, help="rows of OpenBLAS's matrices")
    parser.add_argument("--tries", type=int, default=5, help="launches of each vector unit")
    arguments = parser.parse_args()
    need(shutil.which("likwid-bench"), "likwid-bench (Debian: likwid)")
    program = engines() / "rail-cpu"
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        beside_others(program, threads, arguments)
    each_unit(program, arguments)


if __name__ == "__main__":
    main()
