"""All runs at once without what they measured, as a history needs them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from railgauge.plan.partial import ONLY
from railgauge.store.models import Run, RunFile


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
    partial = set(connection.scalars(select(RunFile.run_id).where(RunFile.name == ONLY)))
    rows = connection.execute(query.order_by(Run.started_at, Run.id))
    return [RunHead(*row, partial=row.id in partial) for row in rows]
