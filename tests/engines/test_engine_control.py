"""A server among strangers, and a client before a server that isn't one."""

from __future__ import annotations

import contextlib
import os
import socket
import struct

import pytest

SHORT = ("--count=20", "--sockbuf=256KiB")


def _still_honest(engines, server) -> None:
    assert engines.client(server, *SHORT, count=1).metrics


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00" * 4096,
        os.urandom(100_000),
        struct.pack(">IHHI", 0x5241494C, 1, 1, 0xFFFFFFFF) + b"x" * 100_000,
        struct.pack(">IHHI", 0x5241494C, 1, 1, 9) + b"no fields",
        struct.pack(">IHHI", 0x5241494C, 1, 7, 0),
        struct.pack(">IHHI", 0x5241494C, 1, 1, 7) + b"secret\n",
        struct.pack(">IHHI", 0x5241494C, 1, 1, 8) + b"a \x00\x01\xff b\n",
    ],
    ids=["http", "zeros", "noise", "huge", "no-fields", "end", "no-value", "control-characters"],
)
def test_garbage_is_hung_up_on_and_the_next_client_served(engines, wire, garbage: bytes) -> None:
    server = engines.server("udp")
    peer = wire.to(server.port)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        peer.socket.sendall(garbage)
    assert peer.hung_up()
    _still_honest(engines, server)


def test_half_a_frame_and_silence_keep_nobody_waiting(engines, wire) -> None:
    server = engines.server("udp")
    stalled = [wire.to(server.port) for _ in range(5)]
    for peer in stalled[1:]:
        peer.socket.sendall(struct.pack(">IHHI", wire.MAGIC, 1, 1, 50) + b"engine u")
    _still_honest(engines, server)
    assert all(peer.hung_up() for peer in stalled)


def test_a_thousand_connections_keep_nobody_waiting(engines, wire) -> None:
    server = engines.server("udp")
    crowd = [wire.to(server.port) for _ in range(300)]
    _still_honest(engines, server)
    for peer in crowd:
        peer.close()
    crowd = [wire.to(server.port) for _ in range(700)]
    _still_honest(engines, server)
    for peer in crowd:
        peer.close()


@pytest.mark.parametrize("given", ["wrong", "", "secre", "secrett"])
def test_a_wrong_secret_is_refused(engines, given: str) -> None:
    server = engines.server("udp", RAILGAUGE_SECRET="secret")
    client = engines.start(
        "udp", "client", "127.0.0.1", "--json", f"--port={server.port}", RAILGAUGE_SECRET=given
    )
    assert client.finish().error["code"] == "bad-secret"


@pytest.mark.parametrize("engine", ["udp", "tcp"])
def test_the_right_secret_comes_by_standard_input_or_environment(engines, engine: str) -> None:
    server = engines.start(engine, "server", "--json", "--port=0", "--secret-stdin")
    server.write("päss word\n")
    port = server.event()["port"]
    options = ("--json", f"--port={port}", "--count=200", "--replications=1")
    plain = ("--congestion=system",) if engine == "tcp" else ()
    client = engines.start(engine, "client", "127.0.0.1", *options, *plain, "--secret-stdin")
    client.write("päss word\n")
    assert client.finish().metrics
    client = engines.start(
        engine, "client", "127.0.0.1", *options, *plain, RAILGAUGE_SECRET="päss word"
    )
    assert client.finish().metrics


def test_a_secret_that_is_too_long_is_refused(engines) -> None:
    server = engines.start("udp", "server", "--json", "--port=0", "--secret-stdin")
    server.write("x" * 129 + "\n")
    assert server.finish().error["code"] == "bad-secret"


def test_a_second_client_is_told_that_the_server_is_busy(engines) -> None:
    server = engines.server("udp")
    engines.start_client(server)
    assert engines.client(server, *SHORT).error["code"] == "busy"


def test_a_client_for_another_engine_is_refused(engines) -> None:
    server = engines.server("udp")
    done = engines.run("tcp", "client", "127.0.0.1", "--json", f"--port={server.port}")
    assert done.error["code"] == "wrong-engine"


def test_a_client_of_another_version_is_told_so(engines, wire) -> None:
    server = engines.server("udp")
    peer = wire.to(server.port)
    peer.send(wire.HELLO, protocol=2, engine="udp", version="9", secret="")
    kind, fields = peer.receive()
    assert (kind, fields["code"]) == (wire.FAILED, "version-mismatch")
    assert peer.hung_up()
    _still_honest(engines, server)


