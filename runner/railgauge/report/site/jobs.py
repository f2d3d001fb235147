"""The pages of a site: what each is to show, and the digest of all that it will be made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from railgauge.compare.history import NIGHTS, last_of_each_plan
from railgauge.compare.select import Selection
from railgauge.plan.catalogue.headlines import HEADLINES
from railgauge.report.pages.case.collect import MOST_PAGES
from railgauge.report.site.against import Against
from railgauge.report.site.folder import CASES, CHANGES, LOGS, RUNS
from railgauge.report.site.mark import fingerprint
from railgauge.store import Store
from railgauge.store.digest import CaseName, Digests
from railgauge.store.heads import RunHead

_KEY = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class RunJob:
    """The page of a run, held `against` others, with those of its cases that have a log page."""

    name: str
    fingerprint: str
    run: int
    against: Selection | None
    logged: tuple[CaseName, ...]


@dataclass(frozen=True, slots=True)
class CaseJob:
    """The page of a case in all its plans' runs; `places` are the (plan, test) it is measured in.

    `logged` are the (run, test) of its log pages.
    """

    name: str
    fingerprint: str
    key: str
    places: tuple[tuple[str, str], ...]
    logged: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class LogJob:
    """The page with the system logs of a case of a run, one of `most` of that run."""

    name: str
    fingerprint: str
    run: int
    test: str
    key: str
    most: int


@dataclass(frozen=True, slots=True)
class ChangesJob:
    """The page of all cases that changed in the last nights."""

    name: str
    fingerprint: str


Job = RunJob | CaseJob | LogJob | ChangesJob


@dataclass(frozen=True, slots=True)
class Listed:
    """A case as the index lists it: where its page is, where it is measured, by which runs."""

    name: str
    key: str
    places: tuple[tuple[str, str], ...]
    runs: int
    last: int


@dataclass(frozen=True)
class SitePages:
    """All pages but the index, and what the index is made of.

    `newest` are the runs it begins with, one of each plan, each held `against` others; `seen` is
    what these are made of.
    """

    jobs: Sequence[Job]
    heads: Sequence[RunHead]
    newest: Sequence[int]
    against: Mapping[int, Selection | None]
    cases: Sequence[Listed]
    seen: str


def plan_site(store: Store, maker: str, baseline: str | None, logs: int) -> SitePages:
    """Return the pages that a site of all runs has.

    `maker` is what makes them (`made_by`); of each plan the newest `logs` runs have log pages.
    InputError for a baseline that isn't there.
    """
    heads = store.run_heads()
    # Before anything is read for the pages: what comes meanwhile makes them anew next time.
    found = store.digests(HEADLINES)
    heads = [head for head in heads if head.id in found.settings]
    against = Against(heads, found.measured, store.baselines(), baseline, found.over)
    return _Planner(store, maker, heads, found, against, logs).site()


def case_file(key: str) -> str:
    """Return the name of a case's page: its key, or in a file of somebody else's, its digest."""
    return f"{CASES}/{_plain(key)}.html"


def run_file(run: int) -> str:
    """Return the name of a run's page."""
    return f"{RUNS}/{run}.html"


def log_file(run: int, test: str, key: str) -> str:
    """Return the name of the page of a case's logs; a test's name may be anything."""
    return f"{LOGS}/{log_stem(run, test, key)}.html"


def log_stem(run: int, test: str, key: str) -> str:
    """Return how the names of the files of a log page begin."""
    return f"run{run}-{_short(test)[:8]}-{_plain(key)}"


