"""A store for whoever reads the same runs again and again, and doesn't mind what came meanwhile."""

from __future__ import annotations

from collections import OrderedDict

from railgauge.store import Store
from railgauge.store.records import StoredRun

# The runs of a baseline and a few more: those of a large cluster take megabytes.
_RUNS_KEPT = 8


class KeptStore(Store):
    """A store that reads what the last runs are once."""

    _kept: OrderedDict[int, StoredRun] | None = None

    def run(self, run_id: int) -> StoredRun:
        """Return all about one run but its values."""
        if self._kept is None:
            self._kept = OrderedDict()
        if run_id not in self._kept:
            self._kept[run_id] = super().run(run_id)
        self._kept.move_to_end(run_id)
        if len(self._kept) > _RUNS_KEPT:
            self._kept.popitem(last=False)
        return self._kept[run_id]
