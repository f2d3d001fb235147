"""`railgauge export`: runs in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.cli.argument_types import RunNumber
from railgauge.cli.options import database
from railgauge.exchange.exporting.export import STANDARD_OUTPUT, export
from railgauge.exchange.exporting.view_rows import MEASUREMENT, VIEWS
from railgauge.exchange.hpcbench.export_hpcbench import export_hpcbench
from railgauge.plan.catalogue import load_catalogue
from railgauge.store import Store


@click.group("export")
def export_group() -> None:
    """Write runs in the formats of other programs."""


def _view_command(form: str, description: str) -> None:
    """Add the command that writes the public view as `description` says."""

    @export_group.command(
        form, help=f"Write RUNs (default: all) as {description}. See docs/export.md."
    )
    @click.argument("runs", metavar="[RUN]...", type=RunNumber(), nargs=-1)
    @click.option(
        "--out",
        type=click.Path(path_type=Path),
        required=True,
        metavar="FILE",
        help="The file, which is written whole or not at all; -: standard output.",
    )
    @click.option(
        "--view",
        type=click.Choice(list(VIEWS)),
        default=MEASUREMENT.name,
        show_default=True,
        help="Which rows: the values, what launches were granted, or series within replications.",
    )
    @database
    def command(runs: tuple[int, ...], out: Path, view: str, where: str) -> None:
        with Store.open(where, create=False, check=False) as store:
            exported = export(store, runs, out, form, VIEWS[view])
        counts = f"{out}: {plural(exported.rows, 'row')} of {plural(exported.runs, 'run')}"
        click.echo(counts, err=out == STANDARD_OUTPUT)


_view_command("csv", "CSV, a row for each value")
_view_command("json", "JSON Lines, an object for each value")
_view_command("parquet", "Parquet, a row for each value (needs pyarrow)")


@export_group.command("hpcbench")
@click.argument("run", type=RunNumber())
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder, made if missing, for a folder with each test's files.",
)
@database
def hpcbench_command(run: int, out: Path, where: str) -> None:
    """Write RUN as Hpcbench did: `output`, `output.c_log` and `output.s_log` for each test.

    `railgauge import hpcbench` reads them back. See docs/hpcbench.md.
    """
    catalogue = load_catalogue()
    with Store.open(where, create=False, check=False) as store:
        result = export_hpcbench(store, run, out, catalogue=catalogue)
    for file in result.files:
        click.echo(file)
    for note in result.notes:
        click.echo(f"railgauge: {visible(note)}", err=True)
