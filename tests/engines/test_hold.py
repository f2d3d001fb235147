"""rail-hold: one holder a machine, known to all who ask, gone with its process."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.processes import end_process
from tests.support.wire import PATIENCE

Event = dict[str, Any]
NUMBERS = itertools.count(1)
NOBODY = 65534


@pytest.fixture
def lock() -> str:
    return f"rg-hold-{os.getpid()}-{next(NUMBERS)}"


class Hold:
    """A rail-hold under way, its standard input held open."""

    def __init__(self, argv: list[str], user: int | None = None) -> None:
        credentials: dict[str, Any] = {} if user is None else {"user": user, "group": user}
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **credentials
        )

    def event(self) -> Event:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"ended with status {self.process.wait(PATIENCE)}"
        event: Event = json.loads(line)
        return event

    def say(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def let_go(self) -> int:
        """Close its standard input; its exit status."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def stop(self) -> None:
        end_process(self.process)


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Path]:
    """The program where every user gets at it."""
    with tempfile.TemporaryDirectory(prefix="rail-hold-") as name:
        Path(name).chmod(0o755)
        yield Path(shutil.copy(folder / "rail-hold", name))


@pytest.fixture
def hold(program: Path, lock: str) -> Iterator[Callable[..., Hold]]:
    started: list[Hold] = []

    def start(
        *options: str, prefix: tuple[str, ...] = (), user: int | None = None, token: str = ""
    ) -> Hold:
        argv = [*prefix, str(program), "--json", f"--lock={lock}", *options]
        started.append(Hold([*argv, "--token-stdin"] if token else argv, user))
        if token:
            started[-1].say(f"{token}\n")
        return started[-1]

    yield start
    for holder in started:
        holder.stop()


