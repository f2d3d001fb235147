"""A control channel that goes wrong in the middle: errors with a code, no hang and no number.

Someone between a real client and a real server damages one message of one kind: to the client
that is a hostile server, to the server a hostile client.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest
from tests.support.between import Between, Change, Fields, fields_of, frame
from tests.support.engine_lab import in_turn
from tests.support.wire import Wire

ENGINES = ["udp", "tcp"]
TO_CLIENT = ["CHALLENGE", "WELCOME", "SETTINGS", "TIME_IS", "READY", "RESULT"]
TO_SERVER = ["HELLO", "PROOF", "SETUP", "CLOCK", "START", "END"]
# More than a connection holds at first: what came before a late receiver looked has no rate.
BRIEF = {
    "udp": ("--count=20", "--sockbuf=256KiB"),
    "tcp": ("--count=200", "--message=1000", "--read=1000", "--congestion=system"),
}


def _garbage(whole: bytes) -> bytes:
    return bytes(byte ^ 0x5A for byte in whole) + b"and more than that" * 50


def _huge(whole: bytes) -> bytes:
    return whole[:8] + struct.pack(">I", 0xFFFFFFFF) + whole[12:]


def _no_fields(whole: bytes) -> bytes:
    return whole[:8] + struct.pack(">I", 6) + b"\x00\xff\n \n\x7f"


def _other_kind(whole: bytes) -> bytes:
    return frame(Wire.WELCOME if whole[7] != Wire.WELCOME else Wire.RESULT, {})


def _half(whole: bytes) -> bytes:
    return whole[:7]


def _silence(whole: bytes) -> bytes:
    return b""


def _death(whole: bytes) -> None:
    return None


# More than any buffer holds while a machine stalls: what is there at once has no rate.
PLENTY = {"tcp": ("--count=200000",), "udp": ()}


def _start(engines, engine: str, port: int, *options: str):
    arguments = ("--json", f"--port={port}", "--replications=2", *BRIEF[engine])
    return engines.start(engine, "client", "127.0.0.1", *arguments, *options)


def _error(outcome) -> str:
    """The code of the one error, after which and before which there is no number."""
    assert outcome.status == 1, outcome.output + outcome.errors
    assert outcome.of("replication") == outcome.of("done") == []
    code: str = outcome.error["code"]
    return code


def _code(engines, server, kind: str, change: Change, *options: str, **place: Any) -> str:
    """`place`: where else to stand between them, as Between takes it."""

    def measure():
        with Between(server.port, getattr(Wire, kind), change, **place) as between:
            return _start(engines, server.listening["engine"], between.port, *options).finish()

    return _error(in_turn(measure))


def _still_honest(engines, server) -> None:
    engine = server.listening["engine"]
    assert engines.client(server, *BRIEF[engine], count=1).metrics


@pytest.mark.parametrize("kind", TO_CLIENT)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_gives_up_on_a_server_that_breaks_the_protocol(engines, engine, kind) -> None:
    server = engines.server(engine)
    for change in (_garbage, _huge, _no_fields, _other_kind):
        assert _code(engines, server, kind, change) == "bad-peer", change
    assert _code(engines, server, kind, _death) == "peer-lost"
    _still_honest(engines, server)


@pytest.mark.parametrize("kind", TO_SERVER)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_gives_up_on_a_client_that_breaks_the_protocol(engines, engine, kind) -> None:
    """It says why, or hangs up; either way the client, who is innocent, gets to know."""
    server = engines.server(engine)
    for change in (_garbage, _huge, _no_fields, _other_kind):
        assert _code(engines, server, kind, change) in ("bad-peer", "peer-lost"), change
    assert _code(engines, server, kind, _death) == "peer-lost"
    _still_honest(engines, server)


@pytest.mark.parametrize("at", [7, -1], ids=["kind", "end"])
def test_who_is_between_without_the_secret_can_alter_nothing(engines, at: int) -> None:
    """A flipped bit in any frame is an error at once, in its seal as in what it says."""

    def flip(whole: bytes) -> bytes:
        place = at % len(whole)
        return whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :]

    server = engines.server("udp")
    for kind in (*TO_CLIENT, *TO_SERVER, "TRACE", "PART"):
        opening = {"HELLO", "CHALLENGE", "PROOF", "WELCOME"}
        expected = {"bad-secret"} if kind in opening else {"forged"}
        if at == 7 and kind in ("HELLO", "CHALLENGE"):
            expected = {"bad-peer", "peer-lost"}
        traced = ("--trace=10",) if kind in ("TRACE", "PART") else ()
        assert _code(engines, server, kind, flip, *traced, secret=None) in expected, kind
    _still_honest(engines, server)


@pytest.mark.parametrize("kind", ["CLOCK", "TIME_IS"])
def test_what_is_said_twice_is_refused(engines, kind: str) -> None:
    server = engines.server("udp")
    assert _code(engines, server, kind, lambda whole: whole * 2, secret=None) == "forged"
    _still_honest(engines, server)


def test_neither_end_waits_for_ever_for_the_rest_of_a_message(engines) -> None:
    """All at once, as each takes as long as its limit: 10 s, and 30 s for a result."""
    betweens, clients = [], []
    try:
        for engine in ENGINES:
            for kind in (*TO_CLIENT, "SETUP", "START", "END"):
                for change in (_silence, _half):
                    server = engines.server(engine)
                    between = Between(server.port, getattr(Wire, kind), change)
                    betweens.append(between)
                    client = _start(engines, engine, between.port)
                    clients.append((client, server, (engine, kind, change)))
        for client, server, case in clients:
            # Of a client that gets its CPU late, the server's own last words fill the half up.
            late = {"bad-peer"} if case[2] is _half else set()
            # A server waits for a proof half as long as its client for a challenge.
            late |= {"peer-lost"} if case[1] == "CHALLENGE" else set()
            assert _error(client.finish()) in {"no-answer"} | late, case
            _still_honest(engines, server)
    finally:
        for between in betweens:
            between.__exit__(None, None, None)


def _listen(received: list[Fields]) -> Change:
    def change(whole: bytes) -> bytes:
        received.append(fields_of(whole))
        return whole

    return change


def _lie(name: str, value: str | None) -> Change:
    def change(whole: bytes) -> bytes:
        fields = fields_of(whole)
        del fields[name]
        return frame(whole[7], fields if value is None else {**fields, name: value})

    return change


@pytest.mark.parametrize("mode", ["stream", "latency"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_result_that_cannot_be_gives_no_number(engines, engine: str, mode: str) -> None:
    """Each of its fields missing, no number, infinite, negative, absurd."""
    server = engines.server(engine)
    first = 2 if engine == "tcp" else 1  # of tcp, the first only tells what the kernel granted
    results: list[Fields] = []
    with Between(server.port, Wire.RESULT, _listen(results)) as between:
        plenty = PLENTY[engine] if mode == "stream" else ()
        assert _start(engines, engine, between.port, f"--mode={mode}", *plenty).finish().metrics
    for name in results[-1]:
        # Not every kernel knows of each packet that a socket dropped: then nothing is said of it.
        absent = () if name == "drops" else (None,)
        for value in (*absent, "", "nan", "inf", "-1", "1e300", "1e"):
            lie = _lie(name, value)
            code = _code(engines, server, "RESULT", lie, f"--mode={mode}", first=first)
            assert code == "bad-peer", (name, value)
    _still_honest(engines, server)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ports", [None, "", "0", "70000", "-1", "x", "1,,2", "1," * 65 + "1"])
def test_a_client_sends_nothing_to_a_port_that_cannot_be(engines, engine, ports) -> None:
    server = engines.server(engine)
    assert _code(engines, server, "SETTINGS", _lie("ports", ports)) == "bad-peer"


@pytest.mark.parametrize("now", [None, "", "0x12", "-1", "ffffffffffffffff0"])
def test_a_time_that_cannot_be_is_refused(engines, now: str | None) -> None:
    server = engines.server("udp")
    assert _code(engines, server, "TIME_IS", _lie("now", now)) == "bad-peer"


@pytest.mark.parametrize(
    ("engine", "name", "value"),
    [
        ("udp", "received", "21"),
        ("udp", "timed", "21"),
        ("udp", "timed", "4.5"),
        ("tcp", "timed", "200001"),
    ],
)
def test_counts_that_do_not_fit_what_was_sent_are_no_result(engines, engine, name, value) -> None:
    server = engines.server(engine)
    first = 2 if engine == "tcp" else 1
    assert _code(engines, server, "RESULT", _lie(name, value), first=first) == "bad-peer"


def test_bytes_that_tcp_lost_are_an_error(engines) -> None:
    server = engines.server("tcp")
    assert _code(engines, server, "RESULT", _lie("received", "199999"), first=2) == "short-count"


@pytest.mark.parametrize("elapsed", ["0", "1e-310"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_result_that_took_no_time_has_no_rate(engines, engine: str, elapsed: str) -> None:
    server = engines.server(engine)
    first = 2 if engine == "tcp" else 1
    assert _code(engines, server, "RESULT", _lie("elapsed", elapsed), first=first) == "too-short"


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_warmup_that_is_too_short_for_a_rate_fails_no_replication(engines, engine, mode) -> None:
    server = engines.server(engine)
    first = 2 if engine == "tcp" else 1
    lies = iter([_lie("timed", "0")])

    def lie_once(whole: bytes) -> bytes | None:
        return next(lies, lambda frame: frame)(whole)

    with Between(server.port, Wire.RESULT, lie_once, first=first) as between:
        options = (f"--mode={mode}", "--warmup=100ms", *PLENTY[engine])
        outcome = _start(engines, engine, between.port, *options).finish()
    assert all("throughput" in metrics for metrics in outcome.metrics)
    warmup = outcome.of("replication")[0]
    assert warmup["warmup"]
    assert warmup["metrics"]["sent_bytes"] > 0
    assert not {"throughput", "total_throughput"} & warmup["metrics"].keys()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_omitted_part_that_took_no_time_has_no_rate(engines, engine: str) -> None:
    server = engines.server(engine)
    first = 2 if engine == "tcp" else 1
    with Between(
        server.port, Wire.RESULT, _lie("omitted_elapsed", "1e-310"), first=first
    ) as between:
        # Of UDP the omitted ones don't fill the buffer.
        options = {**PLENTY, "udp": ("--count=200", "--rate=20Mbit/s")}[engine]
        client = _start(engines, engine, between.port, "--omit=20ms", *options)
        assert all("omitted_throughput" not in metrics for metrics in client.finish().metrics)


def test_a_servers_warnings_and_settings_reach_the_reader(engines) -> None:
    def add(whole: bytes) -> bytes:
        granted = {"sndbuf": "4096", "name": 'a "b"', "on": "true"}
        return frame(
            Wire.SETTINGS, {**fields_of(whole), **granted, "warning": "odd-thing Be warned"}
        )

    with Between(engines.server("udp").port, Wire.SETTINGS, add) as between:
        outcome = _start(engines, "udp", between.port).finish()
    assert outcome.metrics
    granted = outcome.settings["server"]
    assert (granted["sndbuf"], granted["name"], granted["on"]) == (4096, 'a "b"', True)
    (warning,) = (warning for warning in outcome.of("warning") if warning["code"] == "odd-thing")
    assert (warning["side"], warning["message"]) == ("server", "Be warned")
