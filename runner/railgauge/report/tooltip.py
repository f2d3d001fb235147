"""What a cell of the page says when pointed at: how its number came about."""

from __future__ import annotations

from railgauge.report.number import scale
from railgauge.report.table import Cell, Column


def tooltip(cell: Cell, column: Column) -> str:
    """Return n, mean, median, standard deviation, minimum and maximum; "" for an empty cell."""
    summary = cell.summary
    if summary is None:
        return ""
    unit = column.unit
    per_unit = scale(unit, column.metric_unit)
    if per_unit is None:  # `cv` and `n` are shown in no unit of the metric.
        unit = column.metric_unit
        per_unit = scale(unit, unit)
    assert per_unit is not None
    one, digits = float(per_unit), column.digits + 1
    spread = "" if summary.stdev is None else f"sd {summary.stdev / one:.{digits}f}, "
    return (
        f"n = {summary.n}: mean {summary.mean / one:.{digits}f},"
        f" median {summary.median / one:.{digits}f}, {spread}"
        f"min {summary.minimum / one:.{digits}f}, max {summary.maximum / one:.{digits}f}"
        f"{'' if unit in ('', '1') else f' ({unit})'}"
    )
