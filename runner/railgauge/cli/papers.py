"""`railgauge paper`: a paper's tables and figures again, measured beside published."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from railgauge.base.assets import folder, shipped
from railgauge.base.errors import InputError, NoDatabaseError
from railgauge.cli.argument_types import RunNumber, ShippedFile
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database, refuse_given
from railgauge.cli.reporting import picture_terminal, with_appendix
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.document.write_report import ReportOptions
from railgauge.report.figures.pictures import Pictures
from railgauge.report.paper.make_paper import latest_runs, write_paper
from railgauge.report.paper.read_paper import LoadedPaper, load_paper
from railgauge.store import Store


@click.command()
@click.argument("definition", type=ShippedFile("reports/papers"), required=False)
@click.argument("runs", metavar="[RUN]...", type=RunNumber(), nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("paper"),
    show_default=True,
    metavar="DIR",
    help="The folder for index.html, the .tex, .csv and .txt files and the figures.",
)
@with_appendix
@picture_terminal
@as_json
@database
def paper(
    definition: Path | None,
    runs: tuple[int, ...],
    out: Path,
    appendix: bool,
    pictures: Pictures,
    as_json: bool,
    where: str,
) -> None:
    """Make a paper's tables and figures again, measured beside published.

    DEFINITION is a shipped paper's name or a file (docs/paper.md); without it the shipped ones are
    listed. RUNs are by default the latest complete one of each of its plans; without any there is
    what was published.
    """
    if definition is None:
        reason = "is for a paper's tables: name the paper"
        refuse_given("out", "appendix", "pictures", reason=reason)
        _list(as_json)
        return
    refuse_given("as_json", reason="is for the list of papers: leave DEFINITION out")
    catalogue = load_catalogue()
    loaded = load_paper(definition, catalogue)
    options = ReportOptions(most_cases=0, pictures=pictures, appendix=appendix)
    plans = [plan.plan.name for plan in loaded.plans()]
    with contextlib.ExitStack() as cleanup:
        store, absent = None, ""
        try:
            store = cleanup.enter_context(Store.open(where, create=False))
        except NoDatabaseError as error:
            if runs:
                raise
            absent = str(error).rpartition(": ")[0]
        chosen = runs or (latest_runs(store, plans) if store else ())
        files = write_paper(loaded, store, chosen, out, catalogue=catalogue, options=options)
    for file in files:
        click.echo(file)
    if not chosen:
        for line in _how_to_measure(loaded, absent):
            click.echo(f"railgauge: {line}", err=True)


def _how_to_measure(loaded: LoadedPaper, absent: str) -> Iterator[str]:
    """Yield what to do to have measured numbers beside the published ones.

    `absent` says that there is no database, empty if there is one.
    """
    minutes, box = loaded.paper.minutes, loaded.paper.testbed
    reason = f", as {absent}" if absent else ""
    yield f"this is what was published alone{reason}; some {minutes} minutes measure it, too:"
    hosts = ""
    if box:
        file = folder("plans") / "testbeds" / f"{box}.yaml"
        yield f"  railgauge testbed up {file} --hosts-out box.yaml"
        hosts = " --hosts box.yaml"
    for file in loaded.plan_files():
        yield f"  railgauge run {file}{hosts}"
    if box:
        yield f"  railgauge testbed down {box}"
    yield "and the same command then shows both"


def _list(as_json: bool) -> None:
    catalogue = load_catalogue()
    papers = [load_paper(path, catalogue).paper for path in shipped("reports/papers").values()]
    if not papers:
        raise InputError("no paper's definition is installed")
    if as_json:
        described = [
            {
                "name": paper.name,
                "title": paper.title,
                "citation": paper.citation,
                "url": paper.url,
                "year": paper.year,
                "plans": paper.plans,
                "testbed": paper.testbed,
                "minutes": paper.minutes,
                "items": [
                    {"name": item.name, "number": item.number, "report": item.report}
                    for item in paper.items
                ],
            }
            for paper in papers
        ]
        click.echo(json_text(described))
        return
    width = max(len(paper.name) for paper in papers)
    for paper in papers:
        click.echo(f"{paper.name:{width}}  {paper.title} ({paper.year})")
        click.echo(f"{'':{width}}  {', '.join(item.number for item in paper.items)}")
        click.echo(f"{'':{width}}  plans: {', '.join(paper.plans)}")
