"""The runner's decoder of series: what it reads, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.support.series_samples import MS, readings, tcp_series, udp_series

from railgauge.base.errors import TraceError
from railgauge.base.intervals import Intervals, decode, encode, unpack
from railgauge.base.trace import pack


@pytest.mark.parametrize("make", [tcp_series, udp_series])
def test_a_series_comes_back_as_it_was(make: Callable[[], Intervals]) -> None:
    series, again = make(), unpack(pack(encode(make())))
    assert (again.length, again.omit, [*again.columns]) == (10 * MS, 10 * MS, [*series.columns])
    for name, column in series.columns.items():
        assert again.columns[name].readings.tolist() == column.readings.tolist()
        assert again.columns[name].ends.tolist() == column.ends.tolist()
        assert again.columns[name].omitted == 1


def test_the_omitted_part_ends_an_interval() -> None:
    series = Intervals(10 * MS, 25 * MS, {"rtt": readings([1, 2, 3, 4, 5], state=True)})
    ends = decode(encode(series)).columns["rtt"].ends
    assert (ends / MS).tolist() == [10, 20, 25, 35, 44]
    assert decode(encode(series)).columns["rtt"].omitted == 3


def _header(*numbers: int) -> bytes:
    return b"RGI1" + bytes(numbers)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RGT1" + encode(tcp_series())[4:],
        encode(tcp_series())[:-1],
        encode(tcp_series()) + b"\0",
        _header(0, 0, 1, 0, 1, 0, 0),  # intervals of no length
        _header(1, 0, 0),  # no column
        _header(1, 0, 9),
        _header(1, 0, 1, 8, 1, 0, 0),  # of what nobody knows
        _header(1, 0, 2, 0, 1, 0, 0, 1, 0, 0, 0),  # one quantity twice
        _header(1, 0, 1, 0, 0, 0),  # no interval
        _header(1, 1, 1, 0, 1, 1, 0),  # none that counts
        _header(1, 0, 1, 0, 3, 1, 0, 0, 0),  # the last one ends before the one before
        _header(1, 0, 1, 0, 0xA1, 0x8D, 6, 9) + bytes(100_001),  # too many
        b"RGI1" + b"\xff" * 9 + b"\1" + bytes([0, 1, 0, 1, 0, 0]),
    ],
)
def test_what_is_no_series_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        decode(data)


def test_what_is_counted_in_an_interval_is_the_difference_of_readings() -> None:
    column = udp_series().columns["lost_packets"]
    assert column.counts.tolist() == [0, 3, -1]
    assert replace(column, readings=np.array([5, 4, 4])).counts.tolist() == [5, -1, 0]
