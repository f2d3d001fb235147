"""A case's page: what it is and where it is measured; its script draws its nights from the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.plan.case_names import CaseNames, NamedCase, parameter_texts
from railgauge.plan.cases import Case
from railgauge.report.site.site_pages import CaseJob
from railgauge.report.verdicts.history.history_words import earlier_names
from railgauge.store import Store

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class PlanTest:
    """A test of a plan that measures the case, under all names that it had.

    `earlier` says what it was called before, empty where it had no other name.
    """

    title: str
    earlier: str
    plan: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CaseHistoryPage:
    """One page; `parameters` are (name, text)."""

    key: str
    title: str
    lead: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    places: tuple[PlanTest, ...]


class CasePages:
    """Makes pages of cases, one after the other; what several need is read once.

    `names` are those of each plan's cases.
    """

    def __init__(self, store: Store, catalogue: Catalogue, names: Mapping[str, CaseNames]) -> None:
        self._catalogue, self._names = catalogue, names
        self._cases = store.all_cases()

    def page(self, job: CaseJob) -> CaseHistoryPage:
        """Return the page of a case."""
        case = self._cases[job.key]
        first = job.places[0]
        return CaseHistoryPage(
            key=case.key,
            title=self._names[first.plan].with_test(NamedCase(first.tests[0], case)),
            lead=tuple(_lead(case, job)),
            parameters=tuple(parameter_texts(case, self._catalogue)),
            places=tuple(
                PlanTest(
                    f"{visible(place.tests[0])}, plan {visible(place.plan)}",
                    earlier_names(place.earlier),
                    place.plan,
                    place.tests,
                )
                for place in job.places
            ),
        )


def _lead(case: Case, job: CaseJob) -> Iterator[str]:
    where = f"on {case.client}"
    if case.server is not None:
        where = f"from {case.client} to {case.server}"
    elif case.members:
        where = f"on the {plural(len(case.members), 'host')} of group {case.link}"
    yield f"Engine {visible(case.engine)} {visible(where)}."
    options = " --plan … --test …" if len(job.places) > 1 else ""
    yield (
        f"railgauge history {visible(case.key)}{options} says more in a terminal: all that changed"
        " around a change of level. Every replication is in what railgauge export csv writes."
    )
