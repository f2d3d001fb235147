"""How engines end: peers that die, ports in use, controllers that vanish, deadlines."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

ENGINES = ["udp", "tcp"]
MODES = ["stream", "latency"]


def _plain(engine: str) -> tuple[str, ...]:
    """What any user may ask of any host."""
    return ("--congestion=system", "--message=64") if engine == "tcp" else ()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_killed_in_the_middle_is_an_error_and_no_number(engines, engine, mode) -> None:
    server = engines.server(engine)
    client = engines.start_client(server, f"--mode={mode}", *_plain(engine))
    server.process.kill()
    outcome = client.finish()
    assert (outcome.status, outcome.error["code"]) == (1, "peer-lost")
    assert outcome.of("replication") == outcome.of("done") == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_killed_in_the_middle_frees_the_server(engines, engine, mode) -> None:
    server = engines.server(engine)
    client = engines.start_client(server, f"--mode={mode}", *_plain(engine))
    client.process.kill()
    client.process.wait()
    # Of a stream more than a connection holds before a late receiver's first read.
    options = (f"--mode={mode}", "--count=5000" if mode == "stream" else "--count=50")
    outcome = engines.client(server, *options, *_plain(engine), count=1)
    assert outcome.metrics


@pytest.mark.parametrize("engine", ENGINES)
def test_closing_standard_input_ends_server_and_client(engines, engine: str, process_ends) -> None:
    server = engines.server(engine)
    client = engines.start_client(server, *_plain(engine))
    client.close_input()
    assert process_ends(client.pid)
    assert client.process.wait() == 1
    server.close_input()
    assert process_ends(server.pid)
    assert server.process.wait() == 0


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(word) for word in text.split()]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_controller_killed_outright_leaves_nothing_behind(
    engines, engine: str, process_ends
) -> None:
    """A parent that holds the server's input dies by kill -9: server and session end."""
    hold = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(p.pid, p.stdout.readline().decode(), flush=True)\n"
        "time.sleep(600)\n"
    )
    argv = engines.argv(engine, "server", "--json", "--port=0")
    controller = engines.start_other(sys.executable, "-c", hold, *argv)
    number, line = controller.line().split(" ", 1)
    pid, port = int(number), json.loads(line)["port"]
    options = ("--json", f"--port={port}", "--duration=60s", *_plain(engine))
    client = engines.start(engine, "client", "127.0.0.1", *options)
    assert client.event()["event"] == "settings"
    (session,) = _children(pid)
    controller.process.kill()
    assert process_ends(pid)
    assert process_ends(session)
    assert client.finish().error["code"] == "peer-lost"


def test_a_killed_server_takes_its_session_with_it(engines, process_ends) -> None:
    server = engines.server("udp")
    engines.start_client(server)
    (session,) = _children(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert process_ends(session)


def test_a_servers_deadline_ends_it(engines) -> None:
    server = engines.start("udp", "server", "--json", "--port=0", "--deadline=0.3s")
    outcome = server.finish()
    assert (outcome.status, outcome.error["code"]) == (1, "deadline")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_clients_deadline_ends_it_in_the_middle(engines, engine: str) -> None:
    server = engines.server(engine)
    outcome = engines.client(server, "--duration=60s", "--deadline=1s", *_plain(engine))
    assert (outcome.status, outcome.error["code"]) == (1, "deadline")
    assert outcome.of("replication") == []


def test_once_means_one_client(engines) -> None:
    server = engines.server("udp", "--once")
    assert engines.client(server, "--count=20", count=1).metrics
    assert server.finish().status == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_control_port_in_use_is_an_error(engines, engine: str) -> None:
    server = engines.server(engine)
    outcome = engines.run(engine, "server", "--json", f"--port={server.port}")
    assert (outcome.status, outcome.error["code"]) == (1, "port-in-use")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_test_port_in_use_is_an_error(engines, engine: str, free_port) -> None:
    port = free_port()
    kind = socket.SOCK_DGRAM if engine == "udp" else socket.SOCK_STREAM
    with socket.socket(type=kind) as bound_socket:
        bound_socket.bind(("127.0.0.1", port))
        outcome = engines.client(engines.server(engine), f"--data-port={port}", *_plain(engine))
    assert outcome.error["code"] == "port-in-use"
    assert str(port) in outcome.error["message"]


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_listening_is_an_error(engines, engine: str, free_port) -> None:
    outcome = engines.run(engine, "client", "127.0.0.1", "--json", f"--port={free_port()}")
    assert (outcome.status, outcome.error["code"]) == (1, "connection-refused")


def test_a_host_without_an_address_is_an_error(engines) -> None:
    outcome = engines.run("udp", "client", "no-such-host.invalid", "--json")
    assert (outcome.status, outcome.error["code"]) == (1, "unknown-host")


def test_an_address_of_the_other_ip_version_is_an_error(engines) -> None:
    outcome = engines.run("udp", "client", "::1", "--json", "--ip=4")
    assert outcome.error["code"] == "unknown-host"


def test_a_server_can_be_bound_to_one_address(engines) -> None:
    server = engines.server("udp", "--bind=127.0.0.1")
    assert engines.client(server, "--count=20", count=1).metrics
    outcome = engines.client(server, "--count=20", host="::1")
    assert outcome.error["code"] == "connection-refused"


def test_an_address_of_another_host_cannot_be_bound(engines) -> None:
    outcome = engines.run("udp", "server", "--json", "--port=0", "--bind=192.0.2.1")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")


def test_output_that_nobody_reads_any_more_ends_the_client(engines, process_ends) -> None:
    server = engines.server("udp")
    client = engines.start_client(server, "--duration=50ms", "--replications=1000")
    assert client.process.stdout
    client.process.stdout.close()
    assert process_ends(client.pid)
    client.process.stdout = None


def _limit(buffer: str) -> int:
    return int(Path(f"/proc/sys/net/core/{buffer}_max").read_text(encoding="utf-8"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_clamped_buffer_is_warned_of_with_the_remedy(engines, engine: str, require) -> None:
    huge = 512 << 20
    require(_limit("rmem") < huge and _limit("wmem") < huge, "ordinary socket buffer limits")
    unprivileged = ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin")
    prefix = unprivileged if os.geteuid() == 0 else ()
    server = engines.server(engine, prefix=prefix)
    outcome = engines.client(server, f"--sockbuf={huge}", "--count=200", *_plain(engine), count=1)
    clamped = [w for w in outcome.of("warning") if w["side"] == "server"]
    assert [w["code"] for w in clamped] == ["buffer-clamped", "buffer-clamped"]
    assert f"sysctl -w net.core.wmem_max={huge}" in clamped[0]["message"]
    assert f"sysctl -w net.core.rmem_max={huge}" in clamped[1]["message"]
    assert outcome.settings["server"]["rcvbuf"] == 2 * _limit("rmem")
