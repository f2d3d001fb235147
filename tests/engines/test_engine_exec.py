"""rail-exec around commands that behave and commands that don't."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from railgauge.hosts.transport.interface import end
from railgauge.hosts.transport.local import LocalTransport


def _run(engines, *arguments: object, count: int = 1):
    return engines.run("exec", "client", "--json", f"--replications={count}", *arguments)


def test_a_command_is_timed_and_its_output_kept(engines) -> None:
    outcome = _run(engines, "--", "echo", "a b", "$HOME", count=3)
    assert [e["output"] for e in outcome.of("replication")] == ["a b $HOME\n"] * 3
    for m in outcome.metrics:
        assert set(m) == {"wall_time", "user_time", "system_time", "max_rss", "exit_status"}
        assert m["wall_time"] > 0
        assert m["max_rss"] > 0
        assert m["exit_status"] == 0


def test_the_wall_time_is_the_commands(engines) -> None:
    (metrics,) = _run(engines, "--", "sleep", "0.3").metrics
    assert metrics["wall_time"] >= 0.3


def test_output_is_valid_json_whatever_it_is(engines) -> None:
    script = r"printf 'quote\" slash\\ tab\t bell\a umlaut\303\274 bad\377\300\200\355\240\200.'"
    (event,) = _run(engines, "--", "bash", "-c", script).of("replication")
    assert event["output"] == 'quote" slash\\ tab\t bell\a umlautü bad' + "�" * 6 + "."


def test_output_is_bounded(engines) -> None:
    (event,) = _run(engines, "--", "head", "-c", "3000000", "/dev/zero").of("replication")
    assert event["output"] == "\0" * (1 << 20)


def test_the_output_kept_is_no_memory_of_the_next_command(engines, tmp_path: Path) -> None:
    source, program = tmp_path / "writer.c", tmp_path / "writer"
    source.write_text(
        "#include <unistd.h>\n"
        "int main(void) { static char page[4096];\n"
        "for (int i = 0; i < 256; i++) if (write(1, page, sizeof page) < 0) return 1;\n"
        "return 0; }\n"
    )
    subprocess.run(["cc", "-o", program, source], check=True)
    first, *later = (m["max_rss"] for m in _run(engines, "--", program, count=3).metrics)
    assert max(later) - first < 400_000


def test_standard_input_is_empty(engines) -> None:
    assert _run(engines, "--", "cat").of("replication")[0]["output"] == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo broken >&2; exit 3", ["status 3", "broken"]),
        ("kill -SEGV $$", ["signal 11"]),
        ("head -c 100000 /dev/zero | tr '\\0' x >&2; echo the-end >&2; exit 1", ["the-end"]),
    ],
)
def test_a_command_that_fails_gives_no_number(engines, command: str, words: list[str]) -> None:
    outcome = _run(engines, "--", "sh", "-c", command, count=5)
    assert (outcome.error["code"], outcome.error["replication"]) == ("command-failed", 1)
    assert all(word in outcome.error["message"] for word in words)
    assert outcome.of("replication") == []


def test_a_command_that_fails_later_keeps_what_was_measured(engines, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    script = f'echo x >> {marks}; test "$(wc -l < {marks})" -lt 3'
    outcome = _run(engines, "--", "sh", "-c", script, count=5)
    assert len(outcome.of("replication")) == 2
    assert outcome.error["replication"] == 3


def test_a_command_that_does_not_exist_is_told_so(engines) -> None:
    outcome = _run(engines, "--", "no-such-command-anywhere")
    assert outcome.error["code"] == "command-not-found"
    assert "no-such-command-anywhere" in outcome.error["message"]


# A child in the command's process group, or in a session of its own as daemons and MPI ranks are.
CHILDREN = pytest.mark.parametrize("child", ["", "setsid"])


def _sleeping_script(pids: Path, child: str) -> str:
    """Sleep with a child, and tell the numbers of both."""
    return f"{child} sleep 600 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; echo; wait"


@CHILDREN
def test_a_command_past_its_time_is_killed_with_its_children(
    engines, tmp_path: Path, process_ends, child: str
) -> None:
    pids = tmp_path / "pids"
    script = _sleeping_script(pids, child)
    for timeout in ("0.3s", "3s", "30s"):
        outcome = _run(engines, f"--timeout={timeout}", "--", "sh", "-c", script, count=3)
        assert (outcome.error["code"], outcome.error["replication"]) == ("command-timeout", 1)
        if pids.exists():
            break
    assert all(process_ends(int(pid)) for pid in pids.read_text().split())


@CHILDREN
def test_a_child_left_behind_is_ended_and_not_waited_for(
    engines, tmp_path: Path, process_ends, child: str
) -> None:
    pids = tmp_path / "pids"
    script = f"{child} sleep 600 & echo $! > {pids}; echo out"
    (event,) = _run(engines, "--", "sh", "-c", script).of("replication")
    assert event["output"] == "out\n"
    assert process_ends(int(pids.read_text()))


def _sleeping(engines, tmp_path: Path, child: str):
    """A command that sleeps, under way; its process and its child's."""
    pids = tmp_path / "pids"
    script = _sleeping_script(pids, child)
    running = engines.start("exec", "client", "--json", "--", "sh", "-c", script)
    assert running.event()["event"] == "settings"
    for _ in range(3000):
        if pids.exists():
            break
        os.sched_yield()
        signal.sigtimedwait([], 0.01)
    return running, [int(pid) for pid in pids.read_text().split()]


