"""From series to a table: select, place, summarise, annotate. A cell is one case of one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.report.definition.cell_names import name_of, place_of
from railgauge.report.definition.statistic import common_average
from railgauge.report.tables import notes
from railgauge.report.tables.arrange import group_level, header, row_labels, sorted_by_value
from railgauge.report.tables.authors_notes import AuthorsNotes
from railgauge.report.tables.axes import FIXED_AXES, Axis, Key, axis_value, sorted_keys
from railgauge.report.tables.cell_contents import (
    CellContent,
    CellMaker,
    ContentMaker,
    Source,
    common_limit,
    common_unit,
)
from railgauge.report.tables.certified import certified_sentence, pairs_sentence
from railgauge.report.tables.columns import make_column
from railgauge.report.tables.common_remarks import common_remarks
from railgauge.report.tables.differing import differing
from railgauge.report.tables.marks import Marks
from railgauge.report.tables.narrowness import alarms, levels_note
from railgauge.report.tables.parameter_rows import with_parameters
from railgauge.report.tables.references import References
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.selection import (
    differing_axes,
    engines_shown,
    make_axes,
    no_measurement,
    selector,
)
from railgauge.report.tables.spread_sentence import DEPENDENT, dependence
from railgauge.report.tables.table import Column, Row, Table
from railgauge.report.tables.theoretical import Limit, NoLimit, Theoretical
from railgauge.report.tables.valueless import Omissions, omissions
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import NoteLevel, SortSpec, TableSpec

# (row, column) -> the cell's place in the definition -> the index of the one series there
Grid: TypeAlias = dict[tuple[Key, Key], dict[int, int]]
Limits: TypeAlias = dict[int, dict[tuple[Key, Key], Limit | NoLimit]]
_NO_CONTEXT = RunContext()


class SharedCellError(InputError):
    """Several cases fall into one cell; `axes` are those on which they differ."""

    def __init__(self, message: str, axes: Sequence[str]) -> None:
        super().__init__(message)
        self.axes = axes


def build(
    spec: TableSpec,
    series: Sequence[Series],
    *,
    catalogue: Catalogue | None = None,
    context: RunContext = _NO_CONTEXT,
    level: NoteLevel = "all",
) -> Table:
    """Arrange `series` (as the store gives them) as `spec` says.

    `catalogue` knows how a parameter's values are written; without it they show as they are
    stored. `context` is what is known of the runs in addition to their values, `level` how much of
    it is said below the table. InputError when nothing is selected, when a cell would mix cases
    or runs, or when a unit doesn't fit its metric.
    """
    theoretical = Theoretical(context.peaks, context.facts)
    selected = _select(spec, series, catalogue)
    layout = _place(selected, theoretical, catalogue)
    contents = _summarise(selected, layout, theoretical, context)
    rows_apart = differing(
        selected.spec,
        ({place: series[i] for place, i in cells.items()} for cells in layout.grid.values()),
        _comparisons(selected, layout),
        catalogue,
    )
    dependent = dependence(contents.series)
    sources, levels = theoretical.sentences(), levels_note(contents.series)
    sentences = (*rows_apart, *sources, *levels, *dependent)
    if level == "short":
        about_cells = (*rows_apart, *levels, *((DEPENDENT,) if dependent else ()))
        sentences = (" ".join(about_cells), *sources)
    return _annotate(selected, layout, contents, sentences, context, level)


@dataclass(frozen=True, slots=True)
class _Selected:
    """The series that a table shows, by their index in `series`, which holds all of the runs'.

    `of_cells` are those that each cell may show or, with `peak`, stand for, `indices` those that
    any cell with a metric shows. In `spec`, names stand for the word `parameters`.
    """

    spec: TableSpec
    axes: Mapping[str, Axis]
    series: Sequence[Series]
    of_cells: Sequence[frozenset[int]]
    indices: Sequence[int]


def _select(spec: TableSpec, series: Sequence[Series], catalogue: Catalogue | None) -> _Selected:
    of_cells: list[frozenset[int]] = []
    measured: set[int] = set()
    engines: list[str] = []
    cells, absent = [], set()
    for cell in spec.cells:
        select = {**spec.select, **cell.select}
        of_select = engines_shown(select, series)
        selects = selector(select, make_axes(select, {}, of_select, catalogue))
        metrics = {cell.metric} if cell.metric else {other.metric for other in spec.cells}
        indices = (i for i, entry in enumerate(series) if entry.metric in metrics)
        of_cell = frozenset(i for i in indices if selects(series[i]))
        if cell.optional and not of_cell:
            absent.add(name_of(cell))
            continue
        cells.append(cell)
        of_cells.append(of_cell)
        if cell.metric:
            measured |= of_cell
        engines += of_select
    footnotes = [note for note in spec.footnotes if note.cell not in absent]
    sort = spec.sort if spec.sort is None or spec.sort.by not in absent else None
    spec = spec.model_copy(update={"cells": cells, "footnotes": footnotes, "sort": sort})
    spec = with_parameters(spec, [series[i] for i in sorted(measured)])
    names = [*spec.rows, *spec.columns, *spec.select, *spec.axes]
    axes = make_axes(names, spec.axes, engines, catalogue)
    selected = _Selected(spec, axes, series, of_cells, sorted(measured))
    _refuse_no_measurement(selected)
    return selected


def _refuse_no_measurement(selected: _Selected) -> None:
    """Refuse a table without a measurement, and an axis that none of them has."""
    spec, series = selected.spec, selected.series
    if not selected.indices:
        raise InputError(no_measurement(spec, series, selected.axes))
    for name in (*spec.rows, *spec.columns):
        # What others of these runs have, these may lack: it is unknown of imported ones.
        if name not in FIXED_AXES and all(axis_value(entry, name) is None for entry in series):
            parameters = {key for i in selected.indices for key in series[i].case.parameters}
            raise InputError(
                f"table {spec.name!r}: no measurement has the parameter {name!r}: use one of"
                f" {', '.join(FIXED_AXES)}, {', '.join(sorted(parameters))}"
            )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the series stand: rows and columns in their order, and the sources of each cell."""

    rows: Sequence[Key]
    columns: Sequence[Column]
    grid: Grid
    limits: Limits
    references: References

    def source(self, row: Key, column: Column) -> Source:
        """Return what a cell is made of."""
        if column.theoretical:
            return Source(None, self.limits[column.place].get((row, column.key)))
        series = self.grid.get((row, column.key), {}).get(column.place)
        if not column.compared:
            return Source(series)
        return Source(series, None, self.references.of(column.place, row, column.key))


