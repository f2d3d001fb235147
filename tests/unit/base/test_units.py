"""Quantities with units: what plans may write and what it comes to in base units."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.base import units


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1460, 1460),
        ("1460", 1460),
        ("4KiB", 4096),
        ("10 kB", 10_000),
        ("1k", 1024),
        ("2M", 2 * 1024**2),
        ("2.3MB", 2_300_000),
        ("1.5KiB", 1536),
        ("1TiB", 1024**4),
    ],
)
def test_sizes_are_bytes(text: str | int, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("150Mbit/s", 150e6), ("1Gbit/s", 1e9), ("5k", 5e3), ("0.1Tbit/s", 1e11), ("9600bit/s", 9600)],
)
def test_rates_are_bits_per_second(text: str, rate: float) -> None:
    assert units.parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5.0),
        ("12us", 12e-6),
        ("12µs", 12e-6),
        ("12μs", 12e-6),
        ("2.9ms", 0.0029),
        ("2h", 7200.0),
    ],
)
def test_times_are_seconds(text: str, seconds: float) -> None:
    assert units.parse_time(text) == seconds


def test_one_time_in_two_units_is_one_number() -> None:
    assert units.parse_time("2900us") == units.parse_time("2.9ms") == units.parse_time("0.0029s")


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (units.parse_time, 5, "has no unit"),
        (units.parse_rate, "100", "has no unit"),
        (units.parse_size, "4KB", "unknown unit 'KB' for a size"),
        (units.parse_time, "5sec", "unknown unit 'sec' for a time"),
        (units.parse_rate, "1GB", "unknown unit 'GB' for a rate"),
        (units.parse_size, "1.3", "not a whole number of bytes"),
        (units.parse_size, -5, "is not a size"),
        (units.parse_size, "", "is not a size"),
        (units.parse_size, "1e400", "beyond what can be measured"),
        (units.parse_time, "1" + "0" * 30 + "s", "beyond what can be measured"),
        (units.parse_time, "1e999999999s", "beyond what can be measured"),
        (units.parse_time, "1e-" + "9" * 20 + "s", "is not a time"),
        (units.parse_size, True, "is not a size"),
        (units.parse_size, "٣KiB", "is not a size"),
    ],
)
def test_other_quantities_are_refused_with_what_to_write(parse, text, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=says):
        parse(text)


@given(st.integers(min_value=0, max_value=2**60))
def test_formatted_sizes_read_back_exactly(size: int) -> None:
    assert units.parse_size(units.format_size(size)) == size


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_formatted_times_read_back_to_fifteen_digits(seconds: float) -> None:
    assert math.isclose(units.parse_time(units.format_time(seconds)), seconds, rel_tol=1e-14)


@given(st.floats(min_value=1, max_value=1e14))
def test_formatted_rates_read_back_to_fifteen_digits(rate: float) -> None:
    assert math.isclose(units.parse_rate(units.format_rate(rate)), rate, rel_tol=1e-14)


@pytest.mark.parametrize("text", ["12.3456789us", "1.0000001s", "999.999999999999ms", "2.9ms"])
def test_times_are_shown_as_they_were_written(text: str) -> None:
    assert units.format_time(units.parse_time(text)) == text


@pytest.mark.parametrize("text", ["9.9999999Gbit/s", "100.000001Mbit/s", "1234567.89Gbit/s"])
def test_rates_are_shown_as_they_were_written(text: str) -> None:
    assert units.format_rate(units.parse_rate(text)) == text


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("68.256GB/s", 68.256e9, "B/s"),
        ("10GiB/s", 10 * 2.0**30, "B/s"),
        ("147.2GFLOP/s", 147.2e9, "op/s"),
        ("588.8 Gop/s", 588.8e9, "op/s"),
        ("14ns", 14e-9, "s"),
        ("0.5ms", 0.5e-3, "s"),
        ("10Gbit/s", 1e10, "bit/s"),
        ("2.3GHz", 2.3e9, "Hz"),
        ("64GiB", 64 * 2.0**30, "B"),
    ],
)
def test_a_quantity_tells_its_base_unit(text: str, value: float, unit: str) -> None:
    assert units.parse_quantity(text) == (value, unit)


@pytest.mark.parametrize("text", ["14", "14 parsecs", "GB/s", "-1GB/s", True])
def test_what_has_no_unit_is_no_quantity(text: str | bool) -> None:
    with pytest.raises(ValueError, match=r"write|use one of"):
        units.parse_quantity(text)
