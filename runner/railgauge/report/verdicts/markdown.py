"""A verdict as Markdown, for a pull request, a job's summary or a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from railgauge.base.characters import visible
from railgauge.compare.compare import Result
from railgauge.compare.verdict import Verdict
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue import Catalogue
from railgauge.report.verdicts.verdict_words import (
    compared_names,
    count,
    counter_line,
    headline,
    interval,
    metric_name,
    not_enough_data,
    quantities,
    sentence,
    shared_facts,
    tally,
)
from railgauge.stats.digits import ratio_text

_HEADER = ("case", "metric", "before", "after", "ratio", "95 % interval", "q", "n", "verdict")
# What would act within a line, or at its beginning: CommonMark 0.31; GitHub's tables, formulae,
# numbers of issues and :emoji:.
_ACTS = re.compile(r"[\\`*_\[\]<>&|~$#!]|:(?! )|^[-+=]")
_NUMBERED = re.compile(r"^(\d+)([.)])(?= |$)")
# The reasons of more results would bury the rest.
_MOST_REASONS = 20
# More rows than a page of GitHub's takes with ease.
_MOST_ROWS = 200


def markdown(verdict: Verdict, catalogue: Catalogue, *, all_results: bool = False) -> str:
    """Return the verdict: a heading, what changed as a table, reasons, what wasn't compared.

    With `all_results`, also why there is not enough data for what isn't in the table.
    """
    names = compared_names(verdict.comparison, catalogue)
    return "".join(f"{line}\n" for line in _lines(verdict, names, all_results=all_results))


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, in one line; what acts is written out."""
    return _NUMBERED.sub(r"\1\\\2", _ACTS.sub(r"\\\g<0>", visible(text)))


def _lines(verdict: Verdict, names: CaseNames, *, all_results: bool) -> Iterator[str]:
    compared = verdict.comparison
    yield f"## {'✅' if verdict.passed else '❌'} {escaped(headline(verdict))}"
    yield ""
    yield from _items([*verdict.problems, *verdict.notes])
    changed = [*verdict.slower, *compared.of("faster"), *verdict.lost, *verdict.unconfirmed]
    yield from _table(changed, verdict, names)
    flipping = [f"{names.with_test(result)}: {sentence(result)}" for result in verdict.flipping]
    yield from _list("Two levels:", flipping, _MOST_REASONS)
    for result in _one_per_case(verdict.slower):
        if (reasons := verdict.reasons.get(result.name[:2])) and reasons.counters:
            yield f"What changed beside {escaped(names.with_test(result))}:"
            yield ""
            yield from _items([counter_line(counter) for counter in reasons.counters])
    if facts := list(shared_facts(verdict.slower, verdict.reasons)):
        yield "What changed of the hosts of slower cases:"
        yield ""
        yield from _items(facts)
    if all_results:
        yield from _list("Not enough data:", not_enough_data(verdict, names), _MOST_REASONS)
    removed = [names.with_test(planned) for planned in compared.cases_only[0]]
    yield from _list("Not in the second side any more:", removed, _MOST_ROWS)
    yield escaped(tally(compared))


def _list(title: str, texts: Sequence[str], most: int) -> Iterator[str]:
    """Yield a list of at most so many of the texts; nothing where there are none."""
    if not texts:
        return
    yield title
    yield ""
    yield from _items(texts[:most])
    if (more := len(texts) - most) > 0:
        yield f"… and {more:,} more"
        yield ""


def _items(texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield from (f"- {escaped(text)}" for text in texts)
        yield ""


def _table(results: Sequence[Result], verdict: Verdict, names: CaseNames) -> Iterator[str]:
    if not results:
        return
    unconfirmed = {result.name for result in verdict.unconfirmed}
    yield _line(_HEADER)
    yield _line(["---"] * len(_HEADER))
    for result in results[:_MOST_ROWS]:
        judged = result.judged
        before, after = quantities(result)
        change = "not measured" if result.lost else str(judged.change)
        cells = (
            names.with_test(result),
            metric_name(result),
            before,
            after,
            ratio_text(judged.ratio) if judged.ratio > 0 else "–",
            interval(result),
            "–" if judged.q != judged.q else f"{judged.q:.2g}",
            " / ".join(map(count, result.sides)),
            f"{change} (not confirmed)" if result.name in unconfirmed else change,
        )
        yield _line([escaped(cell) for cell in cells])
    yield ""
    if (more := len(results) - _MOST_ROWS) > 0:
        yield f"… and {more:,} more"
        yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_per_case(results: Sequence[Result]) -> list[Result]:
    return list({result.name[:2]: result for result in reversed(results)}.values())[::-1]
