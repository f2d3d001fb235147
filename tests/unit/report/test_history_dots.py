"""Replications in a history's picture: each is to be seen, those that touch as one stroke."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from railgauge.plan.cases import Case
from railgauge.report.verdicts.history.dots import dots
from railgauge.store.records import Series

CASE = Case("0123456789abcdef", "udp", "link", "a", "b", {})


def series(run: int, values: Sequence[float], suspect: Sequence[int] = ()) -> Series:
    marks = np.isin(np.arange(len(values)), suspect)
    measured = np.array(values, np.float64)
    return Series(
        run, "plan", "t", CASE, "rate", "bit/s", "higher", measured, marks, 0, len(values)
    )


def strokes(block: str) -> list[tuple[float, float, float]]:
    """Return when each is, where it begins and where it ends."""
    spans = []
    for stroke in block.split("\n\n"):
        (when, low), (same, high) = (map(float, line.split()) for line in stroke.splitlines())
        assert when == same
        spans.append((when, low, high))
    return spans


def test_replications_apart_are_a_stroke_each():
    blocks = dots([series(1, [100.0, 200.0, 400.0])], {1: 50.0}, 1.0, 2)
    assert [(when, (low + high) / 2) for when, low, high in strokes(blocks["replications"])] == [
        (50.0, 100.0),
        (50.0, 200.0),
        (50.0, 400.0),
    ]


def test_replications_that_touch_are_one_stroke_over_all_of_them():
    blocks = dots([series(1, [101.0, 400.0, 100.0, 102.0])], {1: 50.0}, 1.0, 2)
    spans = strokes(blocks["replications"])
    # A dot is 2 of 300 pixels high, of values that are 300 apart.
    assert spans == [(50.0, 99.0, 103.0), (50.0, 399.0, 401.0)]


def test_equal_replications_of_two_nights_are_a_stroke_in_each():
    blocks = dots([series(1, [100.0] * 9), series(2, [100.0, 160.0])], {1: 0.0, 2: 9.0}, 1.0, 2)
    assert [when for when, _, _ in strokes(blocks["replications"])] == [0.0, 9.0, 9.0]


def test_a_suspect_replication_is_a_stroke_of_its_own_kind_though_it_touches_others():
    blocks = dots([series(1, [100.0, 100.5, 400.0], suspect=[1])], {1: 0.0}, 1.0, 4)
    assert len(strokes(blocks["replications"])) == 2
    assert len(strokes(blocks["suspect replications"])) == 1


def test_every_replication_lies_on_a_stroke():
    values = np.random.default_rng(3).normal(1e9, 1e7, (40, 10))
    blocks = dots(
        [series(run, night.tolist()) for run, night in enumerate(values)],
        {run: 86400.0 * run for run in range(40)},
        1e6,
        2,
    )
    drawn = strokes(blocks["replications"])
    assert len(drawn) < values.size
    for run, night in enumerate(values):
        ends = [(low, high) for when, low, high in drawn if when == 86400.0 * run]
        assert all(any(low <= value / 1e6 <= high for low, high in ends) for value in night)


@pytest.mark.parametrize("values", [[], [5.0]])
def test_one_replication_or_none_has_a_place(values: list[float]):
    blocks = dots([series(1, values)], {1: 0.0}, 1.0, 4)
    assert blocks.keys() == ({"replications"} if values else set())


@pytest.mark.parametrize("value", [0.0, 5.0, -5.0])
def test_equal_replications_alone_have_a_height_too(value: float):
    blocks = dots([series(1, [value] * 3)], {1: 0.0}, 1.0, 4)
    ((_, low, high),) = strokes(blocks["replications"])
    assert low < value < high


def test_runs_that_are_no_nights_have_no_dots():
    assert dots([series(1, [5.0])], {2: 0.0}, 1.0, 4) == {}
