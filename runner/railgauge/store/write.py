"""What goes into the tables, a function for each kind of record; the caller has the transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar, get_args
from uuid import uuid4

from sqlalchemy import (
    Connection,
    Dialect,
    Float,
    Integer,
    Table,
    Text,
    bindparam,
    insert,
    select,
    text,
    update,
)

from railgauge.base.errors import StoreError
from railgauge.plan.cases import Value
from railgauge.store.models import (
    Base,
    BenchCase,
    HostFact,
    HostList,
    Metric,
    Run,
    RunCase,
    RunFile,
    RunLabel,
    RunMetric,
)
from railgauge.store.records import CaseEnd, MetricInfo, NewRun, PlannedCase, RunState
from railgauge.store.run_checksums import forget_run_checksum, store_run_checksum

_T = TypeVar("_T")

# Rows handed to the driver at once: enough to be fast, few enough to stay small.
_ROWS = 10_000
# With fewer than these it takes less to store each by itself.
_FEW_ROWS = 8
# A run's plain values, which stand in its own row.
RUN_COLUMNS = [name for name in NewRun.__slots__ if name not in ("files", "labels")]
_ADD_RUN_CASE = text(
    "INSERT INTO run_case (run_id, case_id, test, replications, skipped, least, rule, ended) "
    "SELECT :run, id, :test, :replications, :skipped, :least, :rule, :ended "
    "FROM bench_case WHERE key = :key"
)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The ids that a run's outcomes need, so that storing one looks nothing up.

    `cases`: (test, case key) -> (run_case id, engine); `metrics`: engine -> metric ->
    (metric id, unit). `pairs`: which of the run_case ids are of pairs of a group, many of which
    one launch measures.
    """

    id: int
    cases: Mapping[tuple[str, str], tuple[int, str]]
    metrics: Mapping[str, Mapping[str, tuple[int, str]]]
    pairs: Collection[int]


def insert_run(
    connection: Connection,
    run: NewRun,
    cases: Sequence[PlannedCase],
    metrics: Mapping[str, Mapping[str, MetricInfo]],
    started_at: float | None = None,
) -> int:
    """Store the run, its cases in their order and the metrics its engines can give.

    It starts now, unless `started_at` says when (seconds since 1970).
    """
    values = {
        name: plain_text(value) if isinstance(value, str) else value
        for name in RUN_COLUMNS
        for value in [getattr(run, name)]
    }
    began = now() if started_at is None else iso(started_at)
    values |= {"state": "unfinished", "started_at": began, "uid": uuid4().hex}
    (run_id,) = insert_with_ids(connection, Base.metadata.tables[Run.__tablename__], [values])
    files = [
        {"run_id": run_id, "name": plain_text(name), "text": plain_text(content)}
        for name, content in run.files.items()
    ]
    insert_rows(connection, RunFile, files)
    labels = [
        {"run_id": run_id, "key": plain_text(key), "value": plain_text(value)}
        for key, value in run.labels.items()
    ]
    insert_rows(connection, RunLabel, labels)
    _insert_cases(connection, run_id, cases)
    _insert_metrics(connection, run_id, metrics)
    return run_id


def _insert_cases(connection: Connection, run_id: int, cases: Sequence[PlannedCase]) -> None:
    if not cases:
        return
    lists = _insert_lists(connection, cases)
    by_key = {planned.case.key: planned.case for planned in cases}
    texts: dict[int, str] = {}
    # Sorted, so that two runs beginning at once with the same cases can't lock each other out.
    for keys in chunks(sorted(by_key)):
        rows = []
        for case in map(by_key.__getitem__, keys):
            # Cases share their parameters: a large cluster's million pairs are written once.
            parameters_text = texts.get(id(case.parameters))
            if parameters_text is None:
                parameters_text = texts[id(case.parameters)] = json_text(case.parameters)
            rows.append(
                {
                    "key": case.key,
                    "engine": case.engine,
                    "link": case.link,
                    "client_host": case.client,
                    "server_host": case.server,
                    "parameters": parameters_text,
                    "members_id": lists.get(id(case.members)),
                }
            )
        insert_missing(connection, BenchCase, rows)
    for chunk in chunks(cases):
        connection.execute(
            _ADD_RUN_CASE,
            [
                {
                    "run": run_id,
                    "test": planned.test,
                    "replications": planned.replications,
                    "skipped": plain_text(planned.skipped) or None,
                    "least": planned.least,
                    "rule": plain_text(planned.rule) or None,
                    "ended": planned.ended or None,
                    "key": planned.case.key,
                }
                for planned in chunk
            ],
        )


