"""`railgauge diff`: which facts and settings changed between two runs, beside which results."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from railgauge.cases import Value, case_name, varying
from railgauge.catalogue import Catalogue, load_catalogue
from railgauge.cli.options import as_json, database
from railgauge.report.characters import left, right, visible, width
from railgauge.report.difference import (
    LEVEL,
    Change,
    Difference,
    HostChanges,
    ParameterChange,
    Result,
    Side,
    difference,
    headline_series,
)
from railgauge.report.number import best_unit, scale, shown
from railgauge.store import Store
from railgauge.store.records import PlannedCase, StoredRun

# Of more than these, nobody reads the lines in a terminal.
_MOST_RESULTS = 100
_MOST_CASES = 10
# Two values that are longer together stand below one another.
_LINE = 70
# And so many lines of a text that changed say enough.
_MOST_LINES = 20
_HEADER = ("test", "case", "metric", "before", "n", "after", "n", "ratio", "p", "")


@click.command()
@click.argument("before", metavar="RUN", type=int)
@click.argument("after", metavar="RUN", type=int)
@database
@as_json
def diff(before: int, after: int, where: str, as_json: bool) -> None:
    """Tell which facts, settings and results changed from the first RUN to the second."""
    with contextlib.closing(Store.open(where, create=False)) as store:
        runs = (store.run(before), store.run(after))
        found = difference(runs, headline_series(store, [before, after]))
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=2, ensure_ascii=False))
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
    yield from _result_lines(found, catalogue)
    yield from _case_lines(found, catalogue)


def _fact_lines(found: Difference) -> Iterator[str]:
    if not found.hosts:
        both = [host for host in found.runs[0].facts if host in found.runs[1].facts]
        yield "no fact changed" if both else "no host has facts in both runs"
    # What changed alike on many hosts is told once.
    alike: dict[tuple[Change, ...], list[HostChanges]] = {}
    for host in found.hosts:
        alike.setdefault(host.changes, []).append(host)
    for changes, hosts in alike.items():
        yield f"{', '.join(visible(each.host) for each in hosts)}:"
        yield from _change_lines(changes, "  ")
    for word, hosts_only in zip(("before", "after"), found.hosts_only, strict=True):
        if hosts_only:
            yield f"facts only {word}: {', '.join(map(visible, hosts_only))}"


def _change_lines(changes: Iterable[Change], indent: str) -> Iterator[str]:
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


def _is_file(change: Change) -> bool:
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


def _result_lines(found: Difference, catalogue: Catalogue) -> Iterator[str]:
    if not found.results:
        yield "no case is in both runs"
        return
    names = _names(found)
    rows = [_HEADER, *(_row(each, names, catalogue) for each in found.results[:_MOST_RESULTS])]
    widths = [max(width(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            (left if column < 3 or column == 9 else right)(text, wide)
            for column, (text, wide) in enumerate(cells)
        )
    if len(found.results) > _MOST_RESULTS:
        yield f"… and {len(found.results) - _MOST_RESULTS:,} more: all of them with --json"
    yield ""
    yield _summary(found.results)


def _names(found: Difference) -> tuple[str, ...]:
    return varying([planned.case for run in found.runs for planned in run.cases])


def _summary(results: Sequence[Result]) -> str:
    counts = Counter(each.verdict for each in results)
    judged = counts.total() - counts["too few"] - counts["missing"]
    parts = [f"{number:,} {verdict}" for verdict, number in counts.items()]
    by_chance = f"; chance alone would show about {judged * LEVEL:.2g}" if judged else ""
    return f"{len(results):,} results: {', '.join(parts)} (p < {LEVEL:g}{by_chance})"


def _row(result: Result, names: Sequence[str], catalogue: Catalogue) -> tuple[str, ...]:
    medians = [side.median for side in result.sides if side.median is not None]
    unit = best_unit(result.unit, medians)
    before, after = (_quantity(side.median, unit, result.unit) for side in result.sides)
    first, second = map(_count, result.sides)
    return (
        visible(result.test),
        visible(case_name(result.case, names, catalogue)),
        visible(result.metric),
        before,
        first,
        after,
        second,
        "–" if result.ratio is None else f"{result.ratio:.3f}",
        "–" if result.p is None else f"{result.p:.2g}",
        result.verdict,
    )


def _quantity(value: float | None, unit: str, base: str) -> str:
    """Return `value` (of `base` unit) in `unit` with four significant digits."""
    per_unit = scale(unit, base)
    assert per_unit is not None  # the unit was chosen for that base
    if value is None:
        return "–"
    size = abs(value) / float(per_unit)
    digits = max(0, 3 - math.floor(math.log10(size))) if size else 0
    return f"{shown(value, per_unit, digits)} {unit if unit != '1' else ''}".strip()


def _count(side: Side) -> str:
    """Return how many values there are; how many of them are suspect, and how many failed."""
    marks = [(side.suspect, "s"), (side.failed, "f")]
    return " ".join([str(side.n), *(f"{number}{letter}" for number, letter in marks if number)])


def _case_lines(found: Difference, catalogue: Catalogue) -> Iterator[str]:
    if any(side.suspect or side.failed for each in found.results for side in each.sides):
        yield "n: replications, of which s are suspect; f failed besides"
    for parameter in found.parameters:
        before, after = (_values(parameter, values, catalogue) for values in parameter.only)
        name = f"{visible(parameter.name)} of {visible(parameter.test)}"
        yield f"parameter {name}: {before} → {after}"
    names = _names(found)
    for word, cases in zip(("before", "after"), found.cases_only, strict=True):
        if cases:
            yield f"{len(cases):,} {'case' if len(cases) == 1 else 'cases'} only {word}:"
            for planned in cases[:_MOST_CASES]:
                name = case_name(planned.case, names, catalogue)
                yield f"  {visible(planned.test)}: {visible(name)}"
            if len(cases) > _MOST_CASES:
                yield f"  … and {len(cases) - _MOST_CASES:,} more"


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
        "results": [_result_as_json(result) for result in found.results],
        "parameters": [
            {"test": each.test, "name": each.name, "only": [list(values) for values in each.only]}
            for each in found.parameters
        ],
        "cases_only": [[_case_as_json(each) for each in cases] for cases in found.cases_only],
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


def _change_as_json(change: Change) -> dict[str, Any]:
    return {"name": change.name, "values": list(change.values)}


def _case_as_json(planned: PlannedCase) -> dict[str, Any]:
    case = planned.case
    return {
        "test": planned.test,
        "engine": case.engine,
        "link": case.link,
        "case_key": case.key,
        "parameters": dict(case.parameters),
    }


def _result_as_json(result: Result) -> dict[str, Any]:
    return {
        "test": result.test,
        "engine": result.case.engine,
        "link": result.case.link,
        "case_key": result.case.key,
        "parameters": dict(result.case.parameters),
        "metric": result.metric,
        "unit": result.unit,
        "verdict": result.verdict,
        "p": result.p,
        "ratio": result.ratio,
        "runs": [
            {
                "n": side.n,
                "median": side.median,
                "minimum": side.minimum,
                "maximum": side.maximum,
                "suspect": side.suspect,
                "failed": side.failed,
            }
            for side in result.sides
        ],
    }
