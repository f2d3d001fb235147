"""rail-soak: marks and loads, calibration, and that nothing is left of it, however it ends."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.engine_lab import Engines
from tests.support.soak_lab import (
    ANYHOW,
    CPUS,
    LOCK,
    STARVED,
    Marker,
    Soak,
    are_gone,
    children,
    table,
    try_again,
)
from tests.support.wire import PATIENCE

pytestmark = pytest.mark.usefixtures("only_soaker")

BURN = "print(flush=True)\nwhile True: pass"
Start = Callable[..., Soak]


@pytest.fixture
def program(folder: Path) -> Path:
    return folder / "rail-soak"


@pytest.fixture
def soak(program: Path) -> Iterator[Start]:
    started: list[Soak] = []

    def start(*options: str, prefix: tuple[str, ...] = ()) -> Soak:
        started.append(Soak(program, *options, prefix=prefix))
        return started[-1]

    yield start
    for soaker in started:
        soaker.stop()


@pytest.fixture
def burner() -> Iterator[int]:
    """Keeps the first CPU busy; the CPU's number."""
    cpu = CPUS[0]
    argv = ["taskset", "-c", str(cpu), sys.executable, "-c", BURN]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield cpu
        process.kill()


@pytest.fixture
def by_hand(program: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run it to its end, again while another one holds the machine."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        limit = time.monotonic() + STARVED
        while True:
            argv = [program, *arguments]
            completed = subprocess.run(argv, capture_output=True, text=True, timeout=STARVED)
            code = re.search(r"\((soak-busy|not-idle)\)", completed.stderr)
            if not try_again(code and code[1], arguments) or time.monotonic() > limit:
                return completed
            time.sleep(0.2)

    return run


@contextlib.contextmanager
def started(*argv: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start it by hand, again while another one has the machine; yields its first line, too."""
    limit = time.monotonic() + STARVED
    while True:
        pipe = subprocess.PIPE
        words = [str(word) for word in argv]
        with subprocess.Popen(
            words, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        ) as process:
            assert process.stdout
            if line := process.stdout.readline():
                try:
                    yield process, line
                finally:
                    process.kill()
                return
            assert process.stderr
            errors = process.stderr.read()
        code = re.search(r"\((soak-busy|not-idle)\)", errors)
        assert try_again(code and code[1], ANYHOW), errors
        assert time.monotonic() < limit, errors
        time.sleep(0.2)


# What it tells a controller.


def test_calibration_tells_every_cpu(soak: Start) -> None:
    first = soak(*ANYHOW).first

    assert first["event"] == "calibrated", first
    assert [cpu["cpu"] for cpu in first["cpus"]] == CPUS
    assert all(0 < cpu["share"] <= 1.001 and cpu["rate"] > 0 for cpu in first["cpus"])
    assert 0.5 <= first["elapsed"] < PATIENCE


def test_it_calibrates_though_the_session_of_its_soakers_gets_no_cpu(
    shipped_engines: Engines, tmp_path: Path
) -> None:
    """A session of the lowest weight may get none for a minute, once it has that weight."""
    source, library = Path(__file__).with_name("starved_session.c"), tmp_path / "starved.so"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", library, source], check=True)
    preload = ("env", f"LD_PRELOAD={library}")
    program = shipped_engines.folder / "rail-soak"
    soak = Soak(program, *ANYHOW, "--deadline=30s", prefix=preload)
    began = children(soak.process.pid)
    soak.stop()
    assert soak.first["event"] == "calibrated"
    assert are_gone(began)


def test_each_marked_replication_has_a_load_with_the_warmup(soak: Start) -> None:
    running = soak(*ANYHOW)
    engine = Marker(running.name)
    for replication in (0, 1, 2):
        engine.mark("begin", 17, replication)
        time.sleep(0.1)
        engine.mark("end", 17, replication)
    running.say("finish")
    events = running.events()

    loads = [event for event in events if event["event"] == "load"]
    assert [(e["launch"], e["replication"]) for e in loads] == [(17, 0), (17, 1), (17, 2)]
    kinds = [e["event"] for e in events if e["event"] != "warning"]
    assert kinds[-4:] == ["load", "load", "load", "done"]
    # Where a CPU is never free, its second calibration gives nothing but a warning.
    starved = any(e.get("code") == "not-idle-after" for e in events)
    assert kinds[:-4] == ([] if starved else ["calibrated"])
    assert running.process.returncode == 0
    for load in loads:
        assert [cpu["cpu"] for cpu in load["cpus"]] == CPUS
        assert 0.1 <= load["elapsed"] < PATIENCE
        mean = sum(cpu["load"] for cpu in load["cpus"]) / len(CPUS)
        assert load["load"] == pytest.approx(mean, abs=1e-9)
        for cpu in load["cpus"]:
            left = (1 - cpu["lost"]) * (1 - cpu["slowdown"])
            assert cpu["load"] == pytest.approx(1 - left, abs=1e-9)


def test_of_two_ends_marks_the_inner_ones_count(soak: Start) -> None:
    running = soak(*ANYHOW)
    server, client = Marker(running.name), Marker(running.name)
    server.mark("begin", 1, 1)
    time.sleep(0.5)
    began = time.monotonic()
    client.mark("begin", 1, 1)
    server.mark("end", 1, 1)
    took = time.monotonic() - began
    time.sleep(0.5)
    client.mark("end", 1, 1)
    running.say("finish")

    (load,) = [event for event in running.events() if event["event"] == "load"]
    assert load["elapsed"] <= took


def test_loads_so_far_come_with_a_calibration_in_between(soak: Start) -> None:
    running = soak(*ANYHOW)
    engine = Marker(running.name)
    engine.mark("begin", 1, 1)
    engine.mark("begin", 2, 1)  # still going on
    engine.mark("end", 1, 1)
    running.say("calibrate")
    between = running.event()
    while between["event"] != "load":
        between = running.event()
    engine.mark("end", 2, 1)
    running.say("finish")

    assert between["launch"] == 1
    assert [e["launch"] for e in running.events() if e["event"] == "load"] == [2]


def test_an_end_without_a_begin_is_answered_and_tells_nothing(soak: Start) -> None:
    running = soak(*ANYHOW)
    Marker(running.name).mark("end", 1, 1)
    running.say("finish")

    assert not [event for event in running.events() if event["event"] == "load"]


def test_a_busy_cpu_shows_in_its_load(soak: Start, burner: int) -> None:
    running = soak(*ANYHOW, prefix=("taskset", "-c", str(burner)))
    # Calibrated beside the burner, its share is what is left over of that CPU: next to nothing.
    (cpu,) = running.first["cpus"]

    assert cpu["cpu"] == burner
    assert cpu["share"] < 0.2


def test_a_machine_that_is_not_idle_is_refused(soak: Start, burner: int) -> None:
    running = soak("--calibrate=0.2s")

    assert (running.first["event"], running.first["code"]) == ("error", "not-idle")
    assert "is not idle: others took" in running.first["message"]
    assert running.events() == []
    assert running.process.returncode == 1


def test_an_unknown_line_is_an_error(soak: Start) -> None:
    running = soak(*ANYHOW)
    running.say("stop")

    assert running.events()[-1]["code"] == "bad-parameter"
    assert running.process.returncode == 2


def test_a_second_one_on_the_machine_is_refused(soak: Start, program: Path) -> None:
    soak(*ANYHOW)
    argv = [program, "--json", "--marks=another"]
    completed = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)

    assert completed.returncode == 1
    assert '"soak-busy"' in completed.stdout


def test_a_taken_name_is_refused(soak: Start) -> None:
    running = soak(*ANYHOW)
    running.say("finish")
    running.events()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as holder:
        holder.bind(b"\0" + running.name.encode())
        other = soak(*ANYHOW, f"--marks={running.name}")

        assert other.first["code"] == "name-in-use"


# How it ends.


def test_nothing_is_left_when_its_input_closes(soak: Start) -> None:
    running = soak(*ANYHOW)
    soakers = children(running.process.pid)
    running.close_input()

    assert len(soakers) == len(CPUS) + 1
    running.process.wait(timeout=STARVED)
    assert are_gone(soakers)
    assert not LOCK.exists()


def test_nothing_is_left_when_it_is_killed(soak: Start) -> None:
    running = soak(*ANYHOW)
    soakers = children(running.process.pid)
    running.process.kill()

    assert are_gone(soakers)


def test_nothing_is_left_when_it_is_told_to_end(soak: Start) -> None:
    running = soak(*ANYHOW)
    soakers = children(running.process.pid)
    running.process.terminate()

    assert running.process.wait(timeout=STARVED) == 1
    assert are_gone(soakers)


def test_nothing_is_left_at_the_deadline(soak: Start) -> None:
    running = soak(*ANYHOW, "--deadline=1s")
    soakers = children(running.process.pid)

    assert [running.first, *running.events()][-1]["code"] == "deadline"
    assert are_gone(soakers)


def test_nothing_follows_a_failure(shipped_engines: Engines, tmp_path: Path) -> None:
    """It is calibrated while its deadline ends it, which takes a while."""
    source, library = Path(__file__).with_name("slow_unlink.c"), tmp_path / "slow.so"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", library, source], check=True)
    preload = ("env", f"LD_PRELOAD={library}")
    program = shipped_engines.folder / "rail-soak"
    running = Soak(program, *ANYHOW, "--deadline=0.4s", prefix=preload)

    assert (running.first["code"], running.events()) == ("deadline", [])


def test_nothing_soaks_beyond_the_deadline_of_one_that_stands_still(soak: Start) -> None:
    running = soak(*ANYHOW, "--deadline=5s")
    soakers = children(running.process.pid)
    running.process.send_signal(signal.SIGSTOP)

    assert soakers
    assert are_gone(soakers)


def test_a_soaker_that_is_ended_ends_all(soak: Start) -> None:
    running = soak(*ANYHOW)
    soakers = children(running.process.pid)
    victim = max(soakers)
    os.kill(victim, signal.SIGKILL)

    assert running.events()[-1]["code"] == "system-error"
    assert are_gone(soakers)


def test_soakers_are_pinned_yield_and_are_told_apart_by_nice(soak: Start) -> None:
    running = soak(*ANYHOW)
    (keeper,) = (p for p in children(running.process.pid) if children(p))
    soakers = sorted(children(keeper))

    assert sorted(os.sched_getaffinity(pid).pop() for pid in soakers) == CPUS
    assert all(len(os.sched_getaffinity(pid)) == 1 for pid in soakers)
    assert {os.sched_getscheduler(pid) for pid in soakers} == {os.SCHED_IDLE}
    assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in soakers} == {19}
    group = Path(f"/proc/{keeper}/autogroup")
    if group.exists():
        limit = time.monotonic() + PATIENCE
        while "nice 19" not in group.read_text(encoding="ascii") and time.monotonic() < limit:
            time.sleep(0.02)
        assert "nice 19" in group.read_text(encoding="ascii")


def test_only_allowed_cpus_are_soaked(soak: Start) -> None:
    last = CPUS[-1]
    running = soak(*ANYHOW, prefix=("taskset", "-c", str(last)))

    assert [cpu["cpu"] for cpu in running.first["cpus"]] == [last]


# By hand.


def test_a_commands_cost_is_told_and_its_status_kept(by_hand) -> None:
    completed = by_hand(*ANYHOW, "--", "sh", "-c", "sleep 0.3; echo said; exit 7")

    assert (completed.returncode, completed.stdout) == (7, "said\n")
    rows = table(completed.stderr)
    assert list(rows) == [*map(str, CPUS), "all"]
    assert "its own account" in completed.stderr


def test_a_command_that_a_signal_ended_has_its_number(by_hand) -> None:
    assert by_hand(*ANYHOW, "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_a_command_that_is_not_there_is_told(by_hand) -> None:
    completed = by_hand(*ANYHOW, "--", "/no/such/program")

    assert completed.returncode == 127
    assert "cannot start '/no/such/program'" in completed.stderr


def test_ctrl_c_ends_the_command_and_its_cost_is_told(program: Path) -> None:
    command = ("sh", "-c", "echo begun; exec sleep 60")
    with started(program, *ANYHOW, "--", *command) as (process, line):
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=STARVED)

    assert line == "begun\n"
    assert process.returncode == 128 + signal.SIGINT
    assert "all" in table(errors)


def test_without_a_command_the_load_is_told_every_period(program: Path) -> None:
    with started(program, "--period=0.2s", *ANYHOW) as (process, line):
        assert process.stdout
        lines = [line, process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=STARVED)

    assert process.returncode == 0
    assert all(line.startswith("load ") and f"cpu{CPUS[0]}" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--json",), "--marks is missing"),
        (("--marks=x",), "--json is missing"),
        (("--json", "--marks=x", "--", "true"), "leave it out"),
        (("--tolerance=2",), "a share from 0 to 1"),
        (("--tolerance=nan",), "a share from 0 to 1"),
        (("--calibrat=1s",), "did you mean '--calibrate'?"),
        (("--period=0",), "period must be"),
        (("true",), "behind a -- alone"),
        (("--",), "has to follow --"),
    ],
)
def test_wrong_arguments_are_told(program: Path, arguments: tuple[str, ...], words: str) -> None:
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE)

    assert result.returncode == 2
    assert words in result.stdout + result.stderr


def test_it_says_how_to_call_it(program: Path) -> None:
    result = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=PATIENCE)

    assert result.returncode == 0
    assert "rail-soak [OPTION...] -- COMMAND" in result.stdout
