"""`railgauge run` and `railgauge resume`."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from railgauge.cli.options import allow_large, database, hosts, keep_going, margin, wait
from railgauge.cli.tables import default_text
from railgauge.plan.replication_rule import share_text
from railgauge.run.job import Finished, Request
from railgauge.run.pipeline import execute
from railgauge.run.progress import observer_for
from railgauge.run.stopping import Unsettled

# `railgauge show` has the others.
_MOST_NAMED = 20


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@hosts
@database
@allow_large
@margin
@wait
@keep_going
def run(**options: Any) -> int:
    """Run PLAN: check it, reach its hosts, measure, store each replication, print the table.

    Ctrl-C stops it cleanly; `railgauge resume` goes on where it stopped.
    """
    return _execute(**options)


@click.command()
@click.argument("run", type=int)
@database
@margin
@wait
@keep_going
def resume(**options: Any) -> int:
    """Go on with RUN: measure exactly the replications that have no outcome yet."""
    return _execute(**options)


def _execute(**options: Any) -> int:
    """Run or go on, as these fields of the request say; return the exit code."""
    with contextlib.ExitStack() as cleanup:
        request = Request(observer=observer_for(), cleanup=cleanup, **options)
        return print_outcome(request, execute(request))


def print_outcome(request: Request, finished: Finished) -> int:
    """Print what came of a run; return the exit code."""
    if finished.measured:
        click.echo(default_text(request.store, [finished.run], finished.catalogue))
    measured = f"{finished.measured} measured" if finished.planned else "nothing is left to measure"
    click.echo(f"run {finished.run} in {request.store.name}: {measured}", nl=False)
    click.echo(f", {finished.failed} failed" if finished.failed else "", nl=False)
    click.echo(f", {finished.missing} missing" if finished.missing else "", nl=False)
    click.echo(f", {finished.suspect} suspect" if finished.suspect else "")
    for reason, count in Counter(finished.skipped).items():
        click.echo(f"{count} {'cases' if count > 1 else 'case'} skipped: {reason}")
    for line in unsettled_lines(finished.unsettled):
        click.secho(line, bold=True)
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


def unsettled_lines(cases: Sequence[Unsettled]) -> Iterator[str]:
    """Yield, for each share, which cases never got within it."""
    shares: dict[float, list[Unsettled]] = {}
    for case in cases:
        shares.setdefault(case.share, []).append(case)
    for share, unsettled in shares.items():
        count = "1 case" if len(unsettled) == 1 else f"{len(unsettled)} cases"
        yield f"NOT SETTLED: {count} never got within {share_text(share)}:"
        for case in unsettled[:_MOST_NAMED]:
            end = "the most it may take" if case.ended == "most" else "its time was over"
            yield f"  {case.name}: {case.n} replications, {end}"
        if (more := len(unsettled) - _MOST_NAMED) > 0:
            yield f"  and {more} more: `railgauge show RUN --json` has them all"
