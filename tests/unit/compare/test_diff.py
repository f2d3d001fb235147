"""`railgauge diff`: what changed between two runs in the store, as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, failed, measured, planned

from railgauge.base.systemlog import Suspicion
from railgauge.cli.diffing import diff
from railgauge.compare.compare import Result
from railgauge.plan.cases import Case
from railgauge.report.pages.run_difference import Difference, difference
from railgauge.store import Store
from railgauge.store.records import NewRun, Peak

FAST = [900e6 + number * 1e6 for number in range(6)]
SWAPPED = Suspicion("swapped", "gw1", "it swapped")
SLOW = [value * 0.8 for value in FAST]


def add(
    database: Path,
    *values: tuple[Case, Sequence[float]],
    new: NewRun = RUN,
    facts: Mapping[str, Mapping[str, str]] | None = None,
    test: str = "stream",
    suspect: int = 0,
    fails: int = 0,
) -> int:
    """Store a run with these throughputs of these cases; the first so many are suspect."""
    cases = planned(*(measured_case for measured_case, _ in values), test=test)
    with Store.open(str(database)) as store:
        run = store.begin_run(new, cases, METRICS)
        for measured_case, rates in values:
            for number, value in enumerate(rates, 1):
                outcome = measured(number, value)
                if number <= suspect:
                    outcome = replace(outcome, status="suspect", suspicions=(SWAPPED,))
                store.add(run, test, measured_case.key, outcome, LAUNCH)
            for number in range(fails):
                store.add(run, test, measured_case.key, failed(len(rates) + number + 1), LAUNCH)
        for host, host_facts in (facts or {}).items():
            store.add_facts(run, host, host_facts)
        store.finish_run(run, "complete")
    return run


def compared(database: Path) -> Difference:
    with Store.open(str(database)) as store:
        return difference(store, 1, 2)


def throughputs(run_difference: Difference) -> list[Result]:
    return [result for result in run_difference.compared.results if result.metric == "throughput"]


def diff_output(database: Path, *arguments: str) -> str:
    result = CliRunner().invoke(diff, ["1", "2", "--db", str(database), *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_case_that_got_slower_beyond_its_spread_is_slower(database: Path):
    add(database, (case(), FAST))
    add(database, (case(), SLOW))
    (result,) = throughputs(compared(database))
    assert result.judged.change == "slower"
    assert result.judged.p == pytest.approx(2 / 924)
    assert result.judged.ratio == pytest.approx(0.8, rel=0.01)
    assert [side.median for side in result.sides] == [902.5e6, pytest.approx(722e6)]


def test_of_a_case_within_what_two_runs_may_differ_by_nothing_is_told(database: Path):
    add(database, (case(), FAST))
    add(database, (case(), [value * 0.97 for value in FAST]))
    (result,) = throughputs(compared(database))
    assert result.judged.change == "not enough data"
    note = (
        "2 of 2 results: not enough baseline runs: with fewer than three, runs are taken to differ"
    )
    assert note in diff_output(database)


def test_three_replications_each_are_too_few_to_tell(database: Path):
    add(database, (case(), FAST[:3]))
    add(database, (case(), SLOW[:3]))
    (result,) = throughputs(compared(database))
    assert result.judged.change == "not enough data"
    assert result.judged.ratio == pytest.approx(0.8, rel=0.01)


def test_a_case_of_which_one_run_has_no_value_is_told_with_why(database: Path):
    add(database, (case(), FAST))
    add(database, (case(), []), fails=3)
    (result,) = throughputs(compared(database))
    assert result.judged.change == "not enough data"
    assert result.judged.reason == "after, 3 replications failed and none was measured"
    assert result.lost
    assert result.sides[1].median is None


def test_what_differs_comes_first_and_the_largest_change_before_smaller_ones(database: Path):
    cases = [case(datagram) for datagram in (1000, 2000, 3000, 4000)]
    add(database, *((datagram_case, FAST) for datagram_case in cases))
    after = [FAST, SLOW, [value * 0.5 for value in FAST], [value * 2 for value in FAST]]
    add(database, *zip(cases, after, strict=True))
    results = throughputs(compared(database))
    assert [(result.case.parameters["datagram"], result.judged.change) for result in results] == [
        (3000, "slower"),
        (2000, "slower"),
        (4000, "faster"),
        (1000, "not enough data"),
    ]


def test_suspect_values_count_and_are_marked(database: Path):
    add(database, (case(), FAST), suspect=2)
    add(database, (case(), SLOW), fails=1)
    (result,) = throughputs(compared(database))
    assert [(side.n, side.suspect, side.failed) for side in result.sides] == [(6, 2, 0), (6, 0, 1)]
    text = diff_output(database)
    assert "6 2s" in text
    assert "6 1f" in text
    assert "of which s are suspect" in text


def test_changed_facts_are_told_host_by_host_and_equal_ones_are_not(database: Path):
    add(database, facts={"gw1": {"kernel": "6.1", "cpu": "E5"}, "hh1": {"kernel": "6.1"}})
    add(database, facts={"gw1": {"kernel": "6.2", "cpu": "E5"}, "hh1": {"kernel": "6.1"}})
    (host,) = compared(database).hosts
    assert host.host == "gw1"
    assert [(change.name, change.values) for change in host.changes] == [("kernel", ("6.1", "6.2"))]


def test_a_fact_or_a_host_that_only_one_run_has_is_told(database: Path):
    add(database, facts={"gw1": {"swap": "0 kB"}, "gw2": {}, "gw3": {"cpu": "A"}})
    add(database, facts={"gw1": {"smt": "on"}, "gw4": {"cpu": "A"}})
    run_difference = compared(database)
    assert {change.name: change.values for change in run_difference.hosts[0].changes} == {
        "swap": ("0 kB", None),
        "smt": (None, "on"),
    }
    assert run_difference.hosts_only == (("gw3",), ("gw4",))
    text = diff_output(database)
    assert "swap (only before): 0 kB" in text
    assert "facts only after: gw4" in text


def test_hosts_that_changed_alike_are_told_of_once(database: Path):
    hosts = ("gw1", "gw2", "hh1")
    add(database, facts={host: {"kernel": "6.1"} for host in hosts})
    add(database, facts={host: {"kernel": "6.2" if "gw" in host else "6.3"} for host in hosts})
    lines = diff_output(database).splitlines()
    assert lines[lines.index("gw1, gw2:") + 1] == "  kernel: 6.1 → 6.2"
    assert lines[lines.index("hh1:") + 1] == "  kernel: 6.1 → 6.3"


def test_of_a_long_list_only_the_words_that_differ_are_shown(database: Path):
    before = " ".join(f"feature-{number}" for number in range(20))
    add(database, facts={"gw1": {"nic.eth0.offload.others": before}})
    add(database, facts={"gw1": {"nic.eth0.offload.others": before + " tx-gso-list"}})
    lines = diff_output(database).splitlines()
    at = lines.index("  nic.eth0.offload.others:")
    assert lines[at + 1 : at + 3] == ["    - …", "    + tx-gso-list"]


def test_settings_that_made_the_runs_are_compared(database: Path):
    add(database)
    changed = replace(
        RUN,
        git_commit="89abcdef",
        git_dirty=False,
        engines_hash="beef",
        railgauge_version="0.2.0",
        plan_text="railgauge: 1\n",
        files={"hosts.yaml": "hosts: {}\n", "engine fetch": "π\n"},
        seed=7,
    )
    add(database, new=changed)
    changes = {change.name: change.values for change in compared(database).settings}
    assert changes.keys() == {
        "plan_text",
        "git_commit",
        "git_dirty",
        "engines_hash",
        "railgauge_version",
        "file hosts.yaml",
    }
    assert changes["git_dirty"] == ("uncommitted changes", "clean")
    text = diff_output(database)
    assert "git_commit: 0123abcd → 89abcdef" in text
    assert "plan_text:\n  - name: sharcnet-udp\n" in text
    assert "file hosts.yaml:\n  - hosts:\n  -   gw1: {address: 10.0.0.1}\n  + hosts: {}\n" in text


def test_cases_and_parameters_that_only_one_run_has_are_listed(database: Path):
    add(database, (case(1000), FAST), (case(2000), FAST))
    add(database, (case(1000), FAST), (case(4000, soak=True), FAST))
    run_difference = compared(database)
    only = run_difference.compared.cases_only
    assert [
        [planned_case.case.parameters["datagram"] for planned_case in side] for side in only
    ] == [
        [2000],
        [4000],
    ]
    assert {parameter.name: parameter.only for parameter in run_difference.parameters} == {
        "datagram": ((2000,), (4000,)),
        "soak": ((), (True,)),
    }
    text = diff_output(database)
    assert "1 case only before:\n  stream: gw→hh · datagram 2000" in text
    assert "parameter datagram of stream: 2000 → 4000" in text


def test_a_parameter_that_older_cases_lack_has_what_they_were_measured_with(database: Path):
    add(database, (case(), FAST))
    add(database, (case(receive="block"), FAST))
    (parameter,) = compared(database).parameters
    assert (parameter.name, parameter.only) == ("receive", (("adaptive",), ("block",)))
    assert "parameter receive of stream: adaptive → block" in diff_output(database)


def test_a_case_whose_test_was_renamed_is_still_the_same_case(database: Path):
    add(database, (case(), FAST), test="stream")
    add(database, (case(), SLOW), test="udp-stream")
    run_difference = compared(database)
    assert [(result.test, result.judged.change) for result in throughputs(run_difference)] == [
        ("udp-stream", "slower")
    ]
    assert run_difference.compared.cases_only == ((), ())


def test_a_test_that_got_another_name_is_told(database: Path):
    add(database, (case(), FAST), test="stream")
    add(database, (case(), SLOW), test="udp-stream")
    sentence = "test udp-stream was called stream until run 1: 1 case goes on under the new name"
    assert sentence in diff_output(database).splitlines()
    renamed = {"before": "stream", "test": "udp-stream", "until_run": 1, "cases": 1}
    assert json.loads(diff_output(database, "--json"))["renamed"] == [renamed]


def test_a_run_does_not_differ_from_itself(database: Path):
    add(database, (case(), FAST), facts={"gw1": {"kernel": "6.1"}})
    result = CliRunner().invoke(diff, ["1", "1", "--db", str(database)])
    assert "the same settings" in result.output
    assert "no fact changed" in result.output
    assert "slower" not in result.output
    assert "faster" not in result.output


def test_results_are_told_with_units_and_their_interval(database: Path):
    add(database, (case(), FAST))
    add(database, (case(), SLOW))
    text = diff_output(database)
    line = next(line for line in text.splitlines() if " throughput " in line)
    words = line.split()
    assert words[:9] == [
        *("stream", "gw→hh", "throughput"),
        *("902.5", "Mbit/s", "6", "722.0", "Mbit/s", "6"),
    ]
    assert words[9:] == ["0.800", "0.746", "to", "0.857", "0.0043", "0.00", "slower"]
    assert "2 results: 1 slower, 1 not enough data" in text


def test_json_has_the_documented_shape(database: Path):
    add(database, (case(1000), FAST), facts={"gw1": {"kernel": "6.1"}})
    add(database, (case(1000), SLOW), (case(9), []), facts={"gw1": {"kernel": "6.2"}})
    document = json.loads(diff_output(database, "--json"))
    assert set(document) == {
        "runs",
        "settings",
        "facts",
        "hosts_only",
        "renamed",
        "results",
        "parameters",
        "cases_only",
    }
    assert document["runs"][0]["id"] == 1
    assert document["facts"] == [{"host": "gw1", "name": "kernel", "values": ["6.1", "6.2"]}]
    worst = document["results"][0]
    assert (worst["verdict"], worst["metric"], worst["unit"]) == ("slower", "throughput", "bit/s")
    assert worst["sides"][0] == {
        "n": 6,
        "median": 902.5e6,
        "minimum": 900e6,
        "maximum": 905e6,
        "suspect": 0,
        "failed": 0,
    }
    assert document["parameters"] == [{"test": "stream", "name": "datagram", "only": [[], [9]]}]
    assert [case_entry["parameters"]["datagram"] for case_entry in document["cases_only"][1]] == [9]


def test_peaks_that_changed_are_told_with_the_facts(database: Path) -> None:
    for source, value in (("hosts file", 60e9), ("data sheet", 68.256e9)):
        run = add(database, (case(), FAST), facts={"gw1": {"kernel": "6.1"}})
        with Store.open(str(database)) as store:
            peak = Peak("gw1", "memory", value, "B/s", f"declared: {source}")
            store.add_peaks(run, [peak])
    change = "60.00 GB/s (declared: hosts file) → 68.26 GB/s (declared: data sheet)"
    assert f"gw1:\n  peak memory: {change}\n" in diff_output(database)
