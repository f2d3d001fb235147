"""The engines as a user runs them: processes, events checked against the schema, outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.support import ROOT
from tests.support.processes import end_process
from tests.support.wire import PATIENCE

from railgauge.engine.validity import require_agreement

RECORD = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schema/record.schema.json").read_text(encoding="utf-8"))
)

Event = dict[str, Any]


def _event(line: str) -> Event:
    event: Event = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} in {line}"))
    RECORD.validate(event)
    return event


@dataclass
class Outcome:
    """A finished process: its exit status, its events (checked against the schema), its words."""

    status: int
    output: str
    errors: str
    events: list[Event] = field(default_factory=list)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["event"] == kind]

    @property
    def settings(self) -> Event:
        (settings,) = self.of("settings")
        return settings

    @property
    def metrics(self) -> list[dict[str, float]]:
        """Of every replication that is no warm-up; the launch must have gone well.

        None may contradict itself: the runner would refuse it.
        """
        assert (self.status, self.of("error")) == (0, []), self.output + self.errors
        parameters: Event = {}
        metrics: list[dict[str, float]] = []
        for event in self.events:
            if event["event"] == "settings":
                parameters = event["parameters"]
            elif event["event"] == "replication" and not event["warmup"]:
                metrics.append(event["metrics"])
                require_agreement("under test", event["metrics"], parameters)
        return metrics

    @property
    def is_busy(self) -> bool:
        """Whether the server had another client."""
        return any(event["code"] == "busy" for event in self.of("error"))

    @property
    def error(self) -> Event:
        """The one error, which must be the last word."""
        assert self.status != 0, self.output
        assert self.events[-1]["event"] == "error", self.output + self.errors
        assert len(self.of("error")) == 1
        return self.events[-1]


def in_turn(measure: Callable[[], Outcome]) -> Outcome:
    """Measure once more as long as the server is busy: it ends the session before in 0.3 s.

    A stalled machine takes longer for that.
    """
    last = time.monotonic() + PATIENCE
    while (outcome := measure()).is_busy and time.monotonic() < last:
        time.sleep(0.01)
    return outcome


class Running:
    """An engine's process under way, its standard input held open."""

    def __init__(self, argv: list[str], prefix: tuple[str, ...] = (), **env: str) -> None:
        self.process = subprocess.Popen(
            [*prefix, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        self.pid = self.process.pid

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def event(self) -> Event:
        line = self.line()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        return _event(line)

    def write(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.stdin = None

    def finish(self) -> Outcome:
        """Wait for the end; the events are those not read yet.

        A program that doesn't end fails the test, but for Open MPI 5.0's mpirun, which sometimes
        waits for itself for ever after its ranks have ended: it is killed after a while.
        """
        assert self.process.stdout
        assert self.process.stderr
        stuck: list[bool] = []
        ended = threading.Event()
        waiting = threading.Thread(target=self._end_if_stuck, args=(ended, stuck), daemon=True)
        waiting.start()
        with self.process.stdout, self.process.stderr:  # the input stays open till the end
            output, errors = self.process.stdout.read(), self.process.stderr.read()
        self.process.wait(timeout=PATIENCE)
        ended.set()
        assert not any(stuck), f"{self.process.args} did not end: {output}{errors}"
        events = [_event(line) for line in output.splitlines() if line.startswith("{")]
        return Outcome(self.process.returncode, output, errors, events)

    def _end_if_stuck(self, ended: threading.Event, stuck: list[bool]) -> None:
        last = time.monotonic() + 6 * PATIENCE
        left_alone = 0
        while left_alone < PATIENCE and time.monotonic() < last:
            if ended.wait(1):
                return
            left_alone = left_alone + 1 if set(self._rank_states()) == {"Z"} else 0
        stuck.append(not set(self._rank_states()) <= {"Z"})
        self.process.kill()

    def _rank_states(self) -> list[str]:
        """Return what proc(5) says of each process that mpirun started; of another program "?"."""
        if not any(Path(str(word)).name == "mpirun" for word in self.process.args):
            return ["?"]
        try:
            ranks = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
            texts = [Path(f"/proc/{rank}/stat").read_text() for rank in ranks]
        except OSError:
            return ["?"]
        return [text.rpartition(")")[2].split()[0] for text in texts]

    def stop(self) -> None:
        end_process(self.process)


class Server(Running):
    """A server that is listening."""

    def __init__(self, argv: list[str], prefix: tuple[str, ...] = (), **env: str) -> None:
        super().__init__(argv, prefix, **env)
        self.listening = self.event()
        assert self.listening["event"] == "listening"
        self.port: int = self.listening["port"]


class Engines:
    """The built engines; every process it starts ends with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[Running] = []

    def argv(self, engine: str, *arguments: object) -> list[str]:
        return [str(self.folder / f"rail-{engine}"), *(str(a) for a in arguments)]

    def run(self, engine: str, *arguments: object) -> Outcome:
        result = subprocess.run(
            self.argv(engine, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        lines = result.stdout.splitlines() if "--json" in arguments else []
        return Outcome(result.returncode, result.stdout, result.stderr, [_event(x) for x in lines])

    def start(self, engine: str, *arguments: object, **env: str) -> Running:
        return self.start_other(*self.argv(engine, *arguments), **env)

    def start_other(self, *argv: str, **env: str) -> Running:
        """Start any program under the same care."""
        self.running.append(Running(list(argv), **env))
        return self.running[-1]

    def server(
        self, engine: str, *arguments: object, prefix: tuple[str, ...] = (), **env: str
    ) -> Server:
        elsewhere = ["--open=::"] if prefix and engine in ("udp", "tcp") else []
        argv = self.argv(engine, "server", "--json", "--port=0", *elsewhere, *arguments)
        server = Server(argv, prefix, **env)
        self.running.append(server)
        return server

    def client(
        self,
        server: Server,
        *options: object,
        host: str = "127.0.0.1",
        count: int = 2,
        waits: bool = True,
    ) -> Outcome:
        """Measure `count` short replications; if `waits`, as soon as the server has time."""
        engine = server.listening["engine"]
        base_options = ("--json", f"--port={server.port}", f"--replications={count}")
        # Longer than a sender stalls after its first call: what comes in one read has no rate.
        brief = () if any("--duration" in str(o) for o in options) else ("--duration=0.3s",)
        arguments = (engine, "client", host, *base_options, *brief, *options)
        return in_turn(lambda: self.run(*arguments)) if waits else self.run(*arguments)

    def start_client(self, server: Server, *options: object) -> Running:
        """Start a client whose replications last until something ends them."""
        engine = server.listening["engine"]
        arguments = ("127.0.0.1", "--json", f"--port={server.port}", "--duration=60s")
        client = self.start(engine, "client", *arguments, *options)
        assert client.event()["event"] == "settings"
        return client

    def stop(self) -> None:
        for process in self.running:
            process.stop()
        self.running.clear()