def _greeted(engines, wire, server):
    peer = wire.to(server.port)
    peer.hello("udp")
    peer.expect(wire.WELCOME)
    return peer


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"datagram": "70000"}, "bad-parameter"),
        ({"datagram": "1e300"}, "bad-parameter"),
        ({"datagram": "-1"}, "bad-parameter"),
        ({"mode": "mayhem"}, "bad-parameter"),
        ({"ip": "a" * 500}, "bad-parameter"),
        ({"no_such_thing": "1"}, "version-mismatch"),
        ({"data_port": "70000"}, "bad-parameter"),
    ],
)
def test_a_server_checks_every_parameter_it_is_sent(engines, wire, fields, code) -> None:
    server = engines.server("udp")
    peer = _greeted(engines, wire, server)
    peer.send(wire.SETUP, **fields)
    assert peer.expect(wire.FAILED)["code"] == code
    _still_honest(engines, server)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"duration": "nan"},
        {"duration": "1e99"},
        {"duration": "-1"},
        {"count": "-5"},
        {"count": "0.5"},
        {"client_port": "65536"},
        {"token": "0123"},
        {"token": "g" * 16},
        {"number": "1e30"},
    ],
)
def test_a_server_checks_every_number_of_a_start(engines, wire, fields) -> None:
    good = {"number": 1, "duration": 1, "count": 0, "client_port": 9, "token": "0" * 16}
    server = engines.server("udp")
    peer = _greeted(engines, wire, server)
    peer.send(wire.SETUP)
    peer.expect(wire.SETTINGS)
    peer.send(wire.START, **({**good, **fields} if fields else {}))
    assert peer.expect(wire.FAILED)["code"] == "bad-peer"
    _still_honest(engines, server)


def test_a_session_that_breaks_off_in_a_frame_frees_the_server(engines, wire) -> None:
    server = engines.server("udp")
    peer = _greeted(engines, wire, server)
    peer.socket.sendall(struct.pack(">IHHI", wire.MAGIC, 1, wire.SETUP, 1000) + b"mode ")
    peer.close()
    _still_honest(engines, server)


# A client that isn't one: what a server counts.


def _stream(engines, wire, arrivals: list[int], sent: int, strangers: bool = False):
    """Play the client of a stream; return the kind and fields of the server's answer."""
    server = engines.server("udp")
    peer = _greeted(engines, wire, server)
    peer.send(wire.SETUP, datagram=100)
    port = int(peer.expect(wire.SETTINGS)["port"])
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.connect(("127.0.0.1", port))
        token = 0xFEDCBA9876543210
        peer.send(
            wire.START,
            number=1,
            duration=1,
            count=0,
            client_port=udp.getsockname()[1],
            token=f"{token:016x}",
        )
        peer.expect(wire.READY)
        for number in arrivals:
            udp.send(struct.pack(">QQQ", token, number, 0).ljust(100))
        if strangers:
            udp.send(struct.pack(">QQQ", token + 1, 77, 0).ljust(100))  # another replication's
            udp.send(struct.pack(">QQQ", token, 78, 0).ljust(99))  # cut
            udp.send(struct.pack(">QQQ", token, 79, 0).ljust(101))  # too long
            udp.send(b"")
            udp.send(struct.pack(">QQQ", token, 2**64 - 1, 0).ljust(100))  # no such number
        peer.send(wire.END, sent=sent)
        return peer.receive()


def test_duplicates_do_not_cancel_losses_and_reordering_is_no_loss(engines, wire) -> None:
    kind, fields = _stream(engines, wire, [0, 1, 1, 1, 4, 3, 4, 6], sent=10)
    assert kind == wire.RESULT
    assert (fields["received"], fields["duplicates"], fields["reordered"]) == ("5", "3", "1")
    assert fields["timed"] == "4"


def test_datagrams_of_strangers_do_not_count(engines, wire) -> None:
    kind, fields = _stream(engines, wire, [0, 1, 2], sent=100, strangers=True)
    assert (kind, fields["received"]) == (wire.RESULT, "3")


def test_a_stream_of_which_nothing_arrives_gives_no_number(engines, wire) -> None:
    kind, fields = _stream(engines, wire, [], sent=10)
    assert (kind, fields["code"]) == (wire.FAILED, "no-data")


def test_a_datagram_that_was_never_sent_gives_no_number(engines, wire) -> None:
    kind, fields = _stream(engines, wire, [0, 1, 12], sent=10)
    assert (kind, fields["code"]) == (wire.FAILED, "bad-peer")


def test_a_stranger_at_the_tcp_test_port_is_not_taken_for_the_client(engines, wire) -> None:
    server = engines.server("tcp")
    peer = wire.to(server.port)
    peer.hello("tcp")
    peer.expect(wire.WELCOME)
    peer.send(wire.SETUP, congestion="system")
    port = int(peer.expect(wire.SETTINGS)["port"])
    token = bytes.fromhex("00112233445566ff")
    peer.send(wire.START, number=1, duration=1, count=0, client_port=0, token=token.hex())
    peer.expect(wire.READY)
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"X" * 8)
        with socket.create_connection(("127.0.0.1", port)) as honest:
            honest.sendall(token)
            assert honest.recv(8, socket.MSG_WAITALL) == token
            honest.sendall(b"x" * 1000)
            honest.shutdown(socket.SHUT_WR)
            peer.send(wire.END, sent=1000)
            assert peer.expect(wire.RESULT)["received"] == "1000"
