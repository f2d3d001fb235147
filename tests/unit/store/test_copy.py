"""Databases copied into one another: all of it, nothing twice, nothing changed."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import (
    Column,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    create_engine,
    func,
    select,
    text,
)
from tests.support import FIXTURES
from tests.support.copy_samples import METRICS, contents, fill, run_contents, stored_links
from tests.support.store_samples import (
    LAUNCH,
    MOMENT,
    RUN,
    case,
    execute,
    lossy,
    measured,
    planned,
    script,
)

from railgauge.base.errors import InputError, StoreError
from railgauge.store import Store
from railgauge.store.copy import Copied, copy
from railgauge.store.copy_tables import OWN, SHARED, TABLES, owner
from railgauge.store.models import Replication
from railgauge.store.records import Launch, MetricInfo, RunState


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "source.db")) as store:
        yield store


@pytest.fixture
def target(where: str) -> Iterator[Store]:
    with Store.open(where) as store:
        yield store


def test_every_table_is_copied(source: Store, target: Store) -> None:
    runs = fill(source)
    # Makes ids others than the source's.
    other = replace(case(9), engine="tcp")
    target.begin_run(RUN, planned(other), {"tcp": {"rate": MetricInfo("Hz", "higher")}})
    before = contents(target)
    copied = copy(source, target)
    assert (copied.new, copied.more, copied.same, copied.baselines) == (3, 0, 0, 1)
    assert copied.differences == []
    expected = contents(source)
    assert [name for name, rows in expected.items() if not rows] == []
    after = contents(target)
    assert {name: after[name] - before[name] for name in TABLES} == expected
    new = [run.id for run in target.runs() if run.id > 1]
    assert new != runs
    assert [run_contents(target, run) for run in new] == [run_contents(source, run) for run in runs]
    assert target.baseline("good").runs == (new[0],)


def test_no_table_is_forgotten() -> None:
    dependent = {name: table for name, table in TABLES.items() if name not in (*SHARED, *OWN)}
    assert [name for name, table in dependent.items() if owner(table) is None] == []
    metadata = MetaData()
    Table("thing", metadata, Column("id", Integer, primary_key=True))
    odd = Table("odd", metadata, Column("thing_id", ForeignKey("thing.id"), primary_key=True))
    assert owner(odd) is None


def test_from_a_server_into_a_file(where: str, tmp_path: Path) -> None:
    with Store.open(where) as source, Store.open(str(tmp_path / "target.db")) as target:
        runs = fill(source)
        copy(source, target)
        assert contents(target) == contents(source)
        assert [run_contents(target, run) for run in (1, 2, 3)] == [
            run_contents(source, run) for run in runs
        ]


def test_two_copies_at_once_take_turns(source: Store, where: str) -> None:
    fill(source)
    second: list[Copied] = []

    def copy_again() -> None:
        with Store.open(source.name) as old, Store.open(where) as new:
            second.append(copy(old, new))

    other = threading.Thread(target=copy_again)

    def meet(_: str) -> None:
        if not other.ident:
            other.start()
            other.join(1.0)  # it can't end as long as this copies

    with Store.open(where) as target:
        first = copy(source, target, meet)
    other.join()
    assert first.new > 1
    assert [(result.new, result.more, result.same) for result in second] == [(0, 0, first.new)]


def test_a_second_copy_finds_nothing_to_do(source: Store, target: Store) -> None:
    fill(source)
    copy(source, target)
    before = contents(target)
    assert copy(source, target) == Copied(same=3)
    assert contents(target) == before


def test_a_run_that_went_on_gets_what_is_missing(source: Store, target: Store) -> None:
    run = source.begin_run(RUN, planned(case(), replications=10), METRICS)
    source.add(run, "stream", case().key, measured(1), LAUNCH)
    copy(source, target)
    assert target.runs()[0].state == "unfinished"
    # The same launch goes on, and another one begins.
    source.add(run, "stream", case().key, lossy(2), LAUNCH)
    source.add(run, "stream", case().key, measured(3), Launch(MOMENT + 30))
    source.add_facts(run, "gw1", {"kernel": "6.2"})
    source.end_cases(run, {("stream", case().key): "budget"})
    source.finish_run(run, "complete")
    copied = copy(source, target)
    assert (copied.more, copied.replications, copied.differences) == (1, 2, [])
    assert contents(target) == contents(source)
    assert run_contents(target, 1) == run_contents(source, run)


def test_launches_keep_their_order(source: Store, target: Store) -> None:
    """Of more cases than a transaction takes, in turns: what each took is the time to the next."""
    cases = [case(size) for size in range(1, 502)]
    run = source.begin_run(RUN, planned(*cases, replications=2), METRICS)
    with source.together():
        for place in range(2 * len(cases)):
            # The first and the last case, the second and the last but one, and so on.
            half, backwards = divmod(place % len(cases), 2)
            key = cases[-1 - half if backwards else half].key
            number = place // len(cases) + 1
            source.add(run, "stream", key, measured(number), Launch(MOMENT + place))
    source.finish_run(run, "complete")
    copy(source, target)
    assert {time for times in target.launch_seconds(1).values() for time in times} == {1.0}
    assert contents(target) == contents(source)


def test_what_was_measured_on_in_the_target_stays(source: Store, target: Store) -> None:
    run = source.begin_run(RUN, planned(case(), replications=10), METRICS)
    source.add(run, "stream", case().key, measured(1), LAUNCH)
    source.finish_run(run, "interrupted")
    copy(source, target)
    target.reopen_run(1)
    target.add(1, "stream", case().key, measured(2), Launch(MOMENT + 9))
    target.finish_run(1, "complete")
    source.skip_cases(run, {("stream", case().key): "of no concern"})
    before = contents(target)
    assert copy(source, target) == Copied(same=1)
    assert contents(target) == before


def test_a_launch_is_not_copied_without_what_it_measured(source: Store, target: Store) -> None:
    run = source.begin_run(RUN, planned(case(), replications=10), METRICS)
    source.add(run, "stream", case().key, measured(1), LAUNCH)
    copy(source, target)
    # Each goes on by itself: of the source's next launch only the last replication is missing.
    for store, last in ((source, 4), (target, 3)):
        launch = Launch(MOMENT + last, {"sockbuf": last})
        for number in range(2, last + 1):
            store.add(1, "stream", case().key, measured(number), launch)
        store.add(1, "stream", case().key, measured(9), Launch(MOMENT + 10 * last))
        store.finish_run(1, "complete")
    assert copy(source, target).replications == 1
    with target.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(TABLES["launch"])) == 4


def test_a_run_that_went_on_under_a_clock_set_back_ends_there_too(
    source: Store, target: Store
) -> None:
    run = source.begin_run(RUN, planned(case(), replications=2), METRICS)
    source.add(run, "stream", case().key, measured(1), LAUNCH)
    source.finish_run(run, "interrupted")
    execute(source.name, "UPDATE run SET ended_at = '2099-01-01T00:00:00.000000Z', checksum = NULL")
    copy(source, target)
    source.reopen_run(run)
    source.add(run, "stream", case().key, measured(2), Launch(MOMENT + 9))
    source.end_cases(run, {("stream", case().key): "narrow"})
    source.finish_run(run, "complete")
    assert copy(source, target).replications == 1
    assert contents(target) == contents(source)
    assert copy(source, target) == Copied(same=1)


@pytest.mark.parametrize("state", ["interrupted", "unfinished"])
def test_a_run_that_went_further_in_the_target_keeps_how_it_stands(
    source: Store, target: Store, state: RunState
) -> None:
    cases = planned(case(), case(64), case(512), replications=10)
    run = source.begin_run(RUN, cases, METRICS)
    source.add(run, "stream", case().key, measured(1), LAUNCH)
    copy(source, target)
    source.skip_cases(run, {("stream", case(512).key): "no iperf3 on gw1"})
    if state != "unfinished":
        source.finish_run(run, state)
    # There it went on, and was killed.
    target.add(1, "stream", case().key, measured(2), Launch(MOMENT + 9))
    target.end_cases(1, {("stream", case().key): "narrow"})
    copied = copy(source, target)
    assert (copied.more, copied.differences) == (1, [])
    stored = target.run(1)
    assert [planned_case.ended for planned_case in stored.cases] == ["narrow", "", ""]
    assert [planned_case.skipped for planned_case in stored.cases] == ["", "", "no iperf3 on gw1"]
    assert (stored.state, stored.ended_at) == ("unfinished", "")
    before = contents(target)
    copy(source, target)
    assert contents(target) == before


def test_what_both_have_differently_is_told_and_stays(source: Store, target: Store) -> None:
    run = source.begin_run(RUN, planned(case(), replications=10), METRICS)
    source.add_facts(run, "gw1", {"kernel": "6.1"})
    copy(source, target)
    for store, value in ((source, 1.0), (target, 2.0)):
        store.add(1, "stream", case().key, measured(1, value), LAUNCH)
        store.add(1, "stream", case().key, measured(2), Launch(MOMENT + value))
        store.set_baseline("good", [1])
    source.add(1, "stream", case().key, replace(measured(3), started_at=MOMENT + 33), LAUNCH)
    target.set_baseline("good", [1, target.begin_run(RUN, [], {})], replace=True)
    copied = copy(source, target)
    assert copied.replications == 1
    assert [line.split(" of case")[0] for line in copied.differences[:1]] == ["replication 1"]
    assert "run 1 is another one there (run 1): it stays" in copied.differences[0]
    assert copied.differences[1:] == [
        "the baseline 'good' has other runs there, and stays as it is"
    ]
    (series,) = target.series([1], ["throughput"])
    assert series.values.tolist() == [2.0, 1e9, 1e9]


def test_a_case_with_other_values_there_keeps_why_it_ended(source: Store, target: Store) -> None:
    cases = planned(case(), case(64), replications=10)
    run = source.begin_run(RUN, cases, METRICS)
    copy(source, target)
    for store, value, ended in ((target, 2.0, "most"), (source, 1.0, "narrow")):
        for stored_case in (case(), case(64)):
            # Only the first has other values there.
            measured_value = value if stored_case == case() else 5.0
            store.add(1, "stream", stored_case.key, measured(1, measured_value), LAUNCH)
        store.end_cases(1, {("stream", case().key): ended})
        store.finish_run(1, "complete")
    source.end_cases(run, {("stream", case(64).key): "budget"})
    (difference,) = copy(source, target).differences
    assert "replication 1 of case" in difference
    assert [planned_case.ended for planned_case in target.run(1).cases] == ["most", "budget"]


def test_two_copies_of_one_old_database_are_one(target: Store, tmp_path: Path) -> None:
    dump = (FIXTURES / "database_0005.sql").read_text()
    for name in ("archived.db", "still_used.db"):
        connection = sqlite3.connect(tmp_path / name)
        connection.executescript(dump)
        connection.close()
    with Store.open(str(tmp_path / "still_used.db")) as store:
        store.reopen_run(1)
        store.add(1, "stream", case(64).key, measured(2), Launch(MOMENT + 50))
    for name, expected in (
        ("archived.db", Copied(new=2)),
        ("still_used.db", Copied(more=1, same=1)),
    ):
        with Store.open(str(tmp_path / name)) as store:
            copied = copy(store, target)
        assert replace(copied, replications=0) == expected
    assert len(target.runs()) == 2


def test_text_that_a_server_cannot_hold_is_copied(source: Store, target: Store) -> None:
    run = stored_links(source)
    engine = create_engine(f"sqlite:///{source.name}")
    with engine.begin() as connection:
        for statement in (
            "UPDATE run SET plan_text = 'a' || char(0) || 'b', checksum = NULL",
            "UPDATE host_fact SET value = char(0)",
            "UPDATE replication SET error_message = 'x' || char(0), checksum = NULL"
            " WHERE status = 'failed'",
        ):
            connection.execute(text(statement))
    engine.dispose()
    assert source.run(run).new.plan_text == "a\0b"
    assert copy(source, target).differences == []
    assert target.run(1).new.plan_text == "a\ufffdb"
    assert [failure.error_message for failure in target.failures(1)] == ["x\ufffd"]
    assert copy(source, target) == Copied(same=1)


def test_a_damaged_time_series_is_told_and_all_else_copied(source: Store, target: Store) -> None:
    run = stored_links(source)
    with contextlib.closing(sqlite3.connect(source.name)) as connection, connection:
        connection.execute("UPDATE log_series SET counters = x'00' WHERE log_id = 1")
    (difference,) = copy(source, target).differences
    assert "a time series was left out, as it is damaged" in difference
    assert len(target.logs(1)) == len(source.logs(run))


def test_a_database_is_not_copied_to_itself(source: Store, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(source.name)
    with (
        Store.open(str(tmp_path / "link.db")) as target,
        pytest.raises(InputError, match="to itself: name two databases"),
    ):
        copy(source, target)


def test_a_run_that_is_measured_in_the_target_is_left_alone(source: Store, target: Store) -> None:
    fill(source)
    copy(source, target)
    with target.claim(2), pytest.raises(InputError, match="run 2 is being measured now"):
        copy(source, target)


def test_a_failure_of_the_source_is_told_as_its_own(source: Store, target: Store) -> None:
    stored_links(source)
    with contextlib.closing(sqlite3.connect(source.name)) as connection, connection:
        connection.execute("DROP TABLE suspicion")
    with pytest.raises(StoreError, match=r"source\.db failed: no such table: suspicion"):
        copy(source, target)


_COPY = """
import sys
from railgauge.store import Store
from railgauge.store.copy import copy
source, target = map(Store.open, sys.argv[1:3])
copy(source, target)
"""


def _replications(store: Store) -> int:
    with store.reading() as connection:
        return connection.execute(select(func.count(Replication.number))).scalar_one()


def test_a_killed_copy_goes_on(source: Store, where: str) -> None:
    cases = [case(size) for size in range(1, 1801)]
    runs = [source.begin_run(RUN, planned(*cases), METRICS) for _ in range(2)]
    for run in runs:
        results = [(run_case.key, measured(1, index + 1.0)) for index, run_case in enumerate(cases)]
        source.add_all(run, "stream", results, Launch(MOMENT + run))
        source.finish_run(run, "complete")
    half = False
    with Store.open(where) as target:
        while not half and _replications(target) < 2 * len(cases):
            before = _replications(target)
            process = script(_COPY, source.name, where)
            while process.poll() is None and before == _replications(target):
                time.sleep(0.005)
            process.kill()
            process.communicate()
            for run in target.runs():
                assert run.measured == len(cases) or run.state == "unfinished"
                half = half or 0 < run.measured < len(cases)
        assert half
        assert copy(source, target).differences == []
        assert contents(target) == contents(source)
        run_ids = [run.id for run in target.runs()]
        values = [series.values.tolist() for series in target.series(run_ids)]
        assert values == [series.values.tolist() for series in source.series(runs)]