def _insert_lists(connection: Connection, cases: Iterable[PlannedCase]) -> dict[int, int]:
    """Store the cases' members and return their ids by the identity of each tuple of them."""
    tuples = {
        id(planned.case.members): planned.case.members for planned in cases if planned.case.members
    }
    if not tuples:
        return {}
    texts = {
        number: plain_text(json.dumps(members, ensure_ascii=False))
        for number, members in tuples.items()
    }
    keys = {number: hashlib.sha256(text.encode()).hexdigest() for number, text in texts.items()}
    rows = {keys[number]: {"key": keys[number], "hosts": texts[number]} for number in texts}
    insert_missing(connection, HostList, [rows[key] for key in sorted(rows)])
    ids = look_up(connection, HostList.key, HostList.id, sorted(rows))
    return {number: ids[key] for number, key in keys.items()}


def _insert_metrics(
    connection: Connection, run_id: int, metrics: Mapping[str, Mapping[str, MetricInfo]]
) -> None:
    described = [
        (engine, name, info)
        for engine, infos in sorted(metrics.items())
        for name, info in infos.items()
    ]
    rows: list[dict[str, object]] = [
        {"engine": engine, "name": name, "unit": info.unit, "better": info.better}
        for engine, name, info in described
    ]
    if not rows:
        return
    insert_missing(connection, Metric, rows)
    smallest, kind = bindparam("smallest", type_=Float(53)), bindparam("kind", type_=Text)
    metric_rows = select(bindparam("run", type_=Integer), Metric.id, smallest, kind).where(
        Metric.engine == bindparam("engine"),
        Metric.name == bindparam("name"),
        Metric.unit == bindparam("unit"),
        Metric.better == bindparam("better"),
    )
    columns = ["run_id", "metric_id", "smallest_change", "kind"]
    connection.execute(
        insert(RunMetric).from_select(columns, metric_rows),
        [
            row | {"run": run_id, "smallest": info.smallest, "kind": info.kind or None}
            for row, (*_, info) in zip(rows, described, strict=True)
        ],
    )


def insert_rows(connection: Connection, table: Any, rows: Sequence[Mapping[str, object]]) -> None:
    """Store the rows, if there are any; all have the first one's columns."""
    if rows:
        statement = _prepared(connection.dialect, getattr(table, "__table__", table), (*rows[0],))
        connection.exec_driver_sql(statement.text, [statement.parameters(row) for row in rows])


class _Prepared(NamedTuple):
    """An INSERT as the driver takes it: to make it anew costs more than to execute it.

    `names` are its parameters in their order, None where they go by their names.
    """

    text: str
    names: Sequence[str] | None

    def parameters(self, row: Mapping[str, Any]) -> Any:
        """Return the row's values as the driver takes them."""
        return dict(row) if self.names is None else tuple([row[name] for name in self.names])


@lru_cache(maxsize=256)
def _prepared(
    dialect: Dialect, table: Table, columns: tuple[str, ...], *, returning: bool = False
) -> _Prepared:
    statement = insert(table).inline()
    if returning:
        statement = insert(table).returning(table.c.id)
    compiled = statement.compile(dialect=dialect, column_keys=[*columns])
    names = getattr(compiled, "positiontup", None)
    return _Prepared(str(compiled), names if compiled.positional else None)


def insert_with_ids(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]
) -> list[int]:
    """Store the rows and return the ids that they got, in their order."""
    # SQLite has RETURNING since 3.35, which enterprise distributions of 2022 lack.
    if connection.dialect.insert_returning and len(rows) > _FEW_ROWS:
        many = insert(table).returning(table.c.id, sort_by_parameter_order=True)
        return list(connection.execute(many, rows).scalars())
    ids = []
    # SQLite's driver gives the last id, and a result with rows costs more than the row.
    returning = connection.dialect.name == "postgresql"
    for row in rows:
        statement = _prepared(connection.dialect, table, (*row,), returning=returning)
        stored = connection.exec_driver_sql(statement.text, statement.parameters(row))
        ids.append(int(stored.scalar_one() if returning else stored.lastrowid))
    return ids


def insert_missing(
    connection: Connection,
    model: type[BenchCase | HostList | Metric] | Table,
    rows: Sequence[Mapping[str, object]],
) -> None:
    """Store those of the rows that aren't there already, by whatever key the table has."""
    # inline: no RETURNING, whose rows would be collected for nothing.
    statement = _insert(connection, model).on_conflict_do_nothing().inline()
    connection.execute(statement, list(rows))


