"""All pairs of a simulated cluster through the scheduler, the threads and the store."""

from __future__ import annotations

import itertools
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.simulated import SimulatedTransport

from railgauge.base.errors import EnvironmentFailedError
from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import EquippedHost
from railgauge.engine.outcome import Launch, Outcome
from railgauge.hosts.transport.fake import Program
from railgauge.plan.cases import Case, ExpandedTest
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.model import Test
from railgauge.plan.schedule import Dispatch, Round, Schedule, most_replications
from railgauge.run.execution import Execution, Observer, Setting, Totals
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

HOSTS = [f"n{number:02}" for number in range(60)]
PAIRS = list(itertools.combinations(HOSTS, 2))
ENGINE = load_catalogue().engine("tcp")
TEST = Test.model_validate({"name": "t", "engine": "tcp", "replications": 1})
CASES = tuple(
    Case(
        f"{client}{server}",
        "tcp",
        f"{client}→{server}",
        client,
        server,
        {"mode": "latency", "duration": 1.0},
    )
    for client, server in PAIRS
)

FIRST_PAIRS = list(zip(HOSTS[0::2], HOSTS[1::2], strict=True))[:3]
OF_ONE_HOST = tuple(case for case in CASES if case.client == HOSTS[0])


class Diary(Observer):
    """What an observer was told."""

    def __init__(self) -> None:
        self.dispatched_pairs: list[tuple[str, ...]] = []
        self.lost_hosts: list[str] = []

    def dispatched(self, dispatch: Dispatch) -> None:
        self.dispatched_pairs.append(dispatch.hosts)

    def lost(self, host: str, reason: str) -> None:
        self.lost_hosts.append(host)


def hosts(dying: Mapping[str, int]) -> dict[str, SimulatedTransport]:
    """Return hosts, of which some die at the given one of their programs."""
    return {name: SimulatedTransport(name, ENGINE, dies_at=dying.get(name)) for name in HOSTS}


def no_trouble(dispatch: Dispatch) -> Terms:
    return Terms(at=("10.0.0.1", "10.0.0.2"))


