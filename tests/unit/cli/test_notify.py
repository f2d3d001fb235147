"""The command that is told of a verdict: whatever it does, it can't hold anything up."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from railgauge.base.errors import InputError
from railgauge.cli.gating import gate
from railgauge.cli.notifying import command_line, notify


def test_the_summary_comes_on_standard_input_and_the_exit_code_in_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "two words"
    command = f'sh -c \'cat >"$0"; echo $RAILGAUGE_EXIT >>"$0"\' {shlex.quote(str(file))}'
    notify(command_line(command), "slower: gw→hh\n", 1)
    assert file.read_text() == "slower: gw→hh\n1\n"
    assert capsys.readouterr().err == ""


def test_no_shell_reads_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "file"
    notify(command_line(f"echo hello > {file}"), "", 0)
    assert not file.exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["", "  ", "mail 'unfinished"])
def test_what_is_no_command_is_refused(text: str):
    with pytest.raises(InputError, match="--notify"):
        command_line(text)


def test_a_gate_whose_command_is_empty_is_refused(tmp_path: Path):
    # As of a variable that is not set: nobody would be notified of anything.
    arguments = ["quickstart", "--notify", "", "--db", str(tmp_path / "r.db")]
    with pytest.raises(InputError, match="--notify needs a command"):
        gate.main(arguments, standalone_mode=False)


def test_one_that_hangs_is_ended_with_what_it_started(
    tmp_path: Path, process_ends: Callable[[int], bool], capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "pids"
    script = f"sleep 300 & echo $! $$ >{file}.new; mv {file}.new {file}; wait"
    for seconds in (1, 10, 60):  # until it has begun before
        notify(["sh", "-c", script], "", 0, seconds)
        stderr = capsys.readouterr().err
        assert stderr == f"railgauge: --notify sh: not done after {seconds} s, ended\n"
        if file.exists():
            break
    assert all(process_ends(int(pid)) for pid in file.read_text().split())


def test_what_it_leaves_in_the_background_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    # A mailer that goes on after mail(1) has ended; a pipe would be open as long as it is.
    go, sent = tmp_path / "go", tmp_path / "sent"
    waiting = f"for i in $(seq 600); do [ -e {go} ] && break; sleep 0.1; done; echo >{sent}"
    notify(["sh", "-c", f"({waiting}) & exit 0"], "", 0)
    assert capsys.readouterr().err == ""
    assert not sent.exists()
    go.touch()
    for _ in range(600):
        if sent.exists():
            break
        time.sleep(0.1)
    assert sent.exists()


def test_one_that_reads_nothing_is_no_failure(capsys: pytest.CaptureFixture[str]):
    notify(["true"], "x" * 2**22, 0)
    assert capsys.readouterr().err == ""


def test_of_one_that_fails_the_last_words_are_told(capsys: pytest.CaptureFixture[str]):
    notify(["sh", "-c", "seq 1000; printf 'no\\033route' >&2; exit 3"], "", 0)
    stderr = capsys.readouterr().err
    assert stderr.startswith("railgauge: --notify sh: ended with 3: ")
    assert stderr.endswith("1000\\nno\\x1broute\n")
    assert len(stderr) < 500
