"""Which metrics results of an engine may have, be they measured or imported, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from railgauge.base.derived import derived_metrics
from railgauge.plan.catalogue.engine_files import load_catalogue
from railgauge.plan.catalogue.info import Catalogue, EngineInfo, MetricDescription


def result_metrics(engine: EngineInfo) -> Mapping[str, MetricDescription]:
    """Return what the engine reports, and what system logs say."""
    metrics = dict(engine.metrics)
    logged = derived_metrics(two_sided=engine.two_sided or engine.parallel, soak=True)
    for name, info in logged.items():
        metrics.setdefault(name, MetricDescription(name, info.unit, info.better, kind=info.kind))
    return metrics


def metric_of_results(
    catalogue: Catalogue, engine: str, name: str, unit: str
) -> MetricDescription | None:
    """Return the metric of results in `unit`, None where the catalogue has none such."""
    info = catalogue.engines.get(engine)
    metric = None if info is None else result_metrics(info).get(name)
    # A count's and a ratio's unit is written as nothing or as 1.
    same = metric is not None and (metric.unit or "1") == (unit or "1")
    return metric if same else None


@cache
def shipped_kind(engine: str, name: str, unit: str) -> str:
    """Return what the engines' tables that ship say a metric is, "" where they say nothing."""
    metric = metric_of_results(load_catalogue(), engine, name, unit)
    return "" if metric is None else metric.kind
