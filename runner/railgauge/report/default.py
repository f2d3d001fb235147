"""The tables shown when nobody defined any: one for each test, its headline metrics as columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from railgauge.analysis import summarise
from railgauge.errors import InputError
from railgauge.report.axes import axis_value
from railgauge.report.model import AxisSpec, CellSpec, Selection, Spec, TableSpec
from railgauge.report.number import best_unit, scale
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.store import Store

# The metrics that say most, in the order of their columns; "" lets the values pick the unit.
_HEADLINE_UNITS = {
    "throughput": "",
    "reverse_throughput": "",
    "total_throughput": "",
    "local_throughput": "",
    "loss_rate": "%",
    "latency": "",
    "time_p50": "",
    "rtt_p50": "",
    "rtt_p99": "",
    "operation_rate": "",
    "operations_per_cycle": "",
    "clock": "",
    "accesses": "",
    "iops": "",
    "latency_p50": "",
    "latency_p99": "",
    "fsync_time": "",
    "connection_rate": "",
    "connect_p50": "",
    "connect_p99": "",
    "wall_time": "",
}
# The same for a page about one case, where the loads of its CPUs stand beside.
HEADLINES = {
    **_HEADLINE_UNITS,
    "client_cpu_per_gigabyte": "s",
    "server_cpu_per_gigabyte": "s",
}
# Where an engine has none of those.
_OTHERS = 4


def default_series(store: Store, run_ids: Sequence[int]) -> list[Series]:
    """Return what the default tables of these runs show, without reading every metric."""
    series = store.series(run_ids, _HEADLINE_UNITS.keys())
    # A case without any of these metrics looks like one that was never measured.
    shown = {(one.run, one.test) for one in series if len(one.values)}
    planned = {(number, one.test) for number in run_ids for one in store.run(number).cases}
    if planned <= shown:
        return series
    every = store.series(run_ids)
    # A test skipped as a whole has no metric of its own: it shows what its engine would have told.
    there = {(one.run, one.test) for one in every}
    return every + [one for one in series if one.skipped and (one.run, one.test) not in there]


def default_spec(series: Sequence[Series]) -> Spec:
    """Return a definition that shows all of `series`: one table for each test of each plan.

    Rows are the parameters that vary and the link (or host); columns the headline metrics, in
    units that suit the values. InputError when there is nothing to show.
    """
    if not series:
        raise InputError("nothing was measured yet, so there is no table to show")
    tests: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        tests.setdefault((one.plan, one.test), []).append(one)
    names: set[str] = set()
    several_plans = len({plan for plan, _ in tests}) > 1
    tables = [
        _table(_stem(test, names), f"{plan}: {test}" if several_plans else test, plan, test, those)
        for (plan, test), those in tests.items()
    ]
    plans = " and ".join(dict.fromkeys(plan for plan, _ in tests))
    return Spec(
        railgauge_report=1, name=_stem("report", names), title=plans or "railgauge", tables=tables
    )


def _table(name: str, title: str, plan: str, test: str, series: Sequence[Series]) -> TableSpec:
    parameters = dict.fromkeys(key for one in series for key in one.case.parameters)
    rows = [key for key in parameters if len({axis_value(one, key) for one in series}) > 1]
    rows = [key for key in ("run",) if len({one.run for one in series}) > 1] + rows + ["link"]
    select: dict[str, Selection] = {"plan": plan, "test": test}
    if len({one.case.engine for one in series}) > 1:
        rows.insert(0, "engine")
    return TableSpec(
        name=name,
        title=title,
        select=select,
        rows=rows,
        cells=[_cell(metric, series) for metric in _metrics(series)],
        axes={"link": AxisSpec(title=_where(series))},
    )


def _where(series: Sequence[Series]) -> str:
    """Return what the names of `series`' links stand for."""
    if any(one.case.server is not None for one in series):
        return "Link"
    return "Group" if any(one.case.members for one in series) else "Host"


def _metrics(series: Sequence[Series]) -> list[str]:
    there = dict.fromkeys(one.metric for one in series)
    return [name for name in _HEADLINE_UNITS if name in there] or list(there)[:_OTHERS]


def _cell(metric: str, series: Sequence[Series]) -> CellSpec:
    those = [one for one in series if one.metric == metric and len(one.values)]
    base = next((one.unit for one in series if one.metric == metric), "")
    means = [summarise(one.values).mean for one in those]
    unit = _HEADLINE_UNITS.get(metric, "") or best_unit(base, means)
    per_unit = scale(unit, base)
    smallest = min((abs(mean) for mean in means if mean), default=1.0)
    tiny = per_unit is not None and smallest / float(per_unit) < 0.1
    return CellSpec(metric=metric, unit=unit, digits=4 if tiny else 2)


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
