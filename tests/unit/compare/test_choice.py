"""What of each case is compared: which metrics, of which of the runs' tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, MOMENT, RUN, execute, failed
from tests.support.verdict_samples import add_run, lane, noisy, verdict

from railgauge.cli.comparing import compare
from railgauge.cli.diffing import diff
from railgauge.compare.reading import read
from railgauge.compare.renames import Rename
from railgauge.compare.verdict import verdict_between
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.report.verdicts.verdict_words import sentence
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase, StoredRun

METRICS = {
    "throughput": MetricInfo("bit/s", "higher"),
    "solve_time": MetricInfo("s", "lower"),
    "warmth": MetricInfo("K", "neither"),
}


def add(
    database: Path,
    cases: Mapping[int, Mapping[str, Sequence[float]]],
    *,
    test: str = "mixed",
    metrics: Mapping[str, MetricInfo] = METRICS,
) -> int:
    """Store a run with these metrics' values of these lanes; of one without, three fail."""
    with Store.open(str(database)) as store:
        planned = [PlannedCase(test, lane(number), 10) for number in cases]
        run = store.begin_run(RUN, planned, {"udp": metrics})
        for number, metric_values in cases.items():
            key = lane(number).key
            for place, values in enumerate(zip(*metric_values.values(), strict=True), 1):
                outcome = Outcome(
                    place, MOMENT + place, dict(zip(metric_values, values, strict=True))
                )
                store.add(run, test, key, outcome, LAUNCH)
            for place in range(1, 0 if metric_values else 4):
                store.add(run, test, key, failed(place), LAUNCH)
        store.finish_run(run, "complete")
    return run


def test_a_case_without_a_headline_metric_is_judged_by_its_own_beside_one_with_it(database: Path):
    for seed in (1, 2, 3):
        add(database, {1: {"throughput": noisy(seed=seed)}, 2: {"solve_time": noisy(1, seed=seed)}})
    add(database, {1: {"throughput": noisy(seed=4)}, 2: {"solve_time": noisy(10)}})
    run_verdict = verdict(database, (1, 2, 3), (4,))
    changes = {
        (result.case.key, result.metric): result.judged.change
        for result in run_verdict.comparison.results
    }
    assert changes == {(lane(1).key, "throughput"): "same", (lane(2).key, "solve_time"): "slower"}


def test_a_case_that_failed_lacks_what_it_gave_before_and_not_what_its_neighbours_give(
    database: Path,
):
    add(database, {1: {"throughput": noisy()}, 2: {"solve_time": noisy(1)}})
    add(database, {1: {"throughput": noisy(seed=2)}, 2: {}}, test="new")
    judged = verdict(database)
    (lost,) = judged.lost
    assert not judged.passed and not judged.slower and not judged.problems
    assert (lost.metric, lost.sides[0].n, lost.sides[1].failed) == ("solve_time", 10, 3)
    assert lost.judged.reason == "after, 3 replications failed and none was measured"


def test_a_headline_metric_that_its_engine_does_not_judge_is_neither_slower_nor_lost(
    database: Path,
):
    # MPI's overlap, which is left out on a busy machine.
    metrics = {**METRICS, "overlap": MetricInfo("", "higher")}
    for overlaps in ({"overlap": noisy(0.9)}, {"overlap": noisy(0.5)}, {}):
        values = {1: {"throughput": noisy(), **overlaps}}
        add(database, values, metrics=metrics)
    for night in (2, 3):
        run_verdict = verdict(database, (1,), (night,))
        assert run_verdict.passed
        assert [result.metric for result in run_verdict.comparison.results] == ["throughput"]
    with Store.open(str(database)) as store:
        named = verdict_between(store, "1", "2", plan="", metrics=["overlap"])
    assert [result.metric for result in named.slower] == ["overlap"]


