"""A kept shell runs one program after another, and each is a process of its own."""

from __future__ import annotations

import os
import select
import signal

import pytest

from railgauge.base.errors import EngineError
from railgauge.hosts.transport.interface import Exit, end
from railgauge.hosts.transport.kept_shell import KeptShell
from railgauge.hosts.transport.local import LocalTransport

LINES = ["sh", "-c", 'echo "$$"; read -r line; echo "$line"']


@pytest.fixture
def shell() -> KeptShell:
    return KeptShell(LocalTransport("here"))


def test_programs_come_one_after_another_each_with_its_own_lines(shell: KeptShell) -> None:
    numbers = set()
    for word in ("one", "two"):
        shell.run(LINES)
        numbers.add(shell.read_line(60))
        shell.send_line(word)
        assert [shell.read_line(60), shell.read_line(60)] == [word, None]
        assert shell.wait(0) == Exit(0, "")
        assert shell.ready
    assert len(numbers) == 2
    end((shell,))
    assert not shell.ready


def test_arguments_arrive_as_they_are(shell: KeptShell) -> None:
    words = ["", " ", "\n", "a\nb\n", "'\"\\", "$(echo x)", "%s", "ü", "*", "-n"]
    shell.run(["printf", "<%s>", *words, "\n"])
    text = "".join(f"<{word}>" for word in [*words, "\n"])
    lines = []
    # What it wrote doesn't end with a newline, as no line of ours would.
    while len(lines) < text.count("\n"):
        lines.append(shell.read_line(60))
    assert lines == text.split("\n")[:-1]
    end((shell,))


def test_lines_that_came_while_its_end_was_waited_for_are_there_yet(shell: KeptShell) -> None:
    shell.run(["printf", "a\\nb\\n"])
    assert shell.wait(60).status == 0
    assert [shell.read_line(0), shell.read_line(0), shell.read_line(0)] == ["a", "b", None]
    end((shell,))


def test_one_that_writes_for_ever_is_not_waited_for_for_ever(shell: KeptShell) -> None:
    shell.run(["yes"])
    with pytest.raises(EngineError, match="here: a program wrote more than 100,000 lines"):
        shell.wait(60)
    end((shell,))


@pytest.mark.parametrize(
    ("script", "status"),
    [("echo why >&2; exit 3", 3), ("kill -s KILL $$", -signal.SIGKILL), ("no-such-program", 127)],
)
def test_a_program_that_ended_badly_takes_its_shell_along(
    shell: KeptShell, script: str, status: int
) -> None:
    shell.run(["sh", "-c", script])
    assert shell.read_line(60) is None
    assert shell.wait(60).status == status
    assert not shell.ready


def test_what_an_earlier_program_wrote_to_standard_error_is_not_the_failed_ones(
    shell: KeptShell,
) -> None:
    shell.run(["sh", "-c", "echo earlier >&2"])
    assert shell.wait(60) == Exit(0, "")
    shell.run(["sh", "-c", "echo why >&2; exit 3"])
    assert shell.wait(60) == Exit(3, "why\n")


def test_a_program_hears_that_its_input_is_closed_and_ends_by_itself(shell: KeptShell) -> None:
    shell.run(["sh", "-c", "echo up; read -r line; echo tidy; exit 4"])
    assert shell.read_line(60) == "up"
    end((shell,), grace=60)
    assert [shell.read_line(60), shell.read_line(60)] == ["tidy", None]
    assert shell.wait(0).status == 4


def test_one_that_goes_on_is_killed_with_its_shell(shell: KeptShell) -> None:
    shell.run(["sh", "-c", "echo $$; exec sleep 100"])
    program = os.pidfd_open(int(shell.read_line(60) or 0))
    shell.kill()
    assert shell.wait(60).status == -signal.SIGKILL
    assert select.select([program], [], [], 60)[0]
    os.close(program)


def test_a_shell_that_died_meanwhile_takes_no_program() -> None:
    transport = LocalTransport("here")
    shell = KeptShell(transport)
    shell.run(["true"])
    assert shell.wait(60).status == 0
    transport.close()
    assert not shell.ready
