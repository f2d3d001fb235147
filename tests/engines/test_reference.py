"""rail-reference: what it writes of what it did, and what it refuses."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.wire import PATIENCE

CPU = str(max(os.sched_getaffinity(0)))
# Seconds that a look at a clock may be late.
LATE = 0.02


@pytest.fixture
def program(folder: Path) -> Path:
    return folder / "rail-reference"


def reference(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def lines(file: Path) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in file.read_text().splitlines()]


def test_work_is_counted_in_whole_batches_over_the_seconds_asked_for(
    program: Path, tmp_path: Path
) -> None:
    file = tmp_path / "results"
    assert reference(program, "integer", str(file), CPU, "0.02").returncode == 0
    assert reference(program, "read", str(file), CPU, "0.02", "4096").returncode == 0
    integer, read = lines(file)
    assert (integer[0] > 0, integer[0] % 100_000, read[0] > 0, read[0] % 4096) == (True, 0, True, 0)
    for _, cpu, elapsed in (integer, read):
        assert elapsed >= 0.02
        assert 0 < cpu <= elapsed + LATE


@pytest.mark.parametrize("share", ["0", "1"])
def test_a_load_takes_no_more_cpu_time_than_there_is(
    program: Path, tmp_path: Path, share: str
) -> None:
    file = tmp_path / "results"
    assert reference(program, "burn", str(file), share, "0.1", str(os.getpid())).returncode == 0
    ((cpu, elapsed, idle, family),) = lines(file)
    cpus = os.cpu_count() or 1
    assert elapsed >= 0.1
    assert 0 < cpu <= cpus * (elapsed + LATE)
    # The kernel counts idle time in ticks.
    assert 0 <= idle <= cpus * (elapsed + LATE)
    assert 0 <= family <= cpus * (elapsed + LATE)


def test_what_a_process_and_those_below_it_take_is_counted_by_itself(
    program: Path, tmp_path: Path
) -> None:
    """A shell's child takes CPU time; the load that is its child, too, counts for itself.

    On a busy machine that child may get no CPU for a while.
    """
    file = tmp_path / "results"
    script = (
        "timeout 10 sh -c 'while :; do :; done' & spinning=$!; "
        f"'{program}' burn '{file}' 0 0.3 $$; kill $spinning"
    )
    limit = time.monotonic() + PATIENCE
    family = 0.0
    while not family and time.monotonic() < limit:
        subprocess.run(["sh", "-c", script], check=True, timeout=PATIENCE)
        cpu, elapsed, _, family = lines(file)[-1]
        assert 0 <= family <= elapsed + LATE
        assert cpu < elapsed
    assert family


def test_what_ends_meanwhile_takes_nothing_from_what_the_others_took(
    program: Path, tmp_path: Path
) -> None:
    file = tmp_path / "results"
    busy = "import os\nwhile sum(os.times()[:2]) < 0.2: pass\nprint(flush=True); input()"
    burn = [program, "burn", str(file), "0", "1", str(os.getpid())]
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", busy], stdin=pipe, stdout=pipe) as child:
        assert child.stdout
        child.stdout.readline()
        with subprocess.Popen(burn) as load:
            # Its own children begin after its first look.
            own = ["pgrep", "-P", str(load.pid)]
            while load.poll() is None and subprocess.run(own, stdout=pipe, check=False).returncode:
                pass
            child.communicate(b"\n", timeout=PATIENCE)
    assert load.returncode == 0
    ((*_, family),) = lines(file)
    assert family >= 0


def test_what_a_soaker_takes_is_no_load(program: Path, tmp_path: Path) -> None:
    """It has what nobody wants."""
    file = tmp_path / "results"
    soak = "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)); print(flush=True)"
    argv = [sys.executable, "-c", f"import os; {soak}\nwhile True: pass"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as soaker:
        assert soaker.stdout
        soaker.stdout.readline()
        schedstat = Path(f"/proc/{soaker.pid}/schedstat")
        took, limit = 0, time.monotonic() + 10 * PATIENCE
        while not took and time.monotonic() < limit:
            before = int(schedstat.read_text().split()[0])
            completed = reference(program, "burn", str(file), "0", "0.3", str(soaker.pid))
            assert completed.returncode == 0, completed.stderr
            took = int(schedstat.read_text().split()[0]) - before
        soaker.kill()
    assert took
    assert [family for *_, family in lines(file)] == [0.0] * len(lines(file))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("burn", "f", "1.5", "1", "1"),
        ("burn", "f", "nan", "1", "1"),
        ("burn", "f", "0.5", "61", "1"),
        ("burn", "f", "0.5", "1", "me"),
        ("burn", "f", "0.5", "1"),
        ("read", "f", "0", "1", "32"),
        ("integer", "f", "-1", "1"),
        ("integer", "f", "0", "1s"),
    ],
)
def test_other_arguments_are_refused(
    program: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    completed = subprocess.run(
        [program, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.startswith("usage: rail-reference")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_named(program: Path) -> None:
    completed = reference(program, "burn", "/nowhere/results", "0", "0", "1")
    assert (completed.returncode, completed.stderr) == (
        1,
        "rail-reference: /nowhere/results: No such file or directory\n",
    )


def test_counters_of_an_interface_are_told_once_input_ends(program: Path) -> None:
    with subprocess.Popen(
        [program, "counters", "lo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        assert running.stdout.readline() == "ready\n"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(bytes(1000), ("127.0.0.1", 9))
        running.stdin.close()
        *lines, end = running.stdout.read().splitlines()
    assert (running.returncode, end) == (0, "done")
    looks = [line.split() for line in lines if line.startswith("i ")]
    assert all(float(look[1]) <= float(look[2]) for look in looks)
    assert int(looks[-1][3]) - int(looks[0][3]) >= 1042
    assert int(looks[-1][4]) > int(looks[0][4])
    assert any(line.startswith("Udp: InDatagrams") for line in lines)
    assert any(line.startswith("IpExt: ") for line in lines)


def test_an_interface_that_is_not_there_is_named(program: Path) -> None:
    result = reference(program, "counters", "nope0")
    assert (result.returncode, result.stderr) == (1, "rail-reference: nope0: No such device\n")
