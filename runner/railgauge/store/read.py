"""What comes out of the tables, except the measured values themselves (series.py)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from railgauge.base.errors import InputError
from railgauge.plan.cases import Case
from railgauge.store.models import (
    BenchCase,
    HostFact,
    HostList,
    Metric,
    Replication,
    Run,
    RunCase,
    RunFile,
    RunLabel,
    RunMetric,
)
from railgauge.store.peak_rows import stored_peaks
from railgauge.store.records import (
    Failure,
    NewRun,
    Peak,
    PlannedCase,
    RunConditions,
    RunState,
    StoredRun,
)
from railgauge.store.write import RUN_COLUMNS, OpenRun, look_up

CASE_COLUMNS: Sequence[ColumnElement[Any]] = [
    BenchCase.key,
    BenchCase.engine,
    BenchCase.link,
    BenchCase.client_host,
    BenchCase.server_host,
    BenchCase.parameters,
    BenchCase.members_id,
]
_CASE = len(CASE_COLUMNS)
# What a run says of a case of it.
RUN_CASE_COLUMNS: Sequence[ColumnElement[Any]] = [
    RunCase.test,
    RunCase.replications,
    RunCase.skipped,
    RunCase.least,
    RunCase.rule,
    RunCase.ended,
]

# Statements are made once: to make one takes longer than to run it on a small run.
_RUN = select(Run.__table__).where(Run.id == bindparam("run_id"))
_RUN_CASES = (
    select(*CASE_COLUMNS, *RUN_CASE_COLUMNS)
    .join(RunCase, RunCase.case_id == BenchCase.id)
    .where(RunCase.run_id == bindparam("run_id"))
    .order_by(RunCase.id)
)
_FILES = (
    select(RunFile.name, RunFile.text)
    .where(RunFile.run_id == bindparam("run_id"))
    .order_by(RunFile.name)
)
_LABELS = (
    select(RunLabel.key, RunLabel.value)
    .where(RunLabel.run_id == bindparam("run_id"))
    .order_by(RunLabel.key)
)
_FACTS = (
    select(HostFact.host, HostFact.name, HostFact.value)
    .where(HostFact.run_id == bindparam("run_id"))
    .order_by(HostFact.host, HostFact.name, HostFact.recorded_at)
)
_FAILURES = (
    select(
        *CASE_COLUMNS,
        RunCase.test,
        Replication.number,
        Replication.started_at,
        Replication.error_code,
        Replication.error_message,
    )
    .select_from(RunCase)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(Replication, Replication.run_case_id == RunCase.id)
    .where(
        RunCase.run_id == bindparam("run_id"),
        Replication.number > 0,
        Replication.status != "ok",
        Replication.status == "failed",
    )
    .order_by(RunCase.id, Replication.number)
)


def make_cases(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Case]:
    """Return the cases in rows of CASE_COLUMNS; equal parameters and members are shared."""
    texts = dict.fromkeys(row[5] for row in rows)
    parameters = dict(zip(texts, json_texts(texts), strict=True))
    members = _host_lists(connection, {row[6] for row in rows} - {None})
    return [
        Case(key, engine, link, client, server, parameters[text], members.get(group, ()))
        for key, engine, link, client, server, text, group in rows
    ]


def fetch_with_cases(
    connection: Connection, query: Select[*tuple[Any, ...]], **parameters: object
) -> Iterator[tuple[Case, tuple[Any, ...]]]:
    """Yield the case and the other columns of each row of a query for CASE_COLUMNS and others."""
    rows = list(fetch(connection, query, **parameters))
    cases = make_cases(connection, [row[:_CASE] for row in rows])
    return ((case, row[_CASE:]) for case, row in zip(cases, rows, strict=True))


def json_texts(texts: Iterable[str]) -> list[Any]:
    """Return what each of the JSON texts says; one after another would take twice the time."""
    return cast(list[Any], json.loads(f"[{','.join(texts)}]"))


def _host_lists(connection: Connection, ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    lists = look_up(connection, HostList.id, HostList.hosts, sorted(ids))
    return {number: tuple(json.loads(hosts)) for number, hosts in lists.items()}


def fetch(
    connection: Connection, query: Select[*tuple[Any, ...]], **parameters: object
) -> Iterable[tuple[Any, ...]]:
    """Return the query's rows by the driver's own cursor: SQLAlchemy's would double the time.

    `parameters` are the values of its bound ones.
    """
    return cast(Iterable[tuple[Any, ...]], connection.execute(query, parameters).cursor)


def find_run(connection: Connection, run_id: int) -> Any:
    """Return the row of that run; InputError if there is none."""
    # PostgreSQL's ids are 32 bits wide and SQLite's 64: neither may see a larger one.
    in_range = 0 < run_id < 2**31
    row = connection.execute(_RUN, {"run_id": run_id}).first() if in_range else None
    if row is None:
        raise InputError(f"there is no run {run_id} in this database: `railgauge list` shows them")
    return row


def stored_run(connection: Connection, run_id: int) -> StoredRun:
    """Return all about one run but its values."""
    row = find_run(connection, run_id)
    conditions = _conditions(connection, row)
    return StoredRun(
        new=conditions.new,
        state=conditions.state,
        facts=conditions.facts,
        id=row.id,
        started_at=row.started_at,
        ended_at=row.ended_at or "",
        cases=tuple(
            PlannedCase(test, case, replications, skipped or "", least, rule or "", ended or "")
            for case, (test, replications, skipped, least, rule, ended) in fetch_with_cases(
                connection, _RUN_CASES, run_id=run_id
            )
        ),
        peaks=stored_peaks(connection, run_id, hosts_only=True),
        uid=row.uid,
    )


def run_conditions(connection: Connection, run_id: int) -> RunConditions:
    """Return what one run was measured under, without its cases, which may be many."""
    return _conditions(connection, find_run(connection, run_id))


def _conditions(connection: Connection, row: Any) -> RunConditions:
    facts: dict[str, dict[str, str]] = {}
    for host, name, value in fetch(connection, _FACTS, run_id=row.id):
        facts.setdefault(host, {})[name] = value
    new = NewRun(
        **{name: getattr(row, name) for name in RUN_COLUMNS},
        files=dict(fetch(connection, _FILES, run_id=row.id)),
        labels=dict(fetch(connection, _LABELS, run_id=row.id)),
    )
    return RunConditions(new, cast(RunState, row.state), facts)


def run_peaks(connection: Connection, run_id: int) -> tuple[Peak, ...]:
    """Return what the run's hosts and links could do at most, by name and resource."""
    find_run(connection, run_id)
    return stored_peaks(connection, run_id)


