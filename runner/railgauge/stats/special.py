"""The functions of scipy.special, which is imported when the first of them is called.

Every command imports the analysis, and scipy's import takes longer than most of them.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Return the function of scipy.special with that name."""
    from scipy import special

    return getattr(special, name)
