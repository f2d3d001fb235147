"""rail-udp against ends of a stream in Python, which know exactly what they lost and when."""

from __future__ import annotations

import base64
import itertools
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import wire_lab
from tests.support.engine_lab import Server
from tests.support.processes import is_in_state, stopped
from tests.support.stream_peer import TOKEN, StreamClient, StreamServer, datagram, encode, number_of
from tests.support.wire import PATIENCE
from tests.support.wire_lab import Lab

from railgauge.base import trace as traces

UDP_SEGMENT = 103
DISORDER = [0, 1, 1, 1, 4, 3, 4, 6]  # of ten sent: five arrived, three of them again, one late


def _counts(fields: dict[str, str]) -> tuple[str, str, str]:
    return fields["received"], fields["duplicates"], fields["reordered"]


def _session(server: Server) -> int:
    """Return the process of the server's only session."""
    return int(Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text())


def _queued(client: StreamClient) -> bool:
    """Whether any of the server's sockets has datagrams that nobody has taken."""
    rows = [
        line.split()
        for name in ("udp", "udp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    ports = {f"{port:04X}" for port in client.ports}
    return any(int(row[4].split(":")[1], 16) for row in rows if row[1].split(":")[1] in ports)


def _await_catching_up(client: StreamClient, server: Server) -> None:
    """Wait until its receivers have taken all and sleep, however late their CPU is."""
    while _queued(client) or not is_in_state(_session(server), "S"):
        time.sleep(0.001)


def test_a_receiver_that_gets_its_cpu_late_does_not_time_how_fast_it_catches_up(engines) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100)
    client.start()
    with stopped(_session(server)):
        for number in range(20):
            sent_at = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            client.sockets[0].send(datagram(number, sent_at=sent_at))
            time.sleep(0.02)
    _, fields = client.end(20)
    assert fields["received"] == "20"
    assert 0.35 < float(fields["elapsed"]) < 5  # 19 times 0.02 s, and not some microseconds


def test_time_begins_when_a_receiver_that_got_its_cpu_late_has_caught_up(engines) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100)
    client.start()
    # By the sender's clock all at once, as by one that is faster than the path.
    with stopped(_session(server)):
        for number in range(12):
            client.sockets[0].send(datagram(number, sent_at=10**9 + number))
        late_since = time.monotonic()
    _await_catching_up(client, server)
    for number in range(12, 30):
        client.sockets[0].send(datagram(number, sent_at=10**9 + number))
        _await_catching_up(client, server)
        time.sleep(0.02)
    passed = time.monotonic() - late_since
    _, fields = client.end(30)
    assert (fields["received"], fields["timed"]) == ("30", "17")  # nor is the last one
    assert 16 * 0.02 < float(fields["elapsed"]) < passed


@pytest.mark.parametrize("threads", [1, 2])
def test_time_ends_where_a_receiver_that_got_its_cpu_late_had_caught_up_last(
    engines, threads: int
) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100, threads=threads)
    client.start()
    began = time.monotonic()
    numbers: Iterator[int] = itertools.count()

    def send(number: int) -> None:
        for stream in range(threads):
            sent_at = 10**9 + next(numbers)
            client.sockets[stream].send(datagram(number, sent_at=sent_at))

    for number in range(20):
        send(number)
        _await_catching_up(client, server)
        time.sleep(0.005)
    passed = time.monotonic() - began
    with stopped(_session(server)):
        for number in range(20, 24):
            send(number)
        time.sleep(passed)
    _, fields = client.end(",".join(["24"] * threads))
    assert fields["received"] == str(24 * threads)
    # But for the first and the last ones; the other stream's first may come after time began.
    assert 19 * threads <= int(fields["timed"]) < 20 * threads
    assert 19 * 0.005 < float(fields["elapsed"]) < passed


