"""A server among strangers and hostile clients: each is answered or hung up on, the next served."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from tests.support.engine_lab import in_turn
from tests.support.wire import HEADER, NONCE, SEAL, Seals, Wire

ENGINES = ["udp", "tcp"]
SHORT = {
    "udp": ("--count=20", "--sockbuf=256KiB"),
    # More than a socket buffer, so that it never comes in a single read.
    "tcp": ("--count=64", "--message=64KiB", "--congestion=system"),
}


def _frame(kind: int, payload: bytes = b"", length: int | None = None) -> bytes:
    size = len(payload) if length is None else length
    return HEADER.pack(Wire.MAGIC, Wire.PROTOCOL, kind, size) + payload


def _still_honest(engines, server) -> None:
    assert engines.client(server, *SHORT[server.listening["engine"]], count=1).metrics


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00" * 4096,
        os.urandom(100_000),
        _frame(Wire.HELLO, b"x" * 100_000, length=0xFFFFFFFF),
        _frame(Wire.HELLO, b"x" * 1025),
        _frame(Wire.HELLO, b"no fields"),
        _frame(Wire.END),
        _frame(Wire.HELLO, b"secret\n"),
        _frame(Wire.HELLO, b"a \x00\x01\xff b\n"),
    ],
    ids=[
        "http",
        "zeros",
        "noise",
        "huge",
        "too-long",
        "no-fields",
        "end",
        "no-value",
        "control-characters",
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_garbage_is_hung_up_on_and_the_next_client_served(
    engines, wire, engine: str, garbage: bytes
) -> None:
    server = engines.server(engine)
    peer = wire.to(server.port)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        peer.socket.sendall(garbage)
    assert peer.hung_up()
    _still_honest(engines, server)


@pytest.mark.parametrize("engine", ENGINES)
def test_half_a_hello_and_silence_keep_nobody_waiting(engines, wire, engine: str) -> None:
    server = engines.server(engine)
    stalled = [wire.to(server.port) for _ in range(5)]
    for peer in stalled[1:]:
        peer.socket.sendall(_frame(Wire.HELLO, b"engine u", length=50))
    _still_honest(engines, server)
    assert all(peer.hung_up() for peer in stalled)


def test_half_a_setup_and_silence_end_within_the_time_limit(engines, wire) -> None:
    """Both engines and both ways to stall at once, as each takes the 10 s of the limit."""
    stalled = []
    for engine in ENGINES:
        for payload in (b"", _frame(Wire.SETUP, b"mode str", length=50)):
            server = engines.server(engine)
            peer = _greeted(wire, server)
            peer.socket.sendall(payload)
            stalled.append((server, peer))
    for server, peer in stalled:
        assert peer.expect(wire.FAILED)["code"] == "no-answer"
        assert peer.hung_up()
        _still_honest(engines, server)


@pytest.fixture
def many_files(require) -> None:
    """Let this process have a thousand connections open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    require(hard >= 4096, "4096 open files a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("engine", ENGINES)
def test_a_thousand_connections_keep_nobody_waiting(engines, wire, engine: str) -> None:
    """Half of them say nothing, half of them half a hello."""
    server = engines.server(engine)
    crowd = []
    for number in range(1000):
        crowd.append(wire.to(server.port))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            crowd[-1].socket.sendall(_frame(Wire.HELLO, b"engine", length=20) * (number % 2))
    _still_honest(engines, server)
    for peer in crowd:
        assert _refused(peer) in (None, "limit-exceeded")
        peer.close()


def _refused(peer: Wire) -> str | None:
    """Return the code with which the server ends the connection, None if it says nothing."""
    try:
        code = peer.expect(Wire.FAILED)["code"]
    except (EOFError, ConnectionResetError):
        return None
    assert peer.hung_up()
    return code


@pytest.mark.usefixtures("many_files")
def test_five_hundred_strangers_of_another_address_take_few_places(engines, wire) -> None:
    server = engines.server("udp", "--max-connections=5")
    crowd = []
    for number in range(500):
        address = ("127.0.0.1", server.port)
        crowd.append(wire(socket.create_connection(address, source_address=("127.0.0.2", 0))))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            crowd[-1].socket.sendall(wire.frame(wire.HELLO, bytes(NONCE)) * (number % 2))
    assert engines.client(server, *SHORT["udp"], count=1).metrics
    for number, peer in enumerate(crowd):
        with contextlib.suppress(AssertionError, EOFError, ConnectionResetError):
            if number % 2:
                peer.receive_bytes()  # its challenge
        assert _refused(peer) == ("limit-exceeded" if number < 495 else None), number
        peer.close()


@pytest.mark.parametrize("secret", ["wrong", "", "secre", "secrett"])
def test_a_wrong_secret_is_refused(engines, secret: str) -> None:
    server = engines.server("udp", RAILGAUGE_SECRET="secret")
    client = engines.start(
        "udp", "client", "127.0.0.1", "--json", f"--port={server.port}", RAILGAUGE_SECRET=secret
    )
    assert client.finish().error["code"] == "bad-secret"


@pytest.mark.parametrize("engine", ENGINES)
def test_whoever_guesses_secrets_is_refused_each_time_and_in_nobodys_way(
    engines, wire, engine: str
) -> None:
    server = engines.server(engine, "--max-connections=60", RAILGAUGE_SECRET="secret")
    guessing = [wire.to(server.port) for _ in range(50)]
    for number, peer in enumerate(guessing):
        peer.hello(engine, secret=f"secret{number}")
    options = ("--json", f"--port={server.port}", "--replications=1", *SHORT[engine])
    client = engines.start(engine, "client", "127.0.0.1", *options, RAILGAUGE_SECRET="secret")
    assert client.finish().metrics
    for peer in guessing:
        assert peer.expect(wire.FAILED)["code"] == "bad-secret"
        assert peer.hung_up()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_right_secret_comes_by_standard_input_or_environment(engines, engine: str) -> None:
    server = engines.start(engine, "server", "--json", "--port=0", "--secret-stdin")
    server.write("päss word\n")
    port = server.event()["port"]
    options = ("--json", f"--port={port}", "--count=200", "--replications=1")
    plain = ("--congestion=system",) if engine == "tcp" else ()
    client = engines.start(engine, "client", "127.0.0.1", *options, *plain, "--secret-stdin")
    client.write("päss word\n")
    assert client.finish().metrics
    arguments = (engine, "client", "127.0.0.1", *options, *plain)
    outcome = in_turn(lambda: engines.start(*arguments, RAILGAUGE_SECRET="päss word").finish())
    assert outcome.metrics


def _opened(wire, server) -> tuple[Wire, bytes, bytes]:
    """Say hello; return the peer and both ends' opening frames."""
    peer = wire.to(server.port)
    hello = wire.frame(wire.HELLO, bytes(range(NONCE)))
    peer.socket.sendall(hello)
    return peer, hello, wire.frame(*peer.receive_bytes())


def _proof(wire, secret: str, hello: bytes, challenge: bytes, signer: str = "client") -> bytes:
    frame = wire.frame(wire.PROOF, b"engine udp\n")
    return frame + Seals(secret, signer, hello, challenge).seal(frame)


def test_what_somebody_recorded_sent_back_or_made_up_opens_no_session(engines, wire) -> None:
    """All of one session said again; the server's own words, as they are or as a client's."""
    server = engines.server("udp", RAILGAUGE_SECRET="secret")
    peer, hello, challenge = _opened(wire, server)
    recorded = _proof(wire, "secret", hello, challenge)
    peer.socket.sendall(recorded)
    welcome = peer.exactly(HEADER.size + SEAL)
    assert welcome[7] == wire.WELCOME
    peer.close()
    own = ("secret", hello, challenge, "server")
    for words in (
        recorded,
        welcome,
        _proof(wire, *own),
        recorded[:-1] + b"x",
        bytes(12) + recorded,
    ):
        peer, hello, challenge = _opened(wire, server)
        assert challenge != own[2]
        peer.socket.sendall(words)
        if words[:4] == hello[:4]:
            assert peer.expect(wire.FAILED)["code"] == "bad-secret"
        assert peer.hung_up()
    peer, hello, challenge = _opened(wire, server)
    peer.socket.sendall(challenge + bytes(SEAL))
    assert peer.expect(wire.FAILED)["code"] == "bad-secret"
    peer, hello, challenge = _opened(wire, server)
    peer.socket.sendall(_proof(wire, "secret", hello, challenge, "server"))
    assert peer.expect(wire.FAILED)["code"] == "bad-secret"


def test_a_session_hears_nothing_that_is_not_sealed_as_its_clients_next_words(
    engines, wire
) -> None:
    server = engines.server("udp")
    setup = wire.frame(wire.SETUP)
    for words in (setup + bytes(SEAL), wire.frame(wire.FAILED, b"code busy\n") + bytes(SEAL), None):
        peer, hello, challenge = _opened(wire, server)
        peer.begin("", hello, challenge, server=False)
        peer.send(wire.PROOF, engine="udp")
        welcome = peer.exactly(HEADER.size + SEAL)
        assert peer.incoming.seal(welcome[: HEADER.size]) == welcome[HEADER.size :]
        peer.socket.sendall(words or welcome)  # its own comes back
        assert peer.expect(wire.FAILED)["code"] == "forged"
        assert peer.hung_up()
    _still_honest(engines, server)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_that_is_stopped_before_its_proof_is_served(engines, wire, engine: str) -> None:
    peer, hello, challenge = _opened(wire, engines.server(engine))
    time.sleep(5.2)
    peer.begin("", hello, challenge, server=False)
    peer.send(wire.PROOF, engine=engine)
    assert peer.receive_bytes()[0] == wire.WELCOME


def test_a_secret_that_is_too_long_is_refused(engines) -> None:
    server = engines.start("udp", "server", "--json", "--port=0", "--secret-stdin")
    server.write("x" * 129 + "\n")
    assert server.finish().error["code"] == "bad-secret"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_client_is_told_that_the_server_is_busy_and_the_first_goes_on(
    engines, engine: str
) -> None:
    server = engines.server(engine)
    # At a rate, which leaves the CPUs to who comes meanwhile.
    options = ("--duration=5s", "--rate=10Mbit/s", "--replications=1", *SHORT[engine][1:])
    first = engines.start_client(server, *options)
    assert engines.client(server, *SHORT[engine], waits=False).error["code"] == "busy"
    assert first.finish().metrics


def test_a_client_for_another_engine_is_refused(engines) -> None:
    server = engines.server("udp")
    outcome = engines.run("tcp", "client", "127.0.0.1", "--json", f"--port={server.port}")
    assert outcome.error["code"] == "wrong-engine"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_of_another_version_is_told_so(engines, wire, engine: str) -> None:
    server = engines.server(engine)
    for protocol in (0, wire.PROTOCOL - 1, wire.PROTOCOL + 1, 65535):
        peer = wire.to(server.port)
        peer.send(wire.HELLO, protocol=protocol, engine=engine, version="9", secret="hush")
        assert peer.expect(wire.FAILED)["code"] == "version-mismatch"
        assert peer.hung_up()
    _still_honest(engines, server)


def _greeted(wire, server):
    peer = wire.to(server.port)
    peer.hello(server.listening["engine"])
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
    peer = _greeted(wire, server)
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
        {"client_ports": "65536"},
        {"client_ports": "0"},
        {"client_ports": "1,,2"},
        {"client_ports": "1," * 64 + "1"},
        {"number": "1e30"},
    ],
)
def test_a_server_checks_every_number_of_a_start(engines, wire, fields) -> None:
    good = {"number": 1, "duration": 1, "count": 0, "client_ports": 9}
    server = engines.server("udp")
    peer = _greeted(wire, server)
    peer.send(wire.SETUP)
    peer.expect(wire.SETTINGS)
    peer.send(wire.START, **({**good, **fields} if fields else {}))
    assert peer.expect(wire.FAILED)["code"] == "bad-peer"
    _still_honest(engines, server)


