"""rail-tcp's mode connect: connections made and closed, with nothing in them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.wire import PATIENCE, Wire

PLAIN = ("--congestion=system", "--mode=connect")
SYN_SENT, TIME_WAIT = "02", "06"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_count_of_connections_is_made_exactly(engines, host: str, threads: int) -> None:
    options = (*PLAIN, "--count=100", f"--threads={threads}")
    for m in engines.client(engines.server("tcp", f"--bind={host}"), *options, host=host).metrics:
        assert m["connections"] == 100 * threads
        assert m["connection_rate"] == pytest.approx(m["connections"] / m["client_elapsed"])
        assert 0 < m["connect_min"] <= m["connect_p50"] <= m["connect_p90"] <= m["connect_p99"]
        assert m["connect_p99"] <= m["connect_p999"] <= m["connect_p9999"] <= m["connect_max"]
        assert m["connect_mean"] * 100 <= m["client_elapsed"]


def test_connections_go_on_for_the_duration(engines, paced) -> None:
    def fewest() -> float:
        outcome = engines.client(engines.server("tcp"), *PLAIN, "--duration=0.3s", "--warmup=50ms")
        assert all(m["client_elapsed"] >= 0.3 for m in outcome.metrics)
        return min(m["connections"] for m in outcome.metrics)

    assert paced(fewest, lambda connections: connections > 30) > 0


def test_strong_scaling_shares_the_connections(engines) -> None:
    options = (*PLAIN, "--count=100", "--threads=3", "--scaling=strong")
    outcome = engines.client(engines.server("tcp"), *options)
    assert [m["connections"] for m in outcome.metrics] == [100, 100]


def test_options_that_shape_a_connection_are_set_on_each(engines) -> None:
    options = (*PLAIN, "--count=20", "--sockbuf=64KiB", "--mss=1000", "--tos=16")
    outcome = engines.client(engines.server("tcp"), *options)
    assert outcome.settings["client"]["rcvbuf"] == 131072
    assert [m["connections"] for m in outcome.metrics] == [20, 20]


def _waiting(port: int) -> tuple[int, int]:
    """How many connections are in TIME_WAIT: on the port's own side, on the side that called."""
    server_side = client_side = 0
    for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        if state == TIME_WAIT:
            server_side += int(local.split(":")[1], 16) == port
            client_side += int(remote.split(":")[1], 16) == port
    return server_side, client_side


def _resets() -> int:
    """How many segments this kernel has answered with a reset."""
    names, values = (
        line.split()
        for line in Path("/proc/net/snmp").read_text(encoding="utf-8").splitlines()
        if line.startswith("Tcp:")
    )
    return int(values[names.index("OutRsts")])


def test_it_is_the_servers_side_that_waits(engines, free_port) -> None:
    """The client's one is its first connection, which was only looked at."""
    port, before = free_port(), _resets()
    # A launch of another test may have had the port for its own first connection.
    _, earlier = _waiting(port)
    outcome = engines.client(
        engines.server("tcp"), *PLAIN, "--count=200", f"--data-port={port}", count=1
    )
    assert outcome.metrics[0]["connections"] == 200
    # The last of them wait for the client's end a moment longer; TIME_WAIT lasts for a minute.
    deadline = time.monotonic() + 20
    while (counts := _waiting(port))[0] + _resets() - before < 200 and time.monotonic() < deadline:
        time.sleep(0.05)
    servers, clients = counts
    # A client's end that is sent again, or overtakes its acknowledgement from another CPU, is
    # answered in TIME_WAIT; the client, which is gone, answers with a reset, which ends that
    # (RFC 1337).
    assert servers + _resets() - before >= 200
    assert servers > clients <= earlier + 1


def test_connections_of_strangers_do_not_count(engines, free_port) -> None:
    port = free_port()
    client = engines.start_client(
        engines.server("tcp"), *PLAIN, f"--data-port={port}", "--duration=5s", "--replications=1"
    )
    strangers = 0
    for _ in range(50):
        with socket.socket() as connection, contextlib.suppress(ConnectionError):
            connection.settimeout(PATIENCE)
            connection.bind(("127.0.0.2", 0))
            connection.connect(("127.0.0.1", port))
            strangers += connection.recv(1) == b""
    assert strangers > 10
    assert client.finish().metrics[0]["connections"] > 0