@pytest.mark.parametrize(("begins_later", "timed"), [(False, 8), (True, 13)])
def test_of_a_stream_that_was_seen_later_as_much_is_not_timed_as_can_have_come_before(
    engines, begins_later: bool, timed: int
) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100, threads=2)
    client.start()
    numbers: Iterator[int] = itertools.count()
    sent = [0, 0]

    def send(stream: int, count: int) -> None:
        for _ in range(count):
            sent_at = 10**9 + next(numbers)
            client.sockets[stream].send(datagram(sent[stream], sent_at=sent_at))
            sent[stream] += 1

    if begins_later:
        send(0, 1)
        _await_catching_up(client, server)
    with stopped(_session(server)):
        send(0, 2)
        send(1, 3)
        send(0, 1 - begins_later)
    _await_catching_up(client, server)
    for _ in range(5):
        send(0, 1)
        send(1, 1)
        _await_catching_up(client, server)
        time.sleep(0.02)
    _, fields = client.end(",".join(map(str, sent)))
    assert (fields["received"], fields["timed"]) == ("16", str(timed))


@pytest.mark.parametrize("lie", [2**64 - 1, 10**18, -1])
def test_send_times_that_cannot_be_do_not_count(engines, lie: int) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100)
    client.start()
    before = time.monotonic()
    for number in range(5):
        client.sockets[0].send(datagram(number, sent_at=(10**9 + number * lie) % 2**64))
        _await_catching_up(client, server)
        time.sleep(0.01)
    _, fields = client.end(5)
    assert 0.03 < float(fields["elapsed"]) < time.monotonic() - before


# The end.


@pytest.fixture
def lab(folder: Path, require: Callable[[object, str], None]) -> Iterator[Lab]:
    yield from wire_lab.lab_fixture(folder, require, "auto")


@pytest.mark.parametrize("delay", ["1ms", "50ms", "300ms"])
def test_what_comes_late_on_a_path_with_losses_is_not_lost(engines, lab: Lab, delay: str) -> None:
    options = (f"--delay={delay}", "--loss=every:7", "--loss-of=udp", "--direction=left-to-right")
    with lab.joined(*options) as relay:
        server = engines.server("udp", prefix=("ip", "netns", "exec", lab.right))
        with lab.inside(lab.left):
            client = StreamClient(server.port, host=wire_lab.RIGHT, datagram=100)
            client.start()
        (stream,) = client.sockets
        for number in range(40):
            stream.send(datagram(number))
        if delay == "300ms":
            client.wire.send(client.wire.END, sent=41)
            time.sleep(0.25)  # by another path it would have come so much later
            stream.send(datagram(40))
        else:
            with stopped(relay.pid):  # which takes them in one after the other
                client.wire.send(client.wire.END, sent=41)
                stream.send(datagram(40))
        _, fields = client.wire.receive()
        lost = relay.counts()["left_to_right"]["lost"]
    assert (int(fields["received"]), lost) == (36, 5)
    assert float(fields["drain_time"]) > 4 * float(delay[:-2]) / 1e3


def test_a_short_path_is_waited_for_as_long_as_its_gaps_have_shown(engines, paced) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100)
    replications = itertools.count(1)

    def wait() -> float:
        client.start(next(replications))
        for number in range(9):
            client.sockets[0].send(datagram(number))
        return float(client.end(10)[1]["drain_time"])

    # A busy machine makes gaps of its own.
    assert paced(wait, lambda seconds: seconds < 0.15) >= 0.05
    client.start(next(replications))
    for number in range(2):
        client.sockets[0].send(datagram(number))
        _await_catching_up(client, server)
        time.sleep(0.06)
    _, fields = client.end(3)
    assert float(fields["drain_time"]) >= 0.11  # twice the gap


# What a server counts.


