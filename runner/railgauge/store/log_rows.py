"""A system log's counters as rows of the tables, and back: every counter has exactly one place.

What the databases can't hold (a count beyond 64 bits, a name of thousands of characters) is left
out and noted, as neither a measurement nor the rest of its log may be lost over it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Table

from railgauge.base.errors import StoreError
from railgauge.base.systemlog import SoakLoad, SystemLog
from railgauge.store import log_models as tables
from railgauge.store.log_columns import (
    CPU,
    HOST,
    INTERFACE,
    LARGEST,
    MEMORY,
    PROTOCOL_SUMS,
    SMALLEST,
    Field,
)
from railgauge.store.log_series import PackedSeries, pack_counters, pack_series
from railgauge.store.write import iso, plain_text

# PostgreSQL's indexes hold no long texts, and no kernel has such names.
LONGEST_NAME = 300
_MOST_CPUS = 2**31
_LARGEST_SUM = 9 * 10**18
# More notes of one log are of no help to anybody.
_MOST_NOTES = 10

# What the logs of hosts on one machine have in common, as the same objects.
_OF_MACHINE = ("ticks_per_second", "counts", "gauges", "labels", "series", "soak")

# Machines have the same counters again and again: where those stand is looked up once.
_NAMES_KEPT = 1 << 14

Row = dict[str, Any]

# The tables with a column a counter: what the counters of their rows are called.
_NAMES: Mapping[Table, Sequence[tuple[Field, str]]] = {
    tables.HOST_LOG: [(field, name) for name, field in HOST.items()],
    tables.MEMORY_LOG: [(field, f"memory/{name}") for name, field in MEMORY.items()],
    tables.CPU_LOG: [
        (field, f"{family}/{{cpu}}" + (f"/{name}" if name else ""))
        for (family, name), field in CPU.items()
    ],
    tables.INTERFACE_LOG: [
        (field, f"interface/{{interface}}/{name}") for name, field in INTERFACE.items()
    ],
}
_EMPTY: Mapping[Table, Row] = {
    table: {field.column: None for field, _ in fields} for table, fields in _NAMES.items()
}


@dataclass(frozen=True, slots=True)
class PackedProtocols:
    """A log's counters of protocols, of which the last are `gauges`, and sums by their columns."""

    gauges: int
    sums: Row
    packed: PackedSeries