class Accepting:
    """A server in Python that accepts, looks for data, and claims to have counted one more or less.

    data: what it sends on each connection; claim: added to what it tells.
    """

    def __init__(self, data: bytes = b"", claim: int = 0) -> None:
        self.data, self.claim = data, claim
        self.accepted, self.bytes = 0, 0
        self.control = socket.create_server(("127.0.0.1", 0))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.control.getsockname()[1]
        self.accepting: list[threading.Thread] = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        connection, _ = self.control.accept()
        peer = Wire(connection)
        with connection, contextlib.suppress(EOFError, ConnectionError):
            peer.welcome()
            peer.expect(Wire.SETUP)
            peer.send(Wire.SETTINGS, ports=self.listener.getsockname()[1])
            while (request := peer.receive())[0] != Wire.BYE:
                if request[0] == Wire.CLOCK:
                    peer.send(Wire.TIME_IS, now="0" * 16)
                elif request[0] == Wire.START:
                    count = int(float(request[1]["count"]))
                    self._prepare(count)
                    peer.send(Wire.READY)
                    accepting = threading.Thread(target=self._accept, args=(count,), daemon=True)
                    accepting.start()
                    self.accepting.append(accepting)
                else:
                    times = {"elapsed": 1, "user_time": 0, "system_time": 0}
                    peer.send(Wire.RESULT, accepted=self.accepted + self.claim, **times)

    def _prepare(self, count: int) -> None:
        """Do what is to be done before the client begins."""

    def _accept(self, count: int) -> None:
        if count == 0:
            connection, _ = self.listener.accept()
            with connection:
                connection.sendall(connection.recv(16, socket.MSG_WAITALL))
        for _ in range(count):
            try:
                connection, _ = self.listener.accept()
            except OSError:  # Closed: the client had enough.
                return
            self.accepted += 1
            with connection, contextlib.suppress(ConnectionError):
                connection.sendall(self.data)
                connection.shutdown(socket.SHUT_WR)
                self.bytes += len(connection.recv(100))

    def close(self) -> None:
        self.thread.join(PATIENCE)
        self.control.close()
        self.listener.shutdown(socket.SHUT_RDWR)  # Wakes who still waits in accept.
        for thread in self.accepting:
            thread.join(PATIENCE)
        self.listener.close()


def _against(engines, server: Accepting):
    flags = ("--json", f"--port={server.port}", "--replications=1", "--count=50")
    outcome = engines.run("tcp", "client", "127.0.0.1", *flags, *PLAIN)
    server.close()
    return outcome


def test_another_server_counts_the_same_connections_and_no_bytes(engines) -> None:
    server = Accepting()
    (m,) = _against(engines, server).metrics
    assert m["connections"] == server.accepted == 50
    assert server.bytes == 0


@pytest.mark.parametrize("claim", [-1, 1])
def test_a_server_that_counted_otherwise_gives_no_number(engines, claim: int) -> None:
    outcome = _against(engines, Accepting(claim=claim))
    assert (outcome.error["code"], outcome.of("replication")) == ("short-count", [])


class Crowded(Accepting):
    """One that takes nobody in until it was told that the client's first call to connect waits."""

    def __init__(self, on_waiting: Callable[[], None]) -> None:
        self.on_waiting = on_waiting
        super().__init__()

    def _prepare(self, count: int) -> None:
        if count:
            self.listener.listen(0)
            self.crowd = socket.create_connection(self.listener.getsockname())

    def _accept(self, count: int) -> None:
        if count:
            while not _is_calling(self.listener.getsockname()[1]):
                time.sleep(0.001)
            self.on_waiting()
            self.listener.accept()[0].close()
            self.crowd.close()
        super()._accept(count)


def _is_calling(port: int) -> bool:
    lines = Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    return any(line.split()[2:4] == [f"0100007F:{port:04X}", SYN_SENT] for line in lines)


def test_a_client_that_was_stopped_while_it_connects_goes_on(engines) -> None:
    """Then connect(2) ends with EINTR, as its socket has a timeout: signal(7)."""

    def stop_and_go_on() -> None:
        client.process.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{client.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)
        client.process.send_signal(signal.SIGCONT)

    server = Crowded(stop_and_go_on)
    flags = ("--json", f"--port={server.port}", "--replications=1", "--count=2")
    client = engines.start("tcp", "client", "127.0.0.1", *flags, *PLAIN)
    (m,) = client.finish().metrics
    server.close()
    assert m["connections"] == server.accepted == 2


def test_data_on_a_connection_that_should_carry_none_gives_no_number(engines) -> None:
    assert _against(engines, Accepting(data=b"x")).error["code"] == "bad-peer"


@pytest.mark.parametrize("threads", [1, 3])
def test_a_server_killed_in_the_middle_is_an_error(engines, threads: int) -> None:
    server = engines.server("tcp")
    client = engines.start_client(server, *PLAIN, f"--threads={threads}")
    server.process.kill()
    outcome = client.finish()
    assert (outcome.error["code"], outcome.of("replication")) == ("peer-lost", [])


def test_a_client_killed_in_the_middle_frees_the_server(engines) -> None:
    server = engines.server("tcp")
    client = engines.start_client(server, *PLAIN)
    client.process.kill()
    client.process.wait()
    assert engines.client(server, *PLAIN, "--count=20").metrics


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a network namespace")
def test_no_free_port_is_an_error_that_says_what_to_do(engines) -> None:
    """In a network of its own, which has four ports to connect from."""
    script = (
        "ip link set lo up; echo '40000 40003' > /proc/sys/net/ipv4/ip_local_port_range; "
        "server=$1; shift; $server server --port=39000 --once >/dev/null 2>&1 & "
        "until grep -q ':9858 ' /proc/net/tcp; do sleep 0.05; done; "  # 39000
        "exec $server client 127.0.0.1 --port=39000 --data-port=39001 --json "
        "--congestion=system --mode=connect --threads=32 --count=20000 --replications=1"
    )
    binary = engines.argv("tcp")[0]
    outcome = engines.start_other("unshare", "-n", "sh", "-c", script, "sh", binary).finish()
    assert outcome.error["code"] == "no-ports"
    assert "net.ipv4.ip_local_port_range" in outcome.error["message"]
    assert outcome.of("replication") == []