@pytest.mark.parametrize(
    ("size", "truncate"),
    [(size, "false") for size in (4, 7, 8, 15, 16, 23, 24, 1460)]
    + [(size, "true") for size in (4, 23, 24, 1460)],
)
def test_every_size_that_has_room_for_a_number_tells_loss_duplicates_and_reordering(
    engines, size: int, truncate: str
) -> None:
    client = StreamClient(engines.server("udp").port, datagram=size, truncate=truncate)
    client.start()
    for number in DISORDER:
        client.sockets[0].send(datagram(number, size))
    for length in (size - 1, size + 1, size + 100):  # none of them
        client.sockets[0].send(datagram(9, size)[:length].ljust(length, b"x"))
    _, fields = client.end(10)
    assert _counts(fields) == ("5", "3", "1")
    assert fields["timed"] in {"3", "4"}  # without the first, and what had come with it


def test_low_bits_of_a_number_are_completed_past_their_end(engines) -> None:
    client = StreamClient(engines.server("udp").port, datagram=4)
    client.start()
    numbers = [0, 2**31 - 1, 2**32 - 2, 2**32 - 1, 2**32 + 5, 2**32 + 5, 2**32 + 1]
    for number in numbers:
        client.sockets[0].send(datagram(number, 4))
    _, fields = client.end(2**32 + 6)
    assert _counts(fields) == ("6", "1", "1")


@pytest.mark.parametrize("size", [1, 3])
def test_datagrams_without_room_for_a_number_are_counted(engines, size: int) -> None:
    client = StreamClient(engines.server("udp").port, datagram=size)
    client.start()
    for _ in range(5):
        client.sockets[0].send(b"x" * size)
    client.sockets[0].send(b"x" * (size + 1))  # not one of them
    kind, fields = client.end(9)
    assert (kind, fields["received"]) == (client.wire.RESULT, "5")


@pytest.mark.parametrize("size", [3, 8, 100])
def test_more_datagrams_than_were_sent_give_no_number(engines, size: int) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=size)
    client.start()
    for number in range(5):
        client.sockets[0].send(datagram(number, size))
    # All are there before the server knows how many to wait for.
    _await_catching_up(client, server)
    kind, fields = client.end(4)
    assert (kind, fields["code"]) == (client.wire.FAILED, "bad-peer")


@pytest.mark.parametrize("size", [2, 8])
def test_stragglers_of_the_replication_before_do_not_count(engines, size: int) -> None:
    client = StreamClient(engines.server("udp").port, datagram=size)
    client.start(1)
    (old,) = client.sockets
    old.send(datagram(0, size))
    old.send(datagram(1, size))
    client.end(2)
    client.start(2)
    old.send(datagram(2, size))
    client.sockets[0].send(datagram(0, size))
    client.sockets[0].send(datagram(1, size))
    kind, fields = client.end(5)
    assert (kind, fields["received"]) == (client.wire.RESULT, "2")


def test_each_thread_has_numbers_of_its_own(engines) -> None:
    client = StreamClient(engines.server("udp").port, datagram=100, threads=3)
    client.start()
    for stream, numbers in enumerate(([0, 1, 2], [1, 0], [2, 3, 3])):
        for number in numbers:
            client.sockets[stream].send(datagram(number))
    _, fields = client.end("4,2,9")
    assert _counts(fields) == ("7", "1", "1")
    assert fields["timed"] in {"4", "5", "6"}  # what had come when the clock began isn't


@pytest.mark.parametrize("sent", ["3", "3,2", "3,2,1,0", "3,2,x", "", "3,2,-1", "3,2,1 "])
def test_an_end_that_is_not_one_count_for_each_thread_is_refused(engines, sent: str) -> None:
    client = StreamClient(engines.server("udp").port, datagram=100, threads=3)
    client.start()
    client.sockets[0].send(datagram(0))
    kind, fields = client.end(sent)
    assert (kind, fields["code"]) == (client.wire.FAILED, "bad-peer")


@pytest.mark.parametrize("mode", ["generator", "exponential"])
def test_a_server_has_no_part_in_modes_that_need_none(engines, wire, mode: str) -> None:
    peer = wire.to(engines.server("udp").port)
    peer.hello("udp")
    peer.expect(wire.WELCOME)
    peer.send(wire.SETUP, mode=mode)
    assert peer.expect(wire.FAILED)["code"] == "bad-parameter"


