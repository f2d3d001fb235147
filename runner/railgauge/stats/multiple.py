"""Many tests at once: how many of what they find may be chance."""

from __future__ import annotations

from railgauge.base.arrays import NDArray, np


def benjamini_hochberg(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q (n,) for `p` (n,): calling all with q <= x changed errs in a share x of those.

    The step-up rule of Benjamini and Hochberg (J. R. Statist. Soc. B 57, 1995), as adjusted
    p-values. NaN stays NaN and doesn't count.
    """
    q = np.full(p.shape, np.nan)
    valid = np.flatnonzero(~np.isnan(p))
    order = valid[np.argsort(p[valid], kind="stable")]
    m = len(order)
    scaled = p[order] * m / np.arange(1, m + 1)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return q