@dataclass(slots=True)
class PreparedLog:
    """A log's own row, or None if not even that can be stored, and its rows in other tables."""

    host: str
    head: Row | None
    rows: dict[Table, list[Row]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    protocols: PackedProtocols | None = None
    series: PackedSeries | None = None
    notes: list[str] = field(default_factory=list)


class _Wide(NamedTuple):
    """Where a counter stands that has a column: the row's key in that table, and the column."""

    table: Table
    key: tuple[tuple[str, str | int], ...]
    field: Field


def prepare(logs: Sequence[SystemLog]) -> list[PreparedLog]:
    """Return each log's rows to store; takes milliseconds, so the database isn't locked yet.

    Of two hosts that are one machine the counters are the same, and prepared once.
    """
    counters: dict[tuple[int, ...], PreparedLog] = {}
    prepared = []
    for log in logs:
        host = plain_text(log.host)[:LONGEST_NAME]
        try:
            head = _head(log)
        except StoreError as error:
            prepared.append(PreparedLog(host, None, notes=[f"the log was left out: {error}"]))
            continue
        machine = tuple(id(getattr(log, name)) for name in _OF_MACHINE)
        if machine not in counters:
            counters[machine] = _prepare_counters(log)
        prepared.append(replace(counters[machine], host=host, head=head))
    return prepared


def _prepare_counters(log: SystemLog) -> PreparedLog:
    """Return the rows of the log's counters, for no host yet."""
    prepared = PreparedLog("", None)
    notes: list[str] = []
    wide: dict[tuple[Any, ...], Row] = {}
    protocols: tuple[Row, Row] = ({}, {})
    for is_gauge, values in ((False, log.counts), (True, log.gauges)):
        for name, count in storable(values, notes).items():
            if _is_protocol(name):
                protocols[is_gauge][name] = count
            else:
                _place(name, count, is_gauge, log.ticks_per_second, prepared.rows, wide)
    prepared.protocols = _pack_protocols(*protocols)
    prepared.labels = {
        plain_text(name): plain_text(label)
        for name, label in log.labels.items()
        if _fits(name, notes)
    }
    soak = _soak(log.soak, notes)
    if soak:
        prepared.rows[tables.SOAK_LOG] = soak
    if log.series is not None:
        try:
            prepared.series = pack_series(log.series, LONGEST_NAME)
        except StoreError as error:
            notes.append(str(error))
    more = len(notes) - _MOST_NOTES
    prepared.notes = notes[:_MOST_NOTES] + ([f"and {more} more"] if more > 0 else [])
    return prepared


@lru_cache(maxsize=_NAMES_KEPT)
def _is_protocol(name: str) -> bool:
    return name.startswith("protocol/") and name.count("/") == 2


def _pack_protocols(counts: Mapping[str, int], gauges: Mapping[str, int]) -> PackedProtocols | None:
    if not counts and not gauges:
        return None
    sums = {
        column: sum(counts.get(name, 0) for name in names)
        for column, names in PROTOCOL_SUMS.items()
    }
    return PackedProtocols(
        len(gauges),
        {column: value if abs(value) < _LARGEST_SUM else None for column, value in sums.items()},
        # In the names' order, whose numbers are close to one another.
        pack_counters([*sorted(counts.items()), *sorted(gauges.items())], LONGEST_NAME),
    )


def _head(log: SystemLog) -> Row:
    if not (math.isfinite(log.elapsed) and log.elapsed >= 0):
        raise StoreError(f"it took {log.elapsed} s")
    if not 0 < log.ticks_per_second < 2**31:
        raise StoreError(f"its clock ticks {log.ticks_per_second} times a second")
    if len(log.host) > LONGEST_NAME:
        raise StoreError("its host's name is too long")
    return {
        "host": plain_text(log.host),
        "phase": log.phase,
        "started_at": iso(log.started_at),
        # A float, and no zero below zero: its checksum is of what the database gives back.
        "elapsed": log.elapsed + 0.0,
        "ticks_per_second": log.ticks_per_second,
    }


def _fits(name: str, notes: list[str]) -> bool:
    if len(name) > LONGEST_NAME:
        notes.append(f"{name[:40]!r}… was left out: its name has {len(name)} characters")
    return len(name) <= LONGEST_NAME


_plain_name = lru_cache(maxsize=_NAMES_KEPT)(plain_text)


def storable(values: Mapping[str, int], notes: list[str]) -> dict[str, int]:
    """Return the counters that the databases hold, by names that they hold."""
    counts: dict[str, int] = {}
    for raw_name, count in values.items():
        name = _plain_name(raw_name)
        if not _fits(name, notes):
            continue
        if not SMALLEST <= count <= LARGEST:
            notes.append(f"{name!r} was left out: {count} does not fit 64 bits")
        elif name in counts:
            notes.append(f"{name!r} was left out: another one is called so when stored")
        else:
            counts[name] = count
    return counts


def _place(
    name: str,
    count: int,
    is_gauge: bool,
    ticks_per_second: int,
    rows: dict[Table, list[Row]],
    wide: dict[tuple[Any, ...], Row],
) -> None:
    place = _wide(name)
    if place is not None and place.field.gauge == is_gauge:
        value = place.field.to_column(count, ticks_per_second)
        if value is not None:
            row = wide.get((place.table, place.key))
            if row is None:
                row = wide[place.table, place.key] = dict(_EMPTY[place.table]) | dict(place.key)
                rows.setdefault(place.table, []).append(row)
            row[place.field.column] = value
            return
    table, head, column = _narrow(name, is_gauge)
    rows.setdefault(table, []).append({**head, column: count})


@lru_cache(maxsize=_NAMES_KEPT)
def _wide(name: str) -> _Wide | None:
    parts = name.split("/")
    field = HOST.get(name)
    if field is not None:
        return _Wide(tables.HOST_LOG, (), field)
    match parts:
        case ["memory", line] if line in MEMORY:
            return _Wide(tables.MEMORY_LOG, (), MEMORY[line])
        case ["interface", interface, counter] if counter in INTERFACE:
            return _Wide(tables.INTERFACE_LOG, (("interface", interface),), INTERFACE[counter])
        case [family, cpu, counter] if (family, counter) in CPU and counter and _is_index(cpu):
            return _Wide(tables.CPU_LOG, (("cpu", int(cpu)),), CPU[family, counter])
        case [family, cpu] if (family, "") in CPU and _is_index(cpu):
            return _Wide(tables.CPU_LOG, (("cpu", int(cpu)),), CPU[family, ""])
    return None


@lru_cache(maxsize=_NAMES_KEPT)
def _narrow(name: str, is_gauge: bool) -> tuple[Table, Row, str]:
    """Return the row of a counter that has no column, and where in it the count goes."""
    match name.split("/"):
        case ["interrupt" | "softirq" as family, line, cpu] if not is_gauge and _is_index(cpu):
            kind = "irq" if family == "interrupt" else family
            return tables.INTERRUPT_LOG, {"kind": kind, "name": line, "cpu": int(cpu)}, "count"
        case ["fabric", device, port, counter] if not is_gauge:
            row: Row = {"device": device, "port": port, "counter": counter}
            return tables.FABRIC_LOG, row, "value"
    return tables.COUNTER_LOG, {"name": name, "is_gauge": is_gauge}, "value"


def _is_index(text: str) -> bool:
    """Return whether `text` is how a CPU's number is written, so that it comes back the same."""
    return (
        text.isascii()
        and text.isdigit()
        and len(text) <= 10
        and str(int(text)) == text
        and int(text) < _MOST_CPUS
    )


def _soak(loads: Sequence[SoakLoad], notes: list[str]) -> list[Row]:
    rows: dict[int, Row] = {}
    for load in loads:
        figures = {"load": load.load, "lost": load.lost, "slowdown": load.slowdown}
        if not 0 <= load.cpu < _MOST_CPUS or load.cpu in rows:
            notes.append(
                f"CPU {load.cpu} of the soak was left out: there is no such, or it is twice"
            )
        elif not all(map(math.isfinite, figures.values())):
            notes.append(f"CPU {load.cpu} of the soak was left out: {figures} are no shares")
        else:
            rows[load.cpu] = {"cpu": load.cpu, **figures}
    return list(rows.values())


def counters(table: Table, row: Row, ticks_per_second: int) -> Iterator[tuple[bool, str, int]]:
    """Yield (is it a gauge, name, count) of each counter in a table's row."""
    if table in _NAMES:
        for field, name in _NAMES[table]:
            value = row[field.column]
            if value is not None:
                yield field.gauge, name.format_map(row), field.to_count(value, ticks_per_second)
    elif table is tables.INTERRUPT_LOG:
        kind = "interrupt" if row["kind"] == "irq" else row["kind"]
        yield False, f"{kind}/{row['name']}/{row['cpu']}", row["count"]
    elif table is tables.FABRIC_LOG:
        yield False, f"fabric/{row['device']}/{row['port']}/{row['counter']}", row["value"]
    else:
        yield bool(row["is_gauge"]), row["name"], row["value"]
