"""The first page: how each plan did last night and the nights before, all runs, all cases."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railgauge.base.characters import visible
from railgauge.base.collector import collector_off
from railgauge.base.number import ladder, plural
from railgauge.plan.case_names import CaseNames, NamedCase
from railgauge.plan.cases import Case
from railgauge.report.site.folder import Folder
from railgauge.report.site.index_job import IndexJob
from railgauge.report.site.level_changes import LevelChanges, level_changes
from railgauge.report.site.linked_cells import LinkedCell, count, text
from railgauge.report.site.pair_maps import PairMap, pair_maps
from railgauge.report.site.plan_nights import SHOWN_NIGHTS, PlanNights
from railgauge.report.site.run_data import RunData, read_run_data
from railgauge.report.site.run_page import CHANGED, COMPARED, compared_cells, reach_of
from railgauge.report.site.site_pages import (
    CasePlace,
    ListedCase,
    RunJob,
    data_file,
    run_file,
)
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import RunSummary

# Of each plan; the run's page has more.
_MOST_RESULTS, _MOST_MAPS, _MOST_CHANGES = 12, 2, 5
CHANGED_COLUMNS = COMPARED[:7]
RUN_COLUMNS = (
    *("Run", "Plan", "Began (UTC)", "State", "Commit", "Cases", "Measured", "Failed"),
    *("Slower", "Faster", "Not enough data"),
)
CASE_COLUMNS = ("Case", "Engine", "Tests", "Runs", "Last run")


@dataclass(frozen=True, slots=True, eq=False)
class PlanTile:
    """A plan's newest run.

    `verdict` is what matters of its headline, `beside` the rest; `kind` is slower, fine or unknown.
    `changed` are rows of what got slower, `more` of them aren't listed; `details` is the
    verdict of the run's page.
    """

    number: int
    title: str
    href: str
    lead: str
    kind: str
    verdict: str
    beside: str
    nights: PlanNights
    pairs: tuple[PairMap, ...]
    changed: tuple[tuple[LinkedCell, ...], ...]
    more: int
    details: Mapping[str, Any] | None

    @property
    def changes(self) -> tuple[object, ...]:
        """The last nights in which facts or settings changed."""
        return self.nights.changes[:_MOST_CHANGES]


@dataclass(frozen=True, slots=True, eq=False)
class IndexPage:
    """The page."""

    plans: tuple[PlanTile, ...]
    changes: LevelChanges
    runs: tuple[tuple[LinkedCell, ...], ...]
    cases: tuple[tuple[LinkedCell, ...], ...]


class Index:
    """Makes the first page of a site, whose other pages are in `folder`."""

    def __init__(self, store: Store, job: IndexJob, folder: Folder) -> None:
        self._store, self._site, self._folder = store, job.site, folder
        self._runs, self._counts = job.runs, job.counts
        self._data: dict[int, RunData] = {}

    @collector_off()
    def page(self, names: Mapping[str, CaseNames]) -> IndexPage:
        """Return the page; `names` are those of each plan's cases."""
        for head in self._site.last:
            self._read(head.id)
        cases = self._store.all_cases()
        return IndexPage(
            plans=tuple(self._plans()),
            changes=level_changes(self._store, self._site.last, self._data, cases, names),
            runs=tuple(
                _run_row(run, self._counts[run.id]) for run in reversed(self._runs.values())
            ),
            cases=tuple(self._case_rows(cases, names)),
        )

    def data(self, page: IndexPage) -> str:
        """Return the file of all runs and changes, as a call of the function of pages' scripts."""
        parts = {job.run: job.parts for job in self._site.jobs if isinstance(job, RunJob)}
        fields = {
            "runs": [
                [
                    *(head.id, head.plan, head.started_at, head.git_commit, head.git_dirty),
                    *(head.partial, parts[head.id]),
                ]
                for head in self._site.heads
            ],
            "changes": page.changes.points,
            "renamed": [
                [place.plan, case.key, place.tests]
                for case in self._site.cases
                for place in case.places
                if len(place.tests) > 1
            ],
            "units": {unit: ladder(unit) for unit in sorted(self._units())},
        }
        written = json.dumps(fields, separators=(",", ":")).replace("<", "\\u003c")
        return f"addNights({written});\n"

    def _units(self) -> set[str]:
        return {metric.unit for data in self._data.values() for metric in data.metrics}

    def _read(self, run: int) -> RunData:
        if run not in self._data:
            self._data[run] = read_run_data(self._folder.read(data_file(run)))
        return self._data[run]

    def _plans(self) -> Iterator[PlanTile]:
        order = sorted(self._site.newest, key=lambda run: self._runs[run].started_at, reverse=True)
        for number, run in enumerate(order):
            yield self._plan(number, self._runs[run], self._read(run))

    def _plan(self, number: int, summary: RunSummary, newest: RunData) -> PlanTile:
        nights = self._nights(summary)
        rows = [
            entry
            for entry in newest.measured()
            if entry[2].change in CHANGED and entry[2].change != "faster"
        ]
        # The largest change first, then what could not be measured.
        rows.sort(key=lambda entry: (CHANGED.index(entry[2].change), -_size(entry[2].ratio)))
        listed = rows[:_MOST_RESULTS]
        reach = reach_of(row for _, _, row in listed)
        words = newest.verdict
        verdict, beside = _headline(words["headline"]) if words else ("", "")
        return PlanTile(
            number=number,
            title=visible(summary.plan),
            href=run_file(summary.id),
            lead=f"Run {summary.id}, {_minute_began(summary.started_at)} UTC{_state(summary)}",
            kind="slower" if rows else words["kind"] if words else "unknown",
            verdict=verdict or "nothing to compare with yet",
            beside=beside,
            nights=nights,
            pairs=tuple(pair_maps(newest)[:_MOST_MAPS]),
            changed=tuple(compared_cells(*entry, reach) for entry in listed),
            more=len(rows) - len(listed),
            details=words,
        )

    def _nights(self, summary: RunSummary) -> PlanNights:
        heads: list[RunHead] = []
        for head in self._site.last:
            if head.plan == summary.plan:
                heads.append(head)
            if head.id == summary.id:
                break
        heads = heads[-SHOWN_NIGHTS:]
        runs = {summary.id, *self._read(summary.id).against, *(head.id for head in heads)}
        places: dict[str, list[CasePlace]] = {}
        for case in self._site.cases:
            of_plan = [place for place in case.places if place.plan == summary.plan]
            places.setdefault(case.key, []).extend(of_plan)
        return PlanNights(heads, {run: self._read(run) for run in runs}, places)

    def _case_rows(
        self, cases: Mapping[str, Case], names: Mapping[str, CaseNames]
    ) -> Iterator[tuple[LinkedCell, ...]]:
        for listed in self._site.cases:
            case = cases[listed.key]
            place = listed.places[0]
            name = names[place.plan].with_test(NamedCase(place.tests[0], case))
            yield (
                text(name, listed.name),
                text(case.engine),
                text(_tests(listed)),
                count(listed.runs),
                count(listed.last, run_file(listed.last)),
            )


