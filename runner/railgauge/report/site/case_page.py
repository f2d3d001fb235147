"""A case's page: each metric's history with all replications as dots, and a row for each run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import EnvironmentFailedError
from railgauge.compare.case_history import (
    Changed,
    History,
    NearbyChanges,
    Night,
    RunDifference,
    case_history,
)
from railgauge.plan.case_names import CaseNames, NamedCase, parameter_texts
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.pages.case_settings import case_settings
from railgauge.report.site.linked_cells import (
    LinkedCell,
    count,
    interval,
    number,
    quantity,
    replications,
)
from railgauge.report.site.site_pages import CaseJob, CasePlace, log_file, run_file
from railgauge.report.verdicts.history.history_text import span, summary
from railgauge.report.verdicts.history.history_words import (
    beside_lines,
    change_text,
    day,
    earlier_names,
)
from railgauge.report.verdicts.history.plot import draw_history
from railgauge.stats.series_changes import BETTER
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# Of a case without any headline metric, so many of its others: as `compare` does.
_OTHERS = 4


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """A change point in words; `beside` are the runs around it with what changed in each."""

    when: str
    href: str
    text: str
    direction: str
    beside: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class MetricHistory:
    """A metric's history: `svg` is its figure, empty where `undrawn` says why there is none."""

    name: str
    title: str
    span: str
    summary: str
    changes: tuple[ChangeNote, ...]
    svg: str
    undrawn: str


@dataclass(frozen=True, slots=True, eq=False)
class PlanTestHistory:
    """A test of a plan that measured the case: its metrics, a row for each run, newest first.

    `earlier` says what the test was called before, empty where it had no other name; `settings` are
    what was in effect in the newest run, as (heading, text).
    """

    title: str
    earlier: str
    metrics: tuple[MetricHistory, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[LinkedCell, ...], ...]
    logs: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CaseHistoryPage:
    """One page; `parameters` are (name, text)."""

    title: str
    lead: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    places: tuple[PlanTestHistory, ...]


class CasePages:
    """Makes pages of cases, one after the other; what several need is read once.

    `heads` are all runs, oldest first; `names` are those of each plan's cases.
    """

    def __init__(
        self,
        store: Store,
        heads: Sequence[RunHead],
        catalogue: Catalogue,
        names: Mapping[str, CaseNames],
    ) -> None:
        self._store, self._catalogue, self._names = store, catalogue, names
        self._nearby = NearbyChanges(store.run)
        self._heads: dict[str, list[RunHead]] = {}
        for head in heads:
            self._heads.setdefault(head.plan, []).append(head)
        self._metrics = store.metric_names()
        self._cases = store.all_cases()
        self._smallest_changes = cache(store.smallest_changes)
        # Of cases' newest runs, which are few and the same for most cases.
        self._launches = lru_cache(maxsize=8)(store.launch_settings)
        self._runs = lru_cache(maxsize=8)(store.run)

    def page(self, job: CaseJob) -> CaseHistoryPage:
        """Return the page of a case."""
        case = self._cases[job.key]
        places = [self._place(case, place, job) for place in job.places]
        return CaseHistoryPage(
            title=self._name(case, job.places[0]),
            lead=tuple(_lead(case, places)),
            parameters=tuple(parameter_texts(case, self._catalogue)),
            places=tuple(places),
        )

    def _name(self, case: Case, place: CasePlace) -> str:
        return self._names[place.plan].case(NamedCase(place.tests[0], case))

    def _place(self, case: Case, place: CasePlace, job: CaseJob) -> PlanTestHistory:
        plan, test = place.plan, place.tests[0]
        title = f"{visible(test)}: {self._name(case, place)}"
        metrics = [self._metric(series, place, title) for series in self._series(case, place)]
        histories = [history for history in metrics if history is not None]
        plan_runs = {head.id for head in self._heads[plan]}
        columns = [text for metric, _ in histories for text in (metric.title, "95 % interval")]
        return PlanTestHistory(
            title=f"{visible(test)}, plan {visible(plan)}",
            earlier=earlier_names(place.earlier),
            metrics=tuple(metric for metric, _ in histories),
            columns=(*columns, "Replications"),
            rows=tuple(_rows([nights for _, nights in histories])),
            logs=tuple(
                (f"run {run}", f"../{log_file(run, logged_test, case.key)}")
                for run, logged_test in job.logged
                if logged_test in place.tests and run in plan_runs
            ),
            settings=tuple(self._in_effect(case, place, [nights for _, nights in histories])),
        )

    def _in_effect(
        self, case: Case, place: CasePlace, metrics: Sequence[Sequence[tuple[Night, Series]]]
    ) -> Iterator[tuple[str, str]]:
        """Yield what was in effect in the newest run that measured the case."""
        heads = [night.run for nights in metrics for night, _ in nights]
        if not heads:
            return
        newest = max(heads, key=lambda head: (head.started_at, head.id)).id
        launches = self._launches(newest)
        for test in place.tests:
            for heading, text in case_settings(launches.get(test), case, self._runs(newest)):
                yield f"{heading} (run {newest})", text

    def _series(self, case: Case, place: CasePlace) -> list[list[Series]]:
        """Return, metric by metric, what runs measured: the headline metrics, or others."""
        names = self._metrics.get(case.engine, ())

        def measured(names: Iterable[str]) -> Iterator[list[Series]]:
            for name in names:
                series = self._store.history(case.key, name, tests=place.tests, plan=place.plan)
                if any(len(run_series.values) for run_series in series):
                    yield series

        def directed(names: Iterable[str]) -> Iterator[list[Series]]:
            return (series for series in measured(names) if series[-1].better in BETTER)

        return (
            list(directed(name for name in headlines() if name in names))
            or list(islice(directed(name for name in names if name not in headlines()), _OTHERS))
            # Where none says which way is better, there is still what was measured.
            or list(islice(measured(names), _OTHERS))
        )

    def _metric(
        self, series: Sequence[Series], place: CasePlace, title: str
    ) -> tuple[MetricHistory, list[tuple[Night, Series]]] | None:
        last = series[-1]
        smallest = self._smallest_changes(last.run).get((last.case.engine, last.metric))
        history = case_history(series, self._heads[place.plan], smallest)
        if history is None:
            return None
        history = self._nearby.add_to(history)
        svg, undrawn = "", ""
        try:
            files = draw_history(history, title, series, captioned=False)
            svg = next(text for name, text in files.items() if name.endswith(".svg"))
        except EnvironmentFailedError as error:
            undrawn = f"Without a figure: {error}."
        by_run = {run_series.run: run_series for run_series in series}
        metric = MetricHistory(
            name=last.metric,
            title=visible(last.metric).replace("_", " "),
            span=span(history),
            summary=summary(history),
            changes=tuple(_change(history, changed) for changed in reversed(history.changes)),
            svg=svg,
            undrawn=undrawn,
        )
        return metric, [(night, by_run[night.run.id]) for night in history.nights]


