"""The tooltip of a cell in the page: how its number came about."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from railgauge.base.number import (
    NOT_DEFINED,
    best_unit,
    format_number,
    in_best_unit,
    plain_number,
    scale,
)
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.definition.statistic import resolved, value_of, words_of
from railgauge.report.tables.notes import interval_meaning
from railgauge.report.tables.table import Cell, Column, ReferenceValue
from railgauge.stats.summary import Summary

# Of values beside a number that has none of their digits.
_DIGITS = 2
_DECIMALS = re.compile(r"\.([0-9]+)")


def tooltip(cell: Cell, column: Column) -> str:
    """Return n, median, interval, mean, the spread and both ends; "" for an empty cell.

    Then the theoretical value, if the cell shows one or is compared with it, and the measured one
    that it is compared with.
    """
    # Its interval may leave a number more decimals than its column has.
    decimals = max(map(len, _DECIMALS.findall(cell.text)), default=0)
    digits = max(column.digits, decimals) + 1
    parts = [_measured(cell.summary, cell.level, column, digits)] if cell.summary else []
    if cell.peak is not None:
        parts.append(f"theoretical {_theoretical(cell.peak, column)} ({cell.peak_source})")
    if cell.reference is not None:
        parts.append(_reference(cell.reference, cell.level, column, digits))
    return "; ".join(parts)


def _theoretical(value: float, column: Column) -> str:
    """Return it in the column's unit; where that is none of its own, in the one that suits it."""
    base = column.metric_unit
    own = column.unit != base and scale(column.unit, base) is not None
    unit = column.unit if own else best_unit(base, [value])
    number = plain_number(value / float(scale(unit, base) or 1), 6)
    return f"{number} {unit}".rstrip()


def _reference(reference: ReferenceValue, level: float, column: Column, digits: int) -> str:
    text = f"{column.against}: {_reference_number(reference, column, digits)} (run {reference.run})"
    per_unit = scale(column.unit, column.base_unit)
    if reference.low is None or reference.high is None or per_unit is None:
        return text
    low, high = (format_number(end, per_unit, digits) for end in (reference.low, reference.high))
    unit = column.unit if column.unit not in ("", "1") else ""
    if column.compared == "difference" and unit == "%":
        unit = "percentage points"
    meaning = interval_meaning(column, reference.method, level)
    return f"{text}; {meaning} {low} to {high} {unit}".rstrip()


def _reference_number(reference: ReferenceValue, column: Column, digits: int) -> str:
    if reference.value is None:
        return NOT_DEFINED
    if column.compared == "difference" and (per_unit := scale(column.unit, column.metric_unit)):
        unit = column.unit if column.unit not in ("", "1") else ""
        return f"{format_number(reference.value, per_unit, digits)} {unit}".rstrip()
    return in_best_unit(reference.value, display_base(column.metric, column.metric_unit))


def _measured(summary: Summary, level: float, column: Column, digits: int) -> str:
    form = _form(column, column.unit, digits)
    if form is None:
        # `cv`, what is counted and ratios stand in no unit of the metric.
        middle = summary.mean if math.isnan(summary.median) else summary.median
        unit = best_unit(display_base(column.metric, column.metric_unit), [middle])
        form = _form(column, unit, _DIGITS + 1)
    assert form is not None  # the unit was chosen for that base
    mean, per_unit, digits, unit = form
    if math.isnan(summary.median):
        return _published(summary, per_unit, unit % ())
    number = f"%.{digits}f"
    value = value_of(summary, mean)
    text, values = f"n = %d: median {number}", [summary.n, summary.median / per_unit]
    if summary.interval_low is not None and summary.interval_high is not None:
        text += f", {100 * level:.0f} %% interval {number} to {number}"
        values += [summary.interval_low / per_unit, summary.interval_high / per_unit]
    if value is not None:
        text += f", {words_of(mean)} {number}"
        values.append(value / per_unit)
    if summary.stdev is not None:
        text += f", sd {number}, mean absolute deviation {number}"
        values += [summary.stdev / per_unit, summary.mean_absolute_deviation / per_unit]
    if summary.cv is not None:
        text += ", CV %.2f %%"
        values.append(100 * summary.cv)
    values += [summary.minimum / per_unit, summary.maximum / per_unit]
    return f"{text}, min {number}, max {number}{unit}" % tuple(values)


def _published(summary: Summary, per_unit: float, unit: str) -> str:
    """Return what is known of a published mean, without digits that nobody printed."""
    parts = {
        "arithmetic mean": summary.mean,
        "sd": summary.stdev,
        "min": summary.minimum,
        "max": summary.maximum,
    }
    texts = [
        f"{word} {value / per_unit:.12g}"
        for word, value in parts.items()
        if value is not None and not math.isnan(value)
    ]
    return f"n = {summary.n}: {', '.join(texts)}{unit}, as published"


@lru_cache
def _form(column: Column, unit: str, digits: int) -> tuple[str, float, int, str] | None:
    """Return the metric's mean, how many base units one is, the digits and the unit to add.

    None where `unit` is none of the metric's.
    """
    per_unit = scale(unit, column.metric_unit)
    if per_unit is None:
        return None
    suffix = "" if unit in ("", "1") else f" ({unit})".replace("%", "%%")
    mean = resolved("mean", column.average)
    return mean, float(per_unit), digits, suffix
