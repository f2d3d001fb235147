"""What copying knows of the tables: whose rows are whose, and which ids stand for what.

All of it comes from the tables' own keys, so that one that is added is copied too or, if it's tied
to the others in a way that isn't known here, fails a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    Text,
    UniqueConstraint,
    and_,
    func,
    select,
    tuple_,
)

# The tables of logs are among the metadata's only once they're imported.
from railgauge.store.log_models import LOG_TABLES
from railgauge.store.models import Base, Replication, RunCase, TraceRow
from railgauge.store.write import chunks, insert_missing, plain_text

Values = dict[str, Any]
DatabaseRow = Row[*tuple[Any, ...]]
# Table -> its ids in the one database -> those in the other.
Ids = Mapping[str, Mapping[int, int]]
Owner = Literal["run", "replication", "launch", "log", "label_set"]

TABLES: Mapping[str, Table] = Base.metadata.tables
# Each row once for all runs: found again by what is unique in it.
SHARED = ("host_list", "bench_case", "metric", "label_set", "counter")
# What else has code of its own.
OWN = (
    "run",
    "run_case",
    "launch",
    "replication",
    "log",
    "baseline",
    "baseline_run",
    "certificate",
    "certificate_check",
)
# What one transaction takes: so many cases, replications and bytes of traces.
_CASES = 500
_MOST = 2_000
_BYTES = 2**26
# Rows at once: in memory, and in a list that a query is given.
ROWS = 10_000
KEYS = 500

assert LOG_TABLES


def owner(table: Table) -> Owner | None:
    """Return what a row of the table belongs to; None where its keys don't show that."""
    keys = {column.name for column in table.columns if refers_to(column) is not None}
    numbered = "number" in table.columns
    if "run_case_id" in keys:
        return "replication" if numbered else None
    if "launch_id" in keys:
        return "launch" if numbered else None
    for column, kind in _OWNERS.items():
        if column in keys:
            return kind
    return None


_OWNERS: Mapping[str, Owner] = {"log_id": "log", "label_set_id": "label_set", "run_id": "run"}


def owned(by: Owner) -> list[Table]:
    """Return the tables of such rows, each after those that it refers to."""
    return [
        table
        for table in Base.metadata.sorted_tables
        if table.name not in (*SHARED, *OWN) and owner(table) == by
    ]


@cache
def refers_to(column: Column[Any]) -> str | None:
    """Return the table whose ids the column holds, None for one that holds something else."""
    for key in column.foreign_keys:
        if key.column.name == "id":
            return key.column.table.name
        table_name = refers_to(key.column)
        if table_name is not None:
            return table_name
    return None


def fetch_rows(
    connection: Connection, query: Select[*tuple[Any, ...]], most: int = ROWS
) -> Iterator[Sequence[DatabaseRow]]:
    """Yield the query's rows, `most` at once, of which no more are in memory."""
    result = connection.execute(query, execution_options={"yield_per": most})
    yield from result.partitions()


@dataclass(frozen=True, slots=True)
class Span:
    """Cases of a run (ids), and of a single one perhaps only these numbers of replications."""

    cases: tuple[int, ...]
    first: int = -(2**31)
    last: int = 2**31 - 1

    def of(self, table: Table, cases: Mapping[int, int] | None = None) -> ColumnElement[bool]:
        """Return the condition for such rows; with `cases` by the other database's ids."""
        ids = self.cases if cases is None else tuple(cases[number] for number in self.cases)
        return and_(table.c.run_case_id.in_(ids), table.c.number.between(self.first, self.last))


def spans(old: Connection, run_id: int | None = None) -> Iterator[Span]:
    """Yield the run's replications, or all, in parts that memory and a transaction can hold."""
    last = 0
    while True:
        query = select(RunCase.id).where(RunCase.id > last)
        if run_id is not None:
            query = query.where(RunCase.run_id == run_id)
        cases = list(old.execute(query.order_by(RunCase.id).limit(_CASES)).scalars())
        if not cases:
            return
        last = cases[-1]
        yield from _spans_of(old, cases)


def _spans_of(old: Connection, cases: Sequence[int]) -> Iterator[Span]:
    sizes = (
        _sized(select(Replication.run_case_id, func.count(), _bytes()), cases)
        .group_by(Replication.run_case_id)
        .order_by(Replication.run_case_id)
    )
    small: list[int] = []
    count = size = 0
    for case, replications, byte_count in old.execute(sizes).all():
        large = replications > _MOST or byte_count > _BYTES
        if small and (large or count + replications > _MOST or size + byte_count > _BYTES):
            yield Span(tuple(small))
            small, count, size = [], 0, 0
        if large:
            yield from _parts(old, case)
        else:
            small.append(case)
            count += replications
            size += byte_count
    if small:
        yield Span(tuple(small))