@pytest.mark.parametrize("gro", ["true", "false"])
def test_datagrams_that_the_kernel_holds_together_are_counted_each(engines, gro: str) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100, gro=gro)
    client.start()
    (stream,) = client.sockets
    stream.setsockopt(socket.SOL_UDP, UDP_SEGMENT, 100)
    with stopped(_session(server)):
        stream.send(b"".join(datagram(number) for number in range(20)))
        disorder = [datagram(n) for n in (20, 21, 21, 25, 23)] + [datagram(26, token=TOKEN + 1)]
        stream.send(b"".join(disorder))
        stream.send(datagram(27) + datagram(28)[:99])  # the last one is cut
    _, fields = client.end(30)
    assert _counts(fields) == ("25", "1", "1")
    assert fields["timed"] == ("5" if gro == "true" else "24")  # what came first came at once


CALL = 10  # datagrams that a client hands over at once


@pytest.mark.parametrize(
    ("calls", "sent", "expected"),
    [
        # Of calls that all arrive whole, drops are as many as they had datagrams.
        ([range(10 * n, 10 * n + 10) for n in range(100)], 1000, "exact"),
        # So many vanished before the socket, too.
        ([range(10 * n, 10 * n + 10) for n in range(100)], 1070, "exact but 70"),
        # The last one is short: all that is missing was dropped, or else that one's place is open.
        ([*(range(10 * n, 10 * n + 10) for n in range(99)), range(990, 993)], 993, "exact"),
        ([range(10 * n, 10 * n + 10) for n in range(100)], 1003, None),
        # What arrives in pieces may have been dropped in any.
        (
            [range(3), range(3, 10), *(range(10 * n, 10 * n + 10) for n in range(1, 100))],
            1000,
            None,
        ),
        # Alone, each buffer is one.
        ([range(n, n + 1) for n in range(1000)], 1000, "exact"),
    ],
)
def test_drops_of_buffers_are_told_where_their_datagrams_are_known(
    engines, calls: list[range], sent: int, expected: str | None
) -> None:
    server = engines.server("udp")
    setup = {"datagram": 1000, "gro": "true", "gso": CALL, "rcvbuf": 65536}
    client = StreamClient(server.port, **setup)
    client.start()
    (stream,) = client.sockets
    stream.setsockopt(socket.SOL_UDP, UDP_SEGMENT, 1000)
    with stopped(_session(server)):
        for call in calls:
            stream.send(b"".join(datagram(number, 1000) for number in call))
    _, fields = client.end(sent)
    lost = sent - int(fields["received"])
    assert lost > 0
    counts = {"exact": str(lost), "exact but 70": str(lost - 70), None: None}
    assert fields.get("drops") == counts[expected]


# Traces.


@pytest.mark.parametrize("stamp", ["kernel", "user"])
def test_a_trace_tells_each_arrivals_number_and_both_its_times(engines, stamp: str) -> None:
    client = StreamClient(engines.server("udp").port, datagram=64, trace=50, timestamp=stamp)
    client.start()
    clock = time.CLOCK_REALTIME if stamp == "kernel" else time.CLOCK_MONOTONIC_RAW
    sent = []
    for number in DISORDER:
        sent.append(time.clock_gettime_ns(clock))
        client.sockets[0].send(datagram(number, 64, sent_at=10**15 + 1000 * number))
        time.sleep(0.005)
    _, fields = client.end(10)
    trace = traces.decode(client.trace(int(fields["trace_bytes"])))
    after = time.clock_gettime_ns(clock)
    assert (trace.clock, trace.sent, trace.arrived) == (
        "realtime-both" if stamp == "kernel" else "monotonic",
        10,
        8,
    )
    assert trace.sequence.tolist() == DISORDER
    assert trace.sent_at.tolist() == [1000 * number for number in DISORDER]
    assert trace.first_sent == 10**15
    arrived = [trace.first_received + int(offset) for offset in trace.received]
    # A receiver that had to wait for a CPU stamps late, never early.
    assert all(arrival >= moment for arrival, moment in zip(arrived, sent, strict=True))
    assert arrived == sorted(arrived)
    assert arrived[-1] <= after
    assert traces.loss_runs(trace).tolist() == [[1, 1], [4, 1], [6, 3]]