def _insert(connection: Connection, table: Any) -> Any:
    # Imported here, as who only reads would wait for what writes to a database that isn't there.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def insert_facts(connection: Connection, run_id: int, host: str, facts: Mapping[str, str]) -> None:
    """Store those facts that differ from what the run has about `host`."""
    earlier = connection.execute(
        select(HostFact.name, HostFact.value, HostFact.recorded_at)
        .where(HostFact.run_id == run_id, HostFact.host == host)
        .order_by(HostFact.recorded_at)
    ).all()
    stored = {name: value for name, value, _ in earlier}
    moment = now_after(earlier[-1].recorded_at if earlier else None)
    rows = [
        {"run_id": run_id, "host": host, "name": name, "recorded_at": moment, "value": value}
        for name, value in ((plain_text(n), plain_text(v)) for n, v in facts.items())
        if stored.get(name) != value
    ]
    insert_rows(connection, HostFact, rows)
    forget_run_checksum(connection, run_id)


def set_skipped(
    connection: Connection, run_id: int, test: str, case_key: str, reason: str | None
) -> None:
    """Store why the case is skipped, or (None) that it isn't."""
    text = None if reason is None else plain_text(reason)
    _update_case(connection, run_id, test, case_key, {"skipped": text})


def set_ended(
    connection: Connection, run_id: int, test: str, case_key: str, ended: str | None
) -> None:
    """Store why the case gets no more replications, or (None) that it goes on."""
    if ended is not None and ended not in get_args(CaseEnd):
        raise StoreError(f"a case ends as {', '.join(get_args(CaseEnd))}, not as {ended!r}")
    _update_case(connection, run_id, test, case_key, {"ended": ended})


def _update_case(
    connection: Connection, run_id: int, test: str, case_key: str, values: Mapping[str, str | None]
) -> None:
    case_id = select(BenchCase.id).where(BenchCase.key == case_key).scalar_subquery()
    updated = connection.execute(
        update(RunCase)
        .where(RunCase.run_id == run_id, RunCase.test == test, RunCase.case_id == case_id)
        .values(**values)
    )
    if updated.rowcount != 1:
        raise StoreError(f"run {run_id} has no case {case_key} in a test {test!r}")


def set_state(connection: Connection, run_id: int, state: RunState) -> None:
    """Store how the run stands; whatever is not unfinished has ended now."""
    ended_at = None if state == "unfinished" else now()
    connection.execute(update(Run).where(Run.id == run_id).values(state=state, ended_at=ended_at))


def settle_imported(connection: Connection, run_id: int) -> None:
    """Let an imported run have ended when it began, by no controller: so it is always the same."""
    settled = update(Run).where(Run.id == run_id)
    connection.execute(settled.values(ended_at=Run.started_at, controller="", directory=""))
    store_run_checksum(connection, run_id)


def chunks(items: Iterable[_T], most: int = _ROWS) -> Iterator[list[_T]]:
    """Yield `items` in lists of `most`, which is what one statement is given at once."""
    rest = iter(items)
    while chunk := list(islice(rest, most)):
        yield chunk


def look_up(
    connection: Connection, column: Any, result: Any, values: Iterable[Any]
) -> dict[Any, Any]:
    """Return the `result` column of the rows by `column`, which is one of the values."""
    query = select(column, result)
    return {
        key: value
        for chunk in chunks(values)
        for key, value in connection.execute(query.where(column.in_(chunk)))
    }


def now() -> str:
    """Return the present moment in the form of all stored times."""
    return iso(datetime.now(UTC).timestamp())


def now_after(last: str | None) -> str:
    """Return the present moment, just after the `last` one where the clock was set back since."""
    moment = now()
    if last is None or moment > last:
        return moment
    after = datetime.fromisoformat(last) + timedelta(microseconds=1)
    return after.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def iso(seconds: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC with microseconds and a Z."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise StoreError(f"{seconds} is not a moment in seconds since 1970") from error
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def json_text(mapping: Mapping[str, Value], separators: tuple[str, str] = (", ", ": ")) -> str:
    """Return JSON text that is the same for the same content, NaN refused."""
    try:
        text = json.dumps(
            dict(mapping),
            sort_keys=True,
            ensure_ascii=False,
            allow_nan=False,
            separators=separators,
        )
    except ValueError as error:
        raise StoreError(f"settings that JSON cannot hold: {dict(mapping)!r}") from error
    return plain_text(text)


def plain_texts(mapping: Mapping[str, Value]) -> dict[str, Value]:
    """Return `mapping` with texts that every database takes, also when it takes them out of JSON.

    That has escapes for what none takes.
    """
    return {
        plain_text(name): plain_text(value) if isinstance(value, str) else value
        for name, value in mapping.items()
    }


def plain_text(text: str) -> str:
    """Return `text` as every database takes it: no NUL, no half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\ufffd")
