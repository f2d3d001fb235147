"""rail-watch as a process under care, and what its lines add up to."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.support.processes import end_process
from tests.support.wire import PATIENCE

Event = dict[str, Any]


class Watcher:
    """A rail-watch that speaks JSON; `values` are its counters as of the last line read."""

    def __init__(self, program: Path, *options: object, prefix: tuple[str, ...] = ()) -> None:
        argv = [*prefix, str(program), "--json", *(str(option) for option in options)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)
        self._waiting = b""
        self.names: list[str] = []
        self.gauges: set[int] = set()
        self.removed: set[int] = set()
        self.labels: dict[str, str] = {}
        self.numbers: dict[int, int] = {}
        self.ready = self.event()

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        end_process(self.process)

    @property
    def values(self) -> dict[str, int]:
        """The counters that are there; of a name, the newest."""
        indices = (i for i in range(len(self.names)) if i not in self.removed)
        return {self.names[i]: self.numbers.get(i, 0) for i in indices}

    def event(self) -> Event:
        assert self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._waiting:
                assert selector.select(PATIENCE), "rail-watch says nothing"
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                assert data, f"it ended: {self._waiting!r}"
                self._waiting += data
        line, self._waiting = self._waiting.split(b"\n", 1)
        event: Event = json.loads(line)
        self._follow(event)
        return event

    def _follow(self, event: Event) -> None:
        if event["event"] == "counters":
            assert event["first"] == len(self.names)
            self.names += event["names"]
            self.gauges |= set(event["gauges"])
        elif event["event"] == "gone":
            self.removed |= set(event["indices"])
        elif event["event"] == "labels":
            self.labels |= event["labels"]
        changed = iter(event.get("changed", []))
        for index, difference in zip(changed, changed, strict=True):
            assert index not in self.removed
            assert difference
            self.numbers[index] = self.numbers.get(index, 0) + difference

    def next(self, kind: str) -> Event:
        """Read up to the next event of that kind."""
        end = time.monotonic() + PATIENCE
        while (event := self.event())["event"] != kind:
            assert event["event"] not in ("error", "done"), event
            assert time.monotonic() < end
        return event

    def snapshot(self, label: str = "now") -> dict[str, int]:
        """Have it read everything at once; return the values."""
        self.write(f"mark {label}\n")
        while self.next("mark")["label"] != label:
            pass
        return self.values

    def write(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.stdin = None

    def rest(self) -> list[Event]:
        """Wait for its end; return what else it said."""
        end = time.monotonic() + PATIENCE
        events: list[Event] = []
        while not events or events[-1]["event"] not in ("error", "done"):
            assert time.monotonic() < end
            events.append(self.event())
        self.process.wait(timeout=PATIENCE)
        return events


def differences(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {
        name: value - before[name]
        for name, value in after.items()
        if name in before and value != before[name]
    }


class Marker:
    """An engine's end of a watcher's socket."""

    def __init__(self, name: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(b"\0" + name.encode())

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: str) -> bytes:
        self.socket.send(request.encode())
        return self.socket.recv(64)
