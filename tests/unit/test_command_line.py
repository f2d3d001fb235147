"""The tests' own way to start railgauge: it makes no difference but of time."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import command_line
from tests.support.fork_server import CLONE

pytestmark = pytest.mark.skipif(CLONE is None, reason="forks on x86_64 and aarch64")
# Reading this file never ends, as nobody writes to it.
WAITS = [*command_line.COMMAND, "import", "iperf3", "pipe", "--db", "a.db"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.fixture
def waiting(folder: Path) -> Iterator[command_line.Popen]:
    """A forked railgauge that has begun to read the pipe."""
    process = command_line.Popen(
        WAITS, cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        pipe = writer(folder / "pipe", process)
        yield process
        process.kill()
        os.close(pipe)


def writer(pipe: Path, process: command_line.Popen) -> int:
    """Open the pipe to write as soon as the process has opened it to read."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)


def words(process: subprocess.Popen[Any]) -> list[str]:
    return Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")


def begun_with(process: subprocess.Popen[Any]) -> list[str]:
    """Return the command line as soon as the kernel shows it, a moment after Popen returns."""
    while not (begun := words(process))[0]:
        time.sleep(0.01)
    return begun


def test_it_answers_as_a_started_one_does(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("railgauge: 1\nname: a→b\nnonsense: 1\n")
    options: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "text": True}
    for arguments, environment in (
        (["check", "plan.yaml"], {}),
        (["list"], {"RAILGAUGE_DB": "of the environment.db"}),
    ):
        command = [*command_line.COMMAND, *arguments]
        forked, started = (
            run(command, env={**os.environ, **environment}, **options)
            for run in (command_line.run, subprocess.run)
        )
        assert forked.returncode == 2
        assert vars(forked) == vars(started)
        assert "nonsense" in forked.stderr or "of the environment.db" in forked.stderr


def test_it_is_a_child_with_a_session_and_none_of_the_servers_sockets(
    waiting: command_line.Popen, folder: Path
) -> None:
    assert Path(words(waiting)[1]).name == "fork_server.py"
    place = Path("/proc", str(waiting.pid))
    assert int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
    assert os.getsid(waiting.pid) == waiting.pid
    for path in (place / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed by now
            assert not str(path.readlink()).startswith("socket:"), "the server's, or ours"
    assert place.joinpath("cwd").readlink() == folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
def test_a_signal_ends_it_as_any_process(waiting: command_line.Popen, number: int) -> None:
    waiting.send_signal(number)
    assert waiting.wait(60) == -number


def test_ctrl_c_is_answered(waiting: command_line.Popen) -> None:
    waiting.send_signal(signal.SIGINT)
    _, stderr = waiting.communicate(timeout=60)
    assert (waiting.returncode, stderr) == (130, b"\nrailgauge: stopped\n")


@pytest.mark.parametrize(
    "options",
    [
        {"env": {**os.environ, "PYTHONHASHSEED": "1"}},
        {"env": {**os.environ, "LC_ALL": "C"}},
        {"preexec_fn": lambda: None},
        {"umask": 0o077},
        {"pass_fds": [1]},
    ],
    ids=lambda options: "-".join(options),
)
def test_what_a_start_decides_takes_a_start(folder: Path, options: dict[str, Any]) -> None:
    with command_line.Popen(WAITS, cwd=folder, **options) as process:
        begun = begun_with(process)
        process.kill()
    assert begun[:3] == list(command_line.COMMAND)


def test_what_a_child_inherits_takes_a_start_when_it_has_changed(folder: Path) -> None:
    command_line.run([*command_line.COMMAND, "--version"], capture_output=True)
    before = os.umask(0o077)
    try:
        process = command_line.Popen(WAITS, cwd=folder)
    finally:
        os.umask(before)
    with process:
        begun = begun_with(process)
        process.kill()
    assert begun[:3] == list(command_line.COMMAND)


def test_another_program_is_started() -> None:
    completed = command_line.run([sys.executable, "-c", "print(2)"], capture_output=True, text=True)
    assert completed.stdout == "2\n"
