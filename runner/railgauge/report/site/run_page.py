"""A run's page: its cases with what became of them, what failed, its machines, its heat maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.compare.compare import ORDER, Result
from railgauge.compare.reading import ReadRuns, has_direction
from railgauge.compare.select import Selection
from railgauge.compare.verdict import Reasons, Verdict, verdict_on
from railgauge.plan.case_names import CaseNames
from railgauge.report.figures.plotfile import DrawnFigure
from railgauge.report.pages.case_settings import settings_tables
from railgauge.report.pages.certificate_tables import certificate_tables
from railgauge.report.pages.contents import Details
from railgauge.report.pages.idle import idle_details
from railgauge.report.pages.metric_definitions import ShownMetrics, clock_table, metric_tables
from railgauge.report.pages.page import Page, RunRecords, make_page
from railgauge.report.site.heatmaps import heatmaps
from railgauge.report.site.linked_cells import LinkedCell, number, quantity, replications, text
from railgauge.report.site.linked_cells import interval as interval_cell
from railgauge.report.site.site_pages import RunJob, case_file, log_file
from railgauge.report.site.unjudged import UnjudgedCases
from railgauge.report.tables.certified import (
    certified_sentence,
    pairs_sentence,
    run_pairs,
    run_standings,
)
from railgauge.report.verdicts.verdict_words import (
    compared_names,
    counter_line,
    headline,
    interval,
    sentence,
    shared_facts,
    tally,
)
from railgauge.stats import median_interval
from railgauge.stats.digits import ratio_text
from railgauge.store import Store
from railgauge.store.records import PlannedCase, Series, StoredRun

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate
    from railgauge.plan.catalogue import Catalogue

_MOST_RESULTS = 20
_MOST_REMOVED = 100
_NEW, _NOT_COMPARED = "new", "not compared"


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """A slower or lost case: its name and page, its verdict in words, what changed beside it."""

    name: str
    href: str
    sentence: str
    counters: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class VerdictText:
    """A verdict in words; `more` slower or lost results aren't listed. `facts` of hosts changed."""

    headline: str
    tally: str
    slower: tuple[CaseVerdict, ...]
    lost: tuple[CaseVerdict, ...]
    more: int
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunPage:
    """One page. `rows` are the run's cases and metrics, under COMPARED if `judged`, or ALONE.

    `certified` says which of its engines were certified, `certificates` by which checks.
    """

    title: str
    lead: tuple[str, ...]
    judged: VerdictText | None
    rows: tuple[tuple[LinkedCell, ...], ...]
    heatmaps: tuple[DrawnFigure, ...]
    heatmaps_note: str
    certified: str
    certificates: tuple[Details, ...]
    details: Page


_NAMES = ("Test", "Case", "Metric")
_MEASURED = ("Median", "95 % interval", "Replications")
# Of a run that is compared with others, and of one that is compared with nothing.
COMPARED = (*_NAMES, "Verdict", "Ratio", "95 % of it", "Before", *_MEASURED, "Why")
ALONE = (*_NAMES, *_MEASURED, "Why")


def run_page(
    store: Store, reading: ReadRuns, job: RunJob, catalogue: Catalogue
) -> tuple[RunPage, dict[str, int]]:
    """Return the page of a run, and how many of its results have each verdict.

    `reading` has the run and what it is compared with.
    """
    run = store.run(job.run)
    records = RunRecords(run, store.failures(run.id), store.suspicions(run.id))
    idle = idle_details(run.id, [stored.log for stored in store.run_logs(run.id)])
    details = make_page(
        "run", f"Run {run.id}", [records], idle=[idle] if idle else (), catalogue=catalogue
    )
    verdict = None
    if job.against is not None:
        verdict = verdict_on(store, reading, job.against, Selection(f"run {run.id}", (run.id,)))
    pictures, note = heatmaps(store, run, reading, catalogue)
    certificates = store.certificates()
    page = RunPage(
        title=f"Run {run.id} of {visible(run.new.plan)}",
        lead=details.summary,
        judged=judged(verdict, catalogue, "../") if verdict else None,
        rows=tuple(_Rows(store, records, verdict, job, catalogue).all(reading)),
        heatmaps=pictures,
        heatmaps_note=note,
        certified=_certified(run, certificates),
        certificates=certificate_tables(run, certificates),
        details=replace(
            details,
            runs=replace(details.runs, title="Settings"),
            definitions=(
                *metric_tables(_metrics_by_engine(reading, run), catalogue),
                *clock_table([run], catalogue),
            ),
            settings=settings_tables([(run, store.launch_settings(run.id))], catalogue),
        ),
    )
    return page, _counts(verdict)


def _certified(run: StoredRun, certificates: Sequence[Certificate]) -> str:
    standings = run_standings(run, certificates)
    engines = dict.fromkeys((run.id, planned.case.engine) for planned in run.cases)
    cases = ((run.id, planned.case) for planned in run.cases)
    sentences = (
        certified_sentence(engines, {run.id: standings}),
        pairs_sentence(cases, {run.id: run_pairs(run, certificates)}),
    )
    return " ".join(filter(None, sentences))


def _metrics_by_engine(reading: ReadRuns, run: StoredRun) -> ShownMetrics:
    by_engine: dict[str, dict[str, None]] = {}
    for planned in run.cases:
        for metric, values in (
            reading.series[run.id].get((planned.test, planned.case.key), {}).items()
        ):
            if has_direction(values):
                by_engine.setdefault(planned.case.engine, {})[metric] = None
    return by_engine