def _parts(old: Connection, case: int) -> Iterator[Span]:
    """Yield a large case's replications, some at once."""
    length = func.coalesce(func.length(TraceRow.data), 0)
    query = _sized(select(Replication.number, length), [case]).order_by(Replication.number)
    first: int | None = None
    last = count = size = 0
    for number, byte_count in chain.from_iterable(fetch_rows(old, query)):
        if first is not None and (count == _MOST or size + byte_count > _BYTES):
            yield Span((case,), first, last)
            first, count, size = None, 0, 0
        first = number if first is None else first
        last = number
        count += 1
        size += byte_count
    if first is not None:
        yield Span((case,), first, last)


def _bytes() -> ColumnElement[int]:
    return func.coalesce(func.sum(func.length(TraceRow.data)), 0)


def _sized(query: Any, cases: Sequence[int]) -> Any:
    return (
        query.select_from(Replication)
        .outerjoin(
            TraceRow,
            (TraceRow.run_case_id == Replication.run_case_id)
            & (TraceRow.number == Replication.number),
        )
        .where(Replication.run_case_id.in_(cases))
    )


def same_keys(
    columns: Sequence[ColumnElement[Any]], keys: Sequence[tuple[Any, ...]]
) -> ColumnElement[bool]:
    """Return that the columns are one of the keys."""
    if len(columns) == 1:
        return columns[0].in_([key[0] for key in keys])
    return tuple_(*columns).in_(keys)


class Translator:
    """Turns rows of the one database into rows of the other, where the ids are different."""

    def __init__(self, old: Connection) -> None:
        self._old = old
        self._shared: dict[str, MutableMapping[int, int]] = {name: {} for name in SHARED}

    def rows(
        self, new: Connection, table: Table, rows: Iterable[DatabaseRow], ids: Ids
    ) -> list[Values]:
        """Return the rows as the other database takes them, without their own ids.

        `ids` are those of tables that aren't shared. Text has neither NUL nor half characters.
        """
        values = [dict(row._mapping) for row in rows]
        for column in table.columns:
            name = column.name
            referred = refers_to(column)
            if referred is not None:
                source_ids = {row[name] for row in values} - {None}
                target_ids = (
                    ids[referred]
                    if referred not in SHARED
                    else self.shared(new, referred, source_ids)
                )
                for row in values:
                    row[name] = None if row[name] is None else target_ids[row[name]]
            elif name == "id":
                for row in values:
                    del row[name]
        texts = [column.name for column in table.columns if isinstance(column.type, Text)]
        for row in values:
            for name in texts:
                if row[name] is not None:
                    row[name] = plain_text(row[name])
        return values

    def shared(self, new: Connection, name: str, ids: Iterable[int]) -> Mapping[int, int]:
        """Return the other database's ids of these rows, which get there if they aren't yet."""
        target_ids = self._shared[name]
        table = TABLES[name]
        unique = _unique(table)
        for chunk in chunks(sorted(set(ids) - set(target_ids)), KEYS):
            query = select(table).where(table.c.id.in_(chunk))
            old = list(self._old.execute(query).all())
            rows = self.rows(new, table, old, {})
            keys = [tuple(row[column.name] for column in unique) for row in rows]
            # Sorted, so that two copies at once can't lock each other out; but metrics in the order
            # in which their engine lists them, as everybody stores them.
            in_order = range(len(rows))
            places = in_order if name == "metric" else sorted(in_order, key=keys.__getitem__)
            insert_missing(new, table, [rows[place] for place in places])
            query = select(table.c.id, *unique).where(same_keys(unique, keys))
            ids_by_key = {tuple(row[1:]): row[0] for row in new.execute(query)}
            target_ids.update((row.id, ids_by_key[key]) for row, key in zip(old, keys, strict=True))
            self._add_parts(new, name, chunk)
        return target_ids

    def _add_parts(self, new: Connection, name: str, ids: Sequence[int]) -> None:
        """Store what belongs to shared rows: the labels of a set."""
        if name != "label_set":
            return
        for table in owned("label_set"):
            query = select(table).where(table.c.label_set_id.in_(ids))
            for rows in fetch_rows(self._old, query):
                insert_missing(new, table, self.rows(new, table, rows, {}))

    def forget(self) -> None:
        """Forget the ids of what there may be very many of, between two runs' parts."""
        self._shared["bench_case"].clear()


@cache
def _unique(table: Table) -> tuple[Column[Any], ...]:
    (constraint,) = (key for key in table.constraints if isinstance(key, UniqueConstraint))
    return tuple(constraint.columns)
