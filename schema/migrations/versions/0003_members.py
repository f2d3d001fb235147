"""The hosts that a case is measured among, each list of them once for all its cases."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make them; what was stored before was measured on links and hosts."""
    op.create_table(
        "host_list",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("hosts", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_host_list"),
        sa.UniqueConstraint("key", name="uq_host_list_key"),
    )
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    op.execute(
        "ALTER TABLE bench_case ADD COLUMN members_id INTEGER"
        " CONSTRAINT fk_bench_case_members_id REFERENCES host_list (id)"
    )
