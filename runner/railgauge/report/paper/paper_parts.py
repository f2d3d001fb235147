"""The report that a paper's definition comes to: its tables, measured compared with published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from railgauge.base.errors import InputError
from railgauge.report.definition.definition_model import CellSpec, Spec, TableSpec, TextSpec
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.definition.model_parts import AxisSpec, Scalar, Selection
from railgauge.report.definition.statistic import LOCATIONS
from railgauge.report.figures.kinds import kind_of
from railgauge.report.paper.paper_model import PaperItem
from railgauge.report.paper.read_paper import LoadedPaper
from railgauge.report.tables.axes import FIXED_AXES, REPLICATION, Axis, Placed
from railgauge.report.tables.logged import is_logged
from railgauge.report.tables.parameter_rows import PARAMETERS
from railgauge.report.tables.selection import engines_shown, make_axes, matching, selector
from railgauge.report.tables.table_series import own_axes

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store.records import Series

_RUN, _PLAN = "run", "plan"
# Where a statistic of the paper's takes another's place.
_REPLACED = [name for name in LOCATIONS if not name.startswith("interval")]
_Part: TypeAlias = TableSpec | FigureSpec


@dataclass(frozen=True, slots=True)
class ShownRuns:
    """The runs of a paper: what they are called, by id, and which of them it published itself.

    `cases` are all cases of all runs, `series` all that was stored of the tables' metrics.
    """

    names: Mapping[int, str]
    published: Sequence[int]
    cases: Sequence[Placed]
    series: Sequence[Series]

    def of(
        self, selects: Iterable[tuple[str, Mapping[str, Selection]]], catalogue: Catalogue
    ) -> list[int]:
        """Return the runs that have any of these metrics where these selections are."""
        runs: dict[int, None] = {}
        for metric, select in selects:
            stored = [entry for entry in self.series if entry.metric == metric]
            candidates: Sequence[Placed] = self.cases if is_logged(metric) or not metric else stored
            axes = make_axes(select, {}, engines_shown(select, candidates), catalogue)
            selects_it = selector(select, axes)
            runs |= {entry.run: None for entry in candidates if selects_it(entry)}
        return [run for run in self.names if run in runs]


def paper_spec(
    loaded: LoadedPaper,
    runs: ShownRuns,
    texts: Sequence[TextSpec],
    printed: Sequence[TextSpec],
    catalogue: Catalogue,
) -> Spec:
    """Return the report definition over these runs: `texts`, the items in their order, `printed`.

    Of an item there are the tables that it names, with a row for each run, and one with the
    measured values compared with the published ones; a figure has a line for each run. What no run
    has is left out, a table's column likewise. InputError where nothing is left.
    """
    parts = list(_item_parts(loaded, runs, catalogue))
    if not parts:
        raise InputError(
            f"paper {loaded.paper.name!r}: neither it nor a run has any of its numbers"
        )
    return Spec(
        railgauge_report=1,
        name=loaded.paper.name,
        title=loaded.paper.title,
        notes="all",
        texts=[*texts, *printed],
        tables=[part for part in parts if isinstance(part, TableSpec)],
        figures=[part for part in parts if isinstance(part, FigureSpec)],
        contents=[part.name for part in (*texts, *parts, *printed)],
    )


def _item_parts(
    loaded: LoadedPaper, runs: ShownRuns, catalogue: Catalogue
) -> Iterator[TableSpec | FigureSpec]:
    """Yield the tables and figures of the paper's items, in their order, by their own names."""
    for item, report in zip(loaded.paper.items, loaded.reports, strict=True):
        parts: list[_Part] = [*report.tables, *report.figures]
        chosen = [part for part in parts if not item.parts or part.name in item.parts]
        for part in chosen:
            name = item.name if len(chosen) == 1 else f"{item.name}-{part.name}"
            for variant in _variants(part, item, runs, catalogue):
                yield variant.model_copy(
                    update={
                        "name": f"{name}{variant.name}",
                        "title": f"{part.title}{variant.title} [{item.number}]",
                    }
                )


