"""A checksum for what describes each run."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Make the column; what was stored before has none, as nobody knows whether it's whole."""
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    op.execute("ALTER TABLE run ADD COLUMN checksum BIGINT")
