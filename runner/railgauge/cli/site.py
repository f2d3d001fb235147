"""`railgauge site`: a static web page of all runs, made again where something changed."""

from __future__ import annotations

import json
from pathlib import Path

import click

from railgauge.base.number import plural
from railgauge.cli.options import as_json, database
from railgauge.cli.settings import setting
from railgauge.report.site.site_builder import build_site


@click.command()
@click.option(
    "--out",
    default=setting("site"),
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The site's folder: its own pages there are kept, made again or removed.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="Compare the runs of its plan with this one (default: the one named like the plan).",
)
@click.option(
    "--logs",
    type=click.IntRange(0, 10_000),
    default=1,
    show_default=True,
    metavar="N",
    help="Of each plan the newest N runs have pages with system logs.",
)
@as_json
@database
def site(out: Path | None, baseline: str | None, logs: int, as_json: bool, where: str) -> None:
    """Make a static site of all runs: the newest against its baseline, each run, each case.

    Only pages of which something changed are made again. See docs/site.md.
    """
    if out is None:
        raise click.UsageError(
            "name the site's folder by --out DIR, or by 'site' in railgauge.toml"
        )
    folder = out
    built = build_site(
        where,
        folder,
        baseline=baseline,
        logs=logs,
        waiting=lambda: _print_waiting(folder),
        making=lambda pages: click.echo(f"making {plural(pages, 'page')}", err=True),
    )
    if as_json:
        answer = {"made": list(built.pages), "kept": built.unchanged, "removed": built.removed}
        click.echo(json.dumps(answer, indent=2))
        return
    click.echo(out / "index.html")
    click.echo(
        f"{plural(len(built.pages), 'page')} made, {built.unchanged:,} kept, "
        f"{built.removed:,} removed"
    )


def _print_waiting(out: Path) -> None:
    click.echo(f"railgauge: another build is at work in {out}: waiting for its end", err=True)
