"""Running programs end together, by themselves if they can."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from railgauge.engine.events import Done
from railgauge.engine.follow import RunningProgram, events
from railgauge.engine.running_programs import RunningPrograms
from railgauge.hosts.transport.interface import Exit
from railgauge.hosts.transport.kept_shell import engine_shell
from railgauge.hosts.transport.local import LocalTransport

# Seconds that a program has to end by itself: one that gets no CPU for so long is killed.
GRACE = 1.0


@pytest.fixture
def local() -> LocalTransport:
    return LocalTransport("here")


def tidying(folder: Path, name: str) -> list[str]:
    """Return a program that tidies up when its standard input closes."""
    return ["sh", "-c", 'echo up; read x; echo tidy >"$1"', "sh", str(folder / name)]


def test_programs_have_a_moment_to_end_by_themselves(local: LocalTransport, tmp_path: Path) -> None:
    programs = RunningPrograms()
    first, second = (local.start(tidying(tmp_path, name)) for name in ("a", "b"))
    with programs.hold(first), programs.hold(second):
        assert first.read_line(60) == second.read_line(60) == "up"
        began = time.monotonic()
        programs.end_all()
        lasted = time.monotonic() - began
        assert lasted >= GRACE or first.wait(0).status == second.wait(0).status == 0
    files = (tmp_path / "a", tmp_path / "b")
    assert lasted >= GRACE or [file.read_text() for file in files] == ["tidy\n", "tidy\n"]


def test_what_goes_on_is_killed_while_another_thread_reads_it(local: LocalTransport) -> None:
    programs = RunningPrograms()
    process = local.start(["sh", "-c", "echo up; exec sleep 100"])
    with programs.hold(process), ThreadPoolExecutor(1) as pool:
        assert process.read_line(60) == "up"
        reading = pool.submit(process.read_line)
        programs.end_all()
        assert reading.result(10) is None
        assert process.wait(0).status == -9


def test_what_is_started_later_ends_at_once(local: LocalTransport, tmp_path: Path) -> None:
    programs = RunningPrograms()
    programs.end_all()
    began = time.monotonic()
    with programs.hold(local.start(tidying(tmp_path, "a"))) as process:
        lasted = time.monotonic() - began
        assert lasted >= GRACE or process.wait(0).status == 0
    assert lasted >= GRACE or (tmp_path / "a").read_text() == "tidy\n"


def test_a_program_no_longer_held_has_ended(local: LocalTransport, tmp_path: Path) -> None:
    with RunningPrograms().hold(local.start(tidying(tmp_path, "a"))) as process:
        pass
    assert process.wait(0).status == 0
    assert (tmp_path / "a").read_text() == "tidy\n"


def test_a_program_that_ended_well_leaves_its_shell_to_the_next(local: LocalTransport) -> None:
    programs = RunningPrograms()
    parents = []
    for script in ("echo $PPID", "echo $PPID", "echo $PPID; exit 1", "echo $PPID"):
        with programs.start(local, ["sh", "-c", script]) as process:
            parents.append(process.read_line(60))
            process.wait(60)
    assert parents[0] == parents[1] == parents[2] != parents[3]
    programs.end_all()


def test_programs_side_by_side_have_a_shell_each(local: LocalTransport) -> None:
    programs = RunningPrograms()
    with (
        programs.start(local, ["sh", "-c", "echo $PPID"]) as first,
        programs.start(local, ["sh", "-c", "echo $PPID"]) as second,
    ):
        assert first.read_line(60) != second.read_line(60)
    programs.end_all()


EXECUTOR = """\
#!/bin/sh
while read -r line; do echo "$2" >&2; echo "$$ $1 $line"; echo "$2"; done
"""


def test_an_executor_does_launch_after_launch(local: LocalTransport, tmp_path: Path) -> None:
    path = tmp_path / "rail-exec"
    path.write_text(EXECUTOR)
    path.chmod(0o755)
    programs = RunningPrograms()
    lines = []
    for word in ("first", "second"):
        with programs.start(local, [str(path), word], engine_shell(str(path))) as process:
            lines.append((process.read_line(60) or "").split())
            assert process.wait(60) == Exit(0, "")
    programs.end_all()
    assert [line[1:] for line in lines] == [["launches", str(path), w] for w in ("first", "second")]
    assert lines[0][0] == lines[1][0]


def test_an_executor_that_is_gone_ends_as_a_shell_says(
    local: LocalTransport, tmp_path: Path
) -> None:
    programs = RunningPrograms()
    path = str(tmp_path / "rail-exec")
    with programs.start(local, [path], engine_shell(path)) as process:
        assert process.wait(60).status == 127
    programs.end_all()


def test_a_program_that_goes_on_is_ended_with_its_shell(
    local: LocalTransport, tmp_path: Path
) -> None:
    programs = RunningPrograms()
    with programs.start(local, tidying(tmp_path, "a")) as process:
        assert process.read_line(60) == "up"
    assert (tmp_path / "a").read_text() == "tidy\n"


def test_ending_all_ends_shells_that_wait_for_a_program(local: LocalTransport) -> None:
    programs = RunningPrograms()
    with programs.start(local, ["sh", "-c", "echo $PPID"]) as process:
        number = int(process.read_line(60) or 0)
        process.wait(60)
    assert Path(f"/proc/{number}").exists()
    programs.end_all()
    assert not Path(f"/proc/{number}").exists()


def test_the_input_of_a_program_that_is_done_does_not_end_before_it(
    local: LocalTransport, tmp_path: Path
) -> None:
    """As mpirun would not end then; on a machine that stalls for long its input does."""
    script = """if True:
        import select, sys
        print('{"event":"done","replications":1}', flush=True)
        (input_ended, *_) = select.select([sys.stdin], [], [], 0.2)
        open(sys.argv[1], "w").write("after its input" if input_ended else "by itself")
    """

    def end() -> str:
        process = local.start([sys.executable, "-c", script, str(tmp_path / "end")])
        with RunningPrograms().hold(process):
            assert list(events(RunningProgram("here", process), None, 60)) == [Done(1)]
        return (tmp_path / "end").read_text()

    assert any(end() == "by itself" for _ in range(3))
