"""A checksum for each replication and its values."""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the column; what was stored before has none, as nobody knows whether it's whole."""
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    op.execute("ALTER TABLE replication ADD COLUMN checksum BIGINT")
