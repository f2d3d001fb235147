"""The pages of a site: what each shows, and the digest of all that it is made of."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from railgauge.compare.case_history import NIGHTS, last_of_each_plan
from railgauge.compare.earlier_runs import EARLIER_RUNS
from railgauge.compare.renames import EarlierName, Renames
from railgauge.compare.select import Selection
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue.headlines import shown_or_judged
from railgauge.report.pages.case.paged_cases import paged_cases
from railgauge.report.site.baseline_choice import Against
from railgauge.report.site.folder import CASES, DATA, LOGS, RUNS
from railgauge.report.site.mark import fingerprint
from railgauge.stats.two_groups import LEAST_VALUES
from railgauge.store import Store
from railgauge.store.digest import CaseName, Digests
from railgauge.store.heads import RunHead
from railgauge.store.records import CaseTest

_KEY = re.compile("[0-9a-f]{16}")
# The page of a case loads a hundred runs: with the data of 2,000 cases each they are 95 MB.
MOST_UNDIVIDED = 200


@dataclass(frozen=True, slots=True)
class RunJob:
    """The page of a run, and its data.

    It is compared with `against`; `before` is its plan's run before it. `logged` are those of its
    cases that have a log page. For the pages of many cases its data is there in `parts`, too.
    """

    name: str
    fingerprint: str
    head: RunHead
    against: Selection | None
    before: RunHead | None
    logged: tuple[CaseName, ...]
    parts: int = 0

    @property
    def run(self) -> int:
        """The run's number."""
        return self.head.id


