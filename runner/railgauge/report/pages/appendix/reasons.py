"""Counts in sentences."""

from __future__ import annotations

from collections import Counter

from railgauge.base.number import plural

# Different reasons that are listed; the others are one number.
_MOST = 12


def counted(reasons: Counter[str], noun: str) -> str:
    """Return `no compiler (3 cases); no route (1 case)`, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{text} ({plural(number, noun)})" for text, number in ordered[:_MOST]]
    if len(ordered) > _MOST:
        parts.append(f"{plural(len(ordered) - _MOST, 'more reason')}")
    return "; ".join(parts)
