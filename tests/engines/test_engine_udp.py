"""rail-udp between two real sockets on this host."""

from __future__ import annotations

import json
import socket
import struct
import time

import pytest
from tests.support.wire import PATIENCE

HOSTS = ["127.0.0.1", "::1"]
# Where datagrams have room for a number, and where the kernel counts each of them.
# Of those there is none where it falls among the round trips that were lost.
PERCENTILES = {"rtt_p50", "rtt_p90", "rtt_p99", "rtt_p999", "rtt_p9999"}
COUNTED = {"duplicate_packets", "reordered_packets", "receiver_drops"}


def _declared(engines, mode: str) -> set[str]:
    metrics = json.loads(engines.run("udp", "--describe").output)["metrics"]
    return {
        m["name"]
        for m in metrics
        if mode in m.get("modes", [mode]) and not m.get("optional", False)
    }


@pytest.mark.parametrize("host", HOSTS)
def test_stream_reports_what_was_sent_received_and_lost(engines, host: str) -> None:
    outcome = engines.client(engines.server("udp", f"--bind={host}"), host=host, count=3)
    assert [e["replication"] for e in outcome.of("replication")] == [1, 2, 3]
    assert outcome.of("done") == [{"event": "done", "replications": 3}]
    for m in outcome.metrics:
        assert set(m) == COUNTED | _declared(engines, "stream")
        assert m["sent_packets"] == m["received_packets"] + m["lost_packets"]
        assert m["loss_rate"] == m["lost_packets"] / m["sent_packets"]
        assert m["sent_bytes"] == 1460 * m["sent_packets"]
        assert m["received_bytes"] == 1460 * m["received_packets"]
        assert m["duplicate_packets"] == m["reordered_packets"] == 0
        assert m["receiver_drops"] <= m["lost_packets"]
        assert m["local_throughput"] == pytest.approx(m["sent_bytes"] * 8 / m["client_elapsed"])
        assert 1460 <= m["untimed_bytes"] <= m["received_bytes"] / 2
        timed = m["received_bytes"] - m["untimed_bytes"]
        assert m["throughput"] == pytest.approx(timed * 8 / m["server_elapsed"])


@pytest.mark.parametrize("host", HOSTS)
def test_latency_reports_ordered_quantiles(engines, host: str) -> None:
    server = engines.server("udp", f"--bind={host}")
    outcome = engines.client(server, "--mode=latency", "--datagram=64", host=host)
    for m in outcome.metrics:
        assert set(m) == _declared(engines, "latency") | PERCENTILES
        assert 0 < m["rtt_min"] <= m["rtt_p50"] <= m["rtt_p90"] <= m["rtt_p99"]
        assert m["rtt_p99"] <= m["rtt_p999"] <= m["rtt_max"]
        assert m["rtt_min"] <= m["rtt_mean"] <= m["rtt_max"]
        assert m["round_trips"] * m["rtt_mean"] <= m["client_elapsed"]
        assert m["lost_packets"] == 0


@pytest.mark.parametrize("batch", [1, 7, 1024])
@pytest.mark.parametrize("datagram", [24, 1460, 65507])
def test_a_count_is_sent_exactly(engines, batch: int, datagram: int) -> None:
    options = ("--count=150", f"--batch={batch}", f"--datagram={datagram}")
    for m in engines.client(engines.server("udp"), *options).metrics:
        assert m["sent_packets"] == 150
        assert m["sent_bytes"] == 150 * datagram
        assert m["received_packets"] + m["lost_packets"] == 150


