"""Replications go from one database to another, each with all that belongs to it or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, func, select

from railgauge.store.copy_logs import LogCopier, copy_launches
from railgauge.store.copy_tables import (
    TABLES,
    Translator,
    Values,
    fetch_rows,
    insert_rows,
    owned,
    some_of,
)
from railgauge.store.models import BenchCase, Measurement, Replication, RunCase, TraceRow

_REPLICATION = TABLES["replication"]
_VALUE = TABLES["value"]
# What one transaction takes: so many cases, replications and bytes of traces.
_CASES = 500
_MOST = 2_000
_BYTES = 2**26
# Rows of a trace's table at once, each of which may be large.
_TRACES = 1
Key = tuple[int, int]


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


def spans(old: Connection, run_id: int) -> Iterator[Span]:
    """Yield the run's replications in parts that memory and a transaction can hold."""
    last = 0
    while True:
        query = select(RunCase.id).where(RunCase.run_id == run_id, RunCase.id > last)
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
    together: list[int] = []
    count = size = 0
    for case, replications, taken in old.execute(sizes).all():
        large = replications > _MOST or taken > _BYTES
        if together and (large or count + replications > _MOST or size + taken > _BYTES):
            yield Span(tuple(together))
            together, count, size = [], 0, 0
        if large:
            yield from _parts(old, case)
        else:
            together.append(case)
            count += replications
            size += taken
    if together:
        yield Span(tuple(together))


def _parts(old: Connection, case: int) -> Iterator[Span]:
    """Yield a large case's replications, some at once."""
    query = _sized(select(Replication.number, func.coalesce(func.length(TraceRow.data), 0)), [case])
    first: int | None = None
    last = count = size = 0
    for number, taken in old.execute(query.order_by(Replication.number)).all():
        if first is not None and (count == _MOST or size + taken > _BYTES):
            yield Span((case,), first, last)
            first, count, size = None, 0, 0
        first = number if first is None else first
        last = number
        count += 1
        size += taken
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


