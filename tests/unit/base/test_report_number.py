"""Digits: what a table shows is the stored value, rounded once and in decimal."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.base.number import (
    at_most,
    best_unit,
    fitting_units,
    format_number,
    in_best_unit,
    plain_number,
    plural,
    scale,
)

_MEGA = Decimal(10**6)


@given(st.integers(min_value=0, max_value=10**9))
def test_a_value_written_with_two_decimals_is_shown_with_the_same_ones(hundredths: int) -> None:
    text = f"{hundredths // 100}.{hundredths % 100:02d}"
    stored = float(Decimal(text) * _MEGA)
    assert format_number(stored, _MEGA, 2) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.675, "2.68"),  # 2.67499999999999982236431605997495353221893310546875 as a double
        (2.665, "2.66"),
        (1.005, "1.00"),
        (1.0050000001, "1.01"),
        (-0.004, "0.00"),
        (-0.006, "-0.01"),
        (1e22, "10000000000000000000000.00"),
        (1e300, "1" + "0" * 300 + ".00"),
        (5e-324, "0.00"),
    ],
)
def test_ties_of_the_written_decimal_go_to_the_even_digit(value: float, text: str) -> None:
    assert format_number(value, Decimal(1), 2) == text


def test_no_decimals_leave_no_point() -> None:
    assert format_number(12.0, Decimal(1), 0) == "12"


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_not_a_number_is_not_shown_as_one(value: float | None) -> None:
    assert format_number(value, Decimal(1), 2) == "n/a"


@given(st.floats(min_value=0, max_value=1e6))
def test_a_bound_is_never_below_what_it_bounds(value: float) -> None:
    bound = Decimal(at_most(value, 0.01, 1)) / 100
    assert Decimal(repr(value)) <= bound <= Decimal(repr(value)) + Decimal("0.001")


def test_units_fit_only_their_own_dimension() -> None:
    assert scale("Mbit/s", "bit/s") == 10**6
    assert scale("µs", "s") == Decimal("0.000001")
    assert scale("KiB", "B") == 1024
    assert scale("%", "") == Decimal("0.01")
    assert scale("Mbit/s", "s") is None
    assert scale("furlong", "B") is None
    assert scale("J", "J") == 1
    assert fitting_units("J") == ["J"]
    assert "Gbit/s" in fitting_units("bit/s")


@pytest.mark.parametrize(
    ("base", "values", "unit"),
    [
        ("bit/s", [9.4e8, 9.5e8, 1.2e9], "Mbit/s"),
        ("bit/s", [0.0, 4e10], "Gbit/s"),
        ("s", [5e-6, 6e-6, 2.0], "µs"),
        ("s", [3e-10], "ns"),
        ("B", [4096.0], "KiB"),
        ("", [7.0], ""),
        ("bit/s", [], "bit/s"),
    ],
)
def test_the_unit_is_one_in_which_the_middle_value_is_at_least_one(
    base: str, values: list[float], unit: str
) -> None:
    assert best_unit(base, values) == unit


@pytest.mark.parametrize(
    ("value", "base", "text"),
    [
        (0.0123, "1", "1.230 %"),
        (2e-6, "1", "0.0002000 %"),
        (1.5, "1", "150.0 %"),
        (0.0, "1", "0 %"),
        (0.0, "s", "0 s"),
        (0.0, "", "0"),
        (1.0, "", "1"),
        (1.5, "", "1.500"),
        (2e-6, "s", "2.000 µs"),
    ],
)
def test_a_value_stands_in_the_unit_that_suits_it(value: float, base: str, text: str) -> None:
    assert in_best_unit(value, base) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 4, "0"),
        (0.12345, 4, "0.1235"),
        (1234.5, 4, "1234"),
        (9999.7, 4, "10000"),
        (-12345.6, 4, "-12346"),
        (99999.96, 6, "100000"),
        (1234567.0, 6, "1234567"),
        (2e10, 4, "20000000000"),
        (1e300, 4, "1e+300"),
        (5e-5, 4, "0.00005"),
        (-0.00001234567, 4, "-0.00001235"),
        (1e-9, 4, "0.000000001"),
        (1e-12, 4, "1e-12"),
    ],
)
def test_a_number_alone_has_no_exponent(value: float, digits: int, text: str) -> None:
    assert plain_number(value, digits) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 links"), (1, "1 link"), (2, "2 links"), (1000, "1,000 links")]
)
def test_one_of_a_kind_is_called_so(number: int, text: str) -> None:
    assert plural(number, "link") == text


@pytest.mark.parametrize("size", [0.99996, 9.9996, 99.996, 999.96])
def test_what_is_rounded_up_to_another_digit_keeps_four(size: float) -> None:
    number, _, unit = in_best_unit(size * 1e9, "bit/s").partition(" ")
    assert len(number.replace(".", "")) == 4, (number, unit)
