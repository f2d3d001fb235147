"""fio, sysbench and mbw in a real plan on this machine."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.boxes import Box

PLAN = """\
railgauge: 1
name: tools
hosts:
  here: {{address: 127.0.0.1, transport: local}}
tests:
{tests}"""
DISK = """\
  - name: disk
    engine: fio
    replications: 1
    set: {{folder: "{folder}", size: 16MiB, direct: false, duration: 300ms, threads: 2}}
    grid:
      mode: [read, write, random_read, random_write]
      block: [4KiB, 64KiB]
  - name: once
    engine: fio
    replications: 1
    set: {{folder: "{folder}", size: 16MiB, direct: false, duration: 0s, mode: write, fsync: end}}
  - name: nowhere
    engine: fio
    replications: 1
    set: {{folder: "{folder}/nowhere", size: 16MiB}}
"""
REST = """\
  - name: primes
    engine: sysbench_cpu
    replications: 1
    set: {duration: 1s}
    grid: {primes: [1000, 10000]}
  - name: memory
    engine: sysbench_memory
    replications: 1
    set: {duration: 1s, block: 64KiB}
    grid: {mode: [read, write], access: [sequential, random]}
  - {name: copy, engine: mbw, replications: 1, set: {block: 32MiB, count: 3}}
"""


def run(folder: Path, tests: str) -> tuple[int, str]:
    """Run a plan of these tests; return the exit code and what was said."""
    (folder / "plan.yaml").write_text(PLAN.format(tests=tests))
    box = Box("none", folder)
    database = str(folder / "railgauge.db")
    completed = box.run("run", str(folder / "plan.yaml"), "--db", database)
    return completed.returncode, completed.stdout + completed.stderr


def values(folder: Path, test: str, metric: str, like: str = "%") -> list[float]:
    with sqlite3.connect(folder / "railgauge.db") as connection:
        rows = connection.execute(
            "SELECT value FROM measurement WHERE test = ? AND metric = ? AND parameters LIKE ?",
            (test, metric, like),
        ).fetchall()
    return [value for (value,) in rows]


def test_fios_figures_are_of_one_measurement_and_its_files_are_gone(
    tmp_path: Path, paced: Callable[..., object], require: Callable[[object, str], None]
) -> None:
    require(shutil.which("fio"), "fio")

    def measure() -> list[float]:
        return disk_seconds(Path(tempfile.mkdtemp(dir=tmp_path)))

    # A machine that stalls measures for longer than it was asked to.
    paced(measure, lambda seconds: max(seconds) < 0.3 * 1.5)


def disk_seconds(folder: Path) -> list[float]:
    """Check what fio's measurements come to; return how long each took by its figures."""
    scratch = folder / "scratch"
    scratch.mkdir()
    code, output = run(folder, DISK.format(folder=scratch))
    # Only the folder that isn't there fails.
    assert code == 1, output
    assert values(folder, "nowhere", "throughput") == []
    assert "nowhere: No such file or directory" in output
    seconds = []
    for mode in ("read", "write", "random_read", "random_write"):
        for block in (4096, 65536):
            like = f'%"block": {block},%"mode": "{mode}"%'
            (throughput,) = values(folder, "disk", "throughput", like)
            (iops,) = values(folder, "disk", "iops", like)
            (operations,) = values(folder, "disk", "operations", like)
            (octets,) = values(folder, "disk", "bytes", like)
            assert octets == operations * block
            assert throughput == pytest.approx(iops * block, rel=0.01)
            seconds.append(operations / iops)
            (mean,) = values(folder, "disk", "latency_mean", like)
            # Two threads, one operation each under way at a time.
            assert 0 < mean <= 2 / iops * 1.05
            quantiles = [
                values(folder, "disk", f"latency_{name}", like)[0]
                for name in ("p50", "p90", "p99", "p999", "max")
            ]
            assert quantiles[:4] == sorted(quantiles[:4])
            assert mean <= quantiles[4]
    assert values(folder, "once", "bytes") == [16 * 2**20]
    assert list(scratch.iterdir()) == []
    assert min(seconds) > 0.3 / 2
    return seconds


def test_sysbench_and_mbw_tell_what_can_be(
    tmp_path: Path, paced: Callable[..., object], require: Callable[[object, str], None]
) -> None:
    require(shutil.which("sysbench"), "sysbench")
    require(shutil.which("mbw"), "mbw")
    # Ten times the limit are some 21 times the divisions; either may have been without its CPU.
    paced(lambda: rest_ratio(Path(tempfile.mkdtemp(dir=tmp_path))), lambda ratio: 2 < ratio < 400)


def rest_ratio(folder: Path) -> float:
    """Check what the others' figures come to; return how much more often few primes are found."""
    code, output = run(folder, REST)
    assert code == 0, output
    (few,) = values(folder, "primes", "event_rate", '%"primes": 1000,%')
    (many,) = values(folder, "primes", "event_rate", '%"primes": 10000,%')
    (duration,) = values(folder, "primes", "event_time", '%"primes": 10000,%')
    # The rate is of the whole time, in which the one thread may have been without its CPU.
    assert 0.02 < duration * many < 1.05
    for mode in ("read", "write"):
        (throughput,) = values(folder, "memory", "throughput", f'%sequential%"{mode}"%')
        assert 1e6 < throughput < 1e12
    (copied,) = values(folder, "copy", "copied")
    assert values(folder, "copy", "throughput") == [pytest.approx(2 * copied)]
    assert 1e6 < copied < 1e12
    return few / many
