"""Launches and what they saw beside values go from one database to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, select

from railgauge.base.errors import StoreError
from railgauge.store.copy_tables import (
    TABLES,
    Translator,
    Values,
    fetch_rows,
    insert_rows,
    insert_with_ids,
    owned,
    some_of,
)
from railgauge.store.log_series import pack_numbers, unpack_numbers

_LAUNCH = TABLES["launch"]
_LOG = TABLES["log"]
_NOTE = TABLES["log_note"]
# A launch, and the number of the replications that it measured at once.
Pair = tuple[int, int]
# Logs at once, with some hundred counters each.
_LOGS = 100


def copy_launches(
    old: Connection,
    new: Connection,
    translator: Translator,
    launches: Collection[int],
    cases: Mapping[int, int],
) -> dict[int, int]:
    """Return the ids that these launches have in the other database, where missing ones are added.

    `cases`: the ids there of the run cases of these launches. A launch is known by all it says; of
    two that say the same, the first is the first.
    """
    ids: dict[int, int] = {}
    for some in some_of(sorted(launches)):
        heads = old.execute(
            select(_LAUNCH.c.run_case_id, _LAUNCH.c.started_at).where(_LAUNCH.c.id.in_(some))
        ).all()
        moments = {row.started_at for row in heads}
        of_old = {row.run_case_id for row in heads}
        before = _of_moments(old, of_old, moments)
        rows = translator.rows(new, _LAUNCH, before, {"run_case": cases})
        there = _of_moments(new, {cases[number] for number in of_old}, moments)
        known = _in_order((dict(row._mapping) for row in there), [row.id for row in there])
        named = list(_in_order(rows, range(len(rows))))
        missing = [place for place, name in enumerate(named) if name not in known]
        added = insert_with_ids(new, _LAUNCH, [rows[place] for place in missing])
        known |= {named[place]: number for place, number in zip(missing, added, strict=True)}
        ids |= {row.id: known[name] for row, name in zip(before, named, strict=True)}
    return ids


def _of_moments(
    connection: Connection, cases: Iterable[int], moments: Iterable[str]
) -> Sequence[Row[*tuple[Any, ...]]]:
    query = select(_LAUNCH).where(
        _LAUNCH.c.run_case_id.in_(cases), _LAUNCH.c.started_at.in_(moments)
    )
    return connection.execute(query.order_by(_LAUNCH.c.id)).all()


def _in_order(rows: Iterable[Values], ids: Iterable[int]) -> dict[tuple[Any, ...], int]:
    """Return the ids by what the rows say, and how many before them say the same."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = {}
    for row, number in zip(rows, ids, strict=True):
        said = tuple(value for name, value in sorted(row.items()) if name != "id")
        found[*said, seen[said]] = number
        seen[said] += 1
    return found


class LogCopier:
    """Copies a run's system logs, ports and notes; `told` gets what could not be copied."""

    def __init__(
        self, old: Connection, translator: Translator, runs: Mapping[int, int], told: list[str]
    ) -> None:
        self._old = old
        self._translator = translator
        self._runs = runs
        self._told = told

    def copy_of_launches(
        self, new: Connection, pairs: Collection[Pair], launches: Mapping[int, int]
    ) -> None:
        """Copy all that these launches saw during those replications, if it isn't there."""
        missing = set(pairs) - self._present(new, pairs, launches)
        for some in some_of(sorted({launch for launch, _ in missing})):
            self._copy_logs(new, _LOG.c.launch_id.in_(some), launches, missing)
            for table in owned("launch"):
                where = [table.c.launch_id.in_(some)]
                if table is _NOTE:
                    # The only index that it has.
                    where.append(table.c.run_id.in_(self._runs))
                self._copy_rows(new, table, where, launches, missing)

    def copy_idle(self, new: Connection) -> int:
        """Copy the logs of the stretches around the run that aren't there; return how many."""
        known = {(row.host, row.phase, row.started_at) for row in self._idle(new, _LOG, True)}
        wanted = [
            row.id
            for row in self._idle(self._old, _LOG, False)
            if (row.host, row.phase, row.started_at) not in known
        ]
        for some in some_of(wanted):
            self._copy_logs(new, _LOG.c.id.in_(some), {}, None)
        there = Counter((row.host, row.note) for row in self._idle(new, _NOTE, True))
        rows = []
        for row in self._idle(self._old, _NOTE, False):
            if there[row.host, row.note]:
                there[row.host, row.note] -= 1
            else:
                rows.append(row)
        ids = {"run": self._runs, "launch": {}}
        insert_rows(new, _NOTE, self._translator.rows(new, _NOTE, rows, ids))
        return len(wanted) + len(rows)

    def _idle(
        self, connection: Connection, table: Table, there: bool
    ) -> Sequence[Row[*tuple[Any, ...]]]:
        runs = self._runs.values() if there else self._runs.keys()
        query = select(table).where(table.c.run_id.in_(runs), table.c.launch_id.is_(None))
        return connection.execute(query.order_by(table.c.id)).all()

    def _present(
        self, new: Connection, pairs: Collection[Pair], launches: Mapping[int, int]
    ) -> set[Pair]:
        """Return the pairs of which anything is there: all of it is, as it came together."""
        old_of = {launches[launch]: launch for launch, _ in pairs}
        found: set[Pair] = set()
        for some in some_of(sorted(old_of)):
            for table in (_LOG, *owned("launch")):
                query = select(table.c.launch_id, table.c.number).distinct()
                query = query.where(table.c.launch_id.in_(some))
                if table is _NOTE:
                    query = query.where(table.c.run_id.in_(self._runs.values()))
                found |= {(old_of[launch], number) for launch, number in new.execute(query)}
        return found

    def _copy_logs(
        self,
        new: Connection,
        which: ColumnElement[bool],
        launches: Mapping[int, int],
        pairs: Collection[Pair] | None,
    ) -> None:
        query = select(_LOG).where(which).order_by(_LOG.c.id)
        for found in fetch_rows(self._old, query, _LOGS):
            heads = [row for row in found if pairs is None or (row.launch_id, row.number) in pairs]
            ids = {"run": self._runs, "launch": launches}
            numbers = insert_with_ids(new, _LOG, self._translator.rows(new, _LOG, heads, ids))
            logs = {row.id: number for row, number in zip(heads, numbers, strict=True)}
            for table in owned("log") if logs else ():
                parts = select(table).where(table.c.log_id.in_(logs))
                for rows in fetch_rows(self._old, parts):
                    copied = self._translator.rows(new, table, rows, {"log": logs})
                    if table.name == "log_series":
                        copied = self._renumber(new, copied)
                    insert_rows(new, table, copied)

    def _copy_rows(
        self,
        new: Connection,
        table: Table,
        where: Sequence[ColumnElement[bool]],
        launches: Mapping[int, int],
        pairs: Collection[Pair],
    ) -> None:
        ids = {"run": self._runs, "launch": launches}
        for found in fetch_rows(self._old, select(table).where(*where)):
            rows = [row for row in found if (row.launch_id, row.number) in pairs]
            insert_rows(new, table, self._translator.rows(new, table, rows, ids))

    def _renumber(self, new: Connection, rows: Iterable[Values]) -> list[Values]:
        """Return rows of time series with the other database's numbers of counters."""
        kept = []
        for row in rows:
            try:
                numbers = unpack_numbers(row["counters"])
                known = self._translator.shared(new, "counter", numbers)
                row["counters"] = pack_numbers([known[number] for number in numbers])
            except (StoreError, KeyError) as error:
                self._told.append(f"a time series was left out, as it is damaged: {error}")
                continue
            kept.append(row)
        return kept
