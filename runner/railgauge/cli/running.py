"""`railgauge run` and `railgauge resume`."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import click

from railgauge.cli.options import allow_large, database, hosts, margin
from railgauge.cli.tables import default_text
from railgauge.job import Finished, Request
from railgauge.pipeline import execute
from railgauge.progress import observer_for


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@hosts
@database
@allow_large
@margin
def run(plan: Path, hosts: Path | None, where: str, allow_large: bool, margin: float) -> int:
    """Run PLAN: check it, reach its hosts, measure, store each replication, print the table.

    Ctrl-C stops it cleanly; `railgauge resume` goes on where it stopped.
    """
    with contextlib.ExitStack() as cleanup:
        request = Request(
            where,
            observer_for(),
            cleanup,
            plan=plan,
            hosts=hosts,
            allow_large=allow_large,
            margin=margin,
        )
        return tell(request, execute(request))


@click.command()
@click.argument("run", type=int)
@database
@margin
def resume(run: int, where: str, margin: float) -> int:
    """Go on with RUN: measure exactly the replications that have no outcome yet."""
    with contextlib.ExitStack() as cleanup:
        request = Request(where, observer_for(), cleanup, run=run, margin=margin)
        return tell(request, execute(request))


def tell(request: Request, finished: Finished) -> int:
    """Tell what came of a run; return the exit code."""
    if finished.measured:
        click.echo(default_text(request.store, [finished.run], finished.catalogue))
    measured = f"{finished.measured} measured" if finished.asked else "nothing is left to measure"
    click.echo(f"run {finished.run} in {request.store.name}: {measured}", nl=False)
    click.echo(f", {finished.failed} failed" if finished.failed else "", nl=False)
    click.echo(f", {finished.missing} missing" if finished.missing else "", nl=False)
    click.echo(f", {finished.suspect} suspect" if finished.suspect else "")
    for why, count in Counter(finished.skipped).items():
        click.echo(f"{count} {'cases' if count > 1 else 'case'} skipped: {why}")
    if finished.missing and finished.out_of_time:
        click.echo(
            f"stopped for the time limit: {finished.missing} missing; "
            f"go on with: railgauge resume {finished.run}"
        )
    elif finished.missing:
        click.echo(
            f"missing because of {', '.join(sorted(finished.lost))}; once reachable, "
            f"go on with: railgauge resume {finished.run}"
        )
    return 1 if finished.failed or finished.missing else 0