def _place(selected: _Selected, theoretical: Theoretical, catalogue: Catalogue | None) -> _Layout:
    spec, axes = selected.spec, selected.axes
    grid = _grid(selected)
    limits = _limits(selected, grid, theoretical)
    units = [_unit(selected, place, limits) for place in range(len(spec.cells))]
    averages = [
        common_average(_series_of_cell(selected, place), unit or "")
        for place, unit in enumerate(units)
    ]
    references = References(spec, selected.series, catalogue)
    column_keys = sorted_keys([column for _, column in grid], [axes[name] for name in spec.columns])
    columns = [
        make_column(spec, key, place, unit, average, references.words(place))
        for key in column_keys
        for place, (unit, average) in enumerate(zip(units, averages, strict=True))
        if not references.is_itself(place, key)
    ]
    if not columns:
        raise InputError(
            f"table {spec.name!r}: nothing is there but what it is to be compared with: show other"
            " columns, or drop 'against'"
        )
    rows = sorted_keys([row for row, _ in grid], [axes[name] for name in spec.rows])
    return _Layout(rows, columns, grid, limits, references)


def _grid(selected: _Selected) -> Grid:
    spec = selected.spec
    grid: Grid = {}
    clashes: dict[tuple[Key, Key, int], list[int]] = {}
    places = [place for place, cell in enumerate(spec.cells) if cell.metric]
    for i in selected.indices:
        entry = selected.series[i]
        row = tuple([axis_value(entry, name) for name in spec.rows])
        column = tuple([axis_value(entry, name) for name in spec.columns])
        cells = grid.setdefault((row, column), {})
        for place in places:
            if i not in selected.of_cells[place]:
                continue
            first = cells.setdefault(place, i)
            if first != i:
                clashes.setdefault((row, column, place), [first]).append(i)
    if clashes:
        (row, column, _), indices = next(iter(clashes.items()))
        raise _mixed(selected, (*row, *column), indices)
    return grid


