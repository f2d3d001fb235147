"""How rail-udp sends: paced, side by side, cut apart by the kernel, both ways, without a server."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import long_way
from tests.support.wire import PATIENCE

BUFFER = "--sockbuf=4MiB"
OURS = "--i-own-this-network"


# Threads.


@pytest.mark.parametrize(("scaling", "sent"), [("strong", 1000), ("weak", 3000)])
def test_a_count_is_shared_by_threads_or_done_by_each(engines, scaling: str, sent: int) -> None:
    options = ("--threads=3", f"--scaling={scaling}", "--count=1000", BUFFER)
    outcome = engines.client(engines.server("udp"), *options)
    for m in outcome.metrics:
        assert (m["sent_packets"], m["received_packets"], m["lost_packets"]) == (sent, sent, 0)
        timed = sent * 1460 - m["untimed_bytes"]
        assert m["throughput"] == pytest.approx(timed * 8 / m["server_elapsed"])
    ports = outcome.settings["server"]["ports"].split(",")
    assert len(set(ports)) == 3


def test_fewer_datagrams_than_threads_are_sent_by_some_of_them(engines) -> None:
    options = ("--threads=8", "--scaling=strong", "--count=6", "--batch=2", BUFFER)
    (m,) = engines.client(engines.server("udp"), *options, count=1).metrics
    assert (m["sent_packets"], m["received_packets"]) == (6, 6)


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
def test_sockets_that_do_not_block_count_as_others_do(engines, mode: str) -> None:
    options = ("--blocking=false", "--threads=2", "--count=500", f"--mode={mode}", BUFFER)
    outcome = engines.client(engines.server("udp"), *options, count=3)
    assert [outcome.settings[side]["blocking"] for side in ("client", "server")] == [False, False]
    for m in outcome.metrics:
        for way in ("", "reverse_") if mode == "bidirectional" else ("",):
            assert m[f"{way}sent_packets"] == 1000
            received, lost = m[f"{way}received_packets"], m[f"{way}lost_packets"]
            assert (received + lost, lost) == (1000, m[f"{way}receiver_drops"])


def test_ports_of_threads_follow_one_another(engines, free_port) -> None:
    server = engines.server("udp")
    port = free_port()
    outcome = engines.client(server, "--threads=2", f"--data-port={port}", "--count=10", count=1)
    assert outcome.settings["server"]["ports"] == f"{port},{port + 1}"
    outcome = engines.client(server, "--threads=2", "--data-port=65535", "--count=10")
    assert (outcome.error["code"], outcome.status) == ("bad-parameter", 2)


# Pace.


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("option", ["--count=100", "--duration=300ms"])
def test_a_rate_is_that_of_all_threads_together(engines, paced, threads: int, option: str) -> None:
    options = ("--rate=5Mbit/s", f"--threads={threads}", "--scaling=strong", option, BUFFER)
    gap = threads * 1460 * 8 / 5e6

    def measure() -> dict[str, float]:
        (m,) = engines.client(engines.server("udp"), *options, count=1).metrics
        assert m["local_throughput"] <= 5e6 * 1.02
        assert m["send_gap_p99"] >= m["send_gap_p50"]
        return m

    paced(
        measure,
        lambda m: (
            m["local_throughput"] == pytest.approx(5e6, rel=0.02)
            and m["throughput"] == pytest.approx(5e6, rel=0.1)
            and m["send_gap_p50"] == pytest.approx(gap, rel=0.05)
        ),
    )


@pytest.mark.long
@pytest.mark.parametrize("option", ["--count=16", "--duration=187ms", "--count=5"])
def test_few_datagrams_of_many_threads_keep_their_rate(engines, paced, option: str) -> None:
    options = ("--rate=1Mbit/s", "--threads=8", "--scaling=strong", option)

    def slots(m: dict[str, float]) -> float:
        return m["sent_packets"] * 1460 * 8 / 1e6  # the last one's too is the stream's

    def measure() -> dict[str, float]:
        (m,) = engines.client(engines.server("udp"), *options, count=1).metrics
        return m

    paced(
        measure,
        lambda m: (
            # A first datagram that is late makes the time shorter: the others keep theirs.
            slots(m) * 0.999 < m["client_elapsed"] < slots(m) * 1.15
            and m["local_throughput"] == pytest.approx(1e6, rel=0.15)
            and m["throughput"] == pytest.approx(1e6, rel=0.15)
        ),
    )


def test_a_slow_rate_leaves_the_cpu_to_others(engines) -> None:
    options = ("--rate=1Mbit/s", "--duration=600ms")
    (m,) = engines.client(engines.server("udp"), *options, count=1).metrics
    assert m["client_user_time"] + m["client_system_time"] < m["client_elapsed"] / 4


def test_a_wait_is_kept_between_packets(engines, paced) -> None:
    options = ("--wait=2ms", "--count=50")

    def measure() -> dict[str, float]:
        (m,) = engines.client(engines.server("udp"), *options, count=1).metrics
        assert m["client_elapsed"] >= 49 * 2e-3
        assert m["send_gap_p50"] >= 1.98e-3
        return m

    paced(measure, lambda m: m["send_gap_p50"] <= 6e-3)


def test_unpaced_streams_have_no_gaps_to_tell(engines) -> None:
    (m,) = engines.client(engines.server("udp"), "--count=50", count=1).metrics
    assert not {name for name in m if "gap" in name}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rate=1Mbit/s", "--wait=1ms"), "rate and wait"),
        (("--gso=45",), "at most 44"),
        (("--gso=2", "--batch=2"), "batch and gso"),
        (("--send=zerocopy", "--batch=2"), "use gso"),
    ],
)
def test_options_that_contradict_each_other_are_a_mistake(engines, options, words: str) -> None:
    outcome = engines.client(engines.server("udp"), *options)
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert words in outcome.error["message"]


# Segments.


@pytest.mark.parametrize("options", [(), ("--gso=44", "--gro=true"), ("--threads=3",)])
def test_what_is_sent_without_copying_is_counted_like_all_else(engines, options) -> None:
    outcome = engines.client(
        engines.server("udp"), "--send=zerocopy", "--count=1000", *options, BUFFER, count=3
    )
    sent = 3000 if "--threads=3" in options else 1000
    for m in outcome.metrics:
        assert (m["sent_packets"], m["received_packets"] + m["lost_packets"]) == (sent, sent)
        assert (m["duplicate_packets"], m["lost_packets"]) == (0, m["receiver_drops"])
        assert m["zerocopy_copied"] == 1  # loopback always copies
    assert [w["code"] for w in outcome.of("warning")] == ["zerocopy-copied"]


def test_the_slot_waited_for_is_the_next_calls_though_a_refused_one_moves_it(
    probe: Callable[[str, str], str],
) -> None:
    assert probe("zerocopy_probe", "") == "waited, call 65, free\n"


@pytest.mark.parametrize(("gso", "size"), [(0, 1460), (4, 1460), (0, 24)])
def test_no_datagram_changes_while_the_kernel_reads_it(engines, require, gso, size) -> None:
    """On a slow link more of them lie in the queue than there are slots, and are read late."""
    may = os.geteuid() == 0 and Path("/dev/net/tun").exists()
    require(may, "root and /dev/net/tun, to make network namespaces")
    with long_way.limited("50mbit") as way:
        server = engines.server("udp", prefix=way.inside(way.far))
        arguments = ("--json", f"--port={server.port}", "--replications=2", "--count=2000", BUFFER)
        options = ("--send=zerocopy", f"--gso={gso}", f"--datagram={size}")
        argv = engines.argv("udp", "client", long_way.FAR, *arguments, *options)
        outcome = engines.start_other(*way.inside(way.near), *argv).finish()
    for m in outcome.metrics:
        assert (m["sent_packets"], m["duplicate_packets"], m["reordered_packets"]) == (2000, 0, 0)
        assert m["received_packets"] + m["lost_packets"] == 2000
        # The queue has room for as many single datagrams as may be under way.
        assert gso or m["lost_packets"] == m["receiver_drops"]
    assert len(outcome.metrics) == 2


@pytest.mark.parametrize("gro", ["true", "false"])
@pytest.mark.parametrize(("datagram", "gso"), [(1460, 44), (24, 60), (1, 7), (30000, 2)])
def test_segments_are_counted_as_datagrams(engines, datagram: int, gso: int, gro: str) -> None:
    options = (f"--datagram={datagram}", f"--gso={gso}", f"--gro={gro}", "--count=100", BUFFER)
    outcome = engines.client(engines.server("udp"), *options)
    assert outcome.settings["client"]["gso"] == gso
    assert outcome.settings["server"]["gro"] == (gro == "true")
    for m in outcome.metrics:
        assert m["sent_packets"] == m["received_packets"] == 100
        assert m["received_bytes"] == 100 * datagram


# Sizes.


@pytest.mark.parametrize("size", [1, 3, 4, 8, 16, 23, 24])
def test_every_size_is_measured(engines, size: int) -> None:
    options = (f"--datagram={size}", "--count=200", BUFFER, "--threads=2")
    outcome = engines.client(engines.server("udp"), *options, count=3)
    for m in outcome.metrics:
        assert (m["sent_packets"], m["received_packets"]) == (400, 400)
        assert m["sent_bytes"] == m["received_bytes"] == 400 * size
        counters = {"duplicate_packets", "reordered_packets"}
        assert counters & set(m) == (counters if size >= 4 else set())


def test_exponential_by_hand_is_a_row_for_each_size(engines) -> None:
    server = engines.server("udp")
    args = (f"--port={server.port}", "--replications=1", "--count=20")
    result = engines.run("udp", "client", "127.0.0.1", *args, "--mode=exponential", "--datagram=50")
    assert result.status == 0, result.errors
    rows = [line.split() for line in result.output.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows] == ["1", "2", "4", "8", "16", "32", "50"]
    assert {row[4] for row in rows} == {"20"}  # sent


# Both ways.


@pytest.mark.parametrize("options", [(), ("--threads=2",), ("--rate=20Mbit/s",), ("--gro=true",)])
def test_both_directions_are_measured_at_once(engines, options: tuple[str, ...]) -> None:
    declared = json.loads(engines.run("udp", "--describe").output)["metrics"]
    needed = {
        m["name"]
        for m in declared
        if "bidirectional" in m.get("modes", ["bidirectional"]) and not m.get("optional")
    }
    arguments = ("--mode=bidirectional", BUFFER, *options)
    for m in engines.client(engines.server("udp"), *arguments).metrics:
        assert needed <= set(m)
        for way in ("", "reverse_"):
            lost = m[f"{way}sent_packets"] - m[f"{way}received_packets"]
            assert m[f"{way}lost_packets"] == lost >= 0
            assert m[f"{way}sent_bytes"] == 1460 * m[f"{way}sent_packets"]
            assert m[f"{way}received_bytes"] == 1460 * m[f"{way}received_packets"]
            assert m[f"{way}throughput"] > 0
        assert m["total_throughput"] == m["throughput"] + m["reverse_throughput"]


@pytest.mark.parametrize("size", [3, 1000])
def test_both_directions_send_their_count(engines, size: int) -> None:
    options = ("--mode=bidirectional", "--count=300", f"--datagram={size}", BUFFER)
    for m in engines.client(engines.server("udp"), *options, count=3).metrics:
        assert m["received_packets"] == m["reverse_received_packets"] == 300


# Without a server.


class Sink(threading.Thread):
    """A plain socket that counts what arrives until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.3)
        self.port: int = self.socket.getsockname()[1]
        self.packets: list[bytes] = []
        self.times: list[float] = []
        self.over = False

    def run(self) -> None:
        while not self.over:
            try:
                self.packets.append(self.socket.recv(65536))
            except TimeoutError:
                continue
            self.times.append(time.monotonic())

    def wait_for(self, count: float) -> None:
        """Wait until so many have been read, however late this thread's CPU is."""
        last = time.monotonic() + PATIENCE
        while len(self.times) < count and time.monotonic() < last:
            time.sleep(0.01)


