"""Counters of an interface: streams in them, what frames are, and what makes them no truth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.interface_counters import (
    DirectionCounts,
    counted_streams,
    datagram_bounds,
    foreign_share,
    frame_length,
    idle_share,
    parse_counters,
)

PAYLOAD = 1390
SNMP = "Udp: InDatagrams OutDatagrams"


def paced(
    *, frame: int = PAYLOAD + 42, streams: int = 3, step: int = 1, foreign_octets: int = 0
) -> DirectionCounts:
    """Return the counters of streams of 500 frames, five a look each ms, with pauses between.

    They are read by the card each `step` looks, and `foreign_octets` bytes pass in each.
    """
    per_look = np.tile(np.r_[np.zeros(100), np.full(100, 5)], streams)
    packets = np.r_[per_look, np.zeros(100)].astype(np.int64)
    octets = packets * frame + foreign_octets
    packets = packets + (foreign_octets > 0)
    return cumulated(octets, packets, step)


def cumulated(
    octets: NDArray[np.int64], packets: NDArray[np.int64], step: int = 1
) -> DirectionCounts:
    looks = np.arange(len(octets) + 1) // step * step
    begins = 10 + np.arange(len(looks)) / 1e3
    sums = [np.r_[0, np.cumsum(column)][looks] for column in (octets, packets)]
    return DirectionCounts(begins, begins + 20e-6, *sums)


def test_streams_have_their_bytes_and_seconds_within_what_a_look_leaves_open() -> None:
    streams = counted_streams(paced(), 3)
    frame = frame_length(streams, PAYLOAD)
    assert (frame.octets, frame.link, frame.version) == (PAYLOAD + 42, 14, 4)
    for stream in streams:
        assert stream.packets.sum() == 500
        assert stream.seconds == pytest.approx(0.099, abs=2 * 0.00102)
        assert stream.spread == pytest.approx(np.sqrt(2 / 12) * 0.00102)
    assert foreign_share(streams, frame) == 0
    assert idle_share(paced(), streams) == 0
    bounds = datagram_bounds(streams, frame)
    assert (bounds.least, bounds.likely, bounds.most) == (1500, 1500, 1500)


@pytest.mark.parametrize(
    ("overhead", "link", "version"),
    [(42, 14, 4), (46, 18, 4), (50, 22, 4), (28, 0, 4), (32, 4, 4), (62, 14, 6), (66, 18, 6)],
)
def test_what_a_card_counts_of_a_frame_comes_of_the_data(
    overhead: int, link: int, version: int
) -> None:
    frame = frame_length(counted_streams(paced(frame=PAYLOAD + overhead), 3), PAYLOAD)
    assert (frame.link, frame.version) == (link, version)


@pytest.mark.parametrize("overhead", [0, 20, 43, 58, 1000])
def test_a_card_that_no_header_explains_is_no_truth(overhead: int) -> None:
    streams = counted_streams(paced(frame=PAYLOAD + overhead), 3)
    with pytest.raises(EnvironmentFailedError, match="no header explains"):
        frame_length(streams, PAYLOAD)


def test_other_traffic_is_found_between_and_within_the_streams() -> None:
    busy = paced(foreign_octets=100)
    streams = counted_streams(busy, 3)
    assert idle_share(busy, streams) == pytest.approx(100 / (5 * (PAYLOAD + 42)), rel=0.05)
    with pytest.raises(EnvironmentFailedError, match="no header explains"):
        frame_length(streams, PAYLOAD)
    # Longer frames among them, each of which is little more than one of a datagram.
    longer = paced()
    longer.octets[150:] += 1514
    longer.packets[150:] += 1
    streams = counted_streams(longer, 3)
    assert foreign_share(streams, frame_length(streams, PAYLOAD)) > 1 / 500
    # Frames as long as a stream's leave no pause to tell streams apart.
    with pytest.raises(EnvironmentFailedError, match="other traffic"):
        counted_streams(paced(foreign_octets=1500), 3)


def test_a_card_that_counts_from_time_to_time_leaves_its_streams_ends_open() -> None:
    with pytest.raises(EnvironmentFailedError, match=r"don't show|from time to time"):
        counted_streams(paced(step=90), 3)


def test_control_segments_beside_a_stream_are_neither_its_frames_nor_its_time() -> None:
    octets = np.r_[np.zeros(9), 900, 1669, np.full(99, 5 * 1432), 1432 + 3 * 66, 350, np.zeros(9)]
    packets = np.r_[np.zeros(9), 8, 21, np.full(99, 5), 4, 4, np.zeros(9)]
    counts = cumulated(octets.astype(np.int64), packets.astype(np.int64))
    (stream,) = counted_streams(counts, 1)
    frame = frame_length([stream], PAYLOAD)
    bounds = datagram_bounds([stream], frame)
    assert (bounds.least, bounds.likely) == (495, 496)
    assert bounds.most >= 496
    assert foreign_share([stream], frame) == pytest.approx((1669 + 3 * 66) / stream.octets.sum())
    # The first window that has a frame is one of two, as is the last.
    assert stream.seconds == pytest.approx(0.099, abs=0.0021)


def test_a_record_is_read_with_what_the_protocols_counted() -> None:
    lines = ["i 1.0 1.1 10 1 20 2", "p 1.1", SNMP, "Udp: 5 6"]
    lines += ["i 2.0 2.1 110 2 20 2", "p 2.1", SNMP, "Udp: 9 6", "done"]
    record = parse_counters(lines)
    assert record.received.octets.tolist() == [10, 110]
    assert record.sent.packets.tolist() == [2, 2]
    assert record.protocols == {"Udp.InDatagrams": 4, "Udp.OutDatagrams": 0}
    with pytest.raises(EnvironmentFailedError, match="isn't whole"):
        parse_counters(lines[:-1])
