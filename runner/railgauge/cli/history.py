"""`railgauge history`: since when a case is faster or slower, and what changed beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import click

from railgauge.base.characters import visible
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.cli.written import write
from railgauge.compare.history import (
    NIGHTS,
    History,
    all_histories,
    case_history,
    last_of_each_plan,
    newest_first,
    with_beside,
)
from railgauge.plan.cases import case_name, varying
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.plan.catalogue.headlines import HEADLINES
from railgauge.report.tables.naming import telling
from railgauge.report.verdicts.history.jsonable import history_data
from railgauge.report.verdicts.history.text import all_lines, history_lines, not_looked_at
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import FoundCase

_MOST_NAMED = 10
# A run's facts are looked up once for all the cases that changed around it.
_RUNS_KEPT = 64


@click.command()
@click.argument("case", nargs=-1)
@click.option(
    "--all", "every", is_flag=True, help="A line for each case that changed, newest first."
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
def history(
    case: tuple[str, ...],
    every: bool,
    metric: str | None,
    plan: str | None,
    test: str | None,
    nights: int | None,
    out: Path | None,
    as_json: bool,
    where: str,
) -> None:
    """Tell since when a CASE has the level it has, and what else changed then.

    CASE is the start of its key, or words out of its link, test and parameters, such as
    "gw→hh datagram=1460". See docs/history.md.
    """
    if every and (case or test or out):
        raise click.UsageError("--all tells of all cases: leave out CASE, --test and --out")
    if not every and not case:
        raise click.UsageError("name a CASE, or say --all")
    with Store.open(where, create=False) as store:
        if every:
            _tell_all(store, plan, metric, nights or NIGHTS, as_json=as_json)
            return
        catalogue, text = load_catalogue(), " ".join(case)
        found = _one_case(store, text, plan, test, catalogue)
        _tell_one(store, found, metric, nights, out, text, catalogue, as_json=as_json)


def _tell_all(
    store: Store, plan: str | None, metric: str | None, nights: int, *, as_json: bool
) -> None:
    heads = last_of_each_plan(store.run_heads(plan), nights)
    if not heads:
        raise InputError(f"there is no run{f' of plan {plan!r}' if plan else ''} in this database")
    look_up = lru_cache(maxsize=_RUNS_KEPT)(store.run)
    looked = all_histories(store, heads, metric)
    if metric and not looked.looked_at:
        there = ", ".join(map(visible, _metrics_of(store, heads)))
        raise InputError(
            f"no case has a value of {visible(metric)} in these runs"
            + (f": their metrics are {there}" if there else "")
        )
    found = newest_first(looked.changed)
    if as_json:
        if note := not_looked_at(looked):
            click.echo(f"note: {note}", err=True)
        told = [history_data(with_beside(one, look_up), nights=False) for one in found]
        click.echo(json_text(told))
        return
    beside = [with_beside(one, look_up) for one in found]
    most = max(Counter(head.plan for head in heads).values())
    for line in all_lines(beside, looked, load_catalogue(), most):
        click.echo(line)


def _metrics_of(store: Store, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of which the last run of each plan has a value."""
    last = {head.plan: head.id for head in heads}
    every = store.series(list(last.values()))
    return list(dict.fromkeys(one.metric for one in every if len(one.values)))


def _tell_one(
    store: Store,
    found: FoundCase,
    metric: str | None,
    nights: int | None,
    out: Path | None,
    text: str,
    catalogue: Catalogue,
    *,
    as_json: bool,
) -> None:
    heads = last_of_each_plan(store.run_heads(found.plan), nights)
    told = with_beside(_history(store, found, metric, heads), store.run)
    asked_for = {word.partition("=")[0] for word in text.split()}
    name = case_name(told.case, telling(told.case, catalogue, asked_for), catalogue)
    if out is not None:
        from railgauge.report.verdicts.history.plot import draw_history

        files = draw_history(told, f"{told.test}: {name}")
        for file, text in files.items():
            write(_folder(out) / file, text)
    if as_json:
        click.echo(json_text(history_data(told)))
        return
    for line in history_lines(told, name):
        click.echo(line)


def _history(
    store: Store, found: FoundCase, metric: str | None, heads: Sequence[RunHead]
) -> History:
    """Return the history of the metric or, without, of the first headline metric it has."""
    for name in [metric] if metric else [*HEADLINES, *_metrics(store, found, heads)]:
        series = store.history(found.case.key, name, test=found.test, plan=found.plan)
        smallest = None
        if series:
            smallest = store.smallest_changes(series[-1].run).get((found.case.engine, name))
        if told := case_history(series, heads, smallest):
            return told
    what = f"value of {metric}" if metric else "measurement"
    there = ", ".join(_metrics(store, found, heads))
    raise InputError(
        f"case {found.case.key} of plan {visible(found.plan)!r}, test {visible(found.test)!r}, has"
        f" no {visible(what)}" + (f": its metrics are {there}" if metric and there else "")
    )


def _metrics(store: Store, found: FoundCase, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of the case, as the last run that measured it has them."""
    for head in reversed(heads):
        replications = store.replications(head.id, found.test, found.case.key)
        names = dict.fromkeys(name for one in replications for name in one.metrics)
        if names:
            return list(names)
    return []


def _one_case(
    store: Store, text: str, plan: str | None, test: str | None, catalogue: Catalogue
) -> FoundCase:
    every = store.find_cases(text)
    found = [one for one in every if plan in (None, one.plan) and test in (None, one.test)]
    # n1 is not n10, if there is one.
    found = [one for one in found if _is_called(one, text, catalogue)] or found
    if len(found) == 1:
        return found[0]
    if not found:
        also = ", nor in that plan and test" if every else ""
        raise InputError(
            f"no case is called {text!r}{also}: name the start of a key, or words out of its link,"
            " test or parameters; `railgauge show RUN --json` has the keys"
        )
    differ = set(varying([one.case for one in found]))
    listed = [
        f"  {one.case.key}  {visible(one.plan)}, {visible(one.test)}: "
        + visible(case_name(one.case, telling(one.case, catalogue, differ), catalogue))
        for one in found[:_MOST_NAMED]
    ]
    more = len(found) - _MOST_NAMED
    listed += [f"  … and {more:,} more"] if more > 0 else []
    alike = len({one.case.key for one in found}) == 1
    narrow = "say which by --plan or --test" if alike else "name one's key, or more words"
    raise InputError("\n".join([f"{text!r} is {len(found):,} cases: {narrow}", *listed]))


def _is_called(found: FoundCase, text: str, catalogue: Catalogue) -> bool:
    """Return whether each word of `text` is a whole name of the case."""
    case = found.case
    names = {case.key, case.engine, case.link, case.client, case.server, found.test, found.plan}
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
