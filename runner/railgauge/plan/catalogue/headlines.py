"""What the engines' own tables say of metrics: which stand for a case, and what counts something.

By their names alone: a database keeps results of engines that are no longer described.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from railgauge.base.derived import JUDGED
from railgauge.plan.catalogue.engine_files import load_catalogue
from railgauge.plan.catalogue.info import MetricDescription


@cache
def table_headlines() -> Mapping[str, str]:
    """Return the metrics of tables in the order of their columns, each with the unit to show.

    "" lets the values pick the unit.
    """
    metrics = sorted(_declared(), key=lambda metric: metric.headline)
    return {
        metric.name: "%" if metric.kind == "share" else "" for metric in metrics if metric.headline
    }


@cache
def headlines() -> Mapping[str, str]:
    """Return the same for a page about one case, with what the logs of its hosts add."""
    return {**table_headlines(), **dict.fromkeys(JUDGED, "s")}


@cache
def judged() -> tuple[str, ...]:
    """Return the metrics by which runs are compared."""
    metrics = {metric.name for metric in _declared() if metric.judged}
    return (*(name for name in table_headlines() if name in metrics), *JUDGED)


def _declared() -> list[MetricDescription]:
    catalogue = load_catalogue()
    engines = (catalogue.executor, *catalogue.engines.values())
    # External engines have theirs from ours.
    return [
        metric for engine in engines if engine.program is None for metric in engine.metrics.values()
    ]
