"""railgauge in the tasks of a job array of a real Slurm, each a job with nodes of its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.support.slurmlab import SlurmLab

PLAN = """\
railgauge: 1
name: fabric
hosts: {slurm: all}
tests:
  - {name: all, engine: mpi, set: {mode: matrix}}
"""


def test_each_task_of_a_job_array_knows_its_own_nodes(slurm: SlurmLab, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    check = f"{sys.executable} -m railgauge check {tmp_path}/plan.yaml"
    slurm.call(
        *("sbatch", "--array=1-2%1", "--nodes=2", f"--output={tmp_path}/%a", "--wait"),
        f"--wrap={check}",
    )
    deadline = time.monotonic() + 120
    while len(outputs := [path.read_text() for path in tmp_path.glob("[12]")]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert ["2 cases, 20 replications" in text for text in outputs] == [True, True], outputs
