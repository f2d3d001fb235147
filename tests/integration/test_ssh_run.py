"""A whole plan over two hosts behind real sshds: real traffic over a real link, end to end."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.foreign import TwoSleeps
from tests.support.sshlab import PORT, Lab, LabHost, ip

from railgauge.run.job import Request
from railgauge.run.pipeline import arrange, expand, read
from railgauge.run.progress import PlainProgress
from railgauge.run.reaching import reach
from railgauge.store import Store

CASES = {
    "udp-stream": ("udp", "mode: stream", "throughput"),
    "udp-latency": ("udp", "mode: latency", "rtt_p50"),
    "tcp-stream": ("tcp", "mode: stream", "throughput"),
    "tcp-latency": ("tcp", "mode: latency, message: 64", "rtt_p50"),
}
REPLICATIONS = 10


def railgauge(*arguments: object) -> list[str]:
    return [*command_line.COMMAND, *map(str, arguments)]


def write_plan(path: Path, lab: Lab, *, length: str = "count: 100", six: bool = False) -> None:
    """Write a plan of four cases from host A to host B."""
    hosts = {
        host.name: f"{{address: '{host.address6 if six else host.address}', ssh: host-{host.name}}}"
        for host in (lab.a, lab.b)
    }
    tests = [
        f"  - {{name: {name}, engine: {engine}, set: {{{settings}, {length}}}, "
        f"replications: {REPLICATIONS}}}"
        for name, (engine, settings, _) in CASES.items()
    ]
    lines = ["railgauge: 1", "name: over-ssh", "hosts:"]
    lines += [f"  {name}: {host}" for name, host in hosts.items()]
    lines += ["links: {'a→b': {from: a, to: b}}", "tests:", *tests]
    path.write_text("\n".join(lines) + "\n")


def rows(database: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def assert_complete(database: Path) -> None:
    """Check that each of the four cases has its replications, each with a number."""
    for name, (_, _, metric) in CASES.items():
        measurements = rows(
            database,
            "SELECT replication, value, status FROM measurement WHERE test = ? AND metric = ? "
            "ORDER BY replication",
            name,
            metric,
        )
        assert [number for number, _, _ in measurements] == list(range(1, REPLICATIONS + 1)), name
        assert all(status != "failed" for _, _, status in measurements), name
        assert all(isinstance(value, float) and value > 0 for _, value, _ in measurements), name


def engines_on(host: LabHost) -> list[int]:
    """Return the engines that run on a host."""
    pids = []
    for pid in ip("netns", "pids", host.namespace).split():
        try:
            if Path(f"/proc/{pid}/comm").read_text().startswith("rail-"):
                pids.append(int(pid))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


@pytest.fixture
def plan(two_hosts: Lab, tmp_path: Path) -> Path:
    write_plan(tmp_path / "plan.yaml", two_hosts)
    return tmp_path / "plan.yaml"


@pytest.mark.parametrize("six", [False, True], ids=["IPv4", "IPv6"])
def test_a_plan_runs_over_ssh_and_its_traffic_crosses_the_link(
    two_hosts: Lab, plan: Path, database: Path, six: bool
) -> None:
    write_plan(plan, two_hosts, six=six)
    before = two_hosts.a.test_bytes()
    completed = command_line.run(
        railgauge("run", plan, "--db", database), capture_output=True, text=True, timeout=120
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert_complete(database)
    query = "SELECT sum(value) FROM measurement WHERE metric = 'sent_bytes'"
    ((sent,),) = rows(database, query)
    assert isinstance(sent, float)
    assert sent > 0
    # Every byte that the engines say they sent went over the pair, headers on top.
    assert two_hosts.a.test_bytes() - before > sent
    store = Store.open(str(database))
    facts = store.run(1).facts
    store.close()
    assert set(facts) == {"a", "b"}
    assert facts["a"]
    # Interfaces and the ways to each other have names of their own.
    shared = [
        {name for name in host_facts if not name.startswith(("nic.", "route."))}
        for host_facts in facts.values()
    ]
    assert shared[0] == shared[1]


@pytest.fixture
def controller(two_hosts: Lab, plan: Path, database: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of long replications that is in the middle of one."""
    write_plan(plan, two_hosts, length="duration: 500ms")
    process = command_line.Popen(
        railgauge("run", plan, "--db", database),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (stored(database) >= 2 and engines_on(two_hosts.a) and engines_on(two_hosts.b)):
        assert process.poll() is None, process.communicate()[0].decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def stored(database: Path) -> int:
    """Return how many replications are stored by now."""
    try:
        counts = rows(database, "SELECT count(DISTINCT test || replication) FROM measurement")
        return int(str(counts[0][0]))
    except sqlite3.OperationalError:
        return 0  # not made yet


def assert_nothing_left(lab: Lab) -> None:
    """Check that no engine runs a minute from now, or before."""
    deadline = time.monotonic() + 60
    while engines_on(lab.a) + engines_on(lab.b):
        assert time.monotonic() < deadline, "engines are left on the hosts"
        time.sleep(0.05)


def test_a_killed_controller_leaves_nothing_behind_and_resume_completes_the_run(
    two_hosts: Lab, controller: subprocess.Popen[bytes], database: Path
) -> None:
    controller.kill()
    controller.wait()
    assert_nothing_left(two_hosts)
    before = rows(database, "SELECT test, replication, started_at FROM measurement")
    assert before
    completed = command_line.run(
        railgauge("resume", 1, "--db", database), capture_output=True, text=True, timeout=120
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert_complete(database)
    now = rows(database, "SELECT test, replication, started_at FROM measurement")
    assert set(before) <= set(now)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    two_hosts: Lab, controller: subprocess.Popen[bytes]
) -> None:
    os.killpg(controller.pid, signal.SIGINT)
    output = controller.communicate(timeout=30)[0].decode()
    assert controller.returncode == 130
    assert "railgauge resume 1" in output
    assert "Traceback" not in output
    assert_nothing_left(two_hosts)


def test_a_host_lost_in_the_middle_is_named_and_no_number_made_up(
    lab: Lab, controller: subprocess.Popen[bytes], database: Path
) -> None:
    lab.b.sshds.pop(0).stop()
    try:
        output = controller.communicate(timeout=90)[0].decode()
    finally:
        lab.b.sshd(PORT)
    assert controller.returncode in (1, 3), output
    assert "b: " in output
    assert "Traceback" not in output
    condition = "status <> 'failed' AND value IS NULL"
    half = rows(database, f"SELECT count(*) FROM measurement WHERE {condition}")
    assert half == [(0,)]
    assert_nothing_left(lab)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_controller_leaves_nothing_of_a_foreign_command(
    two_hosts: Lab, plan: Path, database: Path, number: signal.Signals
) -> None:
    sleeps = TwoSleeps()
    plan.write_text(
        "railgauge: 1\nname: foreign\n"
        f"hosts: {{a: {{address: {two_hosts.a.address}, ssh: host-a}}}}\n"
        "tests:\n  - {name: foreign, engine: command, hosts: [a], "
        f'set: {{command: "{sleeps.command}"}}}}\n'
    )
    process = command_line.Popen(
        railgauge("run", plan, "--db", database),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        assert sleeps.started()
        process.send_signal(number)
        output = process.communicate(timeout=30)[0].decode()
        assert process.returncode == (-number if number == signal.SIGKILL else 130)
        assert "Traceback" not in output
        assert sleeps.ended()
        assert_nothing_left(two_hosts)
    finally:
        process.kill()
        process.communicate()
        sleeps.kill()


def test_two_names_of_one_machine_are_not_measured_at_once(tmp_path: Path, lab: Lab) -> None:
    lab.write_config(lab.entry("another-name", lab.a.control))
    destinations = {"a": "host-a", "b": "host-b", "c": "another-name"}
    hosts = [f"  {name}: {{address: 10.0.0.1, ssh: {at}}}" for name, at in destinations.items()]
    lines = ["railgauge: 1", "name: names", "concurrency: 3", "hosts:", *hosts]
    lines += ["tests: [{name: t, engine: cpu, hosts: [a, b, c], replications: 1}]"]
    (tmp_path / "plan.yaml").write_text("\n".join(lines) + "\n")
    request = Request(str(tmp_path / "results.db"), plan=tmp_path / "plan.yaml")
    observer = PlainProgress(io.StringIO())
    with request, contextlib.ExitStack() as cleanup:
        arranged = arrange(expand(read(request, observer, cleanup)))
        rounds = [
            [
                [dispatch.case.client for dispatch in dispatches]
                for dispatches in job.schedule.rounds()
            ]
            for job in (arranged, reach(arranged))
        ]
    # Namespaces of one machine are hosts of their own.
    assert rounds == [[["a", "b", "c"]], [["a", "b"], ["c"]]]
