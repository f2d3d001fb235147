"""What a run's metrics are: counts, rates, ratios, as their engines' tables said."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the column; of what was stored before, the tables that ship say it when it's read."""
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    op.execute("ALTER TABLE run_metric ADD COLUMN kind TEXT")
