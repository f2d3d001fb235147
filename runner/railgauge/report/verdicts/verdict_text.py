"""A verdict for a terminal or a mail: what is slower and why first, then the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base.characters import in_columns, visible
from railgauge.base.number import plural
from railgauge.compare.compare import Comparison, Result
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

_HEADER = (
    *("test", "case", "metric", "before", "n", "after", "n"),
    *("ratio", "95 %", "q", "effect", ""),
)
# The first ones are words, the last the verdict.
_NUMBERS = range(3, len(_HEADER) - 1)
# More lines than these are too many for a terminal.
_MOST_ROWS = 100
_MOST_SENTENCES = 20
_MOST_CASES = 10


def verdict_lines(
    verdict: Verdict, catalogue: Catalogue, *, all_results: bool = False
) -> Iterator[str]:
    """Yield the lines of a verdict, the first one a summary.

    With `all_results` each one, with the reason where there is not enough data, or what changed.
    """
    compared = verdict.comparison
    names = compared_names(compared, catalogue)
    yield headline(verdict)
    yield from (f"not measured: {visible(problem)}" for problem in verdict.problems)
    yield from _result_sentences("slower", verdict.slower, names, verdict)
    yield from (f"  {line}" for line in shared_facts(verdict.slower, verdict.reasons))
    yield from _result_sentences("could not be compared", verdict.lost, names, verdict)
    yield from map(visible, verdict.notes)
    yield from _result_sentences("not confirmed", verdict.unconfirmed, names, verdict)
    yield from _result_sentences("two levels", verdict.flipping, names, verdict)
    if all_results:
        yield from _reasons(not_enough_data(verdict, names))
    changed = [result for result in compared.results if result.judged.change in _CHANGED]
    if listed := compared.results if all_results else changed:
        yield ""
        yield from result_lines(listed, names)
    yield ""
    yield tally(compared)
    yield from case_lines(compared, names)


_CHANGED = ("slower", "faster")


def _result_sentences(
    word: str, results: Sequence[Result], names: CaseNames, verdict: Verdict
) -> Iterator[str]:
    for result in results[:_MOST_SENTENCES]:
        yield f"{word}: {names.with_test(result)}: {sentence(result)}"
        if word == "slower" and (reasons := verdict.reasons.get(result.name[:2])):
            yield from (f"  {counter_line(counter)}" for counter in reasons.counters)
    if (more := len(results) - _MOST_SENTENCES) > 0:
        yield f"{word}: {more:,} more"


def _reasons(reasons: Sequence[str]) -> Iterator[str]:
    yield from (f"not enough data: {reason}" for reason in reasons[:_MOST_SENTENCES])
    if (more := len(reasons) - _MOST_SENTENCES) > 0:
        yield f"not enough data: {more:,} more reasons"


def result_lines(results: Sequence[Result], names: CaseNames) -> Iterator[str]:
    """Yield a table of the results, its head first."""
    rows = [_HEADER, *(_row(result, names) for result in results[:_MOST_ROWS])]
    yield from in_columns(rows, _NUMBERS)
    if len(results) > _MOST_ROWS:
        yield f"… and {len(results) - _MOST_ROWS:,} more: all of them with --json"


def _row(result: Result, names: CaseNames) -> tuple[str, ...]:
    judged = result.judged
    before, after = quantities(result)
    first, second = map(count, result.sides)
    return (
        visible(result.test),
        names.case(result),
        metric_name(result),
        *(before, first, after, second),
        ratio_text(judged.ratio) if judged.ratio > 0 else "–",
        interval(result),
        "–" if judged.q != judged.q else f"{judged.q:.2g}",
        "–" if judged.effect != judged.effect else f"{judged.effect:.2f}",
        judged.change,
    )


def case_lines(compared: Comparison, names: CaseNames) -> Iterator[str]:
    """Yield which cases only one side has, at most ten of each."""
    sides = [side for result in compared.results for side in result.sides]
    if any(side.suspect or side.failed for side in sides):
        yield "n: replications, of which s are suspect; f failed as well"
    for word, cases in zip(("before", "after"), compared.cases_only, strict=True):
        if cases:
            yield f"{plural(len(cases), 'case')} only {word}:"
            yield from (f"  {names.with_test(planned)}" for planned in cases[:_MOST_CASES])
            if (more := len(cases) - _MOST_CASES) > 0:
                yield f"  … and {more:,} more"
