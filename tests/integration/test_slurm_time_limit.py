"""A run in a job whose time is nearly over, on this machine: no Slurm is needed for that."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.support import command_line
from tests.support.results import select

PLAN = """\
railgauge: 1
name: limited
engines: [nap.yaml]
hosts:
  here: {address: 127.0.0.1, transport: local}
tests:
  - {name: short, engine: nap, set: {seconds: 0}, replications: 2}
  - {name: long, engine: nap, set: {seconds: 600}, replications: 2}
"""
NAP = """\
railgauge_engine: 1
name: nap
summary: Wall time of a sleep
parameters:
  seconds: {type: int, default: 0, min: 0, help: how long}
command: [sleep, "{seconds}"]
metrics:
  wall_time: {unit: s, better: lower, from: wall_time}
"""


def test_what_is_still_under_way_when_time_is_over_is_missing_and_not_failed(
    tmp_path: Path,
) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "nap.yaml").write_text(NAP)
    end = {"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": str(round(time.time()) + 60)}
    result = command_line.railgauge(
        "run", "plan.yaml", "--margin", "30s", cwd=tmp_path, env={**os.environ, **end}
    )
    assert result.returncode == 1, result.stderr
    assert "2 measured, 2 missing" in result.stdout
    assert "stopped for the time limit: 2 missing; go on with: railgauge resume 1" in result.stdout
    assert select(tmp_path, "SELECT state FROM run") == [("interrupted",)]
    assert select(tmp_path, "SELECT count(*) FROM replication WHERE status = 'failed'") == [(0,)]


def test_no_job_follows_one_that_the_plans_budget_ended(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("engines:", "budget: 20s\nengines:"))
    (tmp_path / "nap.yaml").write_text(NAP)
    result = command_line.railgauge("submit", "--inside", "plan.yaml", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    assert "stopped for the time limit: 2 missing" in result.stdout
    assert list(tmp_path.glob("*.slurm.sh")) == []
