"""A run's page: its cases with what became of them, what failed, its machines, its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.compare.compare import ORDER, Result
from railgauge.compare.reading import ReadRuns, has_direction
from railgauge.compare.select import Selection
from railgauge.compare.verdict import Reasons, Verdict, verdict_on
from railgauge.plan.case_names import CaseNames, parameter_texts
from railgauge.plan.cases import Case, non_default, shown_parameters
from railgauge.report.pages.case_settings import settings_tables
from railgauge.report.pages.certificate_tables import certificate_tables
from railgauge.report.pages.contents import Details
from railgauge.report.pages.idle import idle_details
from railgauge.report.pages.metric_definitions import ShownMetrics, clock_table, metric_tables
from railgauge.report.pages.page import Page, RunRecords, make_page
from railgauge.report.site.drawings import farthest, ratio_bar
from railgauge.report.site.linked_cells import (
    LinkedCell,
    interval_text,
    number,
    outcomes,
    quantity,
    ratio_cell,
    text,
)
from railgauge.report.site.pair_maps import PairMap, pair_maps
from railgauge.report.site.run_data import DataCase, MetricKind, MetricRow, RunData, run_data
from railgauge.report.site.site_pages import RunJob, case_file
from railgauge.report.site.unjudged import UnjudgedCases
from railgauge.report.tables.certified import (
    certified_sentence,
    pairs_sentence,
    run_pairs,
    run_standings,
)
from railgauge.report.verdicts.verdict_words import (
    counter_line,
    headline,
    sentence,
    shared_facts,
    tally,
)
from railgauge.stats.digits import ratio_text
from railgauge.stats.series_changes import BETTER
from railgauge.store import Store
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate
    from railgauge.plan.catalogue import Catalogue

_MOST_RESULTS = 20
_MOST_REMOVED = 100


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """A slower or lost case: its name and page, its verdict in words, what changed beside it."""

    name: str
    href: str
    sentence: str
    counters: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class VerdictText:
    """A verdict in words; `more` slower or lost results aren't listed. `facts` of hosts changed.

    `kind` is slower, fine or unknown.
    """

    headline: str
    kind: str
    tally: str
    slower: tuple[CaseVerdict, ...]
    lost: tuple[CaseVerdict, ...]
    more: int
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CaseGroup:
    """Cases with one kind of verdict; what is not `open` is folded."""

    title: str
    open: bool
    columns: tuple[str, ...]
    rows: tuple[tuple[LinkedCell, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunPage:
    """One page. `constants` are what all cases of a test share.

    `beside` are lines of what changed since run `before`. `certified` says which of its engines
    were certified, `certificates` by which checks.
    """

    number: int
    title: str
    lead: tuple[str, ...]
    constants: tuple[tuple[str, str], ...]
    judged: VerdictText | None
    before: int | None
    beside: tuple[str, ...]
    groups: tuple[CaseGroup, ...]
    pairs: tuple[PairMap, ...]
    certified: str
    certificates: tuple[Details, ...]
    details: Page


# Of a run that is compared with others, the ratio before what a phone has no room for; and of one
# that is compared with nothing.
COMPARED = (
    *("Case", "Metric", "Verdict", "Ratio", "95 % interval", "Before", "Now"),
    *("Replications", "Why"),
)
ALONE = ("Case", "Metric", "Median", "Replications", "Why")
_LOST = "lost"
CHANGED = ("slower", _LOST, "faster")
_GROUPS = {"same": "The same", "not enough data": "Not enough data", "": "Not compared"}


def run_page(
    store: Store, reading: ReadRuns, job: RunJob, catalogue: Catalogue, names: CaseNames
) -> tuple[RunPage, RunData, dict[str, int]]:
    """Return the page of a run, its data, and how many of its results have each verdict.

    `reading` has the run and what it is compared with; `names` are those of the plan's cases.
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
    words = judged(verdict, names) if verdict else None
    data = run_data(store, reading, job, names, verdict, words)
    certificates = store.certificates()
    page = RunPage(
        number=run.id,
        title=f"Run {run.id} of {visible(run.new.plan)}",
        lead=details.summary,
        constants=tuple(_constants(run, catalogue)),
        judged=words,
        before=job.before.id if job.before else None,
        beside=data.beside,
        groups=tuple(_Rows(store, records, verdict, data).groups()),
        pairs=tuple(pair_maps(data)),
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
    return page, data, _counts(verdict)


def _constants(run: StoredRun, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield, for each test, what all its cases share and isn't the engine's default."""
    tests: dict[str, list[Case]] = {}
    for planned in run.cases:
        tests.setdefault(planned.test, []).append(planned.case)
    for test, cases in tests.items():
        shared = set.intersection(*(set(shown_parameters(case).items()) for case in cases))
        names = {name for name, _ in shared} & {*non_default(cases[0], catalogue)}
        texts = [
            f"{name.replace('_', ' ')} {value}"
            for name, value in parameter_texts(cases[0], catalogue)
            if name in names
        ]
        if texts:
            yield visible(test), ", ".join(texts)


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


def judged(verdict: Verdict, names: CaseNames) -> VerdictText:
    """Return the verdict in words, cases by `names`; links lead from the site's folder."""
    compared = verdict.comparison

    def case_verdicts(results: Sequence[Result]) -> tuple[CaseVerdict, ...]:
        return tuple(
            CaseVerdict(
                names.with_test(result),
                case_file(result.case.key),
                sentence(result),
                tuple(map(counter_line, verdict.reasons.get(result.name[:2], Reasons()).counters)),
            )
            for result in results[:_MOST_RESULTS]
        )

    decided = any(change != "not enough data" for change in compared.counts())
    # A gate fails of it, though what was measured may be as before.
    failed = any(result.sides[1].failed for result in compared.results)
    otherwise = "fine" if decided and not failed else "unknown"
    removed = [names.with_test(planned) for planned in compared.cases_only[0]]
    return VerdictText(
        headline=headline(verdict),
        kind="slower" if verdict.slower or verdict.lost else otherwise,
        tally=tally(compared),
        slower=case_verdicts(verdict.slower),
        lost=case_verdicts(verdict.lost),
        more=sum(
            max(0, len(results) - _MOST_RESULTS) for results in (verdict.slower, verdict.lost)
        ),
        facts=tuple(shared_facts(verdict.slower, verdict.reasons)),
        notes=(
            *map(visible, verdict.notes),
            *(
                f"{names.with_test(result)}: {sentence(result)}"
                for result in verdict.flipping[:_MOST_RESULTS]
            ),
        ),
        removed=tuple(removed[:_MOST_REMOVED]),
    )


def _counts(verdict: Verdict | None) -> dict[str, int]:
    if verdict is None:
        return {}
    compared = verdict.comparison
    counts = {change.replace(" ", "_"): number for change, number in compared.counts().items()}
    return counts | {"compared": len(compared.results), "lost": len(verdict.lost)}


def compared_cells(
    case: DataCase, metric: MetricKind, row: MetricRow, reach: float, to_top: str = ""
) -> tuple[LinkedCell, ...]:
    """Return the cells from the case to the median now, as `COMPARED` names them.

    Ratios are drawn on an axis that reaches `reach` either way; `to_top` leads from the page to
    the site's folder.
    """
    change, ratio = row.change, row.ratio
    low, high = row.ratio_low, row.ratio_high
    kind = "slower" if change == _LOST else change if change in CHANGED else ""
    ends = number(None, "")
    if ratio is not None and low is not None and high is not None:
        bar = ratio_bar(ratio, low, high, row.smallest or 0, reach, kind or "undecided")
        # Of what is the same, which most is, a picture says nothing more.
        bar = "" if change == "same" else bar
        small = f"{ratio_text(low)} to {ratio_text(high)}"
        ends = LinkedCell("", high - low, small=small, picture=bar)
    # Worst first, as comparisons are sorted.
    order = float([*ORDER, ""].index("slower" if change == _LOST else change))
    before = quantity(row.before, metric.unit)
    words = {_LOST: "not measured", "": "not compared"}.get(change, change)
    return (
        LinkedCell(case.name, None, f"{to_top}{case_file(case.key)}"),
        text(metric.name.replace("_", " ")),
        LinkedCell(words, order + (0.5 if change == _LOST else 0), "", kind),
        ratio_cell(ratio, before, quantity(row.median, metric.unit)),
        ends,
        before,
        _median_cell(metric, row),
    )


def _median_cell(metric: MetricKind, row: MetricRow) -> LinkedCell:
    """Return a median with its interval below, or a published mean."""
    cell = quantity(row.median, metric.unit)
    if row.mean:
        return cell._replace(small="published mean")
    if row.low is None or row.high is None:
        return cell
    return cell._replace(small=interval_text(row.low, row.high, metric.unit, row.percent))


def reach_of(rows: Iterable[MetricRow]) -> float:
    """Return how far the axis of the ratios of these rows has to reach."""
    return farthest(end for row in rows for end in (row.ratio, row.ratio_low, row.ratio_high))


class _Rows:
    """Makes the rows of a run's cases."""

    def __init__(
        self, store: Store, records: RunRecords, verdict: Verdict | None, data: RunData
    ) -> None:
        self._unjudged = UnjudgedCases(store, records)
        self._verdict, self._data = verdict, data
        self._planned = {(case.test, case.case.key): case for case in records.run.cases}
        results = verdict.comparison.results if verdict else ()
        self._reasons = {result.name: result.judged.reason for result in results}
        self._order = {name: place for place, name in enumerate(self._reasons)}
        only = verdict.comparison.cases_only[1] if verdict else ()
        self._new = {(planned.test, planned.case.key) for planned in only}

    def groups(self) -> Iterator[CaseGroup]:
        """Yield what changed, then what didn't; of a run alone all its cases."""
        rows = sorted(self._all(), key=self._rank)
        if self._verdict is None:
            if rows:
                cells = tuple(self._cells(*row, 0) for row in rows)
                yield CaseGroup("Cases", open=True, columns=ALONE, rows=cells)
            return
        groups = {"Slower, not measured, faster": [row for row in rows if row[2].change in CHANGED]}
        for change, title in _GROUPS.items():
            groups[title] = [row for row in rows if row[2].change == change]
        for place, (title, of_group) in enumerate(groups.items()):
            if of_group:
                reach = reach_of(row for _, _, row in of_group)
                cells = tuple(self._cells(*row, reach) for row in of_group)
                yield CaseGroup(title, place == 0, COMPARED, cells)

    def _all(self) -> Iterator[tuple[DataCase, MetricKind, MetricRow]]:
        """Yield the rows to show; a case without any has one without a metric."""
        measured_cases = set()
        for case, metric, row in self._data.measured():
            if metric.better in BETTER or row.change:
                measured_cases.add(row.case)
                yield case, metric, row
        for place, case in enumerate(self._data.cases):
            if place not in measured_cases:
                yield case, MetricKind("", "", ""), MetricRow(place, 0, None)

    def _rank(self, entry: tuple[DataCase, MetricKind, MetricRow]) -> int:
        case, metric, _ = entry
        return self._order.get((case.test, case.key, metric.name), len(self._order))

    def _cells(
        self, case: DataCase, metric: MetricKind, row: MetricRow, reach: float
    ) -> tuple[LinkedCell, ...]:
        name = case.test, case.key
        planned = self._planned[name]
        counts = outcomes(row.n, row.suspect, row.failed)
        reason = self._reasons.get((*name, metric.name), "")
        if not metric.name:
            counts = self._unjudged.replications(planned)
        if not row.change and row.median is None:
            reason = self._unjudged.reason(planned)
        if case.log:
            counts = counts._replace(href=f"../{case.log}")
        cells = compared_cells(case, metric, row, reach, "../")
        if self._verdict is None:
            cells = (*cells[:2], cells[-1])
        elif not row.change and name in self._new:
            cells = (*cells[:2], text("new"), *cells[3:])
        return (*cells, counts, text(reason))
