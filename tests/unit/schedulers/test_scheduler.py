"""A second scheduler is a file and its line in the registry: PBS, whose programs are played."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.results import select

from railgauge.schedulers import SCHEDULERS

PLAN = """\
railgauge: 1
name: fabric
hosts: {pbs: all}
links:
  fabric: all-pairs
tests:
  - name: stream
    engine: tcp
    set: {mode: latency}
    grid: {duration: [0.05s]}
    replications: 1
"""
PROGRAMS = {
    "qsub": 'for script; do :; done; cp "$script" "$LAB/submitted"\n'
    'echo "$*" >>"$LAB/qsub"; echo "$RAILGAUGE_DB" >>"$LAB/qsub"; echo 12.head',
    "qstat": 'echo "Job Id: $2"; echo "    Resource_List.walltime = 01:00:10"\n'
    'echo "    resources_used.walltime = 00:30:10"',
    "pbsnodes": 'echo "$1"; echo "     Mom = 127.0.0.1"',
    "pbs_tmrsh": 'echo "$1" >>"$LAB/started"; shift; exec "$@"',
}


class PbsLab:
    """railgauge with PBS in its registry, in a folder of its own; in a job or in none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._variables = {"LAB": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        (folder / "bin").mkdir()
        for name, script in PROGRAMS.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / "bin" / name).chmod(0o755)
        self.plan(PLAN)

    def plan(self, text: str) -> None:
        (self.folder / "plan.yaml").write_text(text)

    def begin_job(self) -> None:
        (self.folder / "nodes").write_text("n1\nn1\nn2\n")
        self._variables |= {"PBS_JOBID": "7.head", "PBS_NODEFILE": str(self.folder / "nodes")}

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(Path(__file__).with_name("pbs.py")), *arguments],
            cwd=self.folder,
            env={**os.environ, **self._variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text().splitlines()

    def query(self, sql: str) -> list[tuple[object, ...]]:
        return select(self.folder, sql)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PbsLab:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "RAILGAUGE_DB"):
        monkeypatch.delenv(name, raising=False)
    return PbsLab(tmp_path)


def test_a_schedulers_name_is_its_key() -> None:
    assert {name: scheduler.name for name, scheduler in SCHEDULERS.items()} == {"slurm": "slurm"}


def test_outside_its_jobs_a_plan_for_its_nodes_says_where_to_go(lab: PbsLab) -> None:
    completed = lab.call("check", "plan.yaml")
    assert completed.returncode == 2
    assert completed.stderr.startswith(
        "plan.yaml:3:14: this is not inside a PBS job: get one first"
    )


def test_its_batch_script_is_shown(lab: PbsLab) -> None:
    completed = lab.call("submit", "plan.yaml", "--nodes=2", "--time=02:00:00", "--dry-run")
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.splitlines()
    assert lines[:4] == [
        "#!/bin/sh",
        "#PBS -N railgauge-fabric",
        "#PBS -l select=2",
        "#PBS -l walltime=02:00:00",
    ]
    assert lines[-1].startswith(f"cd {lab.folder} && exec {sys.executable} -m railgauge submit ")
    assert not (lab.folder / "qsub").exists()


def test_a_plan_for_its_nodes_is_submitted_to_it(lab: PbsLab) -> None:
    completed = lab.call("submit", "plan.yaml", "--nodes=2", "--db=sqlite:///a.db")
    script = lab.folder / "fabric.pbs.sh"
    assert (completed.returncode, completed.stdout) == (0, f"submitted job 12.head: {script}\n")
    assert lab.lines("submitted") == lab.lines("fabric.pbs.sh")
    assert lab.lines("qsub") == [f"-v RAILGAUGE_DB {script}", "sqlite:///a.db"]


def test_hosts_with_its_transport_are_submitted_by_their_nodes(lab: PbsLab) -> None:
    hosts = "{a: {address: n1, transport: pbs}, b: {address: 10.0.0.9, transport: pbs, node: n9}}"
    lab.plan(PLAN.replace("{pbs: all}", hosts))
    completed = lab.call("submit", "plan.yaml", "--dry-run")
    assert "#PBS -l select=1:host=n1+1:host=n9" in completed.stdout.splitlines(), completed.stderr


def test_a_job_of_it_submits_to_it_whatever_the_hosts_are(lab: PbsLab) -> None:
    hosts = "{a: {address: 127.0.0.1, transport: local}, b: {address: 127.0.0.2, ssh: b}}"
    lab.plan(PLAN.replace("{pbs: all}", hosts))
    lab.begin_job()
    assert "#PBS -N railgauge-fabric" in lab.call("submit", "plan.yaml", "--dry-run").stdout


def test_its_nodes_are_measured_until_its_time_is_over_and_then_in_the_next_job(
    lab: PbsLab,
) -> None:
    lab.plan(
        PLAN.replace("[0.05s]", "[0.05s, 1h]").replace("fabric: all-pairs", "a: {from: n1, to: n2}")
    )
    submitted = lab.call("submit", "plan.yaml", "--nodelist=n1,n2")
    assert submitted.returncode == 0, submitted.stderr
    words = shlex.split(lab.lines("submitted")[-1])
    lab.begin_job()
    completed = lab.call(*words[words.index("submit") :])
    assert "1 measured" in completed.stdout, completed.stdout + completed.stderr
    assert "stopped for the time limit: 1 missing" in completed.stdout
    assert set(lab.lines("started")) == {"n1", "n2"}
    assert lab.query("SELECT link, client_host, server_host FROM measurement LIMIT 1") == [
        ("a", "n1", "n2")
    ]
    assert lab.query("SELECT name, text FROM run_file") == [
        (
            "pbs nodes",
            "n1:\n  address: 127.0.0.1\n  transport: pbs\n  node: n1\n"
            "n2:\n  address: 127.0.0.1\n  transport: pbs\n  node: n2\n",
        )
    ]
    assert "submitted job 12.head: " in completed.stdout
    assert "#PBS -l select=1:host=n1+1:host=n2" in lab.lines("submitted")
    assert "--resume=1" in shlex.split(lab.lines("submitted")[-1])


def test_nodes_that_its_job_lacks_are_asked_for(lab: PbsLab) -> None:
    hosts = "{a: {address: n1, transport: pbs}, b: {address: 10.0.0.9, transport: pbs, node: n9}}"
    lab.plan(PLAN.replace("{pbs: all}", hosts))
    lab.begin_job()
    completed = lab.call("run", "plan.yaml")
    assert completed.returncode == 2
    assert "n9 is not in this allocation (job 7.head)" in completed.stderr


def test_a_plan_may_name_any_scheduler_and_no_other(lab: PbsLab) -> None:
    lab.plan(PLAN.replace("{pbs: all}", "{a: {address: n1, transport: lsf}}"))
    assert "'local', 'slurm' or 'pbs' is wanted" in lab.call("check", "plan.yaml").stderr


def test_its_ranks_are_started_by_mpirun_where_it_has_no_launcher(lab: PbsLab) -> None:
    text = PLAN.replace("{pbs: all}", "{a: {address: n1, transport: pbs}, b: {address: b, ssh: b}}")
    text = text.replace("engine: tcp", "engine: mpi").replace("{duration: [0.05s]}", "{}")
    lab.plan(text.replace("{mode: latency}", "{mode: matrix}"))
    assert "fabric: valid" in lab.call("check", "plan.yaml").stdout
    lab.plan(text + "mpi: {launcher: srun}\n")
    refusal = "srun starts no ranks on host 'a', which is not Slurm's: write mpirun"
    assert refusal in lab.call("check", "plan.yaml").stderr
