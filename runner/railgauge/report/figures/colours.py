"""The colours of values: even steps to the eye, in grey and to colour-blind people too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Nine even steps of viridis (N. Smith and S. van der Walt, 2015; CC0), dark to light.
_VIRIDIS = (
    *(0x440154, 0x472C7A, 0x3B518B, 0x2C718E, 0x21908D),
    *(0x27AD81, 0x5CC863, 0xAADC32, 0xFDE725),
)


def colours(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return 0xRRGGBB for each of `shares` (n,): 0 is the darkest, 1 the lightest."""
    steps = np.linspace(0, 1, len(_VIRIDIS))
    rgb = np.zeros(len(shares), np.int64)
    for shift in (16, 8, 0):
        channel = [(colour >> shift) & 0xFF for colour in _VIRIDIS]
        rgb |= np.interp(shares, steps, channel).round().astype(np.int64) << shift
    return rgb
