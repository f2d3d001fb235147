"""What somebody may have meant who wrote a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, names: Iterable[str]) -> str:
    """Return `: did you mean 'x'?` for the known name nearest to `name`, or nothing."""
    candidates = list(names)
    lowered = {candidate.lower(): candidate for candidate in candidates}
    nearest = difflib.get_close_matches(name.lower()[:100], lowered, n=1, cutoff=0.6)
    return f": did you mean {lowered[nearest[0]]!r}?" if nearest else ""


def suggest_or_list(name: str, names: Iterable[str], most: int | None = None) -> str:
    """Return what `suggest` does or, without a near name, the first `most` of `names`."""
    candidates = list(names)
    return suggest(name, candidates) or f": known are {', '.join(candidates[:most])}"
