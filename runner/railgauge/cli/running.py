"""`railgauge run` and `railgauge resume`."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.cli.argument_types import RunNumber, ShippedFile
from railgauge.cli.options import allow_large, database, hosts, keep_going, labels, margin, wait
from railgauge.cli.output_files import check_outputs, opened_to_add
from railgauge.cli.tables import default_text
from railgauge.run.event_lines import EventLines
from railgauge.run.execution import Observer
from railgauge.run.job import Finished, Request
from railgauge.run.pipeline import execute, read
from railgauge.run.progress import PlainProgress, observer_for
from railgauge.run.stopping import unsettled_lines

_F = TypeVar("_F", bound=Callable[..., Any])


def note(text: str) -> None:
    """Print what is waited for while no run is followed yet."""
    click.echo(f"railgauge: {visible(text)}", err=True)


def _followed(command: _F) -> _F:
    """Add the options by which a run is followed."""
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Print a line for each replication."),
        click.option(
            "--log",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Add to FILE what happens, a line for each replication, with the time (UTC).",
        ),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print JSON, an object a line as it happens (see docs/cli.md).",
        ),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("plan", type=ShippedFile("plans"))
@hosts
@database
@allow_large
@margin
@wait
@keep_going
@labels
@_followed
def run(**options: Any) -> int:
    """Run PLAN: check it, reach its hosts, measure, store each replication, print the table.

    Ctrl-C stops it cleanly; `railgauge resume` goes on where it stopped.
    """
    return _execute(options)


@click.command()
@click.argument("run", type=RunNumber(say=note))
@database
@margin
@wait
@keep_going
@_followed
def resume(**options: Any) -> int:
    """Go on with RUN: measure exactly the replications that have no outcome yet."""
    return _execute(options)


def request_of(options: dict[str, Any], say: Callable[[str], None]) -> Request:
    """Take, out of a command's options, those of a request, which is to be closed."""
    names = {field.name for field in fields(Request)} & options.keys()
    return Request(say=say, **{name: options.pop(name) for name in names})


def _execute(options: dict[str, Any]) -> int:
    """Run or go on, as the options say; return the exit code."""
    check_outputs(options["log"])
    with contextlib.ExitStack() as cleanup:
        log, verbose, as_json = (options[name] for name in ("log", "verbose", "as_json"))
        events = EventLines(sys.stdout)
        further: list[Observer] = [events] if as_json else []
        if log is not None:
            stream = cleanup.enter_context(opened_to_add(log))
            further.append(PlainProgress(stream, all_lines=True, timed=True))
        observer = observer_for(verbose=verbose, further=further)
        request = cleanup.enter_context(request_of(options, observer.say))
        finished = execute(read(request, observer, cleanup))
        if not as_json:
            return print_outcome(request, finished)
        events.finished(finished, exit_code(finished))
        return exit_code(finished)


def exit_code(finished: Finished) -> int:
    """Return 1 where a replication failed or is missing."""
    return 1 if finished.failed or finished.missing else 0


def print_outcome(request: Request, finished: Finished) -> int:
    """Print what came of a run; return the exit code."""
    if finished.measured:
        click.echo(default_text(request.store, [finished.run], finished.catalogue))
    measured = f"{finished.measured} measured" if finished.planned else "nothing is left to measure"
    click.echo(f"run {finished.run} in {request.store.name}: {measured}", nl=False)
    click.echo(f", {finished.failed} failed" if finished.failed else "", nl=False)
    click.echo(f", {finished.missing} missing" if finished.missing else "", nl=False)
    click.echo(f", {finished.suspect} suspect" if finished.suspect else "")
    for reason, count in Counter(finished.skipped).items():
        click.echo(f"{plural(count, 'case')} skipped: {reason}")
    for line in unsettled_lines(finished.unsettled):
        click.secho(line, bold=True)
    command = request.store.command(f"resume {finished.run}")
    if finished.missing and finished.out_of_time:
        click.echo(f"stopped for the time limit: {finished.missing} missing; go on with: {command}")
    elif finished.missing:
        click.echo(
            f"missing because of {', '.join(sorted(finished.lost))}; once reachable and free, "
            f"go on with: {command}"
        )
    return exit_code(finished)
