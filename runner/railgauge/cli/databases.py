"""`railgauge db`: what is done with a whole database."""

from __future__ import annotations

from functools import partial

import click

from railgauge.store import Store
from railgauge.store.copy import copy


@click.group("db")
def db_group() -> None:
    """Copy databases into one another."""


@db_group.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy_command(source: str, target: str) -> int:
    """Copy all runs and baselines of the database FROM to the database TO.

    Each is an SQLite file or an SQLAlchemy URL; TO is made if it's missing. Nothing gets there
    twice and nothing that is there changes: copy again, or on after a copy that was stopped.
    """
    with (
        Store.open(source, create=False, check=False) as old,
        Store.open(target, check=False) as new,
    ):
        copied = copy(old, new, tell=partial(click.echo, err=True))
        click.echo(
            f"{old.name} to {new.name}: {copied.new:,} new runs, {copied.more:,} with more, "
            f"{copied.same:,} as they were; {copied.replications:,} replications, "
            f"{copied.baselines:,} new baselines"
        )
    for difference in copied.differences:
        click.echo(f"railgauge: {difference}", err=True)
    return 1 if copied.differences else 0
