"""Options that several commands share."""

from __future__ import annotations

import click

database = click.option(
    "--db",
    "where",
    envvar="RAILGAUGE_DB",
    default="railgauge.db",
    show_default=True,
    metavar="PATH-or-URL",
    help="The database (also RAILGAUGE_DB): an SQLite file or an SQLAlchemy URL.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON (see docs/cli.md).")
allow_large = click.option(
    "--allow-large", is_flag=True, help="Accept a grid of more than 100,000 cases."
)
