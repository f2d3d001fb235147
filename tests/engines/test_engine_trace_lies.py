"""A server that lies about a replication's trace: an error, no trace and no number."""

from __future__ import annotations

import pytest
from tests.support.between import Between, Change, fields_of, frame
from tests.support.wire import Wire

TRACED = ("--trace=20", "--count=20", "--sockbuf=256KiB", "--replications=1")


def _varints(*numbers: int) -> bytes:
    data = b""
    for number in numbers:
        while number > 0x7F:
            data += bytes([number & 0x7F | 0x80])
            number >>= 7
        data += bytes([number])
    return data


def _client(engines, kind: int, change: Change):
    server = engines.server("udp")
    with Between(server.port, kind, change) as between:
        arguments = ("127.0.0.1", "--json", f"--port={between.port}", *TRACED)
        outcome = engines.start("udp", "client", *arguments).finish()
    assert engines.client(server, *TRACED[1:3], count=1).metrics
    return outcome


def _refused(engines, kind: int, change: Change) -> str:
    outcome = _client(engines, kind, change)
    assert outcome.of("replication") == outcome.of("trace") == outcome.of("done") == []
    code: str = outcome.error["code"]
    return code


def _part(data: bytes) -> bytes:
    return Wire.frame(Wire.PART, data)


def test_a_trace_comes_through_unharmed(engines) -> None:
    outcome = _client(engines, Wire.PART, lambda whole: whole)
    assert outcome.metrics
    assert outcome.of("trace")


@pytest.mark.parametrize("shift", [-1, 1, 300_000_000])
def test_a_trace_of_another_length_than_announced_is_refused(engines, shift: int) -> None:
    def change(whole: bytes) -> bytes:
        fields = fields_of(whole)
        return frame(
            Wire.RESULT, {**fields, "trace_bytes": str(int(fields["trace_bytes"]) + shift)}
        )

    assert _refused(engines, Wire.RESULT, change) == "bad-peer"


@pytest.mark.parametrize("length", ["nan", "-1", "1e12", "1.5", ""])
def test_a_length_of_a_trace_that_cannot_be_is_refused(engines, length: str) -> None:
    def change(whole: bytes) -> bytes:
        return frame(Wire.RESULT, {**fields_of(whole), "trace_bytes": length})

    assert _refused(engines, Wire.RESULT, change) == "bad-peer"


@pytest.mark.parametrize(
    "part",
    [
        lambda data: b"",
        lambda data: data + b"\x00",
        lambda data: b"RGT2" + data[4:],
        lambda data: data[:-1] + b"\x80",
        lambda data: bytes(len(data)),
        lambda data: (b"RGT1" + _varints(0, 10**7, 10**7, 10**7, 1, 1)).ljust(len(data), b"\0"),
        lambda data: (b"RGT1" + _varints(0, 19, 0, 0, 0, 0)).ljust(len(data), b"\0"),
        lambda data: data[:5] + b"\x13" + data[6:],
        lambda data: data[:5] + b"\x15" + data[6:],
    ],
    ids=[
        "nothing",
        "too-much",
        "another-format",
        "cut-off",
        "zeros",
        "ten-million-arrivals",
        "left-over",
        "fewer-sent",
        "more-sent",
    ],
)
def test_a_trace_that_is_none_or_of_another_replication_is_refused(engines, part) -> None:
    def change(whole: bytes) -> bytes:
        return _part(part(whole[12:]))

    assert _refused(engines, Wire.PART, change) == "bad-peer"
