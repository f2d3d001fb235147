"""Ends that stay connected and do nothing for a while, or for good, during a replication."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.between import Between
from tests.support.wire import PATIENCE, Wire

OPTIONS = {
    ("udp", "stream"): (),
    ("udp", "latency"): ("--mode=latency",),
    ("tcp", "stream"): ("--congestion=system",),
    ("tcp", "latency"): ("--congestion=system", "--mode=latency", "--message=64"),
}


def _freeze(pid: int) -> None:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    for process in (pid, *map(int, children)):
        os.kill(process, signal.SIGSTOP)


@pytest.fixture
def frozen(engines, request: pytest.FixtureRequest) -> Iterator[list[tuple]]:
    """A server and a client of each engine and mode, one of them frozen as soon as it is ready."""
    pairs = []
    with ExitStack() as stack:
        for (engine, _), options in OPTIONS.items():
            server, ready = engines.server(engine), threading.Event()

            def go(whole: bytes, ready: threading.Event = ready) -> bytes:
                ready.set()
                return whole

            # Of tcp, the first only tells what the kernel granted.
            first = 2 if engine == "tcp" else 1
            between = stack.enter_context(Between(server.port, Wire.READY, go, first))
            arguments = ("127.0.0.1", "--json", f"--port={between.port}", "--duration=5s")
            client = engines.start(engine, "client", *arguments, *options)
            assert ready.wait(PATIENCE)
            _freeze(server.pid if request.param == "server" else client.pid)
            pairs.append((server, client, options))
        yield pairs


@pytest.mark.parametrize("rate", ["0", "8Mbit/s"])
@pytest.mark.parametrize("engine", ["udp", "tcp"])
def test_a_client_without_cpu_as_the_omitted_part_ends_still_measures(
    engines, engine: str, rate: str
) -> None:
    server, ready = engines.server(engine), threading.Event()

    def go(whole: bytes) -> bytes:
        ready.set()
        return whole

    first = 2 if engine == "tcp" else 1
    with Between(server.port, Wire.READY, go, first) as between:
        arguments = ("127.0.0.1", "--json", f"--port={between.port}", "--replications=1")
        options = ("--omit=1s", "--duration=0.3s", f"--rate={rate}", *OPTIONS[engine, "stream"])
        client = engines.start(engine, "client", *arguments, *options)
        assert ready.wait(PATIENCE)
        time.sleep(0.5)
        os.kill(client.pid, signal.SIGSTOP)
        time.sleep(2)
        os.kill(client.pid, signal.SIGCONT)
        (m,) = client.finish().metrics
    assert m["sent_bytes"] > 0 < m["omitted_sent_bytes"]


@pytest.mark.parametrize("frozen", ["server"], indirect=True)
def test_a_client_gives_up_on_a_server_that_freezes(frozen) -> None:
    for _, client, _ in frozen:
        outcome = client.finish()
        # Frozen before it took up the connection for data, or before its first echo, it is taken
        # for lost, or its path for closed.
        assert outcome.error["code"] in ("no-answer", "peer-lost", "no-data")
        assert outcome.of("replication") == []


@pytest.mark.parametrize("frozen", ["client"], indirect=True)
def test_a_server_gives_up_on_a_client_that_freezes_and_serves_the_next(engines, frozen) -> None:
    for server, _, options in frozen:
        for _ in range(3):  # until the server's limit has passed
            outcome = engines.client(server, *options, "--count=500", count=1)
            if not outcome.is_busy:
                break
        assert outcome.metrics
