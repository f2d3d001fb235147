"""`railgauge run` and `railgauge resume`."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from railgauge.cli.options import allow_large, database, hosts, keep_going, margin, wait
from railgauge.cli.tables import default_text
from railgauge.plan.replications import share_text
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
def run(
    plan: Path,
    hosts: Path | None,
    where: str,
    allow_large: bool,
    margin: float,
    wait: float,
    keep_going: bool,
) -> int:
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
            wait=wait,
            keep_going=keep_going,
        )
        return tell(request, execute(request))


@click.command()
@click.argument("run", type=int)
@database
@margin
@wait
@keep_going
def resume(run: int, where: str, margin: float, wait: float, keep_going: bool) -> int:
    """Go on with RUN: measure exactly the replications that have no outcome yet."""
    with contextlib.ExitStack() as cleanup:
        request = Request(
            where,
            observer_for(),
            cleanup,
            run=run,
            margin=margin,
            wait=wait,
            keep_going=keep_going,
        )
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
    for each in cases:
        shares.setdefault(each.share, []).append(each)
    for share, some in shares.items():
        count = "1 case" if len(some) == 1 else f"{len(some)} cases"
        yield f"NOT SETTLED: {count} never got within {share_text(share)}:"
        for each in some[:_MOST_NAMED]:
            end = "the most it may take" if each.ended == "most" else "its time was over"
            yield f"  {each.name}: {each.n} replications, {end}"
        if len(some) > _MOST_NAMED:
            yield f"  and {len(some) - _MOST_NAMED} more: `railgauge show RUN --json` has them all"
