"""What every engine can do: its parameters, its metrics and how it is started."""

from railgauge.plan.catalogue.info import (
    SOAK,
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    SeriesMode,
)
from railgauge.plan.catalogue.load import load_catalogue, read_engine
from railgauge.plan.catalogue.written import Value

__all__ = [
    "SOAK",
    "Catalogue",
    "EngineInfo",
    "MetricDescription",
    "ParameterInfo",
    "SeriesMode",
    "Value",
    "load_catalogue",
    "read_engine",
]
