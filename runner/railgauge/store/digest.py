"""Digests that show which stored results changed, without reading every value into Python.

A digest is a text that changes when what it stands for does. Values are never overwritten, but
replications are added (by a resumed run, a copied database), and a file may be replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from railgauge.store.log_models import LOG, SUSPICION
from railgauge.store.models import (
    BenchCase,
    CertificateRow,
    HostFact,
    LaunchRow,
    Metric,
    PeakRow,
    Replication,
    Run,
    RunCase,
    RunFile,
    RunLabel,
)
from railgauge.store.read import RUN_CASE_COLUMNS, fetch
from railgauge.store.write import chunks

# Exact sums of what is left of each value's whole part and of its fraction, divided by a prime:
# sums of the doubles themselves depend on the order, which no database promises.
_PRIME = 1_000_003
_WEIGHT = "(metric_id * 1009 + number)"
_SQLITE = (
    f"count(*), sum((CAST(value AS INTEGER) % {_PRIME}) * {_WEIGHT}),"
    " sum((CAST((value - CAST(value AS INTEGER)) * 1e15 AS INTEGER)"
    f" % {_PRIME}) * {_WEIGHT})"
)
_POSTGRESQL = f"count(*), sum(hashfloat8extended(value, {_WEIGHT})), 0"

CaseName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Digests:
    """Of each run: `settings`, what it and its hosts are; `cases`, by (test, key), what of each.

    `failed` replications, by run; `measured`, the runs that have a value; `over`, those that
    ended, whatever came of them; `certificates` of the boots of its hosts.
    """

    settings: Mapping[int, str]
    cases: Mapping[int, Mapping[CaseName, str]]
    failed: Mapping[int, int]
    measured: Collection[int]
    over: Collection[int]
    certificates: Mapping[int, Sequence[str]]


def log_digest(connection: Connection, run_id: int) -> str:
    """Return the digest of the system logs of a run's replications, and of engines' warnings."""
    launches = select(LaunchRow.id).join(RunCase).where(RunCase.run_id == run_id)
    logs = select(func.count(), func.max(LOG.c.id)).where(LOG.c.launch_id.in_(launches))
    warnings = (
        select(func.count(), func.sum(func.length(LaunchRow.warnings)))
        .join(RunCase)
        .where(RunCase.run_id == run_id)
    )
    return str([tuple(connection.execute(query).one()) for query in (logs, warnings)])


def digests(connection: Connection, metrics: Collection[str]) -> Digests:
    """Return the digests of all runs, in their order by id.

    Of values those count whose metric is one of `metrics` and has a direction; of a case without
    any of these, all.
    """
    values = _values(connection, metrics)
    exceptions, failed_of = _exceptions(connection)
    reasons = _reasons(connection)
    cases: dict[int, dict[CaseName, str]] = {}
    failed: dict[int, int] = {}
    measured: set[int] = set()
    query = (
        select(RunCase.run_id, RunCase.id, BenchCase.key, *RUN_CASE_COLUMNS)
        .join(BenchCase)
        .order_by(RunCase.run_id, RunCase.id)
    )
    for run, number, key, test, *planned in fetch(connection, query):
        parts = (planned, values.get(number), exceptions.get(number), reasons.get(number))
        cases.setdefault(run, {})[test, key] = str(parts)
        failed[run] = failed.get(run, 0) + failed_of.get(number, 0)
        if number in values:
            measured.add(run)
    over = set(connection.scalars(select(Run.id).where(Run.state != "unfinished")))
    certificates = _certificates(connection)
    return Digests(_settings(connection), cases, failed, measured, over, certificates)


def _settings(connection: Connection) -> dict[int, str]:
    """Return what each run is; its texts stay as they are for ever, and so does its uid."""
    facts, peaks, files, labels = (
        _by_run(connection, model.run_id, column)
        for model, column in (
            (HostFact, HostFact.recorded_at),
            (PeakRow, PeakRow.recorded_at),
            (RunFile, RunFile.name),
            (RunLabel, RunLabel.key),
        )
    )
    idle = select(LOG.c.run_id, func.count(), func.max(LOG.c.id)).where(LOG.c.launch_id.is_(None))
    logs = {row[0]: row[1:] for row in fetch(connection, idle.group_by(LOG.c.run_id))}
    query = select(Run.id, Run.uid, Run.plan, Run.started_at, Run.ended_at, Run.state)
    query = query.add_columns(Run.git_commit, func.length(Run.plan_text)).order_by(Run.id)
    return {
        row[0]: str(
            (row[1:], *(of_run.get(row[0]) for of_run in (facts, peaks, files, labels, logs)))
        )
        for row in fetch(connection, query)
    }


def _certificates(connection: Connection) -> dict[int, list[str]]:
    """Return the certificates of the boots of each run's hosts."""
    same_boot = HostFact.value == CertificateRow.boot_id
    query = (
        select(HostFact.run_id, CertificateRow.uid)
        .join(CertificateRow, same_boot)
        .where(HostFact.name == "boot_id")
        .distinct()
        .order_by(HostFact.run_id, CertificateRow.uid)
    )
    by_run: dict[int, list[str]] = {}
    for run, uid in fetch(connection, query):
        by_run.setdefault(run, []).append(uid)
    return by_run


