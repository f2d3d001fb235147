"""Replications go from one database to another, each with all that belongs to it or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, select

from railgauge.store.checksums import BESIDE, unsaid
from railgauge.store.copy_logs import LogCopier, copy_launches
from railgauge.store.copy_tables import (
    KEYS,
    TABLES,
    DatabaseRow,
    Span,
    Translator,
    Values,
    fetch_rows,
    owned,
)
from railgauge.store.models import (
    BenchCase,
    LossRun,
    Measurement,
    RunCase,
    SeriesRow,
    TraceRow,
)
from railgauge.store.write import chunks, insert_rows

_REPLICATION = TABLES["replication"]
_VALUE = TABLES["value"]
# What of a replication may have changed without its values.
_PARTS = (TraceRow.__tablename__, SeriesRow.__tablename__, BESIDE)
# Rows of a trace's table at once, each of which may be large.
_TRACES = 1
Key = tuple[int, int]


@dataclass(slots=True)
class ReplicationCopier:
    """Copies the replications of a run; `differences` gets those that differ in the databases.

    `left_out` rows are not copied, by (table, run_case id, number). `differing` are the other
    database's cases (ids) that have such replications.
    """

    old: Connection
    translator: Translator
    runs: Mapping[int, int]
    logs: LogCopier
    differences: list[str]
    left_out: Collection[tuple[str, int, int]]
    differing: set[int] = field(default_factory=set)
    # Their ids in the other database.
    launches: dict[int, int] = field(default_factory=dict)

    def launched(self, new: Connection, span: Span) -> Iterator[tuple[int, bool]]:
        """Yield the launch of each of the span's replications, and whether the other has that."""
        cases = self._cases(new, span.cases)
        key = _REPLICATION.c.run_case_id, _REPLICATION.c.number
        query = select(*key).where(span.of(_REPLICATION, cases))
        existing = {tuple(row) for row in new.execute(query)}
        query = select(*key, _REPLICATION.c.launch_id).where(span.of(_REPLICATION))
        for row in self.old.execute(query):
            if row.launch_id is not None:
                yield row.launch_id, (cases[row.run_case_id], row.number) in existing

    def copy_launches(self, new: Connection, launches: Collection[int]) -> None:
        """Copy launches of the run: before its replications, and in the order in which they came.

        What a launch took is the time until the next one began.
        """
        launch = TABLES["launch"]
        query = select(launch.c.run_case_id).where(launch.c.id.in_(launches)).distinct()
        cases = self._cases(new, self.old.execute(query).scalars().all())
        self.launches |= copy_launches(self.old, new, self.translator, set(launches), cases)

    def copy(self, new: Connection, span: Span) -> int:
        """Copy those of the span that are missing; return how many."""
        cases = self._cases(new, span.cases)
        query = select(_REPLICATION).where(span.of(_REPLICATION))
        rows = [
            row
            for row in self.old.execute(query.order_by(*_REPLICATION.primary_key))
            if self._is_whole(_REPLICATION, row)
        ]
        query = select(_REPLICATION).where(span.of(_REPLICATION, cases))
        existing = {(row.run_case_id, row.number): row for row in new.execute(query)}
        values = self.translator.rows(
            new,
            _VALUE,
            self.old.execute(select(_VALUE).where(span.of(_VALUE))).all(),
            {"run_case": cases},
        )
        missing = [row for row in rows if (cases[row.run_case_id], row.number) not in existing]
        self._compare(new, span, cases, rows, existing, values)
        if missing:
            self._insert(new, span, cases, missing, values)
        return len(missing)

    def _insert(
        self,
        new: Connection,
        span: Span,
        cases: Mapping[int, int],
        missing: Sequence[DatabaseRow],
        values: Sequence[Values],
    ) -> None:
        pairs = {(row.launch_id, row.number) for row in missing if row.launch_id is not None}
        launches = {launch: self.launches[launch] for launch, _ in pairs}
        self.logs.copy_of_launches(new, pairs, launches)
        ids = {"run_case": cases, "launch": launches}
        replications = self.translator.rows(new, _REPLICATION, missing, ids)
        for row, target_row in zip(missing, replications, strict=True):
            key = row.run_case_id, row.number
            if any((name, *key) in self.left_out for name in _PARTS) and row.checksum is not None:
                target_row["checksum"] = unsaid(row.checksum)
        insert_rows(new, _REPLICATION, replications)
        keys = {(row.run_case_id, row.number) for row in missing}
        target_keys = {(cases[case], number) for case, number in keys}
        insert_rows(
            new,
            _VALUE,
            [row for row in values if (row["run_case_id"], row["number"]) in target_keys],
        )
        for table in owned("replication"):
            if table is _VALUE:
                continue
            query = select(table).where(span.of(table)).order_by(*table.primary_key)
            most = {"most": _TRACES} if table is TraceRow.__table__ else {}
            for chunk in fetch_rows(self.old, query, **most):
                rows = [
                    row
                    for row in chunk
                    if (row.run_case_id, row.number) in keys and self._is_whole(table, row)
                ]
                insert_rows(new, table, self.translator.rows(new, table, rows, ids))

    def _is_whole(self, table: Table, row: DatabaseRow) -> bool:
        name = TraceRow.__tablename__ if table is LossRun.__table__ else table.name
        return (name, row.run_case_id, row.number) not in self.left_out

    def _cases(self, new: Connection, cases: Sequence[int]) -> dict[int, int]:
        """Return the other database's ids of these cases of the run."""
        target_ids: dict[int, int] = {}
        for chunk in chunks(cases, KEYS):
            keys = {
                row.id: (row.test, row.key)
                for row in self.old.execute(_select_names().where(RunCase.id.in_(chunk)))
            }
            query = _select_names().where(
                RunCase.run_id.in_(self.runs.values()),
                BenchCase.key.in_({key for _, key in keys.values()}),
            )
            ids_by_name = {(row.test, row.key): row.id for row in new.execute(query)}
            target_ids |= {number: ids_by_name[name] for number, name in keys.items()}
        return target_ids

    def _compare(
        self,
        new: Connection,
        span: Span,
        cases: Mapping[int, int],
        rows: Sequence[DatabaseRow],
        existing: Mapping[Key, DatabaseRow],
        values: Sequence[Values],
    ) -> None:
        """Note the replications that both have and that are not the same."""
        common = [row for row in rows if (cases[row.run_case_id], row.number) in existing]
        if not common:
            return
        keys = {(cases[row.run_case_id], row.number): row for row in common}
        plain = self.translator.rows(
            new, _REPLICATION, common, {"run_case": cases, "launch": _IdentityIds()}
        )
        differ = {
            key
            for key, source in zip(keys, plain, strict=True)
            if any(
                getattr(existing[key], name) != source[name]
                for name in source
                # Databases that were copied by an older railgauge have no checksums.
                if name not in ("launch_id", "checksum")
            )
        }
        source_values: set[tuple[Any, ...]] = {
            (row["run_case_id"], row["number"], row["metric_id"], row["value"])
            for row in values
            if (row["run_case_id"], row["number"]) in keys
        }
        query = select(
            Measurement.run_case_id, Measurement.number, Measurement.metric_id, Measurement.value
        ).where(span.of(_VALUE, cases))
        target_values: set[tuple[Any, ...]] = {
            tuple(row) for row in new.execute(query) if (row[0], row[1]) in keys
        }
        differ |= {(row[0], row[1]) for row in source_values ^ target_values}
        self.differing |= {case for case, _ in differ}
        for key in sorted(differ):
            self.differences.append(self._sentence(keys[key]))

    def _sentence(self, row: DatabaseRow) -> str:
        ((run, new_run),) = self.runs.items()
        case = self.old.execute(_select_names().where(RunCase.id == row.run_case_id)).one()
        number = f"replication {row.number}" if row.number > 0 else f"warm-up {-row.number}"
        return (
            f"{number} of case {case.key} in test {case.test!r} of run {run} is another one "
            f"there (run {new_run}): it stays as it is"
        )


def _select_names() -> Any:
    return select(RunCase.id, RunCase.test, BenchCase.key).join(BenchCase)


class _IdentityIds(dict[int, int]):
    """Ids that don't matter."""

    def __missing__(self, key: int) -> int:
        return key
