"""`railgauge gate`: run a plan, compare it with its baseline, fail on a regression."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from railgauge.base.errors import EnvironmentFailedError, InputError, InterruptedRunError
from railgauge.cli.jsontext import json_text
from railgauge.cli.notifying import command_line, notify
from railgauge.cli.options import allow_large, as_json, database, hosts, keep_going, margin, wait
from railgauge.cli.output_files import check_folder, write
from railgauge.cli.running import unsettled_lines
from railgauge.compare.compare import Comparison, Result, compare
from railgauge.compare.confirm import cases_of, compare_suspects, confirmed, suspects
from railgauge.compare.reading import CaseName, read
from railgauge.compare.select import Selection, select
from railgauge.compare.verdict import Verdict, find_reasons, notes_on
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.load import load_plan
from railgauge.report.verdicts.github import workflow_commands
from railgauge.report.verdicts.junit import junit
from railgauge.report.verdicts.markdown import markdown
from railgauge.report.verdicts.verdict_json import verdict_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.run.job import Finished, Request
from railgauge.run.pipeline import execute
from railgauge.run.progress import observer_for
from railgauge.store import Store
from railgauge.store.baselines import check_name

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the command line says."""

    plan: Path
    hosts: Path | None
    where: str
    baseline: str | None
    set_missing: bool
    confirm: bool
    allow_large: bool
    margin: float
    wait: float
    keep_going: bool

    def execute(self, only: frozenset[CaseName] | None = None) -> Finished:
        """Run the plan, or those cases of it; the hosts are let go of afterwards."""
        with contextlib.ExitStack() as cleanup:
            request = Request(
                self.where,
                observer_for(),
                cleanup,
                plan=self.plan,
                hosts=self.hosts,
                allow_large=self.allow_large,
                margin=self.margin,
                only=only,
                wait=self.wait,
                keep_going=self.keep_going,
            )
            return execute(request)


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Where the verdict goes, besides standard output."""

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
@click.argument("plan", type=click.Path(path_type=Path))
@hosts
@click.option(
    "--baseline", metavar="NAME", help="What to compare with.  [default: the plan's name]"
)
@click.option("--set-missing", is_flag=True, help="Without a baseline yet, this run becomes it.")
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
    metavar="COMMAND",
    help="Run COMMAND with the summary on its standard input.",
)
@as_json
@database
@allow_large
@margin
@wait
@keep_going
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
    choices = _Choices(**options)
    check_folder(junit, markdown)
    command = command_line(notify_command) if notify_command else None
    try:
        outcome = _gate(choices, outputs)
    except BaseException as error:
        if command:
            notify(command, *_without_verdict(choices, error))
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


def _without_verdict(choices: _Choices, error: BaseException) -> tuple[str, int]:
    """Return the message where there is no verdict, and the exit code."""
    stopped = isinstance(error, KeyboardInterrupt)
    reason = "stopped" if stopped else str(error) or type(error).__name__
    code = InterruptedRunError.exit_code if stopped else getattr(error, "exit_code", 3)
    return f"{choices.plan}: no verdict: {reason}\n", code


def _gate(choices: _Choices, outputs: _Outputs) -> _Outcome:
    plan = load_plan(choices.plan, hosts=choices.hosts).plan.name
    name = choices.baseline or plan
    baseline = _baseline(choices, name, plan)
    finished = choices.execute()
    with Store.open(choices.where, create=False) as store:
        if baseline is None:
            verdict = _first(store, name, finished, plan)
        else:
            verdict = _judge(choices, store, finished, baseline, plan)
    lines = verdict_lines(verdict, finished.catalogue, all_results=outputs.list_all)
    return _Outcome(verdict, "".join(f"{line}\n" for line in lines), finished.catalogue)


def _baseline(choices: _Choices, name: str, plan: str) -> Selection | None:
    """Return what to compare with; None where this run is to become it."""
    exists = "://" in choices.where or Path(choices.where).exists()
    if exists:
        with Store.open(choices.where, create=True) as store:
            is_baseline = any(stored.name == name for stored in store.baselines())
            if is_baseline or (choices.baseline and not choices.set_missing):
                return select(store, name, plan=plan)
    if choices.set_missing:
        check_name(name)
        return None
    raise InputError(
        f"there is no baseline {name!r} yet: say --set-missing, and this run becomes it, or choose "
        f"a run that was good: railgauge baseline set {name!r} RUN"
    )


def _first(store: Store, name: str, finished: Finished, plan: str) -> Verdict:
    """Make the run the baseline unless something is missing of it."""
    problems = _problems(finished, "")
    notes = list(unsettled_lines(finished.unsettled))
    if problems:
        problems.insert(0, f"run {finished.run} did not become baseline {name}")
    else:
        store.set_baseline(name, [finished.run], "set by the first gate")
        notes.insert(0, f"run {finished.run} is baseline {name} now")
    sides = Selection("no baseline", ()), Selection(f"run {finished.run}", (finished.run,))
    compared = Comparison(sides, (), ((), ()))
    return Verdict(compared, plan, problems=tuple(problems), notes=tuple(notes))


def _problems(finished: Finished, kind: str) -> list[str]:
    """Return what could not be measured, a sentence each; `kind` of replications or none."""
    problems = []
    if finished.failed:
        problems.append(
            f"{finished.failed:,} {kind}replications failed: railgauge show {finished.run}"
        )
    if finished.missing:
        cause = "its time was over" if finished.out_of_time else "hosts were lost"
        lost_hosts = (f"{host} ({reason})" for host, reason in sorted(finished.lost.items()))
        hosts = f": {', '.join(lost_hosts)}" if finished.lost else ""
        problems.append(
            f"{finished.missing:,} {kind}replications are missing, as {cause}{hosts}; go on with: "
            f"railgauge resume {finished.run}"
        )
    return problems


def _judge(
    choices: _Choices, store: Store, finished: Finished, baseline: Selection, plan: str
) -> Verdict:
    reading = read(store, [*baseline.runs, finished.run])
    compared = compare(reading, baseline, Selection(f"run {finished.run}", (finished.run,)))
    problems = _problems(finished, "")
    unconfirmed: tuple[Result, ...] = ()
    if choices.confirm and not finished.out_of_time and (again := suspects(compared)):
        if finished.stopped:
            raise InterruptedRunError(
                "stopped before what looks slower was measured once more; as it is, it is told by: "
                f"railgauge compare {shlex.quote(choices.baseline or plan)} {finished.run}"
            )
        second = _measured_again(choices, again, problems)
        if second is not None:
            # What is judged of a case depends on all the runs together.
            reading = read(store, [*baseline.runs, finished.run, second])
            compared = compare(reading, baseline, compared.selected[1])
            both_runs = Selection(f"runs {finished.run} and {second}", (finished.run, second))
            compared, unconfirmed = confirmed(
                compared,
                compare_suspects(reading, baseline, second),
                compare(reading, baseline, both_runs),
            )
    problems += _undecided(compared)
    reasons = find_reasons(store, compared, compared.of("slower"))
    notes = (*unsettled_lines(finished.unsettled), *notes_on(store, compared))
    return Verdict(compared, plan, unconfirmed, tuple(problems), notes, reasons)


def _undecided(compared: Comparison) -> list[str]:
    """Return why a gate can't pass though nothing is slower: it would never find anything."""
    measured = [result for result in compared.results if all(side.n for side in result.sides)]
    if not measured:
        first = compared.selected[0].title
        return [f"nothing could be compared: no case was measured in {first} too"]
    if all(math.isnan(result.judged.q) for result in measured):
        return [f"no case could be judged: {measured[0].judged.reason}"]
    return []


def _measured_again(
    choices: _Choices, results: Sequence[Result], problems: list[str]
) -> int | None:
    """Measure the results' cases once more; return the run, or None where that was not possible."""
    only = cases_of(results)
    observer_for().say(f"measuring once more what looks slower: {len(only):,} of the cases")
    try:
        finished = choices.execute(only)
    except (EnvironmentFailedError, InputError) as error:
        # The plan may be another one by now.
        problems.append(f"what looked slower could not be measured once more: {error}")
        return None
    problems += _problems(finished, "confirming ")
    return finished.run


def _print(outcome: _Outcome, outputs: _Outputs) -> str:
    """Print the verdict as requested; return why that failed, "" where nobody reads it."""
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
        # What is left of it would fail again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "" if isinstance(error, BrokenPipeError) else error.strerror or str(error)
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
