"""The database: what was measured, on what, when; nothing measured is changed or deleted."""

from railgauge.store import records
from railgauge.store.store import Store

__all__ = ["Store", "records"]
