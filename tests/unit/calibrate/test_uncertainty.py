"""Values held against truths: what is certified, what is wrong, and what can't be told."""

from __future__ import annotations

import math

import pytest

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.calibrate.uncertainty import compared, counted, without_value

RATE = CertificateCheck("rate", "udp", "bit/s", 0.01, relative=True)
COUNT = CertificateCheck("lost", "udp", "", 0.0, relative=False)
TRUTHS = [100.0, 200.0, 100.0, 200.0]


def test_the_uncertainty_is_twice_the_root_of_all_squares() -> None:
    check = compared(RATE, [101.0, 204.0, 99.0, 202.0], TRUTHS, {"clock": 0.003, "edges": 0.004})
    differences = [0.01, 0.02, -0.01, 0.01]
    mean = sum(differences) / 4
    squares = sum((difference - mean) ** 2 for difference in differences) / 3 / 4
    assert check.error == pytest.approx(mean)
    assert check.uncertainty == pytest.approx(2 * math.sqrt(squares + 0.003**2 + 0.004**2))
    assert (check.value, check.truth) == (151.5, 150.0)


@pytest.mark.parametrize(
    ("share", "budget", "reason", "conclusion"),
    [
        (1.004, 0.003, "", "certified"),
        (1.004, 0.003, "a busy machine", "certified"),
        # Less than the limit, but not explained.
        (1.008, 0.003, "", "not certifiable here"),
        # Perhaps right, but that isn't known well enough.
        (1.004, 0.006, "", "not certifiable here"),
        (1.03, 0.003, "", "wrong"),
        (0.97, 0.003, "", "wrong"),
        # Who disturbs a measurement may have made it wrong.
        (0.97, 0.003, "a busy machine", "not certifiable here"),
        (0.97, 0.02, "", "not certifiable here"),
    ],
)
def test_only_a_small_and_explained_error_is_certified(
    share: float, budget: float, reason: str, conclusion: str
) -> None:
    values = [truth * share for truth in TRUTHS]
    check = compared(RATE, values, TRUTHS, {"clock": budget}, reason)
    assert check.conclusion == conclusion
    assert (check.explanation == "") == (conclusion == "certified")
    assert conclusion == "certified" or check.explanation.endswith(reason)
    unknown = conclusion == "not certifiable here" and budget > 0.005
    assert ("mostly clock" in check.explanation) == unknown


@pytest.mark.parametrize(("values", "truths"), [([1.0, 1.0], [1.0, 1.0]), ([1.0] * 4, [1.0] * 3)])
def test_too_few_or_unequal_pairs_certify_nothing(values: list[float], truths: list[float]) -> None:
    check = compared(RATE, values, truths, {})
    assert (check.value, check.conclusion) == (None, "not certifiable here")
    assert check.explanation == f"{len(values)} measurements and {len(truths)} truths"


@pytest.mark.parametrize(
    ("truth", "conclusion"), [(206, "certified"), (207, "wrong"), (205, "wrong")]
)
def test_a_count_is_exact_whatever_the_machine_does(truth: int, conclusion: str) -> None:
    check = counted(COUNT, [100.0, 106.0], truth, "a busy machine")
    assert (check.value, check.truth, check.conclusion) == (206.0, truth, conclusion)


def test_nothing_counted_is_no_proof() -> None:
    assert counted(COUNT, [0.0], 0).conclusion == "not certifiable here"


def test_an_engine_is_certified_by_all_its_checks_only() -> None:
    good = counted(COUNT, [5.0], 5)
    tcp = CertificateCheck("tcp retransmits", "tcp", "", 0.0, relative=False)
    checks = (good, counted(tcp, [7.0], 7), without_value(RATE, "no namespace"))
    head = ("uid", "2026-11-23T00:00:00Z", "0", "hash", "host", "6.1", "boot", "tsc", 0.1)
    assert Certificate(*head, checks=checks).certified() == ("tcp",)