def test_a_trace_holds_the_first_arrivals_and_counts_the_others(engines) -> None:
    client = StreamClient(engines.server("udp").port, datagram=64, trace=5)
    for replication in (1, 2):
        client.start(replication)
        for number in range(9):
            client.sockets[0].send(datagram(number, 64))
        _, fields = client.end(9)
        trace = traces.decode(client.trace(int(fields["trace_bytes"])))
        assert (trace.sequence.tolist(), trace.arrived) == ([0, 1, 2, 3, 4], 9)


LOST = range(617, 789)  # 172 of them


def _traced(clock: int = 3) -> tuple[StreamServer, list[tuple[int, int, int]]]:
    """Make a server of 1000 datagrams that lost 172, and its trace: one arrival every 12 us."""
    numbers = [n for n in range(1000) if n not in LOST]
    at = [10**18 + 12_000 * n + (4_000 if n % 2 else 0) for n in numbers]
    arrivals = [(n, t, 5 * 10**9 + 12_000 * n) for n, t in zip(numbers, at, strict=True)]

    def result(arrived: list[bytes]) -> dict[str, object]:
        assert [number_of(packet) for packet in arrived] == list(range(1000))
        trace = encode(1000, arrivals, clock)
        return {"received": 828, "timed": 827, "clock_step": 0, "trace": trace}

    return StreamServer(result), arrivals


def _client(engines, port: int, *options: object):
    arguments = (f"--port={port}", "--count=1000", "--replications=1", "--rate=200Mbit/s")
    return engines.run("udp", "client", "127.0.0.1", *arguments, "--sockbuf=4MiB", *options)


def test_what_a_trace_shows_is_reported(engines) -> None:
    server, arrivals = _traced()
    with server:
        outcome = _client(engines, server.port, "--trace=5000", "--json", "--datagram=1000")
    (m,) = outcome.metrics
    assert (m["loss_runs"], m["longest_loss_run"], m["lost_packets"]) == (1, 172, 172)
    assert m["sequence_last"] == 616
    assert m["sequence_throughput"] == pytest.approx(616 * 8000 / (616 * 12e-6))
    jitter = 0.0
    for (_, r0, s0), (_, r1, s1) in itertools.pairwise(arrivals):
        jitter += (abs((r1 - r0) - (s1 - s0)) - jitter) / 16
    assert m["jitter"] == pytest.approx(jitter / 1e9)
    assert m["interarrival_p50"] == pytest.approx(16e-6, rel=0.01)  # 16 and 8 by turns
    assert m["interarrival_p99"] == pytest.approx(16e-6, rel=0.01)
    assert m["relative_delay_p50"] == 0
    assert m["relative_delay_p99"] == pytest.approx(4e-6, rel=0.01)
    events = [event["event"] for event in outcome.events]
    assert events == ["settings", "trace", "replication", "done"]
    (part,) = outcome.of("trace")
    assert base64.b64decode(part["data"]) == encode(1000, arrivals)


