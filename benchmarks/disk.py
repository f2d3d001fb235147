"""rail-disk beside fio: files made alike, blocks and queue depths, taken in turn; medians.

Ratios are medians of the rounds' own.

Both measure by turns, in changing order, each in a new file without a name in the same folder: its
space set aside, random data written in order, and synchronized, as rail-disk does. fio is given one
made so, as a file's age and layout make more of a difference on a virtual disk than the tools do:
over one and the same file they were equal (0.94 to 1.09), while fio in files that it laid out
itself seemed a third faster. Past the page cache they measure only after `--before` seconds of the
same, as a device is busy with what was just laid out, and for a while; through it, one pass over
the file that begins with nothing of it in the cache, a write's up to the end of its fsync. fio's
percentiles are of its clat for psync and of its lat for io_uring: its clat leaves out the time in
which an operation is handed to the kernel, ours doesn't. CPU time is what each tool counts: fio's
leaves out io_uring's helpers in the kernel, which do the buffered writes, ours doesn't.
Small blocks are
written with new random data each time by both, which fio does only when asked.

    python -m benchmarks.disk [--folder .] [--size 512] [--rounds 5] [--seconds 4]
        [--before 10] [--only WORD] [--goals]

Needs fio (Debian: fio). The exit code is 0 unless something failed to run; a ratio off the goal
(within 3 %, no more CPU time) is marked.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import engines, need

NAMES = ("throughput", "p50", "p99", "cpu")
GOAL = 0.03
SMALL = "4k"
PIECE = 1 << 20  # bytes written at once in making a file; its size is a multiple
IO_URING_TIMES = ("--lat_percentiles=1", "--clat_percentiles=0")
FIO_MODES = {
    "read": "read",
    "write": "write",
    "random_read": "randread",
    "random_write": "randwrite",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What both tools are asked to do."""

    mode: str
    block: str
    io: str
    depth: int
    direct: bool

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return "write" in self.mode

    def __str__(self) -> str:
        how = "direct" if self.direct else "buffered"
        return f"{self.mode:12} {self.block:>4} {self.io:8} depth {self.depth:<2} {how:8}"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and for how long."""

    engine: Path
    folder: Path
    size: str  # in M: fio takes MiB for 10^6 bytes
    seconds: float
    before: float  # s of the same after the layout that aren't measured
    cpu: int

    def run(self, *argv: object) -> str:
        """Return what a program prints; it must succeed."""
        words = [str(word) for word in argv]
        completed = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if completed.returncode:
            raise SystemExit(f"{words[0]} failed: {completed.stdout}{completed.stderr}")
        return completed.stdout

    def rail_disk(self, setting: Setting) -> dict[str, float]:
        """Measure by rail-disk: the last replication."""
        lines = self.run(
            *(self.engine, "client", "--json", f"--folder={self.folder}"),
            f"--replications={1 + math.ceil(self.before / self.seconds) if setting.direct else 1}",
            *(f"--mode={setting.mode}", f"--block={setting.block}", f"--io={setting.io}"),
            *(f"--depth={setting.depth}", f"--direct={str(setting.direct).lower()}"),
            *(f"--size={self.size}", f"--cpus={self.cpu}"),
            f"--duration={self.seconds if setting.direct else 0}s",
            *(["--fsync=end"] if setting.writes and not setting.direct else []),
        ).splitlines()
        events: list[dict[str, Any]] = [json.loads(line) for line in lines]
        metrics = [e["metrics"] for e in events if e["event"] == "replication"][-1]
        return {
            "throughput": metrics["throughput"],
            "p50": metrics["latency_p50"],
            "p99": metrics["latency_p99"],
            "cpu": metrics["cpu_per_io"],
        }

    def fio(self, setting: Setting) -> dict[str, float]:
        """Measure once by fio, in a file that is made as rail-disk makes its own."""
        ms = math.ceil(1e3 * self.seconds)  # fio leaves out what comes after a point
        bound = ("--time_based", f"--runtime={ms}ms", f"--ramp_time={round(1e3 * self.before)}ms")
        with scratch_file(self.folder, int(self.size.removesuffix("M")) << 20) as path:
            text = self.run(
                *("fio", "--name=bench", f"--filename={path}", f"--size={self.size}"),
                *(f"--rw={FIO_MODES[setting.mode]}", f"--bs={setting.block}", "--overwrite=1"),
                *(f"--ioengine={setting.io}", f"--iodepth={setting.depth}"),
                *(f"--direct={int(setting.direct)}", f"--cpus_allowed={self.cpu}"),
                *("--percentile_list=50:99", "--output-format=json"),
                *(IO_URING_TIMES if setting.io == "io_uring" else ()),
                *(["--end_fsync=1"] if setting.writes and not setting.direct else []),
                *(["--refill_buffers=1"] if setting.writes and setting.block == SMALL else []),
                *(bound if setting.direct else ()),
            )
        return fio_figures(setting, text)


@contextmanager
def scratch_file(folder: Path, size: int) -> Iterator[Path]:
    """Make a file of random data without a name, as engines/disk/scratch.c does; yield its path."""
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
        for offset in range(0, size, PIECE):
            os.pwrite(descriptor, os.urandom(PIECE), offset)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        yield Path(f"/proc/{os.getpid()}/fd/{descriptor}")
    finally:
        os.close(descriptor)


def fio_figures(setting: Setting, text: str) -> dict[str, float]:
    """Return what fio printed of its one job; SystemExit if that isn't a measurement."""
    words, _, _ = text.partition("{")
    job = json.loads(text[len(words) :])["jobs"][0]
    side = job["write" if setting.writes else "read"]
    times = side["lat_ns" if setting.io == "io_uring" else "clat_ns"].get("percentile")
    if "fio: " in words or not times:
        reason = words.strip() or "it finished no operation after its ramp: use more --seconds"
        raise SystemExit(f"fio measured nothing of {setting}: {reason}")
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
    return {
        "throughput": side["bw_bytes"],
        "p50": times["50.000000"] / 1e9,
        "p99": times["99.000000"] / 1e9,
        "cpu": busy / side["total_ios"],
    }


