"""What a cell of the page says when pointed at: how its number came about."""

from __future__ import annotations

from railgauge.report.number import scale, shown
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
    digits = column.digits + 1
    values = {
        "mean": summary.mean,
        "median": summary.median,
        "sd": summary.stdev,
        "min": summary.minimum,
        "max": summary.maximum,
    }
    texts = [f"{name} {shown(value, per_unit, digits)}" for name, value in values.items()]
    plain = unit in ("", "1")
    return f"n = {summary.n}: {', '.join(texts)}{'' if plain else f' ({unit})'}"
