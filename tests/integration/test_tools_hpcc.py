"""Debian's hpcc in a real plan, two ranks between two network namespaces."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.boxes import Box, new_name, traces

PLAN = """\
railgauge: 1
name: tools
hosts_file: {hosts}
tests:
  - {{name: hpcc, engine: hpcc, groups: [all], replications: 1, set: {{n: 300}}}}
"""


@pytest.fixture
def box(tmp_path: Path, require: Callable[[object, str], None]) -> Iterator[Box]:
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(shutil.which("hpcc"), "hpcc")
    require(shutil.which("mpirun"), "Open MPI (openmpi-bin)")
    testbed = Box(new_name(), tmp_path)
    testbed.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    try:
        testbed.up()
        yield testbed
    finally:
        testbed.down()
        assert traces(testbed.name) == []


def test_hpccs_figures_come_out_of_its_file(box: Box) -> None:
    plan, database = box.folder / "plan.yaml", box.folder / "railgauge.db"
    plan.write_text(PLAN.format(hosts=box.hosts_file))
    completed = box.run("run", str(plan), "--db", str(database))
    assert completed.returncode == 0, completed.stdout + completed.stderr
    with sqlite3.connect(database) as connection:
        values = dict(connection.execute("SELECT metric, value FROM measurement").fetchall())
    # What HPL counts: two thirds of N's cube and three halves of its square.
    operations = 2 / 3 * 300**3 + 3 / 2 * 300**2
    assert values["operation_rate"] * values["solve_time"] == pytest.approx(operations, rel=0.01)
    for metric in ("dgemm", "single_dgemm", "fft", "triad", "copy", "transpose"):
        assert 1e5 < values[metric] < 1e13, metric
    assert 1e-7 < values["ring_latency"] < 1
    assert 1e5 < values["ring_throughput"] < 1e13
    assert 1e-7 < values["ping_pong_latency"] < 1
    assert 1e5 < values["ping_pong_throughput"] < 1e13
