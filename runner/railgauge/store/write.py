"""What goes into the tables, a function for each kind of record; the caller has the transaction."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Integer, bindparam, func, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from railgauge.cases import Value
from railgauge.errors import StoreError
from railgauge.store.models import (
    BenchCase,
    HostFact,
    LaunchRow,
    Measurement,
    Metric,
    Replication,
    Run,
    RunFile,
    RunMetric,
)
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase, RunState

# A run's plain values, which stand in its own row.
RUN_COLUMNS = [name for name in NewRun.__slots__ if name != "files"]
_ADD_RUN_CASE = text(
    "INSERT INTO run_case (run_id, case_id, test, replications) "
    "SELECT :run, id, :test, :replications FROM bench_case WHERE key = :key"
)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The ids that a run's outcomes need, so that storing one looks nothing up.

    `cases`: (test, case key) -> (run_case id, engine); `metrics`: engine -> metric -> metric id.
    """

    id: int
    cases: Mapping[tuple[str, str], tuple[int, str]]
    metrics: Mapping[str, Mapping[str, int]]


def insert_run(
    connection: Connection,
    run: NewRun,
    cases: Sequence[PlannedCase],
    metrics: Mapping[str, Mapping[str, MetricInfo]],
) -> int:
    """Store the run, its cases in their order and the metrics its engines can give."""
    values = {
        name: plain_text(value) if isinstance(value, str) else value
        for name in RUN_COLUMNS
        for value in [getattr(run, name)]
    }
    values |= {"state": "unfinished", "started_at": now()}
    run_id = connection.execute(insert(Run).values(**values)).inserted_primary_key
    assert run_id is not None
    _insert_files(connection, run_id[0], run.files)
    _insert_cases(connection, run_id[0], cases)
    _insert_metrics(connection, run_id[0], metrics)
    return int(run_id[0])


def _insert_files(connection: Connection, run_id: int, files: Mapping[str, str]) -> None:
    rows = [
        {"run_id": run_id, "name": plain_text(name), "text": plain_text(content)}
        for name, content in files.items()
    ]
    if rows:
        connection.execute(insert(RunFile), rows)


def _insert_cases(connection: Connection, run_id: int, cases: Sequence[PlannedCase]) -> None:
    if not cases:
        return
    rows = {
        planned.case.key: {
            "key": planned.case.key,
            "engine": planned.case.engine,
            "link": planned.case.link,
            "client_host": planned.case.client,
            "server_host": planned.case.server,
            "parameters": json_text(planned.case.parameters),
        }
        for planned in cases
    }
    # Sorted, so that two runs beginning at once with the same cases can't lock each other out.
    _insert_missing(connection, BenchCase, [rows[key] for key in sorted(rows)])
    connection.execute(
        _ADD_RUN_CASE,
        [
            {
                "run": run_id,
                "test": planned.test,
                "replications": planned.replications,
                "key": planned.case.key,
            }
            for planned in cases
        ],
    )


def _insert_metrics(
    connection: Connection, run_id: int, metrics: Mapping[str, Mapping[str, MetricInfo]]
) -> None:
    rows = [
        {"engine": engine, "name": name, "unit": info.unit, "better": info.better}
        for engine, infos in sorted(metrics.items())
        for name, info in infos.items()
    ]
    if not rows:
        return
    _insert_missing(connection, Metric, rows)
    wanted = select(bindparam("run", type_=Integer), Metric.id).where(
        Metric.engine == bindparam("engine"),
        Metric.name == bindparam("name"),
        Metric.unit == bindparam("unit"),
        Metric.better == bindparam("better"),
    )
    statement = insert(RunMetric).from_select(["run_id", "metric_id"], wanted)
    connection.execute(statement, [row | {"run": run_id} for row in rows])


def _insert_missing(
    connection: Connection, model: type[BenchCase | Metric], rows: Sequence[Mapping[str, object]]
) -> None:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    # inline: no RETURNING, whose rows would be collected for nothing.
    connection.execute(dialect.insert(model).on_conflict_do_nothing().inline(), list(rows))


