"""A disk that fills up under rail-disk, the whole way: no number, no file, and a clear word."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.support import command_line
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, lossy, planned

from railgauge.store import Store
from railgauge.store.models import Run as RunRow
from railgauge.store.models import TraceRow

MIB = 1 << 20
PLAN = """\
railgauge: 1
name: full
hosts:
  here: {{address: 127.0.0.1, transport: local}}
tests:
  - name: disk
    engine: disk
    hosts: [here]
    set: {{folder: {folder}, mode: random_write, block: 4KiB, duration: 0.1s}}
    grid: {{size: [{sizes}]}}
    replications: 2
"""


@pytest.fixture
def small(tmp_path: Path, require: Callable[[object, str], None]) -> Iterator[Path]:
    """A file system of 16 MiB."""
    require(os.geteuid() == 0, "root, to mount a small file system")
    with _mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=16m", "none") as place:
        yield place


@contextmanager
def _mounted(place: Path, *options: str) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", *options, str(place)], check=True)
    try:
        yield place
    finally:
        # At once; what else has a hand on it (another mount namespace) lets go later.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def _run(tmp_path: Path, folder: Path, sizes: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "plan.yaml").write_text(PLAN.format(folder=folder, sizes=sizes))
    return command_line.railgauge("run", "plan.yaml", "--db", "measured.db", cwd=tmp_path)


def _rows(tmp_path: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(tmp_path / "measured.db") as database:
        return database.execute(query).fetchall()


def test_a_size_without_room_fails_and_the_others_are_measured(tmp_path: Path, small: Path) -> None:
    completed = _run(tmp_path, small, "4MiB, 64MiB")
    assert completed.returncode == 1, completed.stdout + completed.stderr
    assert "make room" in completed.stdout + completed.stderr
    assert "Traceback" not in completed.stderr
    rows = _rows(tmp_path, "SELECT parameters, status, metric FROM measurement")
    ok = [(json.loads(str(p))["size"], m) for p, status, m in rows if status != "failed"]
    failed = [(json.loads(str(p))["size"], m) for p, status, m in rows if status == "failed"]
    assert {size for size, _ in ok} == {4 * MIB}
    assert {metric for _, metric in ok} >= {"throughput", "iops", "latency_p99"}
    assert failed == [(64 * MIB, None)] * 2
    assert list(small.iterdir()) == []
    assert os.statvfs(small).f_bavail == os.statvfs(small).f_blocks


def test_a_database_that_has_no_room_to_shrink_is_whole_and_shrinks_later(small: Path) -> None:
    path, filler = small / "measured.db", small / "filler"
    with Store.open(str(path)) as store:
        run = store.begin_run(RUN, planned(case(), replications=2), METRICS)
        store.add(run, "stream", case().key, lossy(1), LAUNCH)
        # What a trace of millions of packets takes, and what of that stays.
        with store.writing() as connection:
            connection.execute(update(TraceRow).values(data=os.urandom(2 * MIB)))
            connection.execute(update(RunRow).values(plan_text="x" * 4 * MIB))
    with filler.open("wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(MIB))
    thin = ("db", "thin", "--older-than", "0s", "--db", str(path))
    os.truncate(filler, filler.stat().st_size - 3 * MIB)
    before = path.stat().st_size
    completed = command_line.railgauge(*thin)
    assert completed.returncode == 3, completed.stdout + completed.stderr
    assert "its disk is full" in completed.stderr
    with Store.open(str(path)) as store:
        store.check()
        assert store.traces([run]) == []
    assert path.stat().st_size == before
    filler.unlink()
    completed = command_line.railgauge(*thin)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert path.stat().st_size < before - MIB


def test_a_disk_that_fails_while_it_is_written_gives_no_number(
    tmp_path: Path, small: Path, require: Callable[[object, str], None]
) -> None:
    """Its file system believes to have 64 MiB; what is below has 16."""
    require(Path("/dev/loop-control").exists(), "loop devices")
    require(shutil.which("mkfs.ext4"), "mkfs.ext4 (e2fsprogs)")
    image = small / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    quiet = ["mkfs.ext4", "-q", "-O", "^has_journal", str(image)]
    subprocess.run(quiet, check=True, capture_output=True)
    with _mounted(tmp_path / "thin", "-o", "loop", str(image)) as thin:
        before = sorted(x.name for x in thin.iterdir())
        completed = _run(tmp_path, thin, "40MiB")
        assert completed.returncode == 1, completed.stdout + completed.stderr
        assert str(thin) in completed.stdout + completed.stderr
        rows = _rows(tmp_path, "SELECT status, metric, value FROM measurement")
        assert rows == [("failed", None, None)] * 2
        assert sorted(x.name for x in thin.iterdir()) == before
