"""What every engine can do: its parameters, its metrics and how it is started."""

from railgauge.plan.catalogue.argument_text import Value
from railgauge.plan.catalogue.engine_files import (
    absent_values,
    former_defaults,
    load_catalogue,
    read_engine,
)
from railgauge.plan.catalogue.info import (
    SOAK,
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    SeriesMode,
)

__all__ = [
    "SOAK",
    "Catalogue",
    "EngineInfo",
    "MetricDescription",
    "ParameterInfo",
    "SeriesMode",
    "Value",
    "absent_values",
    "former_defaults",
    "load_catalogue",
    "read_engine",
]
