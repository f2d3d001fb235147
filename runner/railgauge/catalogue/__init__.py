"""What every engine can do: its parameters, its metrics and how it is started."""

from railgauge.catalogue.info import (
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    Value,
)
from railgauge.catalogue.load import load_catalogue

__all__ = [
    "Catalogue",
    "EngineInfo",
    "MetricDescription",
    "ParameterInfo",
    "Value",
    "load_catalogue",
]
