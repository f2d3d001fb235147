"""What hosts could do at most, and why a case was not measured."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make them; of what was stored before, no peaks are known and nothing was skipped."""
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    op.execute("ALTER TABLE run_case ADD COLUMN skipped TEXT")
    op.create_table(
        "peak",
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("resource", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.Text, nullable=False),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "host", "resource", "recorded_at", name="pk_peak"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_peak_run_id"),
    )
