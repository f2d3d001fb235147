"""rail-tcp between two real sockets on this host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HOSTS = ["127.0.0.1", "::1"]
# What every user may choose on this host.
ALLOWED = (
    Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text(encoding="utf-8").split()
)
PLAIN = f"--congestion={ALLOWED[0]}"


def _declared(engines, mode: str) -> tuple[set[str], set[str]]:
    """What a mode has to report, and what it may."""
    metrics = json.loads(engines.run("tcp", "--describe").output)["metrics"]
    own = [m for m in metrics if mode in m.get("modes", [mode])]
    return {m["name"] for m in own if not m.get("optional")}, {m["name"] for m in own}


@pytest.mark.parametrize("host", HOSTS)
def test_stream_receives_every_byte_sent(engines, host: str, paced) -> None:
    server = engines.server("tcp", f"--bind={host}")

    def largest_share() -> float:
        outcome = engines.client(server, PLAIN, host=host, count=3)
        shares = []
        for m in outcome.metrics:
            required, names = _declared(engines, "stream")
            assert required <= set(m) <= names
            assert m["received_bytes"] == m["sent_bytes"]
            assert m["sent_bytes"] - 65536 < m["sent_messages"] * 65536 <= m["sent_bytes"]
            assert m["local_throughput"] == pytest.approx(m["sent_bytes"] * 8 / m["client_elapsed"])
            shares.append(m["throughput"] / (m["received_bytes"] * 8 / m["server_elapsed"]))
        return max(shares)

    # From the first read to the last, which is all of the server's time but where it stalled first.
    assert paced(largest_share, lambda share: share > 0.75) <= 1


@pytest.mark.parametrize("host", HOSTS)
def test_latency_reports_ordered_quantiles(engines, host: str) -> None:
    options = (PLAIN, "--mode=latency", "--message=64")
    server = engines.server("tcp", f"--bind={host}")
    for m in engines.client(server, *options, host=host).metrics:
        required, names = _declared(engines, "latency")
        assert required <= set(m) <= names
        assert 0 < m["rtt_min"] <= m["rtt_p50"] <= m["rtt_p90"] <= m["rtt_p99"]
        assert m["rtt_p99"] <= m["rtt_p999"] <= m["rtt_max"]
        assert m["round_trips"] * m["rtt_mean"] <= m["client_elapsed"]


@pytest.mark.parametrize(("write", "read"), [(0, 0), (1000, 777), ("8KiB", "1MiB"), ("1GiB", 100)])
def test_a_count_of_messages_is_sent_exactly_however_it_is_cut(engines, write, read) -> None:
    options = (PLAIN, "--count=200", "--message=20000", f"--write={write}", f"--read={read}")
    for m in engines.client(engines.server("tcp"), *options).metrics:
        assert (m["sent_messages"], m["received_bytes"]) == (200, 4_000_000)


@pytest.mark.parametrize(("write", "read"), [(0, 0), (1000, 777)])
def test_a_count_of_round_trips_is_done_exactly_however_it_is_cut(engines, write, read) -> None:
    cut = (f"--write={write}", f"--read={read}")
    options = (PLAIN, "--mode=latency", "--count=30", "--message=20000", *cut)
    outcome = engines.client(engines.server("tcp"), *options)
    assert [m["round_trips"] for m in outcome.metrics] == [30, 30]


def test_settings_tell_what_both_kernels_granted(engines) -> None:
    options = (PLAIN, "--sockbuf=64KiB", "--server-sockbuf=128KiB", "--nodelay=false", "--tos=16")
    settings = engines.client(engines.server("tcp"), *options, "--mss=1000", count=1).settings
    client, server = settings["client"], settings["server"]
    assert (client["sndbuf"], client["rcvbuf"]) == (131072, 131072)
    assert (server["sndbuf"], server["rcvbuf"]) == (262144, 262144)
    assert client["congestion"] == server["congestion"] == ALLOWED[0]
    assert client["nodelay"] is server["nodelay"] is settings["parameters"]["nodelay"] is False
    assert client["tos"] == server["tos"] == 16
    assert 900 < client["mss"] <= 1000  # less the room for time stamps
    assert 900 < server["mss"] <= 1000


@pytest.mark.parametrize("engine", ["udp", "tcp"])
def test_each_direction_of_each_end_may_have_a_buffer_of_its_own(engines, engine: str) -> None:
    def granted(*options: str) -> list[int]:
        outcome = engines.client(engines.server(engine), "--count=100", *options, count=1)
        sides = (outcome.settings["client"], outcome.settings["server"])
        return [side[name] // 2048 for side in sides for name in ("sndbuf", "rcvbuf")]

    # KiB: the client's send and receive buffer, then the server's.
    assert granted("--sockbuf=64KiB", "--sndbuf=32KiB") == [32, 64, 32, 64]
    assert granted("--sockbuf=64KiB", "--rcvbuf=128KiB") == [64, 128, 64, 128]
    assert granted("--sndbuf=32KiB", "--rcvbuf=64KiB", "--server-sockbuf=16KiB") == [32, 64, 16, 16]
    server = ("--server-sndbuf=16KiB", "--server-rcvbuf=128KiB", "--server-sockbuf=8KiB")
    assert granted("--sockbuf=64KiB", *server) == [64, 64, 16, 128]


def test_the_kernels_own_congestion_control_can_be_left(engines) -> None:
    default = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="utf-8").strip()
    settings = engines.client(engines.server("tcp"), "--congestion=system", count=1).settings
    assert settings["client"]["congestion"] == settings["server"]["congestion"] == default


def test_a_congestion_control_that_does_not_exist_is_refused_with_what_there_is(engines) -> None:
    outcome = engines.client(engines.server("tcp"), "--congestion=nosuch")
    assert outcome.error["code"] == "congestion-refused"
    assert ALLOWED[0] in outcome.error["message"]


def test_warmup_comes_first_and_is_marked(engines) -> None:
    # More than a connection holds before a late receiver's first read.
    options = (PLAIN, "--warmup=300ms", "--count=64")
    outcome = engines.client(engines.server("tcp"), *options, count=1)
    marks = [(e["replication"], e["warmup"]) for e in outcome.of("replication")]
    assert marks == [(0, True), (1, False)]
    assert outcome.metrics[0]["sent_messages"] == 64


def test_the_servers_test_port_can_be_chosen_again_and_again(engines, free_port) -> None:
    port = free_port()
    server = engines.server("tcp")
    for _ in range(2):
        outcome = engines.client(server, PLAIN, f"--data-port={port}", "--count=64")
        assert outcome.settings["server"]["port"] == port
        assert outcome.metrics


def test_one_message_in_one_read_has_no_rate(engines) -> None:
    outcome = engines.client(engines.server("tcp"), PLAIN, "--count=1", "--message=1")
    assert (outcome.error["code"], outcome.error["replication"]) == ("too-short", 1)
    assert outcome.of("replication") == []
