"""numpy by its stand-in."""

from __future__ import annotations

import numpy
import pytest

from railgauge.base.arrays import np


def test_what_stands_for_numpy_has_numpys_own_names_and_no_others() -> None:
    assert np.asarray is numpy.asarray
    assert np.random.default_rng is numpy.random.default_rng
    assert isinstance(np.zeros(1), np.ndarray)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = np.nosuch  # type: ignore[attr-defined]
