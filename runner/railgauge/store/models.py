"""The tables. `schema/migrations` makes them; a test compares the two.

Times are ISO 8601 text in UTC with microseconds, values are in base units, `parameters` and the
launch's settings are JSON text with sorted keys, so that SQLite and PostgreSQL hold the same.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem

_DOUBLE = Float(53)
_NAMES = {
    "pk": "pk_%(table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}


class Base:
    """Every table's base: puts the columns of a subclass into its `__table__`.

    In statements a subclass stands for its table, its attributes for the columns. SQLAlchemy's own
    ORM would be a third of the CPU time of `railgauge list`, to import and to configure.
    """

    metadata: ClassVar = MetaData(naming_convention=_NAMES)
    __tablename__: ClassVar[str]
    __table__: ClassVar[Table]
    # Constraints and indexes.
    __table_args__: ClassVar[tuple[SchemaItem, ...]] = ()
    __table_options__: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        columns = {name: item for name, item in vars(cls).items() if isinstance(item, Column)}
        for name, column in columns.items():
            column.name = column.key = name
        cls.__table__ = Table(
            cls.__tablename__,
            cls.metadata,
            *columns.values(),
            *cls.__table_args__,
            **cls.__table_options__,
        )

    @classmethod
    def __clause_element__(cls) -> Table:
        return cls.__table__


def _of_replication() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["run_case_id", "number"], ["replication.run_case_id", "replication.number"]
    )


class Run(Base):
    """One execution of a plan, or one import. Ids are never used twice.

    `uid` names it in every database that it's copied to, where its id is another.
    """

    __tablename__ = "run"
    __table_args__ = (Index(None, "uid", unique=True),)
    __table_options__: ClassVar = {"sqlite_autoincrement": True}

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    plan: ColumnElement[str] = Column(Text, nullable=False)
    plan_text: ColumnElement[str] = Column(Text, nullable=False)
    directory: ColumnElement[str] = Column(Text, nullable=False)
    git_commit: ColumnElement[str] = Column(Text, nullable=False)
    git_dirty: ColumnElement[bool] = Column(Boolean, nullable=False)
    seed: ColumnElement[int] = Column(BigInteger, nullable=False)
    controller: ColumnElement[str] = Column(Text, nullable=False)
    railgauge_version: ColumnElement[str] = Column(Text, nullable=False)
    engines_hash: ColumnElement[str] = Column(Text, nullable=False)
    origin: ColumnElement[str] = Column(Text, nullable=False)
    state: ColumnElement[str] = Column(Text, nullable=False)
    started_at: ColumnElement[str] = Column(Text, nullable=False)
    ended_at: ColumnElement[str | None] = Column(Text)
    uid: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    # What `railgauge list` shows; NULL while the run isn't over, when they are counted.
    case_count: ColumnElement[int | None] = Column(Integer)
    skipped_count: ColumnElement[int | None] = Column(Integer)
    asked_count: ColumnElement[int | None] = Column(Integer)
    measured_count: ColumnElement[int | None] = Column(Integer)
    failed_count: ColumnElement[int | None] = Column(Integer)
    # Of what describes a run that is over; NULL for what an older railgauge stored, too.
    checksum: ColumnElement[int | None] = Column(BigInteger)


class RunFile(Base):
    """The text of a file that the run's plan needs: its hosts file, an engine's description."""

    __tablename__ = "run_file"

    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)
    name: ColumnElement[str] = Column(Text, primary_key=True)
    text: ColumnElement[str] = Column(Text, nullable=False)


class RunLabel(Base):
    """What people call a run by: `kernel` is `6.12`. It has what it began with."""

    __tablename__ = "run_label"

    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)
    key: ColumnElement[str] = Column(Text, primary_key=True)
    value: ColumnElement[str] = Column(Text, nullable=False)


class HostFact(Base):
    """What a host was, as found at `recorded_at`; a resumed run adds what has changed."""

    __tablename__ = "host_fact"

    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)
    host: ColumnElement[str] = Column(Text, primary_key=True)
    name: ColumnElement[str] = Column(Text, primary_key=True)
    recorded_at: ColumnElement[str] = Column(Text, primary_key=True)
    value: ColumnElement[str] = Column(Text, nullable=False)


class PeakRow(Base):
    """What a host could do at most, as known at `recorded_at`; a resumed run adds what changed."""

    __tablename__ = "peak"

    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)
    host: ColumnElement[str] = Column(Text, primary_key=True)
    resource: ColumnElement[str] = Column(Text, primary_key=True)
    recorded_at: ColumnElement[str] = Column(Text, primary_key=True)
    value: ColumnElement[float] = Column(_DOUBLE, nullable=False)
    unit: ColumnElement[str] = Column(Text, nullable=False)
    source: ColumnElement[str] = Column(Text, nullable=False)


class HostList(Base):
    """Hosts in an order, as JSON text, once for all the cases that are measured among them.

    All pairs of 1,000 hosts are 999,000 cases of one list, which takes 8 KB. `key` is its hash, as
    PostgreSQL's indexes hold no long texts.
    """

    __tablename__ = "host_list"
    __table_args__ = (UniqueConstraint("key"),)

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    key: ColumnElement[str] = Column(Text, nullable=False)
    hosts: ColumnElement[str] = Column(Text, nullable=False)


class BenchCase(Base):
    """A case, once for all the runs that measured it; only a group's has members."""

    __tablename__ = "bench_case"
    __table_args__ = (UniqueConstraint("key"),)

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    key: ColumnElement[str] = Column(Text, nullable=False)
    engine: ColumnElement[str] = Column(Text, nullable=False)
    link: ColumnElement[str] = Column(Text, nullable=False)
    client_host: ColumnElement[str] = Column(Text, nullable=False)
    server_host: ColumnElement[str | None] = Column(Text)
    parameters: ColumnElement[str] = Column(Text, nullable=False)
    members_id: ColumnElement[int | None] = Column(ForeignKey("host_list.id"))