@pytest.fixture
def sink() -> Iterator[Sink]:
    receiver = Sink()
    receiver.start()
    yield receiver
    receiver.over = True
    receiver.join()
    receiver.socket.close()


def _generate(engines, *options: object, host: str = "127.0.0.1"):
    arguments = ("--mode=generator", "--json", "--replications=1", *options)
    return engines.run("udp", "client", host, *arguments)


PACED = ("--rate=2Mbit/s", "--duration=0.5s")


@pytest.mark.parametrize("gso", [0, 4])
def test_a_generator_sends_what_it_says(engines, sink, gso: int) -> None:
    target = f"--data-port={sink.port}"
    (m,) = _generate(engines, *PACED, target, OURS, "--datagram=500", f"--gso={gso}").metrics
    sink.wait_for(m["sent_packets"])
    assert {len(packet) for packet in sink.packets} == {500}
    numbers = [struct.unpack_from(">Q", packet, 8)[0] for packet in sink.packets]
    assert numbers == list(range(int(m["sent_packets"])))
    assert m["sent_bytes"] == 500 * len(numbers)
    stamps = [struct.unpack_from(">Q", packet, 16)[0] for packet in sink.packets]
    assert len(set(stamps)) == len(stamps) // (gso or 1)  # what goes at once has one time
    assert all(a <= b for a, b in itertools.pairwise(stamps))
    assert not {name for name in m if "server" in name or "received" in name}


