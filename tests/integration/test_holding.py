"""Two runs at once on one machine: the second is refused and told by whom, or waits its turn."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import command_line, sshlab
from tests.support.sshlab import Lab, LabHost

PATIENCE = 180
# What is measured is no matter here: without an interval both ends would compute all the time.
LATENCY = "{mode: latency, interval: 10ms, duration: %s}"
TEST = f"{{name: t, engine: udp, set: {LATENCY}, replications: %d, order: %s}}"


def plan(
    path: Path,
    hosts: str,
    link: str,
    *,
    count: int = 3,
    duration: str = "0.2s",
    order: str = "interleaved",
) -> Path:
    text = ["railgauge: 1", f"name: {path.stem}", "hosts:", hosts, "links:", f"  link: {link}"]
    test = TEST % (duration, count, order)
    path.write_text("\n".join([*text, "tests:", f"  - {test}"]) + "\n")
    return path


def local_plan(path: Path, **options: object) -> Path:
    host = "  here: {address: 127.0.0.1, transport: local}"
    return plan(path, host, "{from: here, to: here}", **options)  # type: ignore[arg-type]


def by_ssh(lab: Lab, path: Path, first: str = "a", second: str = "b", **options: object) -> Path:
    """Both hosts of the lab, the link from the first to the second."""
    hosts = "\n".join(
        f"  {host.name}: {{address: {host.address}, ssh: host-{host.name}}}"
        for host in (lab.a, lab.b)
    )
    return plan(path, hosts, f"{{from: {first}, to: {second}}}", **options)  # type: ignore[arg-type]


def by_netns(lab: Lab, path: Path, **options: object) -> Path:
    """The same hosts, reached without ssh and under other names."""
    hosts = "\n".join(
        f"  n{host.name}: {{address: {host.address}, netns: {host.namespace}}}"
        for host in (lab.a, lab.b)
    )
    return plan(path, hosts, "{from: na, to: nb}", **options)  # type: ignore[arg-type]


def times(plan: Path) -> list[str]:
    """When each replication in a plan's database began."""
    with contextlib.closing(sqlite3.connect(plan.with_suffix(".db"))) as connection:
        try:
            rows = connection.execute("SELECT started_at FROM replication WHERE number > 0")
            return sorted(began for (began,) in rows)
        except sqlite3.OperationalError:
            return []  # not made yet


