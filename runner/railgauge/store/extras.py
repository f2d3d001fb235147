"""What belongs to a replication beside its values: traces, system logs, ports, suspicions.

It's made ready before the database is locked, and stored in the replications' own transaction;
ports, suspicions and warnings are read here, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, select

from railgauge.plan.cases import Value
from railgauge.store import log_models as tables
from railgauge.store import outcomes, traces
from railgauge.store.checksums import seal
from railgauge.store.log_columns import PORT
from railgauge.store.log_read import of_run
from railgauge.store.log_rows import PreparedLog, prepare, storable
from railgauge.store.log_write import LogGroup, Numbers, insert_logs
from railgauge.store.models import BenchCase, LaunchRow, Replication, RunCase
from railgauge.store.read import CASE_COLUMNS, fetch, fetch_with_cases, find_run, make_cases
from railgauge.store.records import (
    Launch,
    Outcome,
    PortLog,
    StoredPort,
    StoredSuspicion,
    StoredWarning,
    Suspicion,
)
from railgauge.store.write import OpenRun, chunks, insert_rows, plain_text

# Outcomes by the case's test and key.
Results = Sequence[tuple[str, str, Outcome]]
# What is known of the client's settings and of the server's.
BothSettings = tuple[Mapping[str, Value], Mapping[str, Value]]
# Replications by the id of their case in the run, and their number.
Keys = Sequence[tuple[int, int]]
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


@dataclass(slots=True)
class Prepared:
    """`traces` by the run case's id; `logs` of each result, a list that pairs share."""

    traces: list[tuple[int, traces.PreparedTrace]]
    logs: list[list[PreparedLog]]


def prepare_all(run: OpenRun, results: Results) -> Prepared:
    """Return what is to be stored beside the values; StoreError for a trace that is none."""
    prepared_traces = [
        (outcomes.run_case(run, test, case_key)[0], trace)
        for test, case_key, outcome in results
        if (trace := traces.prepare(outcome)) is not None
    ]
    shared: dict[int, list[PreparedLog]] = {}
    for *_, outcome in results:
        if id(outcome.logs) not in shared:
            shared[id(outcome.logs)] = prepare(outcome.logs)
    return Prepared(prepared_traces, [shared[id(outcome.logs)] for *_, outcome in results])


def by_launch(
    results: Results, settings: Mapping[tuple[str, str], BothSettings], began: float
) -> list[tuple[Launch | None, Results]]:
    """Return imported results by their launch; `settings` are by the case's test and key.

    A case with settings, logs or ports needs one, which is made for it; others have none. It began
    when the run did (`began`) unless a replication or log says.
    """
    cases: dict[tuple[str, str], list[tuple[str, str, Outcome]]] = {}
    for test, case_key, outcome in results:
        cases.setdefault((test, case_key), []).append((test, case_key, outcome))
    without: list[tuple[str, str, Outcome]] = []
    groups: list[tuple[Launch | None, Results]] = []
    for key, rows in cases.items():
        of_case = [outcome for *_, outcome in rows]
        granted = settings.get(key, ({}, {}))
        if not any(granted) and not any(outcome.logs or outcome.ports for outcome in of_case):
            without += rows
            continue
        moments = [outcome.started_at for outcome in of_case if outcome.started_at is not None]
        moments += [log.started_at for outcome in of_case for log in outcome.logs]
        groups.append((Launch(min(moments, default=began), *granted), rows))
    return [(None, without), *groups] if without else groups


def insert_all(
    connection: Connection,
    run: OpenRun,
    results: Results,
    keys: Keys,
    prepared: Prepared,
    launch_id: int | None,
    numbers: Numbers,
) -> None:
    """Store it; what the pairs of one launch share, once. `numbers` as for `insert_logs`."""
    for run_case_id, trace in prepared.traces:
        traces.insert_trace(connection, run_case_id, trace)
    _insert_suspicions(connection, results, keys)
    logs: dict[tuple[int, int], LogGroup] = {}
    ports: dict[tuple[int, int], tuple[int, Sequence[PortLog]]] = {}
    for (*_, outcome), (run_case_id, number), prepared_logs in zip(
        results, keys, prepared.logs, strict=True
    ):
        if prepared_logs:
            logs[number, id(prepared_logs)] = LogGroup(
                number, run_case_id in run.pairs, prepared_logs
            )
        if outcome.ports:
            ports[number, id(outcome.ports)] = number, outcome.ports
    log_rows = insert_logs(connection, run.id, launch_id, logs.values(), numbers)
    if prepared.traces or log_rows:
        seal(connection, keys, log_rows, traces=bool(prepared.traces))
    _insert_ports(connection, run.id, launch_id, ports.values())


def insert_imported(
    connection: Connection,
    run: OpenRun,
    launches: Iterable[tuple[Launch | None, Results]],
    numbers: Numbers,
) -> None:
    """Store what others measured, launch by launch, with all that belongs to it."""
    for launch, rows in launches:
        launch_id = None
        if launch is not None:
            first, _ = outcomes.run_case(run, *rows[0][:2])
            launch_id = outcomes.insert_launch(connection, first, launch)
        prepared = prepare_all(run, rows)
        keys = outcomes.insert_outcomes(connection, run, rows, launch_id)
        insert_all(connection, run, rows, keys, prepared, launch_id, numbers)


def _insert_suspicions(connection: Connection, results: Results, keys: Keys) -> None:
    rows = [
        {
            "run_case_id": run_case_id,
            "number": number,
            "place": place,
            "code": plain_text(suspicion.code),
            "host": None if suspicion.host is None else plain_text(suspicion.host),
            "message": plain_text(suspicion.message),
        }
        for (*_, outcome), (run_case_id, number) in zip(results, keys, strict=True)
        for place, suspicion in enumerate(outcome.suspicions)
    ]
    for chunk in chunks(rows):
        insert_rows(connection, tables.SUSPICION, chunk)


def _insert_ports(
    connection: Connection,
    run_id: int,
    launch_id: int | None,
    ports: Iterable[tuple[int, Sequence[PortLog]]],
) -> None:
    rows: list[dict[str, Any]] = []
    counter_rows: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    for number, port_logs in ports:
        for port in port_logs:
            place = places[number] = places.get(number, -1) + 1
            replication_key = {"launch_id": launch_id, "number": number}
            key = replication_key | {"place": place}
            device = plain_text(port.device)
            interface = plain_text(port.interface)
            port_notes: list[str] = []
            counts = storable(port.counts, port_notes)
            figures = {field.column: counts.pop(name, None) for name, field in PORT.items()}
            where = {"position": port.position, "device": device, "interface": interface}
            rows.append(key | where | figures)
            counter_rows += [key | {"name": name, "value": count} for name, count in counts.items()]
            note_key = replication_key | {"run_id": run_id, "host": f"{device}:{interface}"}
            notes += [note_key | {"note": note} for note in port_notes]
    for table, table_rows in (
        (tables.PORT_LOG, rows),
        (tables.PORT_COUNTER_LOG, counter_rows),
        (tables.LOG_NOTE, notes),
    ):
        insert_rows(connection, table, table_rows)


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
