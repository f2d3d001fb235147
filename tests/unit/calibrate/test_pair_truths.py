"""Truths about a pair of hosts: which headers a card counts, and what keeps them from a verdict."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.broken_instruments import BROKEN_PAIR_INSTRUMENTS
from railgauge.calibrate.interface_counters import (
    CountedStream,
    CounterRecord,
    DatagramBounds,
    DirectionCounts,
)
from railgauge.calibrate.network import untimed_bytes
from railgauge.calibrate.pair_truths import (
    CountedRun,
    compared_datagrams,
    compared_rates,
    pair_truths,
    payload_share,
)
from railgauge.calibrate.rig import Fault, RigResult

COUNT = CertificateCheck("udp datagrams sent", "udp", "", 0.0, relative=False)
SEGMENTS, MSS, HEADER = 90_000, 1448, 20 + 32
PAYLOAD = SEGMENTS * MSS


def share(octets: int, packets: int, ip_packets: int, link: int = 14) -> float:
    """Return the share of payload that a card's counters and IP's come to."""
    times = np.array([0.0, 1.0])
    counts = DirectionCounts(times, times, np.array([5, octets + 5]), np.array([7, packets + 7]))
    protocols = {
        "IpExt.InOctets": PAYLOAD + HEADER * ip_packets,
        "Ip.InReceives": ip_packets,
        "Tcp.InSegs": SEGMENTS,
    }
    return payload_share(CounterRecord(counts, counts, protocols), counts, "In", link, HEADER, "b")


@pytest.mark.parametrize(
    ("packets", "headers", "ip_packets"),
    [
        (SEGMENTS, SEGMENTS, SEGMENTS),  # each segment for itself
        (SEGMENTS, SEGMENTS, SEGMENTS // 20),  # which the kernel puts together afterwards
        (SEGMENTS // 40, SEGMENTS // 40, SEGMENTS // 40),  # as the kernel has them (veth)
        (SEGMENTS // 40, SEGMENTS, SEGMENTS // 40),  # put together, with the bytes of the wire
    ],
)
@pytest.mark.parametrize("link", [14, 18])
def test_the_headers_that_a_card_counts_come_of_the_data(
    packets: int, headers: int, ip_packets: int, link: int
) -> None:
    octets = PAYLOAD + headers * (HEADER + link)
    assert share(octets, packets, ip_packets, link) == pytest.approx(PAYLOAD / octets, abs=1e-9)


def test_a_card_that_ip_contradicts_is_no_truth() -> None:
    octets = PAYLOAD + SEGMENTS * (HEADER + 14)
    with pytest.raises(EnvironmentFailedError, match=r"b: the interface counted .* other"):
        share(int(octets * 1.01), SEGMENTS, SEGMENTS)


@pytest.mark.parametrize(
    ("value", "conclusion"),
    [
        (1000, "certified"),
        (999, "not certifiable here"),
        (1001, "not certifiable here"),
        (970, "wrong"),
        (1030, "wrong"),
    ],
)
def test_a_count_is_wrong_only_where_other_packets_can_not_explain_it(
    value: int, conclusion: str
) -> None:
    assert (
        compared_datagrams(COUNT, value, DatagramBounds(990, 1000, 1002)).conclusion == conclusion
    )


def test_one_datagram_is_not_several() -> None:
    check = compared_datagrams(COUNT, 1, DatagramBounds(0, 0, 2))
    assert check.reason.startswith("1 datagram, and by the counters 0 to 2: other packets came")


RATE = CertificateCheck("udp throughput", "udp", "bit/s", 0.003, relative=True)
TIMES, NO_COUNTS = np.array([0.0, 1.0]), np.array([0, 0])
NOTHING = DirectionCounts(TIMES, TIMES, NO_COUNTS, NO_COUNTS)


@pytest.mark.parametrize(
    ("share", "late", "conclusion"),
    [
        (1.0, 0, "certified"),
        (0.97, 0, "wrong"),
        # Of 8,000 datagrams 80 lay there when the receiver got its CPU: they may have come faster.
        (1.0, 80, "not certifiable here"),
    ],
)
def test_a_rate_is_held_against_the_counters_and_what_is_not_timed_is_uncertain(
    share: float, late: int, conclusion: str
) -> None:
    measured = RigResult(
        {"throughput": [1e8 + n for n in range(4)], "untimed_bytes": [1000.0 * (1 + late)] * 4}, ()
    ).broken(Fault("throughput", lambda rate: rate * share))
    record = CounterRecord(NOTHING, NOTHING, {})
    streams = [CountedStream(0.8, 1e-4, NO_COUNTS, NO_COUNTS)] * 4
    first_look = untimed_bytes(measured, 1000) / 1e7
    run = CountedRun(measured, record, record)
    check = compared_rates(RATE, run, streams, [1e7] * 4, {"eth0": 0.0}, first_look)
    assert check.conclusion == conclusion
    assert check.error == pytest.approx(share - 1, abs=1e-6)
    assert ("mostly what the engine's first look takes in" in check.reason) == (late > 0)


def test_every_check_of_a_pair_has_a_broken_instrument() -> None:
    broken = {instrument.check for instrument in BROKEN_PAIR_INSTRUMENTS}
    assert broken == {truth.check.name for truth in pair_truths()}
