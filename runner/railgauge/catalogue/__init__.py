"""What every engine can do: its parameters, its metrics and how it is started."""

from railgauge.catalogue.info import (
    SOAK,
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    Series,
)
from railgauge.catalogue.load import load_catalogue, read_engine
from railgauge.catalogue.written import Value

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
