"""What a gate writes for others to read: whatever names are made of, it stays what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.verdict_samples import add_run, lane, noisy, verdict

from railgauge.base.characters import visible
from railgauge.compare.verdict import Verdict
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.verdicts.github import workflow_commands
from railgauge.report.verdicts.junit import junit
from railgauge.report.verdicts.markdown import escaped, markdown
from railgauge.report.verdicts.verdict_json import verdict_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.report.verdicts.verdict_words import quantities

CATALOGUE = load_catalogue()
HOSTILE = "a\nb\r<c>&d|e%f::g,h`*_[]\"'\u202e\u0007\x85\ud800\ufffe\u2028]]>"

# What junit-10.xsd of Jenkins' xunit plugin allows: children and attributes, required ones marked.
SCHEMA = {
    "testsuite": (
        {"testcase", "properties", "system-out", "system-err"},
        {"name!", "tests!", "failures!", "errors!", "skipped", "time", "timestamp", "hostname"},
    ),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name!", "time", "classname", "group"},
    ),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
    "system-out": (set(), set()),
}


def assert_valid(element: ElementTree.Element) -> None:
    children, attributes = SCHEMA[element.tag]
    assert {child.tag for child in element} <= children
    assert set(element.keys()) <= {name.rstrip("!") for name in attributes}
    assert {name[:-1] for name in attributes if name.endswith("!")} <= set(element.keys())
    for child in element:
        assert_valid(child)


@pytest.fixture
def mixed(database: Path) -> Verdict:
    """A slower case, a failed one, one of too few values, one as before and one that is gone."""
    for seed in (3, 4, 5):
        add_run(
            database,
            {number: noisy(seed=10 * seed + number) for number in range(1, 6)},
            facts={"gw1": {"kernel": "6.1"}},
        )
    after = {1: noisy(0.9e9), 2: [], 3: noisy(n=1), 4: noisy(seed=2)}
    add_run(database, after, fails=2, facts={"gw1": {"kernel": "6.2"}})
    return verdict(database, (1, 2, 3), (4,), problems=["2 replications failed: railgauge show 2"])


def commands(gate_verdict: Verdict) -> list[str]:
    return list(workflow_commands(gate_verdict, CATALOGUE))


def hostile(gate_verdict: Verdict) -> Verdict:
    """Return the same with names that act in one form or another."""
    results = [
        replace(
            result,
            test=HOSTILE,
            metric=HOSTILE,
            unit=HOSTILE,
            case=replace(result.case, link=HOSTILE),
        )
        for result in gate_verdict.comparison.results
    ]
    compared = gate_verdict.comparison
    sides = tuple(replace(side, title=HOSTILE) for side in compared.selected)
    cases = tuple(replace(planned, test=HOSTILE) for planned in compared.cases_only[0])
    return replace(
        gate_verdict,
        comparison=replace(
            compared, results=tuple(results), selected=sides, cases_only=(cases, ())
        ),
        plan=HOSTILE,
        problems=(HOSTILE,),
    )


def test_junit_has_a_testcase_for_each_case_with_what_became_of_it(mixed: Verdict):
    text = junit(mixed, CATALOGUE)
    suite = ElementTree.fromstring(text)
    assert_valid(suite)
    assert {
        name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")
    } == {
        "name": "fabric",
        "tests": "6",
        "failures": "1",
        "errors": "2",
        "skipped": "2",
    }
    outcome = {case.get("name"): [child.tag for child in case] for case in suite}
    assert outcome == {
        "gw→hh · lane 1": ["failure", "system-out"],
        "gw→hh · lane 2": ["error", "system-out"],
        "gw→hh · lane 3": ["skipped", "system-out"],
        "gw→hh · lane 4": ["system-out"],
        "gw→hh · lane 5": ["skipped"],
        "2 replications failed: railgauge show 2": ["error"],
    }
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert failure.text.endswith("gw1: fact kernel 6.1 → 6.2")


def test_github_gets_errors_for_what_fails_the_gate_and_warnings_for_the_rest(mixed: Verdict):
    lines = commands(mixed)
    assert [line.split("::")[1].split(" title=")[0] for line in lines] == [
        *("error", "error", "error", "warning")
    ]
    assert lines[1].startswith("::error title=Slower%3A stream%3A gw→hh · lane 1::throughput ")
    assert lines[1].endswith("%0Agw1: fact kernel 6.1 → 6.2")
    assert lines[2] == (
        "::error title=Not measured%3A stream%3A gw→hh · lane 2::after, 2 replications failed and "
        "none was measured"
    )
    assert lines[3].startswith("::warning title=Gone%3A stream%3A gw→hh · lane 5::")


def test_of_more_annotations_than_github_shows_the_last_says_how_many(database: Path):
    add_run(database, {number: noisy() for number in range(1, 14)})
    add_run(database, {number: noisy(0.8e9) for number in range(1, 14)})
    lines = commands(verdict(database))
    assert len(lines) == 10
    assert lines[-1].startswith("::error title=4 more::fabric: 13 of 13 cases slower")


def test_markdown_has_a_row_for_what_changed_and_the_reasons(mixed: Verdict):
    lines = markdown(mixed, CATALOGUE).splitlines()
    assert lines[0].startswith("## ❌ fabric: 1 of 4 cases slower, 1 case could not be measured")
    assert "- 2 replications failed: railgauge show 2" in lines
    rows = [line for line in lines if line.startswith("| stream")]
    assert [row.split("|")[-2].strip() for row in rows] == ["slower", "not measured"]
    assert "- gw1: fact kernel 6.1 → 6.2" in lines
    assert "- stream: gw→hh · lane 5" in lines


def test_what_nobody_reads_to_its_end_is_cut(database: Path):
    numbers = range(1, 301)
    add_run(database, {number: noisy() for number in numbers}, facts={"gw1": {"kernel": "6.1"}})
    slow = {number: noisy(0.8e9) for number in numbers}
    add_run(database, slow, facts={"gw1": {"kernel": "6.2"}})
    lines = markdown(verdict(database), CATALOGUE).splitlines()
    assert lines.count("- gw1: fact kernel 6.1 → 6.2") == 1
    assert "… and 100 more" in lines
    assert len(lines) < 220


def test_text_begins_with_the_whole_verdict_in_one_line(mixed: Verdict):
    lines = list(verdict_lines(mixed, CATALOGUE))
    assert lines[0] == (
        "fabric: 1 of 4 cases slower, 1 case could not be measured, not enough data for 1 of 4 "
        "results, 1 case of the first not in the second (run 1, 2, 3 → run 4)"
    )
    assert lines[1] == "not measured: 2 replications failed: railgauge show 2"


def test_a_rest_of_almost_nothing_is_not_told_as_nothing(database: Path):
    add_run(database, {1: noisy()})
    add_run(database, {1: noisy(5e4)})
    gate_verdict = verdict(database)
    table = [
        *verdict_lines(gate_verdict, CATALOGUE),
        *markdown(gate_verdict, CATALOGUE).splitlines(),
    ]
    matches = [line for line in table if "0.00005" in line]
    assert len(matches) == 3
    assert not any("0.000 " in line or "-100.0 %" in line for line in table)
    assert "-99.995 %" in matches[0]


def test_a_change_of_almost_nothing_is_not_told_as_none(database: Path):
    for seed in (1, 2, 3):
        add_run(database, {1: noisy(noise=1e-5, seed=seed)}, smallest=1e-4)
    add_run(database, {1: noisy(0.9997e9, noise=1e-5)}, smallest=1e-4)
    lines = verdict_lines(verdict(database, (1, 2, 3), (4,)), CATALOGUE)
    (row, *_) = [line for line in lines if "×" in line]
    assert "×0.9997 (0.9997 to 0.9997)" in row
    assert "slower; -0.03 %, probably between -0.03 and -0.03 %" in row


def test_a_number_without_a_unit_has_nothing_behind_it(database: Path):
    add_run(database, {1: noisy()})
    add_run(database, {1: noisy()})
    (result,) = verdict(database).comparison.results
    before, after = quantities(replace(result, unit=""))
    assert before.isdigit()
    assert after.isdigit()


@pytest.mark.parametrize("unit", ["", "1"])
def test_a_share_is_shown_in_percent(database: Path, unit: str):
    add_run(database, {1: [0.25] * 8})
    add_run(database, {1: [0.0] * 8})
    (result,) = verdict(database).comparison.results
    assert quantities(replace(result, metric="loss_rate", unit=unit)) == ("25.00 %", "0 %")


def test_why_there_is_not_enough_data_is_told_where_all_is_asked_for(mixed: Verdict):
    explanation = ": 30 and 1 replications can't show any change: take 4 of each"
    for form in (
        list(verdict_lines(mixed, CATALOGUE, all_results=True)),
        markdown(mixed, CATALOGUE, all_results=True).splitlines(),
    ):
        (reason,) = [line for line in form if explanation in line]
        assert "stream: gw→hh · lane 3: throughput: " in reason
        # What couldn't be measured is told once.
        assert len([line for line in form if "2 replications failed and none" in line]) < 2
    assert not any(explanation in line for line in verdict_lines(mixed, CATALOGUE))
    assert explanation not in markdown(mixed, CATALOGUE)


def test_a_reason_is_told_once_with_how_many_results_have_it(database: Path):
    add_run(database, {number: noisy() for number in range(1, 25)})
    add_run(database, {number: noisy(n=1) for number in range(1, 25)})
    gate_verdict = verdict(database)
    (line,) = (
        candidate
        for candidate in verdict_lines(gate_verdict, CATALOGUE, all_results=True)
        if "take 4" in candidate
    )
    assert line.startswith("not enough data: stream: gw→hh · lane ")
    assert ": throughput and 23 more results: 10 and 1 replications can't show" in line
    assert markdown(gate_verdict, CATALOGUE, all_results=True).count("take 4 of each") == 1


def test_of_many_reasons_twenty_are_told(database: Path):
    add_run(database, {number: noisy() for number in range(1, 25)})
    add_run(database, {number: [] for number in range(1, 25)}, fails=1)
    gate_verdict = verdict(database, (2,), (1,))
    whys = [
        replace(result, judged=result.judged._replace(reason=f"because of {number}"))
        for number, result in enumerate(gate_verdict.comparison.results)
    ]
    gate_verdict = replace(
        gate_verdict, comparison=replace(gate_verdict.comparison, results=tuple(whys))
    )
    lines = list(verdict_lines(gate_verdict, CATALOGUE, all_results=True))
    assert len([line for line in lines if "because of" in line]) == 20
    assert "not enough data: 4 more reasons" in lines
    text = markdown(gate_verdict, CATALOGUE, all_results=True)
    assert text.count("because of") == 20
    assert "… and 4 more" in text.splitlines()


def test_a_gate_passes_only_where_all_could_be_measured(mixed: Verdict, tmp_path: Path):
    assert not mixed.passed
    other = tmp_path / "other.db"
    add_run(other, {1: noisy()})
    add_run(other, {1: noisy(seed=2), 2: noisy()})
    assert verdict(other).passed
    assert not verdict(other, problems=["a host was lost"]).passed


def test_names_of_anything_break_no_form(mixed: Verdict):
    gate_verdict = hostile(mixed)
    for line in verdict_lines(gate_verdict, CATALOGUE, all_results=True):
        assert line.isprintable()
    suite = ElementTree.fromstring(junit(gate_verdict, CATALOGUE).encode())
    assert_valid(suite)
    assert len(suite) == 6
    for line in commands(gate_verdict):
        assert re.fullmatch(r"::(error|warning) title=[^:,]*::.*", line)
        assert line.isprintable()
    for line in markdown(gate_verdict, CATALOGUE).splitlines():
        assert line.isprintable()
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 10
    text = json.dumps(verdict_data(gate_verdict), allow_nan=False)
    assert json.loads(text)["plan"] == HOSTILE


@given(st.text())
def test_escaped_markdown_is_one_line_in_which_nothing_acts(text: str):
    line = escaped(text)
    assert visible(line) == line
    assert not re.search(r"(?<!\\)(\\\\)*[`*_\[\]<>&|~$#]", line)


@pytest.mark.parametrize(
    ("text", "expected"), [("12. of May", "12\\. of May"), ("7)", "7\\)"), ("1.5 s", "1.5 s")]
)
def test_markdown_makes_a_list_of_no_number(text: str, expected: str):
    assert escaped(text) == expected


def _parsed(line: str) -> Sequence[str]:
    """Return title and message as GitHub's runner reads them."""
    head, message = line.removeprefix("::error title=").split("::", 1)
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r")):
        head = head.replace(code, character)
        message = message.replace(code, character) if code[1] == "0" else message
    return head.replace("%25", "%"), message.replace("%25", "%")


def test_github_reads_back_what_was_meant(mixed: Verdict):
    problem = "100 %0A of gw1::hh1, lost"
    lines = commands(replace(mixed, problems=(problem,)))
    title, message = lines[0].removeprefix("::error title=").split("::", 1)
    assert (title, message) == ("Not measured", problem.replace("%", "%25"))
    title, message = _parsed(lines[1])
    assert title == f"Slower: stream: gw→hh · lane {lane(1).parameters['lane']}"
    assert message.splitlines()[-1] == "gw1: fact kernel 6.1 → 6.2"
