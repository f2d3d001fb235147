"""Traces and pace held against the kernel's stamps, on hosts in namespaces."""

from __future__ import annotations

import pytest

from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import chosen_truths

pytestmark = pytest.mark.usefixtures("namespaces")


def test_a_trace_has_the_kernels_stamps_on_any_machine() -> None:
    (truth,) = chosen_truths(["trace arrivals"])
    check = truth.hold()
    assert (check.error, check.reason, check.conclusion) == (0.0, "", "certified")


def test_arrivals_that_are_late_by_more_than_the_limit_show_on_any_machine() -> None:
    (broken,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == "udp trace arrivals")
    check = broken_check(broken)
    assert check.error == pytest.approx(2e-6)
    assert check.conclusion == "wrong"


@pytest.mark.parametrize("name", ["udp trace arrival gaps", "udp trace sending gaps", "udp pace"])
def test_a_right_instrument_is_never_shown_to_be_wrong(name: str) -> None:
    (truth,) = chosen_truths([name])
    check = truth.hold()
    assert check.value is not None, check.reason
    assert check.conclusion != "wrong"


@pytest.mark.long
@pytest.mark.parametrize("name", ["udp trace arrival gaps", "udp trace sending gaps", "udp pace"])
def test_a_fault_of_one_per_cent_is_never_certified(name: str) -> None:
    (broken,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == name)
    assert broken_check(broken).conclusion != "certified"
