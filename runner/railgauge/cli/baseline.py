"""`railgauge baseline`: names for runs that others are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.cli.argument_types import RunNumber, complete_baselines
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.store import Store
from railgauge.store.records import Baseline, RunSummary


@click.group("baseline")
def baseline() -> None:
    """Name runs that others are compared with."""


@baseline.command("set")
@click.argument("name", shell_complete=complete_baselines)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=RunNumber())
@click.option("--description", default="", metavar="TEXT", help="What these runs are.")
@click.option("--replace", is_flag=True, help="Put these runs in the place of the name's others.")
@database
def set_command(
    name: str, runs: tuple[int, ...], description: str, replace: bool, where: str
) -> None:
    """Make the RUNs, all together, the baseline NAME.

    Runs of one plan, measured while all was well; with three or more, what they differ by among
    themselves counts as normal. Their hosts' facts are kept with them.
    """
    with Store.open(where, create=False) as store:
        store.set_baseline(name, runs, description, replace=replace)
        stored = store.baseline(name)
        notes = [*_notes(store, store.runs(stored.runs))]
    click.echo(f"baseline {name}: {_runs(stored)}")
    for note in notes:
        click.echo(f"note: {note}", err=True)


@baseline.command("list")
@database
@as_json
def list_command(where: str, as_json: bool) -> None:
    """List the baselines."""
    with Store.open(where, create=False) as store:
        baselines = store.baselines()
    if as_json:
        click.echo(json_text([asdict(stored) for stored in baselines]))
        return
    if not baselines:
        click.echo(f"{store.name} holds no baseline: railgauge baseline set NAME RUN... makes one")
    for stored in baselines:
        click.echo(_line(stored))


@baseline.command("show")
@click.argument("name", shell_complete=complete_baselines)
@database
@as_json
def show_command(name: str, where: str, as_json: bool) -> None:
    """Show the baseline NAME: its runs, when they began, and how they ended."""
    with Store.open(where, create=False) as store:
        stored = store.baseline(name)
        summaries = store.runs(stored.runs)
    if as_json:
        answer = asdict(stored) | {"runs": [asdict(run) for run in summaries]}
        click.echo(json_text(answer))
        return
    click.echo(_line(stored))
    for run in summaries:
        click.echo(f"  {_run(run)}")


@baseline.command("drop")
@click.argument("name", shell_complete=complete_baselines)
@database
def drop_command(name: str, where: str) -> None:
    """Forget the baseline NAME; its runs stay."""
    with Store.open(where, create=False) as store:
        store.drop_baseline(name)
    click.echo(f"baseline {name} is forgotten; its runs are still there")


def _notes(store: Store, runs: Sequence[RunSummary]) -> Iterator[str]:
    """Yield what makes these runs less of a baseline than they may look."""
    for run in runs:
        if run.partial:
            yield (
                f"run {run.id} measured only some of its plan's cases, chosen because they looked"
                " slow: better leave it out"
            )
        missing = run.asked - run.measured - run.failed
        if run.state != "complete" and missing > 0:
            yield (
                f"run {run.id} is {run.state} and lacks {missing:,} of"
                f" {plural(run.asked, 'replication')}, which nothing can be compared with:"
                f" {store.command(f'resume {run.id}')} measures them"
            )
    plans = dict.fromkeys(run.plan for run in runs)
    if len(plans) > 1:
        yield (
            f"these are runs of {len(plans)} plans ({', '.join(map(visible, plans))}): what plans"
            " differ by would count as normal, better name runs of one"
        )


def _line(stored: Baseline) -> str:
    about = f": {visible(stored.description)}" if stored.description else ""
    return f"{stored.name} ({_runs(stored)}, set {stored.created_at[:19].replace('T', ' ')}){about}"


def _runs(stored: Baseline) -> str:
    noun = "run" if len(stored.runs) == 1 else "runs"
    return f"{noun} {' '.join(map(str, stored.runs))}"


def _run(run: RunSummary) -> str:
    commit = f", commit {run.git_commit[:9]}" if run.git_commit else ""
    changes = "+changes" if run.git_dirty else ""
    started = run.started_at[:19].replace("T", " ")
    return (
        f"run {run.id} of plan {run.plan}: {run.state}, started {started}{commit}{changes}; "
        f"{run.measured}/{run.asked} measured, {run.failed} failed"
        f"{'; only some of its plan' if run.partial else ''}"
    )