@pytest.mark.parametrize(
    ("percentiles", "mean"), [(("rtt_p50", "rtt_p99"), "rtt_mean"), (("time_p50",), "back_to_back")]
)
def test_what_is_rarer_than_percentiles_show_is_slower_by_the_mean(
    database: Path, percentiles: Sequence[str], mean: str
):
    # One segment in a thousand is lost, and sent again after 200 ms.
    info = MetricInfo("s", "lower")
    for level in (50e-6, 250e-6):
        same = {name: noisy(40e-6, seed=number) for number, name in enumerate(percentiles)}
        values = {1: {**same, mean: noisy(level)}}
        add(database, values, metrics=dict.fromkeys(values[1], info))
    run_verdict = verdict(database)
    assert not run_verdict.passed
    assert [result.metric for result in run_verdict.slower] == [mean]


def test_a_quantity_that_a_case_gives_twice_is_judged_once(database: Path):
    # NetPIPE's, qperf's and OSU's half of a round trip and the whole of it.
    info = dict.fromkeys(("latency", "rtt_mean"), MetricInfo("s", "lower"))
    for seed, level in enumerate((25e-6, 25e-6, 25e-6, 30e-6)):
        halves = noisy(level, seed=seed)
        add(
            database,
            {1: {"latency": halves, "rtt_mean": [2 * half for half in halves]}},
            metrics=info,
        )
    run_verdict = verdict(database, (1, 2, 3), (4,))
    assert [(r.metric, r.judged.change) for r in run_verdict.comparison.results] == [
        ("latency", "slower")
    ]
    with Store.open(str(database)) as store:
        named = verdict_between(store, "1", "4", plan="", metrics=["rtt_mean"])
    assert [result.metric for result in named.slower] == ["rtt_mean"]


def test_metrics_that_the_first_side_never_measured_are_named(database: Path):
    # Losses of round trips, which engines reported of streams alone.
    metrics = {"rtt_p50": MetricInfo("s", "lower"), "loss_rate": MetricInfo("", "lower")}
    for seed in (1, 2, 3):
        add(database, {1: {"rtt_p50": noisy(1e-4, seed=seed)}}, metrics=metrics)
    lossy = {1: {"rtt_p50": noisy(1e-4, seed=4), "loss_rate": noisy(0.01)}}
    add(database, lossy, metrics=metrics)
    with Store.open(str(database)) as store:
        store.set_baseline("three", [1, 2, 3], "")
        late = verdict_between(store, "three", "4", plan="")
    assert late.passed
    assert late.notes == (
        "1 of 2 results: no value of loss_rate in baseline three (runs 1, 2, 3), so that"
        " nothing shows a change: name newer runs",
    )


def test_of_a_change_that_no_median_shows_values_above_zero_are_counted(database: Path):
    metrics = {"loss_rate": MetricInfo("1", "lower")}
    for _ in range(3):
        add(database, {1: {"loss_rate": [0.0] * 10}}, metrics=metrics)
    add(database, {1: {"loss_rate": [0.0] * 11 + [0.002] * 9}}, metrics=metrics)
    (result,) = verdict(database, (1, 2, 3), (4,)).slower
    assert sentence(result).startswith("loss_rate 0 % → 0 %, q = ")
    assert "n = 30 and 20, not 0: 0 and 9: slower; more than before, when most" in sentence(result)


def test_cases_that_a_run_of_the_baseline_was_stopped_before_are_counted(database: Path):
    with Store.open(str(database)) as store:
        add_run(store, {1: noisy(seed=1), 2: ()})
        execute(str(database), "UPDATE run SET state = 'interrupted', checksum = NULL")
        add_run(store, {1: noisy(seed=2), 2: noisy(seed=3)})
        store.set_baseline("first", [1], "")
        notes = verdict_between(store, "first", "2", plan="").notes
    assert (
        "1 of 2 results: no value of their cases in baseline first (run 1), as run 1 was not"
        " measured to its end, so that nothing shows a change: name runs that measured them"
    ) in notes


