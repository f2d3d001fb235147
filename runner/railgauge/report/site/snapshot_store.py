"""A store for readers of the same runs again and again, to whom later changes don't matter."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

from railgauge.store import Store
from railgauge.store.records import StoredRun

# The runs of a baseline and a few more: those of a large cluster take megabytes.
_RUNS_KEPT = 8


class KeptStore(Store):
    """A store that remembers the last runs it has read."""

    def run(self, run_id: int) -> StoredRun:
        """Return all about one run but its values."""
        return self._cached_run(run_id)

    @cached_property
    def _cached_run(self) -> Callable[[int], StoredRun]:
        return lru_cache(_RUNS_KEPT)(super().run)