START = {"number": 1, "duration": 1, "count": 0, "client_ports": 9}
STAGES = ["hello", "welcome", "half-setup", "setup", "settings", "start", "ready", "end"]


def _reach(wire, peer, engine: str, stage: str) -> None:
    """Take the part of a client up to and including the stage."""
    setup = {"congestion": "system"} if engine == "tcp" else {}
    steps = {
        "hello": lambda: peer.hello(engine),
        "welcome": lambda: peer.expect(wire.WELCOME),
        "half-setup": lambda: peer.socket.sendall(_frame(wire.SETUP, b"mode ", length=1000)),
        "setup": lambda: peer.send(wire.SETUP, **setup),
        "settings": lambda: peer.expect(wire.SETTINGS),
        "start": lambda: peer.send(wire.START, **START),
        "ready": lambda: peer.expect(wire.READY),
        "end": lambda: peer.send(wire.END, sent=1000),
    }
    for step in STAGES[: STAGES.index(stage) + 1]:
        if step != "half-setup" or step == stage:
            steps[step]()


@pytest.mark.parametrize("abruptly", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_client_that_dies_at_any_stage_frees_the_server(
    engines, wire, engine: str, stage: str, abruptly: bool
) -> None:
    server = engines.server(engine)
    peer = wire.to(server.port)
    _reach(wire, peer, engine, stage)
    if abruptly:
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    _still_honest(engines, server)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_request_for_more_trace_than_there_is_is_refused(engines, wire, engine: str) -> None:
    server = engines.server(engine)
    for at in ("1", "-1", "nan", "1e300"):
        peer = wire.to(server.port)
        _reach(wire, peer, engine, "settings")
        peer.send(wire.TRACE, at=at)
        assert peer.expect(wire.FAILED)["code"] == "bad-peer"
    _still_honest(engines, server)


# A client that isn't one: what a server counts.


def _stream(engines, wire, arrivals: list[int], sent: int, strangers: bool = False):
    """Play the client of a stream; return the kind and fields of the server's answer."""
    server = engines.server("udp")
    peer = _greeted(wire, server)
    peer.send(wire.SETUP, datagram=100)
    port = int(peer.expect(wire.SETTINGS)["ports"])
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.connect(("127.0.0.1", port))
        peer.send(
            wire.START,
            number=1,
            duration=1,
            count=0,
            client_ports=udp.getsockname()[1],
        )
        peer.expect(wire.READY)
        token = peer.token()
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
    assert fields["timed"] in {"3", "4"}  # what had come when the clock began isn't


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
    peer = _greeted(wire, server)
    peer.send(wire.SETUP, congestion="system")
    port = int(peer.expect(wire.SETTINGS)["ports"])
    peer.send(wire.START, number=1, duration=1, count=0, client_ports="")
    peer.expect(wire.READY)
    token = peer.token().to_bytes(8, "big")
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"X" * 16)
        with socket.create_connection(("127.0.0.1", port)) as honest:
            greeting = token + bytes(8)  # and the connection's index
            honest.sendall(greeting)
            assert honest.recv(16, socket.MSG_WAITALL) == greeting
            honest.sendall(b"x" * 1000)
            honest.shutdown(socket.SHUT_WR)
            peer.send(wire.END, sent=1000)
            assert peer.expect(wire.RESULT)["received"] == "1000"


