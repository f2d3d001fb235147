"""Certificates of pairs of hosts, and which railgauge made each."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the columns: what is stored is of one machine, by any railgauge."""
    names = ("source_hash", "peer", "peer_kernel", "peer_boot_id", "peer_clock_source")
    columns = [*(f"{name} TEXT NOT NULL DEFAULT ''" for name in names)]
    columns.append("peer_load FLOAT NOT NULL DEFAULT 0")
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    for column in columns:
        op.execute(f"ALTER TABLE certificate ADD COLUMN {column}")