class RunCase(Base):
    """A case of a test of a run, with the replications asked for; ids are in the plan's order.

    Where a rule says when there are enough, `least` and `replications` are what it may take, and
    `ended` why there are no more: narrow, most or budget.
    """

    __tablename__ = "run_case"
    # The index by run alone gives a run's cases in the order of their ids, which is the order of
    # their values: series are read without sorting.
    __table_args__ = (
        UniqueConstraint("run_id", "test", "case_id"),
        Index(None, "run_id"),
        Index(None, "case_id"),
    )

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), nullable=False)
    case_id: ColumnElement[int] = Column(ForeignKey("bench_case.id"), nullable=False)
    test: ColumnElement[str] = Column(Text, nullable=False)
    replications: ColumnElement[int] = Column(Integer, nullable=False)
    # Why it was not measured, where its host lacks what that needs.
    skipped: ColumnElement[str | None] = Column(Text)
    least: ColumnElement[int | None] = Column(Integer)
    rule: ColumnElement[str | None] = Column(Text)
    ended: ColumnElement[str | None] = Column(Text)


class Metric(Base):
    """A metric as an engine described it; a changed unit or direction makes another row."""

    __tablename__ = "metric"
    __table_args__ = (UniqueConstraint("engine", "name", "unit", "better"),)

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    engine: ColumnElement[str] = Column(Text, nullable=False)
    name: ColumnElement[str] = Column(Text, nullable=False)
    unit: ColumnElement[str] = Column(Text, nullable=False)
    better: ColumnElement[str] = Column(Text, nullable=False)


class RunMetric(Base):
    """Which metrics a run's engines could give, and which change (a share) matters to its plan.

    `kind` is what the engine's table said that may be done with a metric's values, NULL for a run
    that is older than this column and for an engine that doesn't say.
    """

    __tablename__ = "run_metric"

    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)
    metric_id: ColumnElement[int] = Column(ForeignKey("metric.id"), primary_key=True)
    smallest_change: ColumnElement[float | None] = Column(_DOUBLE)
    kind: ColumnElement[str | None] = Column(Text)


