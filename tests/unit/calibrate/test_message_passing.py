"""Streams and round trips of MPI out of recorded segments."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.calibrate.message_passing import Burst, bursts, replication_trips

TCP, US, MS = 6, 1_000, 1_000_000
SIZE, HEADER, COUNT = 50_000, 22, 101
SEGMENT = 1_448
WRAPS = 1 << 32


def came(at: int, length: int, number: int) -> tuple[int, ...]:
    return (at, 0, TCP, 9, 5001, length, number % WRAPS)


def left(at: int, length: int, number: int = 1) -> tuple[int, ...]:
    return (at, 1, TCP, 5001, 9, length, number)


def stream(begin: int, first: int) -> list[tuple[int, ...]]:
    """Return two words and the segments of 101 messages, 1 ms apart."""
    words = [came(begin - 2 * MS, 22, first - 44), came(begin, 22, first - 22)]
    total, rows = COUNT * (SIZE + HEADER), []
    for index, start in enumerate(range(0, total, SEGMENT), 1):
        rows.append(came(begin + index * MS, min(SEGMENT, total - start), first + start))
    return [*words, *rows]


def connection(*parts: list[tuple[int, ...]]) -> np.ndarray:
    return np.array([row for part in parts for row in part], np.int64)


@pytest.mark.parametrize("first", [1_000, WRAPS - 100_000])
def test_a_stream_begins_with_the_last_word_before_it_and_ends_before_the_answer(
    first: int,
) -> None:
    data = stream(10 * MS, first)
    end = data[-1][0]
    again = stream(end + 100 * MS, first + 6_000_000)
    rows = connection([left(0, 26)], data, [left(end + 50 * US, 54), left(end + 60 * US, 26)])
    rows = np.concatenate((rows, connection(again, [left(again[-1][0] + 70 * US, 54)])))
    segments = -(-COUNT * (SIZE + HEADER) // SEGMENT)
    expected = [Burst(segments / 1e3, COUNT * (SIZE + HEADER), answer) for answer in (50e-6, 70e-6)]
    assert bursts(rows, COUNT) == expected
    # The headers of all messages make less than one more of them.
    assert [burst.payload // SIZE for burst in bursts(rows, COUNT)] == [COUNT, COUNT]


def test_what_is_sent_again_counts_once_and_the_end_is_when_all_is_there() -> None:
    data = stream(10 * MS, 1_000)
    end = data[-1][0]
    lost = data.pop(2_000)
    copies = [(row[0] + MS // 2, *row[1:]) for row in data[100:110]]
    late = (end + 7 * MS, *lost[1:])
    rows = connection(sorted([*data, *copies, late]), [left(end + 8 * MS, 54)])
    segments = -(-COUNT * (SIZE + HEADER) // SEGMENT)
    assert bursts(rows, COUNT) == [Burst((segments + 7) / 1e3, COUNT * (SIZE + HEADER), 1e-3)]


def test_a_stream_without_an_answer_or_with_few_messages_is_none() -> None:
    data = stream(10 * MS, 1_000)
    assert bursts(connection(data), COUNT) == []
    assert bursts(connection(data[:100], [left(10_000 * MS, 54)]), COUNT) == []
    assert bursts(np.zeros((0, 7), np.int64), 1) == []


def test_a_word_back_within_a_stream_makes_it_none() -> None:
    data = stream(10 * MS, 1_000)
    end = data[-1][0]
    rows = connection(data[:1_000], [left(data[999][0] + 1, 26)], data[1_000:])
    rows = np.concatenate((rows, connection([left(end + MS, 54)])))
    assert bursts(rows, COUNT) == []


def trips(count: int, seconds: float, pause: float) -> list[tuple[int, ...]]:
    rows = []
    for trip in range(count):
        at = round(trip * (seconds + pause) * 1e9)
        rows += [left(at, 355, trip), came(at + round(seconds * 1e9), 355, trip)]
        # A word of the library that is no part of it.
        rows.append(left(at + 10, 26))
    return rows


def test_round_trips_are_those_timed_and_what_passes_between_them_is_uncertain() -> None:
    # Twenty before any replication; in each ten before the timed ones, and one after.
    rows = connection(trips(20 + 2 * 21, 20e-3, 100e-6))
    first, second = replication_trips(rows, 2)
    assert (first.mean, first.pause) == pytest.approx((20e-3, 11 * 100e-6 / 10))
    assert second.mean == pytest.approx(20e-3)


def test_round_trips_that_are_short_of_an_answer_are_none() -> None:
    rows = connection(trips(21, 20e-3, 100e-6))
    assert len(replication_trips(rows, 1)) == 1
    assert replication_trips(rows, 2) == []
    assert replication_trips(rows[rows[:, 0] != rows[-2, 0]], 1) == []
    assert replication_trips(rows, 0) == []


def test_a_message_that_is_sent_again_is_one_message() -> None:
    rows = connection(trips(21, 20e-3, 100e-6))
    again = connection([left(int(rows[33, 0]) + 15 * MS, 355, int(rows[33, 6]))])
    (expected,) = replication_trips(rows, 1)
    assert rows[33].tolist()[1] == 1
    assert replication_trips(np.concatenate((rows[:34], again, rows[34:])), 1) == [expected]
