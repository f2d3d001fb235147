"""Runs on the nodes of a real Slurm: in an allocation, by batch jobs, stopped and gone on."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.results import select
from tests.support.slurmlab import SlurmLab

PLAN = """\
railgauge: 1
name: fabric
hosts: {slurm: all}
links:
  fabric: all-pairs
tests:
  - name: stream
    engine: udp
    set: {mode: stream, duration: 0.2s, rate: 10Mbit/s}
    grid: {datagram: [64, 512, 1460]}
    replications: 2
"""
LONG = PLAN.replace("duration: 0.2s", "duration: 0.5s").replace(
    "replications: 2", "replications: 4"
)
ALL_OF_LONG = 2 * 3 * 4
# Less time to measure than it takes, and much to end in.
SHORT = ("--time=3", "--margin=170s")
NOTHING = "nothing could be measured in this job's time"


class Cluster:
    """railgauge in a folder of its own, with the lab's Slurm, in a job or in none."""

    def __init__(self, slurm: SlurmLab, folder: Path) -> None:
        self.slurm = slurm
        self.folder = folder
        self.job: str | None = None

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return command_line.Popen(
            [*command_line.COMMAND, *arguments],
            cwd=self.folder,
            env={**self.slurm.environment, **({"SLURM_JOB_ID": self.job} if self.job else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=180)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def plan(self, text: str) -> str:
        (self.folder / "plan.yaml").write_text(text)
        return "plan.yaml"

    def query(self, sql: str) -> list[tuple]:
        return select(self.folder, sql)

    def measured(self) -> int:
        try:
            ((count,),) = self.query("SELECT count(*) FROM replication WHERE number > 0")
        except sqlite3.OperationalError:
            return 0
        return count

    def await_measured(self, count: int) -> None:
        deadline = time.monotonic() + 120
        while self.measured() < count:
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.05)

    def output(self) -> str:
        """What the jobs printed."""
        return "\n".join(
            f"== {path.name}\n{path.read_text()}"
            for path in sorted(self.folder.glob("railgauge-*.out"))
        )


@pytest.fixture
def cluster(slurm: SlurmLab, tmp_path: Path) -> Cluster:
    return Cluster(slurm, tmp_path)


def test_the_nodes_of_an_allocation_are_measured(cluster: Cluster) -> None:
    cluster.job = cluster.slurm.allocate()
    completed = cluster.call("run", cluster.plan(PLAN))
    assert completed.returncode == 0, completed.stderr
    assert "node1→node2" in completed.stdout
    assert "12 measured" in completed.stdout
    assert cluster.query(
        "SELECT DISTINCT link, client_host, server_host FROM measurement ORDER BY link"
    ) == [("node1→node2", "node1", "node2"), ("node2→node1", "node2", "node1")]
    assert cluster.query("SELECT name, text FROM run_file") == [
        (
            "slurm nodes",
            "node1:\n  address: 127.0.0.1\n  transport: slurm\n  node: node1\n"
            "node2:\n  address: 127.0.0.1\n  transport: slurm\n  node: node2\n",
        )
    ]


def test_a_run_goes_on_only_where_its_nodes_are(cluster: Cluster) -> None:
    cluster.job = cluster.slurm.allocate()
    run = cluster.start("run", cluster.plan(LONG))
    cluster.await_measured(5)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 130
    cluster.slurm.cancel(cluster.job)
    before = cluster.measured()

    cluster.job = None
    outside = cluster.call("resume", "1")
    assert outside.returncode == 2
    assert "not inside a Slurm allocation" in outside.stderr
    cluster.job = cluster.slurm.allocate("--nodes=1", "--nodelist=node1")
    elsewhere = cluster.call("resume", "1")
    assert elsewhere.returncode == 2
    assert "node2 is not in this allocation" in elsewhere.stderr
    assert "--nodelist=node1,node2" in elsewhere.stderr
    assert cluster.measured() == before
    cluster.slurm.cancel(cluster.job)

    cluster.job = cluster.slurm.allocate()
    again = cluster.call("resume", "1")
    assert again.returncode == 0, again.stderr
    assert cluster.measured() == ALL_OF_LONG


def test_a_job_too_short_for_the_plan_is_followed_by_the_next(cluster: Cluster) -> None:
    arguments = [cluster.plan(LONG), *SHORT]
    for seconds in (20, 40, 80, 120):
        submitted = cluster.call("submit", *arguments, "--nodes=2")
        assert submitted.returncode == 0, submitted.stderr
        cluster.slurm.await_idle(600)
        if cluster.measured() == ALL_OF_LONG:
            break
        # On a machine that stalls the time may be over before anything is measured.
        assert NOTHING in cluster.output()
        arguments = ["--resume=1", "--time=3", f"--margin={180 - seconds}s"]
    assert cluster.query("SELECT id, state FROM run") == [(1, "complete")]
    assert cluster.query(
        "SELECT count(*), sum(status <> 'failed') FROM replication WHERE number > 0"
    ) == [(ALL_OF_LONG, ALL_OF_LONG)]
    jobs = {path: path.read_text() for path in cluster.folder.glob("railgauge-*.out")}
    assert len(jobs) >= 2
    for path, output in jobs.items():
        assert cluster.slurm.state_of(path.stem.rpartition("-")[2]) in ("COMPLETED", "FAILED")
        too_short = "stopped for the time limit: " in output
        assert ("submitted job " in output) == (too_short and NOTHING not in output), output
    assert any("stopped for the time limit: " in output for output in jobs.values())


def test_no_job_follows_one_that_measures_nothing(cluster: Cluster) -> None:
    text = PLAN.replace("duration: 0.2s", "duration: 100s")
    assert cluster.call("submit", cluster.plan(text), "--nodes=2", *SHORT).returncode == 0
    cluster.slurm.await_idle()
    assert NOTHING in cluster.output()
    assert len(list(cluster.folder.glob("railgauge-*.out"))) == 1
    assert cluster.measured() == 0


def test_a_cancelled_job_keeps_what_was_measured(cluster: Cluster) -> None:
    submitted = cluster.call("submit", cluster.plan(LONG), "--nodes=2")
    cluster.await_measured(5)
    job = submitted.stdout.split()[2].rstrip(":")
    cluster.slurm.cancel(job)
    assert cluster.slurm.state_of(job) == "CANCELLED"
    # A step that begins just then fails first: the job has expired.
    assert "go on with: railgauge resume 1" in cluster.output().lower()
    assert cluster.query("SELECT * FROM replication WHERE status = 'failed'") == []
    assert cluster.query("SELECT state FROM run") == [("interrupted",)]
    before = cluster.measured()
    assert 5 <= before < ALL_OF_LONG

    again = cluster.call("submit", "--resume", "1")
    assert again.returncode == 0, again.stderr
    cluster.await_measured(ALL_OF_LONG)
    cluster.slurm.await_idle()
    assert cluster.query("SELECT state FROM run") == [("complete",)]


def test_a_node_that_dies_ends_its_links_and_nothing_else(cluster: Cluster) -> None:
    cluster.job = cluster.slurm.allocate()
    text = LONG + (
        "  - {name: alone, engine: tcp, links: [loop], replications: 1,\n"
        "     set: {duration: 1s, rate: 20Mbit/s}}\n"
    )
    text = text.replace("all-pairs\n", "all-pairs\n  loop: {from: node1, to: node1}\n")
    text = text.replace("engine: udp\n", "engine: udp\n    links: [fabric]\n")
    run = cluster.start("run", cluster.plan(text))
    cluster.await_measured(5)
    cluster.slurm.kill_node("node2")
    out, err = run.communicate(timeout=180)
    assert run.returncode == 1, err
    assert "node2" in out
    failed = cluster.query("SELECT error_code FROM replication WHERE status = 'failed'")
    assert len(failed) <= 1  # it may have been between two replications
    assert cluster.query("SELECT count(*) FROM measurement WHERE test = 'alone'") != [(0,)]


def test_outside_an_allocation_check_and_run_say_where_to_go(cluster: Cluster) -> None:
    for command in ("check", "run"):
        completed = cluster.call(command, cluster.plan(PLAN))
        assert completed.returncode == 2
        assert completed.stderr.startswith("plan.yaml:3:16: this is not inside a Slurm allocation")
        assert "railgauge submit" in completed.stderr


def test_a_dry_run_prints_the_script_and_submits_nothing(cluster: Cluster) -> None:
    completed = cluster.call(
        *("submit", cluster.plan(PLAN), "--nodes=2", "--time=5", "--partition=main", "--dry-run"),
        *("--sbatch-option=--comment=two words", "--account=physics"),
    )
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.splitlines()
    assert lines[0] == "#!/bin/sh"
    for option in ("--nodes=2", "--time=5", "--partition=main", "--account=physics"):
        assert f"#SBATCH {option}" in lines
    assert "#SBATCH '--comment=two words'" in lines
    assert lines[-1].startswith(f"exec {sys.executable} -m railgauge submit --inside ")
    assert cluster.slurm.jobs() == []
    assert [path.name for path in cluster.folder.iterdir()] == ["plan.yaml"]


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (PLAN, (), "say how many by --nodes"),
        (PLAN.replace("udp", "upd"), ("--nodes=2",), "did you mean 'udp'"),
        (PLAN, ("--nodes=2", "--sbatch-option=qos"), "no option of sbatch's"),
        (PLAN, ("--nodes=2", "--partition=nosuch"), "invalid partition"),
        (PLAN, ("--nodes=2", "--margin=soon"), "--margin"),
        (PLAN, ("--resume=1",), "name a plan, or a run"),
    ],
)
def test_what_cannot_be_submitted_is_told(
    cluster: Cluster, text: str, arguments: tuple[str, ...], says: str
) -> None:
    completed = cluster.call("submit", cluster.plan(text), *arguments)
    assert completed.returncode in (2, 3)
    assert says in completed.stderr
    assert "Traceback" not in completed.stderr
    assert cluster.slurm.jobs() == []