def test_a_count_of_round_trips_is_done_exactly(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--mode=latency", "--count=77")
    assert [m["round_trips"] + m["lost_packets"] for m in outcome.metrics] == [77, 77]


def test_a_socket_buffer_that_holds_everything_loses_nothing(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--count=100", "--sockbuf=1MiB", count=5)
    assert [m["lost_packets"] for m in outcome.metrics] == [0] * 5


def test_drops_at_the_receivers_socket_are_told_from_other_losses(engines) -> None:
    options = ("--count=20000", "--server-sockbuf=4KiB", "--sockbuf=1MiB")
    for m in engines.client(engines.server("udp"), *options).metrics:
        assert 0 < m["receiver_drops"] == m["lost_packets"]


def _cpu(m: dict[str, float], side: str) -> float:
    return m[f"{side}_user_time"] + m[f"{side}_system_time"]


def test_a_slow_stream_is_not_looked_for_in_vain_and_what_waits_is_told_apart(
    engines, paced
) -> None:
    server = engines.server("udp")

    def measure() -> dict[str, float]:
        costs = {}
        for receive in ("block", "adaptive", "poll"):
            options = ("--rate=40Mbit/s", "--duration=0.4s", f"--receive={receive}")
            (m,) = engines.client(server, *options, "--sockbuf=4MiB", count=1).metrics
            costs[receive] = m["server_polling_time"]
            assert m["lost_packets"] == 0
            assert m["client_polling_time"] > 0  # its sends are waited for by spinning
            for side in ("client", "server"):
                assert m[f"{side}_polling_time"] < 1.1 * _cpu(m, side)
        assert costs["block"] == 0 < costs["adaptive"]
        return costs

    paced(measure, lambda costs: costs["adaptive"] < costs["poll"] / 5)


@pytest.mark.parametrize("receive", ["block", "adaptive", "poll"])
@pytest.mark.parametrize("options", [(), ("--gro=true",), ("--blocking=false", "--threads=2")])
def test_every_way_to_wait_counts_the_same(engines, receive: str, options: tuple[str, ...]) -> None:
    arguments = (f"--receive={receive}", "--count=200", "--mode=bidirectional", "--sockbuf=4MiB")
    for m in engines.client(engines.server("udp"), *arguments, *options).metrics:
        assert m["received_packets"] == m["reverse_received_packets"] == m["sent_packets"]
        assert m["client_polling_time"] == m["server_polling_time"] == 0 or receive != "block"


@pytest.mark.parametrize("datagram", [1, 7, 23, 24, 1460, 65507])
def test_headers_alone_count_the_same(engines, datagram: int) -> None:
    options = ("--truncate=true", "--count=100", "--mode=bidirectional", "--sockbuf=16MiB")
    outcome = engines.client(engines.server("udp"), *options, f"--datagram={datagram}")
    for m in outcome.metrics:
        for way in ("", "reverse_"):
            assert m[f"{way}received_packets"] + m[f"{way}lost_packets"] == 100
            assert m[f"{way}received_bytes"] == datagram * m[f"{way}received_packets"] > 0


def test_headers_alone_are_no_match_for_datagrams_held_together(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--truncate=true", "--gro=true", "--count=100")
    assert (outcome.error["code"], outcome.of("replication")) == ("bad-parameter", [])


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
@pytest.mark.parametrize("options", [("--gso=44", "--count=100001"), ("--count=20000",)])
def test_drops_of_datagrams_held_together_are_counted_as_datagrams(
    engines, mode: str, options: tuple[str, ...]
) -> None:
    arguments = ("--gro=true", "--sockbuf=64KiB", f"--mode={mode}", *options)
    if mode == "stream":
        arguments += ("--server-rcvbuf=4KiB", "--sndbuf=1MiB")
    for m in engines.client(engines.server("udp"), *arguments).metrics:
        for way in ("", "reverse_") if mode == "bidirectional" else ("",):
            assert m[f"{way}receiver_drops"] == m[f"{way}lost_packets"]
        assert m["lost_packets"] > 0 or mode == "bidirectional"


def _is_stamped() -> bool:
    """Whether this host's kernel stamps packets as they come, although their socket didn't ask."""
    stamps = 35  # SO_TIMESTAMPNS, whose notes have the same number
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        probe.connect(probe.getsockname())
        probe.send(b"x")
        time.sleep(0.02)
        lain = time.time() - 0.01
        probe.setsockopt(socket.SOL_SOCKET, stamps, 1)
        _, ((_, _, note),), _, _ = probe.recvmsg(1, 64)
    seconds, nanoseconds = struct.unpack("qq", note)
    return bool(seconds + nanoseconds / 1e9 < lain)


def _becomes(stamped: bool, patience: float = PATIENCE) -> bool:
    end = time.monotonic() + patience
    while _is_stamped() != stamped:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_only_a_trace_has_the_host_stamp_every_packet(engines, require) -> None:
    require(_becomes(stamped=False), "no other program that has packets stamped")
    server = engines.server("udp")
    client = engines.start_client(server, "--rate=100kbit/s")
    assert _becomes(stamped=False)
    client.stop()
    # Another, as one that lost its client is busy for a moment.
    engines.start_client(engines.server("udp"), "--rate=100kbit/s", "--trace=10")
    assert _becomes(stamped=True)


def test_warmup_comes_first_and_is_marked(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--warmup=300ms", count=2)
    marks = [(e["replication"], e["warmup"]) for e in outcome.of("replication")]
    assert marks == [(0, True), (1, False), (2, False)]
    assert outcome.of("done")[0]["replications"] == 2


def test_settings_tell_what_both_kernels_granted(engines) -> None:
    options = ("--sockbuf=64KiB", "--server-sockbuf=32KiB", "--tos=40", "--count=10")
    settings = engines.client(engines.server("udp"), *options, count=1).settings
    assert settings["parameters"]["sockbuf"] == 65536
    assert (settings["client"]["sndbuf"], settings["client"]["rcvbuf"]) == (131072, 131072)
    assert (settings["server"]["sndbuf"], settings["server"]["rcvbuf"]) == (65536, 65536)
    assert settings["client"]["tos"] == settings["server"]["tos"] == 40
    assert settings["client"]["address"] == settings["server"]["address"] == "127.0.0.1"


def test_traffic_class_is_set_on_ipv6(engines) -> None:
    options = ("--tos=184", "--count=10", "--ip=6")
    settings = engines.client(
        engines.server("udp", "--bind=::1"), *options, host="::1", count=1
    ).settings
    assert settings["client"]["tos"] == settings["server"]["tos"] == 184
    assert settings["client"]["address"] == "::1"


def test_the_servers_test_port_can_be_chosen(engines, free_port) -> None:
    port = free_port()
    outcome = engines.client(engines.server("udp"), f"--data-port={port}", "--count=10", count=1)
    assert outcome.settings["server"]["port"] == port


def test_one_server_serves_client_after_client(engines) -> None:
    server = engines.server("udp")
    for mode in ("stream", "latency", "stream"):
        assert engines.client(server, f"--mode={mode}", count=1).metrics


def test_a_parameter_without_effect_in_the_mode_is_warned_of(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--mode=latency", "--batch=8", count=1)
    (warning,) = outcome.of("warning")
    assert (warning["code"], warning["side"]) == ("no-effect", "client")


def test_one_datagram_alone_has_no_rate(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--count=1")
    assert (outcome.error["code"], outcome.error["replication"]) == ("too-short", 1)
    assert outcome.of("replication") == []
