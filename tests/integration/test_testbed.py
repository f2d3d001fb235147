"""Testbeds, built and removed for real: hosts that talk, links as asked, and nothing left over."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support import boxes, command_line, sshlab
from tests.support.boxes import Box
from tests.support.build_progress import progress_of_builds

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.engine.deploy import bundle, deploy
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.local import LocalTransport
from railgauge.hosts.transport.netns import NetnsTransport, host_name


@pytest.fixture
def engines() -> str:
    return deploy(LocalTransport("here"), bundle())


def _status(box: Box) -> dict[str, Any]:
    listed = json.loads(box.command("list", "--json").stdout)
    return next(testbed for testbed in listed if testbed["name"] == box.name)


def _list_lines(box: Box) -> str:
    """Return what the list says of this testbed: those of other tests are up, too."""
    lines = iter(box.command("list").stdout.splitlines())
    next(line for line in lines if line.startswith(f"{box.name}: up"))
    return "\n".join(itertools.takewhile(lambda line: line.startswith("  "), lines))


def test_a_plan_measures_a_testbeds_links_by_its_hosts_file(box: Box) -> None:
    box.write(
        "hosts: [a, b, c]\n"
        "links: [{name: slow, between: [a, b], rate: 100Mbit/s}]\n"
        "switches: {s: {hosts: [a, c], rate: 1Gbit/s, ports: {c: {delay: 1ms}}}}\n"
    )
    content = box.up()
    assert content["hosts"]["a"]["netns"] == box.namespace("a")
    assert content["links"] == {
        "slow": {"from": "a", "to": "b", "rate": "100Mbit/s"},
        "b→a": {"from": "b", "to": "a", "rate": "100Mbit/s"},
        "a→c": {"from": "a", "to": "c", "rate": "1Gbit/s", "rtt": "2ms"},
        "c→a": {"from": "c", "to": "a", "rate": "1Gbit/s", "rtt": "2ms"},
    }
    values = boxes.measured(box)
    # No link may be faster or shorter than it was asked to be; how much slower is the machine's.
    # A receiver that begins late finds its buffer full: that comes within its 200 ms, too.
    for link in ("slow", "b→a"):
        assert all(0 < value < 1.2 * 100e6 for value in values[link, "throughput"])
    for link in ("a→c", "c→a"):
        assert all(value >= 2e-3 for value in values[link, "rtt_min"])
    assert min(values["slow", "rtt_min"]) < 2e-3


def test_a_link_loses_exactly_what_its_pattern_says(box: Box, engines: str) -> None:
    box.write(
        "hosts: [a, b]\n"
        "links: [{between: [a, b], mtu: 1400, loss: {list: [3, 50], of: udp, direction: there}}]\n"
    )
    address = box.up()["hosts"]["b"]["address"]
    a, b = (NetnsTransport(name, box.namespace(name)) for name in "ab")
    open_server = ["server", "--open=::", "--port", "5999", "--once", "--json"]
    server = b.start([f"{engines}/rail-udp", *open_server])
    server.read_line(60)
    client = a.start(
        [
            *(f"{engines}/rail-udp", "client", address, "--port", "5999", "--json"),
            *("--count", "100", "--datagram", "1000", "--rate", "8Mbit/s", "--replications", "1"),
        ]
    )
    events = []
    while (line := client.read_line(60)) is not None:
        events.append(json.loads(line))
    assert client.wait(60).status == 0, events
    (metrics,) = (event["metrics"] for event in events if event["event"] == "replication")
    assert metrics["lost_packets"] == 2
    (cable,) = _status(box)["cables"]
    assert (cable["by"], cable["relay"]["running"]) == ("rail-wire", True)
    assert cable["relay"]["left_to_right"]["lost"] == 2
    assert cable["relay"]["left_to_right"]["counted"] >= 100
    assert cable["relay"]["right_to_left"]["lost"] == 0
    for namespace in "ab":
        links = json.loads(sshlab.ip("-j", "-n", box.namespace(namespace), "link"))
        assert {link["ifname"]: link["mtu"] for link in links}["link0"] == 1400
    a.close()
    b.close()


def test_a_relay_that_does_not_answer_has_no_counts(box: Box) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], loss: {every: 1000}}]\n")
    box.up()
    (relay,) = (int(Path(trace).name) for trace in boxes.traces(box.name) if "/proc/" in trace)
    assert "→ 0 passed 0 lost" in _list_lines(box)
    os.kill(relay, signal.SIGSTOP)
    try:
        listing = _list_lines(box)
    finally:
        os.kill(relay, signal.SIGCONT)
    assert "by rail-wire, the relay doesn't answer" in listing
    assert "passed" not in listing
    assert "→ 0 passed 0 lost" in _list_lines(box)


def test_up_says_where_the_engines_of_its_links_are_built(box: Box, tmp_path: Path) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], loss: {every: 1000}}]\n")
    built, failed = progress_of_builds(tmp_path, "testbed", "up", str(box.file))
    assert built == "building the engines on this machine: about half a minute\n"
    # Nothing that runs was built.
    assert "rail-wire" in failed


def test_up_again_says_to_take_it_down_first(box: Box) -> None:
    box.write("hosts: [a]\n")
    box.up()
    again = box.command("up", str(box.file))
    assert again.returncode == 2
    assert f"railgauge testbed down {box.name}" in again.stderr
    assert box.command("down", str(box.file)).stdout == f"{box.name} is down\n"
    assert box.down().returncode == 2


def test_two_testbeds_stand_side_by_side_in_networks_of_their_own(box: Box, tmp_path: Path) -> None:
    other = Box(boxes.new_name(), tmp_path)
    for testbed in (box, other):
        testbed.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    addresses = [box.up()["hosts"]["a"]["address"]]
    try:
        addresses.append(other.up()["hosts"]["a"]["address"])
    finally:
        assert other.down().returncode == 0
    assert len(set(addresses)) == 2
    assert boxes.traces(other.name) == []
    assert _status(box)["state"] == "up"


def test_a_namespace_of_somebody_else_is_left_alone(box: Box) -> None:
    sshlab.ip("netns", "add", box.namespace("b"))
    try:
        box.write("hosts: [a, b]\n")
        completed = box.command("up", str(box.file))
        assert completed.returncode == 3
        assert f"ip netns del {box.namespace('b')}" in completed.stderr
        assert boxes.traces(box.name) == [box.namespace("b")]
    finally:
        sshlab.ip("netns", "del", box.namespace("b"))


def test_a_hosts_file_that_cannot_be_written_leaves_no_testbed(box: Box) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    for file, code, reason in (
        ("/nowhere/hosts.yaml", 2, "there is no folder /nowhere"),
        ("/dev/full", 3, "can't write /dev/full: No space left on device"),
    ):
        completed = box.command("up", str(box.file), "--hosts-out", file)
        assert completed.returncode == code
        assert reason in completed.stderr
        assert boxes.traces(box.name) == []


def test_what_fails_half_way_is_taken_away_again(box: Box) -> None:
    script = 'mount --bind /dev/null /dev/net/tun && exec "$0" "$@"'
    without = replace(box, railgauge=("unshare", "-m", "sh", "-c", script, *command_line.COMMAND))
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], loss: 1%}]\n")
    completed = without.command("up", str(box.file))
    assert completed.returncode == 3
    assert "rail-wire can't make a link: cannot make the device 'link0'" in completed.stderr
    assert boxes.traces(box.name) == []


def _folder_there(box: Box) -> bool:
    return Path("/run/railgauge", box.name).exists()


def _namespace_there(box: Box) -> bool:
    return Path("/run/netns", box.namespace("a")).exists()


def _all_namespaces_there(box: Box) -> bool:
    return Path("/run/netns", box.namespace("s")).exists()


def _relay_there(box: Box) -> bool:
    return any("/proc/" in trace for trace in boxes.traces(box.name))


def _hosts_file_there(box: Box) -> bool:
    return Path("/run/railgauge", box.name, "hosts.yaml").exists()


@pytest.mark.parametrize(
    "moment",
    [_folder_there, _namespace_there, _all_namespaces_there, _relay_there, _hosts_file_there],
)
def test_down_removes_all_that_a_killed_up_had_made(
    box: Box, engines: str, moment: Callable[[Box], bool]
) -> None:
    box.write(
        "hosts: [a, b, c]\n"
        "links: [{between: [a, b], delay: 1ms}, {between: [a, c], loss: 1%}]\n"
        "switches: {s: {hosts: [b, c], rate: 1Gbit/s}}\n"
    )
    up = command_line.Popen([*command_line.COMMAND, "testbed", "up", str(box.file)], text=True)
    while up.poll() is None and not moment(box):
        time.sleep(0.001)
    up.kill()
    up.wait()
    assert box.down().returncode == 0
    assert boxes.traces(box.name) == []


def test_down_ends_what_runs_on_the_hosts(box: Box, process_ends: Callable[[int], bool]) -> None:
    box.write("hosts: [a]\n")
    box.up()
    transport = NetnsTransport("a", box.namespace("a"))
    process = transport.start(["sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done"])
    pid = int(process.read_line(60) or "")
    assert box.down().returncode == 0
    assert process_ends(pid)
    transport.close()


def test_down_refuses_to_end_itself(box: Box) -> None:
    box.write("hosts: [a]\n")
    box.up()
    inside = replace(
        box, railgauge=("ip", "netns", "exec", box.namespace("a"), *command_line.COMMAND)
    )
    completed = inside.down()
    assert completed.returncode == 2
    assert "leave it first" in completed.stderr
    assert _status(box)["state"] == "up"


def test_programs_in_a_namespace_see_its_interfaces_alone(box: Box) -> None:
    box.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    box.up()
    transport = NetnsTransport("a", box.namespace("a"))
    assert run(transport, ["ls", "/sys/class/net"], timeout=60).stdout == "link0\nlo\n"
    process = transport.start(["cat"])
    process.send_line("hello")
    assert process.read_line(60) == "hello"
    process.close_stdin()
    assert process.wait(60).status == 0
    stuck = transport.start(["sleep", "100"])
    stuck.kill()
    assert stuck.wait(60).status == -signal.SIGKILL
    with pytest.raises(EnvironmentFailedError, match="a: can't start 'no-such-program'"):
        transport.start(["no-such-program"])
    transport.close()


def test_a_namespace_that_is_gone_is_told_with_what_to_do(box: Box) -> None:
    transport = NetnsTransport("a", box.namespace("a"))
    with pytest.raises(HostUnreachableError, match="is gone: build it again"):
        transport.start(["true"])
    # What is left where a namespace was mounted is an ordinary file.
    Path("/run/netns").mkdir(exist_ok=True)
    path = Path("/run/netns", box.namespace("a"))
    path.touch()
    try:
        with pytest.raises(HostUnreachableError, match="is gone: build it again"):
            transport.start(["true"])
    finally:
        path.unlink()


@pytest.mark.parametrize("variable", ["OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"])
def test_mpirun_starts_ranks_on_the_hosts_by_the_agent(
    box: Box, require: Callable[[object, str], None], variable: str
) -> None:
    mpirun = _mpirun(4 if variable.startswith("OMPI") else 5)
    require(mpirun, f"an mpirun that knows {variable}")
    box.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    content = box.up()
    first, second = (content["hosts"][name]["address"] for name in "ab")
    environment = {
        **os.environ,
        variable: content["mpi"]["agent"],
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PATH": f"{Path(mpirun).parent}:{os.environ['PATH']}",
    }
    argv = ["ip", "netns", "exec", box.namespace("a"), mpirun, "--host", f"{first},{second}"]
    completed = subprocess.run(
        [*argv, "-n", "2", "--bind-to", "none", "sh", "-c", "ip netns identify $$; uname -n"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    words = completed.stdout.split()
    assert {box.namespace("a"), box.namespace("b"), host_name(box.namespace("b"))} <= set(words)


def _mpirun(version: int) -> str:
    """Return an Open MPI's mpirun of that version, empty if there is none."""
    beside = Path(command_line.COMMAND[0]).parent / "mpirun"
    for candidate in (str(beside), "/usr/bin/mpirun", shutil.which("mpirun") or ""):
        if candidate and Path(candidate).exists():
            argv = [candidate, "--version"]
            output = subprocess.run(argv, capture_output=True, text=True).stdout
            if f"(Open MPI) {version}." in output:
                return candidate
    return ""


def test_the_agent_takes_what_ssh_takes(box: Box) -> None:
    box.write("hosts: [a, b]\n")
    agent = box.up()["mpi"]["agent"]
    argv = [agent, "-x", "-o", "BatchMode=yes", "root@b", "echo", "'one  two';", "exit", "7"]
    completed = subprocess.run(argv, capture_output=True, text=True)
    assert (completed.returncode, completed.stdout) == (7, "one  two\n")
    unknown = subprocess.run([agent, "c", "true"], capture_output=True, text=True)
    assert unknown.returncode == 255
    assert "has no host 'c'" in unknown.stderr
