"""`railgauge report`: runs to tables and figures in files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import click

from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.base.suggestion import suggest_or_list
from railgauge.cli.argument_types import RunNumber, ShippedFile, latest_run
from railgauge.cli.options import database
from railgauge.cli.settings import setting
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import NoteLevel
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.figures.pictures import PICTURES
from railgauge.report.pages.case.paged_cases import MOST_PAGES
from railgauge.report.tables.run_axes import differs_by_run
from railgauge.store import Store

with_appendix = click.option(
    "--appendix",
    is_flag=True,
    help="Show at the end how everything was measured, and on which machines.",
)
picture_terminal = click.option(
    "--pictures",
    type=click.Choice(PICTURES),
    default="auto",
    show_default=True,
    help="How gnuplot draws for LaTeX; by default cairolatex where it can, else pict2e.",
)


@click.command()
@click.argument("runs", metavar="[RUN]...", type=RunNumber(), nargs=-1)
@click.option(
    "--spec",
    type=ShippedFile("reports"),
    default=setting("spec"),
    metavar="NAME-or-FILE",
    help="What to show: a shipped report or a file; by default a table for each test.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=setting("report", "report"),
    show_default="report",
    metavar="DIR",
    help="The folder for index.html, the .tex, .csv and .txt files and the figures.",
)
@click.option(
    "--cases",
    "most_cases",
    type=click.IntRange(0, 100_000),
    show_default=f"all, or of more than {MOST_PAGES} those with suspect replications",
    metavar="N",
    help="At most so many pages of cases, those with suspect replications first.",
)
@with_appendix
@picture_terminal
@click.option(
    "--by",
    default="",
    metavar="AXIS",
    help="What distinguishes runs of the same cases: run, label/KEY, fact/NAME, git_commit ….",
)
@click.option(
    "--notes",
    type=click.Choice(get_args(NoteLevel)),
    help="How much to say below tables: short unless the definition says otherwise.",
)
@database
def report(
    runs: tuple[int, ...],
    spec: Path | None,
    out: Path,
    by: str,
    where: str,
    **options: Any,
) -> None:
    """Render RUNs (default: the latest) to HTML, LaTeX, CSV, text and figures."""
    if by and not differs_by_run(by):
        axes = ("run", "plan", "git_commit", "started_at", "label/KEY", "fact/NAME")
        raise InputError(f"--by {by}: no axis that distinguishes runs{suggest_or_list(by, axes)}")
    catalogue = load_catalogue()
    definition = None if spec is None else load_spec(spec, catalogue)
    with Store.open(where, create=False) as store:
        files = write_report(
            store,
            runs or [latest_run(store)],
            definition,
            out,
            catalogue=catalogue,
            options=ReportOptions(by=by, **options),
        )
    for file in files:
        if file.parent == out:
            click.echo(file)
    # A page, a plot and its data for each case: their names would hide the others.
    for folder, count in Counter(file.parent for file in files if file.parent != out).items():
        click.echo(f"{folder}/ ({plural(count, 'file')})")