def _run_row(run: RunSummary, counts: Mapping[str, int]) -> tuple[LinkedCell, ...]:
    commit = visible(run.git_commit[:10]) + (" +" if run.git_dirty else "")
    no_verdict = LinkedCell("–", kind="missing")
    judged = "compared" in counts
    state = f"{run.state}, some cases" if run.partial else run.state
    return (
        count(run.id, run_file(run.id)),
        text(run.plan),
        LinkedCell(_minute_began(run.started_at)),
        LinkedCell(state if run.origin == "measured" else f"{state}, imported"),
        LinkedCell(commit or "–"),
        count(run.cases),
        count(run.measured),
        count(run.failed, kind="slower"),
        count(counts.get("slower", 0) + counts["lost"], kind="slower") if judged else no_verdict,
        count(counts.get("faster", 0), kind="faster") if judged else no_verdict,
        count(counts.get("not_enough_data", 0) - counts["lost"]) if judged else no_verdict,
    )


def _headline(text: str) -> tuple[str, str]:
    """Return what is slower or missing, and the rest of a verdict's headline."""
    parts, _, compared = text.partition(" (")
    words = parts.split(", ")
    verdict = [word for word in words if "slower" in word or "could " in word]
    rest = [word for word in words if word not in verdict]
    return ", ".join(verdict), "; ".join([*rest, compared.removesuffix(")")])


def _size(ratio: float | None) -> float:
    return abs(math.log(ratio)) if ratio is not None and ratio > 0 else math.inf


def _minute_began(started_at: str) -> str:
    return f"{started_at[:10]} {started_at[11:16]}"


def _state(run: RunSummary) -> str:
    words = f", {plural(run.measured, 'replication')}"
    if run.failed:
        words += f", {run.failed:,} failed"
    if run.state != "complete":
        words += f", {run.state}: its numbers may still change"
    return words


def _tests(listed: ListedCase) -> str:
    plans = {place.plan for place in listed.places}
    names: Sequence[str] = [
        test if len(plans) == 1 else f"{place.plan}: {test}"
        for place in listed.places
        for test in place.tests
    ]
    return ", ".join(dict.fromkeys(names))
