"""From series to a table: selects, arranges, sums up. A cell is one case of one run or an error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from railgauge.analysis import Summary, summarise
from railgauge.errors import InputError
from railgauge.report import notes
from railgauge.report.axes import FIXED_AXES, Axis, AxisValue, axis_value
from railgauge.report.characters import visible
from railgauge.report.model import CellSpec, TableSpec
from railgauge.report.number import fitting_units, scale, shown
from railgauge.report.selection import asked_and_there, engines_shown, make_axes, matching, some
from railgauge.report.table import Cell, Column, Heading, Row, RowLabel, Table
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.catalogue import Catalogue

Key: TypeAlias = tuple[AxisValue, ...]
# (row, column) -> metric -> the one series there
Grid: TypeAlias = dict[tuple[Key, Key], dict[str, Series]]


def build(
    spec: TableSpec,
    series: Sequence[Series],
    *,
    catalogue: Catalogue | None = None,
    imported: Collection[int] = (),
) -> Table:
    """Arrange `series` (as the store gives them) as `spec` says.

    `catalogue` knows how a parameter's values are written; without it they show as they are
    stored. `imported` are the runs whose values came from elsewhere, where one value may stand for
    many replications. InputError when nothing is selected, when a cell would mix cases or runs, or
    when a unit doesn't fit its metric.
    """
    names = [*spec.rows, *spec.columns, *spec.select, *spec.axes]
    axes = make_axes(names, spec.axes, engines_shown(spec.select, series), catalogue)
    chosen = _select(spec, series, axes)
    grid = _grid(spec, chosen)
    row_keys = _ordered([row for row, _ in grid], [axes[name] for name in spec.rows])
    column_keys = _ordered([column for _, column in grid], [axes[name] for name in spec.columns])
    units = _units(spec, chosen)
    columns = [_column(spec, key, cell, units) for key in column_keys for cell in spec.cells]
    marks = notes.Marks()
    summaries: dict[int, Summary] = {}
    scales = [scale(column.unit, column.base_unit) for column in columns]
    rows = []
    labels = _row_labels(row_keys, [axes[name] for name in spec.rows])
    for key, label in zip(row_keys, labels, strict=True):
        cells = []
        for column, per_unit in zip(columns, scales, strict=True):
            one = grid.get((key, column.key), {}).get(column.metric)
            cells.append(_cell(spec, column, per_unit, one, marks, summaries))
        rows.append(Row(label, tuple(cells), key))
    table_rows = tuple(rows)
    return Table(
        name=spec.name,
        title=visible(spec.title),
        stub=tuple(visible(axes[name].title) for name in spec.rows),
        header=_header(spec, axes, column_keys, columns),
        row_axes=tuple(spec.rows),
        column_axes=tuple(spec.columns),
        columns=tuple(columns),
        rows=table_rows,
        footnotes=marks.footnotes(),
        notes=notes.sentences(spec, columns, table_rows, chosen, imported),
    )


def _select(spec: TableSpec, series: Sequence[Series], axes: Mapping[str, Axis]) -> list[Series]:
    metrics = {cell.metric for cell in spec.cells}
    chosen = matching((one for one in series if one.metric in metrics), spec.select, axes)
    if not chosen:
        raise InputError(_nothing(spec, series, axes))
    for name in (*spec.rows, *spec.columns):
        if name not in FIXED_AXES and all(axis_value(one, name) is None for one in chosen):
            there = ", ".join(sorted({key for one in chosen for key in one.case.parameters}))
            raise InputError(
                f"table {spec.name!r}: no measurement has the parameter {name!r}: use one of"
                f" {', '.join(FIXED_AXES)}, {there}"
            )
    return chosen


def _nothing(spec: TableSpec, series: Sequence[Series], axes: Mapping[str, Axis]) -> str:
    asked, there = asked_and_there(spec.select, series, axes)
    asked.insert(0, f"metric {' or '.join(dict.fromkeys(cell.metric for cell in spec.cells))}")
    there.insert(0, f"metric {some({one.metric: None for one in series})}")
    what = "; ".join(there) if series else "no measurements at all"
    return (
        f"table {spec.name!r}: no measurement has {', '.join(asked)}; there is: {what}."
        " Change 'select' or 'cells', or name other runs"
    )


def _grid(spec: TableSpec, chosen: Sequence[Series]) -> Grid:
    grid: Grid = {}
    clashes: dict[tuple[Key, Key, str], list[Series]] = {}
    for one in chosen:
        row = tuple([axis_value(one, name) for name in spec.rows])
        column = tuple([axis_value(one, name) for name in spec.columns])
        metrics = grid.setdefault((row, column), {})
        first = metrics.setdefault(one.metric, one)
        if first is not one:
            clashes.setdefault((row, column, one.metric), [first]).append(one)
    if clashes:
        raise InputError(_mixed(spec, clashes))
    return grid


def _mixed(spec: TableSpec, clashes: Mapping[tuple[Key, Key, str], Sequence[Series]]) -> str:
    (row, column, _), together = next(iter(clashes.items()))
    parameters = sorted({name for one in together for name in one.case.parameters})
    differing = [
        name
        for name in (*FIXED_AXES, *parameters)
        if len({axis_value(one, name) for one in together}) > 1
    ]
    place = ", ".join(
        f"{name} {value}"
        for name, value in zip((*spec.rows, *spec.columns), (*row, *column), strict=True)
    )
    hint = f"add {'them' if len(differing) > 1 else 'it'} to rows, columns or select"
    if "run" in differing:
        hint += ", or report one run at a time"
    return (
        f"table {spec.name!r}: {len(together)} cases fall into one cell ({place});"
        f" they differ in {', '.join(differing)}: {hint}"
    )


def _ordered(keys: Sequence[Key], axes: Sequence[Axis]) -> list[Key]:
    distinct = list(dict.fromkeys(keys))
    places = [
        {value: place for place, value in enumerate(axis.sorted(key[i] for key in distinct))}
        for i, axis in enumerate(axes)
    ]
    return sorted(
        distinct, key=lambda key: [place[value] for place, value in zip(places, key, strict=True)]
    )


def _units(spec: TableSpec, chosen: Sequence[Series]) -> dict[str, str]:
    """Return each metric's stored unit; InputError where engines don't agree on it."""
    units: dict[str, str] = {}
    for one in chosen:
        if units.setdefault(one.metric, one.unit) != one.unit:
            raise InputError(
                f"table {spec.name!r}: {one.metric} is in {units[one.metric]!r} for some engines"
                f" and in {one.unit!r} for others: select one engine"
            )
    return units


def _column(spec: TableSpec, key: Key, cell: CellSpec, units: Mapping[str, str]) -> Column:
    stored = units.get(cell.metric, "")
    base, digits = stored, cell.digits
    if cell.statistic == "cv":
        base = "1"
    elif cell.statistic == "n":
        base, digits = "", 0
    unit = cell.unit or ("%" if cell.statistic == "cv" else base)
    if scale(unit, base) is None:
        raise InputError(
            f"table {spec.name!r}: {unit!r} can't show the {cell.statistic} of {cell.metric}:"
            f" use one of {', '.join(fitting_units(base))}"
        )
    return Column(key, cell.metric, cell.statistic, unit, base, stored, digits)


def _cell(
    spec: TableSpec,
    column: Column,
    per_unit: Decimal | None,
    one: Series | None,
    marks: notes.Marks,
    summaries: dict[int, Summary],
) -> Cell:
    if one is None or per_unit is None:
        return Cell(visible(spec.missing))
    suspect = int(np.count_nonzero(one.suspect))
    mark = marks.of(len(one.values), one.asked, one.failed, suspect)
    summary = None
    text = visible(spec.missing)
    if len(one.values):
        summary = summaries.get(id(one))
        if summary is None:
            summary = summaries[id(one)] = summarise(one.values)
        text = shown(getattr(summary, column.statistic), per_unit, column.digits)
    return Cell(
        text, mark, summary, one.run, one.test, one.case.key, one.asked, one.failed, suspect
    )


def _row_labels(keys: Sequence[Key], axes: Sequence[Axis]) -> list[tuple[RowLabel, ...]]:
    levels: list[list[RowLabel]] = []
    for level, axis in enumerate(axes):
        labels: list[RowLabel] = []
        for prefix, same in groupby(key[: level + 1] for key in keys):
            span = len(list(same))
            text = axis.text(prefix[-1])
            labels += [RowLabel(text, span), *[RowLabel(text, 0)] * (span - 1)]
        levels.append(labels)
    return list(zip(*levels, strict=True))


def _header(
    spec: TableSpec, axes: Mapping[str, Axis], keys: Sequence[Key], columns: Sequence[Column]
) -> tuple[tuple[Heading, ...], ...]:
    lines: list[tuple[Heading, ...]] = []
    width = len(spec.cells)
    if spec.columns:
        title = " / ".join(axes[name].title for name in spec.columns)
        lines.append((Heading(title, span=len(keys) * width),))
    for level, name in enumerate(spec.columns):
        lines.append(
            tuple(
                Heading(axes[name].text(prefix[-1]), span=len(list(same)) * width)
                for prefix, same in groupby(key[: level + 1] for key in keys)
            )
        )
    if width > 1 or not spec.columns:
        units = [column.unit for column in columns]
        cells = [cell for _ in keys for cell in spec.cells]
        lines.append(tuple(map(notes.heading, cells, units)))
    return tuple(lines)