def smallest_changes(connection: Connection, run_id: int) -> dict[tuple[str, str], float]:
    """Return (engine, metric) -> the smallest change that matters to the run's plan, a share.

    Only of those metrics for which it says one.
    """
    find_run(connection, run_id)
    rows = connection.execute(
        select(Metric.engine, Metric.name, RunMetric.smallest_change)
        .join(RunMetric)
        .where(RunMetric.run_id == run_id)
        .order_by(Metric.id)
    )
    return {(engine, name): share for engine, name, share in rows if share is not None}


def open_run(connection: Connection, run_id: int) -> OpenRun:
    """Return the ids that the run's outcomes need."""
    find_run(connection, run_id)
    is_pair = BenchCase.members_id.is_not(None) & BenchCase.server_host.is_not(None)
    cases = connection.execute(
        select(RunCase.test, BenchCase.key, RunCase.id, BenchCase.engine, is_pair)
        .join(BenchCase)
        .where(RunCase.run_id == run_id)
    ).all()
    metrics: dict[str, dict[str, tuple[int, str]]] = {}
    for engine, name, metric_id, unit in connection.execute(
        select(Metric.engine, Metric.name, Metric.id, Metric.unit)
        .join(RunMetric)
        .where(RunMetric.run_id == run_id)
    ):
        metrics.setdefault(engine, {})[name] = metric_id, unit
    return OpenRun(
        id=run_id,
        cases={(test, key): (number, engine) for test, key, number, engine, _ in cases},
        metrics=metrics,
        pairs={row[2] for row in cases if row[4]},
    )


def run_ids(connection: Connection) -> list[int]:
    """Return the id of each run, oldest first."""
    return list(connection.execute(select(Run.id).order_by(Run.started_at, Run.id)).scalars())


def replication_numbers(connection: Connection, run_id: int) -> dict[tuple[str, str], set[int]]:
    """Return (test, case key) -> numbers of the replications that have an outcome.

    A failed one has its outcome, too; warm-ups don't count. Cases without any are left out.
    """
    find_run(connection, run_id)
    names = select(RunCase.id, RunCase.test, BenchCase.key).join(BenchCase)
    outcomes = (
        select(Replication.run_case_id, Replication.number)
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(RunCase.run_id == run_id, Replication.number > 0)
    )
    numbers: dict[int, set[int]] = {}
    for run_case_id, number in fetch(connection, outcomes):
        numbers.setdefault(run_case_id, set()).add(number)
    return {
        (test, key): numbers[run_case_id]
        for run_case_id, test, key in fetch(connection, names.where(RunCase.run_id == run_id))
        if run_case_id in numbers
    }


def failures(connection: Connection, run_id: int) -> list[Failure]:
    """Return the run's failed replications by the order of the cases in the plan."""
    find_run(connection, run_id)
    return [
        Failure(test, case, number, started_at or "", code or "", message or "")
        for case, (test, number, started_at, code, message) in fetch_with_cases(
            connection, _FAILURES, run_id=run_id
        )
    ]