@dataclass(frozen=True, slots=True)
class CasePlace:
    """A plan and the test that has a case there.

    `tests` are all names that the test had, the newest first, `earlier` those before the newest.
    """

    plan: str
    tests: tuple[str, ...]
    earlier: tuple[EarlierName, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseJob:
    """The page of a case in all its plans' runs; `places` are where it is measured."""

    name: str
    fingerprint: str
    key: str
    places: tuple[CasePlace, ...]


@dataclass(frozen=True, slots=True)
class LogJob:
    """The page with the system logs of a case of a run."""

    name: str
    fingerprint: str
    run: int
    test: str
    key: str


Job = RunJob | CaseJob | LogJob


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case as the index lists it: where its page is, where it is measured, by which runs."""

    name: str
    key: str
    places: tuple[CasePlace, ...]
    runs: int
    last: int


@dataclass(frozen=True)
class SitePages:
    """All pages but the index, and what the index is made of.

    `newest` are the runs it begins with, one of each plan; `last` those whose nights it shows,
    oldest first, and `fingerprint` is the digest of what these are made of.
    """

    jobs: Sequence[Job]
    heads: Sequence[RunHead]
    newest: Sequence[int]
    last: Sequence[RunHead]
    cases: Sequence[ListedCase]
    fingerprint: str


def plan_site(store: Store, maker: str, baseline: str | None, logs: int) -> SitePages:
    """Return the pages that a site of all runs has.

    `maker` is what makes them (`made_by`); of each plan the newest `logs` runs have log pages.
    InputError for a baseline that isn't there.
    """
    heads = store.run_heads()
    # Before anything is read for the pages: what comes meanwhile makes them anew next time.
    run_digests = store.digests(shown_or_judged())
    heads = [head for head in heads if head.id in run_digests.settings]
    against = Against(heads, run_digests.measured, store.baselines(), baseline, run_digests.over)
    return _Planner(store, maker, heads, run_digests, against, logs).site()


def case_file(key: str) -> str:
    """Return the name of a case's page: its key, or in a file of somebody else's, its digest."""
    return f"{CASES}/{_key_name(key)}.html"


def run_file(run: int) -> str:
    """Return the name of a run's page."""
    return f"{RUNS}/{run}.html"


def data_file(run: int) -> str:
    """Return the name of the file with a run's data."""
    return f"{DATA}/{run}.js"


def part_file(run: int, part: int) -> str:
    """Return the name of the file with the data of a part of a run's cases."""
    return f"{DATA}/{run}-{part}.js"


def _parts(cases: int) -> int:
    return ceil(cases / MOST_UNDIVIDED) if cases > MOST_UNDIVIDED else 0


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
        self._renames = _renames_by_plan(heads, run_digests.cases)
        whole = {head.id for head in heads if not head.partial}
        # Many pages ask for the same.
        self._earlier = {
            (plan, name): renames.earlier(name, whole)
            for plan, renames in self._renames.items()
            for name in renames.newest
        }
        self._against = {head.id: against.of(head) for head in heads}
        self._newest = against.newest
        # Pages name a plan's cases by these.
        self._axes = {
            plan: CaseNames(of_plan, None).axes for plan, of_plan in store.plan_cases().items()
        }
        measured = [head for head in heads if head.id in run_digests.measured]
        runs = [head.id for head in last_of_each_plan(measured, logs)] if logs else []
        self._logged = {run: tuple(paged_cases(store, [run])[0][run]) for run in runs}
        self._logs = {run: store.log_digest(run) for run, names in self._logged.items() if names}
        self._measured = {
            run: fingerprint(tuple(run_digests.cases.get(run, {}).items()))
            for run in run_digests.settings
        }
        # Beside what got slower stands what was counted, until it is thinned.
        counted = set(store.logged_runs(run_digests.settings))
        self._run_inputs = {
            run: fingerprint(settings, self._measured[run], run in counted)
            for run, settings in run_digests.settings.items()
        }

    def site(self) -> SitePages:
        cases = list(self._listed())
        runs = list(self._run_jobs())
        last = last_of_each_plan(self._heads, NIGHTS)
        # What is compared with may be older.
        runs_shown = {head.id for head in last}
        for run in self._newest:
            side = self._against[run]
            runs_shown |= {run, *(side.runs if side else ())}
        inputs = [job.fingerprint for job in runs if job.run in runs_shown]
        jobs: list[Job] = [*self._case_jobs(cases), *self._log_jobs(), *runs]
        digest = fingerprint(self._maker, self._heads, inputs, self._axes)
        return SitePages(jobs, self._heads, self._newest, last, cases, digest)

    def _run_jobs(self) -> Iterator[RunJob]:
        last: dict[str, RunHead] = {}
        # What a verdict knows of the levels between which cases flip.
        earlier: dict[str, deque[str]] = {}
        for head in self._heads:
            levels = earlier.setdefault(head.plan, deque(maxlen=EARLIER_RUNS))
            side, logged = self._against[head.id], self._logged.get(head.id, ())
            certificates = self._certificates.get(head.id, ())
            before = last.get(head.plan)
            settings = before and self._settings[before.id]
            is_judged = side is not None and len(levels) >= LEAST_VALUES
            compared = (self._compared(head), [*levels] if is_judged else ())
            made_of = (compared, before, settings, logged, self._axes.get(head.plan))
            digest = fingerprint("run", self._maker, head, made_of, certificates)
            parts = _parts(len(self._cases.get(head.id, {})))
            yield RunJob(run_file(head.id), digest, head, side, before, logged, parts)
            if not head.partial:
                last[head.plan] = head
                levels.append(self._measured[head.id])

    def _compared(self, head: RunHead) -> object:
        """Return what a run's verdict is made of."""
        side = self._against[head.id]
        inputs = side and (side.title, [self._run_inputs[run] for run in side.runs])
        runs = [*(side.runs if side else ()), head.id]
        return self._run_inputs[head.id], inputs, self._renamed(head.plan, runs)

    def _renamed(self, plan: str, runs: Sequence[int]) -> object:
        """Return which of the names that a case has in these runs stand for others."""
        renames = self._renames[plan]
        if not renames:
            return ()
        names = dict.fromkeys(name for run in runs for name in self._cases.get(run, {}))
        keys = Counter(key for _, key in names)
        last = {name: renames.last(name) for name in names if keys[name[1]] > 1}
        return [
            (name, newest, self._earlier.get((plan, newest), ())) for name, newest in last.items()
        ]

    def _case_jobs(self, cases: Sequence[ListedCase]) -> Iterator[CaseJob]:
        """Yield the pages of the cases, which have no night: their scripts load the runs' data."""
        for case in cases:
            inputs = (case.key, case.places, [self._axes[place.plan] for place in case.places])
            yield CaseJob(
                case.name, fingerprint("case", self._maker, inputs), case.key, case.places
            )

    def _log_jobs(self) -> Iterator[LogJob]:
        for run, names in self._logged.items():
            for test, key in names:
                inputs = (self._settings[run], self._cases[run][test, key], self._logs[run])
                digest = fingerprint("log", self._maker, run, test, key, inputs)
                yield LogJob(log_file(run, test, key), digest, run, test, key)

    def _listed(self) -> Iterator[ListedCase]:
        """Yield the cases, those of the newest run first, in its plan's order."""
        runs: dict[str, list[int]] = {}
        tests: dict[str, dict[str, dict[str, None]]] = {}
        for head in reversed(self._heads):
            for test, key in self._cases.get(head.id, {}):
                tests.setdefault(key, {}).setdefault(head.plan, {})[test] = None
                runs.setdefault(key, []).append(head.id)
        for key, ids in runs.items():
            places = [
                place
                for plan, of_plan in tests[key].items()
                for place in self._places(key, plan, of_plan)
            ]
            yield ListedCase(case_file(key), key, tuple(places), len(set(ids)), ids[0])

    def _places(self, key: str, plan: str, tests: Iterable[str]) -> Iterator[CasePlace]:
        """Yield where a plan has a case whose tests are given, the newest first."""
        cases: dict[CaseName, list[str]] = {}
        for test in tests:
            cases.setdefault(self._renames[plan].last((test, key)), []).append(test)
        for name, same in cases.items():
            yield CasePlace(plan, tuple(same), self._earlier.get((plan, name), ()))


def _renames_by_plan(
    heads: Sequence[RunHead], cases: Mapping[int, Mapping[CaseName, str]]
) -> dict[str, Renames]:
    names: dict[str, set[CaseName]] = {}
    for head in heads:
        names.setdefault(head.plan, set()).update(cases.get(head.id, ()))
    tests: dict[str, dict[str, list[CaseTest]]] = {plan: {} for plan in names}
    for plan, of_plan in names.items():
        keys = Counter(key for _, key in of_plan)
        tests[plan] = {key: [] for key, number in keys.items() if number > 1}
    for head in heads:
        if of_keys := tests[head.plan]:
            for test, key in cases.get(head.id, ()):
                if key in of_keys:
                    of_keys[key].append(CaseTest(head.id, test, head.partial))
    return {plan: Renames(of_keys) for plan, of_keys in tests.items()}
