"""A verdict for a terminal or a mail: what is slower and why first, then the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base.characters import left, right, visible, width
from railgauge.compare.compare import Comparison, Result
from railgauge.compare.verdict import Verdict
from railgauge.plan.catalogue import Catalogue
from railgauge.report.verdicts.words import (
    Namer,
    count,
    counter_line,
    headline,
    interval,
    quantities,
    sentence,
    shared_facts,
    tally,
    unknown,
)
from railgauge.stats.digits import ratio_text

_HEADER = (
    *("test", "case", "metric", "before", "n", "after", "n"),
    *("ratio", "95 %", "q", "effect", ""),
)
# The first ones are words, the last the verdict; numbers stand to the right.
_WORDS = {0, 1, 2, len(_HEADER) - 1}
# Of more than these, nobody reads the lines in a terminal.
_MOST_ROWS = 100
_MOST_TOLD = 20
_MOST_CASES = 10


def verdict_lines(verdict: Verdict, catalogue: Catalogue, *, every: bool = False) -> Iterator[str]:
    """Yield the lines of a verdict, the first one saying it all.

    `every` result, with the reason where there is not enough data, or what changed.
    """
    compared = verdict.comparison
    names = Namer(compared, catalogue)
    yield headline(verdict)
    yield from (f"not measured: {visible(each)}" for each in verdict.problems)
    yield from _told("slower", verdict.slower, names, verdict)
    yield from (f"  {line}" for line in shared_facts(verdict.slower, verdict.reasons))
    yield from _told("could not be compared", verdict.lost, names, verdict)
    yield from map(visible, verdict.notes)
    yield from _told("not confirmed", verdict.unconfirmed, names, verdict)
    if every:
        yield from _reasons(unknown(verdict, names))
    wanted = [each for each in compared.results if every or each.judged.change in _CHANGED]
    if wanted:
        yield ""
        yield from result_lines(wanted, names)
    yield ""
    yield tally(compared)
    yield from case_lines(compared, names)


_CHANGED = ("slower", "faster")


def _told(word: str, results: Sequence[Result], names: Namer, verdict: Verdict) -> Iterator[str]:
    for each in results[:_MOST_TOLD]:
        yield f"{word}: {names.result(each)}: {sentence(each)}"
        if word == "slower" and (reasons := verdict.reasons.get(each.name[:2])):
            yield from (f"  {counter_line(counter)}" for counter in reasons.counters)
    if (more := len(results) - _MOST_TOLD) > 0:
        yield f"{word}: {more:,} more"


def _reasons(reasons: Sequence[str]) -> Iterator[str]:
    yield from (f"not enough data: {each}" for each in reasons[:_MOST_TOLD])
    if (more := len(reasons) - _MOST_TOLD) > 0:
        yield f"not enough data: {more:,} more reasons"


def result_lines(results: Sequence[Result], names: Namer) -> Iterator[str]:
    """Yield a table of the results, its head first."""
    rows = [_HEADER, *(_row(each, names) for each in results[:_MOST_ROWS])]
    widths = [max(width(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(
            (left if column in _WORDS else right)(text, wide) for column, (text, wide) in cells
        ).rstrip()
    if len(results) > _MOST_ROWS:
        yield f"… and {len(results) - _MOST_ROWS:,} more: all of them with --json"


def _row(result: Result, names: Namer) -> tuple[str, ...]:
    judged = result.judged
    before, after = quantities(result)
    first, second = map(count, result.sides)
    return (
        visible(result.test),
        names.case(result.case),
        visible(result.metric),
        *(before, first, after, second),
        ratio_text(judged.ratio) if judged.ratio > 0 else "–",
        interval(result),
        "–" if judged.q != judged.q else f"{judged.q:.2g}",
        "–" if judged.effect != judged.effect else f"{judged.effect:.2f}",
        judged.change,
    )


def case_lines(compared: Comparison, names: Namer) -> Iterator[str]:
    """Yield which cases only one side has, at most ten of each."""
    sides = [side for each in compared.results for side in each.sides]
    if any(side.suspect or side.failed for side in sides):
        yield "n: replications, of which s are suspect; f failed besides"
    for word, cases in zip(("before", "after"), compared.cases_only, strict=True):
        if cases:
            yield f"{len(cases):,} {'case' if len(cases) == 1 else 'cases'} only {word}:"
            yield from (f"  {names.planned(planned)}" for planned in cases[:_MOST_CASES])
            if (more := len(cases) - _MOST_CASES) > 0:
                yield f"  … and {more:,} more"
