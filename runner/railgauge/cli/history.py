"""`railgauge history`: since when a case is faster or slower, and what changed beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from railgauge.base.characters import visible
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.cli.output_files import write
from railgauge.compare.case_history import (
    NIGHTS,
    NearbyChanges,
    all_histories,
    last_of_each_plan,
    newest_first,
)
from railgauge.compare.case_lookup import look_up_case, metric_history, plan_case_names
from railgauge.compare.select import check_plan
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.verdicts.history.history_json import history_data
from railgauge.report.verdicts.history.history_text import all_lines, history_lines, not_looked_at
from railgauge.store import Store
from railgauge.store.heads import RunHead


@click.command()
@click.argument("case", nargs=-1)
@click.option(
    "--all", "list_all", is_flag=True, help="A line for each case that changed, newest first."
)
@click.option("--metric", metavar="NAME", help="This metric instead of the headline metric(s).")
@click.option("--plan", metavar="NAME", help="Only runs of this plan count.")
@click.option("--test", metavar="NAME", help="Only this test's case (without --all).")
@click.option(
    "--nights",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Only the last N runs of each plan count (with --all: {NIGHTS} unless you say so).",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Draw the case's history into this folder: .svg, .plot and .dat.",
)
@as_json
@database
def history(case: tuple[str, ...], list_all: bool, where: str, **options: Any) -> None:
    """Show since when a CASE has the level it has, and what else changed then.

    CASE is the start of its key, or words out of its link, test and parameters, such as
    "gw→hh datagram=1460". See docs/history.md.
    """
    choices = _Choices(**options)
    if list_all and (case or choices.test or choices.out):
        raise click.UsageError("--all shows all cases: leave out CASE, --test and --out")
    if not list_all and not case:
        raise click.UsageError("name a CASE, or say --all")
    with Store.open(where, create=False) as store:
        if list_all:
            _print_all(store, choices)
        else:
            _print_case(store, " ".join(case), choices)


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the command line says, in addition to the case."""

    metric: str | None
    plan: str | None
    test: str | None
    nights: int | None
    out: Path | None
    as_json: bool


def _print_all(store: Store, choices: _Choices) -> None:
    plan, metric = choices.plan, choices.metric
    if plan is not None:
        check_plan(store, plan)
    heads = last_of_each_plan(store.run_heads(plan), choices.nights or NIGHTS)
    if not heads:
        raise InputError("there is no run in this database")
    looked = all_histories(store, heads, metric)
    if metric and not looked.looked_at:
        measured = ", ".join(map(visible, _metrics_of(store, heads)))
        raise InputError(
            f"no case has a value of {visible(metric)} in these runs"
            + (f": their metrics are {measured}" if measured else "")
        )
    nearby = NearbyChanges(store)
    histories = [nearby.add_to(history) for history in newest_first(looked.changed)]
    if choices.as_json:
        if note := not_looked_at(looked):
            click.echo(f"note: {note}", err=True)
        click.echo(json_text([history_data(history, nights=False) for history in histories]))
        return
    most = max(Counter(head.plan for head in heads).values())
    names = plan_case_names(store, load_catalogue(), {history.plan for history in histories})
    for line in all_lines(histories, looked, names, most):
        click.echo(line)


def _metrics_of(store: Store, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of which the last run of each plan has a value."""
    last = {head.plan: head.id for head in heads}
    series = store.series(list(last.values()))
    return list(dict.fromkeys(values.metric for values in series if len(values.values)))


def _print_case(store: Store, text: str, choices: _Choices) -> None:
    catalogue = load_catalogue()
    case = look_up_case(store, text, catalogue, plan=choices.plan, test=choices.test)
    heads = last_of_each_plan(store.run_heads(case.plan), choices.nights)
    history = metric_history(store, case, choices.metric, heads)
    history = NearbyChanges(store).add_to(history)
    name = plan_case_names(store, catalogue, [history.plan])[history.plan].with_test(history)
    if choices.out is not None:
        from railgauge.report.verdicts.history.plot import draw_history

        files = draw_history(history, name)
        for file, content in files.items():
            write(_folder(choices.out) / file, content)
    if choices.as_json:
        click.echo(json_text(history_data(history)))
        return
    for line in history_lines(history, name):
        click.echo(line)


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailedError(
            f"the folder {out} can't be made: {error.strerror}: choose another with --out"
        ) from error
    return out