def _mixed(selected: _Selected, key: Key, indices: Sequence[int]) -> SharedCellError:
    spec, series = selected.spec, [selected.series[i] for i in indices]
    names = differing_axes(series)
    place = ", ".join(
        f"{name} {selected.axes[name].text(value)}"
        for name, value in zip((*spec.rows, *spec.columns), key, strict=True)
    )
    hint = f"add {'them' if len(names) > 1 else 'it'} to rows, columns or select"
    if "run" in names:
        hint += ", or report one run at a time"
    return SharedCellError(
        f"table {spec.name!r}: {len(series)} cases fall into one cell ({place});"
        f" they differ in {', '.join(names)}: {hint}",
        names,
    )


def _limits(selected: _Selected, grid: Grid, theoretical: Theoretical) -> Limits:
    """Return the theoretical value of each cell that shows one."""
    limits: Limits = {place: {} for place, cell in enumerate(selected.spec.cells) if cell.peak}
    for place, of_place in limits.items():
        for key, cells in grid.items():
            indices = [i for i in cells.values() if i in selected.of_cells[place]]
            series = [selected.series[i] for i in indices]
            limit = common_limit(selected.spec, selected.spec.cells[place], theoretical, series)
            if limit is not None:
                of_place[key] = limit
    return limits


def _unit(selected: _Selected, place: int, limits: Limits) -> str | None:
    """Return the unit in which a cell's values are stored, None if there are none."""
    if place in limits:
        units = [limit.unit for limit in limits[place].values() if isinstance(limit, Limit)]
    else:
        units = [entry.unit for entry in _series_of_cell(selected, place)]
    return common_unit(selected.spec, selected.spec.cells[place], units)


def _series_of_cell(selected: _Selected, place: int) -> list[Series]:
    """Return the series that a cell may show."""
    of_cell = selected.of_cells[place]
    return [selected.series[i] for i in selected.indices if i in of_cell]


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the cells show: of each row, in the table's order, a content for each column.

    `series` are those shown or compared with.
    """

    rows: Mapping[Key, Sequence[CellContent]]
    series: Sequence[Series]


def _summarise(
    selected: _Selected, layout: _Layout, theoretical: Theoretical, context: RunContext
) -> _Contents:
    spec, columns = selected.spec, layout.columns
    indices = dict.fromkeys([*selected.indices, *layout.references.indices])
    series = {i: selected.series[i] for i in indices}
    places = {(column.key, column.place) for column in columns}
    in_columns = {
        i
        for (_, key), cells in layout.grid.items()
        for place, i in cells.items()
        if (key, place) in places
    }
    maker = ContentMaker(spec.name, series, in_columns, theoretical, context)

    def content(row: Key, column: Column) -> CellContent:
        return maker.content(column, layout.source(row, column))

    rows = layout.rows
    if spec.sort is not None:
        sort_column = _sort_column(spec, spec.sort, selected.axes, columns)
        rows = sorted_by_value(spec, rows, lambda row: content(row, sort_column).value)
    return _Contents(
        {row: [content(row, column) for column in columns] for row in rows}, list(series.values())
    )


def _sort_column(
    spec: TableSpec, sort: SortSpec, axes: Mapping[str, Axis], columns: Sequence[Column]
) -> Column:
    """Return the column by which rows are sorted; InputError where it isn't there."""
    place = place_of(spec, sort.by, "'sort'")
    if missing := [name for name in spec.columns if name not in sort.column]:
        raise InputError(
            f"table {spec.name!r}, 'sort': there are several columns of {sort.by} to sort by: name"
            f" one, column: {{{', '.join(f'{name}: …' for name in missing)}}}"
        )
    accepted = [axes[name].accepts([sort.column[name]]) for name in spec.columns]
    for column in columns:
        if column.place == place and all(
            value in values for value, values in zip(column.key, accepted, strict=True)
        ):
            return column
    at = ", ".join(f"{name} {value}" for name, value in sort.column.items())
    raise InputError(
        f"table {spec.name!r}: there is no {sort.by} at {at} to sort by: name another column in"
        " 'sort', or other runs"
    )


def _comparisons(selected: _Selected, layout: _Layout) -> Iterator[tuple[int, Series, Series]]:
    """Yield the place of each cell that is compared with another, its series, and the other's."""
    for place in layout.references.places:
        for (row, column), cells in layout.grid.items():
            series, other = cells.get(place), layout.references.of(place, row, column)
            if series is not None and other is not None:
                yield place, selected.series[series], selected.series[other]


