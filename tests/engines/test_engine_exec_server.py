"""rail-exec as the guard of somebody else's server: its port, when it is ready, its end."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable

import pytest

LISTEN = """\
import socket, sys, time
kind = socket.SOCK_DGRAM if sys.argv[1] == "udp" else socket.SOCK_STREAM
time.sleep(0.2)
end = socket.socket(type=kind)
end.bind(("0.0.0.0", int(sys.argv[2].removeprefix("-p"))))
if kind == socket.SOCK_STREAM:
    end.listen()
    if sys.argv[1] == "once":
        end.accept()
        sys.exit(int(sys.argv[3]))
time.sleep(600)
"""


def serve(engines, *arguments: str, options: tuple[str, ...] = ()):
    """Start a server under rail-exec's guard; returns it when it is ready."""
    return engines.server("exec", *options, "--", sys.executable, "-c", LISTEN, *arguments)


@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_it_chooses_a_port_and_tells_it_when_the_server_has_it(engines, kind: str) -> None:
    server = serve(engines, kind, "-p{port}")
    assert server.listening["engine"] == "exec"
    if kind == "tcp":
        socket.create_connection(("127.0.0.1", server.port), timeout=60).close()
    type_of = {"udp": socket.SOCK_DGRAM, "tcp": socket.SOCK_STREAM}[kind]
    with socket.socket(type=type_of) as other, pytest.raises(OSError, match="in use"):
        other.bind(("0.0.0.0", server.port))


def test_a_port_may_be_said(engines, free_port: Callable[[], int]) -> None:
    port = free_port()
    assert serve(engines, "tcp", "{port}", options=(f"--port={port}",)).port == port


def test_a_port_that_somebody_has_is_refused(engines) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        outcome = engines.run("exec", "server", "--json", f"--port={port}", "--", "sleep", "9")
    assert outcome.error["code"] == "port-in-use"


def test_somebody_elses_listener_is_not_taken_for_the_server(engines, tmp_path) -> None:
    port_file = tmp_path / "port"
    script = f"echo {{port}} >{port_file}; while [ -e {port_file} ]; do sleep 0.01; done; exit 3"
    server = engines.start("exec", "server", "--json", "--", "sh", "-c", script)
    while not (port_file.exists() and port_file.read_text().endswith("\n")):
        time.sleep(0.01)
    with socket.create_server(("127.0.0.1", int(port_file.read_text()))):
        time.sleep(0.3)
        port_file.unlink()
        outcome = server.finish()
    assert outcome.of("listening") == []
    assert outcome.error["code"] == "command-failed"


def test_what_it_writes_may_tell_that_it_is_ready(engines) -> None:
    script = "echo starting; sleep 0.2; echo now ready >&2; exec sleep 600"
    began = time.monotonic()
    engines.server("exec", "--ready=now ready", "--", "sh", "-c", script)
    assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no such device >&2; exit 3", "the server ended with status 3: no such device"),
        ("echo it was; exit 0", "the server ended before it was ready: it was"),
        ("kill -9 $$", "was ended by signal 9"),
    ],
)
def test_a_server_that_ends_before_it_is_ready_is_told(engines, script: str, says: str) -> None:
    running = engines.start("exec", "server", "--json", "--", "sh", "-c", script)
    outcome = running.finish()
    assert outcome.error["code"] == "command-failed"
    assert says in outcome.error["message"]


@pytest.mark.parametrize("child", ["", "setsid"])
def test_closing_standard_input_ends_the_server_and_its_children(
    engines, tmp_path, process_ends, child: str
) -> None:
    pids = tmp_path / "pids"
    script = f"{child} sleep 600 & echo $! $$ >{pids}; echo ready; wait"
    server = engines.server("exec", "--ready=ready", "--", "sh", "-c", script)
    server.close_input()
    assert server.process.wait(timeout=30) == 0
    assert all(process_ends(int(pid)) for pid in pids.read_text().split())


def test_a_server_that_serves_once_is_not_missed(engines) -> None:
    server = serve(engines, "once", "{port}", "0")
    socket.create_connection(("127.0.0.1", server.port), timeout=60).close()
    time.sleep(0.3)
    assert server.process.poll() is None
    server.close_input()
    assert server.finish().events == []
    assert server.process.returncode == 0


def test_a_server_that_fails_later_says_so(engines) -> None:
    server = serve(engines, "once", "{port}", "7")
    socket.create_connection(("127.0.0.1", server.port), timeout=60).close()
    outcome = server.finish()
    assert outcome.error["code"] == "command-failed"
    assert "the server ended with status 7" in outcome.error["message"]


def test_one_that_serves_has_no_setting_of_a_client_of_ours(engines) -> None:
    outcome = engines.run("udp", "server", "--json", "--duration=1s")
    assert outcome.status == 2
    assert "is given to the client" in outcome.events[-1]["message"]
