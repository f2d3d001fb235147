"""Values held against truths: what is certified, what is wrong, and what can't be told."""

from __future__ import annotations

import math
from statistics import stdev

import pytest
from scipy.stats import t as student_t

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.calibrate.uncertainty import compared, counted, without_value

RATE = CertificateCheck("rate", "udp", "bit/s", 0.01, relative=True)
COUNT = CertificateCheck("lost", "udp", "", 0.0, relative=False)
TRUTHS = [100.0, 200.0, 100.0, 200.0]


def test_the_uncertainty_covers_as_much_as_two_standard_deviations() -> None:
    check = compared(RATE, [101.0, 204.0, 99.0, 202.0], TRUTHS, {"clock": 0.003, "edges": 0.004})
    differences = [0.01, 0.02, -0.01, 0.01]
    mean = sum(differences) / 4
    squares = sum((difference - mean) ** 2 for difference in differences) / 3 / 4
    assert check.error == pytest.approx(mean)
    combined = math.sqrt(squares + 0.003**2 + 0.004**2)
    degrees = 3 * combined**4 / squares**2
    factor = student_t.ppf((1 + math.erf(2 / math.sqrt(2))) / 2, degrees)
    assert check.uncertainty == pytest.approx(factor * combined, rel=1e-3)
    assert (check.value, check.truth) == (151.5, 150.0)


@pytest.mark.parametrize(("n", "factor"), [(3, 4.527), (4, 3.307), (10, 2.320), (10_000, 2.0)])
def test_few_replications_say_little_of_how_they_scatter(n: int, factor: float) -> None:
    """Factors are those of table G.2 of JCGM 100:2008, for 95.45 %."""
    values = [1 + 1e-3 * (-1) ** k for k in range(n)]
    check = compared(RATE, values, [1.0] * n, {})
    repeatability = stdev(values) / math.sqrt(n)
    assert check.uncertainty == pytest.approx(factor * repeatability, rel=1e-3)


def test_what_was_exact_or_is_unknown_has_no_degrees_of_freedom() -> None:
    assert compared(RATE, [1.0] * 4, [1.0] * 4, {"clock": 0.001}).uncertainty == 0.002
    unknown = compared(RATE, [1.0, 1.001, 1.0], [1.0] * 3, {"clock": math.inf})
    assert (unknown.conclusion, unknown.reason) == ("not certifiable here", "mostly clock")


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


def test_one_measurement_is_not_several() -> None:
    assert compared(RATE, [1.0], [1.0], {}).explanation == "1 measurement and 1 truth"


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