def settings(only: str, *, goals: bool) -> Iterator[Setting]:
    """Yield those whose description has the word; with `goals` direct random writes of 4 KiB."""
    for direct in (True, False):
        for io, depth in (("psync", 1), ("io_uring", 1), ("io_uring", 32)):
            for block, modes in (("1M", ("read", "write")), (SMALL, tuple(FIO_MODES))):
                for mode in modes:
                    setting = Setting(mode, block, io, depth, direct)
                    aimed = direct and block == SMALL and mode == "random_write"
                    if only in str(setting) and (aimed or not goals):
                        yield setting


def row(setting: Setting, rail: Sequence[dict[str, float]], fio: Sequence[dict[str, float]]) -> str:
    """Return a line of medians and their ratios, ours to fio's."""
    cells = []
    for name in NAMES:
        rail_median = statistics.median(trial[name] for trial in rail)
        fio_median = statistics.median(trial[name] for trial in fio)
        # fio counts CPU time in ticks, of which a short trial may have none.
        pairs = [(a[name], b[name]) for a, b in zip(rail, fio, strict=True) if b[name]]
        ratio = statistics.median(a / b for a, b in pairs) if pairs else math.nan
        # More throughput, or less of anything else, is as good.
        worse = 1 - ratio if name == "throughput" else ratio - 1
        scale = 1e6 if name == "throughput" else 1e-6
        off = "*" if worse > (GOAL if name != "cpu" else 0) else " "
        cells.append(f"{rail_median / scale:9.2f} {fio_median / scale:9.2f} {ratio:6.3f}{off}")
    return f"{setting} " + "  ".join(cells)


def main() -> None:
    """Measure all settings and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--size", type=int, default=512, help="of the file, in MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--before", type=float, default=10, help="s that aren't measured")
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--only", default="", help="settings whose line has this word")
    parser.add_argument("--goals", action="store_true", help="4 KiB direct random writes alone")
    options = parser.parse_args()
    need(shutil.which("fio"), "fio (Debian: fio)")
    engine = engines() / "rail-disk"
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        size, times = f"{options.size}M", (options.seconds, options.before)
        bench = Bench(engine, Path(folder), size, *times, options.cpu)
        heads = "  ".join(f"{n:>9} {'fio':>9} {'ratio':>7}" for n in ("MB/s", "p50 us", "p99 us"))
        print(f"{'':46} {heads}  {'CPU us/IO':>9} {'fio':>9} {'ratio':>7}")
        for setting in settings(options.only, goals=options.goals):
            rail: list[dict[str, float]] = []
            fio: list[dict[str, float]] = []
            for number in range(options.rounds):
                contenders = [(rail, bench.rail_disk), (fio, bench.fio)]
                for trials, contender in contenders[:: 1 if number % 2 else -1]:
                    trials.append(contender(setting))
            print(row(setting, rail, fio), flush=True)


if __name__ == "__main__":
    main()
