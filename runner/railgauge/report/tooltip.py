"""What a cell of the page says when pointed at: how its number came about."""

from __future__ import annotations

from railgauge.analysis import Summary
from railgauge.report.number import best_unit, scale
from railgauge.report.table import Cell, Column


def tooltip(cell: Cell, column: Column) -> str:
    """Return n, mean, median, standard deviation, minimum and maximum; "" for an empty cell.

    Then what is known of the theoretical value, if the cell shows one or is held against it.
    """
    parts = [_measured(cell.summary, column)] if cell.summary is not None else []
    if cell.peak is not None:
        per_unit = scale(column.unit, column.metric_unit)
        unit = column.unit if per_unit else best_unit(column.metric_unit, [cell.peak])
        one = float(per_unit or scale(unit, column.metric_unit) or 1)
        parts.append(f"theoretical {cell.peak / one:.6g} {unit} ({cell.peak_source})")
    return "; ".join(parts)


def _measured(summary: Summary, column: Column) -> str:
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
