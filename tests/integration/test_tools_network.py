"""iperf3, sockperf, qperf and NetPIPE in a real plan, over a link of a known rate and round trip.

The link tells a wrong unit: 200 Mbit/s on the wire are at most 188.3 Mbit/s of TCP's payload at an
MTU of 1500, and no round trip is below 2 ms.
"""

from __future__ import annotations

import itertools
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
# What even a machine that stalls does not reach, but a wrong unit: bytes and bits, ms and s.
FASTEST = 2.0
WRONG_UNIT = 1000.0
PAYLOAD = 1448 / 1538
MESSAGES = (64, 100_000)  # NetPIPE's
NETPERF = shutil.which("netperf") and shutil.which("netserver")


class Measured:
    """The run's values."""

    def __init__(self, database: Path, output: str) -> None:
        self.database = database
        self.output = output

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
    tmp_path_factory: pytest.TempPathFactory,
    paced: Callable[..., Measured],
    require: Callable[[object, str], None],
) -> Iterator[Measured]:
    """All of it, run once; again if one of the tools failed, as they do on a busy machine."""
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(Path("/dev/net/tun").exists(), "/dev/net/tun, for a link with a delay")
    for program in ("iperf3", "sockperf", "qperf", "NPtcp"):
        require(shutil.which(program), program)
    box = Box(new_name(), tmp_path_factory.mktemp("tools"))
    box.write("hosts: [a, b]\nlinks: [{between: [a, b], rate: 200Mbit/s, rtt: 2ms}]\n")
    numbers = itertools.count(1)

    def measure() -> Measured:
        for _ in range(3):
            database = box.folder / f"{next(numbers)}.db"
            completed = box.run("run", str(plan), "--db", str(database))
            if completed.returncode == 0:
                break
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return Measured(database, completed.stdout + completed.stderr)

    try:
        box.up()
        plan = box.folder / "plan.yaml"
        plan.write_text(PLAN.format(hosts=box.hosts_file))
        yield paced(measure, keeps_pace)
    finally:
        box.down()
        assert traces(box.name) == []


def keeps_pace(measured: Measured) -> bool:
    """Return whether all is as on a machine that does nothing else."""
    streams = [*measured("tcp", "throughput"), *measured("reverse", "throughput")]
    streams += measured("qperf", "throughput", '%"tcp_bw"%')
    if NETPERF:
        streams += measured("netperf", "throughput")
    received = measured("tcp", "received_bytes")
    (arrived,) = measured("udp", "throughput")
    (sent,) = measured("udp", "local_throughput")
    (lost,) = measured("udp", "loss_rate")
    (datagrams,) = measured("qperf_udp", "throughput")
    rtts = [*measured("sockperf", "rtt_p50"), *measured("qperf", "rtt_mean")]
    return (
        # A receiver counts from the first bytes that came, so that a little more fits in.
        all(SLOWEST <= value / (RATE * PAYLOAD) <= 1.05 for value in streams)
        and all(
            octets * 8 / value == pytest.approx(2.0, rel=0.1)
            for value, octets in zip(measured("tcp", "throughput"), received, strict=True)
        )
        and sent == pytest.approx(50e6, rel=0.1)
        and arrived == pytest.approx(sent * (1 - lost), rel=0.1)
        and measured("udp", "jitter")[0] < 0.05
        and datagrams <= 1.05 * RATE * 1400 / 1466
        and datagrams <= 1.05 * measured("qperf_udp", "local_throughput")[0]
        and all(rtt <= LONGEST * ROUND_TRIP for rtt in rtts)
        and all(
            measured("netpipe", "rtt_mean", f'%"message": {message},%')[0]
            <= LONGEST * (ROUND_TRIP + 2 * message * 8 / RATE)
            for message in MESSAGES
        )
    )


def fits(value: float, most: float) -> bool:
    """Return whether a throughput may be what the link carries."""
    return 0 < value <= FASTEST * most


def test_iperf3_tells_what_the_link_carries(measured: Measured) -> None:
    throughputs = measured("tcp", "throughput")
    assert len(throughputs) == 2
    assert all(fits(value, RATE * PAYLOAD) for value in throughputs), throughputs
    received = measured("tcp", "received_bytes")
    # The same JSON's bytes over its seconds, which would be eight times as many in a wrong unit.
    for value, octets in zip(throughputs, received, strict=True):
        assert 1.8 <= octets * 8 / value < 14
    assert all(count >= 0 for count in measured("tcp", "retransmits"))
    assert fits(measured("reverse", "throughput")[0], RATE * PAYLOAD)


def test_iperf3_tells_what_arrived_of_udp(measured: Measured) -> None:
    assert fits(measured("udp", "throughput")[0], 50e6)
    assert fits(measured("udp", "local_throughput")[0], 50e6)
    assert 0 <= measured("udp", "loss_rate")[0] <= 1
    assert measured("udp", "jitter")[0] >= 0


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.parametrize("mode", ["ping_pong", "under_load"])
def test_sockperf_tells_whole_round_trips(measured: Measured, mode: str, protocol: str) -> None:
    like = f'%"mode": "{mode}"%"protocol": "{protocol}"%'
    (median,) = measured("sockperf", "rtt_p50", like)
    assert ROUND_TRIP <= median < WRONG_UNIT * ROUND_TRIP
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
    assert fits(received, RATE * 1400 / 1466)
    assert fits(received, measured("qperf_udp", "local_throughput")[0])


@pytest.mark.parametrize("mode", ["tcp_lat", "udp_lat"])
def test_qperfs_latency_is_half_of_a_round_trip(measured: Measured, mode: str) -> None:
    (latency,) = measured("qperf", "latency", f'%"{mode}"%')
    assert ROUND_TRIP / 2 <= latency < WRONG_UNIT * ROUND_TRIP / 2
    assert measured("qperf", "rtt_mean", f'%"{mode}"%') == [pytest.approx(2 * latency)]


def test_netpipes_throughput_and_latency_are_of_one_message(measured: Measured) -> None:
    for message in MESSAGES:
        like = f'%"message": {message},%'
        (latency,) = measured("netpipe", "latency", like)
        assert measured("netpipe", "rtt_mean", like) == [pytest.approx(2 * latency)]
        assert ROUND_TRIP <= 2 * latency < WRONG_UNIT * ROUND_TRIP
        (throughput,) = measured("netpipe", "throughput", like)
        assert throughput * latency == pytest.approx(message * 8, rel=0.01)


def test_netperf_is_measured_or_skipped_with_the_reason(measured: Measured) -> None:
    if NETPERF:
        assert fits(measured("netperf", "throughput")[0], RATE * PAYLOAD)
    else:
        assert "netperf isn't on a" in measured.output
