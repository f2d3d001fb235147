"""Which cases flip between two levels by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.stats.two_levels import two_levels


def nights(modes: str, low: float = 0.92) -> np.ndarray:
    """Return a level for each night: `f` is fast, 1, and `s` slow; off by 0.2 %."""
    draw = np.random.default_rng(1)
    levels = np.array([1.0 if mode == "f" else low for mode in modes])
    return levels * np.exp(0.002 * draw.standard_normal(len(modes)))


def test_a_case_that_flips_has_both_levels_and_how_often_it_went_from_one_to_the_other():
    levels = two_levels(nights("ffsfffsffssf"))
    assert levels is not None
    assert (levels.low.runs, levels.high.runs, levels.switches) == (4, 8, 6)
    assert levels.low.median == pytest.approx(0.92, rel=0.01)
    assert levels.high.median == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(
    "modes", ["ffffffssssss", "fffffsssffff", "ffffffffffff", "fsfsf"], ids="abcd"
)
def test_a_change_that_lasts_or_was_mended_is_no_flip_and_five_runs_show_none(modes):
    assert two_levels(nights(modes)) is None


def test_changes_that_come_and_are_mended_in_a_year_are_no_flips():
    assert two_levels(nights("f" * 20 + "s" * 10 + "f" * 20 + "s" * 10 + "f" * 20)) is None


def test_levels_that_are_nearer_than_five_percent_or_not_above_zero_are_none():
    assert two_levels(nights("fsfsfsfsfsfs", low=0.98)) is None
    assert two_levels(nights("fsfsfsfsfsfs") - 1) is None
    assert two_levels([]) is None


def test_a_level_holds_what_its_runs_were_and_a_share_more():
    levels = two_levels(nights("ffsfffsffssf"))
    assert levels is not None
    assert levels.low.holds(0.92, 0.02)
    assert levels.low.holds(0.905, 0.02)
    assert not levels.low.holds(0.89, 0.02)
    assert not levels.high.holds(0.92, 0.02)
