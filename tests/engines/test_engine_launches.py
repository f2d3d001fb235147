"""`rail-tcp launches`, `rail-udp launches`: launch after launch, each a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import pytest
from tests.support.engine_lab import Engines, Event, Running

MARK = "the-mark"
ENGINES = ("tcp", "udp")
SERVER = ("server", "--json", "--once", "--secret-stdin", "--port=0", "--deadline=60")


def events(running: Running) -> list[Event]:
    """Return what a launch says from now on that ends well."""
    return [json.loads(line) for line in iter(running.line, f"{MARK}\n")]


class Ends:
    """The two ends of a link, each a process that launches."""

    def __init__(self, engines: Engines, engine: str) -> None:
        self.engine = engine
        self.server = engines.start(engine, "launches", MARK)
        self.client = engines.start(engine, "launches", MARK)

    def begin(self, *options: str, secret: str = "hush", count: int = 1) -> None:
        """Begin a launch at both ends."""
        self._launch(self.server, *SERVER, secret=secret)
        port = self.server.event()["port"]
        self._launch(
            self.client,
            *("client", "127.0.0.1", "--json", "--secret-stdin", f"--port={port}"),
            *(f"--replications={count}", "--deadline=60", *options),
            secret=secret,
        )

    def measure(self, *options: str, secret: str = "hush") -> list[Event]:
        """Return what the client of a launch says that ends well."""
        self.begin(*options, secret=secret)
        client_events = events(self.client)
        assert events(self.server) == []
        return client_events

    def _launch(self, running: Running, *words: str, secret: str) -> None:
        running.write(f"{shlex.join([f'rail-{self.engine}', *words])}\n{secret}\n")


@pytest.fixture(params=ENGINES)
def ends(engines: Engines, request) -> Ends:
    return Ends(engines, request.param)


def _children(running: Running) -> list[int]:
    path = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    return [int(pid) for pid in path.read_text().split()]


def test_each_launch_has_its_own_options_and_its_own_secret(ends: Ends) -> None:
    for number, secret in enumerate(("a", "b" * 100, "c d'e\"")):
        launch = ends.measure(f"--count={10 + number}", "--mode=latency", secret=secret)
        assert [event["event"] for event in launch] == ["settings", "replication", "done"]
        assert launch[1]["metrics"]["round_trips"] == 10 + number
    assert ends.client.process.poll() is ends.server.process.poll() is None


def test_a_launch_is_a_process_of_its_own_and_a_server_needs_no_other(ends: Ends) -> None:
    processes: list[int] = []
    for _ in range(2):
        ends.begin("--duration=0.2s")
        assert ends.client.event()["event"] == "settings"
        for running in (ends.client, ends.server):
            (pid,) = _children(running)
            assert Path(f"/proc/{pid}/task/{pid}/children").read_text() == ""
            processes.append(pid)
        for running in (ends.client, ends.server):
            events(running)
    assert len(set(processes)) == 4


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        (("client", "127.0.0.1", "--port=9"), "connection-refused", 1),
        (("client", "127.0.0.1", "--no-such-option=1"), "bad-parameter", 2),
    ],
)
def test_a_launch_that_fails_ends_the_process_as_it_ended(
    ends: Ends, options: tuple[str, ...], code: str, status: int
) -> None:
    ends.measure("--count=10", "--mode=latency")
    ends.client.write(f"x {shlex.join(options)} --json\n")
    outcome = ends.client.finish()
    assert (outcome.error["code"], outcome.status) == (code, status)
    assert outcome.errors == f"{MARK}\n" * 2


def test_a_launch_that_is_killed_ends_the_process_as_a_shell_would(ends: Ends) -> None:
    ends.begin("--duration=60s")
    assert ends.client.event()["event"] == "settings"
    (launch,) = _children(ends.client)
    os.kill(launch, signal.SIGKILL)
    assert ends.client.finish().status == 128 + signal.SIGKILL


def test_who_is_killed_takes_the_launch_along(ends: Ends, process_ends) -> None:
    ends.begin("--duration=60s")
    assert ends.client.event()["event"] == "settings"
    launches = [pid for running in (ends.client, ends.server) for pid in _children(running)]
    assert len(launches) == 2
    for running in (ends.client, ends.server):
        os.kill(running.pid, signal.SIGKILL)
    assert all(map(process_ends, launches))


def test_the_end_of_the_input_ends_the_launch_too(ends: Ends) -> None:
    ends.begin("--duration=60s")
    assert ends.client.event()["event"] == "settings"
    for running in (ends.client, ends.server):
        began = time.monotonic()
        running.close_input()
        running.finish()
        assert time.monotonic() - began < 5


def test_a_line_whose_end_never_came_is_no_launch(ends: Ends) -> None:
    ends.client.write("rail client 127.0.0.1 --json")
    ends.client.close_input()
    outcome = ends.client.finish()
    assert (outcome.status, outcome.output, outcome.errors) == (0, "", "")


def test_the_secret_of_the_environment_is_no_launchs(engines: Engines) -> None:
    running = engines.start("tcp", "launches", MARK, RAILGAUGE_SECRET="hush")
    running.write("rail-tcp server --json --once --open=0.0.0.0 --port=0\n")
    assert running.event()["event"] == "listening"


def test_a_servers_deadline_is_what_its_client_says(engines: Engines) -> None:
    server = engines.server("tcp", "--once", "--deadline=1s")
    outcome = engines.client(server, "--duration=20s", count=1)
    assert (outcome.status, outcome.error["code"]) == (1, "deadline")
