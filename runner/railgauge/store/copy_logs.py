"""Launches and their logs, ports and notes go from one database to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, select

from railgauge.base.errors import StoreError
from railgauge.store.copy_tables import (
    KEYS,
    TABLES,
    DatabaseRow,
    Translator,
    Values,
    fetch_rows,
    owned,
)
from railgauge.store.log_series import pack_numbers, unpack_numbers
from railgauge.store.write import chunks, insert_rows, insert_with_ids

_LAUNCH = TABLES["launch"]
_LOG = TABLES["log"]
_NOTE = TABLES["log_note"]
_SERIES = TABLES["log_series"]
# A launch, and the number of the replications that it measured at once.
Pair = tuple[int, int]
# Logs at once, with some hundred counters each.
_LOGS = 100


def copy_launches(
    old: Connection,
    new: Connection,
    translator: Translator,
    launches: Set[int],
    cases: Mapping[int, int],
) -> dict[int, int]:
    """Return the ids that launches have in the other database, where those given are added.

    `cases`: the ids there of the run cases of these launches. A launch is recognized by all its
    columns, equal ones by their order.
    """
    ids: dict[int, int] = {}
    for chunk in chunks(sorted(launches), KEYS):
        heads = old.execute(
            select(_LAUNCH.c.run_case_id, _LAUNCH.c.started_at).where(_LAUNCH.c.id.in_(chunk))
        ).all()
        moments = {row.started_at for row in heads}
        run_cases = {row.run_case_id for row in heads}
        source_rows = _of_moments(old, run_cases, moments)
        rows = translator.rows(new, _LAUNCH, source_rows, {"run_case": cases})
        target_rows = _of_moments(new, {cases[number] for number in run_cases}, moments)
        target_ids = _ids_by_content(
            (dict(row._mapping) for row in target_rows), [row.id for row in target_rows]
        )
        contents = list(_ids_by_content(rows, range(len(rows))))
        missing = [
            place
            for place, content in enumerate(contents)
            if content not in target_ids and source_rows[place].id in launches
        ]
        added = insert_with_ids(new, _LAUNCH, [rows[place] for place in missing])
        target_ids |= {
            contents[place]: number for place, number in zip(missing, added, strict=True)
        }
        ids |= {
            row.id: target_ids[content]
            for row, content in zip(source_rows, contents, strict=True)
            if content in target_ids
        }
    return ids


def _of_moments(
    connection: Connection, cases: Iterable[int], moments: Iterable[str]
) -> Sequence[DatabaseRow]:
    query = select(_LAUNCH).where(
        _LAUNCH.c.run_case_id.in_(cases), _LAUNCH.c.started_at.in_(moments)
    )
    return connection.execute(query.order_by(_LAUNCH.c.id)).all()


def _ids_by_content(rows: Iterable[Values], ids: Iterable[int]) -> dict[tuple[Any, ...], int]:
    """Return the ids by the rows' contents, and how many equal rows come before."""
    counts: Counter[tuple[Any, ...]] = Counter()
    by_content = {}
    for row, number in zip(rows, ids, strict=True):
        content = tuple(value for name, value in sorted(row.items()) if name != "id")
        by_content[*content, counts[content]] = number
        counts[content] += 1
    return by_content