def judged(
    verdict: Verdict, catalogue: Catalogue, to_top: str, most: int = _MOST_RESULTS
) -> VerdictText:
    """Return the verdict in words, `most` of the slower and as many of the lost results.

    `to_top` leads from the page to the site's folder.
    """
    compared = verdict.comparison
    names = compared_names(compared, catalogue)

    def case_verdicts(results: Sequence[Result]) -> tuple[CaseVerdict, ...]:
        return tuple(
            CaseVerdict(
                names.with_test(result),
                to_top + case_file(result.case.key),
                sentence(result),
                tuple(map(counter_line, verdict.reasons.get(result.name[:2], Reasons()).counters)),
            )
            for result in results[:most]
        )

    removed = [names.with_test(planned) for planned in compared.cases_only[0]]
    return VerdictText(
        headline=headline(verdict),
        tally=tally(compared),
        slower=case_verdicts(verdict.slower),
        lost=case_verdicts(verdict.lost),
        more=sum(max(0, len(results) - most) for results in (verdict.slower, verdict.lost)),
        facts=tuple(shared_facts(verdict.slower, verdict.reasons)),
        notes=(
            *map(visible, verdict.notes),
            *(f"{names.with_test(each)}: {sentence(each)}" for each in verdict.flipping[:most]),
        ),
        removed=tuple(removed[:_MOST_REMOVED]),
    )


def _counts(verdict: Verdict | None) -> dict[str, int]:
    if verdict is None:
        return {}
    compared = verdict.comparison
    counts = {change.replace(" ", "_"): number for change, number in compared.counts().items()}
    return counts | {"compared": len(compared.results), "lost": len(verdict.lost)}


class _Rows:
    """Makes the rows of a run's cases."""

    def __init__(
        self,
        store: Store,
        records: RunRecords,
        verdict: Verdict | None,
        job: RunJob,
        catalogue: Catalogue,
    ) -> None:
        self._job, self._verdict = job, verdict
        self._unjudged = UnjudgedCases(store, records)
        new_cases = verdict.comparison.cases_only[1] if verdict else ()
        self._new = {(planned.test, planned.case.key) for planned in new_cases}
        self._names = (
            compared_names(verdict.comparison, catalogue)
            if verdict
            else CaseNames(records.run.cases, catalogue)
        )

    def all(self, reading: ReadRuns) -> Iterator[tuple[LinkedCell, ...]]:
        """Yield a row for each case and metric: as the verdict sorts them, then what it hasn't."""
        series = reading.series[self._job.run]
        cases = {(case.test, case.case.key): case for case in reading.cases[self._job.run]}
        results = self._verdict.comparison.results if self._verdict else ()
        compared = {result.name for result in results}
        compared_cases = {name[:2] for name in compared}
        for result in results:
            name = result.name[:2]
            measured = series.get(name, {}).get(result.metric)
            yield self._row(cases[name], result.metric, measured, result)
        for name, planned in cases.items():
            metrics = series.get(name, {}).items()
            directed = {metric: values for metric, values in metrics if has_direction(values)}
            for metric, values in directed.items():
                # Of what was never measured in any of the runs there is one row.
                if (*name, metric) not in compared and (*name, "") not in compared:
                    yield self._row(planned, metric, values, None)
            if not directed and name not in compared_cases:
                yield self._row(planned, "", None, None)

    def _row(
        self, planned: PlannedCase, metric: str, series: Series | None, result: Result | None
    ) -> tuple[LinkedCell, ...]:
        case, job = planned.case, self._job
        measured = series if series is not None and len(series.values) else None
        middle = median(measured.values.tolist()) if measured else None
        unit = series.unit if series else ""
        counts = replications(series) if series else self._unjudged.replications(planned)
        if (planned.test, case.key) in job.logged:
            counts = counts._replace(href=f"../{log_file(job.run, planned.test, case.key)}")
        judgement = self._judgement(planned, result) if job.against else ()
        reason = result.judged.reason if result else ""
        if not result and not measured:
            reason = self._unjudged.reason(planned)
        return (
            text(planned.test),
            LinkedCell(self._names.case(planned), None, f"../{case_file(case.key)}"),
            text(metric.replace("_", " ")),
            *judgement,
            quantity(middle, unit),
            interval_cell(
                median_interval(measured.values, measured.level) if measured else None, unit
            ),
            counts,
            text(reason),
        )

    def _judgement(self, planned: PlannedCase, result: Result | None) -> tuple[LinkedCell, ...]:
        """Return the cells of verdict, ratio, its interval, before."""
        no_number = number(None, "")
        if result is None:
            new = (planned.test, planned.case.key) in self._new
            return text(_NEW if new else _NOT_COMPARED), no_number, no_number, no_number
        judgement, before = result.judged, result.sides[0].median
        has_ratio = judgement.ratio > 0
        word = "not measured" if result.lost else str(judgement.change)
        order = float(ORDER.index(judgement.change)) - (0.5 if result.lost else 0)
        kind = "slower" if result.lost else judgement.change
        return (
            LinkedCell(word, order, "", kind if kind in ("slower", "faster") else ""),
            number(judgement.ratio if has_ratio else None, ratio_text(judgement.ratio)),
            number(judgement.high - judgement.low if has_ratio else None, interval(result)),
            quantity(before, result.unit),
        )
