"""From series to a table: selects, arranges, sums up. A cell is one case of one run or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from railgauge.errors import InputError
from railgauge.report import notes
from railgauge.report.axes import FIXED_AXES, Axis, AxisValue, axis_value
from railgauge.report.beside import Beside
from railgauge.report.cells import CellMaker, make_column, one_limit, one_unit
from railgauge.report.characters import visible
from railgauge.report.differing import differing
from railgauge.report.marks import Marks
from railgauge.report.model import CellSpec, Selection, TableSpec
from railgauge.report.selection import asked_and_there, engines_shown, make_axes, matching, some
from railgauge.report.table import Column, Heading, Row, RowLabel, Table
from railgauge.report.theoretical import Limit, NoLimit, Theoretical
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.catalogue import Catalogue

Key: TypeAlias = tuple[AxisValue, ...]
# (row, column) -> the cell's place in the definition -> the one series there
Grid: TypeAlias = dict[tuple[Key, Key], dict[int, Series]]
_NOTHING_BESIDE = Beside()


def build(
    spec: TableSpec,
    series: Sequence[Series],
    *,
    catalogue: Catalogue | None = None,
    beside: Beside = _NOTHING_BESIDE,
) -> Table:
    """Arrange `series` (as the store gives them) as `spec` says.

    `catalogue` knows how a parameter's values are written; without it they show as they are
    stored. `beside` is what is known of the runs beside their values. InputError when nothing is
    selected, when a cell would mix cases or runs, or when a unit doesn't fit its metric.
    """
    selects = [{**spec.select, **cell.select} for cell in spec.cells]
    names = [*spec.rows, *spec.columns, *spec.select, *spec.axes]
    engines = [name for select in selects for name in engines_shown(select, series)]
    axes = make_axes(names, spec.axes, engines, catalogue)
    wanted = [
        _wanted(spec, cell, select, series, catalogue)
        for select, cell in zip(selects, spec.cells, strict=True)
    ]
    chosen = _chosen(spec, series, wanted, axes)
    grid = _grid(spec, chosen, wanted)
    theoretical = Theoretical(beside.peaks, beside.facts)
    limits = _limits(spec, grid, wanted, theoretical)
    units = [_unit(spec, place, chosen, wanted, limits) for place in range(len(spec.cells))]
    row_keys = _ordered([row for row, _ in grid], [axes[name] for name in spec.rows])
    column_keys = _ordered([column for _, column in grid], [axes[name] for name in spec.columns])
    columns = [
        make_column(spec, key, place, unit)
        for key in column_keys
        for place, unit in enumerate(units)
    ]
    marks = Marks()
    maker = CellMaker(spec, marks, theoretical, beside)
    rows = []
    labels = _row_labels(row_keys, [axes[name] for name in spec.rows])
    for key, label in zip(row_keys, labels, strict=True):
        cells = []
        for one in columns:
            place = key, one.key, one.place
            if one.theoretical:
                cells.append(maker.theoretical(one, limits.get(place)))
            else:
                cells.append(maker.measured(one, grid.get(place[:2], {}).get(one.place)))
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
        notes=notes.sentences(
            spec,
            columns,
            table_rows,
            chosen,
            beside.imported,
            (*differing(spec, grid.values(), catalogue), *theoretical.sentences()),
        ),
    )


def _wanted(
    spec: TableSpec,
    cell: CellSpec,
    select: Mapping[str, Selection],
    series: Sequence[Series],
    catalogue: Catalogue | None,
) -> dict[int, Series]:
    """Return by identity the series that a cell may show or, with `peak`, stand for."""
    axes = make_axes(select, {}, engines_shown(select, series), catalogue)
    metrics = {cell.metric} if cell.metric else {other.metric for other in spec.cells}
    of_metric = (one for one in series if one.metric in metrics)
    return {id(one): one for one in matching(of_metric, select, axes)}


def _chosen(
    spec: TableSpec,
    series: Sequence[Series],
    wanted: Sequence[Mapping[int, Series]],
    axes: Mapping[str, Axis],
) -> list[Series]:
    """Return what any cell with a metric shows, in the order of `series`."""
    shown = {
        number
        for cell, those in zip(spec.cells, wanted, strict=True)
        if cell.metric
        for number in those
    }
    chosen = [one for one in series if id(one) in shown]
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
    metrics = dict.fromkeys(cell.metric for cell in spec.cells if cell.metric)
    asked.insert(0, f"metric {' or '.join(metrics)}")
    there.insert(0, f"metric {some({one.metric: None for one in series})}")
    if any(cell.select for cell in spec.cells):
        asked.append("and what its cells select")
    what = "; ".join(there) if series else "no measurements at all"
    return (
        f"table {spec.name!r}: no measurement has {', '.join(asked)}; there is: {what}."
        " Change 'select' or 'cells', or name other runs"
    )


def _grid(
    spec: TableSpec, chosen: Sequence[Series], wanted: Sequence[Mapping[int, Series]]
) -> Grid:
    grid: Grid = {}
    clashes: dict[tuple[Key, Key, int], list[Series]] = {}
    places = [place for place, cell in enumerate(spec.cells) if cell.metric]
    for one in chosen:
        row = tuple([axis_value(one, name) for name in spec.rows])
        column = tuple([axis_value(one, name) for name in spec.columns])
        cells = grid.setdefault((row, column), {})
        for place in places:
            if id(one) not in wanted[place]:
                continue
            first = cells.setdefault(place, one)
            if first is not one:
                clashes.setdefault((row, column, place), [first]).append(one)
    if clashes:
        raise InputError(_mixed(spec, clashes))
    return grid


def _limits(
    spec: TableSpec,
    grid: Grid,
    wanted: Sequence[Mapping[int, Series]],
    theoretical: Theoretical,
) -> dict[tuple[Key, Key, int], Limit | NoLimit]:
    """Return the theoretical value of each cell that shows one."""
    limits = {}
    for place, cell in enumerate(spec.cells):
        if not cell.peak:
            continue
        for (row, column), cells in grid.items():
            standing = [one for one in cells.values() if id(one) in wanted[place]]
            found = one_limit(spec, cell, theoretical, standing)
            if found is not None:
                limits[row, column, place] = found
    return limits


def _unit(
    spec: TableSpec,
    place: int,
    chosen: Sequence[Series],
    wanted: Sequence[Mapping[int, Series]],
    limits: Mapping[tuple[Key, Key, int], Limit | NoLimit],
) -> str | None:
    """Return the unit in which a cell's values are stored, None if there are none."""
    cell = spec.cells[place]
    if cell.peak:
        found = [one for where, one in limits.items() if where[2] == place]
        return one_unit(spec, cell, (one.unit for one in found if isinstance(one, Limit)))
    return one_unit(spec, cell, (one.unit for one in chosen if id(one) in wanted[place]))


def _mixed(spec: TableSpec, clashes: Mapping[tuple[Key, Key, int], Sequence[Series]]) -> str:
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
