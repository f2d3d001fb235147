"""Traces: the engines' bytes become arrays, and any other bytes an error."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.base.errors import TraceError
from railgauge.base.trace import (
    MAGIC,
    MAX_BYTES,
    Trace,
    decode,
    encode,
    interarrival,
    jitter,
    loss_runs,
    pack,
    unpack,
)

# By hand: realtime clock, 300 sent, 5 arrived, 4 recorded; first received at 1000, sent at 5.
# Numbers 0, 2, 1, 200 (steps 0, +1, −2, +198), received 0, +10, −1, +300, sent 0, +2, −1, +64.
WRITTEN = (
    b"RGT1\x01\xac\x02\x05\x04\xe8\x07\x05"
    b"\x00\x00\x00"
    b"\x02\x14\x04"
    b"\x03\x01\x01"
    b"\x8c\x03\xd8\x04\x80\x01"
)
EMPTY = b"RGT1\x00\x07\x00\x00\x00\x00"
# From SARA to EVL, 5000 datagrams without a wait between them (seed study of UDPmon).
SARA_TO_EVL = [
    (616, 172),
    (1143, 209),
    (1782, 227),
    (2479, 187),
    (3051, 179),
    (3604, 186),
    (4180, 172),
    (4700, 217),
]


def trace(
    sequence: list[int],
    *,
    sent: int = 10,
    arrived: int | None = None,
    received: list[int] | None = None,
    sent_at: list[int] | None = None,
) -> Trace:
    even = [1000 * place for place in range(len(sequence))]
    return Trace(
        clock="monotonic",
        sent=sent,
        arrived=len(sequence) if arrived is None else arrived,
        sequence=np.array(sequence, np.int64),
        received=np.array(even if received is None else received, np.int64),
        sent_at=np.array(even if sent_at is None else sent_at, np.int64),
        first_received=7 if sequence else 0,
        first_sent=9 if sequence else 0,
    )


def fields(packet_trace: Trace) -> tuple[object, ...]:
    return (
        packet_trace.clock,
        packet_trace.sent,
        packet_trace.arrived,
        packet_trace.sequence.tolist(),
        packet_trace.received.tolist(),
        packet_trace.sent_at.tolist(),
        packet_trace.first_received,
        packet_trace.first_sent,
    )


def varint(number: int) -> bytes:
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def test_bytes_written_by_hand_are_read():
    assert fields(decode(WRITTEN)) == (
        "realtime",
        300,
        5,
        [0, 2, 1, 200],
        [0, 10, 9, 309],
        [0, 2, 1, 65],
        1000,
        5,
    )


def test_a_trace_without_arrivals_is_read():
    assert fields(decode(EMPTY)) == ("monotonic", 7, 0, [], [], [], 0, 0)


def test_numbers_as_wide_as_64_bits_are_read():
    largest = 2**63 - 1
    far = varint(2 * (2**60))
    data = MAGIC + b"\x00" + 2 * varint(largest) + b"\x02" + 2 * varint(largest)
    data += varint(2 * (largest - 1)) + b"\x00\x00" + varint(2 * (largest - 1) + 1) + far + far
    packet_trace = decode(data)
    assert packet_trace.sequence.tolist() == [largest - 1, 0]
    assert packet_trace.received.tolist() == packet_trace.sent_at.tolist() == [0, 2**60]
    assert (packet_trace.first_received, packet_trace.sent) == (largest, largest)


def test_a_trace_longer_than_what_is_decoded_at_once_is_read_whole():
    numbers = np.random.default_rng(616).permutation(200_000)
    times = np.cumsum(numbers * 977) - int(numbers[0]) * 977
    long = trace(numbers.tolist(), sent=200_000, received=times.tolist(), sent_at=times.tolist())
    data = encode(long)
    assert len(data) > 4 * 2**18
    assert fields(decode(data)) == fields(long)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "begins with"),
        (b"RGT2" + WRITTEN[4:], "begins with b'RGT2'"),
        (b"RGT1", "cut off"),
        (b"RGT1\x00\x07\x00\x00\x00", "cut off"),
        (b"RGT1\x04\x07\x00\x00\x00\x00", "unknown clock, 4"),
        (b"RGT1\x00\x07\x03\x04" + 14 * b"\x00", "records 4 of 3 arrivals"),
        (b"RGT1\x00\x07" + 2 * varint(10_000_001) + b"\x00\x00", "10000000 at most"),
        (b"RGT1\x00" + varint(2**63) + b"\x00\x00\x00\x00", "byte 5 is too large"),
        (b"RGT1\x00" + 10 * b"\x80" + b"\x00\x00\x00\x00\x00", "byte 5 is too large"),
        (b"RGT1\x00\x07\x00\x00\x01\x00", "a first time without an arrival"),
        (EMPTY + b"\x00", "1 bytes follow"),
        (WRITTEN + b"\x00\x00", "2 bytes follow"),
        (WRITTEN[:-1] + b"\x81", "cut off"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x0e\x00\x00", "arrival 1 has a number"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x01\x00\x00", "arrival 1 has a number"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x00\x02\x00", "that its times count from"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x00\x00\x02", "that its times count from"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x00\x00" + 9 * b"\xff" + b"\x02", "not fit 64 bits"),
        (b"RGT1\x00\x07\x01\x01\x00\x00\x00\x00" + 10 * b"\x80" + b"\x00", "not fit 64 bits"),
        (
            b"RGT1\x00\x07\x02\x02\x00\x00" + 4 * b"\x00" + varint(2**61 + 2) + b"\x00",
            "36 years apart",
        ),
        # Steps that would come back into range if sums were allowed to wrap around.
        (
            b"RGT1\x00\x07\x03\x03\x00\x00" + 2 * (varint(2**64 - 2) + b"\x00\x00") + 3 * b"\x00",
            "arrival 1 has a number",
        ),
        (
            b"RGT1\x00\x07\x03\x03\x00\x00\x00\x00\x00"
            + 2 * (b"\x00" + varint(2**64 - 1) + b"\x00"),
            "36 years apart",
        ),
    ],
)
def test_what_is_no_trace_is_refused_with_the_reason(data, reason):
    with pytest.raises(TraceError, match=reason) as caught:
        decode(data)
    assert caught.value.code == "contract"


def test_a_trace_cut_off_anywhere_is_refused():
    for end in range(len(WRITTEN)):
        with pytest.raises(TraceError):
            decode(WRITTEN[:end])


def test_a_claim_of_many_arrivals_in_few_bytes_is_refused_before_there_is_room_made_for_them():
    count = varint(10_000_000)
    with pytest.raises(TraceError, match="cut off"):
        decode(MAGIC + b"\x00" + 3 * count + b"\x01\x01" + 1000 * b"\x00")


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(data):
    for text in (data, MAGIC + data):
        for read, given_bytes in ((decode, text), (unpack, text), (unpack, zlib.compress(text))):
            try:
                packet_trace = read(given_bytes)
            except TraceError:
                continue
            assert packet_trace.arrived >= len(packet_trace.sequence)


@given(st.integers(0, len(WRITTEN) - 1), st.binary(max_size=12))
def test_a_damaged_trace_is_refused_or_still_consistent(place, damage):
    data = WRITTEN[:place] + damage + WRITTEN[place + len(damage) :]
    try:
        packet_trace = decode(data)
    except TraceError:
        return
    assert ((packet_trace.sequence >= 0) & (packet_trace.sequence < packet_trace.sent)).all()
    runs = loss_runs(packet_trace)
    assert (runs[:, 1] > 0).all()
    assert decode(encode(packet_trace)).sequence.tolist() == packet_trace.sequence.tolist()


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    sent = draw(st.integers(1, 2**63 - 1))
    sequence = draw(st.lists(st.integers(0, sent - 1), max_size=20))
    size = max(len(sequence) - 1, 0)
    times = st.lists(st.integers(-(2**60), 2**60), min_size=size, max_size=size)
    return trace(
        sequence,
        sent=sent,
        arrived=len(sequence) + draw(st.integers(0, 3)),
        received=[0, *draw(times)] if sequence else [],
        sent_at=[0, *draw(times)] if sequence else [],
    )


@given(traces())
def test_what_is_encoded_and_packed_comes_back(packet_trace):
    assert fields(decode(encode(packet_trace))) == fields(packet_trace)
    assert fields(unpack(pack(encode(packet_trace)))) == fields(packet_trace)


@given(traces())
def test_losses_and_arrivals_make_up_what_was_sent(packet_trace):
    runs = loss_runs(packet_trace).tolist()
    unique = sorted(set(packet_trace.sequence.tolist()))
    complete = len(packet_trace.sequence) == packet_trace.arrived
    end = packet_trace.sent if complete else max(unique, default=-1) + 1
    assert sum(lost for _, lost in runs) + len(unique) == end
    for after, lost in runs:
        assert after == -1 or after in unique
        assert after + lost + 1 in {*unique, packet_trace.sent}


def test_the_losses_from_sara_to_evl_are_found():
    lost = {
        number for after, count in SARA_TO_EVL for number in range(after + 1, after + 1 + count)
    }
    arrived = [number for number in range(5000) if number not in lost]
    runs = loss_runs(decode(encode(trace(arrived, sent=5000))))
    assert [tuple(run) for run in runs.tolist()] == SARA_TO_EVL


@pytest.mark.parametrize(
    ("sequence", "arrived", "runs"),
    [
        (list(range(10)), None, []),
        ([2, 3, 4, 5, 6, 7, 8], None, [[-1, 2], [8, 1]]),
        ([], None, [[-1, 10]]),
        # Reordering and duplicates are no loss.
        ([1, 0, 3, 3, 2, 9, 8, 7, 6, 5, 4, 0], None, []),
        # A duplicate doesn't make up for a loss.
        ([0, 1, 1, 3, 4, 5, 6, 7, 8, 9], None, [[1, 1]]),
        # Not all arrivals were recorded: of the tail nothing is known.
        ([0, 1, 4], 4, [[1, 2]]),
        ([], 3, []),
    ],
)
def test_loss_runs_tell_where_and_how_much(sequence, arrived, runs):
    assert loss_runs(trace(sequence, arrived=arrived)).tolist() == runs


def test_even_spacing_has_no_jitter_whatever_the_clocks_offset():
    assert jitter(trace([0, 1, 2, 3])) == 0.0


def test_jitter_is_rfc_3550s():
    received = [0, 1_000, 2_500, 3_100, 9_000]
    packet_trace = trace(
        [0, 1, 2, 3, 4], received=received, sent_at=[0, 1_000, 2_000, 3_000, 4_000]
    )
    expected = 0.0
    for change in (0, 500, 400, 4900):
        expected += (change - expected) / 16
    assert jitter(packet_trace) == pytest.approx(expected * 1e-9, rel=1e-12)


def test_jitter_of_a_long_trace_is_that_of_the_recurrence():
    received = np.cumsum(np.random.default_rng(3550).integers(0, 50_000, 20_000))
    received -= received[0]
    sent_at = 25_000 * np.arange(20_000)
    packet_trace = trace([0] * 20_000, received=received.tolist(), sent_at=sent_at.tolist())
    expected = 0.0
    for change in np.abs(np.diff(received - sent_at)).tolist():
        expected += (change - expected) / 16
    assert jitter(packet_trace) == pytest.approx(expected * 1e-9, rel=1e-12)


def test_fewer_than_two_arrivals_have_no_jitter_and_no_gaps():
    for sequence in ([], [3]):
        assert math.isnan(jitter(trace(sequence)))
        assert interarrival(trace(sequence)).tolist() == []


def test_gaps_lie_between_arrivals_in_their_order():
    packet_trace = trace([0, 2, 1], received=[0, 1_500, 1_400])
    assert interarrival(packet_trace).tolist() == [1_500, -100]


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        (b"", "cut off"),
        (b"RGT1", "cannot be decompressed"),
        (pack(WRITTEN)[:-1], "cut off"),
        (pack(WRITTEN) + b"\x00", "more bytes follow"),
        (pack(b"hello"), "begins with b'hell'"),
    ],
)
def test_a_stored_trace_that_is_damaged_is_refused(blob, reason):
    with pytest.raises(TraceError, match=reason):
        unpack(blob)


def test_what_would_inflate_without_end_is_inflated_only_to_the_largest_trace():
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = deflater.compress(MAGIC) + deflater.flush(zlib.Z_FULL_FLUSH)
    piece = deflater.compress(bytes(1 << 24)) + deflater.flush(zlib.Z_FULL_FLUSH)
    bomb = b"\x78\x9c" + start + piece * (MAX_BYTES // (1 << 24) + 100)
    with pytest.raises(TraceError, match=f"its {MAX_BYTES + 1} bytes are more than the largest"):
        unpack(bomb)
