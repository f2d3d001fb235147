"""Ports, suspicions and warnings come out of their tables."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, select

from railgauge.store import log_models as tables
from railgauge.store.log_columns import PORT
from railgauge.store.log_read import of_run
from railgauge.store.models import BenchCase, LaunchRow, Replication, RunCase
from railgauge.store.read import CASE_COLUMNS, fetch, fetch_with_cases, find_run, make_cases
from railgauge.store.records import (
    PortLog,
    StoredPort,
    StoredSuspicion,
    StoredWarning,
    Suspicion,
)

_CASE = len(CASE_COLUMNS)
# Made once, as in read.py.
_SUSPICIONS = (
    select(
        *CASE_COLUMNS,
        RunCase.test,
        tables.SUSPICION.c.number,
        tables.SUSPICION.c.code,
        tables.SUSPICION.c.host,
        tables.SUSPICION.c.message,
    )
    .select_from(RunCase)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(tables.SUSPICION, tables.SUSPICION.c.run_case_id == RunCase.id)
    .where(RunCase.run_id == bindparam("run_id"), tables.SUSPICION.c.number > 0)
    .order_by(RunCase.id, tables.SUSPICION.c.number, tables.SUSPICION.c.place)
)
_LAUNCH_WARNINGS = (
    select(*CASE_COLUMNS, RunCase.test, LaunchRow.warnings)
    .select_from(RunCase)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(LaunchRow, LaunchRow.run_case_id == RunCase.id)
    .where(RunCase.run_id == bindparam("run_id"), LaunchRow.warnings != "[]")
    .order_by(RunCase.id, LaunchRow.id)
)
_LOG_NOTES = (
    select(
        *CASE_COLUMNS,
        RunCase.test,
        tables.LOG_NOTE.c.number,
        tables.LOG_NOTE.c.host,
        tables.LOG_NOTE.c.note,
    )
    .select_from(tables.LOG_NOTE)
    .outerjoin(LaunchRow, LaunchRow.id == tables.LOG_NOTE.c.launch_id)
    .outerjoin(RunCase, RunCase.id == LaunchRow.run_case_id)
    .outerjoin(BenchCase, BenchCase.id == RunCase.case_id)
    .where(tables.LOG_NOTE.c.run_id == bindparam("run_id"))
    .order_by(RunCase.id, tables.LOG_NOTE.c.id)
)


def ports(
    connection: Connection, run_id: int, *, test: str | None = None, case_key: str | None = None
) -> list[StoredPort]:
    """Return what equipment counted: by case, replication, then as it came."""
    find_run(connection, run_id)
    other_counts = _other_port_counts(connection, run_id, test, case_key)
    port = tables.PORT_LOG.c
    columns = (
        RunCase.test,
        Replication.number,
        port.launch_id,
        port.place,
        port.position,
        port.device,
        port.interface,
        *(port[field.column] for field in PORT.values()),
    )
    query = _at_replication(
        of_run(select(*CASE_COLUMNS, *columns), run_id, test, case_key), tables.PORT_LOG
    ).order_by(RunCase.id, Replication.number, port.place)
    stored = []
    for case, row in fetch_with_cases(connection, query):
        test_name, number, launch_id, place, position, device, interface, *values = row
        counts = {
            name: value for name, value in zip(PORT, values, strict=True) if value is not None
        }
        counts |= other_counts.get((launch_id, number, place), {})
        port_log = PortLog(position, device, interface, counts)
        stored.append(StoredPort(run_id, test_name, case, number, port_log))
    return stored


def _other_port_counts(
    connection: Connection, run_id: int, test: str | None, case_key: str | None
) -> dict[tuple[int, int, int], dict[str, int]]:
    """Return the counters without a column of their own, by launch, replication and place."""
    other = tables.PORT_COUNTER_LOG.c
    columns = (other.launch_id, other.number, other.place, other.name, other.value)
    query = _at_replication(
        of_run(select(*columns), run_id, test, case_key), tables.PORT_COUNTER_LOG
    )
    counts: dict[tuple[int, int, int], dict[str, int]] = {}
    for launch_id, number, place, name, value in fetch(connection, query):
        counts.setdefault((launch_id, number, place), {})[name] = value
    return counts


def _at_replication(query: Select[*tuple[Any, ...]], table: Table) -> Select[*tuple[Any, ...]]:
    return query.join(
        table,
        # Plus 0, as in log_read.py.
        (table.c.launch_id == Replication.launch_id) & (table.c.number == Replication.number + 0),
    )


def suspicions(connection: Connection, run_id: int) -> list[StoredSuspicion]:
    """Return why replications are suspect: by case, replication, then as they came."""
    find_run(connection, run_id)
    return [
        StoredSuspicion(test, case, number, Suspicion(*suspicion))
        for case, (test, number, *suspicion) in fetch_with_cases(
            connection, _SUSPICIONS, run_id=run_id
        )
    ]


def warnings(connection: Connection, run_id: int) -> list[StoredWarning]:
    """Return the launches' warnings, then the notes on logs, each by case and as they came.

    Equal ones of several of a case's launches come once. A launch of a group's pairs stands for
    the first of them.
    """
    find_run(connection, run_id)
    stored = [
        StoredWarning(test, case, None, message)
        for case, (test, messages) in fetch_with_cases(connection, _LAUNCH_WARNINGS, run_id=run_id)
        for message in json.loads(messages)
    ]
    distinct: dict[tuple[object, ...], StoredWarning] = {}
    for warning in [*stored, *_notes(connection, run_id)]:
        key = warning.case and warning.case.key
        distinct[warning.test, key, warning.replication, warning.message] = warning
    return list(distinct.values())


def _notes(connection: Connection, run_id: int) -> list[StoredWarning]:
    rows = list(fetch(connection, _LOG_NOTES, run_id=run_id))
    cases = iter(make_cases(connection, [row[:_CASE] for row in rows if row[0] is not None]))
    return [
        StoredWarning(
            row[_CASE] or "",
            None if row[0] is None else next(cases),
            row[_CASE + 1],
            f"counters of {row[_CASE + 2]}: {row[_CASE + 3]}",
        )
        for row in rows
    ]
