"""What a relay does to datagrams on purpose, and what the udp engine counts of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import chosen_truths
from railgauge.calibrate.network import network_truths

pytestmark = pytest.mark.usefixtures("namespaces")


def _certifiable(hold: Callable[[], CertificateCheck]) -> CertificateCheck:
    """Return a check that the machine let be made: one that drops packets itself has no truth."""
    for _ in range(5):
        check = hold()
        if check.conclusion != "not certifiable here":
            break
        assert check.reason
    return check


def test_duplicates_are_counted_exactly() -> None:
    (truth,) = chosen_truths(["duplicate"])
    check = _certifiable(truth.hold)
    # Every 97th of four times 2,500 datagrams.
    assert (check.value, check.truth, check.conclusion) == (103, 4 * 2500 // 97, "certified")


def test_a_loss_run_that_is_not_counted_is_shown() -> None:
    (broken,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == "udp loss runs")
    check = _certifiable(lambda: broken_check(broken))
    assert (check.error, check.conclusion) == (-1, "wrong")


def test_every_count_has_a_broken_instrument_that_it_shows() -> None:
    exact = {truth.check.name for truth in network_truths() if truth.check.limit == 0}
    assert exact <= {broken.check for broken in BROKEN_INSTRUMENTS}
