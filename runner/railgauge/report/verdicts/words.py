"""The words, numbers and names that all forms of a verdict share. Names may hold anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, scale, shown
from railgauge.compare.compare import Comparison, Result, SideSample
from railgauge.compare.counters import CounterChange
from railgauge.compare.facts import HostChanges
from railgauge.compare.verdict import Reasons, Verdict
from railgauge.plan.cases import Case, case_name, varying
from railgauge.plan.catalogue import Catalogue
from railgauge.stats.digits import ratio_text
from railgauge.store.records import PlannedCase

# A fact that is longer is a list, of which nobody reads the rest in a sentence.
_LONGEST = 60
_MOST_FACTS = 8
_MOST_HOSTS = 20


class Namer:
    """Tells a comparison's cases apart: by their test, link and the parameters that differ."""

    def __init__(self, comparison: Comparison, catalogue: Catalogue) -> None:
        cases = [each.case for each in comparison.results]
        cases += [planned.case for side in comparison.cases_only for planned in side]
        self._names = varying(cases)
        self._catalogue = catalogue

    def case(self, case: Case) -> str:
        """Return the case's name within its test, with nothing in it that acts."""
        return visible(case_name(case, self._names, self._catalogue))

    def planned(self, planned: PlannedCase) -> str:
        """Return the case's name with its test."""
        return f"{visible(planned.test)}: {self.case(planned.case)}"

    def result(self, result: Result) -> str:
        """Return the name of a result's case with its test."""
        return f"{visible(result.test)}: {self.case(result.case)}"


def headline(verdict: Verdict) -> str:
    """Return the verdict in one line: `2 of 50 cases slower than baseline fabric (run 3)`."""
    compared = verdict.comparison
    counts = compared.counts()
    cases = len({each.name[:2] for each in compared.results})
    first, second = (visible(side.title) for side in compared.selected)
    slower = len({each.name[:2] for each in verdict.slower})
    parts = [f"{slower:,} of {cases:,} {_cases(cases)} slower" if slower else "nothing is slower"]
    if not compared.selected[0].runs:
        parts = ["nothing to compare with yet"]
    if "faster" in counts:
        parts.append(f"{counts['faster']:,} {_results(counts['faster'])} faster")
    if verdict.lost:
        lost = len({each.name[:2] for each in verdict.lost})
        parts.append(f"{lost:,} {_cases(lost)} could not be measured")
    if unknown := counts.get("not enough data", 0) - len(verdict.lost):
        parts.append(f"not enough data for {unknown:,} of {len(compared.results):,} results")
    if compared.cases_only[0]:
        gone = len(compared.cases_only[0])
        parts.append(f"{gone:,} {_cases(gone)} of the first not in the second")
    plan = f"{visible(verdict.plan)}: " if verdict.plan else ""
    return f"{plan}{', '.join(parts)} ({first} → {second})"


def tally(comparison: Comparison) -> str:
    """Return how many results are judged how: `4 results: 1 slower, 3 same`."""
    parts = [f"{number:,} {change}" for change, number in comparison.counts().items()]
    total = len(comparison.results)
    return f"{total:,} {_results(total)}: {', '.join(parts) or 'nothing to compare'}"


def unknown(verdict: Verdict, names: Namer) -> list[str]:
    """Return why there is not enough data, each reason once, for what nothing else is told of."""
    told = {each.name for each in (*verdict.lost, *verdict.unconfirmed)}
    alike: dict[str, list[Result]] = {}
    for each in verdict.comparison.of("not enough data"):
        if each.name not in told:
            alike.setdefault(each.judged.reason, []).append(each)
    return [
        f"{names.result(results[0])}: {visible(results[0].metric)}{_and_more(results)}:"
        f" {visible(why)}"
        for why, results in alike.items()
    ]


def _and_more(results: Sequence[Result]) -> str:
    more = len(results) - 1
    return f" and {more:,} more {'result' if more == 1 else 'results'}" if more else ""


def sentence(result: Result) -> str:
    """Return what became of a result, its name left out."""
    before, after = quantities(result)
    counts = " and ".join(
        f"{side.n} ({side.suspect} suspect)" if side.suspect else str(side.n)
        for side in result.sides
    )
    found = f"{visible(result.metric)} {before} → {after}"
    judged = result.judged
    if judged.ratio > 0:
        found += f", ×{ratio_text(judged.ratio)} ({interval(result)})"
    if not math.isnan(judged.q):
        found += f", q = {judged.q:.2g}"
    return f"{found}, n = {counts}: {judged.change}; {visible(judged.reason)}"


def quantities(result: Result) -> tuple[str, str]:
    """Return both medians in one unit that suits them; a dash where there is none."""
    medians = [side.median for side in result.sides if side.median is not None]
    unit = best_unit(result.unit, medians)
    per_unit = scale(unit, result.unit)
    assert per_unit is not None  # the unit was chosen for that base
    written = []
    for side in result.sides:
        value = side.median
        if value is None:
            written.append("–")
            continue
        size = abs(value) / float(per_unit)
        digits = max(0, 3 - math.floor(math.log10(size))) if size else 0
        number = shown(value, per_unit, digits)
        written.append(number if unit in ("", "1") else f"{number} {visible(unit)}")
    return written[0], written[1]


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
    before, after = (f"{value:.4g}" for value in (counter.before, counter.after))
    return f"{visible(counter.host)}: {visible(counter.name)} {before} → {after} {counter.unit}"


def fact_lines(host: HostChanges) -> Iterator[str]:
    """Yield `gw1: fact kernel 6.1 → 6.2` for each that changed, and how many more did."""
    name = visible(host.host)
    for change in host.changes[:_MOST_FACTS]:
        before, after = (_short(value) for value in change.values)
        yield f"{name}: fact {visible(change.name)} {before} → {after}"
    if (more := len(host.changes) - _MOST_FACTS) > 0:
        yield f"{name}: and {more:,} facts more"


def _short(value: str | None) -> str:
    text = "none" if value is None else visible(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def shared_facts(
    results: Sequence[Result], reasons: Mapping[tuple[str, str], Reasons]
) -> Iterator[str]:
    """Yield what facts changed of the hosts of these results, each host once, twenty at most."""
    hosts = {
        host.host: host for each in results for host in reasons.get(each.name[:2], Reasons()).hosts
    }
    for host in list(hosts.values())[:_MOST_HOSTS]:
        yield from fact_lines(host)
    if (more := len(hosts) - _MOST_HOSTS) > 0:
        yield f"facts of {more:,} hosts more changed: all of them with --json"


def _cases(number: int) -> str:
    return "case" if number == 1 else "cases"


def _results(number: int) -> str:
    return "result" if number == 1 else "results"
