"""A client before a server that isn't one, and before one that answers datagrams oddly."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable

import pytest
from tests.support.wire import NONCE as NONCE_SIZE
from tests.support.wire import Wire

NONCE = bytes(range(NONCE_SIZE))


@pytest.fixture
def impostor() -> Callable[[Callable[[socket.socket], None]], int]:
    """Serve one connection by a function; return the port."""
    listeners: list[tuple[socket.socket, threading.Thread]] = []

    def serve(act: Callable[[socket.socket], None]) -> int:
        listener = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            connection, _ = listener.accept()
            # OSError: not to be connected any more is no ConnectionError.
            with connection, contextlib.suppress(OSError):
                act(connection)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        listeners.append((listener, thread))
        port: int = listener.getsockname()[1]
        return port

    yield serve
    for listener, thread in listeners:
        thread.join(30)
        listener.close()


def _client(engines, port: int, *options: str):
    return engines.run("udp", "client", "127.0.0.1", "--json", f"--port={port}", *options)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "bad-peer"),
        (b"", "peer-lost"),
        (os.urandom(100_000), "bad-peer"),
        (Wire.frame(Wire.CHALLENGE, NONCE)[:7], "peer-lost"),
        (Wire.frame(Wire.CHALLENGE)[:8] + b"\xff" * 4, "bad-peer"),
        (Wire.frame(Wire.CHALLENGE, NONCE[1:]), "bad-peer"),
        (Wire.frame(Wire.RESULT), "bad-peer"),
        (Wire.frame(Wire.WELCOME, b"\x00\x01\x02\x03"), "bad-peer"),
        (Wire.frame(Wire.WELCOME, protocol=2), "version-mismatch"),
        (Wire.frame(Wire.CHALLENGE, NONCE, protocol=9), "version-mismatch"),
        (Wire.frame(Wire.FAILED, b"code version-mismatch\n", protocol=2), "version-mismatch"),
        (Wire.frame(Wire.FAILED, b"code busy\n", protocol=9), "busy"),
        (Wire.frame(Wire.FAILED, b'code "\xff{}<\n'), "bad-peer"),
        # No seal at all, one that says nothing, and the words of somebody who has no key.
        (Wire.frame(Wire.CHALLENGE, NONCE) + Wire.frame(Wire.WELCOME), "peer-lost"),
        (Wire.frame(Wire.CHALLENGE, NONCE) + Wire.frame(Wire.WELCOME) + NONCE, "bad-secret"),
        (
            Wire.frame(Wire.CHALLENGE, NONCE) + Wire.frame(Wire.FAILED, b"code bad-secret\n"),
            "bad-secret",
        ),
    ],
)
def test_a_client_gives_a_code_to_every_bad_answer(engines, impostor, answer, code) -> None:
    def act(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    assert _client(engines, impostor(act)).error["code"] == code


def test_a_server_that_does_not_have_the_secret_learns_and_gets_nothing(
    engines, wire, impostor
) -> None:
    received: list[bytes] = []

    def act(connection: socket.socket) -> None:
        peer = wire(connection)
        hello = peer.receive_bytes()
        peer.socket.sendall(challenge := wire.frame(wire.CHALLENGE, NONCE))
        peer.begin("guess", wire.frame(*hello), challenge, server=True)
        received.append(hello[1] + connection.recv(65536))
        peer.send(wire.WELCOME)
        with contextlib.suppress(ConnectionResetError):
            received.append(connection.recv(65536))

    client = engines.start(
        "udp",
        "client",
        "127.0.0.1",
        "--json",
        f"--port={impostor(act)}",
        RAILGAUGE_SECRET="open sesame",
    )
    error = client.finish().error
    assert (error["code"], "did not prove" in error["message"]) == ("bad-secret", True)
    assert b"sesame" not in b"".join(received)
    assert b"".join(received[1:]) == b""


def _obliging(wire, connection: socket.socket, udp: socket.socket):
    """Go along with a client until it sends."""
    peer = wire(connection)
    peer.welcome()
    peer.expect(wire.SETUP)
    peer.send(wire.SETTINGS, ports=udp.getsockname()[1])
    while (request := peer.receive())[0] == wire.CLOCK:
        peer.send(wire.TIME_IS, now="0" * 16)
    assert request[0] == wire.START
    peer.send(wire.READY)
    return peer


@pytest.fixture
def udp_socket() -> socket.socket:
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(30)
        yield udp


RESULT = {"elapsed": 0.1, "user_time": 0, "system_time": 0}


def test_echoes_that_are_lost_stale_or_strange_do_not_count(
    engines, wire, impostor, udp_socket
) -> None:
    """After the first: echoed, lost, echoed after a stale one, after a cut one, echoed twice."""

    def act(connection: socket.socket) -> None:
        peer = _obliging(wire, connection, udp_socket)
        packets = []
        for number in range(6):
            packet, client = udp_socket.recvfrom(65536)
            packets.append(packet)
            if number == 3:
                udp_socket.sendto(packets[1], client)
            if number == 4:
                udp_socket.sendto(packet[:-1], client)
            if number != 2:
                udp_socket.sendto(packet, client)
            if number == 5:
                udp_socket.sendto(packet, client)
        peer.expect(wire.END)
        peer.send(wire.RESULT, **RESULT)

    options = ("--mode=latency", "--count=5", "--replications=1")
    (metrics,) = _client(engines, impostor(act), *options).metrics
    assert (metrics["round_trips"], metrics["lost_packets"]) == (4, 1)


def test_a_server_that_echoes_nothing_gives_no_number(engines, wire, impostor, udp_socket) -> None:
    def act(connection: socket.socket) -> None:
        _obliging(wire, connection, udp_socket)
        connection.recv(1)

    options = ("--mode=latency", "--count=2", "--replications=1")
    assert _client(engines, impostor(act), *options).error["code"] == "no-data"
