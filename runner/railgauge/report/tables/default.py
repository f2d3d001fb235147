"""The tables shown when nobody defined any: one for each test, its headline metrics as columns."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from railgauge.base.characters import capitalised, file_stem
from railgauge.base.errors import InputError
from railgauge.base.number import best_unit, scale
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.catalogue.headlines import display_base, headlines
from railgauge.report.definition.definition_model import CellSpec, Spec, TableSpec
from railgauge.report.definition.model_parts import AxisSpec
from railgauge.report.definition.statistic import LEAST_FOR_INTERVAL, own_unit
from railgauge.report.tables.axes import axis_value
from railgauge.report.tables.notes import words
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import Statistic
    from railgauge.report.definition.model_parts import Selection
    from railgauge.store import Store

# Where an engine has none of those.
_REST = 4
_STATISTICS: tuple[Statistic, ...] = (
    "n",
    "median",
    "interval",
    "mean",
    "stdev",
    "mean_absolute_deviation",
    "cv",
    "minimum",
    "maximum",
)


def default_series(store: Store, run_ids: Sequence[int]) -> list[Series]:
    """Return what the default tables of these runs show, without reading every metric."""
    series = store.series(run_ids, headlines())
    # A case that gave none of these metrics has no series there.
    headed = {(entry.run, entry.test, entry.case.key) for entry in series}
    planned = {(run, case.test, case.case.key) for run in run_ids for case in store.run(run).cases}
    candidates = series if planned <= headed else store.series(run_ids)
    measured = {(entry.run, entry.test) for entry in candidates if len(entry.values)}
    # A test that was skipped, or failed, as a whole shows the metrics its engine would have had.
    return [
        entry
        for entry in candidates
        if (entry.run, entry.test) in measured
        or ((entry.skipped or entry.failed) and _is_of_mode(entry))
    ]


def _is_of_mode(entry: Series) -> bool:
    """Return whether the metric is one of the case's mode, as engines that ship have it."""
    engine = load_catalogue().engines.get(entry.case.engine)
    info = engine.metrics.get(entry.metric) if engine else None
    return info is None or not info.modes or entry.case.parameters.get("mode") in info.modes


def default_spec(
    series: Sequence[Series], *, statistics: int = 0, beyond: str = "", with_runs: bool = True
) -> Spec:
    """Return a definition that shows all of `series`: one table for each test of each plan.

    Rows are the runs (`with_runs`), the parameters that vary and the link (or host); columns the
    medians of the headline metrics, in units that suit the values. Each of those metrics that has
    at most `statistics` rows has a table of its own, too, with all that sums it up; below a test's
    table that has more rows stands `beyond`, with the table's `{name}`. InputError when there is
    nothing to show.
    """
    if not series:
        raise InputError("nothing was measured yet, so there is no table to show")
    tests: dict[tuple[str, str], list[Series]] = {}
    for entry in series:
        tests.setdefault((entry.plan, entry.test), []).append(entry)
    names: set[str] = set()
    plans = list(dict.fromkeys(plan for plan, _ in tests))
    tables, summaries = [], []
    for (plan, test), of_test in tests.items():
        title = f"{plan}: {test}" if len(plans) > 1 else test
        axes = ("engine", "run") if with_runs else ("engine",)
        table = _table(_stem(test, names), title, plan, test, of_test, axes)
        rows = {metric: _rows(metric, of_test) for metric in _metrics(of_test)}
        summaries += [
            _statistics(_stem(f"{test} {metric}", names), table, metric, of_test)
            for metric, number in rows.items()
            if 0 < number <= statistics
        ]
        if max(rows.values(), default=0) > statistics:
            table = table.model_copy(update={"notes": beyond.format(name=table.name)})
        tables.append(table)
    return Spec(
        railgauge_report=1,
        name=_stem("report", names),
        title=" and ".join(plans) or "railgauge",
        tables=[*tables, *summaries],
    )


def _table(
    name: str,
    title: str,
    plan: str,
    test: str,
    series: Sequence[Series],
    axes: Sequence[str],
) -> TableSpec:
    parameters = dict.fromkeys(name for entry in series for name in entry.case.parameters)
    rows = [
        name
        for name in (*axes, *parameters)
        if len({axis_value(entry, name) for entry in series}) > 1
    ] + ["link"]
    select: dict[str, Selection] = {"plan": plan, "test": test}
    metrics = _metrics(series)
    cells = [_cell(metric, series) for metric in metrics]
    if any(entry.rule for entry in series):
        cells.append(CellSpec(metric=metrics[0], statistic="n", label="Replications"))
    return TableSpec(
        name=name,
        title=title,
        select=select,
        rows=rows,
        cells=cells,
        axes={"link": AxisSpec(title=_link_title(series))},
    )


def _statistics(name: str, table: TableSpec, metric: str, series: Sequence[Series]) -> TableSpec:
    """Return the table of all statistics of one metric, a row a case as in `table`."""
    plain = _cell(metric, series).model_copy(update={"beside": None, "label": ""})
    # Those of their own unit have none of the metric's.
    cells = [
        plain.model_copy(
            update={"statistic": name, **({} if own_unit(name) is None else {"unit": ""})}
        )
        for name in _STATISTICS
    ]
    return table.model_copy(
        update={"name": name, "title": f"{table.title}: {words(metric)}", "cells": cells}
    )


def _rows(metric: str, series: Sequence[Series]) -> int:
    """Return how many rows a table of the metric has; 0 if none of them has a value."""
    of_metric = [entry for entry in series if entry.metric == metric]
    return len(of_metric) if any(len(entry.values) for entry in of_metric) else 0


def _link_title(series: Sequence[Series]) -> str:
    """Return what the names of `series`' links stand for."""
    if any(entry.case.server is not None for entry in series):
        return "Link"
    return "Group" if any(entry.case.members for entry in series) else "Host"


def _metrics(series: Sequence[Series]) -> list[str]:
    """Return the headline metrics there are, and the first metrics of cases that have none."""
    columns, metrics = headlines(), {entry.metric for entry in series}
    headed = {(entry.run, entry.case.key) for entry in series if entry.metric in columns}
    rest = [entry.metric for entry in series if (entry.run, entry.case.key) not in headed]
    present = [name for name in columns if name in metrics]
    return present + list(dict.fromkeys(rest))[:_REST]


def _cell(metric: str, series: Sequence[Series]) -> CellSpec:
    of_metric = [entry for entry in series if entry.metric == metric]
    base = of_metric[0].unit if of_metric else ""
    medians = [median(entry.values.tolist()) for entry in of_metric if len(entry.values)]
    unit = headlines().get(metric, "") or best_unit(display_base(metric, base), medians)
    per_unit = scale(unit, base)
    smallest = min((abs(middle) for middle in medians if middle), default=1.0)
    tiny = per_unit is not None and smallest / float(per_unit) < 0.1
    with_interval = any(len(entry.values) >= LEAST_FOR_INTERVAL for entry in of_metric)
    cell = CellSpec(
        metric=metric,
        beside="interval" if with_interval else None,
        unit=unit,
        label=capitalised(words(metric)),
    )
    return cell.model_copy(update={"digits": 4}) if tiny and not with_interval else cell


def _stem(text: str, used: set[str]) -> str:
    """Return `text` as a file name's stem that isn't among `used`, and add it there."""
    plain = file_stem(text) or "table"
    number = 1
    while (name := plain if number == 1 else f"{plain}-{number}") in used:
        number += 1
    used.add(name)
    return name
