"""What rail-tcp's server makes of what a sender in Python sends; and both directions at once."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import socket
import struct
import termios
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from tests.support.engine_lab import Server
from tests.support.tcp_sink import Sink
from tests.support.wire import PATIENCE, Wire

PLAIN = "--congestion=system"
READS = 3 * 131_072  # bytes of as many of the server's


def _start(server, wire, **setup: object) -> tuple[Wire, int, bytes]:
    """Have a replication begin: the control channel, the port for data, how a connection begins."""
    peer = wire.to(server.port)
    peer.hello("tcp")
    peer.expect(wire.WELCOME)
    peer.send(wire.SETUP, congestion="system", **setup)
    port = int(peer.expect(wire.SETTINGS)["ports"])
    peer.send(wire.START, number=1, duration=1, count=0, client_ports="")
    peer.expect(wire.READY)
    return peer, port, peer.token().to_bytes(8, "big")


def _connect(port: int, token: bytes, index: int, late: float = 0) -> socket.socket:
    """Connect, and say so many seconds later which connection it is."""
    connection = socket.create_connection(("127.0.0.1", port))
    greeting = token + index.to_bytes(8, "big")
    time.sleep(late)
    connection.sendall(greeting)
    assert connection.recv(16, socket.MSG_WAITALL) == greeting
    return connection


def _end(peer: Wire, connections: Collection[socket.socket], sent: int) -> dict[str, str]:
    """End what was sent; what the server says of it."""
    for connection in connections:
        connection.shutdown(socket.SHUT_WR)
    peer.send(Wire.END, sent=sent)
    result: dict[str, str] = peer.expect(Wire.RESULT)
    for connection in connections:
        connection.close()
    peer.close()
    return result


def _send(engines, wire, sizes: list[int], **setup: object) -> dict[str, str]:
    """Send so many bytes by each connection, in pieces of many sizes; what the server says."""
    peer, port, token = _start(engines.server("tcp"), wire, threads=len(sizes), **setup)
    # The server sorts them.
    connections = {index: _connect(port, token, index) for index in reversed(range(len(sizes)))}
    dice = random.Random(1)
    for index, connection in connections.items():
        left = sizes[index]
        while left:
            step = min(left, dice.randint(1, 200_000))
            connection.sendall(b"x" * step)
            left -= step
    return _end(peer, connections.values(), sum(sizes))


def test_a_client_that_stalls_between_connecting_and_greeting_is_waited_for(engines, wire) -> None:
    peer, port, token = _start(engines.server("tcp"), wire)
    connection = _connect(port, token, 0, late=2)
    connection.sendall(b"x")
    assert _end(peer, [connection], 1)["received"] == "1"


def test_strangers_who_connect_and_say_nothing_keep_no_client_waiting(engines, wire) -> None:
    """They have as many places as on the control channel; who says half a greeting has no other."""
    peer, port, token = _start(engines.server("tcp", "--max-connections=3"), wire, threads=2)
    strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for stranger in strangers:
        stranger.settimeout(PATIENCE)
        with suppress(ConnectionResetError, BrokenPipeError):
            stranger.sendall(token[:7])
    connections = [_connect(port, token, index) for index in range(2)]
    for connection in connections:
        connection.sendall(b"x")
    assert _end(peer, connections, 2)["received"] == "2"
    for stranger in strangers:
        with suppress(ConnectionResetError):
            assert stranger.recv(1) == b""
        stranger.close()


@pytest.mark.parametrize("receive", ["recv", "read", "truncate", "splice"])
@pytest.mark.parametrize("blocking", ["true", "false"])
@pytest.mark.parametrize("read", [0, 1000])
def test_every_way_of_receiving_counts_every_byte(engines, wire, receive, blocking, read) -> None:
    sizes = [5_000_003]
    result = _send(engines, wire, sizes, receive=receive, blocking=blocking, read=read)
    assert int(result["received"]) == sizes[0]
    # Time begins with the first read: its bytes, and what lay there then, aren't timed.
    assert 0 < int(result["timed"]) < sizes[0]
    assert float(result["elapsed"]) > 0


def test_connections_are_summed_up(engines, wire) -> None:
    sizes = [1_000_000, 0, 2_000_001]
    result = _send(engines, wire, sizes)
    assert int(result["received"]) == sum(sizes)
    assert 0 < int(result["timed"]) < sum(sizes)
    assert {f"window{i}" for i in range(3)} <= set(result)


def test_a_receiver_is_woken_up_for_rcvlowat_bytes(engines, wire) -> None:
    began = time.monotonic()
    result = _send(engines, wire, [1_000_000], read=200_000, rcvlowat=200_000)
    # No window is so large when a connection begins; a call waits a second for what is missing.
    if time.monotonic() - began < 1:
        assert 1_000_000 - int(result["timed"]) >= 200_000


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
def test_an_rcvlowat_beyond_the_buffer_is_refused_with_advice(engines, mode) -> None:
    options = (PLAIN, f"--mode={mode}", "--rcvlowat=1MiB", "--rcvbuf=64KiB", "--count=1")
    outcome = engines.client(engines.server("tcp"), *options)
    assert outcome.error["code"] == "bad-parameter"
    assert "grants 65536 of 1048576 bytes" in outcome.error["message"]


def test_settings_tell_what_the_connections_wait_like(engines) -> None:
    run = engines.client(engines.server("tcp"), PLAIN, "--blocking=false", "--cork=true", count=1)
    for side in ("client", "server"):
        assert run.settings[side]["blocking"] is False
        assert run.settings[side]["cork"] is True


@pytest.mark.parametrize("send", ["send", "write", "sendfile", "zerocopy", "splice"])
@pytest.mark.parametrize("receive", ["recv", "read", "truncate", "splice"])
def test_every_way_of_sending_meets_every_way_of_receiving(engines, send, receive) -> None:
    options = (PLAIN, f"--send={send}", f"--receive={receive}", "--count=60", "--message=77777")
    for m in engines.client(engines.server("tcp"), *options).metrics:
        assert m["sent_bytes"] == m["received_bytes"] == 60 * 77777


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("blocking", ["true", "false"])
@pytest.mark.parametrize("send", ["send", "sendfile"])
def test_both_directions_agree_on_their_bytes(engines, threads, blocking, send) -> None:
    options = (PLAIN, "--mode=bidirectional", f"--threads={threads}", f"--blocking={blocking}")
    outcome = engines.client(engines.server("tcp"), *options, f"--send={send}")
    for m in outcome.metrics:
        assert m["sent_bytes"] == m["received_bytes"] > 0
        assert m["reverse_sent_bytes"] == m["reverse_received_bytes"] > 0
        assert m["total_throughput"] == pytest.approx(m["throughput"] + m["reverse_throughput"])
        assert m["sent_messages"] <= m["sent_bytes"] / 65536
        assert m["reverse_sent_messages"] <= m["reverse_sent_bytes"] / 65536


def test_a_count_goes_both_ways(engines) -> None:
    options = (PLAIN, "--mode=bidirectional", "--threads=2", "--count=100", "--message=30000")
    for m in engines.client(engines.server("tcp"), *options).metrics:
        assert m["sent_bytes"] == m["reverse_sent_bytes"] == 2 * 100 * 30000
        assert m["sent_messages"] == m["reverse_sent_messages"] == 200


def _bidirectional(engines, sink: Sink):
    options = ("--json", f"--port={sink.port}", "--replications=1", PLAIN)
    sent = ("--mode=bidirectional", "--threads=2", "--count=9", "--message=40000")
    return engines.run("tcp", "client", "127.0.0.1", *options, *sent)


def test_what_comes_back_is_counted_by_who_gets_it(engines) -> None:
    back = bytes(3_000_017)
    with Sink(connections=2, back=back) as sink:
        (m,) = _bidirectional(engines, sink).metrics
    assert m["reverse_received_bytes"] == m["reverse_sent_bytes"] == 2 * len(back)
    assert [len(data) for data in sink.brought] == [360_000] * 2


def test_the_clients_time_ends_with_its_sending(engines, paced) -> None:
    def elapsed() -> float:
        with Sink(connections=2, back=bytes(3_000_017), pause=2) as sink:
            (m,) = _bidirectional(engines, sink).metrics
        assert m["local_throughput"] == pytest.approx(m["sent_bytes"] * 8 / m["client_elapsed"])
        assert m["reverse_throughput"] < 2 * 3_000_017 * 8 / 1.9
        return m["client_elapsed"]

    # The last byte comes back a second later at least.
    paced(elapsed, lambda seconds: seconds < 1)


def test_a_server_that_claims_to_have_sent_more_gives_no_number(engines) -> None:
    back = bytes(3_000_017)
    with Sink(connections=2, back=back, claimed=2 * len(back) + 1) as sink:
        outcome = _bidirectional(engines, sink)
    assert outcome.error["code"] == "short-count"


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
def test_a_rate_is_of_what_came_after_the_very_first_read_of_several_connections(
    engines, mode
) -> None:
    options = (PLAIN, f"--mode={mode}", "--threads=4", "--count=20", "--message=64KiB")
    for m in engines.client(engines.server("tcp"), *options, "--read=1000").metrics:
        timed = m["throughput"] * m["server_elapsed"] / 8
        assert m["received_bytes"] - timed == pytest.approx(m["untimed_bytes"], abs=1)
        for way in ("", "reverse_") if mode == "bidirectional" else ("",):
            assert 1000 <= m[f"{way}untimed_bytes"] < m[f"{way}received_bytes"]


def _wait_for(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


def _is_stopped(pid: int) -> bool:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    states = [(task / "stat").read_text(encoding="utf-8").rpartition(")")[2] for task in tasks]
    return all(state.split()[0] == "T" for state in states)


def _acknowledged(connection: socket.socket, sent: int) -> int:
    """Return how many of the bytes the other end's kernel has."""
    (waiting,) = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))
    return sent - int(waiting)