def _by_run(connection: Connection, run: Any, column: Any) -> dict[int, tuple[Any, ...]]:
    query = select(run, func.count(), func.max(column)).group_by(run)
    return {row[0]: row[1:] for row in fetch(connection, query)}


def _values(connection: Connection, metrics: Collection[str]) -> dict[int, tuple[Any, ...]]:
    """Return run_case id -> how many values there are, and their sums."""
    rows = connection.execute(select(Metric.id, Metric.name, Metric.better))
    metric_ids = [
        row.id for row in rows if row.name in metrics and row.better in ("higher", "lower")
    ]
    sums: dict[int, tuple[Any, ...]] = {}
    if metric_ids:
        condition = f"metric_id IN ({', '.join(map(str, metric_ids))})"
        sums |= _sums(connection, condition)
    run_cases = connection.scalars(select(RunCase.id)).all()
    for chunk in chunks([number for number in run_cases if number not in sums]):
        sums |= _sums(connection, f"run_case.id IN ({', '.join(map(str, chunk))})")
    return sums


def _sums(connection: Connection, condition: str) -> Iterable[tuple[int, tuple[Any, ...]]]:
    sums = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
    # Case by case, so that what stands between the metrics asked for isn't read; `condition` is
    # made of numbers that the database gave.
    query = (
        f"SELECT run_case.id, {sums} FROM run_case CROSS JOIN value"  # noqa: S608
        f" WHERE value.run_case_id = run_case.id AND value.number > 0 AND {condition}"
        " GROUP BY run_case.id"
    )
    rows = connection.exec_driver_sql(query)
    return ((row[0], tuple(map(str, row[1:]))) for row in rows)


def _exceptions(connection: Connection) -> tuple[dict[int, list[Any]], dict[int, int]]:
    """Return, by run_case id, the replications that aren't ok, and how many of them failed."""
    exceptions: dict[int, list[Any]] = {}
    failed: dict[int, int] = {}
    query = (
        select(
            Replication.run_case_id,
            Replication.number,
            Replication.status,
            Replication.error_code,
            Replication.error_message,
        )
        .where(Replication.number > 0, Replication.status != "ok")
        .order_by(Replication.run_case_id, Replication.number)
    )
    for number, *columns in fetch(connection, query):
        exceptions.setdefault(number, []).append(columns)
        failed[number] = failed.get(number, 0) + (columns[1] == "failed")
    return exceptions, failed


def _reasons(connection: Connection) -> dict[int, tuple[Any, ...]]:
    """Return, by run_case id, how many reasons its replications are suspect for."""
    suspicion = SUSPICION.c
    query = select(suspicion.run_case_id, func.count(), func.sum(func.length(suspicion.message)))
    rows = fetch(connection, query.group_by(suspicion.run_case_id))
    return {number: tuple(map(str, counts)) for number, *counts in rows}
