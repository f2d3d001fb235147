"""Ports, suspicions and warnings come out of their tables."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, select

from railgauge.store import log_models as tables
from railgauge.store.log_columns import PORT
from railgauge.store.log_read import of_run
from railgauge.store.models import BenchCase, LaunchRow, Replication, RunCase
from railgauge.store.read import CASE_COLUMNS, fetch, find_run, make_cases
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
_SAID = (
    select(*CASE_COLUMNS, RunCase.test, LaunchRow.warnings)
    .select_from(RunCase)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(LaunchRow, LaunchRow.run_case_id == RunCase.id)
    .where(RunCase.run_id == bindparam("run_id"), LaunchRow.warnings != "[]")
    .order_by(RunCase.id, LaunchRow.id)
)
_NOTED = (
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
    connection: Connection, run_id: int, test: str | None, case_key: str | None
) -> list[StoredPort]:
    """Return the ports' counters by case, replication and place."""
    find_run(connection, run_id)
    port, other = tables.PORT_LOG.c, tables.PORT_COUNTER_LOG.c
    query = (
        of_run(
            select(
                *CASE_COLUMNS,
                RunCase.test,
                Replication.number,
                port.launch_id,
                port.place,
                port.position,
                port.device,
                port.interface,
                *(port[field.column] for field in PORT.values()),
            ),
            run_id,
            test,
            case_key,
        )
        .join(
            tables.PORT_LOG,
            (port.launch_id == Replication.launch_id) & (port.number == Replication.number + 0),
        )
        .order_by(RunCase.id, Replication.number, port.place)
    )
    rows = list(fetch(connection, query))
    others: dict[tuple[int, int, int], dict[str, int]] = {}
    more = of_run(
        select(other.launch_id, other.number, other.place, other.name, other.value),
        run_id,
        test,
        case_key,
    ).join(
        tables.PORT_COUNTER_LOG,
        (other.launch_id == Replication.launch_id) & (other.number == Replication.number + 0),
    )
    for launch_id, number, place, name, value in fetch(connection, more):
        others.setdefault((launch_id, number, place), {})[name] = value
    found = []
    for row, case in zip(rows, make_cases(connection, [row[:_CASE] for row in rows]), strict=True):
        named, number, launch_id, place, position, device, interface, *values = row[_CASE:]
        counts = {
            name: value for name, value in zip(PORT, values, strict=True) if value is not None
        }
        counts |= others.get((launch_id, number, place), {})
        port_log = PortLog(position, device, interface, counts)
        found.append(StoredPort(run_id, named, case, number, port_log))
    return found


def suspicions(connection: Connection, run_id: int) -> list[StoredSuspicion]:
    """Return the suspicions by case, replication and place."""
    find_run(connection, run_id)
    rows = list(fetch(connection, _SUSPICIONS, run_id=run_id))
    cases = make_cases(connection, [row[:_CASE] for row in rows])
    return [
        StoredSuspicion(row[_CASE], case, row[_CASE + 1], Suspicion(*row[_CASE + 2 :]))
        for row, case in zip(rows, cases, strict=True)
    ]


def warnings(connection: Connection, run_id: int) -> list[StoredWarning]:
    """Return the launches' warnings, then the notes on logs, each by case and as they came.

    What several of a case's launches said the same comes once. A launch of a group's pairs speaks
    for the first of them.
    """
    find_run(connection, run_id)
    rows = list(fetch(connection, _SAID, run_id=run_id))
    cases = make_cases(connection, [row[:_CASE] for row in rows])
    found = [
        StoredWarning(row[_CASE], case, None, message)
        for row, case in zip(rows, cases, strict=True)
        for message in json.loads(row[_CASE + 1])
    ]
    found += _notes(connection, run_id)
    return list(
        {
            (one.test, one.case and one.case.key, one.replication, one.message): one
            for one in found
        }.values()
    )


def _notes(connection: Connection, run_id: int) -> list[StoredWarning]:
    rows = list(fetch(connection, _NOTED, run_id=run_id))
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
