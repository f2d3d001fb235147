"""What belongs to a replication beside its values: traces, system logs, ports, suspicions.

It's made ready before the database is locked, and stored in the replications' own transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from railgauge.store import log_models as tables
from railgauge.store import outcomes, traces
from railgauge.store.checksums import seal
from railgauge.store.log_columns import PORT
from railgauge.store.log_rows import PreparedLog, prepare, storable
from railgauge.store.log_write import LogGroup, Numbers, insert_logs
from railgauge.store.records import Launch, Outcome, PortLog
from railgauge.store.write import OpenRun, chunks, insert_rows, plain_text

# Outcomes by the case's test and key.
Results = Sequence[tuple[str, str, Outcome]]
# Replications by the id of their case in the run, and their number.
Keys = Sequence[tuple[int, int]]


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
            shared[id(outcome.logs)] = [prepare(log) for log in outcome.logs]
    return Prepared(prepared_traces, [shared[id(outcome.logs)] for *_, outcome in results])


def by_launch(
    results: Results, launches: Mapping[tuple[str, str], Launch]
) -> list[tuple[Launch | None, Results]]:
    """Return imported results by their launch; `launches` are by the case's test and key.

    A case with logs or ports needs one, which is made for it; others have none.
    """
    cases: dict[tuple[str, str], list[tuple[str, str, Outcome]]] = {}
    for test, case_key, outcome in results:
        cases.setdefault((test, case_key), []).append((test, case_key, outcome))
    without: list[tuple[str, str, Outcome]] = []
    groups: list[tuple[Launch | None, Results]] = []
    for key, rows in cases.items():
        if key in launches:
            groups.append((launches[key], rows))
            continue
        logged = [outcome for *_, outcome in rows if outcome.logs or outcome.ports]
        if not logged:
            without += rows
            continue
        moments = [outcome.started_at for outcome in logged if outcome.started_at is not None]
        moments += [log.started_at for outcome in logged for log in outcome.logs]
        groups.append((Launch(min(moments, default=0.0)), rows))
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
    results: Results,
    launches: Mapping[tuple[str, str], Launch],
    numbers: Numbers,
) -> None:
    """Store what others measured, launch by launch, with all that belongs to it."""
    for launch, rows in by_launch(results, launches):
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
