"""What the engines' own tables say of metrics: which stand for a case, and what counts something.

By their names alone: a database keeps results of engines that are no longer described.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from railgauge.base.derived import JUDGED, derived_metrics
from railgauge.plan.catalogue.engine_files import own_catalogue
from railgauge.plan.catalogue.info import MetricDescription


@cache
def headlines() -> Mapping[str, str]:
    """Return the metrics of tables in the order of their columns, each with the unit to show.

    "" lets the values pick the unit. The engines' come first, then what the logs of hosts add.
    """
    metrics = sorted(_declared(), key=lambda metric: metric.headline)
    units = {
        metric.name: "%" if metric.kind == "share" else "" for metric in metrics if metric.headline
    }
    return {**units, **dict.fromkeys(JUDGED, "s")}


@cache
def shares() -> frozenset[str]:
    """Return the metrics that people read in percent: losses as engines say, loads of CPUs."""
    logged = derived_metrics(two_sided=True, soak=True)
    return frozenset(
        [metric.name for metric in _declared() if metric.kind == "share"]
        + [name for name, metric in logged.items() if metric.kind == "share"]
    )


def display_base(metric: str, unit: str) -> str:
    """Return the base unit by which readers are shown a metric stored in `unit`: "1" of shares.

    What is in "1" is shown in percent, while a plain ratio or a count has no unit.
    """
    return "1" if not unit and metric in shares() else unit


@cache
def judged() -> tuple[str, ...]:
    """Return the metrics by which runs are compared: headlines in their order, then others."""
    metrics = dict.fromkeys(metric.name for metric in _declared() if metric.judged)
    columns = [name for name in headlines() if name in metrics or name in JUDGED]
    return tuple(dict.fromkeys((*columns, *metrics)))


@cache
def shown_or_judged() -> tuple[str, ...]:
    """Return the metrics that are read of runs to compare them: headlines, then what is judged."""
    return tuple(dict.fromkeys((*headlines(), *judged())))


def _declared() -> list[MetricDescription]:
    # External engines have theirs from ours.
    catalogue = own_catalogue()
    engines = (catalogue.executor, *catalogue.engines.values())
    return [metric for engine in engines for metric in engine.metrics.values()]
