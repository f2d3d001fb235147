"""Which mean a unit asks for, and the harmonic one."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from railgauge.base.assets import folder
from railgauge.stats.averages import MetricKind, average_of
from railgauge.stats.summary import summarise


@pytest.mark.parametrize("unit", ["s", "us", "B", "MiB", "J", "s/op"])
def test_costs_are_averaged_arithmetically(unit: str) -> None:
    assert average_of(unit) == "arithmetic"


@pytest.mark.parametrize("unit", ["bit/s", "Mbit/s", "B/s", "op/s", "1/s", "Hz", "GHz"])
def test_rates_are_averaged_harmonically(unit: str) -> None:
    assert average_of(unit) == "harmonic"


@pytest.mark.parametrize("unit", ["", "1", "%"])
def test_ratios_are_not_averaged(unit: str) -> None:
    assert average_of(unit) == "none"


@pytest.mark.parametrize(
    ("kind", "average"),
    [
        ("rate", "harmonic"),
        ("time", "arithmetic"),
        ("count", "arithmetic"),
        ("cost", "arithmetic"),
        ("ratio", "none"),
        ("share", "none"),
        ("label", "none"),
    ],
)
def test_what_a_metric_is_goes_before_its_unit(kind: str, average: str) -> None:
    assert {average_of(unit, kind) for unit in ("", "1", "s", "bit/s")} == {average}
    assert kind in get_args(MetricKind)


def test_a_kind_that_nobody_knows_leaves_it_to_the_unit() -> None:
    assert [average_of(unit, "odd") for unit in ("", "s", "bit/s")] == [
        *("none", "arithmetic", "harmonic"),
    ]


def test_each_unit_of_the_engines_is_one_that_is_known() -> None:
    engines = json.loads((folder("schema") / "engines.json").read_text())
    units = {
        metric["unit"] for engine in engines["engines"].values() for metric in engine["metrics"]
    }
    rates = {unit for unit in units if average_of(unit) == "harmonic"}
    assert rates == {"bit/s", "B/s", "op/s", "1/s", "Hz"}
    assert {unit for unit in units if average_of(unit) == "arithmetic"} == {"s", "B"}


def test_half_of_the_work_at_10_and_half_at_30_goes_at_15() -> None:
    assert summarise([10.0, 30.0]).harmonic_mean == pytest.approx(15.0)


@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 2.0], [-0.0]])
def test_without_a_value_above_zero_each_there_is_no_harmonic_mean(values: list[float]) -> None:
    assert summarise(values).harmonic_mean is None


@given(st.lists(st.floats(min_value=1e-6, max_value=1e12), min_size=1, max_size=50))
def test_the_harmonic_mean_is_scipys_and_never_above_the_arithmetic(values: list[float]) -> None:
    summary = summarise(values)
    assert summary.harmonic_mean == pytest.approx(stats.hmean(values), rel=1e-12)
    assert summary.minimum <= summary.harmonic_mean <= summary.mean * (1 + 1e-15)


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1.7e308])
def test_equal_values_have_their_own_harmonic_mean_however_small_or_large(value: float) -> None:
    assert summarise([value] * 3).harmonic_mean == value
