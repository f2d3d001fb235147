"""Rounds: everything exactly once, no machine twice at a time, the same order every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.plan.cases import Case, ExpandedTest
from railgauge.plan.catalogue import Value
from railgauge.plan.model import Test
from railgauge.plan.schedule import Round, Schedule

ORDERS = ["sequential", "interleaved", "random"]


def expanded(
    pairs: Sequence[tuple[str, str | None]],
    *,
    order: str = "interleaved",
    replications: int = 1,
    name: str = "t",
    **parameters: Value,
) -> ExpandedTest:
    test = Test.model_validate(
        {"name": name, "engine": "udp", "order": order, "replications": replications}
    )
    cases = tuple(
        Case(f"{index}", "udp", f"{client}{server}", client, server, parameters)
        for index, (client, server) in enumerate(pairs)
    )
    return ExpandedTest(test, cases)


def arranged(  # type: ignore[no-untyped-def]
    *tests: ExpandedTest,
    concurrency: int = 1,
    seed: int = 1,
    finished=None,
    interleaved: bool = False,
) -> list[Round]:
    hosts = {
        host for test in tests for case in test.cases for host in (case.client, case.server) if host
    }
    return list(
        Schedule(
            tests,
            machines={h: h for h in hosts},
            concurrency=concurrency,
            seed=seed,
            finished=finished,
            interleaved=interleaved,
        ).rounds()
    )


def keys(rounds: list[Round]) -> list[str]:
    return [
        " ".join(f"{d.case.key}/{','.join(map(str, d.replications))}" for d in r) for r in rounds
    ]


def all_pairs(count: int) -> list[tuple[str, str | None]]:
    names = [f"h{number}" for number in range(count)]
    return [(client, server) for at, client in enumerate(names) for server in names[at + 1 :]]


def test_sequential_measures_all_of_a_case_in_one_launch() -> None:
    test = expanded([("a", "b"), ("a", "c")], order="sequential", replications=3)
    assert keys(arranged(test)) == ["0/1,2,3", "1/1,2,3"]


def test_interleaved_measures_each_case_before_the_next_replication() -> None:
    test = expanded([("a", "b"), ("a", "c")], replications=3)
    assert keys(arranged(test)) == ["0/1", "1/1", "0/2", "1/2", "0/3", "1/3"]


def test_interleaved_tests_take_turns_block_by_block() -> None:
    tests = (
        expanded([("a", "b"), ("a", "c")], replications=3, name="long"),
        expanded([("a", "b")], replications=2, order="sequential", name="launch"),
        expanded([("a", "b")], replications=2, order="random", name="short"),
    )
    in_turns = arranged(*tests, interleaved=True)
    assert [f"{d.test}{d.case.key}{d.replications}" for (d,) in in_turns] == [
        "long0(1,)", "long1(1,)", "launch0(1, 2)", "short0(1,)",
        "long0(2,)", "long1(2,)", "short0(2,)",
        "long0(3,)", "long1(3,)",
    ]  # fmt: skip
    assert sorted(map(repr, in_turns)) == sorted(map(repr, arranged(*tests)))


def test_random_shuffles_every_block_and_the_seed_decides_how() -> None:
    test = expanded([("a", None)] * 30, order="random", replications=4)
    once = keys(arranged(test, seed=7))
    blocks = [once[start : start + 30] for start in range(0, 120, 30)]
    for number, block in enumerate(blocks, 1):
        assert sorted(block) == sorted(f"{case}/{number}" for case in range(30))
    assert len({tuple(key.split("/")[0] for key in block) for block in blocks}) == 4
    assert keys(arranged(test, seed=7)) == once
    assert keys(arranged(test, seed=8)) != once


def test_tests_come_one_after_another() -> None:
    first = expanded([("a", "b")], name="first")
    second = expanded([("c", "d")], name="second")
    rounds = arranged(first, second, concurrency=9)
    assert [[dispatch.test for dispatch in dispatches] for dispatches in rounds] == [
        ["first"],
        ["second"],
    ]


def test_disjoint_links_share_a_round_and_others_do_not() -> None:
    test = expanded([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert keys(arranged(test, concurrency=9)) == ["0/1 2/1", "1/1 3/1"]


def test_two_hosts_on_one_machine_never_share_a_round() -> None:
    test = expanded([("a", None), ("b", None), ("c", None)])
    rounds = list(
        Schedule([test], machines={"a": "m", "b": "m", "c": "n"}, concurrency=9, seed=0).rounds()
    )
    assert keys(rounds) == ["0/1 2/1", "1/1"]


@pytest.mark.parametrize("count", [*range(2, 41), 250])
def test_all_pairs_take_as_few_rounds_as_there_can_be(count: int) -> None:
    rounds = arranged(expanded(all_pairs(count)), concurrency=max(1, count // 2))
    assert len(rounds) == count - 1 + count % 2
    assert sum(map(len, rounds)) == count * (count - 1) // 2
    for dispatches in rounds:
        busy = [name for dispatch in dispatches for name in dispatch.hosts]
        assert len(busy) == len(set(busy))


def test_what_is_done_is_left_out_and_the_rest_keeps_its_order() -> None:
    test = expanded([("a", None)] * 5, order="random", replications=3)
    finished = {("t", "1"): {1, 3}, ("t", "4"): {2}, ("other", "0"): {1}}
    whole = keys(arranged(test))
    assert keys(arranged(test, finished=finished)) == [
        key for key in whole if key not in ("1/1", "1/3", "4/2")
    ]
    sequential = expanded([("a", None)] * 2, order="sequential", replications=3)
    assert keys(arranged(sequential, finished={("t", "0"): {2}, ("t", "1"): {1, 2, 3}})) == [
        "0/1,3"
    ]


HOSTS = st.sampled_from("abcdefg")


@given(
    st.lists(st.tuples(HOSTS, st.none() | HOSTS), min_size=1, max_size=40),
    st.sampled_from(ORDERS),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 99),
)
def test_every_replication_once_and_every_machine_once_a_round(
    pairs: list[tuple[str, str | None]], order: str, replications: int, concurrency: int, seed: int
) -> None:
    test = expanded(pairs, order=order, replications=replications)
    rounds = arranged(test, concurrency=concurrency, seed=seed)
    measured = Counter(
        (dispatch.case.key, number)
        for dispatches in rounds
        for dispatch in dispatches
        for number in dispatch.replications
    )
    assert measured == Counter(
        (case.key, number) for case in test.cases for number in range(1, replications + 1)
    )
    for dispatches in rounds:
        busy = [h for d in dispatches for h in {d.case.client, d.case.server} - {None}]
        assert len(busy) == len(set(busy))
        assert 1 <= len(dispatches) <= concurrency
    assert arranged(test, concurrency=concurrency, seed=seed) == rounds
