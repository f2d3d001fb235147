"""A case's page: each metric's history with all replications as dots, and a row for each run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import EnvironmentFailedError
from railgauge.compare.history import Besides, Changed, History, Night, case_history
from railgauge.plan.cases import Case, case_name
from railgauge.plan.catalogue.headlines import HEADLINES
from railgauge.report.site.cells import LinkedCell, count, interval, number, quantity, replications
from railgauge.report.site.jobs import CaseJob, log_file, run_file
from railgauge.report.tables.naming import parameter_texts, telling
from railgauge.report.verdicts.history.plot import draw_history
from railgauge.report.verdicts.history.text import span, summary
from railgauge.report.verdicts.history.words import beside_lines, change_text, day
from railgauge.stats.compare import BETTER
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
    """A test of a plan that measured the case: its metrics, a row for each run, newest first."""

    title: str
    metrics: tuple[MetricHistory, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[LinkedCell, ...], ...]
    logs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CaseHistoryPage:
    """One page; `parameters` are (name, text)."""

    title: str
    lead: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    places: tuple[PlanTestHistory, ...]


class CasePages:
    """Makes pages of cases, one after the other; what several need is read once.

    `heads` are all runs, oldest first.
    """

    def __init__(self, store: Store, heads: Sequence[RunHead], catalogue: Catalogue) -> None:
        self._store, self._catalogue = store, catalogue
        self._besides = Besides(store.run)
        self._heads: dict[str, list[RunHead]] = {}
        for head in heads:
            self._heads.setdefault(head.plan, []).append(head)
        self._metrics = store.metric_names()
        self._cases = store.all_cases()
        self._smallest: dict[int, Mapping[tuple[str, str], float]] = {}

    def page(self, job: CaseJob) -> CaseHistoryPage:
        """Return the page of a case."""
        case = self._cases[job.key]
        name = visible(case_name(case, telling(case, self._catalogue), self._catalogue))
        places = [self._place(case, name, plan, test, job) for plan, test in job.places]
        return CaseHistoryPage(
            title=name,
            lead=tuple(_lead(case, places)),
            parameters=tuple(
                (visible(key), visible(text))
                for key, text in parameter_texts(case, self._catalogue)
            ),
            places=tuple(places),
        )

    def _place(self, case: Case, name: str, plan: str, test: str, job: CaseJob) -> PlanTestHistory:
        series = self._series(case, plan, test)
        metrics = [self._metric(those, plan, f"{visible(test)}: {name}") for those in series]
        shown = [one for one in metrics if one is not None]
        logs = [(run, log_file(run, test, case.key)) for run, of in job.logged if of == test]
        there = {head.id for head in self._heads[plan]}
        return PlanTestHistory(
            title=f"{visible(test)}, plan {visible(plan)}",
            metrics=tuple(metric for metric, _ in shown),
            columns=(*_columns(metric for metric, _ in shown), "Replications"),
            rows=tuple(_rows([nights for _, nights in shown])),
            logs=tuple((f"run {run}", f"../{file}") for run, file in logs if run in there),
        )

    def _series(self, case: Case, plan: str, test: str) -> list[list[Series]]:
        """Return, metric by metric, what runs measured: the headline metrics, or others."""
        names = self._metrics.get(case.engine, ())
        chosen = list(
            self._directed(case, plan, test, [name for name in HEADLINES if name in names])
        )
        if chosen:
            return chosen
        rest = [name for name in names if name not in HEADLINES]
        others = list(islice(self._directed(case, plan, test, rest), _OTHERS))
        # Without any that says which way is better, there is still what was measured.
        return others or list(islice(self._there(case, plan, test, names), _OTHERS))

    def _directed(
        self, case: Case, plan: str, test: str, names: Sequence[str]
    ) -> Iterator[list[Series]]:
        there = self._there(case, plan, test, names)
        return (those for those in there if those[-1].better in BETTER)

    def _there(
        self, case: Case, plan: str, test: str, names: Sequence[str]
    ) -> Iterator[list[Series]]:
        for name in names:
            those = self._store.history(case.key, name, test=test, plan=plan)
            if any(len(one.values) for one in those):
                yield those

    def _metric(
        self, series: Sequence[Series], plan: str, title: str
    ) -> tuple[MetricHistory, list[tuple[Night, Series]]] | None:
        last = series[-1]
        smallest = self._smallest_of(last.run).get((last.case.engine, last.metric))
        history = case_history(series, self._heads[plan], smallest)
        if history is None:
            return None
        history = self._besides.told(history)
        svg, undrawn = "", ""
        try:
            files = draw_history(history, title, series, told=False)
            svg = next(text for name, text in files.items() if name.endswith(".svg"))
        except EnvironmentFailedError as error:
            undrawn = f"Without a figure: {error}."
        by_run = {one.run: one for one in series}
        metric = MetricHistory(
            name=last.metric,
            title=visible(last.metric).replace("_", " "),
            span=span(history),
            summary=summary(history),
            changes=tuple(_change(history, one) for one in reversed(history.changes)),
            svg=svg,
            undrawn=undrawn,
        )
        return metric, [(night, by_run[night.run.id]) for night in history.nights]

    def _smallest_of(self, run: int) -> Mapping[tuple[str, str], float]:
        if run not in self._smallest:
            self._smallest[run] = self._store.smallest_changes(run)
        return self._smallest[run]


def _columns(metrics: Iterable[MetricHistory]) -> Iterator[str]:
    for metric in metrics:
        yield metric.title
        yield "95 % interval"


def _lead(case: Case, places: Sequence[PlanTestHistory]) -> Iterator[str]:
    where = f"on {case.client}"
    if case.server is not None:
        where = f"from {case.client} to {case.server}"
    elif case.members:
        where = f"on the {len(case.members)} hosts of group {case.link}"
    yield f"Engine {visible(case.engine)} {visible(where)}."
    which = " --plan … --test …" if len(places) > 1 else ""
    metrics = {metric.name for place in places for metric in place.metrics}
    if len(metrics) > 1 or not metrics <= {*HEADLINES}:
        # Unasked, it tells of one metric: the first headline, or the first of all.
        which += " --metric …"
    yield f"railgauge history {visible(case.key)}{which} says the same in a terminal."


def _change(history: History, changed: Changed) -> ChangeNote:
    run = changed.night.run
    beside = (
        (f"from run {one.before.id} to {one.run.id}, {day(one.run)}", tuple(beside_lines(one)))
        for one in changed.beside
    )
    return ChangeNote(
        when=f"{day(run)}, run {run.id}",
        href=f"../{run_file(run.id)}",
        text=change_text(history, changed),
        direction=changed.direction,
        beside=tuple(beside),
    )


def _rows(metrics: Sequence[Sequence[tuple[Night, Series]]]) -> Iterator[tuple[LinkedCell, ...]]:
    """Yield a row for each run that measured any of the metrics, the newest first."""
    by_run = [{night.run.id: (night, series) for night, series in nights} for nights in metrics]
    heads = {night.run.id: night.run for nights in metrics for night, _ in nights}
    order = sorted(heads.values(), key=lambda head: (head.started_at, head.id), reverse=True)
    for head in order:
        cells = [count(head.id, f"../{run_file(head.id)}"), LinkedCell(day(head))]
        there = [nights.get(head.id) for nights in by_run]
        for found in there:
            if found is None:
                cells += [number(None, ""), number(None, "")]
            else:
                night, series = found
                cells += [
                    quantity(night.median, series.unit),
                    interval(night.interval, series.unit),
                ]
        most = max((series for _, series in filter(None, there)), key=lambda one: len(one.values))
        yield (*cells, replications(most))