def _variants(
    part: _Part, item: PaperItem, runs: ShownRuns, catalogue: Catalogue
) -> Iterator[_Part]:
    """Yield what becomes of a table or figure; `name` and `title` are what is added to its own."""
    if isinstance(part, FigureSpec):
        yield from _figure(part, item, runs, catalogue)
        return
    select = {**part.select, **item.select}
    # A paper that was not measured lacks most of what else the report shows.
    cells = [_cell(cell, item).model_copy(update={"optional": True}) for cell in part.cells]
    table = part.model_copy(update={"select": select, "cells": cells})
    shown_runs = runs.of(
        [(cell.metric, {**select, **cell.select}) for cell in cells if not cell.peak], catalogue
    )
    if not shown_runs:
        return
    table = table.model_copy(update={"rows": _present(table, runs, shown_runs, catalogue)})
    yield _beside(table, item, runs, shown_runs)
    yield from _compared(table, item, runs, shown_runs, catalogue)


def _present(
    table: TableSpec, runs: ShownRuns, shown_runs: Sequence[int], catalogue: Catalogue
) -> list[str]:
    """Return the table's rows without the parameters that none of these runs' cases has.

    Of a published number less is known than of a measured one.
    """
    select: dict[str, Selection] = {**table.select, _RUN: list(shown_runs)}
    axes = make_axes(select, {}, engines_shown(select, runs.cases), catalogue)
    cases = matching(runs.cases, select, axes)
    names = {*FIXED_AXES, PARAMETERS, *own_axes(table.cells)}
    names |= {name for case in cases for name in case.case.parameters}
    return [name for name in table.rows if name in names] or table.rows


def _cell(cell: CellSpec, item: PaperItem) -> CellSpec:
    if cell.statistic not in _REPLACED or cell.peak or cell.relative_to:
        return cell if item.statistic is None or cell.peak else _with_statistic(cell, item)
    if item.digits is not None:
        # As if the definition said so.
        cell = CellSpec.model_validate({**cell.model_dump(by_alias=True), "digits": item.digits})
    return cell if item.statistic is None else _with_statistic(cell, item)


def _with_statistic(cell: CellSpec, item: PaperItem) -> CellSpec:
    if cell.statistic not in _REPLACED:
        return cell
    return cell.model_copy(update={"statistic": item.statistic})


def _beside(
    table: TableSpec, item: PaperItem, runs: ShownRuns, shown_runs: Sequence[int]
) -> TableSpec:
    """Return the table with a row for each run."""
    rows = table.rows
    if len(shown_runs) > 1 and _RUN not in (*rows, *table.columns):
        # Its replications belong to a run.
        place = rows.index(REPLICATION) if REPLICATION in rows else len(rows)
        rows = [*rows[:place], _RUN, *rows[place:]]
    notes = "\n".join(text for text in (table.notes, item.notes) if text)
    return table.model_copy(
        update={
            "name": "",
            "title": "",
            "rows": rows,
            "select": {**table.select, _RUN: list(shown_runs)},
            "axes": {**table.axes, _RUN: _run_axis(runs, shown_runs)},
            "notes": notes,
        }
    )


def _compared(
    table: TableSpec,
    item: PaperItem,
    runs: ShownRuns,
    shown_runs: Sequence[int],
    catalogue: Catalogue,
) -> Iterator[TableSpec]:
    """Yield a table of measured values compared with published ones, for each source of those."""
    measured = [run for run in shown_runs if run not in runs.published]
    published = [run for run in shown_runs if run in runs.published]
    if item.compare == "none" or not measured or REPLICATION in table.rows:
        return
    for number, run in enumerate(published, 1):
        against: dict[str, Scalar] = {**item.against, _RUN: run}
        if _PLAN in (*table.rows, *table.columns):
            # What is compared with another run is compared with one of another plan.
            plans = {case.plan for case in runs.cases if case.run == run}
            against |= dict.fromkeys([_PLAN], next(iter(plans)))
        cells = [
            cell
            for cell in table.cells
            if _comparable(cell) and _on_both_sides(table, cell, runs, measured, against, catalogue)
        ]
        if not cells:
            continue
        rows = [*table.rows, *([_RUN] if len(measured) > 1 else [])]
        many_sources = len(published) > 1
        axes = _fitting_axes(table, cells, runs, catalogue)
        yield table.model_copy(
            update={
                "name": f"-{item.compare}{f'-{number}' if many_sources else ''}",
                "title": f", {item.compare} from {runs.names[run]}",
                "rows": rows,
                "select": {**table.select, _RUN: list(measured)},
                "cells": [_held_against(cell, item, against) for cell in cells],
                "axes": {**axes, _RUN: _run_axis(runs, shown_runs)},
                "sort": None,
                "footnotes": [],
                "notes": "",
            }
        )


