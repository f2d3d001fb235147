"""`railgauge diff`: which facts and settings changed between two runs, beside which results."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

import click

from railgauge.base.characters import visible
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.compare.facts import FactChange, HostChanges
from railgauge.compare.verdict import few_runs_note
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.pages.difference import Difference, ParameterChange, difference
from railgauge.report.verdicts.jsonable import case_data, result_data
from railgauge.report.verdicts.text import case_lines, result_lines
from railgauge.report.verdicts.words import Namer, tally
from railgauge.store import Store
from railgauge.store.records import StoredRun

# Two values that are longer together stand below one another.
_LINE = 70
# And so many lines of a text that changed say enough.
_MOST_LINES = 20


@click.command()
@click.argument("before", metavar="RUN", type=int)
@click.argument("after", metavar="RUN", type=int)
@database
@as_json
def diff(before: int, after: int, where: str, as_json: bool) -> None:
    """Tell which facts, settings and results changed from the first RUN to the second."""
    with Store.open(where, create=False) as store:
        found = difference(store, before, after)
    if as_json:
        click.echo(json_text(_as_json(found)))
        return
    for line in _lines(found, load_catalogue()):
        click.echo(line.rstrip())


def _lines(found: Difference, catalogue: Catalogue) -> Iterator[str]:
    for word, run in zip(("before", "after"), found.runs, strict=True):
        yield f"{word + ':':8}run {run.id} of plan {visible(run.new.plan)}, {run.started_at[:19]}Z"
    yield ""
    yield from _change_lines(found.settings, "") if found.settings else ["the same settings"]
    yield ""
    yield from _fact_lines(found)
    yield ""
    names = Namer(found.compared, catalogue)
    if found.compared.results:
        yield from result_lines(found.compared.results, names)
        yield ""
        yield tally(found.compared)
        if note := few_runs_note(found.compared):
            yield note
    else:
        yield "no case is in both runs"
    yield from _parameter_lines(found, catalogue)
    yield from case_lines(found.compared, names)


def _fact_lines(found: Difference) -> Iterator[str]:
    if not found.hosts:
        both = [host for host in found.runs[0].facts if host in found.runs[1].facts]
        yield "no fact changed" if both else "no host has facts in both runs"
    # What changed alike on many hosts is told once.
    alike: dict[tuple[FactChange, ...], list[HostChanges]] = {}
    for host in found.hosts:
        alike.setdefault(host.changes, []).append(host)
    for changes, hosts in alike.items():
        yield f"{', '.join(visible(each.host) for each in hosts)}:"
        yield from _change_lines(changes, "  ")
    for word, hosts_only in zip(("before", "after"), found.hosts_only, strict=True):
        if hosts_only:
            yield f"facts only {word}: {', '.join(map(visible, hosts_only))}"


def _change_lines(changes: Iterable[FactChange], indent: str) -> Iterator[str]:
    for change in changes:
        name = visible(change.name)
        before, after = change.values
        if before is None or after is None:
            what = "only after" if before is None else "only before"
            text = "" if _is_file(change) else f": {visible(after or before or '')}"
            yield f"{indent}{name} ({what}){text}"
        elif _is_file(change):
            yield f"{indent}{name}:"
            yield from (f"{indent}  {line}" for line in _changed_lines(before, after))
        elif len(before) + len(after) <= _LINE:
            yield f"{indent}{name}: {visible(before)} → {visible(after)}"
        else:
            yield f"{indent}{name}:"
            yield f"{indent}  - {_what_differs(before, after)}"
            yield f"{indent}  + {_what_differs(after, before)}"


def _is_file(change: FactChange) -> bool:
    return change.name == "plan_text" or change.name.startswith("file ")


def _changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that went with a `-` before, those that came with a `+`."""
    compared = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [visible(f"{line[0]} {line[1:]}") for line in list(compared)[2:] if line[0] != "@"]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f"… and {more:,} lines more"] if more > 0 else lines


def _what_differs(text: str, other: str) -> str:
    """Return the words of a long list that aren't in the other, or all of it if few are shared."""
    words, others = text.split(), set(other.split())
    own = [word for word in words if word not in others]
    return visible(" ".join(own or ["…"]) if len(own) <= len(words) / 2 else text)


def _parameter_lines(found: Difference, catalogue: Catalogue) -> Iterator[str]:
    for parameter in found.parameters:
        before, after = (_values(parameter, values, catalogue) for values in parameter.only)
        name = f"{visible(parameter.name)} of {visible(parameter.test)}"
        yield f"parameter {name}: {before} → {after}"


def _values(parameter: ParameterChange, values: Iterable[Value], catalogue: Catalogue) -> str:
    engine = catalogue.engines.get(parameter.engine)
    info = engine.parameters.get(parameter.name) if engine else None
    written = (info.format(value) if info else str(value) for value in values)
    return visible(", ".join(written)) or "–"


def _as_json(found: Difference) -> dict[str, Any]:
    return {
        "runs": [_run_as_json(run) for run in found.runs],
        "settings": [_change_as_json(change) for change in found.settings],
        "facts": [
            {"host": host.host, **_change_as_json(change)}
            for host in found.hosts
            for change in host.changes
        ],
        "hosts_only": [list(hosts) for hosts in found.hosts_only],
        "results": [result_data(result) for result in found.compared.results],
        "parameters": [
            {"test": each.test, "name": each.name, "only": [list(values) for values in each.only]}
            for each in found.parameters
        ],
        "cases_only": [[case_data(each) for each in cases] for cases in found.compared.cases_only],
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


def _change_as_json(change: FactChange) -> dict[str, Any]:
    return {"name": change.name, "values": list(change.values)}
