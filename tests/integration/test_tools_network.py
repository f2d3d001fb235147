"""iperf3, sockperf, qperf and NetPIPE in a real plan, over a link of a known rate and round trip.

The link tells a wrong unit: 200 Mbit/s on the wire are at most 188.3 Mbit/s of TCP's payload at an
MTU of 1500, and no round trip is below 2 ms.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.boxes import Box, new_name, traces

RATE = 200e6
ROUND_TRIP = 2e-3
PLAN = """\
railgauge: 1
name: tools
hosts_file: {hosts}
tests:
  - {{name: tcp, engine: iperf3, links: [a→b], replications: 2, set: {{duration: 2s}}}}
  - name: reverse
    engine: iperf3
    links: [a→b]
    replications: 1
    set: {{duration: 2s, reverse: true, threads: 2}}
  - name: udp
    engine: iperf3
    links: [a→b]
    replications: 1
    set: {{duration: 2s, mode: udp, rate: 50Mbit/s, datagram: 1400}}
  - name: sockperf
    engine: sockperf
    links: [a→b]
    replications: 1
    set: {{duration: 1s, message: 100}}
    grid: {{mode: [ping_pong, under_load, throughput], protocol: [udp, tcp]}}
  - name: qperf
    engine: qperf
    links: [a→b]
    replications: 1
    set: {{duration: 2s}}
    grid: {{mode: [tcp_bw, tcp_lat, udp_lat]}}
  - name: qperf_udp
    engine: qperf
    links: [a→b]
    replications: 1
    set: {{duration: 2s, mode: udp_bw, message: 1400}}
  - name: netpipe
    engine: netpipe
    links: [a→b]
    replications: 1
    grid: {{message: [64, 100kB]}}
  - {{name: netperf, engine: netperf, links: [a→b], replications: 1, set: {{duration: 1s}}}}
"""
# Other work on this machine slows all down: wide enough for that, too narrow for a wrong unit.
SLOWEST = 0.2
LONGEST = 100.0
PAYLOAD = 1448 / 1538


class Measured:
    """The run's values."""

    def __init__(self, database: Path, said: str) -> None:
        self.database = database
        self.said = said

    def __call__(self, test: str, metric: str, like: str = "%") -> list[float]:
        """Return a metric's values of a test, of the cases whose parameters are `like` that."""
        with sqlite3.connect(self.database) as connection:
            rows = connection.execute(
                "SELECT value FROM measurement WHERE test = ? AND metric = ? AND parameters LIKE ?",
                (test, metric, like),
            ).fetchall()
        assert rows, f"no {metric} of {test} {like}"
        return [value for (value,) in rows]


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Iterator[Measured]:
    """All of it, run once."""
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(Path("/dev/net/tun").exists(), "/dev/net/tun, for a link with a delay")
    for program in ("iperf3", "sockperf", "qperf", "NPtcp"):
        require(shutil.which(program), program)
    box = Box(new_name(), tmp_path_factory.mktemp("tools"))
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], rate: 200Mbit/s, rtt: 2ms}]\n")
    try:
        box.up()
        plan, database = box.folder / "plan.yaml", box.folder / "railgauge.db"
        plan.write_text(PLAN.format(hosts=box.hosts_file))
        done = box.run("run", str(plan), "--db", str(database))
        assert done.returncode == 0, done.stdout + done.stderr
        yield Measured(database, done.stdout + done.stderr)
    finally:
        box.down()
        assert traces(box.name) == []


def fits(value: float, most: float) -> bool:
    """Return whether a throughput is what the link carries."""
    # A receiver counts from the first bytes that came, so that a little more fits in.
    return SLOWEST * most <= value <= 1.05 * most


def test_iperf3_tells_what_the_link_carries(measured: Measured) -> None:
    throughputs = measured("tcp", "throughput")
    assert len(throughputs) == 2
    assert all(fits(value, RATE * PAYLOAD) for value in throughputs), throughputs
    received = measured("tcp", "received_bytes")
    # The same JSON's bytes over its seconds.
    for value, octets in zip(throughputs, received, strict=True):
        assert octets * 8 / value == pytest.approx(2.0, rel=0.1)
    assert all(count >= 0 for count in measured("tcp", "retransmits"))
    assert fits(measured("reverse", "throughput")[0], RATE * PAYLOAD)


def test_iperf3_tells_what_arrived_of_udp(measured: Measured) -> None:
    (throughput,) = measured("udp", "throughput")
    (sent,) = measured("udp", "local_throughput")
    (lost,) = measured("udp", "loss_rate")
    assert sent == pytest.approx(50e6, rel=0.1)
    assert throughput == pytest.approx(sent * (1 - lost), rel=0.1)
    assert 0 <= measured("udp", "jitter")[0] < 0.05


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.parametrize("mode", ["ping_pong", "under_load"])
def test_sockperf_tells_whole_round_trips(measured: Measured, mode: str, protocol: str) -> None:
    like = f'%"mode": "{mode}"%"protocol": "{protocol}"%'
    (median,) = measured("sockperf", "rtt_p50", like)
    assert ROUND_TRIP <= median <= LONGEST * ROUND_TRIP
    (longest,) = measured("sockperf", "rtt_max", like)
    (p99,) = measured("sockperf", "rtt_p99", like)
    assert median <= p99 <= longest
    assert measured("sockperf", "round_trips", like)[0] > 0


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_sockperf_tells_what_it_sent(measured: Measured, protocol: str) -> None:
    like = f'%"mode": "throughput"%"protocol": "{protocol}"%'
    (throughput,) = measured("sockperf", "local_throughput", like)
    (messages,) = measured("sockperf", "message_rate", like)
    assert throughput == pytest.approx(messages * 100 * 8, rel=0.01)


def test_qperf_tells_what_the_link_carries(measured: Measured) -> None:
    assert fits(measured("qperf", "throughput", '%"tcp_bw"%')[0], RATE * PAYLOAD)
    (received,) = measured("qperf_udp", "throughput")
    assert received <= 1.05 * RATE * 1400 / 1466
    assert received <= 1.05 * measured("qperf_udp", "local_throughput")[0]


@pytest.mark.parametrize("mode", ["tcp_lat", "udp_lat"])
def test_qperfs_latency_is_half_of_a_round_trip(measured: Measured, mode: str) -> None:
    (latency,) = measured("qperf", "latency", f'%"{mode}"%')
    assert ROUND_TRIP / 2 <= latency <= LONGEST * ROUND_TRIP / 2
    assert measured("qperf", "rtt_mean", f'%"{mode}"%') == [pytest.approx(2 * latency)]


def test_netpipes_throughput_and_latency_are_of_one_message(measured: Measured) -> None:
    for message in (64, 100_000):
        like = f'%"message": {message},%'
        (latency,) = measured("netpipe", "latency", like)
        assert measured("netpipe", "rtt_mean", like) == [pytest.approx(2 * latency)]
        assert ROUND_TRIP <= 2 * latency <= LONGEST * (ROUND_TRIP + 2 * message * 8 / RATE)
        (throughput,) = measured("netpipe", "throughput", like)
        assert throughput * latency == pytest.approx(message * 8, rel=0.01)


def test_netperf_is_measured_or_skipped_with_the_reason(measured: Measured) -> None:
    if shutil.which("netperf") and shutil.which("netserver"):
        assert fits(measured("netperf", "throughput")[0], RATE * PAYLOAD)
    else:
        assert "netperf isn't on a" in measured.said
