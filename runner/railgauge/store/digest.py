"""Digests that show which stored results changed, without reading every value into Python.

A digest is a text that changes when what it stands for does. Values are never overwritten, but
replications are added (by a resumed run, a copied database), and a file may be replaced. A run that
is over has its counts until something is added to it (`forget_counts`), and what was measured in it
is as it was when they were stored: only of other runs is it looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, exists, func, select

from railgauge.base.errors import StoreError
from railgauge.store.counts import COUNT_COLUMNS
from railgauge.store.explain import DAMAGED
from railgauge.store.log_models import LOG, SUSPICION
from railgauge.store.models import (
    BenchCase,
    CertificateRow,
    HostFact,
    LaunchRow,
    Measurement,
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

# The cases of runs that something may have been added to.
_UNCOUNTED = select(RunCase.id).join(Run).where(Run.case_count.is_(None))
_MEASURED = select(Run.id).where(
    exists()
    .where(Measurement.run_case_id == RunCase.id, RunCase.run_id == Run.id, Measurement.number > 0)
    .correlate(Run)
)

CaseName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Digests:
    """Of each run: `settings`, what it and its hosts are; `cases`, by (test, key), what of each.

    What a case of a counted run is and measured is told by when that ended, and by its counts.
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
    counted = _counted(connection)
    failed = {run: failed_count for run, (_, failed_count) in counted.items()}
    cases: dict[int, Mapping[CaseName, str]] = {
        run: dict.fromkeys(names, counted[run][0]) if run in counted else {}
        for run, names in _names(connection).items()
    }
    uncounted, failed_of = _uncounted(connection, metrics)
    cases |= uncounted
    failed |= failed_of
    measured = set(connection.scalars(_MEASURED))
    over = set(connection.scalars(select(Run.id).where(Run.state != "unfinished")))
    certificates = _certificates(connection)
    return Digests(_settings(connection), cases, failed, measured, over, certificates)


def _names(connection: Connection) -> dict[int, list[CaseName]]:
    """Return the names of each run's cases in their order; they may be a million of few keys."""
    keys = dict(fetch(connection, select(BenchCase.id, BenchCase.key)))
    query = select(RunCase.run_id, RunCase.test, RunCase.case_id)
    rows = fetch(connection, query.order_by(RunCase.run_id, RunCase.id))
    try:
        return {
            run: [(test, keys[case]) for _, test, case in of_run]
            for run, of_run in groupby(rows, itemgetter(0))
        }
    except KeyError as error:
        reason = f"a run has a case {error} that isn't stored: the database {DAMAGED}"
        raise StoreError(reason) from error


def _uncounted(
    connection: Connection, metrics: Collection[str]
) -> tuple[dict[int, dict[CaseName, str]], dict[int, int]]:
    """Return what each case of uncounted runs measured, and each run's failed replications."""
    run_cases = connection.scalars(_UNCOUNTED).all()
    values = _values(connection, metrics, run_cases)
    exceptions, failed_of = _exceptions(connection)
    reasons, launches = _reasons(connection), _launches(connection)
    cases: dict[int, dict[CaseName, str]] = {}
    failed: dict[int, int] = {}
    query = (
        select(RunCase.run_id, RunCase.id, BenchCase.key, *RUN_CASE_COLUMNS)
        .join(BenchCase)
        .where(RunCase.id.in_(_UNCOUNTED))
        .order_by(RunCase.run_id, RunCase.id)
    )
    for run, number, key, test, *planned in fetch(connection, query):
        reason = reasons.get(number)
        outcomes = values.get(number), exceptions.get(number), reason, launches.get(number)
        cases.setdefault(run, {})[test, key] = str((planned, outcomes))
        failed[run] = failed.get(run, 0) + failed_of.get(number, 0)
    return cases, failed


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


def _counted(connection: Connection) -> dict[int, tuple[str, int]]:
    """Return when each run that is counted ended and its counts, as text, and what failed of it."""
    columns = [Run.__table__.c[name] for name in COUNT_COLUMNS]
    query = select(Run.id, Run.failed_count, Run.ended_at, *columns)
    rows = fetch(connection, query.where(Run.case_count.is_not(None)))
    return {run: (str(outcomes), failed) for run, failed, *outcomes in rows}


def _values(
    connection: Connection, metrics: Collection[str], run_cases: Sequence[int]
) -> dict[int, tuple[Any, ...]]:
    """Return the id of each of `run_cases` that has any -> how many values, and their sums."""
    rows = connection.execute(select(Metric.id, Metric.name, Metric.better))
    metric_ids = [
        row.id for row in rows if row.name in metrics and row.better in ("higher", "lower")
    ]
    sums: dict[int, tuple[Any, ...]] = {}
    if metric_ids:
        for chunk in chunks(run_cases):
            sums |= _sums(connection, chunk, f"metric_id IN ({', '.join(map(str, metric_ids))})")
    for chunk in chunks([number for number in run_cases if number not in sums]):
        sums |= _sums(connection, chunk)
    return sums


def _sums(
    connection: Connection, run_cases: Iterable[int], condition: str = "TRUE"
) -> Iterable[tuple[int, tuple[Any, ...]]]:
    sums = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
    # Case by case, so that what stands between the metrics asked for isn't read; all is made of
    # numbers that the database gave.
    query = (
        f"SELECT run_case.id, {sums} FROM run_case CROSS JOIN value"  # noqa: S608
        f" WHERE run_case.id IN ({', '.join(map(str, run_cases))})"
        f" AND value.run_case_id = run_case.id AND value.number > 0 AND {condition}"
        " GROUP BY run_case.id"
    )
    rows = connection.exec_driver_sql(query)
    return ((row[0], tuple(map(str, row[1:]))) for row in rows)


def _exceptions(connection: Connection) -> tuple[dict[int, list[Any]], dict[int, int]]:
    """Return, by run_case id, those uncounted that aren't ok, and how many of them failed."""
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
        .where(Replication.run_case_id.in_(_UNCOUNTED))
        .order_by(Replication.run_case_id, Replication.number)
    )
    for number, *columns in fetch(connection, query):
        exceptions.setdefault(number, []).append(columns)
        failed[number] = failed.get(number, 0) + (columns[1] == "failed")
    return exceptions, failed


def _reasons(connection: Connection) -> dict[int, tuple[Any, ...]]:
    """Return, by run_case id, how many reasons those uncounted are suspect for."""
    suspicion = SUSPICION.c
    query = (
        select(suspicion.run_case_id, func.count(), func.sum(func.length(suspicion.message)))
        .where(suspicion.run_case_id.in_(_UNCOUNTED))
        .group_by(suspicion.run_case_id)
    )
    rows = fetch(connection, query)
    return {number: tuple(map(str, counts)) for number, *counts in rows}


def _launches(connection: Connection) -> dict[int, tuple[Any, ...]]:
    """Return, by run_case id, how many launches of those uncounted there are, and the last one."""
    query = select(LaunchRow.run_case_id, func.count(), func.max(LaunchRow.id))
    query = query.where(LaunchRow.run_case_id.in_(_UNCOUNTED)).group_by(LaunchRow.run_case_id)
    return {number: tuple(counts) for number, *counts in fetch(connection, query)}
