"""`railgauge compare`: which cases are faster, the same or slower than before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from railgauge.cli.argument_types import complete_selections
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database, metrics
from railgauge.cli.output_files import check_outputs, write
from railgauge.compare.verdict import verdict_between
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.verdicts.markdown import markdown as as_markdown
from railgauge.report.verdicts.verdict_json import verdict_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.store import Store


@click.command()
@click.argument("before", metavar="A", shell_complete=complete_selections)
@click.argument("after", metavar="B", shell_complete=complete_selections)
@click.option("--plan", default="", metavar="NAME", help="Only runs of this plan count.")
@click.option("--all", "list_all", is_flag=True, help="List what is the same, too.")
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write it as Markdown, too.",
)
@metrics
@as_json
@database
def compare(
    before: str,
    after: str,
    list_all: bool,
    markdown: Path | None,
    as_json: bool,
    where: str,
    **judged: Any,
) -> int:
    """Show which cases of B are faster, the same or slower than in A.

    A and B: a run's number, a baseline's name, a git commit (seven digits or more), a day
    (2026-11-20, UTC) or "latest". Exits with 1 where nothing can be compared.
    """
    check_outputs(markdown)
    with Store.open(where, create=False) as store:
        verdict = verdict_between(store, before, after, **judged)
    catalogue = load_catalogue()
    if markdown:
        write(markdown, as_markdown(verdict, catalogue, all_results=list_all))
    if as_json:
        click.echo(json_text(verdict_data(verdict)))
    else:
        for line in verdict_lines(verdict, catalogue, all_results=list_all):
            click.echo(line)
    return 1 if verdict.problems else 0
