"""Histories for a terminal: one case's with all that changed beside it, or a line for each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from railgauge.base.characters import in_columns, visible
from railgauge.base.number import in_best_unit, plural
from railgauge.compare.case_history import (
    AROUND,
    LEAST_NIGHTS,
    AllHistories,
    Changed,
    History,
    changed_cases,
)
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.verdicts.history.history_words import (
    beside_lines,
    beside_names,
    change_text,
    day,
    direction_text,
    earlier_names,
    levels,
)
from railgauge.stats.digits import ratio_text

# More lines than this are too many for a terminal.
_MOST_ROWS = 100
_HEADER = ("since", "run", "test", "case", "metric", "before", "after", "ratio", "p", "")
_NUMBERS = {1, 5, 6, 7, 8}
_PROVISIONAL = (
    "provisional: in a year of nightly looks chance makes such changes, too; later nights confirm"
    " those that last"
)


def history_lines(history: History, name: str) -> Iterator[str]:
    """Yield the lines of the history of the case `name`, its change points oldest first."""
    yield f"{visible(history.plan)}, {name}"
    if history.earlier:
        yield earlier_names(history.earlier)
    yield f"{visible(history.metric)}: {span(history)}"
    for changed in history.changes:
        yield ""
        run = changed.night.run
        yield f"{day(run)} (run {run.id}): {change_text(history, changed)}"
        yield from _beside(changed)
    yield ""
    yield summary(history)
    if any(changed.point.provisional for changed in history.changes):
        yield _PROVISIONAL


def all_lines(
    histories: Sequence[History],
    all_histories: AllHistories,
    names: Mapping[str, CaseNames],
    nights: int,
) -> Iterator[str]:
    """Yield a line for each history, as sorted, about its last change point.

    `names` are those of each plan's cases; the histories are those of `all_histories` that changed.
    Of no plan were more than `nights` read. Below each line stands what else changed around it.
    """
    if not histories:
        yield nothing_changed(all_histories, nights)
        return
    listed = histories[:_MOST_ROWS]
    rows = (_row(history, names) for history in listed)
    lines = in_columns([_HEADER, *rows], _NUMBERS)
    yield next(lines)
    for line, history in zip(lines, listed, strict=True):
        yield line
        if beside := beside_names(history.changes[-1]):
            yield f"    beside it: {beside}"
        if history.earlier:
            yield f"    {earlier_names(history.earlier)}"
    if len(histories) > _MOST_ROWS:
        yield f"… and {len(histories) - _MOST_ROWS:,} more: all of them with --json"
    yield ""
    changed, provisional = changed_cases(histories)
    share = f" ({provisional:,} provisional)" if provisional else ""
    yield (
        f"{plural(changed, 'case')} changed in {plural(nights, 'night')}{share};"
        f" of what is listed, about 5 % may be chance{_not_looked_at_suffix(all_histories)}"
    )
    if any(history.changes[-1].point.provisional for history in listed):
        yield _PROVISIONAL


def nothing_changed(all_histories: AllHistories, nights: int) -> str:
    """Return that no case changed in so many nights, or that these are too few to judge."""
    if nights < LEAST_NIGHTS:
        return _too_few(nights)
    looked_at = all_histories.looked_at > all_histories.too_short
    outcome = "found no case that changed in" if looked_at else "looked at no case in"
    return f"{outcome} {plural(nights, 'night')}{_not_looked_at_suffix(all_histories)}"


def not_looked_at(all_histories: AllHistories) -> str:
    """Return of how many cases not all, or nothing, was looked at, and why; empty if of none."""
    reasons = []
    if n := all_histories.silent:
        reasons.append(f"{plural(n, 'case')} gave no value in the last run")
    if n := all_histories.too_short:
        have = plural(n, "case has", "cases have")
        reasons.append(f"{have} fewer than {LEAST_NIGHTS} nights, too few to show a change")
    if n := all_histories.not_looked_at:
        reasons.append(
            f"{plural(n, 'case')} not looked at, without a value of a headline metric"
            " that has a direction: name another one with --metric"
        )
    return "; ".join(reasons)


def _not_looked_at_suffix(all_histories: AllHistories) -> str:
    text = not_looked_at(all_histories)
    return f"; {text}" if text else ""


def _row(history: History, names: Mapping[str, CaseNames]) -> tuple[str, ...]:
    changed = history.changes[-1]
    before, after = levels(history, changed)
    ratio = changed.point.ratio
    return (
        day(changed.night.run),
        str(changed.night.run.id),
        visible(history.test),
        names[history.plan].case(history),
        visible(history.metric),
        before,
        after,
        ratio_text(ratio) if ratio > 0 else "–",
        f"{changed.point.p:.1g}",
        direction_text(changed),
    )


def _beside(changed: Changed) -> Iterator[str]:
    if not changed.beside:
        yield f"  no fact or setting changed within {AROUND} nights of it"
    for beside in changed.beside:
        yield f"  changed from run {beside.before.id} to {beside.run.id} ({day(beside.run)}):"
        yield from (f"    {line}" for line in beside_lines(beside))


def span(history: History) -> str:
    """Return `60 nights, 2026-09-20 to 2026-11-20 (runs 3 to 62)`, and what is not among them."""
    first, last = history.nights[0].run, history.nights[-1].run
    return (
        f"{plural(len(history.nights), 'night')}, {day(first)} to {day(last)}"
        f" (run{f' {first.id}' if first == last else f's {first.id} to {last.id}'})"
        f"{_left_out(history)}"
    )


def summary(history: History) -> str:
    """Return since when the case has the level that it has, or that no change was found."""
    n = len(history.nights)
    if n < LEAST_NIGHTS:
        return _too_few(n)
    if not history.changes:
        return f"found no change of {100 * history.smallest:.3g} % or more"
    point = history.changes[-1].point
    level = in_best_unit(point.after, display_base(history.metric, history.unit))
    now = f"now: {level} for {plural(n - point.index, 'night')}"
    return f"{now}, provisional" if point.provisional else now


def _too_few(nights: int) -> str:
    are = plural(nights, "night is", "nights are")
    return f"{are} too few to show a change: it takes {LEAST_NIGHTS}"


def _left_out(history: History) -> str:
    text = ""
    if history.gaps:
        text += f"; {plural(history.gaps, 'run')} gave no value"
    if history.other_unit:
        text += f"; {history.other_unit:,} left out, in another unit or direction"
    if suspect := sum(night.suspect > 0 for night in history.nights):
        text += f"; {suspect:,} with suspect values, which count"
    if means := sum(night.mean for night in history.nights):
        text += f"; {means:,} with a published mean, which counts as a median"
    return text
