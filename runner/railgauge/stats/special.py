"""The distributions of scipy.special, imported when the first of them is needed.

Every command imports the analysis, and the import takes longer than most of them. Numbers or arrays
go in, the same come out, as scipy's own annotations would have it.
"""

from __future__ import annotations

from typing import Any


def erfc(x: Any) -> Any:
    """Return the complementary error function."""
    from scipy import special

    return special.erfc(x)


def ndtr(x: Any) -> Any:
    """Return the normal distribution at `x`."""
    from scipy import special

    return special.ndtr(x)


def ndtri(p: Any) -> Any:
    """Return the quantile `p` of the normal distribution."""
    from scipy import special

    return special.ndtri(p)


def stdtr(freedom: Any, t: Any) -> Any:
    """Return Student's distribution at `t`."""
    from scipy import special

    return special.stdtr(freedom, t)


def stdtrit(freedom: Any, p: Any) -> Any:
    """Return the quantile `p` of Student's distribution."""
    from scipy import special

    return special.stdtrit(freedom, p)


def psi(x: Any) -> Any:
    """Return the digamma function."""
    from scipy import special

    return special.psi(x)


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of the digamma function."""
    from scipy import special

    return special.polygamma(n, x)
