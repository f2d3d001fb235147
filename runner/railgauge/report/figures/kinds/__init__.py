"""The kinds of figures, a module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.kinds import (
    arrival,
    bars,
    cells,
    distribution,
    gaps,
    heatmap,
    lines,
    replications,
)
from railgauge.report.figures.kinds.kind import Kind

KINDS: Mapping[str, Kind[Any]] = {
    "arrival": arrival.KIND,
    "bars": bars.KIND,
    "ecdf": distribution.ECDF,
    "gaps": gaps.KIND,
    "heatmap": heatmap.KIND,
    "histogram": distribution.HISTOGRAM,
    "lines": lines.KIND,
    "points": lines.POINTS,
    "replications": replications.KIND,
}


def kind_of(figure: FigureSpec) -> Kind[Any] | None:
    """Return the figure's kind, None if there is none of that name.

    A heat map is one of pairs of hosts, or one over the two axes that it names.
    """
    if figure.kind == "heatmap" and (figure.x.axis or figure.y.axis):
        return cells.KIND
    return KINDS.get(figure.kind)