class BaselineRow(Base):
    """A name for runs that others are compared with."""

    __tablename__ = "baseline"
    __table_args__ = (UniqueConstraint("name"),)

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    name: ColumnElement[str] = Column(Text, nullable=False)
    description: ColumnElement[str] = Column(Text, nullable=False)
    created_at: ColumnElement[str] = Column(Text, nullable=False)


class BaselineRun(Base):
    """A run of a baseline."""

    __tablename__ = "baseline_run"

    baseline_id: ColumnElement[int] = Column(ForeignKey("baseline.id"), primary_key=True)
    run_id: ColumnElement[int] = Column(ForeignKey("run.id"), primary_key=True)


class CertificateRow(Base):
    """A calibration, and what it holds for."""

    __tablename__ = "certificate"
    __table_args__ = (UniqueConstraint("uid"),)

    id: ColumnElement[int] = Column(Integer, primary_key=True)
    uid: ColumnElement[str] = Column(Text, nullable=False)
    made_at: ColumnElement[str] = Column(Text, nullable=False)
    version: ColumnElement[str] = Column(Text, nullable=False)
    engines_hash: ColumnElement[str] = Column(Text, nullable=False)
    host: ColumnElement[str] = Column(Text, nullable=False)
    kernel: ColumnElement[str] = Column(Text, nullable=False)
    boot_id: ColumnElement[str] = Column(Text, nullable=False)
    clock_source: ColumnElement[str] = Column(Text, nullable=False)
    load: ColumnElement[float] = Column(_DOUBLE, nullable=False)
    source_hash: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    peer: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    peer_kernel: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    peer_boot_id: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    peer_clock_source: ColumnElement[str] = Column(Text, server_default="", nullable=False)
    peer_load: ColumnElement[float] = Column(_DOUBLE, server_default="0", nullable=False)


class CheckRow(Base):
    """What a calibration measured, and its truth; without both, the reason."""

    __tablename__ = "certificate_check"

    certificate_id: ColumnElement[int] = Column(ForeignKey("certificate.id"), primary_key=True)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    name: ColumnElement[str] = Column(Text, nullable=False)
    engine: ColumnElement[str] = Column(Text, nullable=False)
    unit: ColumnElement[str] = Column(Text, nullable=False)
    tolerance: ColumnElement[float] = Column(_DOUBLE, nullable=False)
    relative: ColumnElement[bool] = Column(Boolean, nullable=False)
    value: ColumnElement[float | None] = Column(_DOUBLE)
    truth: ColumnElement[float | None] = Column(_DOUBLE)
    error: ColumnElement[float | None] = Column(_DOUBLE)
    uncertainty: ColumnElement[float | None] = Column(_DOUBLE)
    reason: ColumnElement[str] = Column(Text, nullable=False)


