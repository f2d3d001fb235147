"""From series to a table: selects, arranges, sums up. A cell is one case of one run or an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.report.definition.cell_names import places_of
from railgauge.report.definition.model import CellSpec, SortSpec, TableSpec
from railgauge.report.definition.model_parts import Selection
from railgauge.report.parameter_rows import with_parameters
from railgauge.report.tables import notes
from railgauge.report.tables.against import References
from railgauge.report.tables.arrange import by_cell, grouped, header, ordered, row_labels
from railgauge.report.tables.authors_notes import AuthorsNotes
from railgauge.report.tables.axes import FIXED_AXES, Axis, AxisValue, axis_value
from railgauge.report.tables.beside import Remarks
from railgauge.report.tables.cells import CellMaker, Standing, one_limit, one_unit
from railgauge.report.tables.columns import make_column
from railgauge.report.tables.differing import differing
from railgauge.report.tables.marks import Marks
from railgauge.report.tables.narrowness import alarms
from railgauge.report.tables.selection import (
    asked_and_there,
    engines_shown,
    make_axes,
    matching,
    some,
    telling,
)
from railgauge.report.tables.table import Column, Row, Table
from railgauge.report.tables.theoretical import Limit, NoLimit, Theoretical
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

Key: TypeAlias = tuple[AxisValue, ...]
# (row, column) -> the cell's place in the definition -> the one series there
Grid: TypeAlias = dict[tuple[Key, Key], dict[int, Series]]
_NOTHING_BESIDE = Remarks()


def build(
    spec: TableSpec,
    series: Sequence[Series],
    *,
    catalogue: Catalogue | None = None,
    beside: Remarks = _NOTHING_BESIDE,
) -> Table:
    """Arrange `series` (as the store gives them) as `spec` says.

    `catalogue` knows how a parameter's values are written; without it they show as they are
    stored. `beside` is what is known of the runs beside their values. InputError when nothing is
    selected, when a cell would mix cases or runs, or when a unit doesn't fit its metric.
    """
    selects = [{**spec.select, **cell.select} for cell in spec.cells]
    wanted = [
        _wanted(spec, cell, select, series, catalogue)
        for select, cell in zip(selects, spec.cells, strict=True)
    ]
    chosen = _chosen(spec, series, wanted)
    spec = with_parameters(spec, chosen)
    names = [*spec.rows, *spec.columns, *spec.select, *spec.axes]
    engines = [name for select in selects for name in engines_shown(select, series)]
    axes = make_axes(names, spec.axes, engines, catalogue)
    _refuse_nothing(spec, series, chosen, axes)
    grid = _grid(spec, chosen, wanted)
    theoretical = Theoretical(beside.peaks, beside.facts)
    limits = _limits(spec, grid, wanted, theoretical)
    units = [_unit(spec, place, chosen, wanted, limits) for place in range(len(spec.cells))]
    references = References(spec, series, catalogue)
    row_axes = [axes[name] for name in spec.rows]
    row_keys = ordered([row for row, _ in grid], row_axes)
    column_keys = ordered([column for _, column in grid], [axes[name] for name in spec.columns])
    columns = [
        make_column(spec, key, place, unit, references.words(place))
        for key in column_keys
        for place, unit in enumerate(units)
        if not references.is_itself(place, key)
    ]
    if not columns:
        raise InputError(
            f"table {spec.name!r}: nothing is there but what it is to be held against: show other"
            " columns, or drop 'against'"
        )
    marks = Marks()
    said = AuthorsNotes(spec, axes, marks)
    lines = header(spec, axes, columns, said)
    known = frozenset(map(id, chosen))
    others = [one for one in references.every if id(one) not in known]
    every = [*chosen, *others]
    maker = CellMaker(spec, columns, every, _in(columns, grid), marks, theoretical, beside)

    def standing(row: Key, column: Column) -> Standing:
        there, place = grid.get((row, column.key), {}), column.place
        if column.theoretical:
            return Standing(None, limits.get((row, column.key, place)))
        reference = references.of(place, row, column.key) if column.compared else None
        return Standing(there.get(place), None, reference)

    if spec.sort is not None:
        sorting = _sorting(spec, spec.sort, axes, columns)
        row_keys = by_cell(spec, row_keys, lambda row: maker.value(sorting, standing(row, sorting)))
    rows = []
    for key, label in zip(row_keys, row_labels(spec, row_keys, row_axes, said), strict=True):
        cells = [
            maker.cell(one, standing(key, one), said.of_cell(key, one.key, one.place))
            for one in columns
        ]
        rows.append(Row(label, tuple(cells), key))
    table_rows = tuple(rows)
    return Table(
        name=spec.name,
        title=visible(spec.title),
        stub=tuple(visible(axes[name].title) for name in spec.rows),
        header=lines,
        row_axes=tuple(spec.rows),
        column_axes=tuple(spec.columns),
        columns=tuple(columns),
        rows=table_rows,
        footnotes=marks.footnotes(),
        notes=notes.sentences(
            spec,
            columns,
            table_rows,
            every,
            beside.imported,
            (
                *differing(spec, grid.values(), _held(grid, references), catalogue),
                *theoretical.sentences(),
            ),
        ),
        alarms=alarms(chosen),
        grouped=grouped(spec),
    )


def _in(columns: Sequence[Column], grid: Grid) -> frozenset[int]:
    """Return the identities of the series that these columns show."""
    kept = {(one.key, one.place) for one in columns}
    return frozenset(
        id(one)
        for (_, key), cells in grid.items()
        for place, one in cells.items()
        if (key, place) in kept
    )


def _sorting(
    spec: TableSpec, sort: SortSpec, axes: Mapping[str, Axis], columns: Sequence[Column]
) -> Column:
    """Return the column by which rows are sorted; InputError where it isn't there."""
    (place,) = places_of(spec.cells, sort.by)
    wanted = [axes[name].accepts([sort.column[name]]) for name in spec.columns]
    for one in columns:
        if one.place == place and all(
            value in values for value, values in zip(one.key, wanted, strict=True)
        ):
            return one
    at = ", ".join(f"{name} {value}" for name, value in sort.column.items())
    raise InputError(
        f"table {spec.name!r}: there is no {sort.by} at {at} to sort by: name another column in"
        " 'sort', or other runs"
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
    spec: TableSpec, series: Sequence[Series], wanted: Sequence[Mapping[int, Series]]
) -> list[Series]:
    """Return what any cell with a metric shows, in the order of `series`."""
    shown = {
        number
        for cell, those in zip(spec.cells, wanted, strict=True)
        if cell.metric
        for number in those
    }
    return [one for one in series if id(one) in shown]


