"""Published values: of how many replications an imported number is the mean, or why it is absent."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "published_value",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("metric_id", sa.Integer, nullable=False),
        sa.Column("replications", sa.Integer, nullable=True),
        *(sa.Column(name, sa.Float(53), nullable=True) for name in ("stdev", "minimum", "maximum")),
        sa.Column("absence", sa.Text, nullable=True),
        sa.PrimaryKeyConstraint("run_case_id", "number", "metric_id", name="pk_published_value"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["replication.run_case_id", "replication.number"],
            name="fk_published_value_run_case_id_number",
        ),
        sa.ForeignKeyConstraint(
            ["metric_id"], ["metric.id"], name="fk_published_value_metric_id"
        ),
        sqlite_with_rowid=False,
    )
