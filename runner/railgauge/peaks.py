"""What a host could do at most: what its owner declares, else what its facts give."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Peak"]


@dataclass(frozen=True, slots=True)
class Peak:
    """A theoretical value of a host's `resource`, in a base unit, and where it comes from.

    It is the whole device's, however many threads use it.
    """

    host: str
    resource: str
    value: float
    unit: str
    source: str