def _lead(case: Case, places: Sequence[PlanTestHistory]) -> Iterator[str]:
    where = f"on {case.client}"
    if case.server is not None:
        where = f"from {case.client} to {case.server}"
    elif case.members:
        where = f"on the {len(case.members)} hosts of group {case.link}"
    yield f"Engine {visible(case.engine)} {visible(where)}."
    options = " --plan … --test …" if len(places) > 1 else ""
    metrics = {metric.name for place in places for metric in place.metrics}
    if len(metrics) > 1 or not metrics <= {*headlines()}:
        # Without the option it shows one metric: the first headline, or the first of all.
        options += " --metric …"
    yield f"railgauge history {visible(case.key)}{options} says the same in a terminal."


def _change(history: History, changed: Changed) -> ChangeNote:
    run = changed.night.run
    return ChangeNote(
        when=f"{day(run)}, run {run.id}",
        href=f"../{run_file(run.id)}",
        text=change_text(history, changed),
        direction=changed.direction,
        beside=tuple(map(_beside, changed.beside)),
    )


def _beside(difference: RunDifference) -> tuple[str, tuple[str, ...]]:
    runs = f"from run {difference.before.id} to {difference.run.id}, {day(difference.run)}"
    return runs, tuple(beside_lines(difference))


def _rows(metrics: Sequence[Sequence[tuple[Night, Series]]]) -> Iterator[tuple[LinkedCell, ...]]:
    """Yield a row for each run that measured any of the metrics, the newest first."""
    by_run = [{night.run.id: (night, series) for night, series in nights} for nights in metrics]
    heads = {night.run.id: night.run for nights in metrics for night, _ in nights}
    order = sorted(heads.values(), key=lambda head: (head.started_at, head.id), reverse=True)
    for head in order:
        cells = [count(head.id, f"../{run_file(head.id)}"), LinkedCell(day(head))]
        medians = [nights.get(head.id) for nights in by_run]
        for median in medians:
            if median is None:
                cells += [number(None, ""), number(None, "")]
            else:
                night, series = median
                cells += [
                    quantity(night.median, series.unit),
                    interval(night.interval, series.unit),
                ]
        measured = [series for _, series in filter(None, medians)]
        yield (*cells, replications(max(measured, key=lambda series: len(series.values))))
