"""`railgauge import`: other people's results into the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.base.units import parse_moment
from railgauge.cli.options import database, labels, refuse_given, seconds
from railgauge.exchange.exporting.read_back import import_exported
from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.exchange.importing.csv_import import import_csv
from railgauge.exchange.importing.csv_mapping import APART, CsvMapping, parse_binding, parse_setting
from railgauge.exchange.importing.import_tool import ImportNames, import_tool
from railgauge.exchange.importing.imported_hosts import NO_HOSTS, read_imported_hosts
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.catalogue import load_catalogue
from railgauge.store import Store

# Of more runs that a file holds a line is said of them all.
_MOST_LINES = 5


def _moment(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    try:
        return None if value is None else parse_moment(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


_at = click.option(
    "--at",
    metavar="TIME",
    callback=_moment,
    help="When it was measured, where the files don't say: 2025-11-21T02:00:00Z; default: now.",
)


def _warn_of_start(store: Store, run: int, at: float | None) -> None:
    """Print when the run is stored as begun, where the user might not expect that."""
    if at is None and not store.has_start_times(run):
        began = store.run(run).started_at
        click.echo(
            f"railgauge: run {run}: no time of measurement is given, so it begins "
            f"now, {began}; say --at TIME",
            err=True,
        )


@click.group("import")
def import_group() -> None:
    """Put other people's results into the database, as imported runs."""


@import_group.command("csv")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--engine", default="", help="The engine that the results are of, such as udp.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME=COLUMN:UNIT",
    help="A metric's column and its unit, such as throughput=mbps:Mbit/s; repeatable.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=COLUMN:UNIT",
    help="A parameter's column, such as datagram=bytes:B; repeatable.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter with one value in all rows, such as mode=stream; repeatable.",
)
@click.option("--link", default="", metavar="COLUMN", help="The column that names the link.")
@click.option("--link-name", default="", metavar="NAME", help="The link of all rows.")
@click.option(
    "--plan", default="", metavar="NAME", help="The run's plan; default: the file's name."
)
@click.option("--test", default="", metavar="NAME", help="The test; default: the engine's name.")
@click.option(
    "--started-at",
    default="",
    metavar="COLUMN",
    help="The column that says when each row was measured: ISO 8601 with its zone, or seconds.",
)
@click.option(
    "--apart",
    default=f"{APART / 3600:g}h",
    show_default=True,
    metavar="TIME",
    callback=seconds,
    help="A new run begins where, by --started-at, nothing was measured for longer.",
)
@click.option(
    "--mean-of",
    default="",
    metavar="N-or-COLUMN",
    help="Of how many replications each number is the mean, or the column that says it.",
)
@click.option(
    "--stdev",
    multiple=True,
    metavar="METRIC=COLUMN:UNIT",
    help="The column of a mean's sample standard deviation; likewise --minimum and --maximum.",
)
@click.option("--minimum", multiple=True, metavar="METRIC=COLUMN:UNIT", hidden=True)
@click.option("--maximum", multiple=True, metavar="METRIC=COLUMN:UNIT", hidden=True)
@click.option(
    "--logged",
    multiple=True,
    metavar="COUNTER=COLUMN",
    help="What a system log counted in a second, such as client/stat/interrupts/s=ints.",
)
@click.option(
    "--hosts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A hosts file with the links' hosts, their rates and what the hosts could do at most.",
)
@_at
@labels
@database
def csv_command(
    file: Path,
    settings: tuple[str, ...],
    hosts: Path | None,
    at: float | None,
    apart: float,
    labels: dict[str, str],
    where: str,
    **columns: Any,
) -> None:
    """Store the rows of the CSV FILE as a run; empty cells and `---` are no measurement.

    Cells with `lost`, `impossible` or `not measured` are none either, and tables say so.

    With FILE alone: what `railgauge export csv` wrote, run by run.
    """
    if not columns["started_at"]:
        refuse_given("apart", reason="is for --started-at: name the column that says when")
    if not any((settings, hosts, *columns.values())):
        _import_exported(file, at, labels, where)
        return
    if not columns["engine"] or not columns["metrics"]:
        raise InputError("say --engine and --metric, or FILE alone for one of railgauge export csv")
    # Options that may be repeated name columns, the others are names themselves.
    bound: dict[str, Any] = {
        name: value if isinstance(value, str) else [parse_binding(text) for text in value]
        for name, value in columns.items()
    }
    with Store.open(where, when_needed=True) as store:
        results = import_csv(
            store,
            file,
            CsvMapping(fixed=_settings(settings), apart=apart, **bound),
            catalogue=load_catalogue(),
            at=at,
            labels=labels,
            hosts=NO_HOSTS if hosts is None else read_imported_hosts(hosts),
        )
        _warn_of_start(store, results[0].run, at)
    _print(results, _of_rows)


