"""Series within replications, compressed."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "series",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("sent", sa.BigInteger, nullable=False),
        sa.Column("arrived", sa.BigInteger, nullable=False),
        sa.Column("recorded", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_case_id", "number", name="pk_series"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["replication.run_case_id", "replication.number"],
            name="fk_series_run_case_id_number",
        ),
    )
