"""What belongs to a replication beside its values: traces, system logs, ports, suspicions.

It's made ready before the database is locked, and stored in the replications' own transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert

from railgauge.store import log_models as tables
from railgauge.store import outcomes, traces
from railgauge.store.log_columns import PORT
from railgauge.store.log_rows import PreparedLog, prepare, storable
from railgauge.store.log_write import LogsOf, Numbers, insert_logs
from railgauge.store.records import Launch, Outcome, PortLog
from railgauge.store.write import OpenRun, chunks, plain_text

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
    found = [
        (outcomes.run_case(run, test, case_key)[0], trace)
        for test, case_key, outcome in results
        if (trace := traces.prepare(outcome)) is not None
    ]
    shared: dict[int, list[PreparedLog]] = {}
    for *_, outcome in results:
        if id(outcome.logs) not in shared:
            shared[id(outcome.logs)] = [prepare(log) for log in outcome.logs]
    return Prepared(found, [shared[id(outcome.logs)] for *_, outcome in results])


def launches(
    results: Results, known: Mapping[tuple[str, str], Launch]
) -> list[tuple[Launch | None, Results]]:
    """Return imported results by their launch, which is `known` by the case's test and key.

    A case with logs or ports needs one, which is made for it; others have none.
    """
    cases: dict[tuple[str, str], list[tuple[str, str, Outcome]]] = {}
    for test, case_key, outcome in results:
        cases.setdefault((test, case_key), []).append((test, case_key, outcome))
    without: list[tuple[str, str, Outcome]] = []
    found: list[tuple[Launch | None, Results]] = []
    for key, rows in cases.items():
        if key in known:
            found.append((known[key], rows))
            continue
        logged = [outcome for *_, outcome in rows if outcome.logs or outcome.ports]
        if not logged:
            without += rows
            continue
        moments = [one.started_at for one in logged if one.started_at is not None]
        moments += [log.started_at for one in logged for log in one.logs]
        found.append((Launch(min(moments, default=0.0)), rows))
    return [(None, without), *found] if without else found


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
    logs: dict[tuple[int, int], LogsOf] = {}
    ports: dict[tuple[int, int], Sequence[PortLog]] = {}
    for (*_, outcome), (run_case_id, number), some in zip(
        results, keys, prepared.logs, strict=True
    ):
        if some:
            logs[number, id(some)] = LogsOf(number, run_case_id in run.pairs, some)
        if outcome.ports:
            ports[number, id(outcome.ports)] = outcome.ports
    insert_logs(connection, run.id, launch_id, logs.values(), numbers)
    _insert_ports(
        connection, run.id, launch_id, ((number, some) for (number, _), some in ports.items())
    )


def insert_imported(
    connection: Connection,
    run: OpenRun,
    results: Results,
    known: Mapping[tuple[str, str], Launch],
    numbers: Numbers,
) -> None:
    """Store what others measured, launch by launch, with all that belongs to it."""
    for launch, some in launches(results, known):
        launch_id = None
        if launch is not None:
            first, _ = outcomes.run_case(run, *some[0][:2])
            launch_id = outcomes.insert_launch(connection, first, launch)
        prepared = prepare_all(run, some)
        keys = outcomes.insert_outcomes(connection, run, some, launch_id)
        insert_all(connection, run, some, keys, prepared, launch_id, numbers)


def _insert_suspicions(connection: Connection, results: Results, keys: Keys) -> None:
    rows = [
        {
            "run_case_id": run_case_id,
            "number": number,
            "place": place,
            "code": plain_text(one.code),
            "host": None if one.host is None else plain_text(one.host),
            "message": plain_text(one.message),
        }
        for (*_, outcome), (run_case_id, number) in zip(results, keys, strict=True)
        for place, one in enumerate(outcome.suspicions)
    ]
    for some in chunks(rows):
        connection.execute(insert(tables.SUSPICION), some)


def _insert_ports(
    connection: Connection,
    run_id: int,
    launch_id: int | None,
    ports: Iterable[tuple[int, Sequence[PortLog]]],
) -> None:
    rows: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    for number, some in ports:
        for port in some:
            place = places[number] = places.get(number, -1) + 1
            key = {"launch_id": launch_id, "number": number, "place": place}
            device = plain_text(port.device)
            interface = plain_text(port.interface)
            said: list[str] = []
            counts = storable(port.counts, said)
            figures = {field.column: counts.pop(name, None) for name, field in PORT.items()}
            where = {"position": port.position, "device": device, "interface": interface}
            rows.append(key | where | figures)
            others += [key | {"name": name, "value": count} for name, count in counts.items()]
            notes += [
                {
                    "run_id": run_id,
                    "launch_id": launch_id,
                    "number": number,
                    "host": f"{device}:{interface}",
                    "note": note,
                }
                for note in said
            ]
    for table, some_rows in (
        (tables.PORT_LOG, rows),
        (tables.PORT_COUNTER_LOG, others),
        (tables.LOG_NOTE, notes),
    ):
        if some_rows:
            connection.execute(insert(table), some_rows)