# What a server allows.


@pytest.mark.parametrize(
    ("limit", "option"),
    [
        ("--max-duration=1s", "--duration=1001ms"),
        ("--max-duration=1s", "--warmup=2s"),
        ("--max-duration=1s", "--omit=1001ms"),
        ("--max-threads=2", "--threads=3"),
        ("--max-sockbuf=64KiB", "--sockbuf=65537"),
        ("--max-sockbuf=64KiB", "--server-rcvbuf=1MiB"),
        ("--max-rate=1Mbit/s", "--rate=2Mbit/s"),
        ("--max-rate=1Mbit/s", "--rate=0"),
    ],
)
def test_what_exceeds_a_limit_is_refused_with_the_option_that_sets_it(
    engines, limit: str, option: str
) -> None:
    server = engines.server("udp", limit)
    error = engines.client(server, "--count=20", option).error
    assert error["code"] == "limit-exceeded"
    assert limit.split("=")[0] in error["message"]


def test_memory_beyond_the_limit_is_refused_with_the_option_that_sets_it(shipped_engines) -> None:
    server = shipped_engines.server("udp", "--max-memory=64MiB")
    error = shipped_engines.client(server, "--count=20", "--trace=10000000").error
    assert error["code"] == "limit-exceeded"
    assert "--max-memory" in error["message"]


