"""The traces that figures show, one of each case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from railgauge.plan.cases import Case, Value
from railgauge.report.figures.figure import Content
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, Lacking

if TYPE_CHECKING:
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

# What begins each record of such a figure's CSV.
COLUMNS = ("run", "test", "link", "case_key", "replication", "series")


_Draw = Callable[["FigureSpec", "Store", Sequence[FigureLine["StoredTrace"]]], Content]


def kind_of_traces(
    draw: _Draw,
    *,
    x: AxisRules,
    y: AxisRules,
    bins: bool = False,
    parameter: Literal["trace", "series"] = "trace",
) -> Kind[StoredTrace]:
    """Return the kind of figure that `draw` makes of a trace of each case, at most seven.

    `parameter` is the one that asks for it: "trace" or "series".
    """
    return Kind(
        x=x,
        y=y,
        most=7,
        absent=f"set the parameter {parameter!r} in the plan, and name a run of it",
        members=partial(one_of_each_case, parameter),
        draw=lambda figure, store, lines, _: draw(figure, store, lines),
        lacking=partial(lacking, parameter),
        bins=bins,
        recorded=parameter,
    )


def one_of_each_case(
    parameter: str, store: Store, runs: Sequence[int], figure: FigureSpec
) -> list[StoredTrace]:
    """Return each case's trace of the replication that `figure` asks for, else its first."""
    traces: dict[tuple[int, str, str], StoredTrace] = {}
    read = store.interval_series if parameter == "series" else store.traces
    for trace in read(runs, replication=figure.replication):
        traces.setdefault((trace.run, trace.test, trace.case.key), trace)
    return list(traces.values())


def lacking(
    parameter: str,
    store: Store,
    runs: Sequence[int],
    figure: FigureSpec,
    present: Sequence[StoredTrace],
) -> list[Lacking]:
    """Return the cases that should have a trace (of that replication, if named) and have none."""
    keys = {(trace.run, trace.test, trace.case.key) for trace in present}
    return [
        Lacking(run.id, run.new.plan, planned.test, planned.case)
        for run in map(store.run, dict.fromkeys(runs))
        for planned in run.cases
        if (run.id, planned.test, planned.case.key) not in keys
        and _is_traced(parameter, planned.case)
        and (figure.replication or 1) <= planned.replications
    ]


def _is_traced(parameter: str, case: Case) -> bool:
    """Return whether `case` asks for a trace; a program on one host may call anything a trace."""
    amount = case.parameters.get(parameter)
    return case.server is not None and isinstance(amount, int | float) and amount > 0


def columns(label: str, trace: StoredTrace) -> tuple[Value, ...]:
    """Return the values of COLUMNS."""
    return trace.run, trace.test, trace.case.link, trace.case.key, trace.replication, label