class Runs:
    """Runs under way; those that still go on at the end are ended."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []

    def start(self, plan: Path, *options: str) -> subprocess.Popen[str]:
        argv = [*command_line.COMMAND, "run", str(plan), *options]
        self._started.append(
            command_line.Popen(
                [*argv, "--db", str(plan.with_suffix(".db"))],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return self._started[-1]

    def call(self, plan: Path, *options: str) -> tuple[int, str]:
        return ended(self.start(plan, *options))

    def measuring(self, plan: Path) -> subprocess.Popen[str]:
        """Start one and return when a replication of it is stored."""
        process = self.start(plan)
        deadline = time.monotonic() + PATIENCE
        while not times(plan):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
            process.kill()
            process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    output = process.communicate(timeout=PATIENCE)[0]
    assert "Traceback" not in output
    return process.returncode, output


@pytest.fixture
def runs() -> Iterator[Runs]:
    runs = Runs()
    yield runs
    runs.end()


@pytest.fixture
def alone(two_hosts: Lab) -> Iterator[Lab]:
    """The lab, whose hosts other names can be given to."""
    yield two_hosts
    two_hosts.write_config()


LONG = {"count": 400, "duration": "0.3s"}


def test_the_second_run_is_refused_with_who_has_the_machine(runs: Runs, tmp_path: Path) -> None:
    runs.measuring(local_plan(tmp_path / "first.yaml", **LONG))
    status, output = runs.call(local_plan(tmp_path / "second.yaml"))
    assert status == 3
    assert "here is held since 20" in output
    assert "run 1, plan first, by " in output
    assert "--wait" in output
    assert not times(tmp_path / "second.yaml")


def test_a_run_that_waits_begins_when_the_other_has_ended(runs: Runs, tmp_path: Path) -> None:
    first = local_plan(tmp_path / "first.yaml", count=60, duration="0.3s")
    second = local_plan(tmp_path / "second.yaml")
    going = runs.measuring(first)
    status, output = runs.call(second, "--wait", "2min")
    assert status == 0, output
    assert ended(going)[0] == 0
    assert "waiting for here: it is held since 20" in output
    assert_one_after_the_other(first, second)


def test_a_run_that_waits_can_be_stopped_and_leaves_nothing(runs: Runs, tmp_path: Path) -> None:
    going = runs.measuring(local_plan(tmp_path / "first.yaml", **LONG))
    second = local_plan(tmp_path / "second.yaml")
    waiting = runs.start(second, "--wait", "10min")
    assert waiting.stdout
    while not (line := waiting.stdout.readline()).startswith("waiting for here"):
        assert line, "it has ended"
    waiting.send_signal(signal.SIGINT)
    assert ended(waiting)[0] == 130
    assert not times(second)
    # Nobody is in the way of the next one.
    going.terminate()
    assert going.wait(PATIENCE) == 130
    assert runs.call(second)[0] == 0


def test_a_run_that_waits_in_vain_says_for_whom(runs: Runs, tmp_path: Path) -> None:
    runs.measuring(local_plan(tmp_path / "first.yaml", **LONG))
    status, output = runs.call(local_plan(tmp_path / "second.yaml"), "--wait", "3s")
    assert status == 3
    assert "here is held since 20" in output


@pytest.mark.parametrize("hosts", ["local", "netns", "ssh"])
def test_a_controller_that_is_killed_holds_nothing(
    runs: Runs, tmp_path: Path, two_hosts: Lab, hosts: str
) -> None:
    make = {
        "local": local_plan,
        "netns": lambda path, **options: by_netns(two_hosts, path, **options),
        "ssh": lambda path, **options: by_ssh(two_hosts, path, **options),
    }[hosts]
    going = runs.measuring(make(tmp_path / "first.yaml", **LONG))
    going.send_signal(signal.SIGKILL)
    going.wait(PATIENCE)
    # What holds the hosts may take a moment to end.
    status, output = runs.call(make(tmp_path / "second.yaml"), "--wait", "1min")
    assert status == 0, output


def test_hosts_are_held_whichever_way_they_are_reached(
    runs: Runs, tmp_path: Path, two_hosts: Lab
) -> None:
    runs.measuring(by_ssh(two_hosts, tmp_path / "first.yaml", **LONG))
    status, output = runs.call(by_netns(two_hosts, tmp_path / "second.yaml"))
    assert status == 3
    assert "na is held" in output
    assert "nb is held" in output
    # The machine under the namespaces is a host of its own.
    assert runs.call(local_plan(tmp_path / "third.yaml"))[0] == 0


def test_two_names_of_one_machine_are_one_machine_to_the_run(
    runs: Runs, tmp_path: Path, alone: Lab
) -> None:
    alone.write_config(alone.entry("another-name", alone.a.control))
    hosts = (
        f"  a: {{address: {alone.a.address}, ssh: host-a}}\n"
        f"  c: {{address: {alone.a.address}, ssh: another-name}}"
    )
    status, output = runs.call(plan(tmp_path / "p.yaml", hosts, "{from: a, to: c}"))
    assert status == 0, output


def test_of_two_runs_at_once_on_the_same_hosts_one_goes_on(
    runs: Runs, tmp_path: Path, two_hosts: Lab
) -> None:
    # They take the hosts in different order.
    first = by_ssh(two_hosts, tmp_path / "first.yaml", "a", "b", count=20)
    second = by_ssh(two_hosts, tmp_path / "second.yaml", "b", "a", count=20)
    outcomes = [ended(process) for process in (runs.start(first), runs.start(second))]
    assert 0 in {status for status, _ in outcomes}, outcomes
    assert {status for status, _ in outcomes} <= {0, 3}, outcomes
    assert_one_after_the_other(first, second)


def test_two_runs_that_wait_for_each_other_s_hosts_both_get_them(
    runs: Runs, tmp_path: Path, two_hosts: Lab
) -> None:
    plans = [
        by_ssh(two_hosts, tmp_path / f"{name}.yaml", *order, count=4)
        for name, order in (("x", "ab"), ("y", "ba"), ("z", "ab"))
    ]
    going = [runs.start(path, "--wait", "3min") for path in plans]
    for process in going:
        status, output = ended(process)
        assert status == 0, output
    for first, second in ((0, 1), (1, 2), (0, 2)):
        assert_one_after_the_other(plans[first], plans[second])


def holders(host: LabHost) -> set[int]:
    """The processes that hold a machine of the lab."""
    pids = set()
    for pid in map(int, sshlab.ip("netns", "pids", host.namespace).split()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "rail-hold":
                pids.add(pid)
    return pids


@pytest.mark.parametrize(("order", "count"), [("sequential", 100), ("interleaved", 60)])
def test_what_is_measured_on_a_machine_that_is_taken_from_its_run_is_suspect(
    runs: Runs, tmp_path: Path, two_hosts: Lab, order: str, count: int
) -> None:
    first = by_ssh(two_hosts, tmp_path / "first.yaml", count=count, order=order)
    going = runs.measuring(first)
    lost = holders(two_hosts.a)
    for pid in lost:
        os.kill(pid, signal.SIGKILL)
    if order == "interleaved":  # The next launch has the machine again.
        deadline = time.monotonic() + PATIENCE
        while not holders(two_hosts.a) - lost:
            assert going.poll() is None, going.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
    status, output = ended(going)
    assert status == 0, output
    assert len(times(first)) == count
    with contextlib.closing(sqlite3.connect(first.with_suffix(".db"))) as connection:
        query = "SELECT number, code, host FROM suspicion WHERE code = 'unheld' ORDER BY number"
        suspect = connection.execute(query).fetchall()
    if order == "sequential":
        assert 1 <= len(suspect) < count
        numbers = range(count - len(suspect) + 1, count + 1)
        assert suspect == [(number, "unheld", "a") for number in numbers]
        assert "a: the machine can't be held for this run: rail-hold ended unexpectedly" in output
    else:
        # None where it was noticed between two launches.
        assert [host for _, _, host in suspect] in ([], ["a"])


def test_a_held_host_is_refused_to_a_run_that_goes_on(runs: Runs, tmp_path: Path) -> None:
    first = local_plan(tmp_path / "first.yaml", **LONG)
    going = runs.measuring(first)
    going.terminate()
    assert going.wait(PATIENCE) == 130
    runs.measuring(local_plan(tmp_path / "second.yaml", **LONG))
    argv = [*command_line.COMMAND, "resume", "1", "--db", tmp_path / "first.db"]
    completed = command_line.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    assert completed.returncode == 3
    assert "run 1, plan second, by " in completed.stderr


def assert_one_after_the_other(first: Path, second: Path) -> None:
    """Check that no replication of one began between the first and the last of the other."""
    earlier, later = sorted([times(first), times(second)])
    if earlier and later:
        assert earlier[-1] < later[0]