@pytest.mark.parametrize("ppm", [20, -20, 0])
def test_what_clocks_drift_apart_is_no_delay(engines, ppm: int) -> None:
    """Over five seconds 100 us, of delays up to 4 us."""
    delays = [1000 * (number * number % 8) for number in range(1000)]
    arrivals = [
        (number, 10**18 + (5_000_000 + 5 * ppm) * number + delay, 10**18 + 5_000_000 * number)
        for number, delay in enumerate(delays)
    ]

    def result(_: list[bytes]) -> dict[str, object]:
        trace = encode(1000, arrivals)
        return {"received": 1000, "timed": 999, "clock_step": 0, "trace": trace}

    with StreamServer(result) as server:
        (m,) = _client(engines, server.port, "--trace=5000", "--json", "--datagram=1000").metrics
    assert m["clock_skew"] == pytest.approx(ppm * 1e-6, abs=1e-9)
    assert m["clock_skew_error"] < 1e-9
    assert m["relative_delay_p99"] == pytest.approx(4e-6, abs=1e-8)
    assert traces.clock_skew(traces.decode(encode(1000, arrivals))) == pytest.approx(
        (m["clock_skew"], m["clock_skew_error"]), abs=1e-15
    )
    above = traces.relative_delays(traces.decode(encode(1000, arrivals)))
    assert above.tolist() == pytest.approx(delays, abs=1)


def test_a_queue_that_grows_is_no_clock() -> None:
    """Its slope is beyond what clocks differ by, or not the same throughout."""
    for growth in (lambda n: 5000 * n, lambda n: 1000 * max(0, n - 500)):
        rows = [
            (n, 10**18 + 5_000_000 * n + growth(n), 10**18 + 5_000_000 * n) for n in range(1000)
        ]
        delays = traces.relative_delays(traces.decode(encode(1000, rows)))
        assert delays.tolist() == [growth(n) for n in range(1000)]


def test_loss_runs_are_printed_by_hand_and_arrivals_written(engines, tmp_path: Path) -> None:
    server, arrivals = _traced()
    file = tmp_path / "arrivals.txt"
    with server:
        outcome = _client(engines, server.port, "--trace=5000", f"--trace-out={file}")
    assert outcome.status == 0, outcome.errors
    assert "\n  after 616 lost 172\n" in outcome.output
    head, *rows = file.read_text().splitlines()
    assert head == "# replication 1: sequence, received s, sent s"
    first = arrivals[0]
    for row, (number, received, sent_at) in zip(rows, arrivals, strict=True):
        times = (received - first[1]) / 1e9, (sent_at - first[2]) / 1e9
        assert row.split() == [str(number), *(f"{t:.9f}" for t in times)]


@pytest.mark.parametrize(
    ("claims", "option"),
    [
        ({"received": 829}, "--timestamp=kernel"),  # more than the trace has
        ({"received": 828}, "--timestamp=user"),  # another clock than asked for
        ({"received": 828, "trace": b""}, "--timestamp=kernel"),
        ({"received": 828, "trace": b"RGT1\x01"}, "--timestamp=kernel"),
        ({"received": 828, "trace": encode(999, [(0, 1, 1)])}, "--timestamp=kernel"),
    ],
)
def test_a_trace_that_contradicts_the_result_gives_no_number(engines, claims, option: str) -> None:
    server, _ = _traced()
    truth = server.result
    server.result = lambda arrived: truth(arrived) | claims
    with server:
        outcome = _client(engines, server.port, "--trace=5000", "--json", option)
    assert outcome.error["code"] == "bad-peer"
    assert outcome.of("replication") == []


def test_a_clock_that_was_set_during_a_trace_is_warned_of(engines) -> None:
    server, _ = _traced()
    truth = server.result
    server.result = lambda arrived: truth(arrived) | {"clock_step": -0.25}
    with server:
        outcome = _client(engines, server.port, "--trace=5000", "--json")
    (warning,) = outcome.of("warning")
    assert (warning["code"], warning["side"]) == ("clock-stepped", "server")
    assert outcome.metrics


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trace=10", "--threads=2"), "set threads to 1"),
        (("--trace=10", "--datagram=23"), "24 bytes"),
        (("--trace=10", "--gro=true"), "leave gro off"),
        (("--trace-out=/nowhere",), "--trace N"),
    ],
)
def test_a_trace_that_cannot_be_is_a_mistake(engines, options: tuple[str], words: str) -> None:
    outcome = engines.client(engines.server("udp"), *options)
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert words in outcome.error["message"]


# Both ways at once.


def _back(numbers: list[int], size: int = 1460):
    return lambda token: [datagram(number, size, token) for number in numbers]


