"""`railgauge submit`: a plan or a run in a Slurm job, and in the next one, until it is done."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from railgauge.base.real_path import real_path
from railgauge.cli.argument_types import RunNumber, ShippedFile
from railgauge.cli.options import (
    allow_large,
    database,
    hosts,
    keep_going,
    labels,
    margin,
    refuse_given,
    wait,
)
from railgauge.cli.running import note, print_outcome, request_of
from railgauge.run.pipeline import execute, read
from railgauge.run.progress import observer_for
from railgauge.run.submission import Submission


@click.command()
@click.argument("plan", type=ShippedFile("plans"), required=False)
@hosts
@click.option(
    "--resume", "run", type=RunNumber(say=note), metavar="RUN", help="Go on with this run."
)
@click.option("--nodes", type=click.IntRange(1), help="How many nodes.")
@click.option("--nodelist", help="Which nodes, as Slurm writes it: node[1-4],node9.")
@click.option("--time", help="The job's time limit, as Slurm writes it: 02:00:00.")
@click.option("--partition", help="Slurm's partition.")
@click.option("--account", help="Slurm's account.")
@click.option(
    "--sbatch-option", "sbatch_options", multiple=True, help="Another of sbatch's: --qos=high."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the script and the job's output go.  [default: the database's folder]",
)
@click.option("--dry-run", is_flag=True, help="Print the script and submit nothing.")
@click.option("--inside", is_flag=True, hidden=True, help="We are in the job: run.")
@database
@margin
@allow_large
@wait
@keep_going
@labels
def submit(out: Path | None, dry_run: bool, inside: bool, **options: Any) -> int:
    """Run PLAN in a Slurm job; where its time is too short, go on in the next one, on its nodes.

    The plan is checked first. The job runs this very railgauge and has its nodes for itself. No
    next job follows one that could measure nothing.
    """
    if options["run"] is not None:
        reason = "is not for --resume: a run goes on with the hosts and labels it began with"
        refuse_given("hosts", "labels", reason=reason)
    where = options["where"]
    if "://" not in where:
        where = options["where"] = str(real_path(Path(where)))
    folder = Path.cwd() if "://" in where else Path(where).parent
    with request_of(options, note) as request:
        submission = Submission(request, real_path(out or folder), **options)
        if (request.plan is None) == (request.run is None):
            raise click.UsageError("name a plan, or a run by --resume RUN")
        if inside:
            return _work(submission)
        click.echo(submission.script() if dry_run else f"{submission.submit()}\n", nl=False)
        return 0


def _work(submission: Submission) -> int:
    """Run or go on, in a job; submit the next one if this one's time was too short."""
    with contextlib.ExitStack() as cleanup:
        finished = execute(read(submission.request, observer_for(), cleanup))
        code = print_outcome(submission.request, finished)
    if text := submission.go_on(finished):
        click.echo(text)
    return code
