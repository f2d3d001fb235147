"""Streams and round trips out of recorded packets."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.calibrate.packets import PacketRecord, Stream, timed_round_trips

UDP, TCP = 17, 6
FIN, SYN = 1, 2
MS = 1_000_000


def packets(*rows: tuple[int, ...]) -> PacketRecord:
    """Stamp (ns), whether it left, protocol, ports, payload bytes, number and any flags of each."""
    return PacketRecord(np.array([(*row, 0)[:8] for row in rows], np.int64))


def datagrams(start: int, count: int, size: int = 1000) -> list[tuple[int, ...]]:
    return [(start + number * MS, 0, UDP, 9, 5000, size, 0) for number in range(count)]


def segments(start: int, numbers: list[int], size: int = 1000) -> list[tuple[int, ...]]:
    modulus = 1 << 32
    return [
        (start + index * MS, 0, TCP, 9, 5001, size, number % modulus)
        for index, number in enumerate(numbers)
    ]


def test_a_pause_parts_streams_and_the_first_packet_only_starts_the_clock() -> None:
    bursts = packets(*datagrams(0, 301), *datagrams(500 * MS, 401)).streams("udp")
    assert bursts == [Stream(0.3, 300_000, 301), Stream(0.4, 400_000, 401)]


def test_what_the_control_channel_says_is_no_stream() -> None:
    assert packets(*datagrams(0, 20)).streams("udp") == []
    assert PacketRecord().streams("udp") == []


@pytest.mark.parametrize("first", [1, (1 << 32) - 100_000])
def test_what_is_sent_again_counts_once(first: int) -> None:
    numbers = [first + 1000 * index for index in range(301)]
    again = [*numbers[:100], *numbers[50:60], *numbers[100:]]
    (stream,) = packets(*segments(0, again)).streams("tcp")
    assert (stream.payload, stream.packets, stream.seconds) == (300_000, 311, 0.31)


def test_a_copy_that_comes_after_the_end_is_not_waited_for() -> None:
    numbers = [1 + 1000 * index for index in range(301)]
    late = (312 * MS, 0, TCP, 9, 5001, 1000, numbers[-1])
    (stream,) = packets(*segments(0, numbers), late).streams("tcp")
    assert (stream.payload, stream.seconds) == (300_000, 0.3)


def test_a_round_trip_goes_from_what_leaves_to_what_comes() -> None:
    request = (0, 1, UDP, 5000, 9, 64, 0)
    back = (2 * MS, 0, UDP, 9, 5000, 64, 0)
    control = (1 * MS, 0, TCP, 9, 5001, 64, 0)
    lost = (3 * MS, 1, UDP, 5000, 9, 64, 0)
    again = (4 * MS, 1, UDP, 5000, 9, 64, 0)
    answer = (9 * MS, 0, UDP, 9, 5000, 64, 0)
    rows = packets(request, control, back, lost, again, answer)
    assert rows.round_trips() == pytest.approx([0.002, 0.005])


def test_a_numbered_stream_begins_with_its_first_number() -> None:
    first = [(number * MS, 0, UDP, 9, 5000, 1000, number) for number in (0, 1, 3, 2)]
    second = [(9 * MS + number, 0, UDP, 9, 5000, 1000, number) for number in (0, 1)]
    straggler = (8 * MS, 0, UDP, 9, 5000, 900, 0)
    leaves = (8 * MS, 1, UDP, 5000, 9, 1000, 0)
    rows = packets(*first, straggler, leaves, *second)
    came = rows.numbered_streams(1000, left=False)
    assert [stream.tolist() for stream in came] == [
        [[0, 0], [1, MS], [3, 3 * MS], [2, 2 * MS]],
        [[0, 9 * MS], [1, 9 * MS + 1]],
    ]
    assert [stream.tolist() for stream in rows.numbered_streams(1000, left=True)] == [[[0, 8 * MS]]]
    assert rows.numbered_streams(500, left=False) == []


def test_what_the_control_channel_sends_again_is_told_apart_from_the_stream() -> None:
    control, stream = (9, 5000), (10, 5001)
    rows = [
        (0, 1, TCP, *control, 100, 7),
        (1, 1, TCP, *control, 0, 107),
        (2, 1, TCP, *control, 0, 107),
    ]
    rows += [(3, 1, TCP, *stream, 1000, number * 1000) for number in range(300)]
    rows += [(4, 1, TCP, *stream, 1000, 5000), (5, 0, TCP, *control, 100, 7)]
    assert packets(*rows).control_retransmits() == 0
    assert packets(*rows, (6, 1, TCP, *control, 100, 7)).control_retransmits() == 1
    for flag, number in ((SYN, 6), (FIN, 107)):
        ends = [(7, 1, TCP, *control, 0, number, flag), (7, 1, TCP, *stream, 0, 10**6, flag)]
        assert packets(*rows, *ends, ends[1]).control_retransmits() == 0
        assert packets(*rows, *ends, ends[0]).control_retransmits() == 1
        assert packets(*rows, *ends, ends[0]).repeated_ends() == 0
        assert packets(*rows, *ends, ends[1]).repeated_ends() == int(flag == FIN)


def test_the_busiest_connection_has_both_ways_and_no_bare_acknowledgements() -> None:
    control = (0, 0, TCP, 7, 8, 500, 1)
    data = (1, 0, TCP, 9, 5001, 400, 1)
    acknowledgement = (2, 1, TCP, 5001, 9, 0, 1)
    answer = (3, 1, TCP, 5001, 9, 101, 1)
    datagram = (4, 0, UDP, 9, 5001, 1000, 0)
    rows = packets(control, data, acknowledgement, answer, datagram)
    assert rows.segments()[:, :7].tolist() == [list(data), list(answer)]
    assert len(packets(datagram).segments()) == 0


def test_the_first_round_trip_of_a_replication_is_not_timed() -> None:
    assert timed_round_trips([9.0, 1.0, 2.0, 8.0, 3.0, 4.0], 2, 2) == [[1.0, 2.0], [3.0, 4.0]]
    assert timed_round_trips([9.0, 1.0, 2.0, 8.0], 2, 2) == []
