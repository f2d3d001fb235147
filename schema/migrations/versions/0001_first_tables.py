"""The first tables and the two public views."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# The columns of both views, in the public order. A value joins its replication by primary key;
# failed replications, which have none, come from the small partial index.
VIEW = """
CREATE VIEW {name} AS
SELECT run.id AS run, run.plan AS plan, run.git_commit AS git_commit,
       replication.started_at AS started_at, run_case.test AS test,
       bench_case.engine AS engine, bench_case.link AS link,
       bench_case.client_host AS client_host, bench_case.server_host AS server_host,
       bench_case.key AS case_key, bench_case.parameters AS parameters,
       {sign}replication.number AS replication, metric.name AS metric, value.value AS value,
       metric.unit AS unit, replication.status AS status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN value ON value.run_case_id = run_case.id
JOIN replication ON replication.run_case_id = value.run_case_id
                AND replication.number = value.number
JOIN metric ON metric.id = value.metric_id
WHERE {which}
UNION ALL
SELECT run.id, run.plan, run.git_commit, replication.started_at, run_case.test,
       bench_case.engine, bench_case.link, bench_case.client_host, bench_case.server_host,
       bench_case.key, bench_case.parameters, {sign}replication.number,
       CAST(NULL AS TEXT), CAST(NULL AS DOUBLE PRECISION), CAST(NULL AS TEXT), replication.status
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN replication ON replication.run_case_id = run_case.id
WHERE {which} AND replication.status <> 'ok' AND replication.status = 'failed'
"""


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "run",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("plan_text", sa.Text, nullable=False),
        sa.Column("directory", sa.Text, nullable=False),
        sa.Column("git_commit", sa.Text, nullable=False),
        sa.Column("git_dirty", sa.Boolean, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("controller", sa.Text, nullable=False),
        sa.Column("railgauge_version", sa.Text, nullable=False),
        sa.Column("engines_hash", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "run_file",
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name", name="pk_run_file"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_file_run_id"),
    )
    op.create_table(
        "host_fact",
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "host", "name", "recorded_at", name="pk_host_fact"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_host_fact_run_id"),
    )
    op.create_table(
        "bench_case",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("link", sa.Text, nullable=False),
        sa.Column("client_host", sa.Text, nullable=False),
        sa.Column("server_host", sa.Text),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bench_case"),
        sa.UniqueConstraint("key", name="uq_bench_case_key"),
    )
    op.create_table(
        "run_case",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("case_id", sa.Integer, nullable=False),
        sa.Column("test", sa.Text, nullable=False),
        sa.Column("replications", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run_case"),
        sa.UniqueConstraint("run_id", "test", "case_id", name="uq_run_case_run_id_test_case_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_case_run_id"),
        sa.ForeignKeyConstraint(["case_id"], ["bench_case.id"], name="fk_run_case_case_id"),
    )
    op.create_index("ix_run_case_run_id", "run_case", ["run_id"])
    op.create_index("ix_run_case_case_id", "run_case", ["case_id"])
    op.create_table(
        "metric",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("better", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_metric"),
        sa.UniqueConstraint(
            "engine", "name", "unit", "better", name="uq_metric_engine_name_unit_better"
        ),
    )
    op.create_table(
        "run_metric",
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("metric_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "metric_id", name="pk_run_metric"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_metric_run_id"),
        sa.ForeignKeyConstraint(["metric_id"], ["metric.id"], name="fk_run_metric_metric_id"),
    )
    op.create_table(
        "launch",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("server", sa.Text, nullable=False),
        sa.Column("warnings", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_launch"),
        sa.ForeignKeyConstraint(["run_case_id"], ["run_case.id"], name="fk_launch_run_case_id"),
    )
    op.create_index("ix_launch_run_case_id", "launch", ["run_case_id"])
    op.create_table(
        "replication",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text),
        sa.Column("error_code", sa.Text),
        sa.Column("error_message", sa.Text),
        sa.Column("launch_id", sa.BigInteger().with_variant(sa.Integer, "sqlite")),
        sa.PrimaryKeyConstraint("run_case_id", "number", name="pk_replication"),
        sa.ForeignKeyConstraint(
            ["run_case_id"], ["run_case.id"], name="fk_replication_run_case_id"
        ),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name="fk_replication_launch_id"),
        sa.CheckConstraint("number <> 0", name=op.f("ck_replication_number")),
        sa.CheckConstraint(
            "status IN ('ok', 'failed', 'suspect')", name=op.f("ck_replication_status")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_replication_exception",
        "replication",
        ["run_case_id", "number", "status"],
        sqlite_where=sa.text("status <> 'ok'"),
        postgresql_where=sa.text("status <> 'ok'"),
    )
    op.create_table(
        "value",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("metric_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("run_case_id", "metric_id", "number", name="pk_value"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["replication.run_case_id", "replication.number"],
            name="fk_value_run_case_id_number",
        ),
        sa.ForeignKeyConstraint(["metric_id"], ["metric.id"], name="fk_value_metric_id"),
        sqlite_with_rowid=False,
    )
    op.execute(VIEW.format(name="measurement", sign="", which="replication.number > 0"))
    op.execute(VIEW.format(name="warmup", sign="-", which="replication.number < 0"))