def _fitting_axes(
    table: TableSpec, cells: Sequence[CellSpec], runs: ShownRuns, catalogue: Catalogue
) -> dict[str, AxisSpec]:
    """Return the table's axes without the values that the engines of these cells don't know."""
    engines = [
        engine
        for cell in cells
        for engine in engines_shown({**table.select, **cell.select}, runs.cases)
    ]
    axes = {}
    for name, spec in table.axes.items():
        axis = make_axes([name], {}, engines, catalogue)[name]
        labels = {value: text for value, text in spec.labels.items() if _knows(axis, value)}
        order = [value for value in spec.order if _knows(axis, value)]
        axes[name] = spec.model_copy(update={"labels": labels, "order": order})
    return axes


def _knows(axis: Axis, value: Scalar) -> bool:
    try:
        axis.set_label(value, "") if isinstance(value, str) else axis.parse(value)
    except InputError:
        return False
    return True


def _on_both_sides(
    table: TableSpec,
    cell: CellSpec,
    runs: ShownRuns,
    measured: Sequence[int],
    against: Mapping[str, Scalar],
    catalogue: Catalogue,
) -> bool:
    """Return whether what the cell shows was both measured and published."""
    select = {**table.select, **cell.select}
    sides: list[dict[str, Selection]] = [{**select, _RUN: list(measured)}, {**select, **against}]
    return all(runs.of([(cell.metric, side)], catalogue) for side in sides)


def _comparable(cell: CellSpec) -> bool:
    plain = not (cell.peak or cell.relative_to or cell.against) and bool(cell.metric)
    return plain and cell.statistic in _REPLACED and not is_logged(cell.metric)


def _held_against(cell: CellSpec, item: PaperItem, against: Mapping[str, Scalar]) -> CellSpec:
    changed = {
        "against": dict(against),
        "compared": item.compare,
        "beside": "interval",
        "unit": cell.unit if item.compare == "difference" else "",
        "label": cell.label or item.compare.capitalize(),
    }
    return cell.model_copy(update=changed)


def _figure(
    figure: FigureSpec, item: PaperItem, runs: ShownRuns, catalogue: Catalogue
) -> Iterator[FigureSpec]:
    kind = kind_of(figure)
    assert kind is not None  # as the definition was checked
    select = {**figure.select, **item.select}
    shown_runs = runs.of([("" if kind.traced else figure.metric, select)], catalogue)
    if kind.traced:
        # No paper has published one.
        shown_runs = [run for run in shown_runs if run not in runs.published]
    if not shown_runs:
        return
    by_value, series, y = figure.each, item.series or figure.series, figure.y
    if len(shown_runs) > 1 and (kind.traced or kind.together):
        by_value = [*by_value, _RUN]
    elif series:
        series = [*series, _RUN]
    if item.statistic is not None and y.metric:
        y = y.model_copy(update={"statistic": item.statistic})
    yield figure.model_copy(
        update={
            "name": "",
            "title": "",
            "select": {**select, _RUN: list(shown_runs)},
            "each": by_value,
            "series": series,
            "y": y,
            "axes": {**figure.axes, _RUN: _run_axis(runs, shown_runs)},
        }
    )


def _run_axis(runs: ShownRuns, shown_runs: Sequence[int]) -> AxisSpec:
    order = sorted(shown_runs, key=lambda run: run not in runs.published)
    return AxisSpec(
        title="Run", labels={str(run): runs.names[run] for run in shown_runs}, order=[*order]
    )
