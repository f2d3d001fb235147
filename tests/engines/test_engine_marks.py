"""What engines tell the watchers on their host: that a replication begins, and that it ends."""

from __future__ import annotations

import os
import pwd
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from tests.support import ranks
from tests.support.engine_lab import Engines, Outcome, Running

SLOW = 1.0  # seconds
MODES = [
    ("udp", "--mode=stream"),
    ("udp", "--mode=bidirectional"),
    ("udp", "--mode=latency"),
    ("tcp", "--mode=stream"),
    ("tcp", "--mode=bidirectional"),
    ("tcp", "--mode=latency"),
    ("tcp", "--mode=connect"),
]


@dataclass
class Watcher:
    """A socket that marks come to, each written down with the watcher's name and the moment."""

    name: str
    marks: list[tuple[str, str]]  # shared: (the watcher's letter, the mark), as they came
    letter: str
    answer: bytes | None = b"ok"
    listening: socket.socket = field(init=False)
    connections: int = 0

    def __post_init__(self) -> None:
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind("\0" + self.name)
        self.listening.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            while request := client.recv(1000):
                self.marks.append((self.letter, request.decode()))
                if self.answer == b"":
                    return
                if self.answer:
                    client.send(self.answer)

    def stop(self) -> None:
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


class Watchers:
    """The watchers of a test, with names of its own."""

    def __init__(self) -> None:
        self.prefix = f"marks.{os.getpid()}.{secrets.token_hex(4)}"
        self.marks: list[tuple[str, str]] = []
        self.all: list[Watcher] = []

    def name(self, letter: str) -> str:
        return f"{self.prefix}.{letter}"

    def start(self, letter: str, answer: bytes | None = b"ok") -> Watcher:
        self.all.append(Watcher(self.name(letter), self.marks, letter, answer))
        return self.all[-1]

    def of(self, letter: str) -> list[str]:
        return [mark for name, mark in self.marks if name == letter]


@pytest.fixture
def watchers() -> Iterator[Watchers]:
    group = Watchers()
    yield group
    for watcher in group.all:
        watcher.stop()


def _warnings(outcome: Outcome) -> list[dict[str, str]]:
    return [event for event in outcome.of("warning") if event["code"] == "no-watch"]


def _exec(engines: Engines, watch: str, *command: str, count: int = 2) -> Outcome:
    arguments = ("client", "--json", f"--replications={count}", f"--watch={watch}", "--")
    return engines.run("exec", *arguments, *(command or ("true",)))


def _brief(engine: str) -> tuple[str, ...]:
    # A count that is more than a connection holds before a late receiver's first read.
    return ("--congestion=system", "--count=64") if engine == "tcp" else ()


@pytest.mark.parametrize(("engine", "mode"), MODES)
def test_both_ends_tell_of_each_replication_the_server_around_the_client(
    engines: Engines, watchers: Watchers, engine: str, mode: str
) -> None:
    server_side, client_side = watchers.start("s"), watchers.start("c")
    server = engines.server(engine, f"--watch={server_side.name}:41")
    options = (mode, "--warmup=0.3s", f"--watch={client_side.name}:42", *_brief(engine))
    outcome = engines.client(server, *options, count=2)
    assert len(outcome.metrics) == 2
    assert _warnings(outcome) == []
    begins_and_ends = [
        (side, f"{event} {launch} {n}")
        for n in (0, 1, 2)
        for event in ("begin", "end")
        for side, launch in (("s", 41), ("c", 42))
    ]
    assert watchers.marks == begins_and_ends
    assert (server_side.connections, client_side.connections) == (1, 1)


def test_two_watchers_of_a_host_are_told_both(engines: Engines, watchers: Watchers) -> None:
    first, second = watchers.start("a"), watchers.start("b")
    outcome = _exec(engines, f"{first.name}+{second.name}:7")
    assert len(outcome.metrics) == 2
    marks = ["begin 7 1", "end 7 1", "begin 7 2", "end 7 2"]
    assert (watchers.of("a"), watchers.of("b")) == (marks, marks)


