"""Finds out whether an SQLite file is damaged: a broken page may lose rows without any error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Column, Connection, Float, Integer, Table, Text

from railgauge.base.errors import StoreError
from railgauge.base.number import plural
from railgauge.store.explain import DAMAGED
from railgauge.store.log_models import LOG
from railgauge.store.models import (
    Base,
    HostFact,
    LaunchRow,
    LossRun,
    Measurement,
    Replication,
    RunCase,
    SeriesRow,
    TraceRow,
)

# System logs and traces are most of a large database, and no value is read from them.
_LARGE = frozenset(
    {TraceRow.__tablename__, SeriesRow.__tablename__, LossRun.__tablename__, LOG.name}
    | {
        name
        for name, table in Base.metadata.tables.items()
        if any(key.column.table is LOG for key in table.foreign_keys)
    }
)
# What grows with each run or replication, and would take half a second: of a larger file
# these tables are looked at with `all_tables` only.
_GROWING = frozenset(
    table.__tablename__ for table in (LaunchRow, Replication, Measurement, HostFact, RunCase)
)
_LOOKED_AT = 32 << 20
_JSON = {
    "parameters": "object",
    "client": "object",
    "server": "object",
    "hosts": "array",
    "warnings": "array",
}
_MOMENT = "____-__-__T__:__:__.______Z"


def check_pages(connection: Connection, database: str, *, all_tables: bool = False) -> None:
    """Raise StoreError unless each table's rows are all there and in order, and in its indexes too.

    With `all_tables` at each of them: some 20 ms for each MB. Without, system logs and traces are
    left out, and in files above 32 MiB facts and what grows with each run. A database that
    isn't SQLite's is not checked.
    """
    if connection.dialect.name != "sqlite":
        return
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = Base.metadata.tables.keys() & set(tables.scalars()) - _LARGE
    if is_large(connection):
        names -= _GROWING
    for argument in [1] if all_tables else ["sqlite_master", *sorted(names)]:
        findings = connection.exec_driver_sql(f"PRAGMA integrity_check({argument})")
        _refuse(database, findings.scalars())


def is_large(connection: Connection) -> bool:
    """Return whether the file has more than what is looked at whenever it's opened."""
    pages, size = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
        for name in ("page_count", "page_size")
    )
    return pages * size > _LOOKED_AT


def check_contents(connection: Connection, database: str) -> None:
    """Raise StoreError if anything is stored that railgauge never stores; looks at every row."""
    if connection.dialect.name != "sqlite":
        return
    check_pages(connection, database, all_tables=True)
    for table, _, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        _refuse(database, [f"a row of {table} is of no row of {parent}"])
    for table in Base.metadata.sorted_tables:
        invalid = " OR ".join(_invalid_conditions(table))
        # Names of our own tables and columns.
        query = f"SELECT count(*) FROM {table.name} WHERE {invalid}"  # noqa: S608
        if count := connection.exec_driver_sql(query).scalar_one():
            rows = plural(count, "row")
            _refuse(database, [f"{rows} of {table.name} can't be what railgauge stored"])


def _refuse(database: str, findings: Iterable[str]) -> None:
    for finding in findings:
        if finding != "ok":
            raise StoreError(f"the database {database} {DAMAGED} ({' '.join(finding.split())})")


def _invalid_conditions(table: Table) -> Iterator[str]:
    """Yield the conditions of rows with a value that its column never holds."""
    for column in table.columns:
        name = f'"{column.name}"'
        yield f"typeof({name}) NOT IN ({', '.join(map(repr, _types(column)))})"
        if kind := _JSON.get(column.name):
            yield f"CASE WHEN json_valid({name}) THEN json_type({name}) <> '{kind}' ELSE 1 END"
        if column.name.endswith("_at"):
            yield f"{name} IS NOT NULL AND coalesce({name} NOT LIKE '{_MOMENT}', 1)"


def _types(column: Column[Any]) -> Iterator[str]:
    if column.nullable:
        yield "null"
    if isinstance(column.type, Text):
        yield "text"
    elif isinstance(column.type, Float):
        yield from ("real", "integer")
    elif isinstance(column.type, Integer):
        yield "integer"
    else:
        yield from ("integer", "blob")
