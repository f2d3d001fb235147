"""The tables of system logs, ports and suspicions; `schema/migrations` makes them.

A column that is NULL says that its counter did not move, or began or was reset meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from railgauge.store.log_columns import CPU, HOST, INTERFACE, MEMORY, PORT, PROTOCOL_SUMS, Field
from railgauge.store.models import Base

_ID = BigInteger().with_variant(Integer, "sqlite")
_DOUBLE = Float(53)


def _log_id() -> Column[Any]:
    return Column("log_id", ForeignKey("log.id"), primary_key=True, autoincrement=False)


def _key(name: str, kind: type[Text] | type[Integer] | type[Boolean] = Text) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _fields(fields: Iterable[Field]) -> list[Column[Any]]:
    return [Column(field.column, BigInteger if field.per is None else _DOUBLE) for field in fields]


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, Base.metadata, *columns, sqlite_with_rowid=False)


# Sets of what interrupts are called, each once for all the logs it belongs to; `key` is its hash.
LABEL_SET = Table(
    "label_set",
    Base.metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    UniqueConstraint("key"),
)
LABEL = _table(
    "label",
    Column("label_set_id", ForeignKey("label_set.id"), primary_key=True, autoincrement=False),
    _key("name"),
    Column("label", Text, nullable=False),
)

# What a host's kernel counted in an interval. That of a replication belongs to all that its launch
# measured then; warm-ups have negative numbers, as in `replication`. Stretches before and after a
# run have neither launch nor number. `scope` is the host where a launch measured the pairs of a
# group, each of which has the logs of its own two hosts; else it is empty.
LOG = Table(
    "log",
    Base.metadata,
    Column("id", _ID, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("launch_id", ForeignKey("launch.id")),
    Column("number", Integer),
    Column("scope", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("elapsed", _DOUBLE, nullable=False),
    Column("ticks_per_second", Integer, nullable=False),
    Column("label_set_id", ForeignKey("label_set.id")),
    UniqueConstraint("launch_id", "number", "scope", "host"),
    # PostgreSQL's has the same condition, by its migration: to name it here loads all its drivers.
    Index("ix_log_idle", "run_id", sqlite_where=text("launch_id IS NULL")),
)

HOST_LOG = _table("host_log", _log_id(), *_fields(HOST.values()))
MEMORY_LOG = _table("memory_log", _log_id(), *_fields(MEMORY.values()))
CPU_LOG = _table("cpu_log", _log_id(), _key("cpu", Integer), *_fields(CPU.values()))
INTERFACE_LOG = _table("interface_log", _log_id(), _key("interface"), *_fields(INTERFACE.values()))
# `kind` is irq or softirq, `name` the IRQ (whose device is in `label`) or what a softirq is for.
INTERRUPT_LOG = _table(
    "interrupt_log",
    _log_id(),
    _key("kind"),
    _key("name"),
    _key("cpu", Integer),
    Column("count", BigInteger, nullable=False),
)
# All counters of protocols, packed: they would be most of a database. The last `gauges` of them are
# such. The columns before are what the view `system_log` shows: sums, NULL where beyond 64 bits.
PROTOCOL_LOG = Table(
    "packed_protocol_log",
    Base.metadata,
    _log_id(),
    *(Column(name, BigInteger) for name in PROTOCOL_SUMS),
    Column("gauges", Integer, nullable=False),
    Column("counters", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
FABRIC_LOG = _table(
    "fabric_log",
    _log_id(),
    _key("device"),
    _key("port"),
    _key("counter"),
    Column("value", BigInteger, nullable=False),
)
# All that has no place of its own, by its whole name.
COUNTER_LOG = _table(
    "counter_log",
    _log_id(),
    _key("name"),
    _key("is_gauge", Boolean),
    Column("value", BigInteger, nullable=False),
)
SOAK_LOG = _table(
    "soak_log",
    _log_id(),
    _key("cpu", Integer),
    Column("load", _DOUBLE, nullable=False),
    Column("lost", _DOUBLE, nullable=False),
    Column("slowdown", _DOUBLE, nullable=False),
)

# Numbers that stand for the names of counters where these are packed.
COUNTER = Table(
    "counter",
    Base.metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    UniqueConstraint("name"),
)
LOG_SERIES = Table(
    "log_series",
    Base.metadata,
    _log_id(),
    Column("samples", Integer, nullable=False),
    Column("counters", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# What of a log could not be stored, and why.
LOG_NOTE = Table(
    "log_note",
    Base.metadata,
    Column("id", _ID, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False, index=True),
    Column("launch_id", ForeignKey("launch.id")),
    Column("number", Integer),
    Column("host", Text, nullable=False),
    Column("note", Text, nullable=False),
)


def _launch_id() -> Column[Any]:
    return Column("launch_id", ForeignKey("launch.id"), primary_key=True, autoincrement=False)


# `place` counts the rows of a replication; `position` is the port's place in the link's path.
PORT_LOG = _table(
    "port_log",
    _launch_id(),
    _key("number", Integer),
    _key("place", Integer),
    Column("position", Integer, nullable=False),
    Column("device", Text, nullable=False),
    Column("interface", Text, nullable=False),
    *_fields(PORT.values()),
)
# A port's counters that `port_log` has no column for.
PORT_COUNTER_LOG = Table(
    "port_counter_log",
    Base.metadata,
    Column("launch_id", _ID, primary_key=True, autoincrement=False),
    _key("number", Integer),
    _key("place", Integer),
    _key("name"),
    Column("value", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["launch_id", "number", "place"],
        ["port_log.launch_id", "port_log.number", "port_log.place"],
    ),
    sqlite_with_rowid=False,
)

SUSPICION = Table(
    "suspicion",
    Base.metadata,
    _key("run_case_id", Integer),
    _key("number", Integer),
    _key("place", Integer),
    Column("code", Text, nullable=False),
    Column("host", Text),
    Column("message", Text, nullable=False),
    ForeignKeyConstraint(
        ["run_case_id", "number"], ["replication.run_case_id", "replication.number"]
    ),
    sqlite_with_rowid=False,
)

# All that stand here, each after those that it refers to.
LOG_TABLES = tuple(table for table in [*globals().values()] if isinstance(table, Table))
