"""`railgauge list`: which runs are in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import click

from railgauge.base.characters import in_columns, visible
from railgauge.cli.options import as_json, database, label_option
from railgauge.store import Store
from railgauge.store.records import RunSummary

_HEADER = (
    "run",
    "plan",
    "state",
    "started (UTC)",
    "commit",
    "cases",
    "measured",
    "failed",
    "labels",
)


@click.command("list")
@label_option("Only runs with this label")
@database
@as_json
def list_runs(where: str, as_json: bool, labels: dict[str, str]) -> None:
    """List the runs in the database, the latest last."""
    with Store.open(where, create=False) as store:
        runs = store.runs()
    any_run = bool(runs)
    runs = [run for run in runs if labels.items() <= run.labels.items()]
    if as_json:
        click.echo(json.dumps([asdict(run) for run in runs], indent=2))
        return
    if any_run and not runs:
        click.echo(f"no run in {store.name} has the label {label_text(labels)}")
        return
    if not runs:
        click.echo(f"{store.name} holds no run yet: railgauge run PLAN makes one")
        return
    rows = [_HEADER, *(tuple(map(visible, _row(run))) for run in runs)]
    if not any(run.labels for run in runs):
        rows = [row[:-1] for row in rows]
    for line in in_columns(rows, ()):
        click.echo(line)


def _row(run: RunSummary) -> tuple[str, ...]:
    return (
        str(run.id),
        run.plan,
        run.state if run.origin == "measured" else run.origin,
        run.started_at[:19].replace("T", " "),
        commit_text(run.git_commit, run.git_dirty),
        f"{run.cases}{' (some)' if run.partial else ''}",
        f"{run.measured}/{run.asked}",
        str(run.failed),
        label_text(run.labels),
    )


def label_text(labels: Mapping[str, str]) -> str:
    """Return how a listing shows a run's labels: `kernel=6.12, night=2`."""
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def commit_text(commit: str, dirty: bool) -> str:
    """Return how a listing shows a commit, and that there were changes beside it."""
    if not commit:
        return "-"
    return commit[:9] + ("+changes" if dirty else "")
