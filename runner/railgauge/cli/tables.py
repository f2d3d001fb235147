"""A run's tables as the terminal shows them when nobody defined any."""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.catalogue import Catalogue
from railgauge.report.default import default_series, default_spec
from railgauge.report.pivot import build
from railgauge.report.render import render_text
from railgauge.store import Store


def default_text(store: Store, runs: Sequence[int], catalogue: Catalogue) -> str:
    """Return one table a test with its headline metrics; empty if nothing was measured."""
    series = default_series(store, runs)
    if not series:
        return ""
    imported = [run for run in runs if store.run(run).new.origin == "imported"]
    tables = default_spec(series).tables
    return "\n".join(
        render_text(build(table, series, catalogue=catalogue, imported=imported))
        for table in tables
    )
