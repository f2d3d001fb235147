"""The engines' decoder of traces and the runner's: they take the same, and read it alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.base import trace
from railgauge.base.errors import TraceError

Probe = Callable[[str, str], str]

EDGES = [0, 1, 2, 127, 128, 255, 2**32, 2**60 - 1, 2**60, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def _varint(number: int, padding: int = 0) -> bytes:
    """Encode the number, with so many groups more than it needs."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F)
    groups += [0] * padding
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else -number * 2 - 1


@st.composite
def _well_formed(draw: st.DrawFn) -> bytes:
    """Draw a trace as an engine may write it: losses, duplicates, reordering, odd clocks."""
    numbers = draw(st.lists(st.integers(0, 40), max_size=12))
    sent = draw(st.integers(max(numbers, default=-1) + 1, 60))
    arrived = len(numbers) + draw(st.sampled_from([0, 0, 1, 1000]))
    steps = st.one_of(st.integers(-3, 10**6), st.sampled_from([-(2**59), 2**59, 2**60]))
    data = b"RGT1"
    first = [draw(st.integers(0, 2**63 - 1)) if numbers else 0 for _ in range(2)]
    for field in (draw(st.integers(0, 3)), sent, arrived, len(numbers), *first):
        data += _varint(field)
    before = -1
    for place, number in enumerate(numbers):
        data += _varint(_zigzag(number - before - 1))
        data += _varint(_zigzag(draw(steps) if place else 0))
        data += _varint(_zigzag(draw(steps) if place else 0))
        before = number
    return data


@st.composite
def _any_numbers(draw: st.DrawFn) -> bytes:
    """Draw the format's numbers at their limits, some longer than they need to be."""
    small = st.integers(0, 5)
    number = st.one_of(small, small, st.sampled_from(EDGES))
    header = [draw(st.integers(0, 4)), *(draw(number) for _ in range(5))]
    steps = draw(st.lists(number, max_size=9))
    padding = st.sampled_from([0, 0, 0, 0, 1, 8])
    return b"RGT1" + b"".join(_varint(field, draw(padding)) for field in (*header, *steps))


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    """Draw a well-formed trace with bytes changed, cut off or added."""
    data = bytearray(draw(_well_formed()))
    for _ in range(draw(st.integers(0, 2))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))]) + draw(
        st.sampled_from([b"", b"", b"\x00", b"\xff"])
    )


def _by_the_engines(probe: Probe, data: list[bytes]) -> list[dict[str, Any] | None]:
    lines = probe("trace_probe", "".join(piece.hex() + "\n" for piece in data)).splitlines()
    return [None if line == "refused" else _read(line) for line in lines]


def _read(line: str) -> dict[str, Any]:
    head, arrivals, losses, jitter, again = line.split(",")
    clock, sent, arrived, recorded = map(int, head.split())
    rows = [[int(part) for part in word.split(":")] for word in arrivals.split()]
    assert len(rows) == recorded
    return {
        "clock": ("monotonic", "realtime", "sender", "realtime-both")[clock],
        "counts": (sent, arrived),
        "arrivals": rows,
        "losses": [[int(part) for part in word.split(":")] for word in losses.split()],
        "jitter": float(jitter),
        "again": bytes.fromhex(again),
    }


def _by_the_runner(data: bytes) -> dict[str, Any] | None:
    try:
        decoded = trace.decode(data)
    except TraceError:
        return None
    rows = zip(
        decoded.sequence.tolist(), decoded.received.tolist(), decoded.sent_at.tolist(), strict=True
    )
    has_pairs = len(decoded.sequence) > 1
    return {
        "clock": decoded.clock,
        "counts": (decoded.sent, decoded.arrived),
        # Before the receiver's clock began, the engines' unsigned time comes round.
        "arrivals": [
            [number, (decoded.first_received + at) % 2**64, (decoded.first_sent + sent_at) % 2**64]
            for number, at, sent_at in rows
        ],
        "losses": trace.loss_runs(decoded).tolist(),
        "jitter": pytest.approx(trace.jitter(decoded) if has_pairs else 0.0, rel=1e-9),
        "again": trace.encode(decoded),
    }


@given(
    data=st.lists(st.one_of(_well_formed(), _any_numbers(), _damaged()), min_size=1, max_size=30)
)
def test_both_decoders_take_the_same_traces_and_read_them_alike(
    probe: Probe, data: list[bytes]
) -> None:
    assert _by_the_engines(probe, data) == [_by_the_runner(piece) for piece in data]


@given(data=_well_formed())
def test_what_an_engine_may_write_is_taken_unless_its_times_are_absurd(data: bytes) -> None:
    """The comparison above is one of accepted traces too, and not only of refusals."""
    try:
        assert trace.encode(trace.decode(data)) == data
    except TraceError as error:
        assert "36 years apart" in str(error)
