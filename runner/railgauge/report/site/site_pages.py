"""The pages of a site: what each shows, and the digest of all that it is made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from railgauge.compare.case_history import NIGHTS, last_of_each_plan
from railgauge.compare.select import Selection
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.pages.case.case_pages import MOST_PAGES
from railgauge.report.site.baseline_choice import Against
from railgauge.report.site.folder import CASES, CHANGES, LOGS, RUNS
from railgauge.report.site.mark import fingerprint
from railgauge.store import Store
from railgauge.store.digest import CaseName, Digests
from railgauge.store.heads import RunHead

_KEY = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class RunJob:
    """The page of a run, compared with `against`, with those of its cases that have a log page."""

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
class ListedCase:
    """A case as the index lists it: where its page is, where it is measured, by which runs."""

    name: str
    key: str
    places: tuple[tuple[str, str], ...]
    runs: int
    last: int


@dataclass(frozen=True)
class SitePages:
    """All pages but the index, and what the index is made of.

    `newest` are the runs it begins with, one of each plan, and what each is compared with;
    `newest_fingerprint` is the digest of what these are made of.
    """

    jobs: Sequence[Job]
    heads: Sequence[RunHead]
    newest: Mapping[int, Selection | None]
    cases: Sequence[ListedCase]
    newest_fingerprint: str


def plan_site(store: Store, maker: str, baseline: str | None, logs: int) -> SitePages:
    """Return the pages that a site of all runs has.

    `maker` is what makes them (`made_by`); of each plan the newest `logs` runs have log pages.
    InputError for a baseline that isn't there.
    """
    heads = store.run_heads()
    # Before anything is read for the pages: what comes meanwhile makes them anew next time.
    run_digests = store.digests(headlines())
    heads = [head for head in heads if head.id in run_digests.settings]
    against = Against(heads, run_digests.measured, store.baselines(), baseline, run_digests.over)
    return _Planner(store, maker, heads, run_digests, against, logs).site()


def case_file(key: str) -> str:
    """Return the name of a case's page: its key, or in a file of somebody else's, its digest."""
    return f"{CASES}/{_key_name(key)}.html"


def run_file(run: int) -> str:
    """Return the name of a run's page."""
    return f"{RUNS}/{run}.html"


def log_file(run: int, test: str, key: str) -> str:
    """Return the name of the page of a case's logs; a test's name may be anything."""
    return f"{LOGS}/{log_stem(run, test, key)}.html"


def log_stem(run: int, test: str, key: str) -> str:
    """Return how the names of the files of a log page begin."""
    return f"run{run}-{_short_digest(test)[:8]}-{_key_name(key)}"


def _key_name(key: str) -> str:
    return key if _KEY.fullmatch(key) else _short_digest(key)


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Planner:
    """Plans which pages there are and what each shows."""

    def __init__(
        self,
        store: Store,
        maker: str,
        heads: Sequence[RunHead],
        run_digests: Digests,
        against: Against,
        logs: int,
    ) -> None:
        self._store, self._maker, self._heads = store, maker, heads
        self._settings, self._cases = run_digests.settings, run_digests.cases
        self._certificates = run_digests.certificates
        self._against = {head.id: against.of(head) for head in heads}
        self._newest = against.newest
        measured = [head for head in heads if head.id in run_digests.measured]
        runs = [head.id for head in last_of_each_plan(measured, logs)] if logs else []
        self._logged = {run: tuple(store.logged_cases(run, MOST_PAGES)) for run in runs}
        self._logs = {run: store.log_digest(run) for run, names in self._logged.items() if names}
        self._run_inputs = {
            run: fingerprint(settings, tuple(run_digests.cases.get(run, {}).items()))
            for run, settings in run_digests.settings.items()
        }

    def site(self) -> SitePages:
        cases = list(self._listed())
        newest = {run: self._against[run] for run in self._newest}
        inputs = [(self._run_inputs[run], self._side_inputs(side)) for run, side in newest.items()]
        jobs: list[Job] = [self._changes(), *self._case_jobs(cases), *self._log_jobs()]
        jobs += self._run_jobs()
        return SitePages(jobs, self._heads, newest, cases, fingerprint(self._maker, inputs))

    def _run_jobs(self) -> Iterator[RunJob]:
        for head in self._heads:
            side, logged = self._against[head.id], self._logged.get(head.id, ())
            certificates = self._certificates.get(head.id, ())
            inputs = (head, self._run_inputs[head.id], self._side_inputs(side), logged)
            digest = fingerprint("run", self._maker, inputs, certificates)
            yield RunJob(run_file(head.id), digest, head.id, side, logged)

    def _side_inputs(self, side: Selection | None) -> object:
        return side and (side.title, [self._run_inputs[run] for run in side.runs])

    def _case_jobs(self, cases: Sequence[ListedCase]) -> Iterator[CaseJob]:
        nights: dict[str, list[tuple[RunHead, str]]] = {}
        for head in self._heads:
            nights.setdefault(head.plan, []).append((head, self._settings[head.id]))
        # A case's page also has the number of runs without the case.
        plan_digests = {plan: fingerprint(runs) for plan, runs in nights.items()}
        logged: dict[str, list[tuple[int, str]]] = {}
        for run, names in self._logged.items():
            for test, key in names:
                logged.setdefault(key, []).append((run, test))
        case_digests: dict[str, list[str]] = {}
        for head in self._heads:
            for (test, key), digest in self._cases.get(head.id, {}).items():
                case_digests.setdefault(key, []).append(f"{head.id} {test} {digest}")
        for case in cases:
            pages = tuple(logged.get(case.key, ()))
            plans = [plan_digests[plan] for plan in dict.fromkeys(plan for plan, _ in case.places)]
            inputs = (case.key, case.places, plans, case_digests[case.key], pages)
            page_digest = fingerprint("case", self._maker, inputs)
            yield CaseJob(case.name, page_digest, case.key, case.places, pages)

    def _log_jobs(self) -> Iterator[LogJob]:
        for run, names in self._logged.items():
            for test, key in names:
                inputs = (self._settings[run], self._cases[run][test, key], self._logs[run])
                digest = fingerprint("log", self._maker, run, test, key, inputs)
                yield LogJob(log_file(run, test, key), digest, run, test, key, MOST_PAGES)

    def _changes(self) -> ChangesJob:
        last = last_of_each_plan(self._heads, NIGHTS)
        inputs = [(head, self._run_inputs[head.id]) for head in last]
        return ChangesJob(CHANGES, fingerprint("changes", self._maker, inputs))

    def _listed(self) -> Iterator[ListedCase]:
        """Yield the cases, those of the newest run first, in its plan's order."""
        places: dict[str, dict[tuple[str, str], None]] = {}
        runs: dict[str, list[int]] = {}
        for head in reversed(self._heads):
            for test, key in self._cases.get(head.id, {}):
                places.setdefault(key, {})[head.plan, test] = None
                runs.setdefault(key, []).append(head.id)
        for key, ids in runs.items():
            yield ListedCase(case_file(key), key, tuple(places[key]), len(set(ids)), ids[0])
