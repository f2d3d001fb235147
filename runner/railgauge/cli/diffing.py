"""`railgauge diff`: which facts and settings changed between two runs, beside which results."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import click

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.cli.argument_types import RunNumber
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.compare.facts import FactChange, HostChanges
from railgauge.compare.verdict import Verdict, few_runs_note, rename_notes, undirected_note
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.pages.page import time_of
from railgauge.report.pages.run_difference import Difference, ParameterChange, difference
from railgauge.report.verdicts.verdict_json import case_data, renamed_data, result_data
from railgauge.report.verdicts.verdict_text import case_lines, result_lines
from railgauge.report.verdicts.verdict_words import compared_names, sentence, tally
from railgauge.store import Store
from railgauge.store.records import StoredRun

# Two values that are longer together stand below one another.
_LINE = 70
# And so many lines of a text that changed say enough.
_MOST_LINES = 20


@click.command()
@click.argument("before", metavar="RUN", type=RunNumber())
@click.argument("after", metavar="RUN", type=RunNumber())
@database
@as_json
def diff(before: int, after: int, where: str, as_json: bool) -> None:
    """Show which facts, settings and results changed from the first RUN to the second."""
    with Store.open(where, create=False) as store:
        differences = difference(store, before, after)
    if as_json:
        click.echo(json_text(_as_json(differences)))
        return
    for line in _lines(differences, load_catalogue()):
        click.echo(line.rstrip())


def _lines(differences: Difference, catalogue: Catalogue) -> Iterator[str]:
    for side, run in zip(("before", "after"), differences.runs, strict=True):
        plan, started = visible(run.new.plan), time_of(run.started_at)
        yield f"{side + ':':8}run {run.id} of plan {plan}, {started}"
    yield ""
    yield from list(_change_lines(differences.settings, "")) or ["the same settings"]
    yield ""
    yield from _fact_lines(differences)
    yield ""
    names = compared_names(differences.compared, catalogue)
    if differences.compared.results:
        yield from result_lines(differences.compared.results, names)
        yield ""
        for result in Verdict(differences.compared).flipping:
            yield f"two levels: {names.with_test(result)}: {sentence(result)}"
        yield tally(differences.compared)
        if note := few_runs_note(differences.compared):
            yield note
        yield from map(visible, rename_notes(differences.compared))
    elif not differences.compared.undirected:
        yield "no case is in both runs"
    if note := undirected_note(differences.compared):
        yield note
    yield from _parameter_lines(differences, catalogue)
    yield from case_lines(differences.compared, names)


def _fact_lines(differences: Difference) -> Iterator[str]:
    if not differences.hosts:
        before, after = (run.facts.keys() for run in differences.runs)
        yield "no fact changed" if before & after else "no host has facts in both runs"
    # What changed in the same way on many hosts is printed once.
    by_changes: dict[tuple[FactChange, ...], list[HostChanges]] = {}
    for host in differences.hosts:
        by_changes.setdefault(host.changes, []).append(host)
    for changes, hosts in by_changes.items():
        yield f"{', '.join(visible(host.host) for host in hosts)}:"
        yield from _change_lines(changes, "  ")
    for side, hosts_only in zip(("before", "after"), differences.hosts_only, strict=True):
        if hosts_only:
            yield f"facts only {side}: {', '.join(map(visible, hosts_only))}"


def _change_lines(changes: Iterable[FactChange], indent: str) -> Iterator[str]:
    for change in changes:
        name = visible(change.name)
        before, after = change.values
        if before is None or after is None:
            place = "only after" if before is None else "only before"
            text = "" if _is_file(change) else f": {visible(after or before or '')}"
            yield f"{indent}{name} ({place}){text}"
        elif _is_file(change):
            yield f"{indent}{name}:"
            yield from (f"{indent}  {line}" for line in _changed_lines(before, after))
        elif len(before) + len(after) <= _LINE:
            yield f"{indent}{name}: {visible(before)} → {visible(after)}"
        else:
            yield f"{indent}{name}:"
            yield f"{indent}  - {_different_words(before, after)}"
            yield f"{indent}  + {_different_words(after, before)}"


def _is_file(change: FactChange) -> bool:
    return change.name == "plan_text" or change.name.startswith("file ")


def _changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that went with a `-` before, those that came with a `+`."""
    compared = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [visible(f"{line[0]} {line[1:]}") for line in list(compared)[2:] if line[0] != "@"]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f"… and {plural(more, 'line')} more"] if more > 0 else lines


def _different_words(text: str, other: str) -> str:
    """Return the words of a long list that aren't in the other, or all of it if few are shared."""
    words, other_words = text.split(), set(other.split())
    own = [word for word in words if word not in other_words]
    return visible(" ".join(own or ["…"]) if len(own) <= len(words) / 2 else text)


def _parameter_lines(differences: Difference, catalogue: Catalogue) -> Iterator[str]:
    for parameter in differences.parameters:
        before, after = (_values(parameter, values, catalogue) for values in parameter.only)
        name = f"{visible(parameter.name)} of {visible(parameter.test)}"
        yield f"parameter {name}: {before} → {after}"


def _values(parameter: ParameterChange, values: Iterable[Value], catalogue: Catalogue) -> str:
    engine = catalogue.engines.get(parameter.engine)
    described = engine.parameters.get(parameter.name) if engine else None
    texts = (described.format(value) if described else str(value) for value in values)
    return visible(", ".join(texts)) or "–"


def _as_json(differences: Difference) -> dict[str, Any]:
    return {
        "runs": [_run_as_json(run) for run in differences.runs],
        "settings": [asdict(change) for change in differences.settings],
        "facts": [
            {"host": host.host, **asdict(change)}
            for host in differences.hosts
            for change in host.changes
        ],
        "hosts_only": [list(hosts) for hosts in differences.hosts_only],
        "renamed": renamed_data(differences.compared),
        "results": [result_data(result) for result in differences.compared.results],
        "parameters": [
            {
                "test": parameter.test,
                "name": parameter.name,
                "only": [list(values) for values in parameter.only],
            }
            for parameter in differences.parameters
        ],
        "cases_only": [
            [case_data(case) for case in cases] for cases in differences.compared.cases_only
        ],
    }


def _run_as_json(run: StoredRun) -> dict[str, Any]:
    new = run.new
    return {
        "id": run.id,
        "plan": new.plan,
        "state": run.state,
        "started_at": run.started_at,
        "git_commit": new.git_commit,
        "git_dirty": new.git_dirty,
        "engines_hash": new.engines_hash,
        "railgauge_version": new.railgauge_version,
    }
