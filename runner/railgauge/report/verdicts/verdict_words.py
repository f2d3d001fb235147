"""The words, numbers and names that all forms of a verdict share. Names may hold anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from railgauge.base.characters import natural, shortened, visible
from railgauge.base.number import (
    best_unit,
    format_number,
    four_digits,
    plain_number,
    plural,
    scale,
)
from railgauge.compare.changed_counters import CounterChange
from railgauge.compare.compare import Comparison, Result, SideSample
from railgauge.compare.earlier_runs import levels_text
from railgauge.compare.facts import FactChange, HostChanges, hosts_by_change
from railgauge.compare.verdict import Reasons, Verdict
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.verdicts.history.history_words import host_names
from railgauge.stats.digits import ratio_text

# A fact that is longer is a list, too much for a sentence.
_LONGEST = 60
_MOST_FACTS = 8
_MOST_CHANGES = 20


def compared_names(comparison: Comparison, catalogue: Catalogue) -> CaseNames:
    """Return what the cases of both sides are called."""
    return CaseNames([*comparison.results, *chain(*comparison.cases_only)], catalogue)


def headline(verdict: Verdict) -> str:
    """Return the verdict in one line: `2 of 50 cases slower than baseline fabric (run 3)`."""
    compared = verdict.comparison
    counts = compared.counts()
    cases = len({result.name[:2] for result in compared.results})
    first, second = (visible(side.title) for side in compared.selected)
    slower = len({result.name[:2] for result in verdict.slower})
    parts = [_nothing_slower(compared)]
    if slower:
        parts = [f"{slower:,} of {plural(cases, 'case')} slower"]
    if not compared.selected[0].runs:
        parts = ["nothing to compare with yet"]
    if "faster" in counts:
        parts.append(f"{plural(counts['faster'], 'result')} faster")
    if verdict.lost:
        lost = len({result.name[:2] for result in verdict.lost})
        parts.append(f"{plural(lost, 'case')} could not be measured")
    if undecided := counts.get("not enough data", 0) - len(verdict.lost):
        results = plural(len(compared.results), "result")
        parts.append(f"not enough data for {undecided:,} of {results}")
    if compared.cases_only[0]:
        removed = plural(len(compared.cases_only[0]), "case")
        parts.append(f"{removed} of the first not in the second")
    plan = f"{visible(verdict.plan)}: " if verdict.plan else ""
    return f"{plan}{', '.join(parts)} ({first} → {second})"


def _nothing_slower(comparison: Comparison) -> str:
    """Return what may be said where nothing was found to be slower: how much was looked at."""
    if any(result.judged.change != "not enough data" for result in comparison.results):
        return "nothing is slower"
    # Enough values to find a change of some size, if a large one.
    if any(not math.isnan(result.judged.q) for result in comparison.results):
        return "nothing could be shown to be slower"
    return "nothing could be judged"


def tally(comparison: Comparison) -> str:
    """Return how many results have each verdict: `4 results: 1 slower, 3 same`."""
    parts = [f"{number:,} {change}" for change, number in comparison.counts().items()]
    total = plural(len(comparison.results), "result")
    return f"{total}: {', '.join(parts) or 'nothing to compare'}"


def not_enough_data(verdict: Verdict, names: CaseNames) -> list[str]:
    """Return why there is not enough data, each reason once, for results not listed otherwise."""
    explained = {result.name for result in (*verdict.lost, *verdict.unconfirmed, *verdict.flipping)}
    by_reason: dict[str, list[Result]] = {}
    for result in verdict.comparison.of("not enough data"):
        if result.name not in explained:
            by_reason.setdefault(result.judged.reason, []).append(result)
    return [
        f"{_with_metric(results[0], names)}{_and_more(results)}: {visible(reason)}"
        for reason, results in by_reason.items()
    ]


def _with_metric(result: Result, names: CaseNames) -> str:
    name = names.with_test(result)
    return f"{name}: {visible(result.metric)}" if result.metric else name


def metric_name(result: Result) -> str:
    """Return the metric as tables show it; a dash where the case was never measured."""
    return visible(result.metric) or "–"


def _and_more(results: Sequence[Result]) -> str:
    more = len(results) - 1
    return f" and {plural(more, 'more result')}" if more else ""


def sentence(result: Result) -> str:
    """Return a result in words, without its name: with a short reason, and with its levels."""
    if not result.metric:
        return f"{result.judged.change}; {visible(result.judged.reason)}"
    before, after = quantities(result)
    counts = " and ".join(
        f"{side.n} ({side.suspect} suspect)" if side.suspect else str(side.n)
        for side in result.sides
    )
    text = f"{visible(result.metric)} {before} → {after}"
    judged = result.judged
    if judged.ratio > 0:
        text += f", ×{ratio_text(judged.ratio)} ({interval(result)})"
    if not math.isnan(judged.q):
        text += f", q = {judged.q:.2g}"
    text += f", n = {counts}{_not_zero(result)}: {judged.change}; {visible(judged.reason)}"
    if result.levels is None:
        return text
    return f"{text}: {levels_text(result.levels, display_base(result.metric, result.unit))}"


def _not_zero(result: Result) -> str:
    """Return how many values aren't 0, where the medians are and yet it changed."""
    if result.judged.change not in ("slower", "faster") or any(s.median for s in result.sides):
        return ""
    first, second = (int((side.values != 0).sum()) for side in result.sides)
    return f", not 0: {first} and {second}"


