"""Truths about a pair of hosts: which headers a card counts, and what keeps them from a verdict."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.interface_counters import CounterRecord, DatagramBounds, DirectionCounts
from railgauge.calibrate.pair_truths import compared_datagrams, payload_share

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
