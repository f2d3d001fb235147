"""Which cases are open: when a rule ends one, what a launch of many does, what a resume knows."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.cases import Case, ExpandedTest
from railgauge.plan.catalogue import Value, load_catalogue
from railgauge.plan.model import Test
from railgauge.plan.schedule import Dispatch, Schedule, most_replications
from railgauge.run.stopping import Judge, rules_of
from railgauge.store import Store
from railgauge.store.records import CaseEnd, MetricInfo, NewRun, PlannedCase

CATALOGUE = load_catalogue()
NOW = 1_800_000_000.0
RULE = {"min": 8, "max": 20, "until": "ci95 <= 1%"}
METRICS = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}


def expanded(
    count: int = 1, *, name: str = "t", order: str = "random", **rule: object
) -> ExpandedTest:
    test = Test.model_validate(
        {"name": name, "engine": "udp", "order": order, "replications": {**RULE, **rule}}
    )
    parameters: dict[str, Value] = {"mode": "stream", "duration": 2.0}
    cases = tuple(
        Case(f"{name}{index}", "udp", f"ab{index}", "a", "b", parameters) for index in range(count)
    )
    return ExpandedTest(test, cases)


def pairs(count: int) -> ExpandedTest:
    """Return a test of which one launch measures all pairs."""
    (case,) = expanded().cases
    hosts = tuple(f"h{number}" for number in range(count))
    cases = tuple(
        Case(f"{client}{server}", "udp", "m", client, server, case.parameters, hosts)
        for client in hosts
        for server in hosts
        if client != server
    )
    return ExpandedTest(expanded().test, cases)


def lazy(*tests: ExpandedTest, seed: int = 3, concurrency: int = 1, finished=None) -> Schedule:  # type: ignore[no-untyped-def]
    hosts = {host for test in tests for case in test.cases for host in (case.client, case.server)}
    hosts |= {host for test in tests for case in test.cases for host in case.members}
    machines = {str(host): str(host) for host in hosts}
    return Schedule(tests, machines=machines, concurrency=concurrency, seed=seed, finished=finished)


def outcome(number: int, value: float | None) -> Outcome:
    if value is None:
        return Outcome(number, NOW, {}, "failed", error_code="x", error_message="y")
    return Outcome(number, NOW, {"throughput": value})


def noisy(case: Case, number: int, share: float) -> float:
    return 1e9 * (1 + share * random.Random(f"{case.key}/{number}").gauss(0, 1))


def feed(
    judge: Judge, test: ExpandedTest, values: Iterable[float | None], seconds: float = 1.0
) -> list[CaseEnd | None]:
    """Tell the judge of one case's values, and return what it said to each."""
    return [
        judge.note(test.test.name, test.cases[0], outcome(number, value), NOW + number, seconds)
        for number, value in enumerate(values, 1)
    ]


def test_a_case_that_settles_ends_as_narrow() -> None:
    test = expanded()
    judge = Judge([test], CATALOGUE)
    ends = feed(judge, test, [1e9] * 8)
    assert ends == [None] * 7 + ["narrow"]
    assert (judge.still_open, judge.spared, judge.unsettled()) == (0, 12, [])


def test_a_case_that_never_settles_takes_the_most_and_is_told() -> None:
    test = expanded()
    judge = Judge([test], CATALOGUE)
    ends = feed(judge, test, [1e9, 2e9] * 10)
    assert ends == [None] * 19 + ["most"]
    (entry,) = judge.unsettled()
    assert (entry.case, entry.share, entry.ended, entry.n) == (test.cases[0], 0.01, "most", 20)


def test_failed_replications_count_towards_the_most_and_not_towards_the_interval() -> None:
    test = expanded(max=10)
    judge = Judge([test], CATALOGUE)
    assert feed(judge, test, [None] * 3 + [1e9] * 7) == [None] * 9 + ["most"]
    judge = Judge([test], CATALOGUE)
    assert feed(judge, test, [None] * 2 + [1e9] * 8) == [None] * 9 + ["narrow"]


