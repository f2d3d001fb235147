"""`railgauge compare`: what it is given, what it judges, what it says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.store_samples import RUN, SUSPICIONS, measured
from tests.support.verdict_samples import add_run, lane, noisy, verdict

from railgauge.base.errors import EnvironmentFailedError, InputError, RailgaugeError
from railgauge.cli.comparing import compare
from railgauge.cli.output_files import write
from railgauge.compare.select import select
from railgauge.plan.partial import ONLY
from railgauge.store import Store

COMMITS = ("a" * 40, "b" * 40)


def compare_output(database: Path, *arguments: str) -> str:
    result = _invoke(database, *arguments)
    assert result.exit_code == 0, result.output
    return result.output


def _invoke(database: Path, *arguments: str) -> Result:
    return CliRunner().invoke(compare, [*arguments, "--db", str(database)])


def selected(database: Path, name: str, plan: str = "") -> tuple[int, ...]:
    with Store.open(str(database)) as store:
        return select(store, name, plan=plan).runs


@pytest.fixture
def mixed_database(database: Path) -> Path:
    """Two runs of a commit, one of another, one of another plan, one of some cases only."""
    for number, commit in enumerate((COMMITS[0], COMMITS[0], COMMITS[1]), 1):
        new = replace(RUN, git_commit=commit)
        add_run(database, {1: noisy(seed=number)}, new=new)
    add_run(database, {1: noisy(seed=4)}, new=replace(RUN, plan="other", git_commit=COMMITS[1]))
    only = replace(RUN, git_commit=COMMITS[1], files={ONLY: f"{lane().key} stream\n"})
    add_run(database, {1: noisy(seed=5)}, new=only)
    return database


def test_a_runs_number_is_that_run(mixed_database: Path):
    assert selected(mixed_database, "2") == (2,)
    with pytest.raises(InputError, match="there is no run 9"):
        selected(mixed_database, "9")


def test_a_commit_is_all_its_whole_runs_of_the_plan(mixed_database: Path):
    assert selected(mixed_database, COMMITS[0][:7]) == (1, 2)
    assert selected(mixed_database, COMMITS[1], "sharcnet-udp") == (3,)
    assert selected(mixed_database, COMMITS[1][:9].upper(), "other") == (4,)
    with pytest.raises(InputError, match="runs of several plans: say which by --plan"):
        selected(mixed_database, COMMITS[1])


def test_a_baseline_is_its_runs_and_goes_before_a_commit(mixed_database: Path):
    with Store.open(str(mixed_database)) as store:
        store.set_baseline(COMMITS[0][:8], [3])
    assert selected(mixed_database, COMMITS[0][:8]) == (3,)


def test_latest_is_the_last_whole_run_of_the_plan(mixed_database: Path):
    assert selected(mixed_database, "latest") == (4,)
    assert selected(mixed_database, "latest", "sharcnet-udp") == (3,)


def test_sides_that_are_not_of_the_plan_are_refused(mixed_database: Path):
    for sides, plan, message in (
        (("1", "2"), "othr", "there is no run of plan 'othr' in .*: did you mean 'other'?"),
        (("1", "4"), "sharcnet-udp", "run 4 is of plan 'other', not 'sharcnet-udp'"),
    ):
        result = _invoke(mixed_database, *sides, "--plan", plan)
        assert isinstance(result.exception, InputError)
        assert re.match(message, str(result.exception))
    assert "run 4" in compare_output(mixed_database, "latest", "4", "--plan", "other")


def test_a_day_is_all_runs_begun_on_it(mixed_database: Path):
    with Store.open(str(mixed_database)) as store:
        day = store.runs()[0].started_at[:10]
    assert selected(mixed_database, day, "sharcnet-udp") in ((1, 2, 3), (1, 2), (1,))
    with pytest.raises(InputError, match="there is no run of 2019-02-28"):
        selected(mixed_database, "2019-02-28")
    with pytest.raises(InputError, match="2019-02-30 is no date"):
        selected(mixed_database, "2019-02-30")


def test_what_is_nothing_of_these_is_told_with_what_there_is(mixed_database: Path):
    with Store.open(str(mixed_database)) as store:
        store.set_baseline("good", [1])
    with pytest.raises(InputError, match=r"'better' is no baseline.*baselines here: good"):
        selected(mixed_database, "better")


def test_a_slower_case_is_told_with_ratio_interval_and_counts(database: Path):
    for seed in range(1, 5):
        add_run(database, {number: noisy(seed=10 * seed + number) for number in range(1, 6)})
    with Store.open(str(database)) as store:
        store.set_baseline("good", [1, 2, 3, 4])
    after = {number: noisy(seed=60 + number) for number in range(1, 6)}
    after[3] = noisy(0.97e9, seed=2)
    add_run(database, after)
    lines = compare_output(database, "good", "5").splitlines()
    assert lines[0] == "1 of 5 cases slower (baseline good (runs 1, 2, 3, 4) → run 5)"
    assert lines[1].startswith("slower: stream: gw→hh · lane 3: throughput 1")
    assert ": slower; " in lines[1]
    assert "5 results: 1 slower, 4 same" in lines
    assert not any("lane 4" in line for line in lines)
    assert any(
        "lane 4" in line for line in compare_output(database, "good", "5", "--all").splitlines()
    )


def test_too_few_baseline_runs_are_told_in_one_sentence_with_what_to_do(database: Path):
    add_run(database, {number: noisy() for number in range(1, 6)})
    with Store.open(str(database)) as store:
        store.set_baseline("good", [1])
    add_run(database, {number: noisy(0.97e9, seed=2) for number in range(1, 6)})
    sentence = (
        "5 of 5 results: not enough baseline runs: with fewer than three, runs are taken to differ"
        " by up to 9.5 %; name three good runs: railgauge baseline set good 1 RUN RUN --replace"
    )
    text = compare_output(database, "good", "2")
    assert text.splitlines()[:2] == [
        "nothing could be shown to be slower, not enough data for 5 of 5 results "
        "(baseline good (run 1) → run 2)",
        sentence,
    ]
    assert text.count("not enough baseline runs") == 1
    assert compare_output(database, "good", "2", "--all").count("not enough baseline runs") == 2
    report = json.loads(compare_output(database, "good", "2", "--json"))
    assert report["notes"] == [sentence]
    assert {result["why"] for result in report["results"]} == {
        sentence[len("5 of 5 results: ") : sentence.index(";")]
    }
    assert "railgauge baseline set NAME 1 RUN RUN\n" in compare_output(database, "1", "2")


def test_a_verdict_that_rests_on_suspect_replications_says_so(database: Path):
    add_run(database, {1: noisy()})
    after = [
        measured(number, value, status="suspect", suspicions=SUSPICIONS[:1])
        if number < 4
        else measured(number, value)
        for number, value in enumerate(noisy(0.9e9), 1)
    ]
    add_run(database, {1: after})
    lines = compare_output(database, "1", "2").splitlines()
    assert "n = 10 and 10 (3 suspect): slower; " in lines[1]


def test_the_smallest_change_that_matters_is_the_plans(database: Path):
    for seed, level in ((1, 1e9), (2, 0.97e9)):
        add_run(database, {1: noisy(level, seed=seed)}, smallest=0.15)
    (result,) = verdict(database).comparison.results
    assert result.smallest == 0.15
    assert result.judged.change == "same"


@pytest.mark.parametrize(
    ("unit", "better"), [("B/s", "higher"), ("bit/s", "lower")], ids=["unit", "direction"]
)
def test_a_metric_that_became_another_one_is_not_compared_with_itself(
    database: Path, unit: str, better: str
):
    add_run(database, {1: noisy(), 2: noisy()})
    add_run(database, {1: noisy(2e9), 2: noisy(0.5e9)}, unit=unit, better=better)
    text = compare_output(database, "1", "2", "--all")
    assert "2 results: 2 not enough data" in text
    (result, _) = verdict(database).comparison.results
    assert (result.sides[0].n, result.unit, result.better) == (0, unit, better)
    assert result.judged.reason == (
        "before, it was another metric, in bit/s, of which higher is better"
    )


def test_runs_whose_metric_was_another_one_are_named_where_their_side_has_others(database: Path):
    for number, kind in enumerate(({}, {"unit": "B/s"}, {"better": "lower"}, {}, {"unit": "B/s"})):
        add_run(database, {1: noisy(seed=number), 2: noisy(2e9, seed=number)}, **kind)
    with Store.open(str(database)) as store:
        store.set_baseline("good", [1, 2, 3, 5])
    note = "without run {}, where throughput is another metric, in {}, of which {} is better"
    lines = compare_output(database, "good", "4").splitlines()
    assert "2 of 2 results: " + note.format("2, run 5", "B/s", "higher") in lines
    assert "2 of 2 results: " + note.format("3", "bit/s", "lower") in lines


def test_several_runs_of_a_side_are_judged_together(database: Path):
    for seed in (1, 2, 3):
        add_run(database, {1: noisy(seed=seed, n=4)})
    add_run(database, {1: noisy(0.9e9, n=4)})
    (result,) = verdict(database, (1, 2, 3), (4,)).comparison.results
    assert [side.n for side in result.sides] == [12, 4]
    assert result.judged.change == "slower"


def test_a_case_that_is_gone_is_told(database: Path):
    add_run(database, {1: noisy(), 2: noisy()})
    add_run(database, {1: noisy(seed=2)})
    text = compare_output(database, "1", "2")
    assert "1 case of the first not in the second" in text.splitlines()[0]
    assert "1 case only before:\n  stream: gw→hh · lane 2" in text


@pytest.mark.parametrize(("skipped", "fails"), [("no iperf on gw1", 0), ("", 3)])
def test_a_test_that_got_another_name_and_was_not_measured_is_not_taken_for_gone(
    database: Path, skipped: str, fails: int
):
    add_run(database, {1: noisy()}, test="old")
    add_run(database, {1: []}, test="new", skipped=skipped, fails=fails)
    run_verdict = verdict(database)
    assert (len(run_verdict.lost), run_verdict.comparison.cases_only) == (1, ((), ()))
    assert skipped in run_verdict.lost[0].judged.reason


def test_changed_facts_of_a_slower_cases_hosts_are_told_once(database: Path):
    hosts = {"gw1": {"kernel": "6.1"}, "hh1": {"kernel": "6.1"}, "else": {"kernel": "6.1"}}
    cases = (1, 2)
    add_run(database, {case: noisy() for case in cases}, facts=hosts)
    hosts = {**hosts, "gw1": {"kernel": "6.2"}, "else": {"kernel": "6.2"}}
    add_run(database, {case: noisy(0.9e9) for case in cases}, facts=hosts)
    lines = compare_output(database, "1", "2").splitlines()
    assert [line for line in lines if "fact kernel" in line] == ["  gw1: fact kernel 6.1 → 6.2"]


def test_what_changed_alike_on_several_hosts_is_one_line(database: Path):
    for kernel, level in (("6.1", 1e9), ("6.2", 0.9e9)):
        facts = {host: {"kernel": kernel, "cpu": host + kernel} for host in ("gw1", "hh1")}
        add_run(database, {1: noisy(level)}, facts=facts)
    lines = compare_output(database, "1", "2").splitlines()
    assert [line.strip() for line in lines if ": fact " in line] == [
        "gw1: fact cpu gw16.1 → gw16.2",
        "gw1, hh1: fact kernel 6.1 → 6.2",
        "hh1: fact cpu hh16.1 → hh16.2",
    ]


def test_what_a_slower_run_was_made_with_is_told_if_it_is_another(database: Path):
    add_run(database, {1: noisy(), 2: noisy()})
    new = replace(RUN, engines_hash="f" * 64, files={**RUN.files, "engine udp": "other"})
    add_run(database, {1: noisy(0.9e9), 2: noisy(seed=2)}, new=new)
    add_run(database, {1: noisy(seed=3), 2: noisy(seed=3)}, new=new)
    lines = compare_output(database, "1", "2").splitlines()
    note = "not as in run 1: engines_hash, file engine udp; railgauge diff 1 2 says how"
    assert note in lines
    assert not any("not as in" in line for line in compare_output(database, "1", "3").splitlines())
    assert not any("not as in" in line for line in compare_output(database, "3", "2").splitlines())


def test_a_test_that_got_another_name_is_told(database: Path):
    add_run(database, {1: noisy()}, test="old")
    add_run(database, {1: noisy(seed=2)}, test="new")
    sentence = "test new was called old until run 1: 1 case goes on under the new name"
    assert sentence in compare_output(database, "1", "2").splitlines()
    renamed = {"before": "old", "test": "new", "until_run": 1, "cases": 1}
    assert json.loads(compare_output(database, "1", "2", "--json"))["renamed"] == [renamed]


def test_a_run_that_is_on_both_sides_is_told(database: Path):
    add_run(database, {1: noisy()})
    assert "run 1 is on both sides" in compare_output(database, "1", "latest").splitlines()


def test_json_has_every_result_and_what_changed_beside(database: Path, tmp_path: Path):
    add_run(database, {1: noisy(), 2: noisy()}, facts={"gw1": {"kernel": "6.1"}})
    after = {1: noisy(0.9e9), 2: noisy(seed=2)}
    add_run(database, after, facts={"gw1": {"kernel": "6.2"}})
    markdown = tmp_path / "verdict.md"
    report = json.loads(compare_output(database, "1", "2", "--json", "--markdown", str(markdown)))
    assert (report["passed"], report["plan"], report["problems"]) == (False, None, [])
    assert report["sides"] == [{"title": "run 1", "runs": [1]}, {"title": "run 2", "runs": [2]}]
    assert report["counts"] == {"slower": 1, "not enough data": 1}
    worst = report["results"][0]
    assert worst["facts"] == [{"host": "gw1", "name": "kernel", "values": ["6.1", "6.2"]}]
    assert worst["low"] < worst["ratio"] < worst["high"]
    assert worst["ratio"] == pytest.approx(0.9, rel=0.01)
    assert (worst["smallest_change"], worst["unconfirmed"]) == (0.02, False)
    assert "counters" not in report["results"][1]
    assert markdown.read_text().startswith("## ❌ 1 of 2 cases slower")


def test_a_file_into_no_folder_is_refused_at_once(database: Path, tmp_path: Path):
    result = _invoke(database, "1", "2", "--markdown", str(tmp_path / "no" / "file.md"))
    assert isinstance(result.exception, RailgaugeError)
    assert str(result.exception).endswith("to write file.md into: make it")
    with pytest.raises(EnvironmentFailedError, match="check its folder, permissions and room"):
        write(Path("/dev/full"), "a verdict")
