"""What a plan says of how often is enough: rules, budgets, the changes that matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.problems import problems

from railgauge.cli import cli
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import LoadedPlan, load_plan_text
from railgauge.plan.replication_rule import Until, judged_metrics

PLAN = """\
railgauge: 1
name: p
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
links:
  ab: {from: a, to: b}
  ba: {from: b, to: a}
tests:
  - name: stream
    engine: udp
    set: {duration: 2s}
"""


def read(*lines: str) -> LoadedPlan:
    return load_plan_text("\n".join([PLAN.rstrip(), *lines, ""]), "p.yaml", Path("nowhere"))


def mistakes(*lines: str) -> str:
    return "\n".join(problems(read, *lines))


@pytest.mark.parametrize(
    ("written", "until"),
    [
        ("ci95 <= 1%", Until("median", 0.01)),
        ("ci95(median)<=2.5%", Until("median", 0.025)),
        ("ci95 ( mean ) <= 0.5 %", Until("mean", 0.005)),
    ],
)
def test_a_rule_says_of_which_statistic_and_within_which_share(written: str, until: Until) -> None:
    test = read(f"    replications: {{until: {written}}}").plan.tests[0]
    assert test.rule is not None
    assert test.rule.until == until
    assert (test.least, test.most, test.order) == (10, 50, "random")


def test_a_number_of_replications_stays_one() -> None:
    test = read("    replications: 7").plan.tests[0]
    assert (test.rule, test.least, test.most, test.order) == (None, 7, 7, "interleaved")


def test_all_of_a_rule_is_read() -> None:
    rule = "{min: 6, max: 9, until: ci95 <= 1%, metric: throughput, span: 1min, budget: 5min}"
    test = read(f"    replications: {rule}", "    order: interleaved").plan.tests[0]
    assert test.rule is not None
    assert (test.least, test.most, test.order) == (6, 9, "interleaved")
    assert (test.rule.metric, test.rule.span, test.rule.budget) == (["throughput"], 60.0, 300.0)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{until: 1%}", "13:27: 'until': the text '1%' is no end: write 'ci95 <= 1%'"),
        ("{until: ci95 <= 0%}", "the text 'ci95 <= 0%' is no end"),
        ("{until: ci95 <= 100%}", "the text 'ci95 <= 100%' is no end"),
        ("{until: ci95 <= 1%, min: 5}", "13:19: 'replications': 'min' is 5, but fewer than 6"),
        ("{until: ci95 <= 1%, max: 9}", "'max' is 9, less than 'min', which is 10 if the plan"),
        ("{until: ci95 <= 1%, maximum: 9}", "13:39: unknown key 'maximum': did you mean 'max'?"),
        ("{until: ci95 <= 1%, span: 3}", "13:45: 'span': 3 has no unit"),
        ("{until: ci95 <= 1%, budget: 0s}", "'budget': '0s' is out of range"),
        (
            "{until: ci95 <= 1%, metric: thruput}",
            "13:47: engine udp has no metric 'thruput': did you mean 'throughput'?",
        ),
        ("{until: ci95 <= 1%, metric: rtt_p50}", "engine udp gives no rtt_p50 in mode stream"),
        ("{until: ci95 <= 1%, metric: []}", "the list is empty: name a metric"),
    ],
)
def test_a_faulty_rule_is_reported(written: str, message: str) -> None:
    assert message in mistakes(f"    replications: {written}")


def test_a_mean_has_an_interval_from_two_values_on() -> None:
    test = read("    replications: {until: ci95(mean) <= 1%, min: 2}").plan.tests[0]
    assert test.least == 2


def test_a_rule_can_not_be_asked_after_each_replication_of_one_launch() -> None:
    message = mistakes("    replications: {until: ci95 <= 1%}", "    order: sequential")
    assert "'order: sequential' measures a case at one go" in message


def test_the_metric_that_is_judged_is_the_first_that_the_mode_gives() -> None:
    engine = load_catalogue().engine("udp")
    rule = read("    replications: {until: ci95 <= 1%}").plan.tests[0].rule
    assert rule is not None
    assert judged_metrics(rule, engine, "stream") == ("throughput",)
    assert judged_metrics(rule, engine, "latency") == ("rtt_p50",)
    named = rule.model_copy(update={"metric": ["rtt_p99", "throughput"]})
    assert judged_metrics(named, engine, "stream") == ("throughput",)


def test_changes_that_matter_are_shares_by_metric() -> None:
    assert read().plan.smallest("throughput") is None
    assert read("smallest_change: 3%").plan.smallest("throughput") == 0.03
    plan = read("smallest_change: {default: 2%, throughput: 0.5 %, client_cpu_load: 10%}").plan
    changes = [plan.smallest(name) for name in ("throughput", "client_cpu_load", "jitter")]
    assert changes == [0.005, 0.1, 0.02]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("3", "13:18: 'smallest_change': the number 3 is no share: write for example 2%"),
        ("{default: 0%}", "'default': the text '0%' is no share"),
        ("{thruput: 3%}", "13:19: no engine of this plan gives a metric 'thruput': did you mean"),
    ],
)
def test_a_faulty_change_that_matters_is_reported(written: str, message: str) -> None:
    assert message in mistakes(f"smallest_change: {written}")


def check(folder: Path, *lines: str) -> str:
    answer = check_json(folder, *lines)
    assert answer["least_replications"] <= answer["replications"]
    assert answer["least_seconds"] <= answer["seconds"]
    answered = CliRunner().invoke(cli, ["check", str(folder / "p.yaml")])
    assert answered.exit_code == 0, answered.output
    return answered.output


def check_json(folder: Path, *lines: str) -> Any:
    plan = folder / "p.yaml"
    plan.write_text("\n".join([PLAN.rstrip(), *lines, ""]))
    answered = CliRunner().invoke(cli, ["check", str(plan), "--json"])
    assert answered.exit_code == 0, answered.output
    return json.loads(answered.output)


def test_check_says_how_much_it_takes_from_the_least_to_the_most(tmp_path: Path) -> None:
    output = check(tmp_path, "    replications: {min: 10, max: 30, until: ci95 <= 1%}")
    assert "2 cases × 10 to 30 replications, until ci95(median) <= 1%, random" in output
    assert "2 cases, 20 to 60 replications, 20 to 60 rounds" in output
    assert "2 cases × 1 replication, interleaved" in check(tmp_path, "    replications: 1")
    assert "about 45 s to 2 min" in output


def test_check_counts_what_a_rule_takes_to_end_a_case_at_all(tmp_path: Path) -> None:
    output = check(tmp_path, "    replications: {min: 6, until: ci95 <= 1%}")
    assert "2 cases × 8 to 50 replications, until ci95(median) <= 1%, random" in output
    assert "2 cases, 16 to 100 replications" in output
    output = check(tmp_path, "    replications: {max: 25, until: ci95(mean) <= 1%}")
    assert (
        "2 cases × 25 replications, until ci95(mean) <= 1% "
        "(none ends before 29 where the mean is judged), random"
    ) in output
    assert "2 cases, 50 replications" in output
    output = check(tmp_path, "    replications: {min: 6, max: 6, until: ci95 <= 1%}")
    assert "2 cases × 6 replications, until ci95(median) <= 1%, random" in output


def test_check_says_how_long_a_replication_may_take(tmp_path: Path) -> None:
    assert "interleaved, each within 2 min" in check(tmp_path)
    assert "interleaved, each within 3.0 h" in check(tmp_path, "    limit: 3h")


def test_check_knows_that_a_span_takes_its_time_and_a_budget_cuts_it(tmp_path: Path) -> None:
    rule = "{min: 10, max: 30, until: ci95 <= 1%, span: 1h}"
    output = check(tmp_path, f"    replications: {rule}", "budget: 30min")
    assert "about 60 min to 62 min, but ends after 30 min" in output


def test_check_counts_what_is_measured_after_the_span(tmp_path: Path) -> None:
    # The tenth replication of both cases begins two minutes after the first, then there are 20.
    rule = "{min: 10, max: 30, until: ci95 <= 1%, span: 2min}"
    answer = check_json(tmp_path, f"    replications: {rule}")
    replication_seconds = (answer["seconds"] - answer["least_seconds"]) / (20 * 2)
    assert 2.0 < replication_seconds < 2.5
    assert (
        120 + 4 * replication_seconds < answer["least_seconds"] < 120 + 4 * replication_seconds + 5
    )