def test_cases_with_too_few_values_to_show_any_change_are_counted_beside_others(database: Path):
    note = "1 of 2 results: 5 and 1 replications can't show any change: take 4 of each"
    for seed in range(6):
        add_run(database, {1: noisy(seed=seed), 2: noisy(n=1, seed=seed)})
    with Store.open(str(database)) as store:
        store.set_baseline("five", [1, 2, 3, 4, 5], "")
        assert verdict_between(store, "five", "6", plan="").notes == (note,)
        # Where that is all there is, it is a problem.
        add_run(store, {2: noisy(n=1)})
        alone = verdict_between(store, "five", "7", plan="")
    assert (len(alone.problems), alone.notes) == (1, ())


@pytest.mark.parametrize("metric", ["throughput", "solve_time"])
def test_failed_replications_count_in_a_run_of_which_all_failed(database: Path, metric: str):
    for seed in (1, 2):
        add(database, {1: {metric: noisy(seed=seed)}})
    add(database, {1: {}})
    (result,) = verdict(database, (1,), (2, 3)).comparison.results
    assert [(side.n, side.failed) for side in result.sides] == [(10, 0), (10, 3)]


def test_a_test_that_got_another_name_within_a_side_keeps_its_cases(database: Path):
    for seed, test in enumerate(("first", "old", "new"), 1):
        add_run(database, {1: noisy(seed=seed), 2: noisy(seed=seed + 5)}, test=test)
    add_run(database, {1: noisy(seed=4), 2: noisy(seed=9)}, test="new")
    compared = verdict(database, (1, 2, 3), (4,)).comparison
    assert [[side.n for side in result.sides] for result in compared.results] == [[30, 10]] * 2
    assert compared.cases_only == ((), ())
    assert compared.renamed == (Rename("first", "new", 1, 2), Rename("old", "new", 2, 2))
    turned = verdict(database, (4,), (1, 2, 3)).comparison
    assert [[side.n for side in result.sides] for result in turned.results] == [[10, 30]] * 2


def test_cases_that_two_tests_of_a_run_have_are_each_their_own(database: Path):
    add_run(database, {1: noisy(seed=1)}, test="old")
    with Store.open(str(database)) as store:
        planned = [PlannedCase(test, lane(1), 10) for test in ("old", "new")]
        info = {"udp": {"throughput": METRICS["throughput"]}}
        run = store.begin_run(RUN, planned, info)
        for test in ("old", "new"):
            for place, value in enumerate(noisy(seed=2), 1):
                outcome = Outcome(place, MOMENT + place, {"throughput": value})
                store.add(run, test, lane(1).key, outcome, LAUNCH)
        store.finish_run(run, "complete")
    add_run(database, {1: noisy(seed=3)}, test="new")
    compared = verdict(database, (1, 2), (3,)).comparison
    assert [[side.n for side in result.sides] for result in compared.results] == [[10, 10]]
    assert [planned.test for planned in compared.cases_only[0]] == ["old"]


def test_a_case_of_which_nothing_has_a_direction_is_told(database: Path):
    for seed in (1, 2):
        add(database, {1: {"throughput": noisy(seed=seed)}, 2: {"warmth": noisy(seed=seed)}})
    compared = verdict(database).comparison
    assert (len(compared.results), compared.undirected) == (1, 1)
    output = CliRunner().invoke(compare, ["1", "2", "--db", str(database)]).output
    note = "1 case was not compared: it has no metric of which more or less is better"
    assert note in output.splitlines()


def test_of_runs_that_share_only_such_cases_diff_does_not_say_that_they_share_none(database: Path):
    for seed in (1, 2):
        add(database, {1: {"warmth": noisy(seed=seed)}})
    lines = CliRunner().invoke(diff, ["1", "2", "--db", str(database)]).output.splitlines()
    assert "no case is in both runs" not in lines
    assert "1 case was not compared: it has no metric of which more or less is better" in lines
    add(database, {2: {"warmth": noisy()}})
    lines = CliRunner().invoke(diff, ["1", "3", "--db", str(database)]).output.splitlines()
    assert "no case is in both runs" in lines


