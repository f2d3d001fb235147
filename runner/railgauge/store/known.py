"""Which cases and metrics a database knows, and which of its runs have system logs."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select

from railgauge.plan.cases import Case
from railgauge.store.log_models import LOG, PORT_LOG
from railgauge.store.models import BenchCase, LaunchRow, Metric, Replication, RunCase, RunMetric
from railgauge.store.read import CASE_COLUMNS, fetch, make_cases
from railgauge.store.store import Store


def known_cases(store: Store) -> dict[str, Case]:
    """Return the cases of all runs by their keys."""
    with store.reading() as connection:
        rows = list(fetch(connection, select(*CASE_COLUMNS).order_by(BenchCase.id)))
        return {case.key: case for case in make_cases(connection, rows)}


def known_metrics(store: Store) -> dict[str, list[str]]:
    """Return the names of each engine's metrics, in the order in which it tells them."""
    with store.reading() as connection:
        found: dict[str, dict[str, None]] = {}
        for engine, name in connection.execute(
            select(Metric.engine, Metric.name).order_by(Metric.id)
        ):
            found.setdefault(engine, {})[name] = None
    return {engine: list(names) for engine, names in found.items()}


def tells_time(store: Store, run: int) -> bool:
    """Return whether any replication of the run knows when it began."""
    query = select(Replication.number).join(RunCase, RunCase.id == Replication.run_case_id)
    query = query.where(RunCase.run_id == run, Replication.started_at.is_not(None)).limit(1)
    with store.reading() as connection:
        return connection.execute(query).first() is not None


def planned_names(store: Store, run: int) -> set[tuple[str, str]]:
    """Return the test and the case key of each case of the run."""
    query = select(RunCase.test, BenchCase.key).join(BenchCase, BenchCase.id == RunCase.case_id)
    with store.reading() as connection:
        return {(test, key) for test, key in fetch(connection, query.where(RunCase.run_id == run))}


def directed_metrics(store: Store, runs: Iterable[int]) -> set[str]:
    """Return the names of metrics of which more or less is better in any of the runs."""
    query = select(Metric.name).join(RunMetric).where(Metric.better.in_(["higher", "lower"]))
    with store.reading() as connection:
        return {
            name
            for run in runs
            for (name,) in connection.execute(query.where(RunMetric.run_id == run))
        }


def counting_runs(store: Store, runs: Iterable[int]) -> list[int]:
    """Return those of the runs of which a host's kernel or a port counted anything."""
    with store.reading() as connection:
        found = []
        for run in runs:
            any_log, any_port = (
                select(table.c.launch_id)
                .join(LaunchRow, LaunchRow.id == table.c.launch_id)
                .join(RunCase, RunCase.id == LaunchRow.run_case_id)
                .where(RunCase.run_id == run)
                .limit(1)
                for table in (LOG, PORT_LOG)
            )
            if connection.execute(any_log).first() or connection.execute(any_port).first():
                found.append(run)
        return found