class ReplicationCopier:
    """Copies the replications of a run; `told` gets those that both databases have differently.

    `differing` are the other database's cases (ids) that have such replications.
    """

    def __init__(
        self,
        old: Connection,
        translator: Translator,
        runs: Mapping[int, int],
        logs: LogCopier,
        told: list[str],
    ) -> None:
        self._old = old
        self._translator = translator
        ((self._run, self._new_run),) = runs.items()
        self._logs = logs
        self._told = told
        self.differing: set[int] = set()

    def copy(self, new: Connection, span: Span) -> int:
        """Copy those of the span that are missing; return how many."""
        cases = self._cases(new, span.cases)
        query = select(_REPLICATION).where(span.of(_REPLICATION))
        rows = self._old.execute(query.order_by(*_REPLICATION.primary_key)).all()
        query = select(_REPLICATION).where(span.of(_REPLICATION, cases))
        there = {(row.run_case_id, row.number): row for row in new.execute(query)}
        values = self._translator.rows(
            new,
            _VALUE,
            self._old.execute(select(_VALUE).where(span.of(_VALUE))).all(),
            {"run_case": cases},
        )
        missing = [row for row in rows if (cases[row.run_case_id], row.number) not in there]
        self._compare(new, span, cases, rows, there, values)
        if missing:
            self._insert(new, span, cases, missing, values)
        return len(missing)

    def _insert(
        self,
        new: Connection,
        span: Span,
        cases: Mapping[int, int],
        missing: Sequence[Row[*tuple[Any, ...]]],
        values: Sequence[Values],
    ) -> None:
        pairs = {(row.launch_id, row.number) for row in missing if row.launch_id is not None}
        launches = self._launches(new, {launch for launch, _ in pairs}, cases)
        self._logs.copy_of_launches(new, pairs, launches)
        ids = {"run_case": cases, "launch": launches}
        insert_rows(new, _REPLICATION, self._translator.rows(new, _REPLICATION, missing, ids))
        keys = {(row.run_case_id, row.number) for row in missing}
        there = {(cases[case], number) for case, number in keys}
        insert_rows(
            new, _VALUE, [row for row in values if (row["run_case_id"], row["number"]) in there]
        )
        for table in owned("replication"):
            if table is _VALUE:
                continue
            query = select(table).where(span.of(table)).order_by(*table.primary_key)
            most = {"most": _TRACES} if table is TraceRow.__table__ else {}
            for some in fetch_rows(self._old, query, **most):
                rows = [row for row in some if (row.run_case_id, row.number) in keys]
                insert_rows(new, table, self._translator.rows(new, table, rows, ids))

    def _launches(
        self, new: Connection, launches: set[int], cases: Mapping[int, int]
    ) -> dict[int, int]:
        """Return the other database's ids of the launches, which may be those of other cases."""
        launch = TABLES["launch"]
        of: set[int] = set()
        for some in some_of(sorted(launches)):
            query = select(launch.c.run_case_id).where(launch.c.id.in_(some))
            of |= set(self._old.execute(query).scalars())
        more = self._cases(new, sorted(of - set(cases)))
        return copy_launches(self._old, new, self._translator, launches, {**cases, **more})

    def _cases(self, new: Connection, cases: Sequence[int]) -> dict[int, int]:
        """Return the other database's ids of these cases of the run."""
        found: dict[int, int] = {}
        for some in some_of(cases):
            keys = {
                row.id: (row.test, row.key)
                for row in self._old.execute(_named().where(RunCase.id.in_(some)))
            }
            query = _named().where(
                RunCase.run_id == self._new_run,
                BenchCase.key.in_({key for _, key in keys.values()}),
            )
            there = {(row.test, row.key): row.id for row in new.execute(query)}
            found |= {number: there[name] for number, name in keys.items()}
        return found

    def _compare(
        self,
        new: Connection,
        span: Span,
        cases: Mapping[int, int],
        rows: Sequence[Row[*tuple[Any, ...]]],
        there: Mapping[Key, Row[*tuple[Any, ...]]],
        values: Sequence[Values],
    ) -> None:
        """Tell of replications that both have and that are not the same."""
        both = [row for row in rows if (cases[row.run_case_id], row.number) in there]
        if not both:
            return
        keys = {(cases[row.run_case_id], row.number): row for row in both}
        plain = self._translator.rows(
            new, _REPLICATION, both, {"run_case": cases, "launch": _Anything()}
        )
        differ = {
            key
            for (key, _), one in zip(keys.items(), plain, strict=True)
            if any(getattr(there[key], name) != one[name] for name in one if name != "launch_id")
        }
        ours: set[tuple[Any, ...]] = {
            (row["run_case_id"], row["number"], row["metric_id"], row["value"])
            for row in values
            if (row["run_case_id"], row["number"]) in keys
        }
        query = select(
            Measurement.run_case_id, Measurement.number, Measurement.metric_id, Measurement.value
        ).where(span.of(_VALUE, cases))
        theirs: set[tuple[Any, ...]] = {
            tuple(row) for row in new.execute(query) if (row[0], row[1]) in keys
        }
        differ |= {(row[0], row[1]) for row in ours ^ theirs}
        self.differing |= {case for case, _ in differ}
        for key in sorted(differ):
            self._told.append(self._sentence(keys[key]))

    def _sentence(self, row: Row[*tuple[Any, ...]]) -> str:
        case = self._old.execute(_named().where(RunCase.id == row.run_case_id)).one()
        number = f"replication {row.number}" if row.number > 0 else f"warm-up {-row.number}"
        return (
            f"{number} of case {case.key} in test {case.test!r} of run {self._run} is another one "
            f"there (run {self._new_run}): it stays as it is"
        )


def _named() -> Any:
    return select(RunCase.id, RunCase.test, BenchCase.key).join(BenchCase)


class _Anything(dict[int, int]):
    """Ids that don't matter."""

    def __missing__(self, key: int) -> int:
        return key
