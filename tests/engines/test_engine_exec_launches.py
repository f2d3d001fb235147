"""`rail-exec launches`: launch after launch in one process, each as in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import time
from pathlib import Path

import pytest
from tests.support.engine_lab import Engines, Event, Outcome, Running

MARK = "the-mark"
CLIENT = ("client", "--json", "--replications=1")


def _launches(engines: Engines, **env: str) -> Running:
    return engines.start("exec", "launches", MARK, **env)


def _begin(running: Running, *words: object) -> None:
    line = shlex.join(["rail-exec", *map(str, words)])
    running.write(line.replace("\n", "'\"$n\"'") + "\n")


def _launch(running: Running, *words: object) -> list[Event]:
    """Return what a launch that ends well says."""
    _begin(running, *words)
    return [json.loads(line) for line in iter(running.line, f"{MARK}\n")]


def _output(running: Running, *words: object) -> str:
    events = _launch(running, *words)
    assert [event["event"] for event in events] == ["settings", "replication", "done"]
    return events[1]["output"]


def _failed(running: Running, *words: object) -> Outcome:
    _begin(running, *words)
    return running.finish()


def test_words_arrive_as_a_shell_would_pass_them(engines: Engines) -> None:
    running = _launches(engines)
    words = ["", " ", "\n", "a\nb\n", "'\"\\", "$(echo x)", "$n", "%s", "ü", "*", "-n", "x" * 5000]
    for _ in range(2):
        text = _output(running, *CLIENT, "--", "printf", "<%s>", *words)
        assert text == "".join(f"<{word}>" for word in words)


def test_each_launch_has_its_own_options(engines: Engines) -> None:
    running = _launches(engines, LENGTHY="1", SLOT="2")

    def names(*options: str) -> set[str]:
        lines = _output(running, *CLIENT, *options, "--", "env").splitlines()
        return {line.partition("=")[0] for line in lines} & {"LENGTHY", "SLOT", "RAILGAUGE_EXEC"}

    assert names("--environment=LENGTHY") == {"LENGTHY", "RAILGAUGE_EXEC"}
    assert names("--environment=SLOT") == {"SLOT", "RAILGAUGE_EXEC"}
    assert names() == {"RAILGAUGE_EXEC"}
    assert len(_launch(running, "client", "--json", "--replications=3", "--", "true")) == 5
    files = ("--files=1", "--output-file=a", "--", "a", "text")
    assert _output(running, *CLIENT, *files, "true") == "text"
    assert _output(running, *CLIENT, "--", "echo", "out") == "out\n"


def test_a_launch_takes_no_memory_of_the_next_command(shipped_engines: Engines) -> None:
    running = _launches(shipped_engines)

    def most_memory(text: str) -> float:
        events = _launch(running, *CLIENT, "--files=1", "--", "a", text, "true")
        return events[1]["metrics"]["max_rss"]

    small = most_memory("x")
    for _ in range(2):  # the allocator keeps the second one's
        most_memory("x" * 8_000_000)
    assert most_memory("x") - small < 200_000
    _output(running, *CLIENT, "--", "true", *["word"] * 60_000)
    assert most_memory("x") - small < 200_000


def test_each_launch_notifies_its_own_watcher(engines: Engines) -> None:
    running = _launches(engines)
    for number in (7, 8):
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as listening:
            name = f"launches.{os.getpid()}.{number}"
            listening.bind(f"\0{name}")
            listening.listen()
            _begin(running, *CLIENT, f"--watch={name}:{number}", "--", "true")
            client, _ = listening.accept()
            with client:
                for label in ("begin", "end"):
                    assert client.recv(100) == f"{label} {number} 1".encode()
                    client.send(b"ok")
            events = [json.loads(line) for line in iter(running.line, f"{MARK}\n")]
            assert [event["event"] for event in events] == ["settings", "replication", "done"]


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        ((*CLIENT, "--", "sh", "-c", "echo why >&2; exit 3"), "command-failed", 1),
        ((*CLIENT, "--timeout=0.2s", "--", "sleep", "600"), "command-timeout", 1),
        ((*CLIENT, "--", "no-such-command-anywhere"), "command-not-found", 1),
        ((*CLIENT, "--no-such-option=1", "--", "true"), "bad-parameter", 2),
        ((*CLIENT, "--deadline=9s", "--", "true"), "bad-parameter", 2),
        (("server", "--json", "--", "true"), "bad-parameter", 2),
        (("client", "--json"), "bad-parameter", 2),
    ],
)
def test_a_launch_that_fails_ends_the_process(
    engines: Engines, words: tuple[str, ...], code: str, status: int
) -> None:
    running = _launches(engines)
    _output(running, *CLIENT, "--", "true")
    outcome = _failed(running, *words)
    assert (outcome.error["code"], outcome.status) == (code, status)
    assert outcome.errors == f"{MARK}\n" * 2


@pytest.mark.parametrize(
    "line", ["rail-exec client '--json", "\n", "'", '"$n', "rail-exec client --json -- true\0"]
)
def test_a_line_that_is_no_launch_is_refused(engines: Engines, line: str) -> None:
    running = _launches(engines)
    running.write(f"{line}\n")
    outcome = running.finish()
    assert outcome.status == 2
    assert "bad-parameter" in outcome.errors


def test_a_line_whose_end_never_came_is_no_launch(engines: Engines, tmp_path: Path) -> None:
    running = _launches(engines)
    running.write(f"rail-exec client --json -- touch {tmp_path}/made")
    running.close_input()
    outcome = running.finish()
    assert (outcome.status, outcome.events, outcome.errors) == (0, [], "")
    assert not [*tmp_path.iterdir()]


def test_the_secret_is_not_handed_on(engines: Engines) -> None:
    running = _launches(engines, RAILGAUGE_SECRET="hush")
    assert "hush" not in _output(running, *CLIENT, "--environment=*", "--", "env")


def test_who_keeps_watch_is_replaced(engines: Engines, tmp_path: Path, process_ends) -> None:
    running = _launches(engines)
    _output(running, *CLIENT, "--", "true")
    keeper = int(Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text())
    os.kill(keeper, signal.SIGKILL)
    while ") Z " not in Path(f"/proc/{keeper}/stat").read_text():
        time.sleep(0.001)  # until nothing is left of it but its status
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    _begin(running, *CLIENT, "--", "sh", "-c", f"setsid sleep 600 & echo $! > {fifo}; wait")
    child = int(fifo.read_text())
    os.kill(running.pid, signal.SIGKILL)
    assert process_ends(child)


def test_the_end_of_its_input_is_its_own(engines: Engines) -> None:
    running = _launches(engines)
    _output(running, *CLIENT, "--", "true")
    running.close_input()
    outcome = running.finish()
    assert (outcome.status, outcome.events) == (0, [])


@pytest.mark.parametrize("child", ["", "setsid"])
@pytest.mark.parametrize("end", ["input", signal.SIGTERM, signal.SIGKILL])
def test_nothing_that_runs_outlives_it(
    engines: Engines, tmp_path: Path, process_ends, end: str | int, child: str
) -> None:
    running = _launches(engines)
    _output(running, *CLIENT, "--", "true")
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    script = f"{child} sleep 600 & echo $! $$ > {fifo}; echo; wait"
    _begin(running, *CLIENT, "--", "sh", "-c", script)
    pids = [int(pid) for pid in fifo.read_text().split()]
    if isinstance(end, str):
        running.close_input()
    else:
        os.kill(running.pid, end)
    assert all(process_ends(pid) for pid in [running.pid, *pids])