@pytest.mark.parametrize("gso", [0, 4])
def test_a_generator_keeps_the_rate_it_was_told(engines, sink, paced, gso: int) -> None:
    options = (*PACED, f"--data-port={sink.port}", OURS, "--datagram=500", f"--gso={gso}")

    def rates() -> tuple[float, float]:
        """As sent, and as they come to a socket's other end."""
        sink.times.clear()
        (m,) = _generate(engines, *options).metrics
        sink.wait_for(m["sent_packets"])
        assert m["local_throughput"] <= 2e6 * 1.02
        sent = m["sent_packets"] * 500 * 8
        return m["local_throughput"], sent / (sink.times[-1] - sink.times[0])

    paced(
        rates,
        lambda pair: (
            pair[0] == pytest.approx(2e6, rel=0.02) and pair[1] == pytest.approx(2e6, rel=0.2)
        ),
    )


def test_a_generator_is_not_stopped_by_a_host_that_refuses(engines, free_port, paced) -> None:
    def measure() -> float:
        (m,) = _generate(engines, *PACED, f"--data-port={free_port()}", OURS).metrics
        return m["local_throughput"]

    paced(measure, lambda rate: rate == pytest.approx(2e6, rel=0.02))


@pytest.mark.parametrize("allowed", [(OURS,), ("--plan-hosts=192.0.2.1,127.0.0.1",)])
def test_a_generator_may_send_to_the_plans_hosts_or_ones_own(engines, sink, allowed) -> None:
    outcome = _generate(engines, *PACED, f"--data-port={sink.port}", *allowed)
    assert outcome.metrics
    assert "server" not in outcome.settings
    assert outcome.settings["client"]["target"] == "127.0.0.1"
    assert outcome.settings["client"]["target_port"] == sink.port


