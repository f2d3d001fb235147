"""Series: a mode that a test names for a row of cases, `exponential` for sizes 1, 2, 4 … its own.

Its cases are ordinary ones of another mode, with the keys that they have wherever they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from railgauge.plan.catalogue import EngineInfo, SeriesMode, Value

Row = Mapping[str, Value]
Axis = tuple[Row, ...]


def series_named(engine: EngineInfo, modes: Sequence[Value]) -> dict[Value, SeriesMode]:
    """Return the series among `modes`, by mode."""
    return {series.mode: series for series in engine.series if series.mode in modes}


def joint_size(series: Mapping[Value, SeriesMode], axes: Sequence[Axis]) -> int:
    """Return how many rows the axes have together that the series are made of."""
    return prod(len(axis) for axis in axes if _names(series) & axis[0].keys())


def expand_series(
    series: Mapping[Value, SeriesMode], fixed: Mapping[str, Value], axes: Sequence[Axis]
) -> tuple[dict[str, Value], list[Axis]]:
    """Return the fixed parameters and axes with the modes of `series` replaced by their cases.

    The mode and the parameters that the series run through go together from now on, as if zipped:
    in one axis, where the first of theirs was, or the last one if they didn't vary. What several
    rows come to is in it once.
    """
    names = _names(series)
    series_axes = [axis for axis in axes if names & axis[0].keys()]
    constant = {name: value for name, value in fixed.items() if name in names}
    rows: dict[frozenset[tuple[str, Value]], Row] = {}
    for parts in product(*series_axes):
        row = dict(constant)
        for part in parts:
            row.update(part)
        for case_row in _cases(row, series):
            rows.setdefault(frozenset(case_row.items()), case_row)
    other_axes = [axis for axis in axes if not names & axis[0].keys()]
    position = axes.index(series_axes[0]) if series_axes else len(other_axes)
    remaining = {name: value for name, value in fixed.items() if name not in names}
    return remaining, [*other_axes[:position], tuple(rows.values()), *other_axes[position:]]


def _names(series: Mapping[Value, SeriesMode]) -> set[str]:
    return {"mode", *(mode_series.parameter for mode_series in series.values())}


def _cases(row: Row, series: Mapping[Value, SeriesMode]) -> Iterator[Row]:
    mode_series = series.get(row["mode"])
    if mode_series is None:
        yield row
        return
    for value in mode_series.values(row[mode_series.parameter]):
        yield {**row, "mode": mode_series.becomes, mode_series.parameter: value}
