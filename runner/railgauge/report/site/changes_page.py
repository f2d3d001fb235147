"""The page of the cases that changed in the last nights: what `railgauge history --all` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.compare.case_history import (
    NIGHTS,
    History,
    NearbyChanges,
    all_histories,
    changed_cases,
    last_of_each_plan,
    newest_first,
)
from railgauge.plan.case_names import CaseNames
from railgauge.report.site.linked_cells import LinkedCell, count, number, text
from railgauge.report.site.site_pages import case_file, run_file
from railgauge.report.verdicts.history.history_text import nothing_changed
from railgauge.report.verdicts.history.history_words import (
    beside_names,
    day,
    direction_text,
    earlier_names,
    levels,
)
from railgauge.stats.digits import ratio_text
from railgauge.store import Store
from railgauge.store.heads import RunHead

COLUMNS = (
    *("Since", "Run", "Test", "Case", "Metric", "Before", "After", "Ratio", "p", "Direction"),
    "Changed beside it",
)


@dataclass(frozen=True, slots=True, eq=False)
class ChangesPage:
    """The page: a row for each metric of a case, the newest change first; or why there is none."""

    nights: int
    empty_reason: str
    rows: tuple[tuple[LinkedCell, ...], ...]


def changes_page(
    store: Store, heads: Sequence[RunHead], names: Mapping[str, CaseNames]
) -> tuple[ChangesPage, dict[str, int]]:
    """Return the page, and how many cases changed; `heads` are all runs, oldest first.

    `names` are those of each plan's cases.
    Those that changed provisionally alone are counted, too.
    """
    nearby = NearbyChanges(store.run)
    last = last_of_each_plan(heads, NIGHTS)
    nights = max(Counter(head.plan for head in last).values(), default=0)
    histories = all_histories(store, last)
    newest = newest_first(histories.changed)
    rows = tuple(_row(nearby.add_to(history), names) for history in newest)
    changed, provisional = changed_cases(newest)
    counts = {"changed": changed, "provisional": provisional, "nights": nights}
    reason = nothing_changed(histories, nights)
    empty_reason = "" if newest else reason[:1].upper() + reason[1:]
    return ChangesPage(NIGHTS, empty_reason, rows), counts


def _test(history: History) -> str:
    """Return `flow (test was called stream until run 39)`."""
    names = earlier_names(history.earlier)
    return f"{history.test} ({names})" if names else history.test


def _row(history: History, names: Mapping[str, CaseNames]) -> tuple[LinkedCell, ...]:
    changed = history.changes[-1]
    run, ratio = changed.night.run, changed.point.ratio
    before, after = levels(history, changed)
    name = names[history.plan].case(history)
    return (
        LinkedCell(day(run)),
        count(run.id, run_file(run.id)),
        text(_test(history)),
        text(name, case_file(history.case.key)),
        text(history.metric.replace("_", " ")),
        number(changed.point.before, visible(before)),
        number(changed.point.after, visible(after)),
        number(ratio if ratio > 0 else None, ratio_text(ratio)),
        number(changed.point.p, f"{changed.point.p:.1g}"),
        LinkedCell(direction_text(changed), None, "", changed.direction),
        LinkedCell(beside_names(changed) or "–"),
    )
