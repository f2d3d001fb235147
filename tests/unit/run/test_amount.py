"""What `railgauge check` expects of each plan that ships, and of the time left while it runs."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.support import command_line

from railgauge.base.assets import shipped
from railgauge.plan.cases import ExpandedTest, expand
from railgauge.plan.catalogue import SOAK
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.schedule import Dispatch, Schedule
from railgauge.plan.wall_time import LaunchTimes
from railgauge.run.amount import amounts
from railgauge.run.stopping import spans_of
from railgauge.run.time_left import TimeLeft

RUN = 2.5  # What a run takes beside its launches.
PAPERS = Path(__file__).parents[3] / "reports" / "papers"
PLANS = {
    **{path.stem: path for path in shipped("plans").values()},
    **{name: PAPERS / f"{name}.yaml" for name in ("machine/suite", "sharcnet/udp", "sharcnet/tcp")},
}
SPANNING = {"nightly"}  # Waits between replications, as its rules ask for.
# What no clock ends takes long in these: other programs, files and arrays, a number of MPI jobs.
UNSTEADY = SPANNING | {
    "compute-vs-network", "machine-cpu", "machine-disk", "machine-memory", "machine-network",
    "machine/suite",
}  # fmt: skip


@cache
def loaded(name: str) -> tuple[LoadedPlan, tuple[ExpandedTest, ...], tuple[Dispatch, ...]]:
    plan = load_plan(PLANS[name])
    tests = expand(plan)
    schedule = Schedule(
        tests,
        machines={host: settings.machine for host, settings in plan.plan.hosts.items()},
        concurrency=1,
        seed=1,
        interleaved=plan.plan.test_order == "interleaved",
    )
    return (
        plan,
        tests,
        tuple(dispatch for dispatches in schedule.rounds() for dispatch in dispatches),
    )


def waits(plan: LoadedPlan, dispatch: Dispatch) -> float:
    """Return what the parameters of a dispatch alone have railgauge wait for."""
    parameters, count = dispatch.case.parameters, len(dispatch.replications)
    engine = plan.catalogue.engine(dispatch.case.engine)
    length = float(parameters["duration"]) if engine.is_timed(parameters) else 0.0
    soaked = bool(parameters.get(SOAK))
    launches = count if soaked or engine.launched_singly else 1
    return count * length + launches * (float(parameters.get("warmup", 0)) + 2 * soaked)


@pytest.mark.parametrize("name", sorted(PLANS.keys() - SPANNING))
def test_a_shipped_plan_takes_the_sum_of_its_launches_parts(name: str) -> None:
    plan, tests, dispatches = loaded(name)
    times = LaunchTimes(plan.catalogue, plan.plan)
    parts = 0.0
    for dispatch in dispatches:
        time, count = times.of(dispatch), len(dispatch.replications)
        once = time.start + time.preparation + time.warmup + 2 * time.calibration
        parts += count * (time.duration + time.ending) + (count if time.single else 1) * once
    if plan.plan.concurrency == 1:
        assert amounts(plan, tests)[1].seconds == pytest.approx(RUN + parts)
    waiting = sum(waits(plan, dispatch) for dispatch in dispatches)
    assert waiting <= parts


@pytest.mark.parametrize("name", sorted(PLANS.keys() - UNSTEADY))
def test_the_time_left_is_right_from_the_tenth_replication_on(name: str) -> None:
    """Within a quarter, on a machine on which all that no clock ends takes twice the time."""
    plan, tests, dispatches = loaded(name)
    times = LaunchTimes(plan.catalogue, plan.plan)
    now = 0.0
    together = {test.test.name for test in tests if test.test.order == "sequential"}
    left = TimeLeft(dispatches, times, together=together, spans=spans_of(tests), clock=lambda: now)
    measured, estimates = 0, []
    for dispatch in dispatches:
        now += 2 * times.seconds(dispatch) - waits(plan, dispatch)
        for _ in dispatch.replications:
            left.measured(dispatch)
        measured += len(dispatch.replications)
        if measured >= 10:
            estimates.append((now, left.seconds()))
    assert all(abs(now - at - seconds) <= 0.25 * (now - at) + 1 for at, seconds in estimates)


def test_a_plan_takes_less_memory_than_its_rounds_would() -> None:
    plan, (test, *_), _ = loaded("quickstart")
    many = replace(test, test=test.test.model_copy(update={"replications": 1000}))
    tracemalloc.start()
    try:
        amount, _ = amounts(plan, [many])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert amount.rounds == 1000 * len(test.cases)
    assert most < amount.rounds * sys.getsizeof((test,))


BUDGETED = """\
railgauge: 1
name: budgeted
hosts: {{a: {{address: 10.0.0.1, netns: a}}, b: {{address: 10.0.0.2, netns: b}}}}
links: {{ab: {{from: a, to: b}}}}
tests:
  - name: stream
    engine: udp
    links: [ab]
    set: {{duration: 500ms}}
    replications: {{min: 10, max: 40, until: ci95 <= 1%, budget: {budget}}}
"""


@pytest.mark.parametrize(
    ("budget", "least", "most"), [("2s", (1, 4), (1, 4)), ("100ms", (1, 1), (1, 1)),
                                  ("15s", (10, 10), (11, 30)), ("1h", (10, 10), (40, 40))]
)  # fmt: skip
def test_a_rules_budget_counts(
    tmp_path: Path, budget: str, least: tuple[int, int], most: tuple[int, int]
) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(BUDGETED.format(budget=budget))
    plan = load_plan(file)
    amount = amounts(plan, expand(plan))
    for expected, (first, last) in zip(amount, (least, most), strict=True):
        assert first <= expected.replications <= last
        assert expected.seconds < RUN + 1.5 * last
    printed = command_line.railgauge("check", str(file)).stdout
    says = "ends a case after some "
    assert (says in printed) == (amount[1].replications < 10)
