"""What every engine can do: its parameters, its metrics and how it is started."""

from railgauge.catalogue.info import (
    SOAK,
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    Series,
    Value,
)
from railgauge.catalogue.load import load_catalogue, read_engine

__all__ = [
    "SOAK",
    "Catalogue",
    "EngineInfo",
    "MetricDescription",
    "ParameterInfo",
    "Series",
    "Value",
    "load_catalogue",
    "read_engine",
]