def test_a_mode_without_a_server_tells_the_clients_watcher(
    engines: Engines, watchers: Watchers, free_port: Callable[[], int]
) -> None:
    watch = f"--watch={watchers.start('c').name}:3"
    options = ("--mode=generator", "--rate=1Mbit/s", "--duration=0.05s", "--i-own-this-network")
    port = f"--data-port={free_port()}"
    brief = ("--json", "--replications=1", "--warmup=0.01s")
    outcome = engines.run("udp", "client", "127.0.0.1", *brief, *options, port, watch)
    assert len(outcome.metrics) == 1
    assert watchers.of("c") == ["begin 3 0", "end 3 0", "begin 3 1", "end 3 1"]


def test_a_command_runs_between_its_marks(
    engines: Engines, watchers: Watchers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("marks") / "told"
    watcher = watchers.start("x")
    script = (
        "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"s.connect('\\0{watcher.name}'); s.send(b'the command');"
        f"print(s.recv(9), file=open({str(log)!r}, 'a'))"
    )
    outcome = _exec(engines, f"{watcher.name}:1", sys.executable, "-c", script)
    assert len(outcome.metrics) == 2
    assert log.read_text(encoding="utf-8") == "b'ok'\n" * 2
    first, second = [[f"begin 1 {n}", "the command", f"end 1 {n}"] for n in (1, 2)]
    assert watchers.of("x") == first + second


def test_a_command_that_fails_leaves_its_mark_open(engines: Engines, watchers: Watchers) -> None:
    outcome = _exec(engines, f"{watchers.start('x').name}:1", "false")
    assert outcome.error["code"] == "command-failed"
    assert watchers.of("x") == ["begin 1 1"]


def test_a_mark_that_takes_its_time_is_no_part_of_what_is_measured(
    engines: Engines, watchers: Watchers
) -> None:
    class Slow(Watcher):
        def _answer(self, client: socket.socket) -> None:
            with client:
                while client.recv(1000):
                    time.sleep(SLOW)
                    client.send(b"ok")

    slow = [Slow(watchers.name(letter), [], letter) for letter in ("s", "c")]
    watchers.all += slow
    server = engines.server("udp", f"--watch={slow[0].name}:1")
    options = (f"--watch={slow[1].name}:1", "--mode=latency", "--duration=0.1s")
    began = time.monotonic()
    (metrics,) = engines.client(server, *options, count=1).metrics
    passed = time.monotonic() - began
    # Each end has two marks, one after the other. The server answers from before the client's
    # first one on.
    assert metrics["client_elapsed"] <= passed - 4 * SLOW
    assert metrics["server_elapsed"] <= passed - 3 * SLOW
    began = time.monotonic()
    (metrics,) = _exec(engines, f"{slow[1].name}:1", count=1).metrics
    assert metrics["wall_time"] <= time.monotonic() - began - 2 * SLOW


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_watcher_that_is_not_there_is_told_of_once(
    engines: Engines, watchers: Watchers, side: str
) -> None:
    watch = f"--watch={watchers.name('none')}:1"
    server = engines.server("udp", *([watch] if side == "server" else []))
    outcome = engines.client(server, *([watch] if side == "client" else []), count=3)
    assert len(outcome.metrics) == 3
    (warning,) = _warnings(outcome)
    assert warning["side"] == side
    assert watchers.name("none") in warning["message"]
    assert "isn't running" in warning["message"]


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_watcher_that_hangs_is_waited_for_once(
    engines: Engines, watchers: Watchers, side: str
) -> None:
    watch = f"--watch={watchers.start('h', answer=None).name}:1"
    server = engines.server("tcp", *([watch] if side == "server" else []))
    options = (*_brief("tcp"), *([watch] if side == "client" else []))
    outcome = engines.client(server, *options, count=5)
    assert len(outcome.metrics) == 5
    (warning,) = _warnings(outcome)
    assert warning["side"] == side
    assert "doesn't answer" in warning["message"]
    assert watchers.of("h") == ["begin 1 1"]


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_watcher_that_gets_no_cpu_for_seconds_costs_waiting_alone(
    engines: Engines, watchers: Watchers, side: str
) -> None:
    class Late(Watcher):
        def _answer(self, client: socket.socket) -> None:
            time.sleep(3)
            super()._answer(client)

    watchers.all.append(late := Late(watchers.name("l"), watchers.marks, "l"))
    watch = f"--watch={late.name}:1"
    server = engines.server("tcp", *([watch] if side == "server" else []))
    options = (*_brief("tcp"), *([watch] if side == "client" else []))
    outcome = engines.client(server, *options, count=1)
    assert len(outcome.metrics) == 1
    assert _warnings(outcome) == []
    assert watchers.of("l") == ["begin 1 1", "end 1 1"]


def test_a_stopped_process_as_a_watcher_hangs_nobody(engines: Engines, watchers: Watchers) -> None:
    name = watchers.name("stopped")
    script = (
        "import socket, time; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"s.bind('\\0{name}'); s.listen(1); print('ready', flush=True); time.sleep(60)"
    )
    stopped = engines.start_other(sys.executable, "-c", script)
    assert stopped.line() == "ready\n"
    os.kill(stopped.pid, signal.SIGSTOP)
    outcome = _exec(engines, f"{name}:1", count=3)
    assert len(outcome.metrics) == 3
    assert len(_warnings(outcome)) == 1


def test_a_watcher_whom_many_call_takes_an_engine_in_in_its_turn(
    engines: Engines, watchers: Watchers
) -> None:
    name = watchers.name("crowded")
    script = (
        "import socket, time; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"s.bind('\\0{name}'); s.listen(0);"
        "other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"other.connect('\\0{name}'); print('ready', flush=True); time.sleep(0.5);"
        "s.accept(); c, _ = s.accept(); [c.send(b'ok') for _ in iter(lambda: c.recv(99), b'')]"
    )
    crowded = engines.start_other(sys.executable, "-c", script)
    assert crowded.line() == "ready\n"
    assert not _warnings(_exec(engines, f"{name}:1"))


@pytest.mark.parametrize(
    ("answer", "words"), [(b"okay", "answer that isn't one"), (b"x" * 500, "one"), (b"", "ended")]
)
def test_a_watcher_that_talks_nonsense_or_hangs_up_is_left_alone(
    engines: Engines, watchers: Watchers, answer: bytes, words: str
) -> None:
    bad, good = watchers.start("bad", answer), watchers.start("good")
    outcome = _exec(engines, f"{bad.name}+{good.name}:5")
    assert len(outcome.metrics) == 2
    (warning,) = _warnings(outcome)
    assert words in warning["message"]
    assert bad.name in warning["message"]
    assert watchers.of("bad") == ["begin 5 1"]
    assert watchers.of("good") == ["begin 5 1", "end 5 1", "begin 5 2", "end 5 2"]


def test_a_watcher_that_ends_on_the_way_is_told_of_with_its_replication(
    engines: Engines, watchers: Watchers
) -> None:
    class Ending(Watcher):
        def _answer(self, client: socket.socket) -> None:
            with client:
                for _ in range(3):
                    client.recv(1000)
                    client.send(b"ok")

    watchers.all.append(ending := Ending(watchers.name("e"), [], "e"))
    outcome = _exec(engines, f"{ending.name}:5", count=4)
    assert len(outcome.metrics) == 4
    (warning,) = _warnings(outcome)
    assert "replication 2 ends" in warning["message"]
    assert "has ended" in warning["message"]


def _as_nobody(name: str) -> list[str]:
    nobody = pwd.getpwnam("nobody").pw_uid
    script = (
        f"import os, socket, time; os.setuid({nobody});"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
        f"s.bind('\\0{name}'); s.listen(8); print('ready', flush=True); c, _ = s.accept();"
        "print(c.recv(99), flush=True)"
    )
    return [sys.executable, "-c", script]


def test_a_watcher_of_another_user_is_told_nothing(
    engines: Engines, watchers: Watchers, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, who can be another user")
    name = watchers.name("nobody")
    stranger = engines.start_other(*_as_nobody(name))
    assert stranger.line() == "ready\n"
    outcome = _exec(engines, f"{name}:1")
    assert len(outcome.metrics) == 2
    (warning,) = _warnings(outcome)
    assert "another user" in warning["message"]
    assert stranger.line() == "b''\n"


NO_WATCHERS = ["", "a", "a:", ":1", "a:x", "a:-1", "a:1 ", "a:1:2", "a b:1", "a+:1", "+a:1"]
MORE = ["a+b+c:1", "a:1234567890123456789", "x" * 65 + ":1", "a/b:1", "a,b:1", "a,:1"]


@pytest.mark.parametrize("watch", NO_WATCHERS + MORE)
def test_watchers_that_cannot_be_are_a_mistake(engines: Engines, watch: str) -> None:
    outcome = _exec(engines, watch)
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert "--watch" in outcome.error["message"]


def test_help_tells_of_watchers_and_the_description_does_not(engines: Engines) -> None:
    for engine in ("udp", "tcp", "exec"):
        assert "--watch NAMES:LAUNCH" in engines.run(engine, "--help").output
        described = engines.run(engine, "--describe").output
        assert '"name":"watch"' not in described.replace(" ", "")


def _ranks(engines: Engines, count: int, mode: str, *options: str) -> Running:
    program = engines.argv("mpi", f"--mode={mode}", "--json", "--yield", ranks.DEADLINE, *options)
    return engines.start_other(*ranks.argv(count, *program), **ranks.environment())


@pytest.fixture
def _mpi(require: Callable[[object, str], None]) -> None:
    require(ranks.launcher(), "an MPI library")


@pytest.mark.usefixtures("_mpi")
@pytest.mark.parametrize("mode", ["stream", "allreduce", "matrix"])
def test_the_first_rank_of_each_host_tells_its_watcher(
    engines: Engines, watchers: Watchers, mode: str
) -> None:
    names = ",".join(watchers.start(letter).name for letter in ("a", "b"))
    count = 2 if mode == "stream" else 4
    brief = ("--pair-time=0.01s",) if mode == "matrix" else ("--duration=0.02s",)
    options = ("--replications=2", "--warmup=0.02s", *brief)
    where = ("--rank-addresses=127.0.0.1,127.0.0.2", f"--watch={names}:6")
    outcome = _ranks(engines, count, mode, *options, *where).finish()
    assert outcome.status == 0, outcome.output + outcome.errors
    assert _warnings(outcome) == []
    for n in range(3):
        begin, end = watchers.marks[4 * n : 4 * n + 2], watchers.marks[4 * n + 2 : 4 * n + 4]
        assert sorted(begin) == [("a", f"begin 6 {n}"), ("b", f"begin 6 {n}")]
        assert sorted(end) == [("a", f"end 6 {n}"), ("b", f"end 6 {n}")]
    assert len(watchers.marks) == 12
    assert [watcher.connections for watcher in watchers.all] == [1, 1]


@pytest.mark.usefixtures("_mpi")
def test_ranks_without_addresses_share_one_host_and_its_watchers(
    engines: Engines, watchers: Watchers
) -> None:
    options = ("--replications=1", "--duration=0.02s", f"--watch={watchers.start('a').name}:6")
    outcome = _ranks(engines, 2, "stream", *options).finish()
    assert len(outcome.metrics) == 1
    assert watchers.of("a") == ["begin 6 1", "end 6 1"]


@pytest.mark.usefixtures("_mpi")
def test_a_rank_whose_watcher_is_not_there_has_rank_0_say_so(
    engines: Engines, watchers: Watchers
) -> None:
    names = f"{watchers.start('a').name},{watchers.name('none')}"
    brief = ("--replications=2", "--duration=0.02s", f"--watch={names}:6")
    outcome = _ranks(engines, 2, "stream", *brief, "--rank-addresses=127.0.0.1,127.0.0.2").finish()
    assert len(outcome.metrics) == 2
    (warning,) = _warnings(outcome)
    assert warning["side"] == "server"
    assert watchers.name("none") in warning["message"]
    assert len(watchers.of("a")) == 4


@pytest.mark.usefixtures("_mpi")
def test_a_list_of_watchers_as_long_as_that_of_addresses_is_wanted(engines: Engines) -> None:
    for where in ((), ("--rank-addresses=127.0.0.1,127.0.0.2,127.0.0.3",)):
        outcome = _ranks(engines, 2, "stream", "--watch=a,b:6", *where).finish()
        assert outcome.status != 0
        (error,) = outcome.of("error")
        assert (error["code"], "--watch" in error["message"]) == ("bad-parameter", True)
