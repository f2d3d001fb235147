"""Hosts that die in the middle of a run: it ends, says what failed and why, and has all the rest.

RAILGAUGE_LOST_HOSTS_TIMES=10 lets a host die ten times in each way.
"""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support import clusterlab, command_line, sshlab
from tests.support.clusterlab import (
    NAMES,
    Cluster,
    come_to_an_end,
    programs,
    signal_programs,
    traffic,
)
from tests.support.sshlab import LabHost

TIMES = int(os.environ.get("RAILGAUGE_LOST_HOSTS_TIMES", "1"))
REPLICATIONS = 2
PAIRS = list(itertools.combinations(NAMES, 2))
# A run without a death takes about half a minute; none may hang.
PATIENCE = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, namespaces: None) -> Iterator[Cluster]:
    with clusterlab.running(tmp_path_factory.mktemp("cluster")) as cluster:
        # Only of the host that dies; a machine that stalls may let it answer later, too.
        cluster.write_config(d="ServerAliveInterval 10")
        yield cluster


@dataclass
class Run:
    """A run in the middle of its measuring, and what became of it."""

    process: subprocess.Popen[str]
    database: Path
    output: str = ""
    rows: list[tuple[str, int, str, str, str]] = field(default_factory=list)

    def end(self) -> None:
        """Wait for its end and read what it stored: link, number, status, code and cause."""
        self.output = self.process.communicate(timeout=PATIENCE)[0]
        self.rows = stored(self.database)

    def failed(self) -> list[tuple[str, int, str, str, str]]:
        return [row for row in self.rows if row[2] == "failed"]


def stored(database: Path) -> list[tuple[str, int, str, str, str]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(
            "SELECT link, number, status, coalesce(error_code, ''), coalesce(error_message, '') "
            "FROM replication JOIN run_case ON run_case.id = run_case_id "
            "JOIN bench_case ON bench_case.id = case_id"
        ).fetchall()
    except sqlite3.OperationalError:
        return []  # not made yet
    finally:
        connection.close()


def railgauge(*arguments: object) -> list[str]:
    return [*command_line.COMMAND, *map(str, arguments)]


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path) -> Iterator[Run]:
    """A run of all pairs, two at a time, with some stored and host d in the middle of the next."""
    hosts = [
        f"  {h.name}: {{address: {h.address}, ssh: host-{h.name}}}" for h in cluster.hosts.values()
    ]
    links = [f"  {source}{target}: {{from: {source}, to: {target}}}" for source, target in PAIRS]
    text = ["railgauge: 1", "name: lost", "concurrency: 2", "test_order: interleaved"]
    text += ["hosts:", *hosts, "links:", *links, "tests:"]
    # Those on d take so long that one is still under way when d dies, even a few seconds late.
    for name, duration in (("near", "1s"), ("far", "4s")):
        of_it = [
            source + target
            for source, target in PAIRS
            if ("d" in (source, target)) == (name == "far")
        ]
        text += [
            f"  - {{name: {name}, engine: tcp, links: [{', '.join(of_it)}], "
            f"set: {{mode: latency, interval: 1ms, duration: {duration}}}, "
            f"replications: {REPLICATIONS}}}"
        ]
    (tmp_path / "plan.yaml").write_text("\n".join(text) + "\n")
    database = tmp_path / "results.db"
    process = command_line.Popen(
        railgauge("run", tmp_path / "plan.yaml", "--db", database),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    for reached in beginnings(cluster.hosts["d"], database):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, reached
        time.sleep(0.01)
    yield Run(process, database)
    process.kill()
    process.communicate()
    for host in cluster.hosts.values():
        cluster.revive(host)


def beginnings(host: LabHost, database: Path) -> Iterator[str]:
    """Yield what is waited for, until a replication has begun on `host` a moment ago."""
    while len(stored(database)) < 4:
        yield "four replications stored"
    before = programs(host, "rail-tcp")
    while not set(programs(host, "rail-tcp")) - set(before):
        yield "another engine"
    sent = traffic(host)
    # Starting an engine takes less: test messages go to and fro.
    while traffic(host) - sent < 100_000:
        yield "test traffic"


def link_down(host: LabHost) -> None:
    host.link("down")


def sshd_killed(host: LabHost) -> None:
    # The listener and the sessions; what they started is left to itself.
    while signal_programs(host, "sshd", signal.SIGKILL):
        time.sleep(0.001)


def power_cut(host: LabHost) -> None:
    for sshd in host.sshds:
        sshlab.kill_tree(sshd.process.pid)


def assert_all_else_was_measured(run: Run) -> None:
    """Check that whatever doesn't concern host d is there, and no number is made up."""
    assert "Traceback" not in run.output, run.output
    assert run.process.returncode == 1, run.output
    measured = {(link, number) for link, number, status, _, _ in run.rows if status != "failed"}
    links = {source + target for source, target in PAIRS if "d" not in (source, target)}
    expected = {(link, number) for link in links for number in range(1, REPLICATIONS + 1)}
    assert {pair for pair in measured if "d" not in pair[0]} == expected, run.output
    assert len(run.rows) == len({row[:2] for row in run.rows})


def assert_nothing_left(cluster: Cluster) -> None:
    for name, host in cluster.hosts.items():
        assert name == "d" or come_to_an_end(host, "rail-"), f"engines are left on {name}"


@pytest.mark.parametrize("time_", range(TIMES))
@pytest.mark.parametrize("die", [link_down, sshd_killed, power_cut])
def test_a_host_that_dies_is_named_and_taken_out_and_the_rest_is_measured(
    cluster: Cluster, run: Run, die: Callable[[LabHost], None], time_: int
) -> None:
    before = {row[:2] for row in stored(run.database)}
    die(cluster.hosts["d"])
    run.end()
    assert_all_else_was_measured(run)
    assert before <= {row[:2] for row in run.rows}
    # One replication was under way on it: that failed, those after it were left out.
    ((link, number, _, code, message),) = run.failed()
    assert "d" in link
    assert code == "host-lost"
    assert message.startswith("d: lost")
    assert f"replication {number}" in run.output
    assert "d: lost" in run.output
    assert "railgauge resume 1" in run.output
    assert_nothing_left(cluster)


@pytest.mark.parametrize("time_", range(TIMES))
def test_a_run_goes_on_after_an_engine_was_stopped(cluster: Cluster, run: Run, time_: int) -> None:
    assert signal_programs(cluster.hosts["d"], "rail-tcp", signal.SIGSTOP)
    run.end()
    assert_all_else_was_measured(run)
    assert len(run.rows) == len(PAIRS) * REPLICATIONS
    assert run.failed()
    for link, number, _, code, message in run.failed():
        assert "d" in link
        assert code and message
        assert f"replication {number}" in run.output
    assert_nothing_left(cluster)
    assert come_to_an_end(cluster.hosts["d"], "rail-")
