"""The time that a run has left, by a clock that the test sets."""

from __future__ import annotations

import pytest

from railgauge.plan.cases import Case
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTimes, Spanned
from railgauge.run.time_left import TimeLeft

# By case: what a replication is expected to take, start included.
TIMES = LaunchTimes(
    load_catalogue(), observed={("short", "s"): 1.0, ("long", "l"): 30.0, ("other", "o"): 2.0}
)


def whole(test: str, replications: int) -> Dispatch:
    case = Case(test[0], "tcp", "a→b", "a", "b", {})
    return Dispatch(test, case, tuple(range(1, replications + 1)))


class Run:
    """A run of tests, measured in real times that the test says."""

    def __init__(self, *dispatches: Dispatch, spans: dict[str, Spanned] | None = None) -> None:
        self.now = 100.0
        self.left = TimeLeft(dispatches, TIMES, spans=spans, clock=lambda: self.now)

    def measure(self, test: str, seconds: float, times: int = 1) -> None:
        for _ in range(times):
            self.now += seconds
            self.left.measured(whole(test, 1))


def test_long_launches_to_come_count_as_such_while_short_ones_are_measured() -> None:
    run = Run(whole("short", 20), whole("long", 10))
    assert run.left.seconds() == pytest.approx(20 + 300)
    run.measure("short", 1.0, times=10)
    assert run.left.seconds() == pytest.approx(10 + 300)


def test_a_tests_own_pace_corrects_it_and_all_paces_those_to_come() -> None:
    run = Run(whole("short", 20), whole("long", 10), whole("other", 5))
    run.measure("short", 1.5, times=10)
    assert run.left.seconds() == pytest.approx(1.5 * (10 + 300 + 10))
    run.measure("short", 1.5, times=10)
    run.measure("long", 20.0, times=4)
    usual = (30 + 80) / (20 + 120)
    assert run.left.seconds() == pytest.approx(6 * 20 + 10 * usual)
    run.measure("long", 20.0, times=6)
    run.measure("other", 2.0, times=5)
    assert run.left.seconds() == 0


def test_launches_side_by_side_pass_as_fast_as_they_come() -> None:
    run = Run(whole("long", 12))
    run.measure("long", 10.0, times=6)
    assert run.left.seconds() == pytest.approx(60)


def test_replications_that_are_spared_and_waits_take_no_time() -> None:
    run = Run(whole("short", 20))
    run.measure("short", 2.0, times=2)
    run.now += 500
    run.left.rested()
    run.measure("short", 2.0, times=2)
    run.left.spared(whole("short", 1), 10)
    assert run.left.seconds() == pytest.approx(2 * 6)


def test_a_test_lasts_until_its_span_is_over() -> None:
    run = Run(whole("short", 20), spans={"short": Spanned(20, 600.0)})
    assert run.left.seconds() == 600
    run.measure("short", 1.0)
    run.now += 200
    run.left.rested()
    assert run.left.seconds() == pytest.approx(400)
    run.measure("short", 1.0, times=19)
    assert run.left.seconds() == 0


def test_tests_in_turns_span_the_same_time() -> None:
    spans = {"short": Spanned(20, 600.0), "other": Spanned(20, 600.0)}
    run = Run(whole("short", 20), whole("other", 20), whole("long", 10), spans=spans)
    assert run.left.seconds() == 600 + 600 + 300
    run.measure("short", 1.0)
    run.measure("other", 2.0)
    run.measure("long", 30.0)
    assert run.left.seconds() == pytest.approx(600 - 30)


def test_of_a_launch_of_many_replications_each_bears_its_part_of_the_start() -> None:
    times = LaunchTimes(load_catalogue())
    case = Case("k", "tcp", "a→b", "a", "b", {"mode": "stream", "duration": 1.0, "warmup": 4.0})
    launch = Dispatch("t", case, (1, 2, 3, 4))
    start = times.of(launch).start
    now = 0.0
    left = TimeLeft([launch], times, together={"t"}, clock=lambda: now)
    assert left.seconds() == pytest.approx(start + 4 + 4)
    now = 2.0 + start / 4
    left.measured(launch)
    assert left.seconds() == pytest.approx(3 * (start / 4 + 2))
    # Where each is a launch of its own, each has all of it.
    alone = TimeLeft([launch], times, clock=lambda: now)
    assert alone.seconds() == pytest.approx(4 * (start + 4 + 1))