def test_a_hosts_address_on_another_link_is_another_host(engines) -> None:
    address = "fe80::1%4242"
    outcome = _generate(engines, *PACED, "--plan-hosts=fe80::1%4243", host=address)
    assert outcome.error["code"] == "target-refused"
    outcome = _generate(engines, *PACED, "--plan-hosts=::1,FE80::1%4242", host=address)
    assert outcome.error["code"] == "unreachable"  # allowed, but there is no such link


def test_an_ipv4_address_written_as_ipv6_is_itself(engines, sink) -> None:
    options = (*PACED, f"--data-port={sink.port}", "--plan-hosts=127.0.0.1")
    outcome = _generate(engines, *options, host="::ffff:127.0.0.1")
    assert outcome.settings["client"]["target"] == "127.0.0.1"
    assert outcome.metrics


@pytest.mark.parametrize("allowed", [(), ("--plan-hosts=192.0.2.1,127.0.0.2",), ("--plan-hosts=",)])
def test_a_generator_sends_nothing_to_anybody_else(engines, sink, allowed) -> None:
    outcome = _generate(engines, *PACED, f"--data-port={sink.port}", *allowed)
    assert (outcome.status, outcome.error["code"]) == (1, "target-refused")
    time.sleep(0.1)
    assert sink.packets == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--rate=1Mbit/s",), "duration"),
        (("--duration=1s",), "rate"),
        (("--duration=1s", "--rate=0"), "rate"),
    ],
)
def test_a_generator_needs_a_rate_and_a_duration(engines, options, word: str) -> None:
    outcome = _generate(engines, *options, OURS)
    assert outcome.status == 2
    assert re.search(rf"\b{word}\b", outcome.output + outcome.errors)
