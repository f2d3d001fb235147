"""The watchers of many machines: none is waited for before all were addressed."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from tests.support import watch_samples

from railgauge.engine.watch.watcher import Watcher, idle
from railgauge.hosts.transport.fake import LINE, FakeTransport, Program

HOSTS = ("a", "b", "c")


@pytest.fixture
def together() -> threading.Barrier:
    """What all watchers have to come to before any goes on."""
    return threading.Barrier(len(HOSTS), timeout=20)


def start(host: str, together: threading.Barrier, at: str | None, past: list[str]) -> Watcher:
    """Start a watcher that goes past this line, or the end of input, together with all others."""

    def watch(argv: Sequence[str]) -> Program:
        yield watch_samples.ready()
        line: str | None = ""
        while line is not None:
            line = yield LINE
            if line == at:
                together.wait()
                past.append(host)
            if line is not None:
                yield watch_samples.own_mark(1.0, line.removeprefix("mark "))
        return 0

    return Watcher(FakeTransport(host, {"rail-watch": watch}), "/engines", host, 1.0)


def test_all_are_asked_what_they_counted_before_the_first_has_answered(
    together: threading.Barrier,
) -> None:
    watchers = [start(host, together, "mark before", []) for host in HOSTS]
    assert [log.host for log in idle(watchers, "before", 0)] == list(HOSTS)
    Watcher.close_all(watchers)


def test_all_are_asked_to_end_before_the_first_has_ended(together: threading.Barrier) -> None:
    past: list[str] = []
    watchers = [start(host, together, None, past) for host in HOSTS]
    Watcher.close_all(watchers)
    assert sorted(past) == list(HOSTS)