def insert_facts(connection: Connection, run_id: int, host: str, facts: Mapping[str, str]) -> None:
    """Store those facts that differ from what the run has about `host`."""
    known = dict(
        connection.execute(
            select(HostFact.name, HostFact.value)
            .where(HostFact.run_id == run_id, HostFact.host == host)
            .order_by(HostFact.recorded_at)
        ).all()
    )
    moment = now()
    rows = [
        {"run_id": run_id, "host": host, "name": name, "recorded_at": moment, "value": value}
        for name, value in ((plain_text(n), plain_text(v)) for n, v in facts.items())
        if known.get(name) != value
    ]
    if rows:
        connection.execute(insert(HostFact), rows)


def set_state(connection: Connection, run_id: int, state: RunState) -> None:
    """Store how the run stands; whatever is not unfinished has ended now."""
    ended_at = None if state == "unfinished" else now()
    connection.execute(update(Run).where(Run.id == run_id).values(state=state, ended_at=ended_at))


def insert_launch(connection: Connection, run_case_id: int, launch: Launch) -> int:
    """Store the launch and return its id."""
    key = connection.execute(
        insert(LaunchRow),
        {
            "run_case_id": run_case_id,
            "started_at": iso(launch.started_at),
            "client": json_text(launch.client),
            "server": json_text(launch.server),
            "warnings": plain_text(json.dumps(launch.warnings, ensure_ascii=False)),
        },
    ).inserted_primary_key
    assert key is not None
    return int(key[0])


def insert_outcome(
    connection: Connection,
    run: OpenRun,
    test: str,
    case_key: str,
    outcome: Outcome,
    launch_id: int | None,
) -> None:
    """Store the replication and its values; StoreError when the outcome contradicts itself."""
    run_case_id, engine = run_case(run, test, case_key)
    number = _number(connection, run_case_id, outcome)
    values = _values(run, engine, outcome)
    connection.execute(
        insert(Replication),
        {
            "run_case_id": run_case_id,
            "number": number,
            "status": outcome.status,
            "started_at": None if outcome.started_at is None else iso(outcome.started_at),
            "error_code": plain_text(outcome.error_code) or None,
            "error_message": plain_text(outcome.error_message) or None,
            "launch_id": launch_id,
        },
    )
    if values:
        connection.execute(
            insert(Measurement),
            [
                {"run_case_id": run_case_id, "metric_id": metric, "number": number, "value": value}
                for metric, value in values
            ],
        )


def run_case(run: OpenRun, test: str, case_key: str) -> tuple[int, str]:
    """Return the id of the test's case in this run, and its engine."""
    try:
        return run.cases[test, case_key]
    except KeyError:
        raise StoreError(f"run {run.id} has no case {case_key} in a test {test!r}") from None


def _number(connection: Connection, run_case_id: int, outcome: Outcome) -> int:
    if not outcome.warmup:
        if outcome.replication < 1:
            raise StoreError(f"a replication's number is 1 or more, not {outcome.replication}")
        return outcome.replication
    lowest = connection.execute(
        select(func.min(Replication.number)).where(Replication.run_case_id == run_case_id)
    ).scalar()
    return min(lowest or 0, 0) - 1


def _values(run: OpenRun, engine: str, outcome: Outcome) -> list[tuple[int, float]]:
    if (outcome.status == "failed") == bool(outcome.metrics):
        raise StoreError(
            "a failed replication has no metrics and any other has some; "
            f"replication {outcome.replication} is {outcome.status} with {len(outcome.metrics)}"
        )
    known = run.metrics.get(engine, {})
    values = []
    for name, value in outcome.metrics.items():
        if name not in known:
            raise StoreError(f"engine {engine} gave a metric it had not described: {name!r}")
        if not math.isfinite(value):
            raise StoreError(f"engine {engine} gave {value} as its {name}: that is no measurement")
        values.append((known[name], float(value)))
    return values


def now() -> str:
    """Return the present moment in the form of all stored times."""
    return iso(datetime.now(UTC).timestamp())


def iso(seconds: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC with microseconds and a Z."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise StoreError(f"{seconds} is not a moment in seconds since 1970") from error
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def json_text(mapping: Mapping[str, Value]) -> str:
    """Return JSON text that is the same for the same content, NaN refused."""
    try:
        text = json.dumps(dict(mapping), sort_keys=True, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise StoreError(f"settings that JSON cannot hold: {dict(mapping)!r}") from error
    return plain_text(text)


def plain_text(text: str) -> str:
    """Return `text` as every database takes it: no NUL, no half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\ufffd")