def test_warm_ups_count_for_nothing_but_their_time() -> None:
    test = expanded(budget="10s")
    judge = Judge([test], CATALOGUE)
    warm = Outcome(0, NOW, {"throughput": 1.0}, warmup=True)
    assert judge.note("t", test.cases[0], warm, NOW, 5.0) is None
    # With its warm-up it took 6 s, and so would the next.
    assert feed(judge, test, [1e9], seconds=1.0) == ["budget"]


def test_a_case_ends_before_its_budget_is_spent() -> None:
    test = expanded(budget="1min")
    judge = Judge([test], CATALOGUE)
    ends = feed(judge, test, [1e9, 2e9] * 6, seconds=5.5)
    assert ends.index("budget") == 9  # An eleventh would have ended after 60.5 s.
    assert judge.unsettled()[0].ended == "budget"


def test_a_case_stays_open_until_its_span_is_over() -> None:
    test = expanded(span="12s")
    ends = feed(Judge([test], CATALOGUE), test, [1e9] * 14)
    assert ends.index("narrow") == 12  # The thirteenth value came 12 s after the first.


def test_blocks_begin_in_equal_parts_of_the_span() -> None:
    test = expanded(2, span="70s")
    judge = Judge([test], CATALOGUE)
    first, second = test.cases
    judge.note("t", first, outcome(1, 1e9), NOW, 1.0)
    judge.note("t", second, outcome(1, 1e9), NOW + 5, 1.0)
    begins = [
        judge.not_before(Dispatch("t", first, (number,)), NOW + 6) - NOW - 5
        for number in (1, 2, 3, 8, 9)
    ]
    assert begins == pytest.approx([0, 10, 20, 70, 70])


def test_the_end_of_a_runs_time_ends_what_has_its_least() -> None:
    test = expanded(2)
    judge = Judge([test], CATALOGUE)
    feed(judge, test, [1e9, 2e9] * 4)
    assert judge.end_all() == {("t", "t0"): "budget"}
    assert judge.still_open == 1
    assert judge.optional == 20 - 8


def run(
    plan: Schedule, judge: Judge, share: dict[str, float], stop_after: int | None = None
) -> Iterator[tuple[str, int, float]]:
    """Measure: yields case, number and value of each replication, in the order of the rounds."""
    count = 0
    for dispatches in plan.rounds(judge.is_open):
        for dispatch in dispatches:
            for case in dispatch.cases:
                (number,) = dispatch.replications
                value = noisy(case, number, share[case.key])
                judge.note(dispatch.test, case, outcome(number, value), NOW, 1.0)
                yield case.key, number, value
            count += 1
            if count == stop_after:
                return


def test_each_block_measures_each_open_case_once_in_an_order_of_the_seed() -> None:
    test = expanded(12)
    share = {case.key: (0.0 if index % 2 else 0.5) for index, case in enumerate(test.cases)}
    measured = list(run(lazy(test), Judge([test], CATALOGUE), share))
    blocks: dict[int, list[str]] = {}
    for key, number, _ in measured:
        blocks.setdefault(number, []).append(key)
    assert [number for _, number, _ in measured] == sorted(number for _, number, _ in measured)
    assert {number: len(block) for number, block in blocks.items()} == {
        number: 12 if number <= 8 else 6 for number in range(1, 21)
    }
    assert all(len(set(block)) == len(block) for block in blocks.values())
    assert len({tuple(block) for block in blocks.values()}) == 20
    again = list(run(lazy(test), Judge([test], CATALOGUE), share))
    assert again == measured
    other = list(run(lazy(test, seed=4), Judge([test], CATALOGUE), share))
    assert other != measured
    assert sorted(other) == sorted(measured)


