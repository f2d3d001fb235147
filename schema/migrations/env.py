"""Alembic's entry; `railgauge.store.migrate` runs it with a connection in a transaction."""

from alembic import context

from railgauge.store.migrate import VERSION_TABLE
from railgauge.store.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
