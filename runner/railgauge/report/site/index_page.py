"""The first page: how the newest run of each plan did, all runs, all cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.compare.case_history import LEAST_NIGHTS
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.compare.verdict import verdict_on
from railgauge.plan.case_names import CaseNames, NamedCase
from railgauge.report.site.folder import CHANGES, INDEX
from railgauge.report.site.linked_cells import LinkedCell, count, text
from railgauge.report.site.mark import FileMark, fingerprint
from railgauge.report.site.run_page import VerdictText, judged
from railgauge.report.site.site_pages import ListedCase, SitePages, run_file
from railgauge.store import Store
from railgauge.store.records import RunSummary

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# Of each plan; the run's page has more.
_MOST_RESULTS = 8
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
    """The page. `changed` cases are on the page of changes, so many of them only provisionally.

    Of no plan were more `nights` read; `too_few` of them show no change.
    """

    newest: tuple[Newest, ...]
    changed: int
    provisional: int
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
        # One that began meanwhile has no page yet.
        ids = {head.id for head in site.heads}
        self._runs = {run.id: run for run in self._summaries if run.id in ids}
        self._counts = {
            run: dict(sorted(marks[run_file(run)].counts.items())) for run in self._runs
        }
        changes = marks[CHANGES].counts
        self._changed, self._provisional, self._nights = (
            changes.get(name, 0) for name in ("changed", "provisional", "nights")
        )

    @property
    def fingerprint(self) -> str:
        """The digest of what the page is made of."""
        return fingerprint(
            "index",
            self._site.newest_fingerprint,
            self._summaries,
            self._counts,
            (self._changed, self._provisional, self._nights),
            self._site.cases,
            self._site.axes,
        )

    def page(self, catalogue: Catalogue, names: Mapping[str, CaseNames]) -> IndexPage:
        """Return the page; `names` are those of each plan's cases."""
        return IndexPage(
            newest=tuple(self._newest(catalogue)),
            changed=self._changed,
            provisional=self._provisional,
            nights=self._nights,
            too_few=self._nights < LEAST_NIGHTS,
            changes=CHANGES,
            runs=tuple(
                _run_row(run, self._counts[run.id]) for run in reversed(self._runs.values())
            ),
            cases=tuple(self._case_rows(names)),
        )

    def _newest(self, catalogue: Catalogue) -> Iterator[Newest]:
        order = sorted(self._site.newest, key=lambda run: self._runs[run].started_at, reverse=True)
        for run in order:
            summary, side = self._runs[run], self._site.newest[run]
            verdict = None
            if side is not None:
                reading = read(self._store, [*side.runs, run])
                verdict = verdict_on(self._store, reading, side, Selection(f"run {run}", (run,)))
            yield Newest(
                title=visible(summary.plan),
                href=run_file(run),
                lead=f"Run {run}, {_minute_began(summary.started_at)} UTC{_state(summary)}",
                judged=judged(verdict, catalogue, "", _MOST_RESULTS) if verdict else None,
            )

    def _case_rows(self, names: Mapping[str, CaseNames]) -> Iterator[tuple[LinkedCell, ...]]:
        cases = self._store.all_cases()
        for listed in self._site.cases:
            case = cases[listed.key]
            place = listed.places[0]
            name = names[place.plan].case(NamedCase(place.tests[0], case))
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


def _minute_began(started_at: str) -> str:
    return f"{started_at[:10]} {started_at[11:16]}"


def _state(run: RunSummary) -> str:
    words = f", {run.measured:,} replications"
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
