"""All runs at once without what they measured, as a history or a list needs them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, select

from railgauge.plan.partial import ONLY
from railgauge.store.counts import COUNT_COLUMNS, RunCounts, count_runs
from railgauge.store.models import Run, RunFile, RunLabel
from railgauge.store.records import RunState, RunSummary

_SUMMED: Sequence[ColumnElement[Any]] = (
    Run.id,
    Run.plan,
    Run.state,
    Run.origin,
    Run.started_at,
    Run.ended_at,
    Run.git_commit,
    Run.git_dirty,
    *(Run.__table__.c[name] for name in COUNT_COLUMNS),
)


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run without anything it measured; `started_at` is ISO 8601, UTC.

    A `partial` one measured some of its plan's cases only, as those that confirm others do.
    """

    id: int
    plan: str
    started_at: str
    git_commit: str
    git_dirty: bool
    partial: bool


def run_heads(connection: Connection, plan: str | None = None) -> list[RunHead]:
    """Return all runs, or those of a plan, oldest first; unlike `Store.runs` it counts nothing."""
    query = select(Run.id, Run.plan, Run.started_at, Run.git_commit, Run.git_dirty)
    if plan is not None:
        query = query.where(Run.plan == plan)
    partial = _partial(connection)
    rows = connection.execute(query.order_by(Run.started_at, Run.id))
    return [RunHead(*row, partial=row.id in partial) for row in rows]


def plan_text(connection: Connection, run_id: int) -> str:
    """Return the plan of a run as it was then, "" of one that was imported."""
    return connection.scalar(select(Run.plan_text).where(Run.id == run_id)) or ""


def run_summaries(connection: Connection, runs: Collection[int] | None = None) -> list[RunSummary]:
    """Return a line for each of the runs (None: of all), oldest first.

    Only of those that aren't over replications are counted.
    """
    query = select(*_SUMMED).order_by(Run.started_at, Run.id)
    rows = connection.execute(query if runs is None else query.where(Run.id.in_(runs))).all()
    uncounted = [row.id for row in rows if row.case_count is None]
    counted = count_runs(connection, uncounted) if uncounted else {}
    partial, labels = _partial(connection), _labels(connection)
    return [
        _summary(row, counted.get(row.id), row.id in partial, labels.get(row.id, {}))
        for row in rows
    ]


def _summary(
    row: Any, counted: RunCounts | None, partial: bool, labels: dict[str, str]
) -> RunSummary:
    counts = counted or RunCounts(*(getattr(row, name) for name in COUNT_COLUMNS))
    return RunSummary(
        id=row.id,
        plan=row.plan,
        state=cast(RunState, row.state),
        origin=row.origin,
        started_at=row.started_at,
        ended_at=row.ended_at or "",
        git_commit=row.git_commit,
        git_dirty=row.git_dirty,
        cases=counts.case_count,
        asked=counts.asked_count,
        measured=counts.measured_count,
        failed=counts.failed_count,
        skipped=counts.skipped_count,
        partial=partial,
        labels=labels,
    )


def _partial(connection: Connection) -> set[int]:
    return set(connection.scalars(select(RunFile.run_id).where(RunFile.name == ONLY)))


def _labels(connection: Connection) -> dict[int, dict[str, str]]:
    """Return run -> its labels, if it has any."""
    labels: dict[int, dict[str, str]] = {}
    query = select(RunLabel.run_id, RunLabel.key, RunLabel.value)
    for run_id, key, value in connection.execute(query.order_by(RunLabel.key)):
        labels.setdefault(run_id, {})[key] = value
    return labels
