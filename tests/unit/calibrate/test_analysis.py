"""The known numbers, by other means than their closed forms."""

from __future__ import annotations

from statistics import fmean, median

import pytest
from scipy.stats import binom

from railgauge.calibrate.analysis import (
    KNOWN_SERIES,
    KnownSeries,
    analysis_truths,
    is_right,
    one_rank_more,
)
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS


@pytest.mark.parametrize("series", KNOWN_SERIES, ids=lambda series: f"n{series.n}")
def test_closed_forms_agree_with_the_values(series: KnownSeries) -> None:
    values = series.values
    assert len(set(values)) == series.n
    assert series.statistics["median"] == median(values)
    assert float(series.statistics["arithmetic_mean"]) == pytest.approx(fmean(values), rel=1e-12)
    assert series.statistics["median"] != series.statistics["arithmetic_mean"]
    ordered = sorted(values)
    rank = ordered.index(series.ends[0]) + 1
    assert series.ends == (ordered[rank - 1], ordered[-rank])
    # What is outside has at most 5 %, and one rank further in has more.
    assert 2 * binom.cdf(rank - 1, series.n, 0.5) <= 0.05 < 2 * binom.cdf(rank, series.n, 0.5)


def test_one_rank_more_is_the_next_value_of_the_same_series() -> None:
    for series in KNOWN_SERIES:
        middle = float(series.statistics["median"])
        above = one_rank_more(middle)
        assert above in series.values
        assert sum(middle < value <= above for value in series.values) == 1


@pytest.mark.parametrize(
    ("text", "unit", "right"),
    [
        ("1.1543", "Gbit/s", True),
        ("1.1544", "Gbit/s", False),
        ("1.154", "Gbit/s", False),
        ("1.15430", "Gbit/s", False),
        ("1154.3", "Mbit/s", False),
        ("1.1543", "Mbit/s", False),
        ("1.1543", "B/s", False),
        ("---", "Gbit/s", False),
        ("", "", False),
    ],
)
def test_a_cell_is_right_to_the_last_digit_and_with_its_unit(
    text: str, unit: str, right: bool
) -> None:
    # 1,123,456,789 + 25 · 1,234,567 = 1,154,320,964
    assert is_right((text, unit), KNOWN_SERIES[0], "median") == right


def test_every_check_of_the_analysis_has_a_broken_instrument() -> None:
    broken = {instrument.check for instrument in BROKEN_INSTRUMENTS}
    assert {truth.check.name for truth in analysis_truths()} <= broken