@pytest.fixture
def by_hand(program: Path, lock: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        argv = [program, f"--lock={lock}", *options]
        return subprocess.run(argv, input="", capture_output=True, text=True, timeout=PATIENCE)

    return run


Start = Callable[..., Hold]


def test_one_has_the_machine_and_the_other_is_told_who(hold: Start) -> None:
    first = hold("--text=run 12 of plan nightly")
    assert first.event() == {"event": "held"}

    second = hold()
    busy = second.event()
    assert busy.pop("seconds") >= 0
    assert busy == {
        "event": "busy",
        "user": "root" if os.geteuid() == 0 else busy["user"],
        "uid": os.geteuid(),
        "pid": first.process.pid,
        "text": "run 12 of plan nightly",
    }
    assert second.process.wait(PATIENCE) == 1
    assert first.let_go() == 0


def test_it_lets_go_when_its_standard_input_closes(hold: Start) -> None:
    first = hold()
    first.event()
    assert first.let_go() == 0
    assert hold().event() == {"event": "held"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_the_kernel_frees_it_however_the_holder_dies(hold: Start, number: signal.Signals) -> None:
    first = hold()
    first.event()
    first.process.send_signal(number)
    assert first.process.wait(PATIENCE) != 0
    assert hold().event() == {"event": "held"}


def test_who_waits_has_it_once_the_holder_dies(hold: Start) -> None:
    first = hold("--text=first")
    first.event()
    waiting = hold("--wait", "--text=second")
    assert waiting.event()["text"] == "first"
    first.process.kill()
    assert waiting.event() == {"event": "held"}
    assert hold().event()["text"] == "second"


def test_of_many_who_wait_each_gets_its_turn_and_never_two(hold: Start) -> None:
    holders = [hold("--wait", "--text=0")]
    assert holders[0].event() == {"event": "held"}
    for number in range(1, 66):  # more than it has places for
        holders.append(hold("--wait", f"--text={number}"))
        assert holders[-1].event()["event"] == "busy"
    for _ in range(3):
        holders.pop(0).let_go()
        # Whoever has it now says so; the one who asks may be quicker than all who wait.
        while (asking := hold()) and (reply := asking.event())["event"] == "held":
            asking.let_go()
        (index,) = [i for i, holder in enumerate(holders) if holder.process.pid == reply["pid"]]
        holders.insert(0, holders.pop(index))
        while (event := holders[0].event())["event"] != "held":
            assert event["event"] == "busy"


def test_a_line_of_standard_input_is_what_others_are_told(hold: Start) -> None:
    first = hold("--text=about to begin")
    first.event()
    first.say("run 7, plan é\n\n")
    deadline = time.monotonic() + PATIENCE
    while (text := hold().event()["text"]) == "about to begin":
        assert time.monotonic() < deadline
    assert text == "run 7, plan é"


@pytest.mark.parametrize("written", ["x" * 5000 + "\n", "a\tb\x1b[2Jc\n", "\udcff\udcfe\n"])
def test_whatever_is_written_what_others_hear_is_one_short_line(
    hold: Start, by_hand: Callable[..., subprocess.CompletedProcess[str]], written: str
) -> None:
    first = hold("--text=begin")
    first.event()
    assert first.process.stdin
    first.process.stdin.buffer.write(written.encode(errors="surrogateescape"))
    first.process.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while (text := hold().event()["text"]) == "begin":
        assert time.monotonic() < deadline
    assert 0 < len(text) < 256
    completed = subprocess.run(
        [*first.process.args, "--json=no"],  # type: ignore[misc]
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert completed.stdout.count(b"\n") == 1
    assert b"\x1b" not in completed.stdout


def test_two_names_of_one_machine_in_one_run_have_it_together(hold: Start) -> None:
    first = hold(token="run")
    first.event()
    second = hold("--wait", token="run")
    assert second.event() == {"event": "held"}
    assert hold(token="another").event()["event"] == "busy"
    assert second.let_go() == 0
    assert first.let_go() == 0


def test_where_the_first_of_two_names_is_lost_the_second_has_it_or_ends(hold: Start) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        first = hold(token="run")
        assert first.event() == {"event": "held"}
        second = hold("--wait", token="run")
        assert second.event() == {"event": "held"}
        # As when the connection by which it was started is lost.
        first.process.kill()
        first.process.wait(PATIENCE)
        other = hold(token="another")
        while (event := other.event())["event"] == "busy":
            if event["pid"] == second.process.pid:
                assert second.let_go() == 0
                return
            other = hold(token="another")
        # On a busy machine another one may be quicker: then the run has lost it, and knows.
        assert second.process.wait(PATIENCE) == 1
        assert other.let_go() == 0
    raise AssertionError("another one was quicker each time")


def test_silence_of_the_controller_frees_it(hold: Start) -> None:
    first = hold("--silence=0.5s")
    first.event()
    event = first.event()
    assert (event["event"], event["code"]) == ("error", "no-answer")
    assert "0.5 s" in event["message"]
    assert first.process.wait(PATIENCE) == 1
    assert hold().event() == {"event": "held"}


def test_signs_of_life_keep_it(hold: Start) -> None:
    # Far longer than this machine may stall.
    first = hold("--silence=8s")
    first.event()
    end = time.monotonic() + 12
    while time.monotonic() < end:
        first.say("\n")
        time.sleep(0.5)
    assert first.process.poll() is None
    assert hold().event()["event"] == "busy"


def test_the_deadline_frees_it(hold: Start) -> None:
    first = hold("--deadline=0.3s")
    first.event()
    assert first.event()["code"] == "deadline"
    assert first.process.wait(PATIENCE) == 1


def test_another_user_is_refused_and_named(
    hold: Start, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, to be another user")
    first = hold("--text=theirs", user=NOBODY)
    first.event()
    busy = hold().event()
    assert (busy["event"], busy["uid"], busy["text"]) == ("busy", NOBODY, "theirs")
    first.let_go()
    second = hold()
    assert second.event() == {"event": "held"}
    assert hold(user=NOBODY).event()["uid"] == 0


STRANGER = """\
import os, socket, sys
os.setuid(int(sys.argv[2]))
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
    stranger.bind(b"\\0" + sys.argv[1].encode())
    stranger.listen()
    print("ready", flush=True)
    caller, _ = stranger.accept()
    caller.send(b"railgauge-hold 1\\nrun\\n1\\nours")
    print(caller.recv(1000), flush=True)
"""


def test_another_user_with_our_token_is_not_of_our_run_and_never_hears_it(
    hold: Start, lock: str, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, to be another user")
    with subprocess.Popen(
        [sys.executable, "-c", STRANGER, lock, str(NOBODY)], stdout=subprocess.PIPE, text=True
    ) as stranger:
        assert stranger.stdout and stranger.stdout.readline() == "ready\n"
        asking = hold(token="run")
        busy = asking.event()
        assert (busy["event"], busy["uid"]) == ("busy", NOBODY)
        assert asking.process.wait(PATIENCE) == 1
    first = hold(token="run", user=NOBODY)
    assert first.event() == {"event": "held"}
    # Two names under one account are of one run, under two they are not.
    assert hold("--wait", token="run").event()["event"] == "busy"
    assert hold(token="run", user=NOBODY).event() == {"event": "held"}


def test_each_network_namespace_has_its_own(
    hold: Start, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, for network namespaces")
    assert hold().event() == {"event": "held"}
    assert hold(prefix=("unshare", "--net")).event() == {"event": "held"}
    # Other namespaces are of the same machine.
    apart = ("unshare", "--mount", "--uts", "--ipc")
    assert hold(prefix=apart).event()["event"] == "busy"


def test_one_that_is_stopped_still_has_it(hold: Start) -> None:
    first = hold()
    first.event()
    first.process.send_signal(signal.SIGSTOP)
    busy = hold().event()
    assert (busy["event"], busy["pid"]) == ("busy", first.process.pid)
    assert (busy["seconds"], busy["text"]) == (None, "")
    first.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"\xff" * 3000,
        b"railgauge-hold 1",
        b"railgauge-hold 1\n\n-5\n\n\n",
        b"railgauge-hold 1\nt\nnan\n\x1b[2Jtext\nmore",
        b"railgauge-hold 2\nsomething\nelse",
        b"\n" * 900,
    ],
)
def test_an_impostor_with_the_name_is_told_as_such(hold: Start, lock: str, words: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as impostor:
        impostor.bind(b"\0" + lock.encode())
        impostor.listen()
        impostor.settimeout(PATIENCE)
        asking = hold(token="t" if b"\nt\n" not in words else "mine")
        # A packet without a byte is an end: it is asked again, for a while.
        for _ in range(250 if not words else 1):
            connection, _address = impostor.accept()
            with connection:
                connection.send(words)
        busy = asking.event()
    assert busy["event"] == "busy"
    assert busy["seconds"] is None
    assert asking.process.wait(PATIENCE) == 1


def test_a_holder_that_gets_no_cpu_for_a_while_is_heard(hold: Start, lock: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as holder:
        holder.bind(b"\0" + lock.encode())
        holder.listen()
        holder.settimeout(PATIENCE)
        asking = hold()
        connection, _address = holder.accept()
        with connection:
            time.sleep(3)
            connection.send(b"railgauge-hold 1\n\n7\nrun 12")
            busy = asking.event()
    assert (busy["seconds"], busy["text"]) == (7, "run 12")


def test_one_who_has_the_name_and_does_not_listen_is_in_the_way(hold: Start, lock: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as impostor:
        impostor.bind(b"\0" + lock.encode())
        asking = hold("--wait")
        busy = asking.event()
        assert (busy["event"], busy["uid"], busy["pid"]) == ("busy", None, None)
    assert asking.event() == {"event": "held"}


def test_by_hand_it_speaks_in_sentences(
    hold: Start, by_hand: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    completed = by_hand()
    assert completed.returncode == 0
    assert completed.stdout.startswith("held: ")
    first = hold("--text=disk swap, Ann")
    first.event()
    completed = by_hand()
    assert completed.returncode == 1
    assert f"({first.process.pid} of user " in completed.stdout
    assert completed.stdout.endswith(": disk swap, Ann\n")


@pytest.mark.parametrize(
    ("option", "says"),
    [("--lock=a b", "--lock takes"), ("--wiat", "--wait"), ("--silence=soon", "silence")],
)
def test_a_wrong_argument_is_told(
    by_hand: Callable[..., subprocess.CompletedProcess[str]], option: str, says: str
) -> None:
    completed = by_hand(option)
    assert completed.returncode == 2
    assert says in completed.stderr