def test_who_goes_on_is_not_in_another_order_for_those_who_ended() -> None:
    test = expanded(12)
    positions = {
        d.case.key: n
        for n, (d,) in enumerate(
            list(Schedule([test], machines={"a": "a", "b": "b"}, concurrency=1, seed=3).rounds())[
                -12:
            ]
        )
    }
    share = {case.key: (0.0 if index % 2 else 0.5) for index, case in enumerate(test.cases)}
    last = [
        key for key, number, _ in run(lazy(test), Judge([test], CATALOGUE), share) if number == 20
    ]
    assert last == sorted(last, key=lambda key: positions[key])


def test_a_launch_of_all_pairs_is_open_while_any_of_them_is() -> None:
    test = pairs(3)
    share = dict.fromkeys((case.key for case in test.cases), 0.0) | {"h2h0": 0.5}
    judge = Judge([test], CATALOGUE)
    plan = lazy(test)
    most = most_replications(plan.dispatches)
    assert most == 120
    measured = list(run(plan, judge, share))
    assert len(measured) == 20 * 6
    # The others ended at 8, but had all the replications.
    assert most - judge.spared - judge.optional == 120
    assert [entry.case.key for entry in judge.unsettled()] == ["h2h0"]

    settled = Judge([test], CATALOGUE)
    assert len(list(run(lazy(test), settled, dict.fromkeys(share, 0.0)))) == 8 * 6
    assert most - settled.spared - settled.optional == 8 * 6


def test_a_test_with_a_number_is_measured_beside_one_with_a_rule() -> None:
    fixed = ExpandedTest(
        Test.model_validate({"name": "f", "engine": "udp", "replications": 3}),
        expanded(2, name="f").cases,
    )
    test = expanded(1)
    measured = list(
        run(
            lazy(fixed, test),
            Judge([fixed, test], CATALOGUE),
            dict.fromkeys(("f0", "f1", "t0"), 0.0),
        )
    )
    assert [key for key, _, _ in measured] == ["f0", "f1"] * 3 + ["t0"] * 8


def test_concurrency_packs_the_open_cases_of_a_block() -> None:
    hosts = "abcdefgh"
    (case,) = expanded().cases
    cases = tuple(
        Case(f"{x}{y}", "udp", "l", x, y, case.parameters)
        for x, y in zip(hosts[::2], hosts[1::2], strict=True)
    )
    test = ExpandedTest(expanded().test, cases)
    judge = Judge([test], CATALOGUE)
    sizes = []
    for dispatches in lazy(test, concurrency=4).rounds(judge.is_open):
        sizes.append(len(dispatches))
        for dispatch in dispatches:
            (number,) = dispatch.replications
            value = noisy(dispatch.case, number, 0.5 if dispatch.case.key == "ab" else 0.0)
            judge.note("t", dispatch.case, outcome(number, value), NOW, 1.0)
    assert sizes == [4] * 8 + [1] * 12


def test_what_is_left_out_is_neither_dispatched_nor_waited_for() -> None:
    test = expanded(2)
    judge = Judge([test], CATALOGUE)
    plan = lazy(test).keep(lambda dispatch: dispatch.case.key != "t0")
    assert [dispatch.case.key for dispatch in plan.dispatches] == ["t1"]
    assert len(list(run(plan, judge, {"t1": 0.0}))) == 8
    assert not lazy(test).keep(lambda dispatch: False)


def test_the_rule_is_stored_with_the_metric_that_it_judges() -> None:
    assert set(rules_of(expanded(2), CATALOGUE)) == {"ci95(median) <= 1% of throughput"}


def begin(store: Store, test: ExpandedTest) -> int:
    new = NewRun("p", "", "/", "", False, 1, "here", "0", "", {})
    cases = [PlannedCase("t", case, 20, least=8, rule="r") for case in test.cases]
    return store.begin_run(new, cases, METRICS)


