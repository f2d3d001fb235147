"""How long the cases of a plan took when it was last measured, and that `check` goes by it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.store_samples import METRICS, MOMENT, RUN, system_log

from railgauge.cli import cli
from railgauge.plan.cases import expand
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.partial import ONLY
from railgauge.run.observed_times import NOTHING, observed, observed_in
from railgauge.store import Store
from railgauge.store.records import Launch, Outcome, PlannedCase

PLAN = """\
railgauge: 1
name: counted
hosts: {a: {address: 10.0.0.1, transport: local}, b: {address: 10.0.0.2, transport: local}}
links: {ab: {from: a, to: b}}
tests:
  - {name: t, engine: udp, set: {mode: stream, count: 100000000}, grid: {datagram: [100, 200]},
     replications: 4}
  - {name: spanned, engine: udp, set: {mode: stream}, links: [ab],
     replications: {min: 10, max: 20, until: ci95 <= 1%, span: 1min}}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedPlan:
    (tmp_path / "counted.yaml").write_text(PLAN)
    return load_plan(tmp_path / "counted.yaml")


def store_run(
    store: Store,
    loaded: LoadedPlan,
    starts: list[tuple[int, float, int, str]],
    text: str = PLAN,
    **files: str,
) -> int:
    """Store a run of launches: case, start (s), how many replications, how the last one ended."""
    named = replace(RUN, plan="counted", plan_text=text, files=files)
    cases = [(test.test.name, case) for test in expand(loaded) for case in test.cases]
    number = store.begin_run(named, [PlannedCase(*pair, 4) for pair in cases], METRICS)
    counts = [0] * len(cases)
    for place, start, replications, status in starts:
        launch = Launch(MOMENT + start)
        for position in range(replications):
            counts[place] += 1
            ended = status if position == replications - 1 else "ok"
            metrics = {} if ended == "failed" else {"throughput": 1e9, "loss_rate": 0.0}
            outcome = Outcome(counts[place], MOMENT, metrics, ended)  # type: ignore[arg-type]
            test, case = cases[place]
            store.add(number, test, case.key, outcome, launch)
    return number


def test_a_replication_took_its_part_of_the_time_until_the_next_launch(
    tmp_path: Path, loaded: LoadedPlan
) -> None:
    tests = expand(loaded)
    (tmp_path / "empty.db").touch()
    absent = str(tmp_path / "absent.db")
    for where in (absent, f"sqlite:///{absent}", str(tmp_path / "empty.db")):
        assert observed_in(where, loaded, tests) == NOTHING
    where = str(tmp_path / "runs.db")
    with Store.open(where, create=True) as store:
        assert observed(store, loaded, tests) == NOTHING
        first = store_run(
            store,
            loaded,
            [
                (0, 0.0, 1, "ok"),  # 10 s
                (0, 10.0, 1, "failed"),  # a launch that failed tells nothing
                (0, 11.0, 2, "ok"),  # 12 s each
                (1, 35.0, 1, "ok"),  # 5 s
                (0, 40.0, 1, "ok"),  # what comes next was waited for
                (2, 90.0, 1, "ok"),  # a test that spans some time waits, too
                (1, 100.0, 1, "ok"),  # the last one: who knows
            ],
        )
        key, other_key = (case.key for case in tests[0].cases)
        expected = {("t", key): 11.0, ("t", other_key): 5.0}
        assert observed(store, loaded, tests) == (first, expected)
        store_run(store, loaded, [])  # Nothing was measured.
        assert observed(store, loaded, tests) == (first, expected)
        # A gate measured one case once more.
        store_run(store, loaded, [(0, 0.0, 1, "ok"), (0, 20.0, 1, "ok")], **{ONLY: "[]"})
        assert observed(store, loaded, tests) == (first, expected)
        # Launches side by side, as the plan was then, say nothing of how long each was.
        side_by_side = [(0, 0.0, 1, "ok"), (1, 0.0, 1, "ok"), (0, 10.0, 1, "ok")]
        store_run(store, loaded, side_by_side, f"{PLAN}concurrency: 2\n")
        assert observed(store, loaded, tests) == (first, expected)

    plan_file = str(tmp_path / "counted.yaml")
    without = check(plan_file, str(tmp_path / "absent.db"))
    assert (without["unknown_launches"], without["timed_by_run"]) == (8, None)
    with_run = check(plan_file, where)
    assert (with_run["unknown_launches"], with_run["timed_by_run"]) == (0, first)
    # The spanned test takes a minute and two replications of 5 s, before and after it.
    assert 64 + 70 < with_run["least_seconds"] < 64 + 70 + 6


def test_a_pause_and_a_clock_that_was_set_are_no_part_of_a_launch(
    tmp_path: Path, loaded: LoadedPlan
) -> None:
    tests = expand(loaded)
    key, other_key = (case.key for case in tests[0].cases)
    with Store.open(str(tmp_path / "runs.db"), create=True) as store:
        run = store_run(
            store,
            loaded,
            [
                (0, 0.0, 1, "ok"),  # stopped after it, and resumed on the next day
                (1, 86400.0, 1, "ok"),  # 10 s
                (0, 86410.0, 1, "ok"),  # 8 s
                (1, 86418.0, 1, "ok"),  # set back by a quarter of a minute
                (0, 86413.0, 1, "ok"),  # 8 s
                (1, 86421.0, 1, "ok"),
            ],
        )
        assert observed(store, loaded, tests) == (run, {("t", key): 8.0, ("t", other_key): 10.0})


def test_a_run_that_was_resumed_took_no_longer_for_it(tmp_path: Path, loaded: LoadedPlan) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        # Stopped in the first case's launch, and for ten hours.
        launches = [(0, 0.0, 2, "ok"), (0, 36_000.0, 2, "ok"), (1, 36_010.0, 4, "ok")]
        run = store_run(store, loaded, launches)
        for start in (-1.0, 35_999.0):
            store.add_logs(run, [system_log(phase="before", started_at=MOMENT + start)])
        tests = expand(loaded)
        key = tests[0].cases[0].key
        assert observed(store, loaded, tests) == (run, {("t", key): 5.0})


def check(plan: str, where: str) -> Any:
    answered = CliRunner().invoke(cli, ["check", plan, "--db", where, "--json"])
    assert answered.exit_code == 0, answered.output
    return json.loads(answered.output)