def _all_acknowledged(connection: socket.socket, sent: int) -> bool:
    return _acknowledged(connection, sent) == sent


def _unread(connection: socket.socket) -> int:
    """Return the bytes that the other end's kernel has and its program hasn't."""
    ends = [f":{end[1]:04X}" for end in (connection.getpeername(), connection.getsockname())]
    for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[1].endswith(ends[0]) and words[2].endswith(ends[1]):
            return int(words[4].partition(":")[2], 16)
    raise AssertionError("no such connection")


@contextmanager
def _without_cpu(server: Server) -> Iterator[None]:
    """Stop the server's only session meanwhile."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    session = int(children.read_text(encoding="utf-8"))
    os.kill(session, signal.SIGSTOP)
    _wait_for(partial(_is_stopped, session))
    try:
        yield
    finally:
        os.kill(session, signal.SIGCONT)


def _send_to_late(server: Server, connection: socket.socket, seconds: float = 0) -> int:
    """Stop the session for so long, and until it has several reads to do; return the bytes sent."""
    sent, began, limit = 0, time.monotonic(), time.monotonic() + PATIENCE
    connection.setblocking(False)
    with _without_cpu(server):
        while _acknowledged(connection, sent) < READS:
            assert time.monotonic() < limit
            with suppress(BlockingIOError):
                sent += connection.send(bytes(65_536))
        time.sleep(max(0, began + seconds - time.monotonic()))
    connection.setblocking(True)
    _wait_for(lambda: _all_acknowledged(connection, sent) and _unread(connection) == 0)
    return sent


def test_what_came_before_a_late_receiver_looked_is_no_part_of_its_rate(engines, wire) -> None:
    server = engines.server("tcp")
    peer, port, token = _start(server, wire, rcvbuf=4 << 20)
    connection = _connect(port, token, 0)
    early = _send_to_late(server, connection)
    connection.sendall(bytes(100_000))
    sent = early + 100_000
    result = _end(peer, [connection], sent)
    assert int(result["received"]) == sent
    assert 100_000 <= int(result["timed"]) <= sent - READS


def test_what_came_before_a_late_receiver_looked_is_no_part_of_the_omitted_rate_either(
    engines, wire
) -> None:
    server = engines.server("tcp")
    peer, port, token = _start(server, wire, rcvbuf=4 << 20, omit=60)
    connection = _connect(port, token, 0)
    early = _send_to_late(server, connection)
    connection.sendall(bytes(100_000))
    result = _end(peer, [connection], early + 100_000)
    assert int(result["omitted"]) == early + 100_000
    assert 100_000 <= int(result["omitted_timed"]) <= early + 100_000 - READS


def test_what_came_while_a_receiver_had_no_cpu_as_the_omitted_part_ended_took_its_time(
    engines, wire
) -> None:
    omit, stop = 3, 3.2
    began = time.monotonic()
    server = engines.server("tcp")
    peer, port, token = _start(server, wire, rcvbuf=4 << 20, omit=omit)
    connection = _connect(port, token, 0)
    for _ in range(2):  # when the second byte is read, the omitted part has begun with the first
        connection.sendall(b"x")
        _wait_for(lambda: _acknowledged(connection, 1) == 1 and _unread(connection) == 0)
    early = _send_to_late(server, connection, stop)
    result = _end(peer, [connection], early + 2)
    assert int(result["omitted"]) + int(result["received"]) == early + 2
    assert int(result["timed"]) == early
    assert float(result["elapsed"]) >= stop * 0.999  # clocks differ
    # The omitted part's time ended with its last read.
    took = float(result["omitted_elapsed"]) + float(result["elapsed"])
    assert took <= (time.monotonic() - began) * 1.001


def test_what_came_by_any_connection_before_a_late_receiver_looked_has_no_rate(
    engines, wire
) -> None:
    server = engines.server("tcp")
    peer, port, token = _start(server, wire, threads=3)
    connections = [_connect(port, token, index) for index in range(3)]
    with _without_cpu(server):
        for connection in connections:
            connection.sendall(bytes(50_000))  # less than one read takes
            _wait_for(partial(_all_acknowledged, connection, 50_000))
    result = _end(peer, connections, 150_000)
    assert (result["received"], result["timed"]) == ("150000", "0")


def test_what_was_omitted_is_counted_apart_to_the_byte(engines) -> None:
    # Longer than a machine stalls after the omitted part.
    options = (PLAIN, "--omit=60ms", "--duration=500ms", "--warmup=300ms", "--threads=2")
    outcome = engines.client(engines.server("tcp"), *options, "--read=64KiB")
    assert "omitted_throughput" not in outcome.of("replication")[0]["metrics"]  # the warm-up's
    for m in outcome.metrics:
        sent = m["sent_bytes"] + m["omitted_sent_bytes"]
        assert m["received_bytes"] + m["omitted_received_bytes"] == sent
        assert m["omitted_sent_bytes"] > 0
        assert m.get("omitted_throughput", 1) > 0  # none where a stalled server looked once
        timed = m["throughput"] * m["server_elapsed"] / 8
        assert m["received_bytes"] - timed == pytest.approx(m["untimed_bytes"], abs=1)
        assert m["untimed_bytes"] <= 2 * 65536  # a read of each


def test_a_count_begins_when_the_omitted_part_is_over(engines) -> None:
    options = (PLAIN, "--omit=30ms", "--count=25", "--message=10000", "--threads=2")
    # A second of it, as the server begins to count by its own clock.
    outcome = engines.client(engines.server("tcp"), *options, "--rate=4Mbit/s", count=1)
    for m in outcome.metrics:
        assert m["sent_messages"] == 50
        # Of each connection the message that was under way is sent to its end, and no message.
        assert 500_000 <= m["sent_bytes"] < 520_000
        assert m["omitted_sent_bytes"] > 0


@pytest.mark.parametrize("engine", ["tcp", "udp"])
def test_elsewhere_than_in_streams_nothing_is_omitted(engines, engine: str) -> None:
    options = ("--mode=latency", "--omit=60s", "--count=5")
    outcome = engines.client(engines.server(engine), *options, count=1)
    assert [m["round_trips"] for m in outcome.metrics] == [5]
