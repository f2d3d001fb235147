"""Traces held against stamps: what a delay does, and what a fault does."""

from __future__ import annotations

import numpy as np
import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.trace import Trace
from railgauge.calibrate.stamps import (
    ClockReading,
    clock_rate,
    compared_by_datagram,
    stamps_of,
    worst_budget,
)

GAPS = CertificateCheck("gaps", "udp", "s", 1e-6, relative=False)
BUDGET = {"ends": 2e-7}
REPLICATIONS, COUNT = 10, 199


def gaps(seed: int) -> list[np.ndarray]:
    """Return what a right instrument and its truth have: 1 ms, give or take 0.5 us."""
    generator = np.random.default_rng(seed)
    return [1e-3 + generator.normal(0, 5e-7, COUNT) for _ in range(REPLICATIONS)]


def trace(*sequence: int) -> Trace:
    numbers = np.array(sequence, np.int64)
    return Trace("realtime", 10, len(sequence), numbers, numbers * 0, numbers * 0, 0, 0)


@pytest.mark.parametrize(
    ("scale", "conclusion"), [(1.0, "certified"), (1.01, "wrong"), (0.99, "wrong")]
)
def test_a_fault_shows_in_every_datagram(scale: float, conclusion: str) -> None:
    truths = gaps(1)
    values = [part * scale for part in truths]
    assert compared_by_datagram(GAPS, values, truths, BUDGET, "").conclusion == conclusion


@pytest.mark.parametrize("replications", range(REPLICATIONS + 1))
@pytest.mark.parametrize("delay", [1e-5, 3e-4, 3e-3, 0.3])
def test_a_machine_that_stalls_at_the_end_of_any_stream_is_never_a_fault(
    delay: float, replications: int
) -> None:
    truths = gaps(2)
    values = [part.copy() for part in truths]
    for part in values[:replications]:
        part[-1] += delay
    check = compared_by_datagram(GAPS, values, truths, BUDGET, "")
    assert check.conclusion != "wrong"
    if abs(check.error or 0) > GAPS.limit:
        assert "not most of the datagrams show it" in check.reason


def test_a_sender_that_is_late_and_catches_up_keeps_its_pace() -> None:
    values = gaps(3)
    for part in values:
        part[50] += 20e-3
        part[51:91] -= 0.5e-3
    truths = [np.full(COUNT, 1e-3)] * REPLICATIONS
    check = compared_by_datagram(GAPS, values, truths, BUDGET, "")
    assert check.conclusion == "certified"


@pytest.mark.parametrize("late", [2e-6, 1e-3])
def test_a_sender_that_never_catches_up_is_no_fault(late: float) -> None:
    values = gaps(4)
    for part in values:
        part[::2] += 3 * late
        part[1::2] -= late
    check = compared_by_datagram(GAPS, values, [np.full(COUNT, 1e-3)] * REPLICATIONS, BUDGET, "")
    assert check.error == pytest.approx(late, rel=0.1)
    assert check.conclusion == "not certifiable here"
    assert "not most of the datagrams show it" in check.reason


def compared_stamps(values: list[np.ndarray], truths: list[np.ndarray]) -> CertificateCheck:
    return compared_by_datagram(GAPS, values, truths, worst_budget(values, truths), "")


def test_the_same_stamps_are_exact_and_a_shift_shows_on_any_machine() -> None:
    truths = [np.arange(COUNT) * 1e-3] * REPLICATIONS
    check = compared_stamps(truths, truths)
    assert (check.error, check.uncertainty, check.conclusion) == (0.0, 0.0, "certified")
    check = compared_stamps([part + 2e-6 for part in truths], truths)
    assert check.error == pytest.approx(2e-6)
    assert check.conclusion == "wrong"


@pytest.mark.parametrize("seconds", [3e-6, 1e-4])
def test_a_single_stamp_that_differs_is_not_certified(seconds: float) -> None:
    truths = [np.arange(COUNT) * 1e-3 for _ in range(REPLICATIONS)]
    values = [part.copy() for part in truths]
    values[3][100] += seconds
    check = compared_stamps(values, truths)
    assert abs(check.error or 0) < GAPS.limit
    assert check.conclusion == "not certifiable here"


def test_stamps_are_found_by_number_however_they_came() -> None:
    stream = np.array([[0, 100], [2, 102], [1, 105], [3, 107]], np.int64)
    assert stamps_of(stream, trace(0, 1, 3)).tolist() == [100, 105, 107]


@pytest.mark.parametrize("sequence", [(0, 1, 4), (1, 0), ()])
def test_a_trace_of_other_datagrams_has_no_truth(sequence: tuple[int, ...]) -> None:
    stream = np.array([[0, 100], [1, 105]], np.int64)
    with pytest.raises(EnvironmentFailedError, match="a trace has"):
        stamps_of(stream, trace(*sequence))


def test_clocks_that_part_make_the_gaps_uncertain_and_a_step_is_a_reason() -> None:
    begin = ClockReading(5_000_000_000, 1_000_000_000, 100)
    slewed = clock_rate(begin, ClockReading(7_000_020_000, 3_000_000_000, 100))
    assert slewed.ratio == pytest.approx(1.00001)
    assert slewed.uncertainty == pytest.approx((1e-5 + 100 / 2e9) / np.sqrt(3))
    assert slewed.reason == ""
    stepped = clock_rate(begin, ClockReading(7_010_000_000, 3_000_000_000, 100))
    assert stepped.reason == "the wall clock was set meanwhile"
