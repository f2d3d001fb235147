"""Which cases of the reported runs have a page, and their pages, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import file_stem
from railgauge.base.systemlog import PortLog, Suspicion, SystemLog
from railgauge.plan.case_names import CaseNames, parameter_texts
from railgauge.plan.cases import Case
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.pages.case.case_records import CaseRecords
from railgauge.report.pages.case.case_view import CasePage, make_case_page
from railgauge.report.pages.case_settings import case_settings
from railgauge.report.pages.metric_definitions import metric_tables
from railgauge.store.records import StoredRun, StoredTrace

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store import Store

FOLDER = "cases"


@dataclass(frozen=True, slots=True)
class CaseLink:
    """A case that has a page: where it is, and what the report's page shows of it."""

    name: str
    run: int
    test: str
    case: Case
    title: str
    suspect: int

    @property
    def href(self) -> str:
        """Return where the page stands beside the report's."""
        return f"{FOLDER}/{self.name}.html"


def case_links(
    store: Store,
    runs: Sequence[StoredRun],
    catalogue: Catalogue | None,
    cases: Mapping[int, Sequence[tuple[str, str]]],
) -> list[CaseLink]:
    """Return the runs' `cases`, run by run in the plan's order."""
    links: list[CaseLink] = []
    for run in runs:
        paged = set(cases.get(run.id, ()))
        if not paged:
            continue
        suspicions = _suspicions(store, run.id)
        names = CaseNames(run.cases, catalogue)
        links += [
            CaseLink(
                name=f"run{run.id}-{file_stem(planned.test)}-{planned.case.key[:16]}",
                run=run.id,
                test=planned.test,
                case=planned.case,
                title=names.with_test(planned),
                suspect=len(suspicions.get((planned.test, planned.case.key), ())),
            )
            for planned in run.cases
            if (planned.test, planned.case.key) in paged
        ]
    return links


def case_pages(
    store: Store,
    runs: Sequence[StoredRun],
    links: Sequence[CaseLink],
    catalogue: Catalogue | None,
) -> Iterator[CasePage]:
    """Yield the pages of `links`, each made when it is needed."""
    by_id = {run.id: run for run in runs}
    suspicions = {run.id: _suspicions(store, run.id) for run in runs}
    warnings = {run.id: _warnings(store, run.id) for run in runs}
    launches = {run.id: store.launch_settings(run.id) for run in runs}
    series: dict[tuple[int, str, str], list[StoredTrace]] = {}
    for stored in store.interval_series(by_id):
        series.setdefault((stored.run, stored.test, stored.case.key), []).append(stored)
    for link in links:
        replications = store.replications(link.run, link.test, link.case.key)
        measured = {name: None for replication in replications for name in replication.metrics}
        records = CaseRecords(
            run=link.run,
            plan=by_id[link.run].new.plan,
            test=link.test,
            case=link.case,
            replications=replications,
            logs=_logs(store, link),
            suspicions=suspicions[link.run].get((link.test, link.case.key), {}),
            warnings=warnings[link.run].get((link.test, link.case.key), ()),
            ports=_ports(store, link),
            settings=case_settings(launches[link.run].get(link.test), link.case, by_id[link.run]),
            definitions=metric_tables({link.case.engine: measured}, catalogue),
            series={
                stored.replication: store.intervals(stored)
                for stored in series.get((link.run, link.test, link.case.key), ())
            },
        )
        parameters = parameter_texts(link.case, catalogue)
        yield make_case_page(link.name, link.title, records, parameters, headlines())


def _logs(store: Store, link: CaseLink) -> dict[int, list[SystemLog]]:
    logs: dict[int, list[SystemLog]] = {}
    for stored in store.logs(link.run, test=link.test, case_key=link.case.key, series=True):
        if stored.replication is not None:
            logs.setdefault(stored.replication, []).append(stored.log)
    return logs


def _ports(store: Store, link: CaseLink) -> dict[int, list[PortLog]]:
    ports: dict[int, list[PortLog]] = {}
    for stored in store.ports(link.run, test=link.test, case_key=link.case.key):
        ports.setdefault(stored.replication, []).append(stored.port)
    return ports


def _warnings(store: Store, run: int) -> dict[tuple[str, str], list[str]]:
    messages: dict[tuple[str, str], list[str]] = {}
    for warning in store.warnings(run):
        if warning.case is not None:
            number = warning.replication
            suffix = f" (replication {number})" if number is not None else ""
            of_case = messages.setdefault((warning.test, warning.case.key), [])
            of_case.append(warning.message + suffix)
    return messages


def _suspicions(store: Store, run: int) -> dict[tuple[str, str], dict[int, list[Suspicion]]]:
    suspicions: dict[tuple[str, str], dict[int, list[Suspicion]]] = {}
    for stored in store.suspicions(run):
        by_replication = suspicions.setdefault((stored.test, stored.case.key), {})
        by_replication.setdefault(stored.replication, []).append(stored.suspicion)
    return suspicions
