"""The tables shown when nobody defined any: one for each test, its headline metrics as columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.errors import InputError
from railgauge.base.number import best_unit, scale
from railgauge.plan.catalogue.headlines import TABLE_HEADLINES
from railgauge.report.definition.model import CellSpec, Spec, Statistic, TableSpec
from railgauge.report.definition.model_parts import AxisSpec, Selection
from railgauge.report.tables.axes import axis_value
from railgauge.report.tables.notes import words
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.store import Store

# Where an engine has none of those.
_OTHERS = 4
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
    series = store.series(run_ids, TABLE_HEADLINES.keys())
    # A case that gave none of these metrics has no series there.
    shown = {(one.run, one.test, one.case.key) for one in series}
    planned = {(run, one.test, one.case.key) for run in run_ids for one in store.run(run).cases}
    every = series if planned <= shown else store.series(run_ids)
    measured = {(one.run, one.test) for one in every if len(one.values)}
    # A test skipped as a whole has no metric of its own: it shows what its engine would have told.
    return [one for one in every if (one.run, one.test) in measured] + [
        one for one in series if one.skipped and (one.run, one.test) not in measured
    ]


def default_spec(series: Sequence[Series], *, statistics: float = 0) -> Spec:
    """Return a definition that shows all of `series`: one table for each test of each plan.

    Rows are the parameters that vary and the link (or host); columns the medians of the headline
    metrics, in units that suit the values. Each of those metrics that has at most `statistics`
    rows has a table of its own, too, with all that sums it up. InputError when there is nothing to
    show.
    """
    if not series:
        raise InputError("nothing was measured yet, so there is no table to show")
    tests: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        tests.setdefault((one.plan, one.test), []).append(one)
    names: set[str] = set()
    several_plans = len({plan for plan, _ in tests}) > 1
    tables, summaries = [], []
    for (plan, test), those in tests.items():
        title = f"{plan}: {test}" if several_plans else test
        table = _table(_stem(test, names), title, plan, test, those)
        tables.append(table)
        summaries += [
            _statistics(_stem(f"{test} {metric}", names), table, metric, those)
            for metric in _metrics(those)
            if 0 < _rows(metric, those) <= statistics
        ]
    plans = " and ".join(dict.fromkeys(plan for plan, _ in tests))
    return Spec(
        railgauge_report=1,
        name=_stem("report", names),
        title=plans or "railgauge",
        tables=[*tables, *summaries],
    )


def _table(name: str, title: str, plan: str, test: str, series: Sequence[Series]) -> TableSpec:
    parameters = dict.fromkeys(key for one in series for key in one.case.parameters)
    rows = [key for key in parameters if len({axis_value(one, key) for one in series}) > 1]
    rows = [key for key in ("run",) if len({one.run for one in series}) > 1] + rows + ["link"]
    select: dict[str, Selection] = {"plan": plan, "test": test}
    if len({one.case.engine for one in series}) > 1:
        rows.insert(0, "engine")
    metrics = _metrics(series)
    cells = [_cell(metric, series) for metric in metrics]
    if any(one.rule for one in series):
        cells.append(CellSpec(metric=metrics[0], statistic="n", label="Replications"))
    return TableSpec(
        name=name,
        title=title,
        select=select,
        rows=rows,
        cells=cells,
        axes={"link": AxisSpec(title=_where(series))},
    )


def _statistics(name: str, table: TableSpec, metric: str, series: Sequence[Series]) -> TableSpec:
    """Return the table of all statistics of one metric, a row a case as in `table`."""
    plain = _cell(metric, series)
    cells = []
    for statistic in _STATISTICS:
        digits = plain.digits + (statistic in ("stdev", "mean_absolute_deviation"))
        # These have their own unit.
        unit = "" if statistic in ("n", "cv", "outliers") else plain.unit
        cells.append(CellSpec(metric=metric, statistic=statistic, unit=unit, digits=digits))
    return table.model_copy(
        update={"name": name, "title": f"{table.title}: {words(metric)}", "cells": cells}
    )


def _rows(metric: str, series: Sequence[Series]) -> int:
    """Return how many rows a table of the metric has; 0 if none of them has a value."""
    found = [one for one in series if one.metric == metric]
    return len(found) if any(len(one.values) for one in found) else 0


def _where(series: Sequence[Series]) -> str:
    """Return what the names of `series`' links stand for."""
    if any(one.case.server is not None for one in series):
        return "Link"
    return "Group" if any(one.case.members for one in series) else "Host"


def _metrics(series: Sequence[Series]) -> list[str]:
    """Return the headline metrics there are, and the first metrics of cases that have none."""
    there = {one.metric for one in series}
    headed = {(one.run, one.case.key) for one in series if one.metric in TABLE_HEADLINES}
    others = dict.fromkeys(one.metric for one in series if (one.run, one.case.key) not in headed)
    return [name for name in TABLE_HEADLINES if name in there] + list(others)[:_OTHERS]


def _cell(metric: str, series: Sequence[Series]) -> CellSpec:
    those = [one for one in series if one.metric == metric and len(one.values)]
    base = next((one.unit for one in series if one.metric == metric), "")
    medians = [float(np.median(one.values)) for one in those]
    unit = TABLE_HEADLINES.get(metric, "") or best_unit(base, medians)
    per_unit = scale(unit, base)
    smallest = min((abs(median) for median in medians if median), default=1.0)
    tiny = per_unit is not None and smallest / float(per_unit) < 0.1
    label = words(metric)
    return CellSpec(
        metric=metric,
        statistic="median",
        unit=unit,
        digits=4 if tiny else 2,
        label=label[:1].upper() + label[1:],
    )


def stem(text: str) -> str:
    """Return what is left of `text` in a file's name: a-z, 0-9 and `-`, at most 50 of them."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:50]


def _stem(text: str, taken: set[str]) -> str:
    """Return `text` as a file name's stem that isn't among `taken`, and add it there."""
    plain = stem(text) or "table"
    number = 1
    while (name := plain if number == 1 else f"{plain}-{number}") in taken:
        number += 1
    taken.add(name)
    return name
