"""Baselines, cases that end when they are known well enough, and a name for runs everywhere."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

# What tells a run apart from all others.
IDENTITY = ("id", "started_at", "controller", "plan", "seed", "git_commit", "directory", "origin")


def upgrade() -> None:
    """Make them; what was stored before had a fixed number of replications and no baseline."""
    # Both databases take these; Alembic would give SQLite statements that it doesn't know.
    op.execute("ALTER TABLE run ADD COLUMN uid TEXT NOT NULL DEFAULT ''")
    name_runs()
    op.create_index("ix_run_uid", "run", ["uid"], unique=True)
    op.execute("ALTER TABLE run_case ADD COLUMN least INTEGER")
    op.execute("ALTER TABLE run_case ADD COLUMN rule TEXT")
    op.execute("ALTER TABLE run_case ADD COLUMN ended TEXT")
    op.execute("ALTER TABLE run_metric ADD COLUMN smallest_change FLOAT(53)")
    op.create_table(
        "baseline",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_baseline"),
        sa.UniqueConstraint("name", name="uq_baseline_name"),
    )
    op.create_table(
        "baseline_run",
        sa.Column("baseline_id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("baseline_id", "run_id", name="pk_baseline_run"),
        sa.ForeignKeyConstraint(
            ["baseline_id"], ["baseline.id"], name="fk_baseline_run_baseline_id"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_baseline_run_run_id"),
    )


def name_runs() -> None:
    """Give each run a uid made of what it is: two copies of a database name it the same."""
    columns = [sa.column(name) for name in IDENTITY]
    connection = op.get_bind()
    rows = connection.execute(sa.select(*columns).select_from(sa.table("run"))).all()
    for row in rows:
        text = json.dumps(list(row), ensure_ascii=False)
        uid = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        connection.execute(
            sa.text("UPDATE run SET uid = :uid WHERE id = :id"), {"uid": uid, "id": row[0]}
        )
