"""What rail-tcp says of the way between two hosts, on ways whose delay, rate and losses we made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.support import long_way

# Present wherever TCP is.
PLAIN = "--congestion=reno"
DELAY = 0.00145  # seconds each way: the SHARCNET paper's round trip is 2.9 ms


@pytest.fixture(autouse=True)
def _may_make_ways(require) -> None:
    may = os.geteuid() == 0 and Path("/dev/net/tun").exists()
    require(may, "root and /dev/net/tun, to make network namespaces")


def _over(engines, way: long_way.Way, *options: object, count: int = 1):
    server = engines.server("tcp", prefix=way.inside(way.far))
    arguments = ("--json", f"--port={server.port}", f"--replications={count}", PLAIN)
    argv = engines.argv("tcp", "client", long_way.FAR, *arguments, "--duration=0.5s", *options)
    return engines.start_other(*way.inside(way.near), *argv).finish()


def test_no_connection_carries_more_than_its_window_in_a_round_trip(engines, paced) -> None:
    """Small windows for the receiver, for the sender, for both; large and automatic ones."""
    with long_way.delayed(DELAY) as way:
        for buffers in (
            ("--sockbuf=5KiB",),
            ("--sockbuf=20KiB",),
            ("--sockbuf=100KiB", "--server-sockbuf=5KiB"),
            ("--sockbuf=5KiB", "--server-sockbuf=200KiB"),
            ("--sockbuf=20KiB", "--server-sockbuf=1MiB", "--send=sendfile"),
            ("--sockbuf=1MiB",),
            (),
        ):
            m = paced(
                lambda buffers=buffers: _over(engines, way, *buffers).metrics[0],
                lambda m: m["min_rtt"] <= 6 * DELAY,
            )
            assert m["min_rtt"] >= 2 * DELAY
            assert m["window_bound"] == pytest.approx(m["window"] * 8 / m["rtt"])
            assert m["window_ceiling"] >= m["window"] * 8 / m["min_rtt"] * (1 - 1e-9)
            assert m["throughput"] <= 1.02 * m["window_ceiling"], buffers


def test_the_bound_is_near_what_a_small_window_lets_through(engines, paced) -> None:
    def measure() -> list[dict[str, float]]:
        with long_way.delayed(DELAY) as way:
            single, four = (
                _over(engines, way, "--sockbuf=10KiB", f"--threads={n}").metrics[0] for n in (1, 4)
            )
        assert single["window"] <= 2 * 10 * 1024  # the kernel doubles what is asked
        assert 2 * single["window"] < four["window"] <= 4 * 2 * 10 * 1024
        assert four["throughput"] <= 1.02 * four["window_ceiling"]
        return [single, four]

    paced(
        measure,
        lambda pair: (
            1 / 3 <= pair[0]["throughput"] / pair[0]["window_bound"] <= 3
            and pair[1]["throughput"] > 1.5 * pair[0]["throughput"]
        ),
    )


def test_a_links_rate_caps_the_bound(engines, paced) -> None:
    def measure() -> list[dict[str, float]]:
        with long_way.limited("100mbit") as way:
            (with_rate,) = _over(engines, way, "--link-rate=100M").metrics
            (without_rate,) = _over(engines, way).metrics
        assert with_rate["window_ceiling"] == 100e6 >= with_rate["window_bound"]
        assert with_rate["throughput"] <= 100e6
        return [with_rate, without_rate]

    paced(
        measure,
        lambda pair: (
            pair[0]["window_bound"] == 100e6 < pair[1]["window_bound"]
            and pair[0]["throughput"] > 100e6 / 3
        ),
    )


def test_retransmits_are_those_of_the_segments_that_got_lost(engines, paced) -> None:
    def share() -> float:
        with long_way.delayed(DELAY, drop_interval=50) as way:
            options = ("--count=20", "--message=100000", "--threads=2", "--mss=1000")
            (m,) = _over(engines, way, *options).metrics
            way.close_up()
            assert way.dropped > 20
            assert m["received_bytes"] == 2 * 20 * 100_000
            assert way.dropped <= m["retransmits"]
            assert m["sent_segments"] >= 2 * 20 * 100 + m["retransmits"]
            return m["retransmits"] / way.dropped

    # What was lost in vain is sent again, and now and then a little more.
    paced(share, lambda share: share <= 3)


def test_retransmits_of_the_omitted_part_are_not_counted_twice(engines) -> None:
    with long_way.delayed(DELAY, drop_interval=50) as way:
        (m,) = _over(engines, way, "--omit=1s", "--duration=1s", "--mss=1000").metrics
        command = [*way.inside(way.near), "cat", "/proc/net/snmp"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names, values = (line.split() for line in lines.splitlines() if line.startswith("Tcp:"))
    by_kernel = int(dict(zip(names, values, strict=True))["RetransSegs"])
    assert m["omitted_retransmits"] > 0 < m["retransmits"]
    assert m["omitted_retransmits"] + m["retransmits"] <= by_kernel


def test_retransmits_are_told_for_each_direction(engines, paced) -> None:
    def in_vain() -> float:
        with long_way.delayed(DELAY, drop_interval=50) as way:
            options = ("--count=10", "--message=100000", "--mode=bidirectional")
            (m,) = _over(engines, way, *options).metrics
            way.close_up()
        assert way.dropped > 5
        assert m["retransmits"] >= way.dropped  # only on the way there is anything lost
        return m["reverse_retransmits"] / way.dropped

    paced(in_vain, lambda share: share < 1)


def test_the_round_trip_is_the_ways(engines, paced) -> None:
    def measure() -> dict[str, float]:
        with long_way.delayed(0.02) as way:
            (m,) = _over(engines, way, "--sockbuf=50KiB").metrics
        assert 0.04 <= m["min_rtt"] <= m["rtt"]
        assert m["rtt_variance"] >= 0
        assert m["congestion_window"] > 0
        return m

    paced(
        measure,
        lambda m: (
            m["rtt"] <= 0.12
            and m["rtt_variance"] <= 0.04
            and m["delivery_rate"] <= 3 * m["window_bound"]
        ),
    )
