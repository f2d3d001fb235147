"""The nodes of a Slurm allocation as a plan's hosts, and the time that Slurm says is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from railgauge.base.errors import FileProblems, InputError
from railgauge.plan.load import load_plan, load_plan_text
from railgauge.schedulers import SCHEDULERS, require_nodes
from railgauge.schedulers.slurm import inherited, seconds_of

PLAN = """\
railgauge: 1
name: fabric
hosts: {slurm: all}
links:
  fabric: all-pairs
tests:
  - {name: stream, engine: udp, set: {mode: stream, duration: 1s}}
"""
NODES = """\
c1: {address: 10.0.0.1, transport: slurm, node: c1}
c2: {address: 10.0.0.2, transport: slurm, node: c2}
"""


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    """No test is in an allocation, wherever they run."""
    job = os.environ.pop("SLURM_JOB_ID", None)
    yield
    if job is not None:
        os.environ["SLURM_JOB_ID"] = job


def test_outside_an_allocation_a_plan_for_its_nodes_says_where_to_go(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    with pytest.raises(FileProblems, match=r"plan.yaml:3:16: .*railgauge submit PLAN"):
        load_plan(path)


def test_a_hosts_file_may_mean_the_allocations_nodes(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text("hosts: {slurm: all}\n")
    text = PLAN.replace("hosts: {slurm: all}", "hosts_file: hosts.yaml")
    with pytest.raises(FileProblems, match=r"hosts.yaml:1:16: .*railgauge submit PLAN"):
        load_plan_text(text, "plan", tmp_path)
    assert set(load_plan_text(text, "plan", tmp_path, NODES).plan.hosts) == {"c1", "c2"}


def test_a_run_goes_on_with_the_nodes_it_began_with(tmp_path: Path) -> None:
    loaded = load_plan_text(PLAN, "plan of run 1", tmp_path, NODES)
    assert {name: host.machine for name, host in loaded.plan.hosts.items()} == {
        "c1": "slurm c1",
        "c2": "slurm c2",
    }
    assert set(loaded.plan.links) == {"c1→c2", "c2→c1"}
    assert loaded.nodes == NODES


def test_a_plan_with_hosts_of_its_own_has_no_allocations_nodes(tmp_path: Path) -> None:
    text = PLAN.replace(
        "{slurm: all}", "{a: {address: a, transport: local}, b: {address: b, transport: local}}"
    )
    assert load_plan_text(text, "plan", tmp_path).nodes is None


def test_anything_but_all_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileProblems, match="slurm"):
        load_plan_text(PLAN.replace("all}", "some}"), "plan", tmp_path, NODES)


def test_nodes_are_wanted_outside_an_allocation() -> None:
    slurm = SCHEDULERS["slurm"]
    require_nodes(slurm, [])
    with pytest.raises(InputError, match="--nodelist=c1,c2"):
        require_nodes(slurm, ["c1", "c2", "c1"])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-02:03:04", 93784.0),
        ("2:00:00", 7200.0),
        ("59:30", 3570.0),
        ("0:07", 7.0),
        ("UNLIMITED", None),
        ("INVALID", None),
        ("", None),
    ],
)
def test_the_time_left_is_read_as_slurm_writes_it(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


def test_a_jobs_variables_are_told_from_those_that_lead_to_slurm() -> None:
    names = {"SLURM_CONF": "x", "SLURM_NTASKS": "2", "SRUN_X": "1", "SBATCH_TIME": "1", "HOME": "/"}
    assert inherited(names) == ["SBATCH_TIME", "SLURM_NTASKS", "SRUN_X"]


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("srun: error: Slurm job 2 has expired", True),
        (
            "srun: error: Unable to create step for job 7: Job/step already completing or "
            "completed",
            True,
        ),
        ("slurmstepd: error: *** STEP 7.1 ON n1 CANCELLED AT 2026-03-01T02:00:13 ***", True),
        (
            "slurmstepd: error: *** STEP 7.1 ON n1 CANCELLED AT 2026-03-01T02:00:13 DUE TO TIME "
            "LIMIT ***",
            True,
        ),
        (
            "slurmstepd: error: *** STEP 7.1 ON n1 CANCELLED AT 2026-03-01T02:00:13 DUE TO NODE "
            "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
            False,
        ),
        (
            "srun: error: Unable to create step for job 7: Requested node configuration is not "
            "available",
            False,
        ),
    ],
)
def test_a_jobs_end_is_no_nodes(words: str, ended: bool) -> None:
    assert bool(SCHEDULERS["slurm"].job_ended.search(words)) == ended