class LaunchRow(Base):
    """One start of an engine: the settings both ends really got, and its warnings."""

    __tablename__ = "launch"

    id: ColumnElement[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run_case_id: ColumnElement[int] = Column(ForeignKey("run_case.id"), index=True, nullable=False)
    started_at: ColumnElement[str] = Column(Text, nullable=False)
    client: ColumnElement[str] = Column(Text, nullable=False)
    server: ColumnElement[str] = Column(Text, nullable=False)
    warnings: ColumnElement[str] = Column(Text, nullable=False)


class Replication(Base):
    """How one replication ended. Warm-ups count -1, -2, … so that no query takes one by mistake."""

    __tablename__ = "replication"
    __table_args__ = (
        CheckConstraint("number <> 0", name="number"),
        CheckConstraint("status IN ('ok', 'failed', 'suspect')", name="status"),
        # Failed and suspect ones are few: found without reading the others. PostgreSQL's has the
        # same condition, by its migration: to name it here loads all its drivers.
        Index(
            "ix_replication_exception",
            "run_case_id",
            "number",
            "status",
            sqlite_where=text("status <> 'ok'"),
        ),
    )
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    run_case_id: ColumnElement[int] = Column(ForeignKey("run_case.id"), primary_key=True)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    status: ColumnElement[str] = Column(Text, nullable=False)
    started_at: ColumnElement[str | None] = Column(Text)
    error_code: ColumnElement[str | None] = Column(Text)
    error_message: ColumnElement[str | None] = Column(Text)
    launch_id: ColumnElement[int | None] = Column(ForeignKey("launch.id"))
    # Of all these and its values; NULL for what an older railgauge stored.
    checksum: ColumnElement[int | None] = Column(BigInteger)


class Measurement(Base):
    """One metric of one replication. The order of the key is the order that reports read in."""

    __tablename__ = "value"
    __table_args__ = (_of_replication(),)
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    run_case_id: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    metric_id: ColumnElement[int] = Column(
        ForeignKey("metric.id"), primary_key=True, autoincrement=False
    )
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    value: ColumnElement[float] = Column(_DOUBLE, nullable=False)


class PublishedValueRow(Base):
    """What the source of an imported value says of it: of how many replications it is the mean.

    With an `absence` (lost, impossible, not measured) there is no value of that metric.
    """

    __tablename__ = "published_value"
    __table_args__ = (_of_replication(),)
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    run_case_id: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    metric_id: ColumnElement[int] = Column(
        ForeignKey("metric.id"), primary_key=True, autoincrement=False
    )
    replications: ColumnElement[int | None] = Column(Integer)
    stdev: ColumnElement[float | None] = Column(_DOUBLE)
    minimum: ColumnElement[float | None] = Column(_DOUBLE)
    maximum: ColumnElement[float | None] = Column(_DOUBLE)
    absence: ColumnElement[str | None] = Column(Text)


class TraceRow(Base):
    """A replication's per-packet trace: `data` is what `railgauge.base.trace.unpack` reads."""

    __tablename__ = "trace"
    __table_args__ = (_of_replication(),)

    run_case_id: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    sent: ColumnElement[int] = Column(BigInteger, nullable=False)
    arrived: ColumnElement[int] = Column(BigInteger, nullable=False)
    recorded: ColumnElement[int] = Column(Integer, nullable=False)
    # Last, so that what stands before it is read without it.
    data: ColumnElement[bytes] = Column(LargeBinary, nullable=False)


class SeriesRow(Base):
    """A replication's series: `data` is what `railgauge.base.intervals.unpack` reads.

    It has so many intervals (`recorded`). What was `sent` and `arrived`, the omitted part included,
    are bytes of TCP and datagrams of UDP.
    """

    __tablename__ = "series"
    __table_args__ = (_of_replication(),)

    run_case_id: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    sent: ColumnElement[int] = Column(BigInteger, nullable=False)
    arrived: ColumnElement[int] = Column(BigInteger, nullable=False)
    recorded: ColumnElement[int] = Column(Integer, nullable=False)
    # Last, so that what stands before it is read without it.
    data: ColumnElement[bytes] = Column(LargeBinary, nullable=False)


class LossRun(Base):
    """A stretch of datagrams that never arrived: the number before it (-1: none) and its length."""

    __tablename__ = "loss_run"
    __table_args__ = (
        ForeignKeyConstraint(["run_case_id", "number"], ["trace.run_case_id", "trace.number"]),
    )
    __table_options__: ClassVar = {"sqlite_with_rowid": False}

    run_case_id: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    number: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    place: ColumnElement[int] = Column(Integer, primary_key=True, autoincrement=False)
    after_sequence: ColumnElement[int] = Column(BigInteger, nullable=False)
    lost: ColumnElement[int] = Column(BigInteger, nullable=False)