def _reverse(sent: object = 10) -> dict[str, object]:
    return {"reverse_sent": sent, "reverse_elapsed": 2, "reverse_retries": 3}


def _both_ways(engines, numbers: list[int], reverse: dict[str, object]):
    def result(arrived: list[bytes]) -> dict[str, object]:
        return {
            "received": 990,
            "timed": 989,
            "duplicates": 4,
            "reordered": 2,
            "drops": 1,
        } | reverse

    with StreamServer(result, _back(numbers)) as server:
        return _client(engines, server.port, "--mode=bidirectional", "--json")


def test_each_direction_has_its_own_counts(engines) -> None:
    (m,) = _both_ways(engines, DISORDER, _reverse()).metrics
    assert (m["sent_packets"], m["received_packets"], m["lost_packets"]) == (1000, 990, 10)
    assert m["loss_rate"] == 0.01
    assert (m["duplicate_packets"], m["reordered_packets"], m["receiver_drops"]) == (4, 2, 1)
    assert m["throughput"] == 989 * 1460 * 8
    reverse = {name: m[f"reverse_{name}"] for name in m if f"reverse_{name}" in m}
    assert reverse["sent_packets"] == 10
    assert reverse["sent_bytes"] == 14_600
    assert reverse["received_packets"] == 5
    assert reverse["received_bytes"] == 7_300
    assert (reverse["lost_packets"], reverse["loss_rate"]) == (5, 0.5)
    assert (reverse["duplicate_packets"], reverse["reordered_packets"]) == (3, 1)
    assert (reverse["receiver_drops"], reverse["sender_retries"]) == (0, 3)
    assert reverse["local_throughput"] == 14_600 * 8 / 2
    assert m["total_throughput"] == m["throughput"] + reverse["throughput"]


@pytest.mark.parametrize(
    ("numbers", "claims", "code"),
    [
        ([], {}, "no-data"),
        ([0], {}, "too-short"),
        ([0, 1, 10], {}, "bad-peer"),
        ([0, 1], {"reverse_sent": "x"}, "bad-peer"),
        ([0, 1], {"reverse_elapsed": 0}, "bad-peer"),
        ([0, 1], {"received": 1001}, "bad-peer"),
    ],
)
def test_a_direction_without_sense_gives_no_number(engines, numbers, claims, code: str) -> None:
    outcome = _both_ways(engines, numbers, _reverse() | claims)
    assert (outcome.error["code"], outcome.of("replication")) == (code, [])


@pytest.mark.parametrize(("size", "in_fragments"), [(100, False), (40_000, True)])
def test_a_server_that_heard_nothing_says_so_and_sends_nothing(
    engines, size: int, in_fragments: bool
) -> None:
    client = StreamClient(engines.server("udp").port, mode="bidirectional", datagram=size)
    client.start(duration=60)
    kind, fields = client.end(9)
    assert (kind, fields["code"]) == (client.wire.FAILED, "no-data")
    assert ("fragments" in fields["message"]) is in_fragments
    client.sockets[0].setblocking(False)
    with pytest.raises((BlockingIOError, ConnectionRefusedError)):
        client.sockets[0].recv(1000)


def test_a_server_sends_back_from_the_first_datagram_on(engines) -> None:
    client = StreamClient(engines.server("udp").port, mode="bidirectional", datagram=100)
    client.start(count=50)
    (stream,) = client.sockets
    stream.settimeout(0.3)
    with pytest.raises(TimeoutError):
        stream.recv(1000)
    stream.settimeout(PATIENCE)
    stream.send(datagram(0))
    back = [stream.recv(1000) for _ in range(50)]
    assert [number_of(packet) for packet in back] == list(range(50))
    assert {len(packet) for packet in back} == {100}
    stream.send(datagram(1))
    kind, fields = client.end(3)
    assert (kind, fields["received"]) == (client.wire.RESULT, "2")
    assert (fields["reverse_sent"], fields["reverse_retries"]) == ("50", "0")


