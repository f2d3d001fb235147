"""Digits of ratios and percentages: few, but none that look like no change or like nothing left."""

from __future__ import annotations

import pytest

from railgauge.stats.digits import (
    decimals_of_interval,
    decimals_of_width,
    percent_text,
    percentage,
    ratio_text,
)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.9, "0.900"),
        (0.0123, "0.012"),
        (12.3456, "12.346"),
        (1.0, "1.000"),
        (0.999, "0.999"),
        (0.9997, "0.9997"),
        (1.00004, "1.00004"),
        (5e-5, "0.00005"),
        (0.00049, "0.0005"),
        (1 + 1e-13, "1.000"),
        (float("inf"), "inf"),
    ],
)
def test_a_ratio_has_three_decimals_unless_it_would_look_like_none_or_nothing(
    ratio: float, text: str
):
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.05, "+5.0 %"),
        (-0.0312, "-3.1 %"),
        (0.0, "+0.0 %"),
        (-1e-15, "+0.0 %"),
        (-0.0003, "-0.03 %"),
        (0.000041, "+0.004 %"),
        (-1.0, "-100.0 %"),
        (-0.99995, "-99.995 %"),
        (2.5, "+250.0 %"),
    ],
)
def test_a_percentage_has_one_decimal_unless_it_would_look_like_no_change_or_all(
    share: float, text: str
):
    assert percent_text(share) == text
    assert f"{percentage(share)} %" == text


@pytest.mark.parametrize(
    ("width", "decimals"),
    [(35.68, 0), (14.0, 1), (19.92, 0), (19.88, 1), (3568.0, 0), (0.052, 3), (2e-9, 10)],
)
def test_half_a_width_has_two_significant_digits(width: float, decimals: int) -> None:
    assert decimals_of_width(width) == decimals


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [
        (100.000264, 100.000354, 2),
        (-100.000354, -100.000264, 2),
        (12.44, 30.28, 1),
        (99.99996, 99.99998, 2),
        (1234567.25, 1234567.5, 0),
        (0.00012345678, 0.00012345679, 8),
    ],
)
def test_no_end_of_an_interval_has_more_than_five_significant_digits(
    low: float, high: float, decimals: int
) -> None:
    assert decimals_of_interval(low, high) == decimals