@dataclass(slots=True)
class LogCopier:
    """Copies a run's system logs, ports and notes; `differences` gets what can't be copied."""

    old: Connection
    translator: Translator
    runs: Mapping[int, int]
    differences: list[str]

    def copy_of_launches(
        self, new: Connection, pairs: Collection[Pair], launches: Mapping[int, int]
    ) -> None:
        """Copy all that these launches saw during those replications, if it isn't there."""
        missing = set(pairs) - self._present(new, pairs, launches)
        for launch_ids in chunks(sorted({launch for launch, _ in missing}), KEYS):
            self._copy_logs(new, _LOG.c.launch_id.in_(launch_ids), launches, missing)
            for table in owned("launch"):
                conditions = [table.c.launch_id.in_(launch_ids)]
                if table is _NOTE:
                    # The only index that it has.
                    conditions.append(table.c.run_id.in_(self.runs))
                self._copy_rows(new, table, conditions, launches, missing)

    def copy_idle(self, new: Connection) -> int:
        """Copy the logs of the stretches around the run that aren't there; return how many."""
        existing = {(row.host, row.phase, row.started_at) for row in self._idle(new, _LOG, True)}
        missing = [
            row.id
            for row in self._idle(self.old, _LOG, False)
            if (row.host, row.phase, row.started_at) not in existing
        ]
        for log_ids in chunks(missing, KEYS):
            self._copy_logs(new, _LOG.c.id.in_(log_ids), {}, None)
        notes = Counter((row.host, row.note) for row in self._idle(new, _NOTE, True))
        rows = []
        for row in self._idle(self.old, _NOTE, False):
            if notes[row.host, row.note]:
                notes[row.host, row.note] -= 1
            else:
                rows.append(row)
        ids = {"run": self.runs, "launch": {}}
        insert_rows(new, _NOTE, self.translator.rows(new, _NOTE, rows, ids))
        return len(missing) + len(rows)

    def _idle(self, connection: Connection, table: Table, in_target: bool) -> Sequence[DatabaseRow]:
        runs = self.runs.values() if in_target else self.runs.keys()
        query = select(table).where(table.c.run_id.in_(runs), table.c.launch_id.is_(None))
        return connection.execute(query.order_by(table.c.id)).all()

    def _present(
        self, new: Connection, pairs: Collection[Pair], launches: Mapping[int, int]
    ) -> set[Pair]:
        """Return the pairs of which anything is there: all of it is, as it came together."""
        old_of = {launches[launch]: launch for launch, _ in pairs}
        present: set[Pair] = set()
        for launch_ids in chunks(sorted(old_of), KEYS):
            for table in (_LOG, *owned("launch")):
                query = select(table.c.launch_id, table.c.number).distinct()
                query = query.where(table.c.launch_id.in_(launch_ids))
                if table is _NOTE:
                    query = query.where(table.c.run_id.in_(self.runs.values()))
                present |= {(old_of[launch], number) for launch, number in new.execute(query)}
        return present

    def _copy_logs(
        self,
        new: Connection,
        condition: ColumnElement[bool],
        launches: Mapping[int, int],
        pairs: Collection[Pair] | None,
    ) -> None:
        query = select(_LOG).where(condition).order_by(_LOG.c.id)
        for chunk in fetch_rows(self.old, query, _LOGS):
            heads = [row for row in chunk if pairs is None or (row.launch_id, row.number) in pairs]
            ids = {"run": self.runs, "launch": launches}
            numbers = insert_with_ids(new, _LOG, self.translator.rows(new, _LOG, heads, ids))
            logs = {row.id: number for row, number in zip(heads, numbers, strict=True)}
            for table in owned("log") if logs else ():
                parts = select(table).where(table.c.log_id.in_(logs))
                for rows in fetch_rows(self.old, parts):
                    copied = self.translator.rows(new, table, rows, {"log": logs})
                    if "counters" in table.columns:
                        copied = self._renumber(new, table, copied)
                    insert_rows(new, table, copied)

    def _copy_rows(
        self,
        new: Connection,
        table: Table,
        conditions: Sequence[ColumnElement[bool]],
        launches: Mapping[int, int],
        pairs: Collection[Pair],
    ) -> None:
        ids = {"run": self.runs, "launch": launches}
        for chunk in fetch_rows(self.old, select(table).where(*conditions)):
            rows = [row for row in chunk if (row.launch_id, row.number) in pairs]
            insert_rows(new, table, self.translator.rows(new, table, rows, ids))

    def _renumber(self, new: Connection, table: Table, rows: Iterable[Values]) -> list[Values]:
        """Return packed rows with the other database's numbers of counters."""
        renumbered = []
        for row in rows:
            try:
                numbers = unpack_numbers(row["counters"])
                target_ids = self.translator.shared(new, "counter", numbers)
                row["counters"] = pack_numbers([target_ids[number] for number in numbers])
            except (StoreError, KeyError) as error:
                name = "time series" if table is _SERIES else "list of protocols' counters"
                self.differences.append(f"a {name} was left out, as it is damaged: {error}")
                continue
            renumbered.append(row)
        return renumbered