def _print(
    results: Sequence[ImportResult], origin: Callable[[Sequence[ImportResult]], str]
) -> None:
    """Print how many values of what `origin` runs have: a line each, of many nights one of all."""
    if len(results) > _MOST_LINES:
        runs = f"{len(results):,} runs, {results[0].run} to {results[-1].run}"
        values = sum(result.values for result in results)
        click.echo(f"{runs}: {plural(values, 'value')} {origin(results)}")
        return
    for result in results:
        counts = f"{plural(result.values, 'value')} of {plural(result.cases, 'case')}"
        click.echo(f"run {result.run}: {counts} {origin([result])}")


def _of_replications(results: Sequence[ImportResult]) -> str:
    return f"from {plural(sum(result.replications for result in results), 'replication')}"


def _of_rows(results: Sequence[ImportResult]) -> str:
    blanks = sum(result.blanks for result in results)
    rows = f"from {plural(sum(result.rows for result in results), 'row')}"
    return f"{rows}, {plural(blanks, 'cell')} blank" if blanks else rows


def _import_exported(file: Path, at: float | None, labels: dict[str, str], where: str) -> None:
    catalogue = load_catalogue()
    with Store.open(where, when_needed=True) as store:
        stored = import_exported(store, file, catalogue=catalogue, at=at, labels=labels)
        for imported in stored:
            _warn_of_start(store, imported.run, at)
    _print(stored, _of_replications)


@import_group.command("hpcbench")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--plan",
    default="",
    metavar="NAME",
    help="The run's plan; default: the test's name, or hpcbench.",
)
@_at
@labels
@database
def hpcbench_command(
    files: tuple[Path, ...], plan: str, at: float | None, labels: dict[str, str], where: str
) -> None:
    """Store outputs of Hpcbench's udptest, and the system logs beside them, as one run.

    Each FILE holds one output: what `udptest -o` wrote, or what the screen showed with the command
    above it. System logs (FILE.c_log, FILE.s_log) are read with it. See docs/hpcbench.md.
    """
    catalogue = load_catalogue()
    with Store.open(where, when_needed=True) as store:
        result = import_hpcbench(store, files, catalogue=catalogue, plan=plan, at=at, labels=labels)
        _warn_of_start(store, result.run, at)
    click.echo(
        f"run {result.run}: {plural(result.replications, 'replication')} of "
        f"{plural(result.cases, 'case')} from {plural(result.files, 'output')} and "
        f"{plural(result.logs, 'system log')}"
    )


def _tool_command(tool: str, outputs: str, hosts: str) -> None:
    """Add the command that reads the `outputs` of a tool; `hosts` says whether they name them."""

    @import_group.command(tool, help=f"Store {outputs} as one run. See docs/tools.md.")
    @click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
    )
    @click.option("--link", default="", metavar="NAME", help=f"The link or host measured; {hosts}.")
    @click.option(
        "--plan", default="", metavar="NAME", help=f"The run's plan; default: the file, or {tool}."
    )
    @click.option(
        "--test", default="", metavar="NAME", help="The test; default: the engine's name."
    )
    @_at
    @labels
    @database
    def command(
        files: tuple[Path, ...],
        link: str,
        plan: str,
        test: str,
        at: float | None,
        labels: dict[str, str],
        where: str,
    ) -> None:
        catalogue = load_catalogue()
        names = ImportNames(link, plan, test)
        with Store.open(where, when_needed=True) as store:
            result = import_tool(
                store, tool, files, catalogue=catalogue, names=names, at=at, labels=labels
            )
            _warn_of_start(store, result.run, at)
        click.echo(
            f"run {result.run}: {plural(result.replications, 'replication')} of "
            f"{plural(result.cases, 'case')} from {plural(result.files, 'file')}"
        )


_tool_command("iperf3", "outputs of iperf3 --json", "default: as the files name it")
_tool_command("fio", "outputs of fio --output-format=json", "the files don't name it")
_tool_command("netperf", "outputs of netperf, tables or -k", "the files don't name it")
_tool_command("osu", "outputs of the OSU micro-benchmarks", "the files don't name it")


def _settings(texts: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for name, value in map(parse_setting, texts):
        if name in settings:
            raise InputError(f"--set {name} is given twice: give it once")
        settings[name] = value
    return settings
