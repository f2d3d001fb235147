"""The cases that changed in the last nights: what `railgauge history --all` says of the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.compare.case_history import (
    LEAST_NIGHTS,
    NIGHTS,
    History,
    NearbyChanges,
    Night,
    RunMedian,
    changed_cases,
    histories_of,
    newest_first,
)
from railgauge.plan.case_names import CaseNames
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import judged
from railgauge.report.site.linked_cells import LinkedCell, count, number, ratio_cell, text
from railgauge.report.site.run_data import RunData
from railgauge.report.site.site_pages import case_file, run_file
from railgauge.report.verdicts.history.history_text import nothing_changed
from railgauge.report.verdicts.history.history_words import (
    beside_names,
    change_text,
    day,
    direction_text,
    earlier_names,
    levels,
)
from railgauge.store import Store
from railgauge.store.heads import RunHead

# What a phone has room for first, as the tables of what got slower.
COLUMNS = (
    *("Since", "Case", "Metric", "Ratio", "Before", "After", "p", "Run"),
    *("Test", "Direction", "Changed beside it"),
)


@dataclass(frozen=True, slots=True, eq=False)
class LevelChanges:
    """A row for each metric of a case that changed, the newest change first.

    `summary` is a sentence about them all. `points` are all changes, for the pages of the cases:
    plan, test, key, metric, run, direction, the change in words, whether it is provisional.
    """

    summary: str
    nights: int
    rows: tuple[tuple[LinkedCell, ...], ...]
    points: tuple[tuple[str, str, str, str, int, str, str, bool], ...]


def level_changes(
    store: Store,
    heads: Sequence[RunHead],
    data: Mapping[int, RunData],
    cases: Mapping[str, Case],
    names: Mapping[str, CaseNames],
) -> LevelChanges:
    """Return what changed in the runs `heads`, oldest first, whose `data` is given.

    `names` are those of each plan's cases.
    """
    nearby = NearbyChanges(store)
    nights = max(Counter(head.plan for head in heads).values(), default=0)
    histories = histories_of(store, heads, _medians(heads, data, cases))
    newest = [nearby.add_to(history) for history in newest_first(histories.changed)]
    changed, provisional = changed_cases(newest)
    last = f"in the last {plural(nights, 'night')}"
    if changed:
        share = f" ({provisional:,} provisional)" if provisional else ""
        summary = f"{plural(changed, 'case')} changed{share} {last}"
    elif nights < LEAST_NIGHTS or histories.looked_at == histories.too_short:
        summary = nothing_changed(histories, nights)
    else:
        summary = f"No case changed {last}"
    return LevelChanges(
        summary=summary[:1].upper() + summary[1:],
        nights=NIGHTS,
        rows=tuple(_row(history, names[history.plan]) for history in newest),
        points=tuple(
            (
                *(history.plan, history.test, history.case.key, history.metric),
                *(change.night.run.id, change.direction, change_text(history, change)),
                change.point.provisional,
            )
            for history in newest
            for change in history.changes
        ),
    )


def _medians(
    heads: Sequence[RunHead], data: Mapping[int, RunData], cases: Mapping[str, Case]
) -> Iterator[RunMedian]:
    names = set(judged())
    for head in heads:
        for case, metric, row in data[head.id].measured():
            if row.median is not None and metric.name in names:
                night = Night(head, row.median, None, row.n, row.suspect, row.failed)
                yield RunMedian(head.plan, case.test, cases[case.key], *metric, night)


def _test(history: History) -> str:
    """Return `flow (test was called stream until run 39)`."""
    names = earlier_names(history.earlier)
    return f"{history.test} ({names})" if names else history.test


def _row(history: History, names: CaseNames) -> tuple[LinkedCell, ...]:
    changed = history.changes[-1]
    run, ratio = changed.night.run, changed.point.ratio
    points = changed.point.before, changed.point.after
    before, after = map(number, points, map(visible, levels(history, changed)))
    name = names.case(history)
    return (
        LinkedCell(day(run)),
        text(name, case_file(history.case.key)),
        text(history.metric.replace("_", " ")),
        ratio_cell(ratio if ratio > 0 else None, before, after, changed.direction),
        before,
        after,
        number(changed.point.p, f"{changed.point.p:.1g}"),
        count(run.id, run_file(run.id)),
        text(_test(history)),
        LinkedCell(direction_text(changed), None, "", changed.direction),
        LinkedCell(beside_names(changed) or "–"),
    )