def _certified(all_series: Sequence[Series], context: RunContext) -> Iterator[str]:
    """Yield what certificates say of the engines, and of pairs of hosts."""
    measured = ((series.run, series.case.engine) for series in all_series)
    cases = ((series.run, series.case) for series in all_series)
    sentences = (
        certified_sentence(measured, context.certified),
        pairs_sentence(cases, context.pairs),
    )
    yield from filter(None, sentences)


def _annotate(
    selected: _Selected,
    layout: _Layout,
    contents: _Contents,
    sentences: Sequence[str],
    context: RunContext,
    level: NoteLevel,
) -> Table:
    """Return the table: headings, labels and cells with their marks, footnotes and notes."""
    spec, axes, columns = selected.spec, selected.axes, layout.columns
    absent = _omitted(selected, columns, contents, level)
    with_value = {key: row for key, row in contents.rows.items() if key not in absent.rows}
    common = common_remarks(with_value.values(), absent.columns, level)
    first = [*absent.sentences, *filter(None, [common.sentence])]
    if level == "short":
        # What is said of cells is one line.
        about_cells, *sentences = sentences
        first = [" ".join(filter(None, [*first, about_cells]))]
    below = (*first, *sentences, *_certified(contents.series, context))
    marks = Marks(level, common.texts)
    authors_notes = AuthorsNotes(spec, axes, marks)
    heading_lines = header(spec, axes, columns, authors_notes)
    maker = CellMaker(spec, columns, marks, context.printed)
    rows = _rows(selected, contents, columns, maker, authors_notes, absent)
    stated = [row for row in rows if row.key not in absent.rows]
    return Table(
        name=spec.name,
        title=visible(spec.title),
        stub=tuple(visible(axes[name].title) for name in spec.rows),
        header=heading_lines,
        row_axes=tuple(spec.rows),
        column_axes=tuple(spec.columns),
        columns=tuple(columns),
        rows=tuple(rows),
        footnotes=marks.footnotes(),
        notes=notes.sentences(
            spec, columns, stated, contents.series, context.imported, below, level
        ),
        alarms=alarms(selected.series[i] for i in selected.indices),
        grouped=group_level(spec),
        valueless=tuple(absent.columns),
        valueless_rows=tuple(i for i, key in enumerate(contents.rows) if key in absent.rows),
        caption=visible(spec.caption),
    )


def _omitted(
    selected: _Selected, columns: Sequence[Column], contents: _Contents, level: NoteLevel
) -> Omissions:
    # What the author says of a column is to be seen there.
    if level == "none" or selected.spec.footnotes:
        return Omissions()
    column_name = partial(_column_name, selected)
    return omissions(columns, contents.rows, _row_namer(selected, contents.rows), column_name)


def _rows(
    selected: _Selected,
    contents: _Contents,
    columns: Sequence[Column],
    maker: CellMaker,
    authors_notes: AuthorsNotes,
    absent: Omissions,
) -> list[Row]:
    """Return the rows; cells of those that are `absent`, as of such columns, have no marks."""
    row_axes = [selected.axes[name] for name in selected.spec.rows]
    labels = row_labels(selected.spec, list(contents.rows), row_axes, authors_notes)
    rows = []
    for (key, row), label in zip(contents.rows.items(), labels, strict=True):
        cells = [
            maker.cell(
                column,
                content,
                authors_notes.of_cell(key, column.key, column.place),
                marked=i not in absent.columns and key not in absent.rows,
            )
            for i, (column, content) in enumerate(zip(columns, row, strict=True))
        ]
        rows.append(Row(label, tuple(cells), key))
    return rows


def _row_namer(selected: _Selected, rows: Collection[Key]) -> Callable[[Key], str]:
    """Return what gives a row's labels on the axes on which `rows` differ."""
    differing_places = [
        (place, selected.axes[name])
        for place, name in enumerate(selected.spec.rows)
        if len({row[place] for row in rows}) > 1
    ]
    return lambda row: " · ".join(axis.text(row[place]) for place, axis in differing_places)


def _column_name(selected: _Selected, column: Column) -> str:
    """Return what distinguishes the column from the table's others."""
    names = (
        selected.axes[name].text(value)
        for name, value in zip(selected.spec.columns, column.key, strict=True)
    )
    return " ".join([*names, column.label])