def _plain(key: str) -> str:
    return key if _KEY.fullmatch(key) else _short(key)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Planner:
    """Says of each page what it shows."""

    def __init__(
        self,
        store: Store,
        maker: str,
        heads: Sequence[RunHead],
        found: Digests,
        against: Against,
        logs: int,
    ) -> None:
        self._store, self._maker, self._heads = store, maker, heads
        self._settings, self._cases = found.settings, found.cases
        self._chosen = {head.id: against.of(head) for head in heads}
        self._newest = against.newest
        measured = [head for head in heads if head.id in found.measured]
        runs = [head.id for head in last_of_each_plan(measured, logs)] if logs else []
        self._logged = {run: tuple(store.logged_cases(run, MOST_PAGES)) for run in runs}
        self._logs = {run: store.log_digest(run) for run, those in self._logged.items() if those}
        self._whole = {
            run: fingerprint(told, tuple(found.cases.get(run, {}).items()))
            for run, told in found.settings.items()
        }

    def site(self) -> SitePages:
        cases = list(self._listed())
        newest = {run: self._chosen[run] for run in self._newest}
        seen = [(self._whole[run], self._of_side(side)) for run, side in newest.items()]
        jobs: list[Job] = [self._changes()]
        jobs += self._case_jobs(cases)
        jobs += self._log_jobs()
        jobs += self._run_jobs()
        return SitePages(
            jobs, self._heads, self._newest, newest, cases, fingerprint(self._maker, seen)
        )

    def _run_jobs(self) -> Iterator[RunJob]:
        for head in self._heads:
            side, logged = self._chosen[head.id], self._logged.get(head.id, ())
            of = (head, self._whole[head.id], self._of_side(side), logged)
            made_of = fingerprint("run", self._maker, of)
            yield RunJob(run_file(head.id), made_of, head.id, side, logged)

    def _of_side(self, side: Selection | None) -> object:
        return side and (side.title, [self._whole[run] for run in side.runs])

    def _case_jobs(self, cases: Sequence[Listed]) -> Iterator[CaseJob]:
        nights: dict[str, list[tuple[RunHead, str]]] = {}
        for head in self._heads:
            nights.setdefault(head.plan, []).append((head, self._settings[head.id]))
        # Of the runs without the case it is said how many there are.
        of_plan = {plan: fingerprint(those) for plan, those in nights.items()}
        logged: dict[str, list[tuple[int, str]]] = {}
        for run, those in self._logged.items():
            for test, key in those:
                logged.setdefault(key, []).append((run, test))
        of_case: dict[str, list[str]] = {}
        for head in self._heads:
            for (test, key), told in self._cases.get(head.id, {}).items():
                of_case.setdefault(key, []).append(f"{head.id} {test} {told}")
        for case in cases:
            pages = tuple(logged.get(case.key, ()))
            plans = [of_plan[plan] for plan in dict.fromkeys(plan for plan, _ in case.places)]
            of = (case.key, case.places, plans, of_case[case.key], pages)
            made_of = fingerprint("case", self._maker, of)
            yield CaseJob(case.name, made_of, case.key, case.places, pages)

    def _log_jobs(self) -> Iterator[LogJob]:
        for run, those in self._logged.items():
            for test, key in those:
                told = (self._settings[run], self._cases[run][test, key], self._logs[run])
                made_of = fingerprint("log", self._maker, run, test, key, told)
                yield LogJob(log_file(run, test, key), made_of, run, test, key, MOST_PAGES)

    def _changes(self) -> ChangesJob:
        last = last_of_each_plan(self._heads, NIGHTS)
        made_of = [(head, self._whole[head.id]) for head in last]
        return ChangesJob(CHANGES, fingerprint("changes", self._maker, made_of))

    def _listed(self) -> Iterator[Listed]:
        """Yield the cases, those of the newest run first, in its plan's order."""
        plans = {head.id: head.plan for head in self._heads}
        places: dict[str, dict[tuple[str, str], None]] = {}
        runs: dict[str, list[int]] = {}
        for head in reversed(self._heads):
            for test, key in self._cases.get(head.id, {}):
                places.setdefault(key, {})[plans[head.id], test] = None
                runs.setdefault(key, []).append(head.id)
        for key, those in places.items():
            yield Listed(case_file(key), key, tuple(those), len(set(runs[key])), runs[key][0])
