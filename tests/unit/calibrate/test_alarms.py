"""Nights drawn from noise of known kinds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.store_samples import case

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.alarms import ANY_CHANGE, SHIFT, alarms, count_finds, spread_of
from railgauge.calibrate.rig import Fault
from railgauge.store.records import Series

NIGHTS = 60


def noise(values: NDArray[np.float64]) -> Series:
    suspect = np.zeros(len(values), np.bool_)
    n = len(values)
    return Series(
        1, "p", "t", case(), "operation_rate", "op/s", "higher", values, suspect, 0, n, kind="rate"
    )


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3])
def test_noise_alone_hardly_alarms_whatever_its_spread(share: float) -> None:
    values = 1e9 * (1 + share * np.random.default_rng(1).uniform(-1, 1, 150))
    assert alarms(noise(values), smallest=ANY_CHANGE, nights=NIGHTS) <= 0.05


def test_a_shift_is_found_where_noise_is_small_and_not_where_it_is_large() -> None:
    shape = np.random.default_rng(2).standard_normal(150)
    assert alarms(noise(1e9 * (1 + 0.005 * shape)), shift=SHIFT, nights=NIGHTS) == 1.0
    assert alarms(noise(1e9 * (1 + 0.2 * shape)), shift=SHIFT, nights=NIGHTS) < 0.5


def test_a_right_gate_is_certified_and_a_blind_one_wrong_unless_noise_hides_it() -> None:
    check = CertificateCheck("finds", "gate", "", 0.1, relative=False)
    blind = Fault("alarms", lambda share: share / 2)
    shape = np.random.default_rng(2).standard_normal(150)
    quiet, loud = (noise(1e9 * (1 + share * shape)) for share in (0.005, 0.1))
    assert count_finds(check, quiet, nights=NIGHTS).conclusion == "certified"
    assert count_finds(check, quiet, blind, NIGHTS).conclusion == "wrong"
    hidden = count_finds(check, loud, nights=NIGHTS)
    assert hidden.conclusion == "not certifiable here"
    assert "a right gate needs 1 % at most" in hidden.explanation


def test_long_tails_count_as_noise() -> None:
    shape = np.random.default_rng(3).standard_normal(1000)
    assert spread_of(1 + 0.01 * shape) == pytest.approx(0.01, rel=0.15)
    tails = np.where(np.arange(1000) % 8 == 0, 0.7, 1.0)
    assert spread_of(tails) > 0.05
