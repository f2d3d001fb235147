"""System logs go into their tables; the caller has the transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, select

from railgauge.store import log_models as tables
from railgauge.store.log_rows import PreparedLog, Row
from railgauge.store.log_series import PackedSeries, pack_numbers
from railgauge.store.write import chunks, insert_missing, insert_rows, insert_with_ids, look_up

# The numbers of counters' names and, by their hashes, of sets of labels, as far as met.
Numbers = MutableMapping[str, int]


@dataclass(frozen=True, slots=True)
class LogGroup:
    """A replication's logs, one a host: of whatever its launch measured, or of a group's `pairs`.

    Those of a stretch before or after a run have no number.
    """

    number: int | None
    pairs: bool
    logs: Sequence[PreparedLog]


def has_idle_logs(connection: Connection, run_id: int, logs: Sequence[PreparedLog]) -> bool:
    """Return whether the first of these logs, which belong to no launch, is there."""
    head = next((log.head for log in logs if log.head is not None), None)
    if head is None:
        return False
    same = [tables.LOG.c[name] == head[name] for name in ("host", "phase", "started_at")]
    query = select(tables.LOG.c.id).where(
        tables.LOG.c.run_id == run_id, tables.LOG.c.launch_id.is_(None), *same
    )
    return connection.execute(query).first() is not None


def insert_logs(
    connection: Connection,
    run_id: int,
    launch_id: int | None,
    logs: Iterable[LogGroup],
    numbers: Numbers,
) -> list[Row]:
    """Store logs, and notes on what of them can't be stored; return the logs' own rows.

    `numbers` is added to; it's worthless when the transaction is rolled back.
    """
    stored: list[PreparedLog] = []
    heads: list[Row] = []
    notes: list[Row] = []
    seen_hosts: set[tuple[int, str]] = set()
    for group in logs:
        number = group.number
        place = {"run_id": run_id, "launch_id": launch_id, "number": number}
        for prepared in group.logs:
            log_notes = list(prepared.notes)
            if prepared.head is not None and (number, prepared.host) in seen_hosts:
                log_notes.append("the log was left out: the host has another one")
            elif prepared.head is not None:
                if number is not None:
                    seen_hosts.add((number, prepared.host))
                stored.append(prepared)
                scope = prepared.host if group.pairs else ""
                heads.append(place | prepared.head | {"scope": scope})
            notes += [place | {"host": prepared.host, "note": note} for note in log_notes]
    insert_rows(connection, tables.LOG_NOTE, notes)
    if not stored:
        return []
    sets = _label_sets(connection, [prepared.labels for prepared in stored], numbers)
    for head, prepared in zip(heads, stored, strict=True):
        head["label_set_id"] = sets.get(id(prepared.labels))
    ids = insert_with_ids(connection, tables.LOG, heads)
    _insert_rows(connection, ids, stored)
    _insert_packed(connection, ids, stored, numbers)
    return heads


def _insert_rows(connection: Connection, ids: Sequence[int], logs: Sequence[PreparedLog]) -> None:
    rows: dict[Table, list[Row]] = {}
    for log_id, prepared in zip(ids, logs, strict=True):
        for table, table_rows in prepared.rows.items():
            rows.setdefault(table, []).extend({"log_id": log_id, **row} for row in table_rows)
    for table, table_rows in rows.items():
        for chunk in chunks(table_rows):
            insert_rows(connection, table, chunk)


def _insert_packed(
    connection: Connection, ids: Sequence[int], logs: Sequence[PreparedLog], numbers: Numbers
) -> None:
    packed: dict[Table, list[tuple[Row, PackedSeries]]] = {}
    for log_id, prepared in zip(ids, logs, strict=True):
        if (series := prepared.series) is not None:
            row = {"log_id": log_id, "samples": series.samples}
            packed.setdefault(tables.LOG_SERIES, []).append((row, series))
        if (protocols := prepared.protocols) is not None:
            row = {"log_id": log_id, "gauges": protocols.gauges, **protocols.sums}
            packed.setdefault(tables.PROTOCOL_LOG, []).append((row, protocols.packed))
    names = {name for rows in packed.values() for _, series in rows for name in series.names}
    _assign_numbers(connection, names, numbers)
    for table, rows in packed.items():
        insert_rows(
            connection,
            table,
            [
                {
                    **row,
                    "counters": pack_numbers([numbers[name] for name in series.names]),
                    "data": series.data,
                }
                for row, series in rows
            ],
        )


def _assign_numbers(connection: Connection, names: Iterable[str], numbers: Numbers) -> None:
    """Give each of the names a number, the same as ever."""
    # Sorted, so that two runs that store the same new names can't lock each other out.
    for chunk in chunks(sorted(name for name in names if name not in numbers)):
        insert_missing(connection, tables.COUNTER, [{"name": name} for name in chunk])
        numbers.update(look_up(connection, tables.COUNTER.c.name, tables.COUNTER.c.id, chunk))


def _label_sets(
    connection: Connection, labels: Iterable[Mapping[str, str]], numbers: Numbers
) -> dict[int, int]:
    """Store the sets of labels that are new; returns all their ids by the identity of each."""
    texts = {
        id(label_set): json.dumps(label_set, sort_keys=True, ensure_ascii=False)
        for label_set in labels
        if label_set
    }
    keys = {number: hashlib.sha256(text.encode()).hexdigest() for number, text in texts.items()}
    contents: dict[str, Mapping[str, str]] = {
        keys[id(label_set)]: label_set
        for label_set in labels
        if id(label_set) in keys and keys[id(label_set)] not in numbers
    }
    ids = _label_set_ids(connection, contents) if contents else {}
    missing = sorted(set(contents) - set(ids))
    if missing:
        insert_missing(connection, tables.LABEL_SET, [{"key": key} for key in missing])
        new = _label_set_ids(connection, missing)
        rows: list[dict[str, Any]] = [
            {"label_set_id": new[key], "name": name, "label": label}
            for key in missing
            for name, label in contents[key].items()
        ]
        insert_missing(connection, tables.LABEL, rows)
        ids |= new
    numbers.update(ids)
    return {number: numbers[key] for number, key in keys.items()}


def _label_set_ids(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    return look_up(connection, tables.LABEL_SET.c.key, tables.LABEL_SET.c.id, keys)