def test_without_that_option_the_limit_is_half_of_what_the_host_has(shipped_engines, wire) -> None:
    """64 GiB, or else more than this server could get: it must not even try."""
    peer = _greeted(wire, shipped_engines.server("tcp", prefix=("prlimit", "--as=1000000000")))
    setup = {"mode": "latency", "congestion": "system", "message": 1 << 30, "threads": 64}
    peer.send(wire.SETUP, **setup)
    peer.expect(wire.SETTINGS)
    peer.send(wire.START, **START)
    assert peer.expect(wire.FAILED)["code"] == "limit-exceeded"


def test_a_client_within_the_limits_is_served(engines) -> None:
    limits = ("duration=200ms", "threads=2", "sockbuf=64KiB", "rate=1Gbit/s", "memory=1GiB")
    server = engines.server("udp", *(f"--max-{limit}" for limit in limits))
    options = ("--threads=2", "--sockbuf=64KiB", "--rate=10Mbit/s", "--duration=200ms", "--count=9")
    assert engines.client(server, *options).metrics


def test_a_start_beyond_the_longest_replication_is_refused(engines, wire) -> None:
    peer = _greeted(wire, engines.server("udp", "--max-duration=10s"))
    peer.send(wire.SETUP)
    peer.expect(wire.SETTINGS)
    peer.send(wire.START, **START | {"duration": 11})
    assert peer.expect(wire.FAILED)["code"] == "limit-exceeded"