def _refuse_nothing(
    spec: TableSpec, series: Sequence[Series], chosen: Sequence[Series], axes: Mapping[str, Axis]
) -> None:
    """Refuse a table without a measurement, and an axis that none of them has."""
    if not chosen:
        raise InputError(_nothing(spec, series, axes))
    for name in (*spec.rows, *spec.columns):
        # What others of these runs have, these may lack: it is unknown of imported ones.
        if name not in FIXED_AXES and all(axis_value(one, name) is None for one in series):
            there = ", ".join(sorted({key for one in chosen for key in one.case.parameters}))
            raise InputError(
                f"table {spec.name!r}: no measurement has the parameter {name!r}: use one of"
                f" {', '.join(FIXED_AXES)}, {there}"
            )


def _nothing(spec: TableSpec, series: Sequence[Series], axes: Mapping[str, Axis]) -> str:
    asked, there = asked_and_there(spec.select, series, axes)
    metrics = dict.fromkeys(cell.metric for cell in spec.cells if cell.metric)
    asked.insert(0, f"metric {' or '.join(metrics)}")
    there.insert(0, f"metric {some({one.metric: None for one in series})}")
    if any(cell.select for cell in spec.cells):
        asked.append("and what its cells select")
    what = "; ".join(there) if series else "nothing of these metrics"
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


def _held(grid: Grid, references: References) -> Iterator[tuple[int, Series, Series]]:
    """Yield the place of each cell that is held against another, what stands there, and that."""
    for place in references.places:
        for (row, column), cells in grid.items():
            one, other = cells.get(place), references.of(place, row, column)
            if one is not None and other is not None:
                yield place, one, other


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
    differing = telling(together)
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
