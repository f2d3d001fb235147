"""The kinds of figures, a module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from railgauge.report.kinds import arrival, gaps, heatmap, lines
from railgauge.report.kinds.base import Kind

KINDS: Mapping[str, Kind[Any]] = {
    "arrival": arrival.KIND,
    "gaps": gaps.KIND,
    "heatmap": heatmap.KIND,
    "lines": lines.KIND,
}
