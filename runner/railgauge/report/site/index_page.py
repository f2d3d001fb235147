"""The first page: how the newest run of each plan did, all runs, all cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.compare.history import LEAST_NIGHTS
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.compare.verdict import held_against
from railgauge.plan.cases import case_name
from railgauge.report.site.cells import LinkedCell, count, text
from railgauge.report.site.folder import CHANGES, INDEX
from railgauge.report.site.jobs import Listed, SitePages, run_file
from railgauge.report.site.mark import FileMark, fingerprint
from railgauge.report.site.run_page import VerdictText, judged
from railgauge.report.tables.naming import telling
from railgauge.store import Store
from railgauge.store.records import RunSummary

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# Of each plan; the run's page has more.
_MOST_TOLD = 8
RUN_COLUMNS = (
    *("Run", "Plan", "Began (UTC)", "State", "Commit", "Cases", "Measured", "Failed"),
    *("Slower", "Faster", "Not enough data"),
)
CASE_COLUMNS = ("Case", "Engine", "Tests", "Runs", "Last run")


@dataclass(frozen=True, slots=True, eq=False)
class Newest:
    """The newest run of a plan and its verdict; `first` where it has none before it."""

    title: str
    href: str
    lead: str
    judged: VerdictText | None


@dataclass(frozen=True, slots=True, eq=False)
class IndexPage:
    """The page. `changed` cases are on the page of changes; of no plan more `nights` are looked at.

    `too_few` of them tell no change.
    """

    newest: tuple[Newest, ...]
    changed: int
    nights: int
    too_few: bool
    changes: str
    runs: tuple[tuple[LinkedCell, ...], ...]
    cases: tuple[tuple[LinkedCell, ...], ...]


class Index:
    """Makes the first page of a site, whose other pages are there with these `marks`."""

    name = INDEX

    def __init__(self, store: Store, site: SitePages, marks: Mapping[str, FileMark]) -> None:
        self._store, self._site = store, site
        self._summaries = store.runs()
        self._told = {
            one.id: dict(sorted(marks[run_file(one.id)].told.items())) for one in self._known()
        }
        told = marks[CHANGES].told
        self._changed, self._nights = told.get("changed", 0), told.get("nights", 0)

    @property
    def fingerprint(self) -> str:
        """The digest of what the page is made of."""
        return fingerprint(
            "index",
            self._site.seen,
            self._summaries,
            self._told,
            (self._changed, self._nights),
            self._site.cases,
        )

    def page(self, catalogue: Catalogue) -> IndexPage:
        """Return the page."""
        return IndexPage(
            newest=tuple(self._newest(catalogue)),
            changed=self._changed,
            nights=self._nights,
            too_few=self._nights < LEAST_NIGHTS,
            changes=CHANGES,
            runs=tuple(_run_row(one, self._told[one.id]) for one in reversed(self._known())),
            cases=tuple(self._case_rows(catalogue)),
        )

    def _known(self) -> list[RunSummary]:
        """Return the runs that have a page: one that began meanwhile has none yet."""
        there = {head.id for head in self._site.heads}
        return [one for one in self._summaries if one.id in there]

    def _newest(self, catalogue: Catalogue) -> Iterator[Newest]:
        by_id = {one.id: one for one in self._summaries}
        order = sorted(self._site.newest, key=lambda run: by_id[run].started_at, reverse=True)
        for run in order:
            one, side = by_id[run], self._site.against[run]
            verdict = None
            if side is not None:
                reading = read(self._store, [*side.runs, run])
                verdict = held_against(self._store, reading, side, Selection(f"run {run}", (run,)))
            yield Newest(
                title=visible(one.plan),
                href=run_file(run),
                lead=f"Run {run}, {_when(one.started_at)} UTC{_state(one)}",
                judged=judged(verdict, catalogue, "", _MOST_TOLD) if verdict else None,
            )

    def _case_rows(self, catalogue: Catalogue) -> Iterator[tuple[LinkedCell, ...]]:
        known = self._store.all_cases()
        for listed in self._site.cases:
            case = known[listed.key]
            name = case_name(case, telling(case, catalogue), catalogue)
            yield (
                text(name, listed.name),
                text(case.engine),
                text(_tests(listed)),
                count(listed.runs),
                count(listed.last, run_file(listed.last)),
            )


def _run_row(one: RunSummary, told: Mapping[str, int]) -> tuple[LinkedCell, ...]:
    commit = visible(one.git_commit[:10]) + (" +" if one.git_dirty else "")
    nothing = LinkedCell("–", kind="missing")
    judged = "compared" in told
    state = f"{one.state}, some cases" if one.partial else one.state
    return (
        count(one.id, run_file(one.id)),
        text(one.plan),
        LinkedCell(_when(one.started_at)),
        LinkedCell(state if one.origin == "measured" else f"{state}, imported"),
        LinkedCell(commit or "–"),
        count(one.cases),
        count(one.measured),
        count(one.failed, kind="slower"),
        count(told.get("slower", 0) + told["lost"], kind="slower") if judged else nothing,
        count(told.get("faster", 0), kind="faster") if judged else nothing,
        count(told.get("not_enough_data", 0) - told["lost"]) if judged else nothing,
    )


def _when(started_at: str) -> str:
    return f"{started_at[:10]} {started_at[11:16]}"


def _state(one: RunSummary) -> str:
    told = f", {one.measured:,} replications"
    if one.failed:
        told += f", {one.failed:,} failed"
    return told if one.state == "complete" else f"{told}, {one.state}: its numbers may still change"


def _tests(listed: Listed) -> str:
    plans = {plan for plan, _ in listed.places}
    names: Sequence[str] = [
        test if len(plans) == 1 else f"{plan}: {test}" for plan, test in listed.places
    ]
    return ", ".join(dict.fromkeys(names))
