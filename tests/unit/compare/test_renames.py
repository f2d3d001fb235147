"""Which names of tests stand for one case, after which renames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.store_samples import LAUNCH, RUN
from tests.support.verdict_samples import lane, noisy, verdict

from railgauge.compare.renames import EarlierName, Rename, Renames
from railgauge.plan.partial import only_texts
from railgauge.store import Store
from railgauge.store.records import CaseTest, MetricInfo, Outcome, PlannedCase

KEY = lane(1).key


def renames(nights: Sequence[str], partial: Sequence[int] = ()) -> Renames:
    """Return the renames of one key that runs had in these tests, a letter each."""
    rows = [
        CaseTest(run, test, run in partial) for run, tests in enumerate(nights, 1) for test in tests
    ]
    return Renames({KEY: rows})


@pytest.mark.parametrize(
    ("nights", "same"),
    [
        ("AAB", ["AB"]),
        ("ABC", ["ABC"]),
        ("ABA", ["AB"]),
        # Side by side they are two, whenever that was and whatever they were called alone.
        (["AB", "A"], ["A", "B"]),
        (["A", "AB", "B"], ["A", "B"]),
        (["A", "B", "AB"], ["A", "B"]),
        (["AB", "A", "B"], ["A", "B"]),
        (["A", "B", "C", "AC"], ["A", "B", "C"]),
        # Which of two got the new name, or which of two has it now, nobody knows.
        (["AB", "C"], ["A", "B", "C"]),
        (["A", "BC"], ["A", "B", "C"]),
        (["AB", "AC"], ["A", "B", "C"]),
        # What came later beside it leaves a rename as it was.
        (["A", "B", "BC", "C", "D"], ["AB", "CD"]),
    ],
)
def test_what_ran_side_by_side_is_never_one_case(nights: Sequence[str], same: list[str]):
    aliases = renames(nights)
    assert {aliases.same((test, KEY)) for night in nights for test in night} == {
        frozenset(group) for group in same
    }
    for tests in nights:
        assert len({aliases.last((test, KEY)) for test in tests}) == len(tests)


def test_a_run_of_some_cases_does_not_say_that_a_test_is_gone():
    nights = ["AB", "A", "C"]
    assert renames(nights).same(("C", KEY)) == {"A", "C"}
    assert renames(nights, partial=[2]).same(("C", KEY)) == {"C"}


def test_a_case_has_in_each_run_the_name_that_it_had_there():
    aliases = renames("AAB")
    assert aliases.last(("A", KEY)) == ("B", KEY)
    assert [aliases.in_run(run, ("B", KEY))[0] for run in (1, 2, 3)] == ["A", "A", "B"]
    assert aliases.in_run(1, ("B", "other")) == ("B", "other")


def test_each_earlier_name_is_told_with_its_last_run():
    aliases = renames("AABBA")
    assert aliases.earlier(("A", KEY), range(1, 6)) == (EarlierName("A", 2), EarlierName("B", 4))
    assert aliases.earlier(("A", KEY), range(3, 6)) == (EarlierName("B", 4),)
    assert aliases.earlier(("A", KEY), [5]) == ()
    assert aliases.between([("A", KEY)], {4, 5}) == (Rename("B", "A", 4, 1),)
    assert aliases.between([("A", KEY)], {1, 3}) == (Rename("A", "B", 2, 1),)
    assert aliases.between([("A", KEY)], {1, 5}) == ()


def add(database: Path, *tests: str, lanes: Sequence[int] = (1,), only: bool = False) -> int:
    """Store a run whose tests, each, measured these lanes; or `only` those, to confirm them."""
    planned = [PlannedCase(test, lane(number), 3) for test in tests for number in lanes]
    names = {(planned_case.test, planned_case.case.key) for planned_case in planned}
    new = replace(RUN, files=only_texts(names)) if only else RUN
    with Store.open(str(database)) as store:
        run = store.begin_run(new, planned, {"udp": {"throughput": MetricInfo("bit/s", "higher")}})
        with store.together():
            for planned_case in planned:
                for number, value in enumerate(noisy(n=3, seed=run), 1):
                    outcome = Outcome(number, 1.0, {"throughput": value})
                    store.add(run, planned_case.test, planned_case.case.key, outcome, LAUNCH)
        store.finish_run(run, "complete")
    return run


def sizes(database: Path, first: Sequence[int], second: Sequence[int]) -> dict[str, list[int]]:
    compared = verdict(database, first, second).comparison
    return {result.test: [side.n for side in result.sides] for result in compared.results}


def test_a_baseline_from_before_two_renames_is_the_same_cases(database: Path):
    for test in ("first", "first", "second", "third"):
        add(database, test)
    assert sizes(database, (1, 2), (4,)) == {"third": [6, 3]}
    assert verdict(database, (1, 2), (4,)).comparison.renamed == (Rename("first", "third", 2, 1),)


def test_tests_that_some_other_run_had_side_by_side_are_not_compared(database: Path):
    for tests in (("idle",), ("idle", "busy"), ("busy",)):
        add(database, *tests)
    assert sizes(database, (1,), (3,)) == {}
    compared = verdict(database, (1,), (3,)).comparison
    assert [[planned_case.test for planned_case in only] for only in compared.cases_only] == [
        ["idle"],
        ["busy"],
    ]


def test_a_test_that_was_split_keeps_its_cases_in_both_halves(database: Path):
    add(database, "all", lanes=(1, 2))
    with Store.open(str(database)) as store:
        planned = [PlannedCase("all", lane(1), 3), PlannedCase("half", lane(2), 3)]
        info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
        run = store.begin_run(RUN, planned, info)
        for planned_case in planned:
            store.add(
                run,
                planned_case.test,
                planned_case.case.key,
                Outcome(1, 1.0, {"throughput": 1e9}),
                LAUNCH,
            )
    assert sizes(database, (1,), (2,)) == {"all": [3, 1], "half": [3, 1]}
    assert verdict(database).comparison.renamed == (Rename("all", "half", 1, 1),)


def test_what_is_measured_once_more_is_found_under_an_earlier_name(database: Path):
    add(database, "old")
    add(database, "new")
    add(database, "new", only=True)
    assert sizes(database, (1,), (3,)) == {"new": [3, 3]}
    assert sizes(database, (1,), (2, 3)) == {"new": [3, 6]}


def test_of_another_plan_a_case_is_the_same_under_another_name(database: Path):
    add(database, "old")
    with Store.open(str(database)) as store:
        info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
        other = replace(RUN, plan="other")
        run = store.begin_run(other, [PlannedCase("new", lane(1), 3)], info)
        store.add(run, "new", KEY, Outcome(1, 1.0, {"throughput": 1e9}), LAUNCH)
    assert sizes(database, (1,), (2,)) == {"new": [3, 1]}