@CHILDREN
def test_closing_standard_input_ends_the_command(
    engines, tmp_path: Path, process_ends, child: str
) -> None:
    running, pids = _sleeping(engines, tmp_path, child)
    running.close_input()
    assert all(process_ends(pid) for pid in [running.pid, *pids])


@CHILDREN
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_command(
    engines, tmp_path: Path, process_ends, number: int, child: str
) -> None:
    running, pids = _sleeping(engines, tmp_path, child)
    os.kill(running.pid, number)
    assert all(process_ends(pid) for pid in [running.pid, *pids])
    assert running.process.wait() == (-number if number == signal.SIGKILL else 128 + number)


@CHILDREN
def test_the_deadline_ends_the_command(engines, tmp_path: Path, process_ends, child: str) -> None:
    pids = tmp_path / "pids"
    script = _sleeping_script(pids, child)
    for deadline in ("1s", "10s", "60s"):
        outcome = _run(engines, f"--deadline={deadline}", "--", "sh", "-c", script)
        assert (outcome.status, outcome.error["code"]) == (1, "deadline")
        if pids.exists():
            break
    assert all(process_ends(int(pid)) for pid in pids.read_text().split())


def test_each_replication_has_the_usual_deadline_for_itself(
    shipped_engines, tmp_path: Path
) -> None:
    library, jump = tmp_path / "jumping.so", tmp_path / "jump"
    source = Path(__file__).with_name("jumping_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    jump.touch()
    # Five of eight hours each are more than a day.
    script = f"truncate -s +30000 {jump}; sleep 0.3"
    options = ("client", "--json", "--replications=5", "--environment=JUMP", "--")
    clock = {"LD_PRELOAD": str(library), "JUMP": str(jump)}
    running = shipped_engines.start("exec", *options, "sh", "-c", script, **clock)
    while running.process.poll() is None:
        with contextlib.suppress(BrokenPipeError):  # has just ended
            running.write("look at the clock\n")
        time.sleep(0.02)
    assert len(running.finish().of("replication")) == 5


def test_output_of_any_bytes_fits_in_a_line_that_a_transport_takes(shipped_engines) -> None:
    argv = shipped_engines.argv("exec", "client", "--json", "--replications=1")
    process = LocalTransport("here").start([*argv, "--", "head", "-c", "2000000", "/dev/zero"])
    lines = iter(lambda: process.read_line(60), None)
    (event,) = (event for event in map(json.loads, lines) if event["event"] == "replication")
    end((process,))
    assert event["output"] == "\0" * (1 << 20)


@pytest.mark.parametrize(
    ("options", "more"),
    [((), set()), (("--environment=LENGTHY,SL*,OMP_",), {"LENGTHY", "SLOT", "SL"})],
)
def test_a_command_gets_what_any_program_needs_and_what_is_listed(
    engines, options: tuple[str, ...], more: set[str]
) -> None:
    variables = dict.fromkeys(("LENGTHY", "LENGTH", "SLOT", "SL", "OMP_NUM_THREADS", "LC_ALL"), "C")
    running = engines.start(
        *("exec", "client", "--json", "--replications=1", *options, "--", "env"),
        **{**variables, "RAILGAUGE_DB": "postgresql://user:password@host"},
    )
    (event,) = running.finish().of("replication")
    names = {line.partition("=")[0] for line in event["output"].splitlines()}
    assert names - {"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"} == {
        *("PATH", "LC_ALL", "RAILGAUGE_EXEC"),
        *more,
    } | (names & {"LD_LIBRARY_PATH"})


def test_the_secret_is_not_handed_on(engines) -> None:
    running = engines.start(
        "exec", "client", "--json", "--replications=1", "--", "env", RAILGAUGE_SECRET="hush"
    )
    (event,) = running.finish().of("replication")
    assert "hush" not in event["output"]


@pytest.mark.parametrize(
    "arguments", [("server",), ("client",), ("client", "--"), ("client", "true")]
)
def test_a_command_line_without_a_command_is_refused(engines, arguments) -> None:
    outcome = engines.run("exec", *arguments)
    assert outcome.status == 2
    assert outcome.errors