@pytest.mark.parametrize("metric", ["throughput", "solve_time"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_metric_that_lost_its_direction_is_another_one_and_not_lost(
    database: Path, metric: str, turned: bool
):
    neither = {**METRICS, metric: MetricInfo("s", "neither")}
    directed = {**METRICS, metric: MetricInfo("s", "lower")}
    for info in (neither, directed) if turned else (directed, neither):
        add(database, {1: {metric: noisy()}}, metrics=info)
    run_verdict = verdict(database)
    (result,) = run_verdict.comparison.results
    assert [side.n for side in result.sides] == [0, 10]
    direction = "neither more nor less" if turned else "lower"
    assert result.judged.reason == (
        f"before, it was another metric, in s, of which {direction} is better"
    )
    assert run_verdict.lost == []
    assert "nothing was measured" not in "\n".join(verdict_lines(run_verdict, load_catalogue()))


def test_a_side_whose_runs_disagree_about_a_direction_is_not_judged_without_one(database: Path):
    neither = {**METRICS, "throughput": MetricInfo("bit/s", "neither")}
    for seed, info in enumerate((METRICS, neither, neither)):
        add(database, {1: {"throughput": noisy(seed=seed)}}, metrics=info)
    (result,) = verdict(database, (1, 2), (3,)).comparison.results
    assert result.judged.change == "not enough data"
    assert result.judged.reason == "of the metric, as it is now, neither more nor less is better"
    assert verdict(database, (2,), (3,)).comparison.undirected == 1


def test_what_failed_is_not_looked_for_among_all_metrics(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    add(database, {1: {"throughput": noisy()}, 2: {}})
    calls = []
    with Store.open(str(database)) as store:
        series = Store.series
        monkeypatch.setattr(Store, "series", lambda *args: calls.append(args) or series(*args))
        read(store, [1])
    assert len(calls) == 1


def test_a_case_that_failed_in_every_run_is_told_once_and_not_by_its_neighbours_metrics(
    database: Path,
):
    rates = {**METRICS, "latency": MetricInfo("s", "lower")}
    for seed in (1, 2):
        values = {"throughput": noisy(seed=seed), "latency": noisy(1e-3, seed=seed)}
        add(database, {1: values, 2: {}}, metrics=rates)
    run_verdict = verdict(database)
    (failed_one,) = (
        result for result in run_verdict.comparison.results if result.case.key == lane(2).key
    )
    assert (failed_one.metric, failed_one.unit) == ("", "")
    assert [(side.n, side.failed) for side in failed_one.sides] == [(0, 3), (0, 3)]
    assert failed_one.judged.change == "not enough data"
    reason = "3 replications failed and none was measured"
    assert failed_one.judged.reason == f"before, {reason}; after, {reason}"
    assert (len(run_verdict.comparison.results), run_verdict.lost) == (3, [])
    lines = list(verdict_lines(run_verdict, load_catalogue(), all_results=True))
    assert f"not enough data: mixed: gw→hh · lane 2: {failed_one.judged.reason}" in lines
    (row,) = (line for line in lines if line.startswith("mixed  ") and "lane 2" in line)
    assert row.split()[5:10] == ["–", "–", "0", "3f", "–"]


def test_a_case_that_was_skipped_in_every_run_is_told_once(database: Path):
    for seed in (1, 2):
        add_run(database, {1: noisy(seed=seed), 2: []}, skipped="no huge pages")
    results = verdict(database).comparison.results
    (skipped,) = (result for result in results if result.case.key == lane(2).key)
    assert skipped.metric == ""
    reason = "it was skipped: no huge pages"
    assert skipped.judged.reason == f"before, {reason}; after, {reason}"


class StoreWithoutRuns(Store):
    """A store in which nobody may read all about a run: it may have many cases."""

    def run(self, run_id: int) -> StoredRun:
        """Refuse to."""
        raise AssertionError(f"all about run {run_id} is read")


def test_the_second_side_is_of_the_first_ones_plan_without_reading_all_its_cases(database: Path):
    for seed, plan in enumerate(("fabric", "fabric", "other")):
        add_run(database, {1: noisy(seed=seed)}, new=replace(RUN, plan=plan))
    with StoreWithoutRuns.open(str(database)) as store:
        store.set_baseline("good", [1])
        answer = verdict_between(store, "good", "latest", plan="")
    assert answer.comparison.selected[1].runs == (2,)
