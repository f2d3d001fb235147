"""Cases of a group of hosts, and what one launch measures of thousands of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import pytest
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    execute,
    failed,
    lossy,
    measured,
    pair,
    planned,
)

from railgauge.base.errors import StoreError
from railgauge.store import Store
from railgauge.store.records import Launch, Outcome

HOSTS = tuple(f"n{i}" for i in range(1, 6))
PAIRS = [pair(client, server, HOSTS) for client, server in permutations(HOSTS, 2)]


def count(where: str, table: str) -> int:
    ((row_count,),) = execute(where, f"SELECT count(*) FROM {table}")
    return int(row_count)


def test_members_come_back_in_the_order_of_their_ranks(store: Store) -> None:
    cases = [
        pair("n1", None, ("n1", "n3", "n2"), "rack"),
        pair("n1", None, ("n1", "n2", "n3"), "again"),
        pair("h ä'\"]", "n2", ("h ä'\"]", "n2", ",")),
        case(),
    ]
    run = store.begin_run(RUN, planned(*cases), METRICS)
    assert [planned_case.case for planned_case in store.run(run).cases] == cases
    assert [series.case for series in store.series([run], ["throughput"])] == cases
    store.add(run, "stream", cases[0].key, failed(1), LAUNCH)
    assert [failure.case for failure in store.failures(run)] == cases[:1]
    store.add(run, "stream", cases[1].key, lossy(1), LAUNCH)
    assert [stored_trace.case for stored_trace in store.traces([run])] == cases[1:2]


def test_a_list_of_hosts_is_stored_once_for_all_its_cases_and_runs(
    store: Store, where: str
) -> None:
    for _ in range(2):
        store.begin_run(RUN, planned(*PAIRS), METRICS)
    again = [replace(host_pair, members=(*HOSTS[:-1], HOSTS[-1])) for host_pair in PAIRS]
    assert [
        planned_case.case
        for planned_case in store.run(store.begin_run(RUN, planned(*again), METRICS)).cases
    ]
    assert count(where, "host_list") == 1
    cases = [planned_case.case for planned_case in store.run(1).cases]
    assert {id(host_pair.members) for host_pair in cases} == {id(cases[0].members)}


def test_all_that_a_launch_measured_is_stored_at_once(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(*PAIRS, replications=2), METRICS)
    for number in (1, 2):
        results = [
            (host_pair.key, measured(number, 100.0 * i + number))
            for i, host_pair in enumerate(PAIRS)
        ]
        results[3] = (PAIRS[3].key, failed(number))
        store.add_all(run, "stream", iter(results), LAUNCH)
    series = store.series([run], ["throughput"])
    assert [case_series.case for case_series in series] == PAIRS
    assert [case_series.values.tolist() for case_series in series] == [
        [] if i == 3 else [100.0 * i + 1, 100.0 * i + 2] for i in range(len(PAIRS))
    ]
    assert [case_series.failed for case_series in series] == [
        2 if i == 3 else 0 for i in range(len(PAIRS))
    ]
    assert store.replication_numbers(run) == {
        ("stream", host_pair.key): {1, 2} for host_pair in PAIRS
    }
    assert count(where, "launch") == 1


def test_more_outcomes_than_fit_into_one_statement_are_all_stored(store: Store) -> None:
    hosts = tuple(f"n{i:03}" for i in range(110))
    cases = [pair(client, server, hosts) for client, server in permutations(hosts, 2)]
    run = store.begin_run(RUN, planned(*cases, replications=1), METRICS)
    warm = {"throughput": 1.0}
    store.add_all(
        run,
        "stream",
        ((host_pair.key, Outcome(0, MOMENT, warm, warmup=True)) for host_pair in cases),
        LAUNCH,
    )
    store.add_all(run, "stream", ((host_pair.key, measured(1, 7.0)) for host_pair in cases), LAUNCH)
    assert len(store.replication_numbers(run)) == len(cases) == 11_990
    assert {tuple(series.values.tolist()) for series in store.series([run], ["throughput"])} == {
        (7.0,)
    }


def test_warm_ups_of_one_case_are_counted_on(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(*PAIRS[:2]), METRICS)
    warm = Outcome(0, MOMENT, {"throughput": 1.0}, warmup=True)
    store.add(run, "stream", PAIRS[0].key, warm, LAUNCH)
    keys = [host_pair.key for host_pair in PAIRS[:2]]
    store.add_all(run, "stream", [(key, warm) for key in [*keys, *keys]], LAUNCH)
    assert sorted(execute(where, "SELECT case_key, replication FROM warmup")) == sorted(
        [(keys[0], 1), (keys[0], 2), (keys[0], 3), (keys[1], 1), (keys[1], 2)]
    )


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (measured(1, float("nan")), "is no measurement"),
        (Outcome(1, MOMENT, {"bandwidth": 1.0}), "had not described"),
        (Outcome(1, MOMENT, {}), "a failed replication has no metrics"),
        (measured(0), "is 1 or more"),
    ],
)
def test_of_a_launch_with_one_impossible_outcome_nothing_is_stored(
    store: Store, where: str, bad: Outcome, match: str
) -> None:
    run = store.begin_run(RUN, planned(*PAIRS), METRICS)
    launch = Launch(MOMENT, {"pml": "ob1"}, {})
    results = [(host_pair.key, measured(1)) for host_pair in PAIRS]
    with pytest.raises(StoreError, match=match):
        store.add_all(run, "stream", [*results[:-1], (PAIRS[-1].key, bad)], launch)
    assert store.replication_numbers(run) == {}
    assert count(where, "launch") == 0
    store.add_all(run, "stream", results, launch)
    assert len(store.replication_numbers(run)) == len(PAIRS)
    assert count(where, "launch") == 1


def test_an_outcome_that_is_there_already_or_of_no_case_takes_none_with_it(store: Store) -> None:
    run = store.begin_run(RUN, planned(*PAIRS[:2]), METRICS)
    store.add(run, "stream", PAIRS[1].key, measured(1, 5.0), LAUNCH)
    for second in (PAIRS[1], PAIRS[2]):
        with pytest.raises(StoreError):
            store.add_all(
                run,
                "stream",
                [(host_pair.key, measured(1)) for host_pair in (PAIRS[0], second)],
                LAUNCH,
            )
    assert store.replication_numbers(run) == {("stream", PAIRS[1].key): {1}}
    store.add_all(run, "stream", [], Launch(MOMENT))


def test_any_program_can_read_a_cases_members(store: Store, where: str) -> None:
    store.begin_run(RUN, planned(PAIRS[0], case()), METRICS)
    query = "SELECT link, hosts FROM bench_case LEFT JOIN host_list ON host_list.id = members_id"
    assert {link: hosts and json.loads(hosts) for link, hosts in execute(where, query)} == {
        "n1→n2": list(HOSTS),
        "gw→hh": None,
    }
