"""Streams and round trips out of recorded packets."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.calibrate.packets import Stream, round_trips, streams

UDP, TCP = 17, 6
MS = 1_000_000


def packets(*rows: tuple[int, ...]) -> np.ndarray:
    """Stamp (ns), whether it left, protocol, ports, payload bytes and number of each."""
    return np.array(rows, np.int64)


def datagrams(start: int, count: int, size: int = 1000) -> list[tuple[int, ...]]:
    return [(start + number * MS, 0, UDP, 9, 5000, size, 0) for number in range(count)]


def segments(start: int, numbers: list[int], size: int = 1000) -> list[tuple[int, ...]]:
    modulus = 1 << 32
    return [
        (start + index * MS, 0, TCP, 9, 5001, size, number % modulus)
        for index, number in enumerate(numbers)
    ]


def test_a_pause_parts_streams_and_the_first_packet_only_starts_the_clock() -> None:
    bursts = streams(packets(*datagrams(0, 301), *datagrams(500 * MS, 401)))
    assert bursts == [Stream(0.3, 300_000, 301), Stream(0.4, 400_000, 401)]


def test_what_the_control_channel_says_is_no_stream() -> None:
    assert streams(packets(*datagrams(0, 20))) == []
    assert streams(np.zeros((0, 7), np.int64)) == []


@pytest.mark.parametrize("first", [1, (1 << 32) - 100_000])
def test_what_is_sent_again_counts_once(first: int) -> None:
    numbers = [first + 1000 * index for index in range(301)]
    again = [*numbers[:100], *numbers[50:60], *numbers[100:]]
    (stream,) = streams(packets(*segments(0, again)))
    assert (stream.payload, stream.packets, stream.seconds) == (300_000, 311, 0.31)


def test_a_copy_that_comes_after_the_end_is_not_waited_for() -> None:
    numbers = [1 + 1000 * index for index in range(301)]
    late = (312 * MS, 0, TCP, 9, 5001, 1000, numbers[-1])
    (stream,) = streams(packets(*segments(0, numbers), late))
    assert (stream.payload, stream.seconds) == (300_000, 0.3)


def test_a_round_trip_goes_from_what_leaves_to_what_comes() -> None:
    there = (0, 1, UDP, 5000, 9, 64, 0)
    back = (2 * MS, 0, UDP, 9, 5000, 64, 0)
    control = (1 * MS, 0, TCP, 9, 5001, 64, 0)
    lost = (3 * MS, 1, UDP, 5000, 9, 64, 0)
    again = (4 * MS, 1, UDP, 5000, 9, 64, 0)
    answer = (9 * MS, 0, UDP, 9, 5000, 64, 0)
    rows = packets(there, control, back, lost, again, answer)
    assert round_trips(rows) == pytest.approx([0.002, 0.005])
