"""The order in which imported replications were measured, which trends and dependence go by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar


class _Started(Protocol):
    @property
    def started_at(self) -> float | None: ...


_Entry = TypeVar("_Entry", bound=_Started)


def in_measured_order(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return a case's replications by when they began or, unless each says it, as they stand."""
    moments = [entry.started_at for entry in entries]
    if None in moments:
        return list(entries)
    return sorted(entries, key=lambda entry: entry.started_at or 0.0)
