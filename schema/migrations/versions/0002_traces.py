"""Traces, compressed, and the loss runs found in them, with their public view."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

VIEW = """
CREATE VIEW loss_runs AS
SELECT run.id AS run, run.plan AS plan, run_case.test AS test, bench_case.link AS link,
       bench_case.key AS case_key, loss_run.number AS replication,
       loss_run.after_sequence AS after_sequence, loss_run.lost AS lost
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN loss_run ON loss_run.run_case_id = run_case.id
"""


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "trace",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("sent", sa.BigInteger, nullable=False),
        sa.Column("arrived", sa.BigInteger, nullable=False),
        sa.Column("recorded", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_case_id", "number", name="pk_trace"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["replication.run_case_id", "replication.number"],
            name="fk_trace_run_case_id_number",
        ),
    )
    op.create_table(
        "loss_run",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("after_sequence", sa.BigInteger, nullable=False),
        sa.Column("lost", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_case_id", "number", "place", name="pk_loss_run"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["trace.run_case_id", "trace.number"],
            name="fk_loss_run_run_case_id_number",
        ),
        sqlite_with_rowid=False,
    )
    op.execute(VIEW)