def measure_pairs(
    database: Path,
    diary: Diary,
    transports: Mapping[str, SimulatedTransport],
    cases: Sequence[Case] = CASES,
    terms: Callable[[Dispatch], Terms] = no_trouble,
) -> Totals:
    rounds = list(
        Schedule(
            [ExpandedTest(TEST, cases)],
            machines={name: name for name in HOSTS},
            concurrency=len(HOSTS) // 2,
            seed=1,
        ).rounds()
    )
    sites = {name: EquippedHost(transport, "/") for name, transport in transports.items()}
    setting = Setting(load_catalogue(), str, sites, len(HOSTS) // 2, terms)
    metrics = {name: MetricInfo.of(metric) for name, metric in ENGINE.metrics.items()}
    with Store.open(str(database)) as store:
        run = store.begin_run(
            NewRun("scale", "", "/", "", False, 1, "here", "0", "", {}),
            [PlannedCase("t", case, 1) for case in cases],
            {"tcp": metrics},
        )
        return Execution(store, run, diary, setting).run(
            rounds, most_replications(dispatch for dispatches in rounds for dispatch in dispatches)
        )


def stored(database: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Return pair -> status and error code; each pair is there at most once."""
    connection = sqlite3.connect(database)
    rows = connection.execute(
        "SELECT client_host, server_host, status, coalesce(error_code, '') FROM replication "
        "JOIN run_case ON run_case.id = run_case_id JOIN bench_case ON bench_case.id = case_id"
    ).fetchall()
    connection.close()
    assert len(rows) == len({row[:2] for row in rows})
    return {(client, server): (status, code) for client, server, status, code in rows}


def test_all_pairs_take_a_round_less_than_there_are_hosts() -> None:
    schedule = Schedule(
        [ExpandedTest(TEST, CASES)],
        machines={name: name for name in HOSTS},
        concurrency=len(HOSTS) // 2,
        seed=1,
    )
    assert len(list(schedule.rounds())) == len(HOSTS) - 1


def test_every_pair_is_measured_exactly_once(tmp_path: Path) -> None:
    diary = Diary()
    totals = measure_pairs(tmp_path / "results.db", diary, hosts({}))
    assert stored(tmp_path / "results.db") == dict.fromkeys(PAIRS, ("ok", ""))
    assert (totals.planned, totals.measured) == (len(PAIRS), len(PAIRS))
    assert (totals.failed, totals.missing, diary.lost_hosts) == (0, 0, [])
    assert sorted(diary.dispatched_pairs) == PAIRS


@pytest.mark.parametrize("dying", [{"n07": 30}, {"n00": 1, "n31": 20, "n32": 20, "n59": 40}])
def test_hosts_that_die_take_only_their_own_pairs_with_them(
    tmp_path: Path, dying: dict[str, int]
) -> None:
    diary = Diary()
    totals = measure_pairs(tmp_path / "results.db", diary, hosts(dying))
    rows = stored(tmp_path / "results.db")
    for pair in PAIRS:
        if not set(pair) & set(dying):
            assert rows[pair] == ("ok", "")
    for pair, (status, code) in rows.items():
        assert status == "ok" or (code == "host-lost" and set(pair) & set(dying))
    assert sorted(diary.lost_hosts) == sorted(dying)
    failed = sum(status == "failed" for status, _ in rows.values())
    assert totals.failed == failed <= len(dying)
    assert totals.measured == len(rows) - failed
    assert totals.missing == len(PAIRS) - len(rows)
    for name, last in dying.items():
        # It had a program in each round until its last, if the other host did not die before that.
        assert sum(name in pair for pair in diary.dispatched_pairs) < last + len(dying)
        assert sum(name in pair for pair, (status, _) in rows.items() if status == "ok") < last


def test_no_launch_waits_until_the_one_before_it_is_stored(tmp_path: Path) -> None:
    database = tmp_path / "results.db"
    events: list[tuple[str, tuple[str, ...]]] = []

    class Events(Diary):
        def dispatched(self, dispatch: Dispatch) -> None:
            events.append(("dispatched", dispatch.hosts))

        def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
            assert dispatch.hosts in stored(database), "reported before it was stored"
            events.append(("measured", dispatch.hosts))

    measure_pairs(database, Events(), hosts({}), OF_ONE_HOST)
    dispatched = [pair for event, pair in events if event == "dispatched"]
    assert len(dispatched) == len(OF_ONE_HOST)
    assert [pair for event, pair in events if event == "measured"] == dispatched
    # A launch that a stalled machine ends late is stored before the next begins.
    assert any(
        events.index(("dispatched", following)) < events.index(("measured", pair))
        for pair, following in itertools.pairwise(dispatched)
    )


def test_a_replication_is_stored_though_its_launch_does_not_end(tmp_path: Path) -> None:
    reported = threading.Event()

    class Lasting(SimulatedTransport):
        def _measure(self, argv: Sequence[str], dies: bool) -> Program:
            for line in super()._measure(argv, dies):
                if "done" in str(line):
                    assert reported.wait(60), "it waited for the launch's end"
                yield line
            return 0

    class Reported(Diary):
        def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
            reported.set()

    transports = {name: Lasting(name, ENGINE) for name in HOSTS}
    totals = measure_pairs(tmp_path / "results.db", Reported(), transports, OF_ONE_HOST)
    assert (totals.measured, totals.failed) == (len(OF_ONE_HOST), 0)


def test_what_came_with_the_error_of_another_launch_is_stored(tmp_path: Path) -> None:
    """Both wait for the main thread, which still dispatches the round; the error came first."""
    raised, measured = threading.Event(), threading.Event()
    cases = [case for case in CASES if (case.client, case.server) in FIRST_PAIRS]

    class Measuring(SimulatedTransport):
        def _measure(self, argv: Sequence[str], dies: bool) -> Program:
            for line in super()._measure(argv, dies):
                if "done" in str(line):
                    measured.set()
                yield line
            return 0

    class Slow(Diary):
        def dispatched(self, dispatch: Dispatch) -> None:
            super().dispatched(dispatch)
            if len(self.dispatched_pairs) == 2:
                assert raised.wait(60)
                time.sleep(0.2)
            if len(self.dispatched_pairs) == 3:
                assert measured.wait(60)

    def terms(dispatch: Dispatch) -> Terms:
        if dispatch.hosts == diary.dispatched_pairs[0]:
            raised.set()
            raise EnvironmentFailedError("no terms for these two")
        return no_trouble(dispatch)

    diary = Slow()
    transports = {name: Measuring(name, ENGINE) for name in HOSTS}
    with pytest.raises(EnvironmentFailedError, match="no terms"):
        measure_pairs(tmp_path / "results.db", diary, transports, cases, terms)
    assert diary.dispatched_pairs[1] in stored(tmp_path / "results.db")


def test_a_signal_after_the_last_round_stops_what_would_come_next(tmp_path: Path) -> None:
    def rounds() -> Iterator[Round]:
        yield []
        signal.raise_signal(signal.SIGTERM)

    setting = Setting(load_catalogue(), str, {}, 1, lambda dispatch: Terms(at=("", "")))
    with Store.open(str(tmp_path / "results.db")) as store:
        totals = Execution(store, 1, Diary(), setting).run(rounds(), 0)
    assert totals.stopped
