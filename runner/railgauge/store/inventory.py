"""Which cases and metrics a database knows, and which of its runs have system logs."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select

from railgauge.plan.cases import Case
from railgauge.store.log_models import LOG, PORT_LOG
from railgauge.store.models import BenchCase, LaunchRow, Metric, Replication, RunCase, RunMetric
from railgauge.store.read import CASE_COLUMNS, fetch, fetch_with_cases


def all_cases(connection: Connection) -> dict[str, Case]:
    """Return the cases of all runs by their keys."""
    query = select(*CASE_COLUMNS).order_by(BenchCase.id)
    return {case.key: case for case, _ in fetch_with_cases(connection, query)}


def metric_names(connection: Connection) -> dict[str, list[str]]:
    """Return the names of each engine's metrics, in the order in which it lists them."""
    names: dict[str, dict[str, None]] = {}
    for engine, name in connection.execute(select(Metric.engine, Metric.name).order_by(Metric.id)):
        names.setdefault(engine, {})[name] = None
    return {engine: list(of_engine) for engine, of_engine in names.items()}


def has_start_times(connection: Connection, run: int) -> bool:
    """Return whether any replication of the run knows when it began."""
    query = select(Replication.number).join(RunCase, RunCase.id == Replication.run_case_id)
    query = query.where(RunCase.run_id == run, Replication.started_at.is_not(None)).limit(1)
    return connection.execute(query).first() is not None


def case_names(connection: Connection, run: int) -> set[tuple[str, str]]:
    """Return the test and the case key of each case of the run."""
    query = select(RunCase.test, BenchCase.key).join(BenchCase, BenchCase.id == RunCase.case_id)
    return {(test, key) for test, key in fetch(connection, query.where(RunCase.run_id == run))}


def directed_metrics(connection: Connection, runs: Iterable[int]) -> set[str]:
    """Return the names of metrics of which more or less is better in any of the runs."""
    query = select(Metric.name).join(RunMetric).where(Metric.better.in_(["higher", "lower"]))
    return {
        name for run in runs for (name,) in connection.execute(query.where(RunMetric.run_id == run))
    }


def logged_runs(connection: Connection, runs: Iterable[int]) -> list[int]:
    """Return those of the runs of which a host's kernel or a port counted anything."""
    return [
        run
        for run in runs
        if any(
            connection.execute(
                select(table.c.launch_id)
                .join(LaunchRow, LaunchRow.id == table.c.launch_id)
                .join(RunCase, RunCase.id == LaunchRow.run_case_id)
                .where(RunCase.run_id == run)
                .limit(1)
            ).first()
            for table in (LOG, PORT_LOG)
        )
    ]
