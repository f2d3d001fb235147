"""`railgauge db`: what is done with a whole database."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path

import click

from railgauge.base.number import plural
from railgauge.base.units import parse_time
from railgauge.cli import options
from railgauge.cli.output_files import check_outputs
from railgauge.store import Store
from railgauge.store.backup import backup
from railgauge.store.copy import copy
from railgauge.store.thinning import excess, give_back, thin
from railgauge.store.write import iso

# What a table's row and its rows are called.
_KINDS = {
    "log": ("system log", "system logs"),
    "port_log": ("row of ports", "rows of ports"),
    "trace": ("trace", "traces"),
    "series": ("series", "series"),
}


@click.group("db")
def db_group() -> None:
    """Copy, check, back up and thin databases."""


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
        Store.open(source, create=False, check=False, option="FROM") as old,
        Store.open(target, check=False, option="TO", when_needed=True) as new,
    ):
        copied = copy(old, new, say=partial(click.echo, err=True))
        click.echo(
            f"{old.name} to {new.name}: {plural(copied.new, 'new run')}, "
            f"{copied.more:,} with more, {copied.same:,} as they were; "
            f"{plural(copied.replications, 'replication')}, "
            f"{plural(copied.baselines, 'new baseline')}"
        )
    for difference in copied.differences:
        click.echo(f"railgauge: {difference}", err=True)
    return 1 if copied.differences else 0


@db_group.command("check")
@options.database
def check_command(where: str) -> int:
    """Show whether a database is whole: every page, every reference, every checksum.

    Lists each replication and each run that is not what was stored, and each run whose stored
    counts are not those of its replications. Exit code 3 if there is any damage.
    """
    with Store.open(where, create=False, check=False) as store:
        store.check(checksums=False)
        report = store.checksums()
        for replication in report.changed:
            click.echo(f"{replication}: not what was stored")
        miscounted = store.miscounted_runs()
        for run in miscounted:
            click.echo(f"run {run}: `list` shows other counts than it has; `db copy` counts anew")
        changed_runs = store.changed_runs()
        for run in changed_runs:
            click.echo(f"run {run}: its texts, facts, labels, cases or settings aren't as stored")
        without = f", {report.without:,} without a checksum" if report.without else ""
        if report.uncovered:
            without += f", {report.uncovered:,} without one of their traces, series and logs"
        click.echo(
            f"{store.name}: {plural(report.replications, 'replication')}{without}, "
            + (f"{len(report.changed):,} changed" if report.changed else "whole")
            + (f"; {plural(len(changed_runs), 'run')} changed" if changed_runs else "")
        )
    return 3 if report.changed or miscounted or changed_runs else 0


@db_group.command("backup")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@options.database
def backup_command(target: Path, where: str) -> None:
    """Copy an SQLite database to the new file FILE, also while a run writes to it.

    The copy is checked. It has all replications that were stored when the backup began.
    """
    check_outputs(target)
    size = backup(where, target)
    click.echo(f"{target}: {size:,} bytes, whole")


def _age(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return an age in seconds, which may be in days; click's BadParameter where it is none."""
    days = re.fullmatch(r"([0-9]{1,6})d", value)
    try:
        age = 86400.0 * int(days[1]) if days else parse_time(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no age: write such as 30d or 12h") from None
    if age > time.time():
        raise click.BadParameter(f"{value!r} ago was before 1970: write such as 30d or 12h")
    return age


@db_group.command("thin")
@click.option(
    "--older-than",
    required=True,
    metavar="AGE",
    callback=_age,
    help="Of runs that began so long ago, such as 30d or 12h.",
)
@click.option("--baselines", is_flag=True, help="Of runs that are in a baseline, too.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and delete nothing.")
@options.database
def thin_command(older_than: float, baselines: bool, dry_run: bool, where: str) -> None:
    """Delete old runs' system logs, what ports counted, traces and series.

    All that was measured stays: replications, values, facts, settings, warnings. What goes is
    printed before it goes. Runs of baselines are spared; while one of the runs is measured, nothing
    is deleted.
    """
    with Store.open(where, create=False, check=False) as store:
        old = excess(store, iso(time.time() - older_than), baselines=baselines)
        rows = ", ".join(plural(old.rows[name], *nouns) for name, nouns in _KINDS.items())
        size = f", about {old.size:,} bytes" if old.size else ""
        would = " would go" if dry_run else " go"
        click.echo(f"{store.name}: of {plural(len(old.runs), 'run')} {rows}{would}{size}")
        if dry_run:
            return
        thin(store, old.runs)
        space = give_back(store)
        click.echo(f"{store.name}: {space.smaller:,} bytes smaller, {space.free:,} bytes free")
        if space.postponed:
            click.echo(
                f"{store.name}: the file stays as large while a run is measured, which could store "
                "nothing meanwhile: call this again once it is over"
            )
