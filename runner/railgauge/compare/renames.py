"""Which names of tests stand for one case: a renamed test keeps its history.

A case of a plan is its key; a test's name only distinguishes cases that share a key within a run.
Where a run has a key in one test alone, and the next run that has it in one test of another name
alone, that test was renamed. Names that any run had side by side are never one case: where renames
would join such names, all that they join stay cases of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import attrgetter

from railgauge.store import Store
from railgauge.store.records import CaseTest

# Test and case key.
CaseName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class EarlierName:
    """A name that the test of a case had, and the last run in which it had it."""

    test: str
    until: int


@dataclass(frozen=True, slots=True)
class Rename:
    """A test that was called `before` until a run; so many of its `cases` go on under its name."""

    before: str
    test: str
    until: int
    cases: int


class Renames:
    """What became of the names of cases that more than one test had in some runs.

    `tests` has by case key in which tests the runs had it, oldest first. A case whose key isn't
    there has one name, whatever the run.
    """

    def __init__(self, tests: Mapping[str, Sequence[CaseTest]] | None = None) -> None:
        self._tests = tests or {}

    def __bool__(self) -> bool:
        """Return whether any case had more than one name."""
        return bool(self._tests)

    @property
    def newest(self) -> frozenset[CaseName]:
        """The newest names of these cases."""
        return frozenset(self._last.values())

    def same(self, name: CaseName) -> frozenset[str]:
        """Return the names of the test that had this case, whichever it has in `name`."""
        test, key = name
        return self._same.get(key, {}).get(test, frozenset([test]))

    def last(self, name: CaseName) -> CaseName:
        """Return the case's newest name, which stands for all that it ever had."""
        return self._last.get(name, name) if self._tests else name

    def in_run(self, run: int, name: CaseName) -> CaseName:
        """Return the name that the case has in a run, if it has it there."""
        return self._in_run.get((run, self.last(name)), name) if self._tests else name

    def earlier(self, name: CaseName, runs: Collection[int]) -> tuple[EarlierName, ...]:
        """Return the names that the case had before its last one in these runs, oldest first."""
        rows = [row for row in self._rows(name) if row.run in runs]
        spans = [list(span) for _, span in groupby(rows, attrgetter("test"))]
        return tuple(EarlierName(span[-1].test, span[-1].run) for span in spans[:-1])

    def between(self, names: Iterable[CaseName], runs: Collection[int]) -> tuple[Rename, ...]:
        """Return the tests that had another name in some of these runs than in their last."""
        until: dict[tuple[str, str], list[int]] = {}
        for name in names if self else ():
            for earlier, test in self._other_names(name, runs):
                until.setdefault((earlier.test, test), []).append(earlier.until)
        return tuple(
            Rename(before, test, max(last_runs), len(last_runs))
            for (before, test), last_runs in until.items()
        )

    def _other_names(
        self, name: CaseName, runs: Collection[int]
    ) -> Iterator[tuple[EarlierName, str]]:
        """Yield the names that a case had in some of the runs, each with the last one there."""
        rows = self._rows(name)
        places = [place for place, row in enumerate(rows) if row.run in runs]
        if not places:
            return
        last = rows[places[-1]].test
        until = {row.test: row.run for row in rows[: places[-1]]}
        for test in dict.fromkeys(rows[place].test for place in places):
            if test != last:
                yield EarlierName(test, until[test]), last

    def _rows(self, name: CaseName) -> list[CaseTest]:
        same = self.same(name)
        return [row for row in self._tests.get(name[1], ()) if row.test in same]

    @cached_property
    def _same(self) -> dict[str, dict[str, frozenset[str]]]:
        return {key: _same_case(rows) for key, rows in self._tests.items()}

    @cached_property
    def _last(self) -> dict[CaseName, CaseName]:
        last: dict[CaseName, CaseName] = {}
        for key, rows in self._tests.items():
            newest = {self._same[key][row.test]: row.test for row in rows}
            last |= {(test, key): (newest[same], key) for test, same in self._same[key].items()}
        return last

    @cached_property
    def _in_run(self) -> dict[tuple[int, CaseName], CaseName]:
        return {
            (row.run, self._last[row.test, key]): (row.test, key)
            for key, rows in self._tests.items()
            for row in rows
        }


def find_renames(store: Store, plans: Iterable[str], names: Iterable[CaseName]) -> Renames:
    """Return the renames behind these names of cases: of those keys that several tests have.

    All runs of the plans count.
    """
    keys = Counter(key for _, key in set(names))
    shared_keys = [key for key, tests in keys.items() if tests > 1]
    return Renames(store.case_tests(plans, shared_keys)) if shared_keys else Renames()


def _same_case(rows: Sequence[CaseTest]) -> dict[str, frozenset[str]]:
    """Return, for each test that had a case of this key, all names of the same case."""
    same = {row.test: frozenset([row.test]) for row in rows}
    by_run: dict[int, set[str]] = {}
    for row in rows:
        by_run.setdefault(row.run, set()).add(row.test)
    # What a partial run lacks may be in its plan all the same.
    partial = {row.run for row in rows if row.partial}
    whole = [tests for run, tests in by_run.items() if run not in partial]
    for before, after in pairwise(whole):
        if len(before) == len(after) == 1:
            joined = frozenset().union(*(same[test] for test in before | after))
            same |= dict.fromkeys(joined, joined)
    for tests in by_run.values():
        groups = [same[test] for test in tests]
        for group in groups:
            if groups.count(group) > 1:
                same |= {test: frozenset([test]) for test in group}
    return same
