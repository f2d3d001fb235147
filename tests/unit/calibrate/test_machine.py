"""Rates and loads held against rail-reference's: what is wrong, and what a busy machine excuses."""

from __future__ import annotations

import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.machine import judged

RATE = CertificateCheck("rate", "cpu", "op/s", 0.05, relative=True)
LOAD = CertificateCheck("load", "watch", "", 0.02, relative=False)
STEADY = (0.999, 1.001, 1.0, 0.998, 1.002, 1.0)
# Their mean is exact to 1 %, but they differ by 10 % from each other.
SCATTERED = (0.9, 1.1, 1.0, 0.85, 1.15, 1.0)


@pytest.mark.parametrize(
    ("factor", "noise", "reasons", "conclusion"),
    [
        (1.0, STEADY, [""], "certified"),
        (1.1, STEADY, [""], "wrong"),
        (1e9 / 2**30, STEADY, [""], "wrong"),
        (1.1, STEADY, ["a busy machine"], "not certifiable here"),
        (1.0, SCATTERED, [""], "not certifiable here"),
        (1.25, SCATTERED, [""], "not certifiable here"),
    ],
)
def test_a_rate_that_scatters_is_never_wrong(
    factor: float, noise: tuple[float, ...], reasons: list[str], conclusion: str
) -> None:
    truths = [2e9] * len(noise)
    values = [2e9 * factor * share for share in noise]
    check = judged(RATE, values, truths, {"implementation": 0.01}, reasons)
    assert check.conclusion == conclusion
    assert ("scatter" in check.explanation) == (noise is SCATTERED)


@pytest.mark.parametrize(
    ("excess", "noise", "conclusion"),
    [(0.0, 0.001, "certified"), (0.05, 0.001, "wrong"), (0.05, 0.02, "not certifiable here")],
)
def test_a_load_is_held_in_points(excess: float, noise: float, conclusion: str) -> None:
    truths = [0.5, 0.49, 0.51, 0.5]
    values = [t + excess + sign * noise for t, sign in zip(truths, (1, -1, 1, -1), strict=True)]
    assert judged(LOAD, values, truths, {}, []).conclusion == conclusion


def test_too_few_pairs_keep_the_reason_that_there_is() -> None:
    check = judged(RATE, [1.0], [1.0], {}, ["", "CPU 0 is not idle"])
    assert (check.value, check.explanation) == (None, "CPU 0 is not idle")
