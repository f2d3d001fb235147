"""`railgauge list`: which runs are in the database."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from railgauge.base.characters import visible
from railgauge.cli.options import as_json, database
from railgauge.store import Store
from railgauge.store.records import RunSummary

_HEADER = ("run", "plan", "state", "started (UTC)", "commit", "cases", "measured", "failed")


@click.command("list")
@database
@as_json
def list_runs(where: str, as_json: bool) -> None:
    """List the runs in the database, the latest last."""
    with Store.open(where, create=False) as store:
        runs = store.runs()
    if as_json:
        click.echo(json.dumps([asdict(run) for run in runs], indent=2))
        return
    if not runs:
        click.echo(f"{store.name} holds no run yet: railgauge run PLAN makes one")
        return
    rows = [_HEADER, *(tuple(map(visible, _row(run))) for run in runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


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
    )


def commit_text(commit: str, dirty: bool) -> str:
    """Return how a listing shows a commit, and that there were changes beside it."""
    if not commit:
        return "-"
    return commit[:9] + ("+changes" if dirty else "")
