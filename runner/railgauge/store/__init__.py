"""The database: what was measured, on what, when; nothing measured is changed or deleted.

`Store` is imported when it's asked for: `records` go without SQLAlchemy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from railgauge.store import records

if TYPE_CHECKING:
    from railgauge.store.store import Store

__all__ = ["Store", "records"]


def __getattr__(name: str) -> object:
    if name != "Store":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from railgauge.store.store import Store

    return Store
