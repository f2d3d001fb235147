"""Which cases and metrics a database knows, and which of its runs have system logs."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from railgauge.plan.case_names import NamedCase
from railgauge.plan.cases import Case
from railgauge.plan.partial import ONLY
from railgauge.store.log_models import LOG, PORT_LOG
from railgauge.store.models import (
    BenchCase,
    LaunchRow,
    Metric,
    Replication,
    Run,
    RunCase,
    RunFile,
    RunMetric,
)
from railgauge.store.read import CASE_COLUMNS, fetch, fetch_with_cases
from railgauge.store.records import CaseTest
from railgauge.store.write import chunks


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


def plan_cases(
    connection: Connection, plans: Iterable[str] | None = None
) -> dict[str, list[NamedCase]]:
    """Return the cases of the runs of each plan (all, if none are named).

    Of cases that differ in their places alone a test has the first.
    """
    names = connection.scalars(select(Run.plan).distinct()) if plans is None else plans
    return {name: cases for name in names if (cases := _plan_cases(connection, name))}


def _plan_cases(connection: Connection, plan: str) -> list[NamedCase]:
    # Numbers first, by the index that holds all three: a year's runs have a million cases.
    runs = select(Run.id).where(Run.plan == plan)
    measured = (
        select(RunCase.test, RunCase.case_id).where(RunCase.run_id.in_(runs)).distinct().subquery()
    )
    first = (
        select(measured.c.test, func.min(BenchCase.id).label("id"))
        .join(BenchCase, BenchCase.id == measured.c.case_id)
        .group_by(measured.c.test, BenchCase.engine, BenchCase.parameters)
        .subquery()
    )
    query = select(*CASE_COLUMNS, first.c.test).join(first, first.c.id == BenchCase.id)
    return [
        NamedCase(test, case)
        for case, (test,) in fetch_with_cases(connection, query.order_by(BenchCase.id))
    ]


def run_plans(connection: Connection, runs: Iterable[int]) -> set[str]:
    """Return the names of the plans that the runs are of."""
    return {
        plan for run in runs for plan in connection.scalars(select(Run.plan).where(Run.id == run))
    }


def case_tests(
    connection: Connection, plans: Iterable[str], keys: Iterable[str]
) -> dict[str, list[CaseTest]]:
    """Return, by case key, in which tests the runs of these plans had it, the oldest run first."""
    partial = set(connection.scalars(select(RunFile.run_id).where(RunFile.name == ONLY)))
    query = (
        select(BenchCase.key, RunCase.run_id, RunCase.test)
        .join(RunCase, RunCase.case_id == BenchCase.id)
        .join(Run, Run.id == RunCase.run_id)
        .where(Run.plan.in_(list(plans)))
        .order_by(Run.started_at, RunCase.run_id, RunCase.id)
    )
    tests: dict[str, list[CaseTest]] = {}
    for chunk in chunks(keys):
        for key, run, test in fetch(connection, query.where(BenchCase.key.in_(chunk))):
            tests.setdefault(key, []).append(CaseTest(run, test, run in partial))
    return tests


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
