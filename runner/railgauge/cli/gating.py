"""`railgauge gate`: run a plan, compare it with its baseline, fail on a regression."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from railgauge.base.errors import EnvironmentFailedError, InterruptedRunError
from railgauge.cli.argument_types import ShippedFile, complete_selections
from railgauge.cli.jsontext import json_text
from railgauge.cli.notifying import command_line, notify
from railgauge.cli.options import (
    allow_large,
    as_json,
    database,
    hosts,
    keep_going,
    labels,
    margin,
    metrics,
    wait,
)
from railgauge.cli.output_files import check_outputs, write
from railgauge.cli.running import note, request_of
from railgauge.cli.settings import setting
from railgauge.compare.verdict import Verdict
from railgauge.plan.catalogue import Catalogue
from railgauge.report.verdicts.github import workflow_commands
from railgauge.report.verdicts.junit import junit
from railgauge.report.verdicts.markdown import markdown
from railgauge.report.verdicts.verdict_json import verdict_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.run.gate import judge_plan

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Where the verdict goes, in addition to standard output."""

    junit: Path | None
    markdown: Path | None
    github: bool
    as_json: bool
    list_all: bool


class _Outcome(NamedTuple):
    """The verdict, the text of it, and what there is to know of engines."""

    verdict: Verdict
    text: str
    catalogue: Catalogue


@click.command()
@click.argument("plan", type=ShippedFile("plans"))
@hosts
@click.option(
    "--baseline",
    metavar="NAME",
    shell_complete=complete_selections,
    help="What to compare with.  [default: the plan's name]",
)
@click.option(
    "--set-missing",
    is_flag=True,
    help="Without a baseline yet, this run becomes it: for the first run, by hand.",
)
@click.option(
    "--confirm/--no-confirm",
    default=True,
    show_default=True,
    help="Measure what looks slower once more; only what is slower again counts.",
)
@click.option("--junit", type=_FILE, metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", type=_FILE, metavar="FILE", help="Write Markdown.")
@click.option("--github", is_flag=True, help="Print GitHub's annotations, fill the job's summary.")
@click.option("--all", "list_all", is_flag=True, help="List what is the same, too.")
@click.option(
    "--notify",
    "notify_command",
    default=setting("notify"),
    metavar="COMMAND",
    help="Run COMMAND with the summary on its standard input.",
)
@metrics
@as_json
@database
@allow_large
@margin
@wait
@keep_going
@labels
def gate(
    notify_command: str | None,
    junit: Path | None,
    markdown: Path | None,
    github: bool,
    list_all: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run PLAN, compare with its baseline; exit 1 if a case is slower or couldn't be measured."""
    outputs = _Outputs(junit, markdown, github, as_json, list_all)
    check_outputs(junit, markdown)
    command = None if notify_command is None else command_line(notify_command)
    plan = options["plan"]
    try:
        with request_of(options, note) as request:
            verdict, catalogue = judge_plan(request, **options)
        outcome = _Outcome(verdict, _text(verdict, catalogue, outputs), catalogue)
    except BaseException as error:
        if command:
            notify(command, *_without_verdict(plan, error))
        raise
    code = 0 if outcome.verdict.passed else 1
    # A failure of one output must not keep the others from being written.
    unprinted = _print(outcome, outputs)
    if command:
        notify(command, outcome.text, code)
    _write(outcome.verdict, outputs, outcome.catalogue)
    if unprinted:
        raise EnvironmentFailedError(f"the verdict can't be printed: {unprinted}")
    return code


def _without_verdict(plan: Path, error: BaseException) -> tuple[str, int]:
    """Return the message where there is no verdict, and the exit code."""
    stopped = isinstance(error, KeyboardInterrupt)
    reason = "stopped" if stopped else str(error) or type(error).__name__
    code = InterruptedRunError.exit_code if stopped else getattr(error, "exit_code", 3)
    return f"{plan}: no verdict: {reason}\n", code


def _text(verdict: Verdict, catalogue: Catalogue, outputs: _Outputs) -> str:
    lines = verdict_lines(verdict, catalogue, all_results=outputs.list_all)
    return "".join(f"{line}\n" for line in lines)


def _print(outcome: _Outcome, outputs: _Outputs) -> str:
    """Print the verdict as requested; return why that failed."""
    verdict = outcome.verdict
    try:
        if outputs.as_json:
            click.echo(json_text(verdict_data(verdict)))
        else:
            click.echo(outcome.text, nl=False)
        if outputs.github:
            for line in workflow_commands(verdict, outcome.catalogue):
                click.echo(line, err=outputs.as_json)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _write(verdict: Verdict, outputs: _Outputs, catalogue: Catalogue) -> None:
    """Write the files that were asked for: last of all, as a disk may be full."""
    if outputs.junit:
        write(outputs.junit, junit(verdict, catalogue))
    if outputs.markdown:
        write(outputs.markdown, markdown(verdict, catalogue, all_results=outputs.list_all))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if outputs.github and summary:
        # What stands there already may be of a command before.
        write(
            Path(summary), markdown(verdict, catalogue, all_results=outputs.list_all), append=True
        )
