"""What a cell of the page says when pointed at: how its number came about."""

from __future__ import annotations

from functools import lru_cache

from railgauge.base.number import NOT_DEFINED, best_unit, in_best_unit, scale, shown
from railgauge.report.tables.statistic import resolved, value_of, words_of
from railgauge.report.tables.table import Cell, Column, ReferenceValue
from railgauge.stats import Summary

# Of values beside a number that has none of their digits.
_DIGITS = 2


def tooltip(cell: Cell, column: Column) -> str:
    """Return n, median, interval, mean, the spread and both ends; "" for an empty cell.

    Then what is known of the theoretical value, if the cell shows one or is held against it, and of
    the measured one that it is held against.
    """
    parts = [_measured(cell.summary, column)] if cell.summary is not None else []
    if cell.peak is not None:
        per_unit = scale(column.unit, column.metric_unit)
        unit = column.unit if per_unit else best_unit(column.metric_unit, [cell.peak])
        one = float(per_unit or scale(unit, column.metric_unit) or 1)
        parts.append(f"theoretical {cell.peak / one:.6g} {unit} ({cell.peak_source})")
    if cell.reference is not None:
        parts.append(_held(cell.reference, column))
    return "; ".join(parts)


def _held(held: ReferenceValue, column: Column) -> str:
    text = f"{column.against}: {_other(held, column)} (run {held.run})"
    per_unit = scale(column.unit, column.base_unit)
    if held.low is None or held.high is None or per_unit is None:
        return text
    low, high = (shown(end, per_unit, column.digits + 1) for end in (held.low, held.high))
    unit = column.unit if column.unit not in ("", "1") else ""
    if column.compared == "difference" and unit == "%":
        unit = "percentage points"
    of_pairs = f"95 % interval of the median {column.compared} of all pairs"
    return f"{text}; {of_pairs} {low} to {high} {unit}".rstrip()


def _other(held: ReferenceValue, column: Column) -> str:
    if held.value is None:
        return NOT_DEFINED
    if column.compared == "difference" and (per_unit := scale(column.unit, column.metric_unit)):
        unit = column.unit if column.unit not in ("", "1") else ""
        return f"{shown(held.value, per_unit, column.digits + 1)} {unit}".rstrip()
    return in_best_unit(held.value, column.metric_unit)


def _measured(summary: Summary, column: Column) -> str:
    way = _way(column.metric, column.metric_unit, column.unit, column.digits)
    if way is None:
        # `cv`, what is counted and ratios stand in no unit of the metric.
        unit = best_unit(column.metric_unit, [summary.median])
        way = _way(column.metric, column.metric_unit, unit, _DIGITS)
    assert way is not None  # the unit was chosen for that base
    mean, one, digits, unit = way
    number = f"%.{digits}f"
    value = value_of(summary, mean)
    said, values = f"n = %d: median {number}", [summary.n, summary.median / one]
    if summary.interval_low is not None and summary.interval_high is not None:
        said += f", 95 %% interval {number} to {number}"
        values += [summary.interval_low / one, summary.interval_high / one]
    if value is not None:
        said += f", {words_of(mean)} {number}"
        values.append(value / one)
    if summary.stdev is not None:
        said += f", sd {number}, mean absolute deviation {number}"
        values += [summary.stdev / one, summary.mean_absolute_deviation / one]
    if summary.cv is not None:
        said += ", CV %.2f %%"
        values.append(100 * summary.cv)
    values += [summary.minimum / one, summary.maximum / one]
    return f"{said}, min {number}, max {number}{unit}" % tuple(values)


@lru_cache
def _way(metric: str, base: str, unit: str, digits: int) -> tuple[str, float, int, str] | None:
    """Return the metric's mean, how many base units one is, the digits and the unit to add.

    None where `unit` is none of the metric's.
    """
    per_unit = scale(unit, base)
    if per_unit is None:
        return None
    told = "" if unit in ("", "1") else f" ({unit})".replace("%", "%%")
    return resolved("mean", metric, base), float(per_unit), digits + 1, told
