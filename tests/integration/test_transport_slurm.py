"""The Slurm transport against a real Slurm: two nodes on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.slurmlab import SlurmLab

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport import interface, open_transport
from railgauge.hosts.transport.allocation import AllocationTransport
from railgauge.hosts.transport.interface import run
from railgauge.plan.model import Host
from railgauge.schedulers import SCHEDULERS


@pytest.fixture
def job(slurm: SlurmLab) -> Iterator[str]:
    """The id of an allocation of both nodes, which we are in."""
    before = dict(os.environ)
    job = slurm.allocate()
    os.environ |= {"SLURM_CONF": str(slurm.config), "SLURM_JOB_ID": job}
    yield job
    for name in ("SLURM_CONF", "SLURM_JOB_ID"):
        os.environ.pop(name)
    os.environ |= before


@pytest.fixture
def open_node(job: str) -> Iterator[Callable[[str], AllocationTransport]]:
    """Make transports that are closed after the test."""
    opened: list[AllocationTransport] = []

    def make(node: str) -> AllocationTransport:
        opened.append(AllocationTransport(node, node, SCHEDULERS["slurm"]))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()


@pytest.fixture
def node(open_node: Callable[[str], AllocationTransport]) -> AllocationTransport:
    return open_node("node2")


def steps(slurm: SlurmLab) -> list[str]:
    """The steps that run, without those that Slurm adds by itself."""
    step_ids = slurm.call("squeue", "-h", "-s", "-o", "%i").split()
    return [step for step in step_ids if step.rpartition(".")[2].isdigit()]


def step_processes(slurm: SlurmLab) -> list[int]:
    """What runs below our slurmds: steps and what they started."""
    pids = []
    for pid in slurm.processes():
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if name in ("sleep", "slurmstepd", "cat", "sh"):
            pids.append(pid)
    return pids


def test_output_status_and_stderr_come_back(node: AllocationTransport) -> None:
    completed = run(node, ["sh", "-c", "echo one; printf two; echo bad >&2; exit 3"], timeout=30)
    # srun may say in between that the task failed.
    errors = [line for line in completed.stderr.splitlines() if not line.startswith("srun: ")]
    assert (completed.stdout, errors, completed.status) == ("one\ntwo\n", ["bad"], 3)


def test_the_program_runs_on_the_node(open_node: Callable[[str], AllocationTransport]) -> None:
    for name in ("node1", "node2"):
        assert run(open_node(name), ["hostname"], timeout=30).stdout == f"{name}\n"


def test_arguments_arrive_as_they_are(node: AllocationTransport) -> None:
    arguments = [
        "$HOME `id`",
        "it's",
        'a "quoted" word',
        "back\\slash",
        "two\nlines",
        "",
        "é",
        "%d",
    ]
    completed = run(node, ["printf", "<%s>", *arguments], timeout=30)
    assert completed.stdout == "".join(f"<{argument}>" for argument in arguments) + "\n"


def test_a_plans_host_gets_this_transport(job: str) -> None:
    host = Host.model_validate({"address": "127.0.0.2", "transport": "slurm", "node": "node2"})
    transport = open_transport("c2", host)
    try:
        assert run(transport, ["hostname"], timeout=30).stdout == "node2\n"
    finally:
        transport.close()


def test_lines_come_at_once_and_the_end_of_input_arrives(node: AllocationTransport) -> None:
    process = node.start(["cat"])
    for word in ("secret", "more"):
        process.send_line(word)
        assert process.read_line(30) == word
    with pytest.raises(TimeoutError):
        process.read_line(0.1)
    process.close_stdin()
    assert process.read_line(30) is None
    assert process.wait(30).status == 0


def test_long_lines_arrive_whole(node: AllocationTransport) -> None:
    process = node.start(["cat"])
    line = "".join(chr(97 + index % 26) for index in range(3_000_000))
    with ThreadPoolExecutor(1) as sender:
        sender.submit(process.send_line, line)
        assert process.read_line(60) == line
    process.close_stdin()
    assert process.wait(30).status == 0


def test_a_death_by_a_signal_is_told(node: AllocationTransport) -> None:
    assert run(node, ["sh", "-c", "kill -9 $$"], timeout=30).status == -9


def test_a_missing_program_is_the_environments_fault(node: AllocationTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match="node2: can't start '/no/such'") as raised:
        node.start(["/no/such"])
    assert not isinstance(raised.value, HostUnreachableError)


def test_kill_leaves_nothing_on_the_node(
    node: AllocationTransport, slurm: SlurmLab, process_ends: Callable[[int], bool]
) -> None:
    process = node.start(["sh", "-c", "setsid sleep 600 & sleep 600 & echo $$; exec sleep 600"])
    assert process.read_line(30) is not None
    running = step_processes(slurm)
    assert len(running) >= 3
    process.kill()
    assert process.read_line(30) is None
    assert process.wait(30).status == -9
    assert all(process_ends(pid) for pid in running)
    deadline = time.monotonic() + 60
    while steps(slurm):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_kill_ends_the_steps_that_the_program_started(
    node: AllocationTransport, slurm: SlurmLab, process_ends: Callable[[int], bool]
) -> None:
    inner = 'srun --job-name="$SLURM_JOB_NAME" --overlap -N1 -n1 -w node2 --mpi=none'
    process = node.start(["sh", "-c", f"{inner} sh -c 'echo started; exec sleep 600'"])
    assert process.read_line(30) == "started"
    running = step_processes(slurm)
    assert len(steps(slurm)) == 2
    process.kill()
    assert process.wait(30).status == -9
    assert all(process_ends(pid) for pid in running)


def test_close_ends_what_runs(
    node: AllocationTransport,
    slurm: SlurmLab,
    process_ends: Callable[[int], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(interface.end.__kwdefaults__, "grace", 60.0)
    minding, heedless = node.start(["cat"]), node.start(["sleep", "600"])
    heedless.close_stdin()
    running = step_processes(slurm)
    node.close()
    assert minding.wait(30).status == 0
    assert heedless.wait(30).status == -9
    assert all(process_ends(pid) for pid in running)
    with pytest.raises(HostUnreachableError, match="railgauge is ending"):
        node.start(["true"])


def test_steps_run_side_by_side_on_one_node_and_on_two(
    open_node: Callable[[str], AllocationTransport],
) -> None:
    nodes = [open_node("node1"), open_node("node2")]
    processes = [transport.start(["cat"]) for transport in nodes * 3]
    for number, process in enumerate(processes):
        process.send_line(str(number))
    assert [process.read_line(30) for process in processes] == list("012345")


def test_a_jobs_own_options_do_not_reach_the_steps(node: AllocationTransport) -> None:
    options = {"SLURM_NTASKS": "2", "SLURM_CPU_BIND": "cores", "SLURM_EXACT": "1"}
    os.environ |= options
    try:
        assert run(node, ["sh", "-c", "echo $SLURM_NTASKS"], timeout=30).stdout == "1\n"
    finally:
        for name in options:
            os.environ.pop(name)


def test_files_are_put_where_they_shall_be(node: AllocationTransport, tmp_path: Path) -> None:
    content = bytes(range(256)) * 10_000
    node.put({"a/b c": content, "d": b""}, f"{tmp_path}/new")
    assert (tmp_path / "new/a/b c").read_bytes() == content
    assert (tmp_path / "new/d").read_bytes() == b""


def test_what_cannot_be_written_is_told(node: AllocationTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match="node2: can't write to /proc/x"):
        node.put({"a": b"b"}, "/proc/x")


def test_outside_an_allocation_it_says_where_to_go(job: str) -> None:
    os.environ.pop("SLURM_JOB_ID")
    try:
        with pytest.raises(HostUnreachableError, match="railgauge submit"):
            AllocationTransport("c1", "node1", SCHEDULERS["slurm"]).start(["true"])
    finally:
        os.environ["SLURM_JOB_ID"] = job


def test_a_node_outside_the_allocation_is_unreachable(
    open_node: Callable[[str], AllocationTransport],
) -> None:
    with pytest.raises(HostUnreachableError, match="node9: no program could be started"):
        open_node("node9").start(["true"])


def test_a_job_that_ended_is_no_way_to_a_node(
    node: AllocationTransport, slurm: SlurmLab, job: str
) -> None:
    process = node.start(["cat"])
    process.send_line("it runs")
    assert process.read_line(30) == "it runs"
    slurm.cancel(job)
    try:
        assert process.read_line(120) is None
        # Slurm's SIGTERM may leave the step the time to tell that it ended the program.
        assert process.wait(30).status < 0
    except HostUnreachableError as error:
        assert f"node2: Slurm's job {job} has ended: " in str(error)
    with pytest.raises(HostUnreachableError, match=f"node2: Slurm's job {job} has ended: "):
        node.start(["true"])


def test_a_node_that_is_down_is_unreachable(node: AllocationTransport, slurm: SlurmLab) -> None:
    slurm.call("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    with pytest.raises(HostUnreachableError, match="node2: no program could be started"):
        node.start(["true"])


def test_a_node_that_dies_is_lost_and_the_other_goes_on(
    open_node: Callable[[str], AllocationTransport], slurm: SlurmLab
) -> None:
    other, dying = open_node("node1").start(["cat"]), open_node("node2").start(["cat"])
    slurm.kill_node("node2")
    with pytest.raises(HostUnreachableError, match="node2: lost while a program was running"):
        dying.read_line(60)
    other.send_line("still here")
    assert other.read_line(30) == "still here"