def test_what_was_omitted_is_told_by_its_numbers(engines) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100, omit=0.01)
    client.start()
    before = [datagram((1 << 63) + number) for number in (0, 1, 2, 2, 5)]
    counted = [datagram(number) for number in (0, 1, 3, 2, 3, 9)]
    late = [datagram((1 << 63) + 4)]
    for packet in before + counted + late:
        client.sockets[0].send(packet)
    _, result = client.end(10)
    assert (result["received"], result["omitted"]) == ("5", "500")
    assert (result["duplicates"], result["reordered"]) == ("1", "1")


def test_what_came_before_a_late_receiver_looked_is_no_part_of_the_omitted_rate(engines) -> None:
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=100, omit=0.01)
    client.start()
    (stream,) = client.sockets
    with stopped(_session(server)):
        for number in range(100):
            stream.send(datagram((1 << 63) + number))
    _await_catching_up(client, server)
    for number in range(100, 110):
        stream.send(datagram((1 << 63) + number))
    for number in range(3):
        stream.send(datagram(number))
    _, result = client.end(3)
    assert (result["received"], result["omitted"]) == ("3", "11000")
    assert result["omitted_timed"] == "1000"


def test_of_a_stream_of_which_nothing_came_that_counts_the_omitted_part_is_known(engines) -> None:
    client = StreamClient(engines.server("udp").port, datagram=100, omit=0.01, threads=2)
    client.start()
    for stream in client.sockets:
        stream.send(datagram(1 << 63))
    for number in range(3):
        client.sockets[0].send(datagram(number))
    _, result = client.end("3,0")
    assert (result["received"], result["omitted"]) == ("3", "200")


def test_losses_are_of_the_part_that_counts(engines) -> None:
    # Longer than a machine stalls whose buffers the omitted part has filled.
    options = ("--omit=40ms", "--threads=2", "--duration=500ms")
    for m in engines.client(engines.server("udp"), *options).metrics:
        assert m["received_packets"] + m["lost_packets"] == m["sent_packets"] > 0
        omitted = m["omitted_sent_bytes"] - m["omitted_received_bytes"]
        assert omitted == 1460 * m["omitted_lost_packets"]
        assert m["omitted_sent_packets"] > 0
        assert m["receiver_drops"] <= m["lost_packets"]


@pytest.mark.parametrize("missing", [0, 7])
def test_drops_before_the_first_datagram_that_counts_is_read_are_counted(
    engines, missing: int
) -> None:
    """Its buffer is full before the receiver takes it; of what counts, the first ones vanish."""
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=1000, omit=0.01, rcvbuf=65536)
    client.start()
    (stream,) = client.sockets
    with stopped(_session(server)):
        for number in range(10):
            stream.send(datagram((1 << 63) + number, 1000))
        for number in range(missing, 500):
            stream.send(datagram(number, 1000))
    _, fields = client.end(500)
    lost = 500 - int(fields["received"])
    assert int(fields["drops"]) == lost - missing > 0


def test_drops_of_the_omitted_part_do_not_count(engines) -> None:
    """Its end is dropped, and the beginning of what counts; then the receiver has caught up."""
    server = engines.server("udp")
    client = StreamClient(server.port, datagram=1000, omit=0.01, rcvbuf=65536)
    client.start()
    (stream,) = client.sockets
    with stopped(_session(server)):
        for number in range(500):
            stream.send(datagram((1 << 63) + number, 1000))
        for number in range(20):
            stream.send(datagram(number, 1000))
    _await_catching_up(client, server)
    for number in range(20, 30):
        stream.send(datagram(number, 1000))
    _, fields = client.end(30)
    assert (fields["received"], fields["drops"]) == ("10", "20")


def test_datagrams_too_small_to_say_that_they_do_not_count_are_refused(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--omit=40ms", "--datagram=7")
    assert outcome.error["code"] == "bad-parameter"
    assert "omit" in outcome.error["message"]