def _await_reading(stream: socket.socket) -> None:
    """Wait until the other end, on this machine, has read all or hung up."""
    ports = [f"{address[1]:04X}" for address in (stream.getpeername(), stream.getsockname())]
    unread = True
    while unread:
        time.sleep(0.001)
        tables = (Path("/proc/net", name).read_text(encoding="ascii") for name in ("tcp", "tcp6"))
        fields = [line.split() for table in tables for line in table.splitlines()]
        queues = [f[4] for f in fields if [f[1][-4:], f[2][-4:]] == ports]
        unread = any(int(queue.split(":")[1], 16) for queue in queues)


def test_a_stream_by_count_is_ended_half_a_minute_after_the_longest_replication(
    shipped_engines, wire, tmp_path: Path
) -> None:
    library, jump = tmp_path / "jumping.so", tmp_path / "jump"
    source = Path(__file__).with_name("jumping_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    jump.touch()
    clock = {"LD_PRELOAD": str(library), "JUMP": str(jump)}
    peer = _greeted(wire, shipped_engines.server("tcp", "--max-duration=5s", **clock))
    peer.send(wire.SETUP, congestion="system")
    port = int(peer.expect(wire.SETTINGS)["ports"])
    peer.send(wire.START, number=1, duration=1, count=1000000, client_ports="")
    peer.expect(wire.READY)
    with socket.create_connection(("127.0.0.1", port)) as stream:
        stream.sendall(peer.token().to_bytes(8, "big") + bytes(8))
        stream.recv(16, socket.MSG_WAITALL)
        for seconds in (0, 20, 40):  # at each, data has just come
            os.truncate(jump, seconds)
            stream.sendall(b"x" * 1000)
            _await_reading(stream)
        failure = peer.expect(wire.FAILED)
    assert (failure["code"], "in time" in failure["message"]) == ("no-answer", True)


def test_clients_come_from_allowed_addresses_only(engines) -> None:
    error = engines.client(
        engines.server("udp", "--allow=10.1.0.0/16,127.0.0.2"), "--count=9"
    ).error
    assert error["code"] == "not-allowed"
    for allowed in ("127.0.0.1", "10.1.0.0/16,127.0.0.0/31", "fd00::/8,0.0.0.0/0"):
        assert engines.client(engines.server("udp", f"--allow={allowed}"), "--count=9").metrics
    for wrong in ("10.1.0.0/33", "10.1/16", "host", "10.1.0.0/", "10.1.0.0/8x", ",", ""):
        error = engines.run("udp", "server", "--json", "--port=0", f"--allow={wrong}").error
        assert (error["code"], "--allow" in error["message"]) == ("bad-parameter", True)


def test_without_a_secret_a_server_is_for_its_own_host(engines, wire) -> None:
    port = engines.server("udp").port
    with pytest.raises(ConnectionRefusedError):
        wire.to(port, "127.0.0.2")
    for options in (["--bind=0.0.0.0"], ["--bind=::"], ["--open=::", "--bind=::1"]):
        error = engines.run("udp", "server", "--json", "--port=0", *options).error
        assert (error["code"], "--open" in error["message"]) == ("bad-parameter", True)
    server = engines.server("udp", "--open=0.0.0.0")
    assert server.event()["code"] == "open-server"
    assert engines.client(server, "--count=9", host="127.0.0.2").metrics
    assert engines.server("udp", "--bind=::", RAILGAUGE_SECRET="secret").port


@pytest.mark.parametrize("engine", ENGINES)
def test_so_many_clients_are_served_at_once_as_the_server_is_told(engines, engine: str) -> None:
    server = engines.server(engine, "--clients=3", "--once")
    options = ("--rate=10Mbit/s", "--replications=1", *SHORT[engine][1:])
    long = [engines.start_client(server, "--duration=5s", *options) for _ in range(3)]
    assert engines.client(server, *SHORT[engine], waits=False).error["code"] == "busy"
    for client in long:
        assert client.finish().metrics
    assert server.finish().status == 0


def test_a_server_gives_up_files_and_programs_before_it_hears_anybody(
    shipped_engines, wire, shipped_probe, require, tmp_path: Path
) -> None:
    """Of the kernel's files it keeps those that its engines read."""
    own = tmp_path / "own"
    own.write_text("")
    allowed = ["open /proc/meminfo", "open /proc/sys/net/ipv4/tcp_rmem", "write /dev/null"]
    lost = [f"open {own}", f"write {own}", "open /etc/passwd", "open /proc/self/environ"]
    lost += ["run /bin/true", f"write {tmp_path}/new"]
    answers = shipped_probe(
        "confine_probe", "".join(f"{line}\n" for line in (*allowed, *lost))
    ).split()
    require("no" in answers, "Landlock in the kernel")
    assert answers == ["yes"] * len(allowed) + ["no"] * len(lost)
    server = shipped_engines.server("udp")
    peer = _greeted(wire, server)
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for pid in (server.pid, *children):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            assert "NoNewPrivs:\t1" in (thread / "status").read_text()
    assert len(children) == 1
    peer.close()
