"""The traces that figures show, one of each case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from railgauge.plan.cases import Case, Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Content
from railgauge.report.figures.kinds.kind import AxisRules, FigureLine, Kind, Lacking
from railgauge.report.tables.axes import Axis

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

ABSENT = "set the parameter 'trace' in the plan, and name a run of it"
# What begins each record of such a figure's CSV.
COLUMNS = ("run", "test", "link", "case_key", "replication", "series")


_Draw = Callable[
    [FigureSpec, "Store", Sequence[FigureLine["StoredTrace"]], Callable[[str], Axis]], Content
]


def kind_of_traces(
    draw: _Draw, *, x: AxisRules, y: AxisRules, bins: bool = False
) -> Kind[StoredTrace]:
    """Return the kind of figure that `draw` makes of a trace of each case, at most seven."""
    return Kind(
        x=x,
        y=y,
        most=7,
        absent=ABSENT,
        members=one_of_each_case,
        draw=draw,
        lacking=lacking,
        bins=bins,
    )


def one_of_each_case(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[StoredTrace]:
    """Return each case's trace of the replication that `figure` asks for, else its first."""
    traces: dict[tuple[int, str, str], StoredTrace] = {}
    for trace in store.traces(runs, replication=figure.replication):
        traces.setdefault((trace.run, trace.test, trace.case.key), trace)
    return list(traces.values())


def lacking(
    store: Store, runs: Sequence[int], figure: FigureSpec, present: Sequence[StoredTrace]
) -> list[Lacking]:
    """Return the cases that should have a trace (of that replication, if named) and have none."""
    keys = {(trace.run, trace.test, trace.case.key) for trace in present}
    return [
        Lacking(run.id, run.new.plan, planned.test, planned.case)
        for run in map(store.run, dict.fromkeys(runs))
        for planned in run.cases
        if (run.id, planned.test, planned.case.key) not in keys
        and _is_traced(planned.case)
        and (figure.replication or 1) <= planned.replications
    ]


def _is_traced(case: Case) -> bool:
    """Return whether `case` asks for a trace; a program on one host may call anything a trace."""
    datagrams = case.parameters.get("trace")
    return case.server is not None and isinstance(datagrams, int) and datagrams > 0


def columns(label: str, trace: StoredTrace) -> tuple[Value, ...]:
    """Return the values of COLUMNS."""
    return trace.run, trace.test, trace.case.link, trace.case.key, trace.replication, label