def quantities(result: Result) -> tuple[str, str]:
    """Return both medians in one unit that suits them; a dash where there is none."""
    medians = [side.median for side in result.sides if side.median is not None]
    unit = best_unit(display_base(result.metric, result.unit), medians)
    per_unit = scale(unit, result.unit)
    assert per_unit is not None  # the unit was chosen for that base
    texts = []
    for side in result.sides:
        value = side.median
        if value is None:
            texts.append("–")
            continue
        number = format_number(value, per_unit, four_digits(abs(value) / float(per_unit)))
        texts.append(f"{number} {visible(unit)}" if unit else number)
    return texts[0], texts[1]


def interval(result: Result) -> str:
    """Return the ratio's 95 % interval: `0.896 to 0.904`; a dash where there is none."""
    judged = result.judged
    if not (judged.ratio > 0 and math.isfinite(judged.low) and math.isfinite(judged.high)):
        return "–"
    return f"{ratio_text(judged.low)} to {ratio_text(judged.high)}"


def count(side: SideSample) -> str:
    """Return how many values there are; how many of them are suspect, and how many failed."""
    marks = [(side.suspect, "s"), (side.failed, "f")]
    return " ".join([str(side.n), *(f"{number}{letter}" for number, letter in marks if number)])


def reason_lines(reasons: Reasons | None) -> Iterator[str]:
    """Yield a line for each counter and fact that changed beside a case."""
    if reasons is None:
        return
    for counter in reasons.counters:
        yield counter_line(counter)
    for host in reasons.hosts:
        yield from fact_lines(host)


def counter_line(counter: CounterChange) -> str:
    """Return `gw1: TCP retransmits (RetransSegs) 0 → 0.0031 /segment`."""
    before, after = (plain_number(value) for value in (counter.before, counter.after))
    return f"{visible(counter.host)}: {visible(counter.name)} {before} → {after} {counter.unit}"


def fact_lines(host: HostChanges) -> Iterator[str]:
    """Yield `gw1: fact kernel 6.1 → 6.2` for each that changed, and how many more did."""
    name = visible(host.host)
    for change in host.changes[:_MOST_FACTS]:
        yield f"{name}: {_fact(change)}"
    if (more := len(host.changes) - _MOST_FACTS) > 0:
        yield f"{name}: and {plural(more, 'fact')} more"


def _fact(change: FactChange) -> str:
    before, after = (
        "none" if value is None else shortened(visible(value), _LONGEST) for value in change.values
    )
    return f"fact {visible(change.name)} {before} → {after}"


def shared_facts(
    results: Sequence[Result], reasons: Mapping[tuple[str, str], Reasons]
) -> Iterator[str]:
    """Yield what facts changed of the hosts of these results, each change once, twenty at most."""
    hosts = {
        changes.host: changes
        for result in results
        for changes in reasons.get(result.name[:2], Reasons()).hosts
    }
    by_change = hosts_by_change(hosts[name] for name in sorted(hosts, key=natural))
    lines = [f"{host_names(names)}: {_fact(change)}" for change, names in by_change.items()]
    yield from lines[:_MOST_CHANGES]
    if (more := len(lines) - _MOST_CHANGES) > 0:
        yield f"{plural(more, 'change')} of facts more: all of them with --json"
