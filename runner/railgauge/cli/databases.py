"""`railgauge db`: what is done with a whole database."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from railgauge.cli import options
from railgauge.store import Store
from railgauge.store.backup import backup
from railgauge.store.copy import copy


@click.group("db")
def db_group() -> None:
    """Copy, check and back up databases."""


@db_group.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy_command(source: str, target: str) -> int:
    """Copy all runs and baselines of the database FROM to the database TO.

    Each is an SQLite file or an SQLAlchemy URL; TO is made if it's missing. Nothing gets there
    twice and nothing that is there changes: copy again, or on after a copy that was stopped.
    Replications that changed since they were stored are left out.
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


@db_group.command("check")
@options.database
def check_command(where: str) -> int:
    """Show whether a database is whole: every page, every reference, every checksum.

    Lists each replication that is not what was stored. Exit code 3 if there is any damage.
    """
    with Store.open(where, create=False, check=False) as store:
        store.check(checksums=False)
        report = store.checksums()
        for replication in report.changed:
            click.echo(f"{replication}: not what was stored")
        without = f", {report.without:,} without a checksum" if report.without else ""
        click.echo(
            f"{store.name}: {report.replications:,} replications{without}, "
            + (f"{len(report.changed):,} changed" if report.changed else "whole")
        )
    return 3 if report.changed else 0


@db_group.command("backup")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@options.database
def backup_command(target: Path, where: str) -> None:
    """Copy an SQLite database to the new file FILE, also while a run writes to it.

    The copy is checked. It has all replications that were stored when the backup began.
    """
    size = backup(where, target)
    click.echo(f"{target}: {size:,} bytes, whole")
