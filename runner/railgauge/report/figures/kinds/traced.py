"""The traces that the kinds which show traces choose, one of each case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from railgauge.plan.cases import Case, Value
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.kinds.base import Lacking

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

ABSENT = "set the parameter 'trace' in the plan, and name a run of it"
# What begins each record of such a figure's CSV.
COLUMNS = ("run", "test", "link", "case_key", "replication", "series")


def one_of_each_case(store: Store, runs: Sequence[int], figure: FigureSpec) -> list[StoredTrace]:
    """Return each case's trace of the replication that `figure` asks for, else its first."""
    found: dict[tuple[int, str, str], StoredTrace] = {}
    for one in store.traces(runs, replication=figure.replication):
        found.setdefault((one.run, one.test, one.case.key), one)
    return list(found.values())


def lacking(
    store: Store, runs: Sequence[int], figure: FigureSpec, found: Sequence[StoredTrace]
) -> list[Lacking]:
    """Return the cases that asked for a trace, of that replication if one is named, without any."""
    there = {(one.run, one.test, one.case.key) for one in found}
    return [
        Lacking(run.id, run.new.plan, one.test, one.case)
        for run in map(store.run, dict.fromkeys(runs))
        for one in run.cases
        if (run.id, one.test, one.case.key) not in there
        and _asked(one.case)
        and (figure.replication or 1) <= one.replications
    ]


def _asked(case: Case) -> bool:
    """Return whether `case` asks for a trace; a program on one host may call anything a trace."""
    asked = case.parameters.get("trace")
    return case.server is not None and isinstance(asked, int) and asked > 0


def columns(label: str, one: StoredTrace) -> tuple[Value, ...]:
    """Return the values of COLUMNS."""
    return one.run, one.test, one.case.link, one.case.key, one.replication, label
