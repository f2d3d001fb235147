"""Testbeds of an ordinary user: in a user namespace, which a process of theirs holds."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import boxes, command_line, sshlab
from tests.support.boxes import Box
from tests.support.ordinary_user import allowed, become, processes, shared_cache

_numbers = itertools.count()


@pytest.fixture(scope="module")
def cache() -> Iterator[str]:
    with shared_cache() as folder:
        yield folder


@pytest.fixture
def box(cache: str, require: Callable[[object, str], None]) -> Iterator[Box]:
    """A testbed of a user of its own, so that all that user's processes are the test's."""
    require(os.geteuid() == 0, "root, to become an ordinary user")
    user = 200_000 + os.getpid() % 100_000 * 10 + next(_numbers) % 10
    require(allowed(user), "user namespaces for ordinary users")
    home = Path("/tmp", f"railgauge-test-{user}")
    home.mkdir()
    os.chown(home, user, user)
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": ""}
    environment |= {"XDG_CACHE_HOME": cache, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    # make coverage: the folder of its data is root's.
    environment["COVERAGE_PROCESS_CONFIG"] = ""
    (home / "saved").mkdir()
    railgauge = (*become(user, home / "saved"), *command_line.COMMAND)
    box = Box(boxes.new_name(), home, railgauge, environment)
    try:
        yield box
        if (home / ".local/state/railgauge" / box.name).exists():
            assert box.down().returncode == 0
        assert processes(user) == []
        assert boxes.traces(box.name) == []
    finally:
        for pid in processes(user):
            sshlab.kill_tree(pid)
        shutil.rmtree(home)


def test_an_ordinary_user_measures_on_a_testbed_of_their_own(box: Box) -> None:
    box.write(
        "hosts: [a, b, c]\n"
        "links: [{between: [a, b], rate: 100Mbit/s}]\n"
        "switches: {s: {hosts: [a, c]}}\n"
    )
    content = box.up()
    holders = {host["holder"] for host in content["hosts"].values()}
    assert len(holders) == 1
    assert set(sshlab.ip("netns", "list").split()).isdisjoint({box.namespace("a")})
    values = boxes.measured(box)
    # A receiver that begins late finds its buffer full: that comes within its 200 ms, too.
    assert all(0 < value < 1.2 * 100e6 for value in values["a→b", "throughput"])
    assert all(value > 0 for value in values["c→a", "throughput"])
    (listed,) = json.loads(box.command("list", "--json").stdout)
    assert (listed["state"], {listed["holder"]}) == ("up", holders)
    assert box.command("down", "--all").stdout == f"{box.name} is down\n"


def test_a_testbed_whose_holder_was_killed_says_so_and_goes(box: Box) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    sshlab.kill_tree(box.up()["hosts"]["a"]["holder"])
    plan = box.folder / "plan.yaml"
    plan.write_text(
        f"railgauge: 1\nname: x\nhosts_file: {box.hosts_file}\ntests: [{{name: t, engine: udp}}]\n"
    )
    completed = box.run("run", str(plan), "--db", str(box.folder / "db"))
    assert completed.returncode == 3
    assert f"namespace {box.namespace('a')} is gone" in completed.stderr
    assert box.down().returncode == 0


@pytest.mark.parametrize("moment", ["holder", "namespace"])
def test_down_removes_what_a_killed_up_had_made(box: Box, moment: str) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], rate: 1Gbit/s}]\n")
    user = box.folder.stat().st_uid
    up = subprocess.Popen(
        [*box.railgauge, "testbed", "up", str(box.file)], env={**os.environ, **box.environment}
    )
    while up.poll() is None and not _reached(user, box.namespace("a"), moment):
        time.sleep(0.001)
    up.kill()
    up.wait()
    assert box.down().returncode == 0
    assert processes(user) == []


def _reached(user: int, namespace: str, moment: str) -> bool:
    """Tell whether some process of the user is a holder, or sees the namespace."""
    for pid in processes(user):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        in_namespace = Path(f"/proc/{pid}/root/run/netns", namespace).exists()
        if in_namespace if moment == "namespace" else words[:2] == [b"sleep", b"infinity"]:
            return True
    return False


def test_the_mpi_agent_reaches_the_holders_hosts_from_outside(box: Box) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    agent = box.up()["mpi"]["agent"]
    user = box.folder.stat().st_uid
    argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", agent, "b"]
    completed = subprocess.run([*argv, "ip netns identify $$"], capture_output=True, text=True)
    assert completed.stdout.strip() == box.namespace("b"), completed.stderr


def test_delays_in_a_user_namespace_are_rail_wires(box: Box) -> None:
    """Here /dev/net/tun is closed to the user, or open: the wire takes what it may."""
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], loss: {every: 1000}, delay: 1ms}]\n")
    box.up()
    values = boxes.measured(box)
    assert all(value >= 2e-3 for value in values["a→b", "rtt_min"])
    (listed,) = json.loads(box.command("list", "--json").stdout)
    (cable,) = listed["cables"]
    assert cable["relay"]["running"]
    assert cable["relay"]["left_to_right"]["passed"] > 20
    assert "by rail-wire, →" in box.command("list").stdout


def test_an_ordinary_user_calibrates_as_root_does(box: Box) -> None:
    """Rates and what is counted; a machine may disturb them by itself, but nothing is wrong."""
    words = ("retransmits", "udp throughput at 50", "lost", "reordered")
    where = ("--db", str(box.folder / "certificates.db"))
    completed = box.run("calibrate", *(f"--only={word}" for word in words), "--json", *where)
    assert completed.stderr == ""
    rate, *counts = json.loads(completed.stdout)["checks"]
    assert [check["name"].split()[1] for check in counts] == ["lost", "reordered", "retransmits"]
    for check in counts:
        certified = (check["error"], check["conclusion"]) == (0, "certified")
        uncertifiable = check["conclusion"] == "not certifiable here" and check["reason"]
        assert certified or uncertifiable, check
    # Packets were recorded, too; how well the rate is known is the machine's affair.
    assert rate["truth"] is not None or rate["reason"]
    assert rate["conclusion"] != "wrong"
