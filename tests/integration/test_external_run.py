"""Other people's programs in real runs between namespaces: pairs, MPI jobs, what is absent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import command_line
from tests.support.boxes import Box, new_name
from tests.support.results import select

TESTBED = """\
hosts: [n1, n2]
switches: {lan: {hosts: [n1, n2], rate: 100Mbit/s}}
"""
# Sends as many bytes as asked for over TCP, or fails as asked.
PAIR = """\
railgauge_engine: 1
name: pair
summary: Bytes over TCP, as a script of twenty lines sends them
version: [python3, --version]
program: [python3, "{tool}"]
parameters:
  bytes: {type: size, default: 10kB}
  tool: {type: text, default: sh}
  how: {type: choice, choices: [well, badly, oddly], default: well}
server:
  - python3
  - -c
  - |
    import socket, sys
    s = socket.create_server(("", int(sys.argv[1])))
    while True:
        c, _ = s.accept()
        total = 0
        while data := c.recv(65536):
            total += len(data)
        c.sendall(b"%d" % total)
        c.close()
  - "{port}"
client: [python3, client.py, "{server}", "{port}", "{bytes}", "{how}"]
env: {PAIR_SENT_BY: "{client}"}
files:
  client.py: |
    import json, os, socket, sys
    c = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    c.sendall(b"x" * int(sys.argv[3]))
    c.shutdown(socket.SHUT_WR)
    out = {{"got": int(c.recv(99)), "by": os.environ["PAIR_SENT_BY"], "from": c.getsockname()[0]}}
    if sys.argv[4] == "badly":
        out["error"] = "told to fail"
    if sys.argv[4] == "oddly":
        out["got"] = None
    assert out["by"] == out["from"]
    open("result.json", "w").write(json.dumps(out))
output: {file: result.json}
metrics:
  arrived: {unit: B, better: higher, json: got}
  wall_time: {unit: s, better: lower, from: wall_time}
failed: {json: error}
"""
RANKS = """\
railgauge_engine: 1
name: ranks
summary: What an MPI program of ours prints
program: ["{program}"]
parameters:
  program: {type: text}
  what: {type: choice, choices: [count, wait], default: count}
  ranks_per_host: {type: int, default: 1}
mpi: MPI
command: ["{program}", "{what}"]
env: {RANKS_ENV: "17"}
metrics:
  ranks: {unit: "", better: neither, regex: '(?m)^ranks (\\d+)$'}
  sum: {unit: "", better: neither, regex: 'env (\\d+)', match: sum}
"""
PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        printf("ranks %d\\n", ranks);
    printf("env %s\\n", getenv("RANKS_ENV"));
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    while (argc > 1 && strcmp(argv[1], "wait") == 0)
        pause();
    return MPI_Finalize();
}
"""
PLAN = """\
railgauge: 1
name: others
hosts_file: {hosts}
engines: [{engines}]
tests:
{tests}"""


