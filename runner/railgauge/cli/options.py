"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from railgauge.base.units import parse_time
from railgauge.schedulers.scheduler import MARGIN

database = click.option(
    "--db",
    "where",
    envvar="RAILGAUGE_DB",
    default="railgauge.db",
    show_default=True,
    metavar="PATH-or-URL",
    help="The database (also RAILGAUGE_DB): an SQLite file or an SQLAlchemy URL.",
)


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        return parse_time(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


wait = click.option(
    "--wait",
    envvar="RAILGAUGE_WAIT",
    default="0s",
    show_default=True,
    metavar="TIME",
    callback=_seconds,
    help="Where another run has a host (also RAILGAUGE_WAIT): wait so long for its end.",
)
keep_going = click.option(
    "--keep-going",
    is_flag=True,
    help="Leave out what needs a host that can't be reached, and measure the rest.",
)
margin = click.option(
    "--margin",
    envvar="RAILGAUGE_MARGIN",
    default=f"{MARGIN:g}s",
    show_default=True,
    metavar="TIME",
    callback=_seconds,
    help="In a Slurm job (also RAILGAUGE_MARGIN): end this long before its time is over.",
)
hosts = click.option(
    "--hosts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A hosts file in place of the plan's own hosts or hosts file.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON (see docs/cli.md).")
allow_large = click.option(
    "--allow-large", is_flag=True, help="Accept a grid of more than 100,000 cases."
)
