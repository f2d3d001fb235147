"""Values compared with truths, and the uncertainty of their difference.

Uncertainties are expanded ones (JCGM 100:2008, "Guide to the expression of uncertainty in
measurement"): the root of the sum of the squared standard uncertainties, times a coverage factor
of 2, or of what covers as much where few replications say how they scatter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from railgauge.base.certificate import CertificateCheck
from railgauge.base.number import plural
from railgauge.stats import special

# What a coverage factor of 2 covers of normal errors.
_COVERED = 0.9545
# With so many degrees of freedom Student's distribution is the normal one.
_MANY = 1e9
# Fewer differences don't show how they scatter.
_FEWEST = 3


def compared(
    check: CertificateCheck,
    values: Sequence[float],
    truths: Sequence[float],
    budget: Mapping[str, float],
    reason: str = "",
) -> CertificateCheck:
    """Return `check` with the means of `values` and `truths`, which belong together pair by pair.

    `budget` are standard uncertainties of the mean difference that repeating doesn't show, each
    under its name, as shares of the truth where the check is relative; how far the differences
    scatter, over the root of their number, is added. With fewer than three pairs that is
    unknown, and the check stays without a value. The coverage factor is Student's by the effective
    degrees of freedom (Welch and Satterthwaite; section G.4.1 of the guide). Where too much is
    uncertain to conclude anything, the reason says what most of it comes from.
    """
    if len(values) < _FEWEST or len(values) != len(truths):
        scarce = f"{plural(len(values), 'measurement')} and {plural(len(truths), 'truth')}"
        return without_value(check, reason or scarce)
    differences = np.asarray(values) - np.asarray(truths)
    if check.relative:
        differences = differences / np.asarray(truths)
    repeatability = float(differences.std(ddof=1)) / math.sqrt(len(values))
    parts = {"how the replications scatter": repeatability, **budget}
    result = replace(
        check,
        value=float(np.mean(values)),
        truth=float(np.mean(truths)),
        error=float(differences.mean()),
        uncertainty=_expanded(repeatability, math.hypot(*parts.values()), len(values)),
        reason=reason,
    )
    if result.conclusion == "wrong" or (result.uncertainty or 0.0) <= check.limit:
        return result
    most = f"mostly {max(parts, key=parts.__getitem__)}"
    return replace(result, reason=f"{most}; {reason}" if reason else most)


def _expanded(repeatability: float, combined: float, n: int) -> float:
    """Return the `combined` standard uncertainty expanded, of which `n` differences show a part."""
    if not repeatability or not math.isfinite(combined):
        return 2 * combined
    degrees = (n - 1) * (combined / repeatability) ** 4
    return combined * float(special.stdtrit(min(degrees, _MANY), (1 + _COVERED) / 2))


def counted(
    check: CertificateCheck, values: Sequence[float], truth: int, reason: str = ""
) -> CertificateCheck:
    """Return `check` with the sum of counts that have to be exact, and what it has to be."""
    if not values or truth <= 0:
        return without_value(check, reason or "there was nothing to count")
    total = float(sum(values))
    return replace(
        check, value=total, truth=float(truth), error=total - truth, uncertainty=0.0, reason=reason
    )


def without_value(check: CertificateCheck, reason: str) -> CertificateCheck:
    """Return `check`, which could not be measured, with the reason."""
    return replace(check, reason=reason)