@pytest.fixture(scope="module")
def box(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Iterator[Box]:
    """Two hosts on one switch."""
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    testbed = Box(new_name(), tmp_path_factory.mktemp("box"))
    testbed.write(TESTBED)
    try:
        testbed.up()
        yield testbed
    finally:
        testbed.down()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a plan and its database, and one below it for working folders: none is left."""
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "work"))
    yield tmp_path
    wait_for(lambda: not [*(tmp_path / "work").glob("railgauge-*")])


def start(folder: Path) -> subprocess.Popen[str]:
    return command_line.Popen(
        [*command_line.COMMAND, "run", "plan.yaml"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    """Kill the controller as soon as the condition holds, which has to be before it ends."""
    assert process.stderr
    try:
        wait_for(lambda: process.poll() is not None or condition(), 120)
        assert process.poll() is None, process.stderr.read()
    finally:
        process.kill()
        process.wait(timeout=30)
        process.stderr.close()


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def write_plan(box: Box, folder: Path, engines: dict[str, str], *tests: dict[str, Any]) -> None:
    for name, text in engines.items():
        (folder / name).write_text(text)
    lines = "".join(f"  - {json.dumps(definition)}\n" for definition in tests)
    text = PLAN.format(hosts=box.hosts_file, engines=", ".join(engines), tests=lines)
    (folder / "plan.yaml").write_text(text)


def railgauge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, cwd=folder)


def running_in(box: Box) -> list[str]:
    """The programs that run in the testbed's hosts."""
    names = []
    for host in ("n1", "n2"):
        pids = subprocess.run(
            ["ip", "netns", "pids", box.namespace(host)], capture_output=True, text=True, check=True
        ).stdout.split()
        for pid in pids:
            try:
                names.append(Path(f"/proc/{pid}/comm").read_text().strip())
            except OSError:
                continue
    return [name for name in names if name not in ("rail-wire",)]


LINK = "n1→n2"


def test_a_pair_measures_a_link_with_a_fresh_server_each_time(box: Box, folder: Path) -> None:
    write_plan(
        box,
        folder,
        {"pair.yaml": PAIR},
        {
            "name": "sizes",
            "engine": "pair",
            "links": [LINK],
            "replications": 2,
            "grid": {"bytes": ["10kB", "300kB"]},
            "system_log": {"interval": "100ms"},
        },
    )
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    arrived = select(
        folder,
        "SELECT json_extract(parameters, '$.bytes'), value, client_host, server_host "
        "FROM measurement WHERE metric = 'arrived' ORDER BY value",
    )
    assert arrived == [(size, float(size), "n1", "n2") for size in (10_000,) * 2 + (300_000,) * 2]
    facts = select(folder, "SELECT host, value FROM host_fact WHERE name = 'engine_pair'")
    assert {host for host, _ in facts} == {"n1", "n2"}
    assert all(value.startswith("Python 3") for _, value in facts)
    # Both ends have a log of each replication, with at least the bytes that went over the link.
    counted = select(
        folder,
        "SELECT log.host, log.number, max(rx_bytes + tx_bytes) FROM log "
        "JOIN interface_log AS one ON one.log_id = log.id WHERE phase = 'replication' "
        "GROUP BY log.id",
    )
    assert sorted((host, number) for host, number, _ in counted) == sorted(
        (host, number) for host in ("n1", "n2") for number in (1, 2) for _ in range(2)
    )
    assert sum(total > 300_000 for _, _, total in counted) == 4
    wait_for(lambda: not running_in(box))


def test_what_a_program_says_of_its_failure_is_kept(box: Box, folder: Path) -> None:
    write_plan(
        box,
        folder,
        {"pair.yaml": PAIR},
        {
            "name": "failing",
            "engine": "pair",
            "links": [LINK],
            "replications": 1,
            "grid": {"how": ["well", "badly", "oddly"]},
        },
    )
    assert railgauge(folder, "run", "plan.yaml").returncode == 1
    causes = select(
        folder,
        "SELECT error_code, error_message FROM replication WHERE status = 'failed' ORDER BY 1",
    )
    assert [code for code, _ in causes] == ["command-failed", "output"]
    assert "told to fail" in causes[0][1]
    assert "JSON got is 'null', which is no number; it begins: '{\"got\": null" in causes[1][1]


def test_what_lacks_its_program_is_skipped_until_it_is_there(box: Box, folder: Path) -> None:
    tool = folder / "tool"
    write_plan(
        box,
        folder,
        {"pair.yaml": PAIR},
        {
            "name": "t",
            "engine": "pair",
            "links": [LINK],
            "replications": 2,
            "grid": {"tool": ["sh", str(tool)]},
        },
    )
    reason = f"{tool} isn't on n1, n2"
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "2 measured" in completed.stdout
    assert f"1 case skipped: {reason}" in completed.stdout
    skipped = "SELECT skipped FROM run_case WHERE skipped IS NOT NULL"
    assert select(folder, skipped) == [(reason,)]
    assert railgauge(folder, "resume", "1").returncode == 0
    assert select(folder, skipped) == [(reason,)]
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    completed = railgauge(folder, "resume", "1")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "skipped" not in completed.stdout
    assert select(folder, skipped) == []
    assert select(folder, "SELECT count(*) FROM measurement WHERE metric = 'arrived'") == [(4,)]


def test_what_a_host_does_not_fulfil_is_skipped_until_it_does(box: Box, folder: Path) -> None:
    flag = folder / "flag"
    requires = f"requires: [sh, -c, 'echo begun; test -e {flag} || {{ echo no flag; false; }}']\n"
    test = {"name": "t", "engine": "pair", "links": [LINK], "replications": 1}
    write_plan(box, folder, {"pair.yaml": PAIR + requires}, test)
    reason = "what pair requires fails (no flag) on n1, n2"
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert f"1 case skipped: {reason}" in completed.stdout
    assert select(folder, "SELECT skipped FROM run_case") == [(reason,)]
    flag.touch()
    completed = railgauge(folder, "resume", "1")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert select(folder, "SELECT skipped FROM run_case") == [(None,)]
    assert select(folder, "SELECT count(*) FROM measurement WHERE metric = 'arrived'") == [(1,)]


def test_check_asks_no_host_for_programs(box: Box, folder: Path) -> None:
    write_plan(
        box, folder, {"pair.yaml": PAIR}, {"name": "t", "engine": "pair", "set": {"tool": "none"}}
    )
    assert railgauge(folder, "check", "plan.yaml").returncode == 0


def test_a_controller_that_is_killed_leaves_no_server(box: Box, folder: Path) -> None:
    slow = PAIR.replace('c.sendall(b"x"', 'import time; time.sleep(60); c.sendall(b"x"')
    write_plan(box, folder, {"pair.yaml": slow}, {"name": "t", "engine": "pair", "links": [LINK]})
    kill_when(start(folder), lambda: [*(folder / "work").glob("railgauge-work*/client.py")])
    wait_for(lambda: not running_in(box))


def test_iperf3_measures_what_the_link_carries(
    box: Box,
    folder: Path,
    paced: Callable[..., object],
    require: Callable[[object, str], None],
) -> None:
    require(shutil.which("iperf3"), "iperf3")
    test = {"name": "i", "engine": "iperf3", "links": [LINK], "replications": 2}
    write_plan(box, folder, {}, {**test, "set": {"duration": "1s"}})

    def measure() -> list[float]:
        completed = railgauge(folder, "run", "plan.yaml")
        assert completed.returncode == 0, completed.stdout + completed.stderr
        last = "metric = 'throughput' AND run = (SELECT max(id) FROM run)"
        rates = [rate for (rate,) in select(folder, f"SELECT value FROM measurement WHERE {last}")]
        assert len(rates) == 2
        assert all(0 < rate < 1e9 for rate in rates), rates
        return rates

    # What of 100 Mbit/s on the wire are a stream's own bytes; the relay's buffer comes early.
    paced(measure, lambda rates: all(80e6 < rate < 105e6 for rate in rates))


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]) -> Path:
    """An MPI program built with the mpicc in PATH."""
    require(shutil.which("mpicc"), "Open MPI (libopenmpi-dev)")
    folder = tmp_path_factory.mktemp("mpi")
    (folder / "ranks.c").write_text(PROGRAM)
    subprocess.run(["mpicc", folder / "ranks.c", "-o", folder / "ranks"], check=True)
    return folder / "ranks"