def keep(
    store: Store,
    number: int,
    test: ExpandedTest,
    measured: Sequence[tuple[str, int, float]],
) -> None:
    """Store what was measured, and that cases ended, as an execution does."""
    launch = Launch(NOW)
    ended: dict[str, CaseEnd | None] = {}
    cases = {case.key: case for case in test.cases}
    fresh = Judge([test], CATALOGUE)
    for key, replication, value in measured:
        stored_outcome = outcome(replication, value)
        store.add(number, "t", key, stored_outcome, launch)
        ended[key] = fresh.note("t", cases[key], stored_outcome, NOW, 1.0)
        if ended[key]:
            store.end_cases(number, {("t", key): ended[key]})


@pytest.mark.parametrize("killed_after", [1, 30, 65, 66, 67, 80, 100])
def test_a_run_that_was_killed_stops_where_it_would_have(tmp_path: Path, killed_after: int) -> None:
    test = expanded(8)
    share = {case.key: 0.002 * index for index, case in enumerate(test.cases)}
    whole = list(run(lazy(test), Judge([test], CATALOGUE), share))
    before = whole[:killed_after]
    with Store.open(str(tmp_path / "r.db")) as store:
        number = begin(store, test)
        keep(store, number, test, before)
        judge = Judge([test], CATALOGUE)
        assert judge.recall(store, number) == {}
        rest = lazy(test, finished=store.replication_numbers(number)).keep(judge.is_open)
        assert before + list(run(rest, judge, share)) == whole


@pytest.mark.parametrize("unsettled", [0.5, 0.008], ids=["takes the most", "settles later"])
def test_what_pairs_that_ended_before_a_resume_may_still_take_is_not_missing(
    tmp_path: Path, unsettled: float
) -> None:
    """They are measured with one that is still open, and need nothing of that."""
    test = pairs(3)
    share = dict.fromkeys((case.key for case in test.cases), 0.0) | {"h2h0": unsettled}
    whole = list(run(lazy(test), Judge([test], CATALOGUE), share))
    before = whole[: 8 * 6]
    with Store.open(str(tmp_path / "r.db")) as store:
        number = begin(store, test)
        keep(store, number, test, before)
        judge = Judge([test], CATALOGUE)
        judge.recall(store, number)
        rest = lazy(test, finished=store.replication_numbers(number)).keep(judge.is_open)
        most = most_replications(rest.dispatches, judge.open_cases)
        measured = list(run(rest, judge, share))
        assert before + measured == whole
        assert len(measured) >= 6
        assert most - judge.spared - judge.optional == len(measured)


def test_an_end_that_was_not_stored_any_more_is_found_again(tmp_path: Path) -> None:
    test = expanded(2)
    with Store.open(str(tmp_path / "r.db")) as store:
        number = begin(store, test)
        for replication in range(1, 9):
            for case in test.cases:
                store.add(number, "t", case.key, outcome(replication, 1e9), Launch(NOW))
        store.end_cases(number, {("t", "t0"): "budget"})
        judge = Judge([test], CATALOGUE)
        assert judge.recall(store, number) == {("t", "t1"): "narrow"}
        assert judge.still_open == 0
        assert [entry.case.key for entry in judge.unsettled()] == ["t0"]


@pytest.mark.parametrize(
    ("clock", "begins"),
    [
        (NOW + 20, 1000.0 - 19 + 70),
        pytest.param(NOW - 86400, 1000.0 + 70, id="set back since: waits for the span, not a day"),
    ],
)
def test_a_run_that_goes_on_knows_when_its_span_began(
    tmp_path: Path, clock: float, begins: float
) -> None:
    test = expanded(span="70s")
    with Store.open(str(tmp_path / "r.db")) as store:
        number = begin(store, test)
        for replication in (1, 2, 3):
            # The host's clock is an hour behind.
            stored_outcome = Outcome(replication, NOW + replication - 3600, {"throughput": 1e9})
            store.add(number, "t", "t0", stored_outcome, Launch(NOW + replication))
        judge = Judge([test], CATALOGUE)
        judge.recall(store, number, clock, 1000.0)
        begun = judge.not_before(Dispatch("t", test.cases[0], (8,)), 1000.0)
        assert begun == pytest.approx(begins)
