"""`railgauge history`: since when a case is faster or slower, and what changed beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    History,
    NearbyChanges,
    all_histories,
    case_history,
    last_of_each_plan,
    newest_first,
)
from railgauge.plan.cases import case_name, varying
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.tables.case_names import non_default
from railgauge.report.verdicts.history.history_json import history_data
from railgauge.report.verdicts.history.history_text import all_lines, history_lines, not_looked_at
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import FoundCase

_MOST_NAMED = 10
# A run's facts are looked up once for all the cases that changed around it.
_CACHED_RUNS = 64


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
    """Tell since when a CASE has the level it has, and what else changed then.

    CASE is the start of its key, or words out of its link, test and parameters, such as
    "gw→hh datagram=1460". See docs/history.md.
    """
    choices = _Choices(**options)
    if list_all and (case or choices.test or choices.out):
        raise click.UsageError("--all tells of all cases: leave out CASE, --test and --out")
    if not list_all and not case:
        raise click.UsageError("name a CASE, or say --all")
    with Store.open(where, create=False) as store:
        if list_all:
            _print_all(store, choices)
        else:
            _print_case(store, " ".join(case), choices)


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the command line says, besides the case."""

    metric: str | None
    plan: str | None
    test: str | None
    nights: int | None
    out: Path | None
    as_json: bool


def _print_all(store: Store, choices: _Choices) -> None:
    plan, metric = choices.plan, choices.metric
    heads = last_of_each_plan(store.run_heads(plan), choices.nights or NIGHTS)
    if not heads:
        raise InputError(f"there is no run{f' of plan {plan!r}' if plan else ''} in this database")
    looked = all_histories(store, heads, metric)
    if metric and not looked.looked_at:
        measured = ", ".join(map(visible, _metrics_of(store, heads)))
        raise InputError(
            f"no case has a value of {visible(metric)} in these runs"
            + (f": their metrics are {measured}" if measured else "")
        )
    nearby = NearbyChanges(lru_cache(maxsize=_CACHED_RUNS)(store.run))
    histories = [nearby.add_to(history) for history in newest_first(looked.changed)]
    if choices.as_json:
        if note := not_looked_at(looked):
            click.echo(f"note: {note}", err=True)
        click.echo(json_text([history_data(history, nights=False) for history in histories]))
        return
    most = max(Counter(head.plan for head in heads).values())
    for line in all_lines(histories, looked, load_catalogue(), most):
        click.echo(line)


def _metrics_of(store: Store, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of which the last run of each plan has a value."""
    last = {head.plan: head.id for head in heads}
    series = store.series(list(last.values()))
    return list(dict.fromkeys(values.metric for values in series if len(values.values)))


def _print_case(store: Store, text: str, choices: _Choices) -> None:
    catalogue = load_catalogue()
    match = _find_case(store, text, choices, catalogue)
    heads = last_of_each_plan(store.run_heads(match.plan), choices.nights)
    history = NearbyChanges(store.run).add_to(_history(store, match, choices.metric, heads))
    named = {word.partition("=")[0] for word in text.split()}
    name = case_name(history.case, non_default(history.case, catalogue, named), catalogue)
    if choices.out is not None:
        from railgauge.report.verdicts.history.plot import draw_history

        files = draw_history(history, f"{history.test}: {name}")
        for file, content in files.items():
            write(_folder(choices.out) / file, content)
    if choices.as_json:
        click.echo(json_text(history_data(history)))
        return
    for line in history_lines(history, name):
        click.echo(line)


def _history(
    store: Store, match: FoundCase, metric: str | None, heads: Sequence[RunHead]
) -> History:
    """Return the history of the metric or, without, of the first headline metric it has."""
    for name in [metric] if metric else [*headlines(), *_metrics(store, match, heads)]:
        series = store.history(match.case.key, name, test=match.test, plan=match.plan)
        smallest = None
        if series:
            smallest = store.smallest_changes(series[-1].run).get((match.case.engine, name))
        if history := case_history(series, heads, smallest):
            return history
    noun = f"value of {metric}" if metric else "measurement"
    measured = ", ".join(_metrics(store, match, heads))
    raise InputError(
        f"case {match.case.key} of plan {visible(match.plan)!r}, test {visible(match.test)!r},"
        f" has no {visible(noun)}"
        + (f": its metrics are {measured}" if metric and measured else "")
    )


def _metrics(store: Store, match: FoundCase, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of the case, as the last run that measured it has them."""
    for head in reversed(heads):
        replications = store.replications(head.id, match.test, match.case.key)
        names = dict.fromkeys(name for replication in replications for name in replication.metrics)
        if names:
            return list(names)
    return []


def _find_case(store: Store, text: str, choices: _Choices, catalogue: Catalogue) -> FoundCase:
    candidates = store.find_cases(text)
    matches = [
        match
        for match in candidates
        if choices.plan in (None, match.plan) and choices.test in (None, match.test)
    ]
    # n1 is not n10, if there is one.
    matches = [match for match in matches if _is_called(match, text, catalogue)] or matches
    if len(matches) == 1:
        return matches[0]
    if not matches:
        also_not = ", nor in that plan and test" if candidates else ""
        raise InputError(
            f"no case is called {text!r}{also_not}: name the start of a key, or words out of its"
            " link, test or parameters; `railgauge show RUN --json` has the keys"
        )
    differ = set(varying([match.case for match in matches]))
    listed = [
        f"  {match.case.key}  {visible(match.plan)}, {visible(match.test)}: "
        + visible(case_name(match.case, non_default(match.case, catalogue, differ), catalogue))
        for match in matches[:_MOST_NAMED]
    ]
    more = len(matches) - _MOST_NAMED
    listed += [f"  … and {more:,} more"] if more > 0 else []
    same_case = len({match.case.key for match in matches}) == 1
    narrow = "say which by --plan or --test" if same_case else "name one's key, or more words"
    raise InputError("\n".join([f"{text!r} is {len(matches):,} cases: {narrow}", *listed]))


def _is_called(match: FoundCase, text: str, catalogue: Catalogue) -> bool:
    """Return whether each word of `text` is a whole name of the case."""
    case = match.case
    names = {case.key, case.engine, case.link, case.client, case.server, match.test, match.plan}
    names.update(case_name(case, list(case.parameters), catalogue).split())
    return all(word in names for word in text.split())


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailedError(
            f"the folder {out} can't be made: {error.strerror}: choose another with --out"
        ) from error
    return out