@pytest.mark.parametrize(
    ("place", "ranks_per_host", "where", "count"),
    [
        ("links", 1, {"links": [LINK]}, 2),
        ("groups", 2, {}, 4),
        ("hosts", 2, {"hosts": ["n2"]}, 2),
    ],
)
def test_an_mpi_program_runs_a_rank_or_more_on_each_host(
    box: Box,
    folder: Path,
    ranks: Path,
    place: str,
    ranks_per_host: int,
    where: dict[str, Any],
    count: int,
) -> None:
    write_plan(
        box,
        folder,
        {"ranks.yaml": RANKS.replace("mpi: MPI", f"mpi: {place}")},
        {
            "name": "r",
            "engine": "ranks",
            "replications": 2,
            "set": {"program": str(ranks), "ranks_per_host": ranks_per_host},
            "system_log": {"interval": "100ms"},
            **where,
        },
    )
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    values = "SELECT value FROM measurement WHERE metric = '{}'"
    assert select(folder, values.format("ranks")) == [(count,)] * 2
    assert select(folder, values.format("sum")) == [(17 * count,)] * 2


def test_an_mpi_program_ends_with_its_controller(box: Box, folder: Path, ranks: Path) -> None:
    write_plan(
        box,
        folder,
        {"ranks.yaml": RANKS.replace("mpi: MPI", "mpi: links")},
        {
            "name": "r",
            "engine": "ranks",
            "links": [LINK],
            "set": {"program": str(ranks), "what": "wait"},
        },
    )
    kill_when(start(folder), lambda: running_in(box).count("ranks") == 2)
    wait_for(lambda: not running_in(box))
