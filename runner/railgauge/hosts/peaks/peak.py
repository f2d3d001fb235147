"""A theoretical value of a host."""

from __future__ import annotations

from dataclasses import dataclass

# The one resource of links: a link may have the name of a host.
LINK_RATE = "rate"


@dataclass(frozen=True, slots=True)
class Peak:
    """A theoretical value of a host's `resource`, in a base unit, and where it comes from.

    It is the whole device's, however many threads use it. A link's is its `rate`, and
    its `host` the link's name.
    """

    host: str
    resource: str
    value: float
    unit: str
    source: str

    @property
    def from_facts(self) -> bool:
        """Whether it comes from the host's facts, and nobody declared it."""
        return self.source.startswith("found: ")


@dataclass(frozen=True, slots=True)
class PeakValue:
    """A value in its resource's base unit, and the figures it was made of."""

    value: float
    source: str
