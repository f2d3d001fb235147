"""Several runs of one plan in one report: the axis that distinguishes them, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from railgauge.report.tables.axes import AxisValue, Placed, axis_value
from railgauge.report.tables.pivot import SharedCellError
from railgauge.report.tables.run_axes import LABEL, RunAxes
from railgauge.report.tables.table import Table
from railgauge.report.tables.table_series import PlacedCase
from railgauge.store.records import PlannedCase, StoredRun

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import TableSpec

RUN = "run"


def axis_of_runs(runs: Sequence[StoredRun]) -> str:
    """Return the axis that distinguishes the runs: the one label that does, else their numbers."""
    keys = dict.fromkeys(key for run in runs for key in run.new.labels)
    telling = [
        key
        for key in keys
        if len({run.new.labels.get(key) for run in runs}) == len(runs)
        and all(key in run.new.labels for run in runs)
    ]
    return f"{LABEL}{telling[0]}" if len(runs) > 1 and len(telling) == 1 else RUN


def check_axis(by: str, run_axes: RunAxes, runs: Iterable[StoredRun]) -> None:
    """InputError for an axis on which none of the runs is, also where nothing needs it."""
    run_axes.placed([_placed_case(run, planned) for run in runs for planned in run.cases], [by])


def shared_by_runs(measurements: Iterable[Placed], axes: Sequence[str]) -> bool:
    """Return whether several runs measured the same case of a test, in one place on these axes."""
    runs: dict[tuple[object, ...], int] = {}
    for measured in measurements:
        place = tuple([axis_value(measured, name) for name in axes])
        key = measured.test, measured.case.key, *place
        if runs.setdefault(key, measured.run) != measured.run:
            return True
    return False


def beside_one_another(
    table: TableSpec,
    by: str,
    make: Callable[[TableSpec], Table],
    run_axes: RunAxes,
    first: StoredRun,
) -> Table:
    """Return the table; where runs share a cell, with a column a value of the axis `by`.

    Sorted rows are sorted by the first run's.
    """
    try:
        return make(table)
    except SharedCellError as error:
        if RUN not in error.axes or by in (*table.rows, *table.columns):
            raise
    sort = table.sort
    if sort is not None:
        value = _value(run_axes, by, first)
        column = {**sort.column, by: "" if value is None else value}
        sort = sort.model_copy(update={"column": column})
    return make(table.model_copy(update={"columns": [*table.columns, by], "sort": sort}))


def _value(run_axes: RunAxes, by: str, run: StoredRun) -> AxisValue:
    return axis_value(run_axes.placed([_placed_case(run, run.cases[0])], [by])[0], by)


def _placed_case(run: StoredRun, planned: PlannedCase) -> PlacedCase:
    return PlacedCase(run.id, run.new.plan, planned.test, planned.case, planned)
