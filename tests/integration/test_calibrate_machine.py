"""cpu, mem, disk and the CPU loads held for real against what tells without them."""

from __future__ import annotations

from functools import partial

import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import chosen_truths
from railgauge.calibrate.rig import rig
from railgauge.calibrate.transfers import BLOCK

pytestmark = pytest.mark.usefixtures("namespaces")


def hold(name: str, **fewer: int) -> CertificateCheck:
    """Hold one check with fewer measurements than a calibration takes."""
    (truth,) = chosen_truths([name])
    assert isinstance(truth.measure, partial)
    with rig(truth.wiring) as pair:
        return partial(truth.measure, **fewer)(pair, truth.check)


@pytest.mark.parametrize(
    ("name", "right", "broken"),
    [
        ("disk bytes read", 5 * 32 * BLOCK, 5 * 31 * BLOCK),
        ("disk bytes written", 4 * 32 * BLOCK, 0.98 * 4 * 32 * BLOCK),
    ],
)
def test_bytes_that_are_left_out_are_shown_on_any_machine(
    name: str, right: float, broken: float
) -> None:
    (instrument,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == name)
    check = broken_check(instrument)
    if check.value is None:  # no disk there, or programs had to be read from it
        assert check.reason
        return
    assert check.value == pytest.approx(broken)
    assert check.conclusion == "wrong"
    assert check.truth == pytest.approx(right, rel=0.005)
    assert name != "disk bytes read" or check.truth == right


@pytest.mark.parametrize("name", ["cpu integer rate", "mem reading rate"])
def test_rates_of_a_right_engine_are_never_shown_to_be_wrong(name: str) -> None:
    check = hold(name, pairs=5)
    assert check.conclusion != "wrong"
    assert check.value is not None or check.reason


@pytest.mark.usefixtures("only_soaker")
@pytest.mark.parametrize("name", ["cpu load by /proc/stat", "cpu load by soakers"])
def test_a_load_is_compared_with_the_schedulers_count(name: str) -> None:
    check = hold(name, replications=4)
    assert check.conclusion != "wrong"
    # Half of each CPU at most, and a little for rail-reference to begin.
    assert 0 < (check.truth or 0) < 0.6 or check.reason
