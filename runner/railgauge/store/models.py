"""The tables. `schema/migrations` makes them; a test holds the two against each other.

Times are ISO 8601 text in UTC with microseconds, values are in base units, `parameters` and the
launch's settings are JSON text with sorted keys, so that SQLite and PostgreSQL hold the same.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_NAMES = {
    "pk": "pk_%(table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}


class Base(DeclarativeBase):
    """Every table's base; text and 64-bit integers mean the same in each of them."""

    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map = {str: Text, float: Float(53)}  # noqa: RUF012 - SQLAlchemy's own form


def _of_replication() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["run_case_id", "number"], ["replication.run_case_id", "replication.number"]
    )


class Run(Base):
    """One execution of a plan, or one import. Ids are never used twice.

    `uid` names it in every database that it's copied to, where its id is another.
    """

    __tablename__ = "run"
    __table_args__ = (Index(None, "uid", unique=True), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    plan: Mapped[str]
    plan_text: Mapped[str]
    directory: Mapped[str]
    git_commit: Mapped[str]
    git_dirty: Mapped[bool] = mapped_column(Boolean)
    seed: Mapped[int] = mapped_column(BigInteger)
    controller: Mapped[str]
    railgauge_version: Mapped[str]
    engines_hash: Mapped[str]
    origin: Mapped[str]
    state: Mapped[str]
    started_at: Mapped[str]
    ended_at: Mapped[str | None]
    uid: Mapped[str] = mapped_column(server_default="")


class RunFile(Base):
    """The text of a file that the run's plan needs: its hosts file, an engine's description."""

    __tablename__ = "run_file"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class RunLabel(Base):
    """What people call a run by: `kernel` is `6.12`. It has what it began with."""

    __tablename__ = "run_label"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class HostFact(Base):
    """What a host was, as found at `recorded_at`; a resumed run adds what has changed."""

    __tablename__ = "host_fact"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    host: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    recorded_at: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class PeakRow(Base):
    """What a host could do at most, as known at `recorded_at`; a resumed run adds what changed."""

    __tablename__ = "peak"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    host: Mapped[str] = mapped_column(primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    recorded_at: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]
    unit: Mapped[str]
    source: Mapped[str]


class HostList(Base):
    """Hosts in an order, as JSON text, once for all the cases that are measured among them.

    All pairs of 1,000 hosts are 999,000 cases of one list, which takes 8 KB. `key` is its hash, as
    PostgreSQL's indexes hold no long texts.
    """

    __tablename__ = "host_list"
    __table_args__ = (UniqueConstraint("key"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str]
    hosts: Mapped[str]


class BenchCase(Base):
    """A case, once for all the runs that measured it; only a group's has members."""

    __tablename__ = "bench_case"
    __table_args__ = (UniqueConstraint("key"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str]
    engine: Mapped[str]
    link: Mapped[str]
    client_host: Mapped[str]
    server_host: Mapped[str | None]
    parameters: Mapped[str]
    members_id: Mapped[int | None] = mapped_column(ForeignKey("host_list.id"))


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

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    case_id: Mapped[int] = mapped_column(ForeignKey("bench_case.id"))
    test: Mapped[str]
    replications: Mapped[int]
    # Why it was not measured, where its host lacks what that needs.
    skipped: Mapped[str | None]
    least: Mapped[int | None]
    rule: Mapped[str | None]
    ended: Mapped[str | None]


class Metric(Base):
    """A metric as an engine described it; a changed unit or direction makes another row."""

    __tablename__ = "metric"
    __table_args__ = (UniqueConstraint("engine", "name", "unit", "better"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    engine: Mapped[str]
    name: Mapped[str]
    unit: Mapped[str]
    better: Mapped[str]


class RunMetric(Base):
    """Which metrics a run's engines could give, and which change (a share) matters to its plan.

    `kind` is what the engine's table said that may be done with a metric's values, NULL for a run
    that is older than this column and for an engine that doesn't say.
    """

    __tablename__ = "run_metric"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    metric_id: Mapped[int] = mapped_column(ForeignKey("metric.id"), primary_key=True)
    smallest_change: Mapped[float | None]
    kind: Mapped[str | None]


class BaselineRow(Base):
    """A name for runs that others are compared with."""

    __tablename__ = "baseline"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str]
    description: Mapped[str]
    created_at: Mapped[str]


class BaselineRun(Base):
    """A run of a baseline."""

    __tablename__ = "baseline_run"

    baseline_id: Mapped[int] = mapped_column(ForeignKey("baseline.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)


class CertificateRow(Base):
    """A calibration, and what it holds for."""

    __tablename__ = "certificate"
    __table_args__ = (UniqueConstraint("uid"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    uid: Mapped[str]
    made_at: Mapped[str]
    version: Mapped[str]
    engines_hash: Mapped[str]
    host: Mapped[str]
    kernel: Mapped[str]
    boot_id: Mapped[str]
    clock_source: Mapped[str]
    load: Mapped[float]
    source_hash: Mapped[str] = mapped_column(server_default="")
    peer: Mapped[str] = mapped_column(server_default="")
    peer_kernel: Mapped[str] = mapped_column(server_default="")
    peer_boot_id: Mapped[str] = mapped_column(server_default="")
    peer_clock_source: Mapped[str] = mapped_column(server_default="")
    peer_load: Mapped[float] = mapped_column(server_default="0")


class CheckRow(Base):
    """What a calibration measured, and its truth; without both, the reason."""

    __tablename__ = "certificate_check"

    certificate_id: Mapped[int] = mapped_column(ForeignKey("certificate.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str]
    engine: Mapped[str]
    unit: Mapped[str]
    tolerance: Mapped[float]
    relative: Mapped[bool] = mapped_column(Boolean)
    value: Mapped[float | None]
    truth: Mapped[float | None]
    error: Mapped[float | None]
    uncertainty: Mapped[float | None]
    reason: Mapped[str]


class LaunchRow(Base):
    """One start of an engine: the settings both ends really got, and its warnings."""

    __tablename__ = "launch"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run_case_id: Mapped[int] = mapped_column(ForeignKey("run_case.id"), index=True)
    started_at: Mapped[str]
    client: Mapped[str]
    server: Mapped[str]
    warnings: Mapped[str]


class Replication(Base):
    """How one replication ended. Warm-ups count -1, -2, … so that no query takes one by mistake."""

    __tablename__ = "replication"
    __table_args__ = (
        CheckConstraint("number <> 0", name="number"),
        CheckConstraint("status IN ('ok', 'failed', 'suspect')", name="status"),
        # Failed and suspect ones are few: found without reading the others.
        Index(
            "ix_replication_exception",
            "run_case_id",
            "number",
            "status",
            sqlite_where=text("status <> 'ok'"),
            postgresql_where=text("status <> 'ok'"),
        ),
        {"sqlite_with_rowid": False},
    )

    run_case_id: Mapped[int] = mapped_column(ForeignKey("run_case.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    status: Mapped[str]
    started_at: Mapped[str | None]
    error_code: Mapped[str | None]
    error_message: Mapped[str | None]
    launch_id: Mapped[int | None] = mapped_column(ForeignKey("launch.id"))
    # Of all these and its values; NULL for what an older railgauge stored.
    checksum: Mapped[int | None] = mapped_column(BigInteger)


class Measurement(Base):
    """One metric of one replication. The order of the key is the order that reports read in."""

    __tablename__ = "value"
    __table_args__ = (
        _of_replication(),
        {"sqlite_with_rowid": False},
    )

    run_case_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    metric_id: Mapped[int] = mapped_column(
        ForeignKey("metric.id"), primary_key=True, autoincrement=False
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    value: Mapped[float]


class PublishedValueRow(Base):
    """What the source of an imported value says of it: of how many replications it is the mean.

    With an `absence` (lost, impossible, not measured) there is no value of that metric.
    """

    __tablename__ = "published_value"
    __table_args__ = (
        _of_replication(),
        {"sqlite_with_rowid": False},
    )

    run_case_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    metric_id: Mapped[int] = mapped_column(
        ForeignKey("metric.id"), primary_key=True, autoincrement=False
    )
    replications: Mapped[int | None]
    stdev: Mapped[float | None]
    minimum: Mapped[float | None]
    maximum: Mapped[float | None]
    absence: Mapped[str | None]


class _OverTime:
    """What was recorded over a replication's time: `data`, compressed, and what it amounts to."""

    run_case_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sent: Mapped[int] = mapped_column(BigInteger)
    arrived: Mapped[int] = mapped_column(BigInteger)
    recorded: Mapped[int]
    # Last, so that what stands before it is read without it.
    data: Mapped[bytes] = mapped_column(LargeBinary)


class TraceRow(_OverTime, Base):
    """A replication's per-packet trace: `data` is what `railgauge.base.trace.unpack` reads."""

    __tablename__ = "trace"
    __table_args__ = (_of_replication(),)


class SeriesRow(_OverTime, Base):
    """A replication's series: `data` is what `railgauge.base.intervals.unpack` reads.

    It has so many intervals (`recorded`). What was `sent` and `arrived`, the omitted part included,
    are bytes of TCP and datagrams of UDP.
    """

    __tablename__ = "series"
    __table_args__ = (_of_replication(),)


class LossRun(Base):
    """A stretch of datagrams that never arrived: the number before it (-1: none) and its length."""

    __tablename__ = "loss_run"
    __table_args__ = (
        ForeignKeyConstraint(["run_case_id", "number"], ["trace.run_case_id", "trace.number"]),
        {"sqlite_with_rowid": False},
    )

    run_case_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    after_sequence: Mapped[int] = mapped_column(BigInteger)
    lost: Mapped[int] = mapped_column(BigInteger)
