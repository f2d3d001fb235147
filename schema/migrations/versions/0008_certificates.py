"""Certificates: what a calibration measured and held against truths."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "certificate",
        sa.Column("id", sa.Integer, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in (
                "uid",
                "made_at",
                "version",
                "engines_hash",
                "host",
                "kernel",
                "boot_id",
                "clock_source",
            )
        ),
        sa.Column("load", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_certificate"),
        sa.UniqueConstraint("uid", name="uq_certificate_uid"),
    )
    op.create_table(
        "certificate_check",
        sa.Column("certificate_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("tolerance", sa.Float(53), nullable=False),
        sa.Column("relative", sa.Boolean, nullable=False),
        *(
            sa.Column(name, sa.Float(53), nullable=True)
            for name in ("value", "truth", "error", "uncertainty")
        ),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("certificate_id", "number", name="pk_certificate_check"),
        sa.ForeignKeyConstraint(
            ["certificate_id"],
            ["certificate.id"],
            name="fk_certificate_check_certificate_id",
        ),
    )
