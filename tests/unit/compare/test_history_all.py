"""`railgauge history --all`: which cases changed, and of how many that can't be told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.history_samples import NIGHTLY, Database
from tests.support.store_samples import LAUNCH, case, measured, planned

from railgauge.plan.cases import Case
from railgauge.store import Store
from railgauge.store.records import MetricInfo


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "railgauge.db")


def changed_nights(database: Database) -> tuple[Case, Case, Case]:
    """Store nights in which the second case changed on night 11 and the third on night 16."""
    cases = case(1000), case(2000), case(3000)
    for night in range(22):
        late, later = night >= 10, night >= 15
        levels = (1e9, 0.9e9 if late else 1e9, 1.1e9 if later else 1e9)
        facts = {"gw1": {"kernel": "6.2" if later else "6.1"}}
        database.night(*zip(cases, levels, strict=True), facts=facts)
    return cases


def test_all_lists_the_cases_that_changed_the_newest_first(database: Database):
    _, second, third = changed_nights(database)
    lines = database.say("--all").splitlines()
    case_lines = [line for line in lines if "gw→hh" in line]
    assert [line.split()[0] for line in case_lines] == ["2026-09-16", "2026-09-11"]
    assert "datagram 3000" in case_lines[0] and case_lines[0].endswith("faster")
    assert "datagram 2000" in case_lines[1] and case_lines[1].endswith("slower")
    assert lines[lines.index(case_lines[0]) + 1].strip() == "beside it: kernel"
    assert "2 cases changed in 22 nights" in lines[-1]
    entries = database.json("--all")
    assert [entry["case_key"] for entry in entries] == [third.key, second.key]
    assert "values" not in entries[0]
    (beside,) = entries[0]["changes"][0]["beside"]
    assert beside["facts"] == [{"host": "gw1", "name": "kernel", "values": ["6.1", "6.2"]}]


def test_all_of_nights_without_a_change_says_so(database: Database):
    database.nights([1e9] * 12)
    assert database.say("--all") == "found no case that changed in 12 nights\n"


def test_all_counts_the_cases_that_do_not_give_values_any_more(database: Database):
    for night in range(14):
        database.night((case(1000), 1e9), (case(2000), 0 if night >= 7 else 1e9))
    silent = "1 case gave no value in the last run"
    assert database.say("--all") == f"found no case that changed in 14 nights; {silent}\n"
    # What the plan left out isn't missing.
    database.night((case(1000), 1e9))
    assert database.say("--all") == "found no case that changed in 15 nights\n"


def odd_nights(database: Database, **factors: float) -> None:
    """Store nights in which the only metrics of a case double, each so many times a value."""
    metrics = {"udp": dict.fromkeys(factors, MetricInfo("s", "lower"))}
    for night in range(16):
        value = 1e-3 * (1 + night // 8) * (1 + 1e-3 * (night % 3))
        with Store.open(str(database.path)) as store:
            run = store.begin_run(NIGHTLY, planned(case(), test="odd"), metrics)
            values = {name: factor * value for name, factor in factors.items()}
            outcome = replace(measured(1), metrics=values)
            store.add(run, "odd", case().key, outcome, LAUNCH)
            store.finish_run(run, "complete")


def test_all_tells_of_how_many_cases_nothing_was_looked_at(database: Database):
    odd_nights(database, odd=1)
    without = (
        "1 case not looked at, without a value of a headline metric that has a direction:"
        " name another one with --metric\n"
    )
    assert database.say("--all") == f"looked at no case in 16 nights; {without}"
    assert database.say("--all", "--json") == f"note: {without}[]\n"
    (entry,) = database.json("--all", "--metric", "odd")
    assert [change["run"] for change in entry["changes"]] == [9]
    database.nights([1e9] * 8, new=replace(NIGHTLY, plan="other"))
    assert database.say("--all") == f"found no case that changed in 16 nights; {without}"


def test_all_lists_a_quantity_that_a_case_gives_twice_once(database: Database):
    odd_nights(database, latency=1, rtt_mean=2)
    assert [entry["metric"] for entry in database.json("--all")] == ["latency"]


def test_all_does_not_say_of_cases_with_too_few_nights_that_they_did_not_change(
    database: Database,
):
    for night in range(12):
        new = [(case(2000), 1e9)] if night >= 9 else []
        database.night((case(1000), 1e9), *new)
    short = "has fewer than 6 nights, too few to show a change\n"
    assert database.say("--all") == f"found no case that changed in 12 nights; 1 case {short}"
    for _ in range(12):
        database.night((case(2000), 1e9), new=replace(NIGHTLY, plan="other"))
    assert database.say("--all", "--plan", "other") == "found no case that changed in 12 nights\n"


def test_all_says_that_no_case_has_nights_enough_where_plans_have(database: Database):
    for night in range(9):
        database.night((case(1000 * (1 + night // 3)), 1e9))
    assert database.say("--all") == (
        "looked at no case in 9 nights; 3 cases have fewer than 6 nights, too few to show a change"
        "\n"
    )


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_all_of_a_metric_that_no_case_has_says_which_there_are(
    database: Database, more: Sequence[str]
):
    database.nights([1e9] * 12)
    message = database.refusal("--all", "--metric", "thruput", *more)
    assert message == (
        "no case has a value of thruput in these runs: their metrics are throughput, loss_rate"
    )


def test_all_says_when_no_plan_has_nights_enough_to_tell(database: Database):
    database.nights([1e9] * 5)
    database.nights([1e9] * 5, new=replace(NIGHTLY, plan="other"))
    assert database.say("--all") == "5 nights are too few to show a change: it takes 6\n"


def test_all_looks_at_the_last_nights_of_each_plan(database: Database):
    changed_nights(database)
    other = replace(NIGHTLY, plan="other")
    database.nights([1e9] * 7, new=other)
    entries = database.json("--all", "--nights", "11")
    assert [entry["changes"][0]["run"] for entry in entries] == [16]
    assert database.json("--all", "--plan", "other") == []
    assert "no run of plan 'none'" in database.refusal("--all", "--plan", "none")
    assert database.refusal("--all", "--plan", "othr").endswith(": did you mean 'other'?")


def test_of_thousands_of_quiet_cases_hardly_any_is_listed(database: Database):
    cases = [case(1000 + number) for number in range(300)]
    for _ in range(12):
        database.night(*((datagram_case, 1e9) for datagram_case in cases), n=2)
    assert len(database.json("--all")) <= 1


def test_a_link_that_was_slow_for_three_nights_is_listed_after_it_was_mended(database: Database):
    database.nights([941e6] * 20 + [470e6] * 3 + [941e6] * 22)
    changes = database.json(case().key)["changes"]
    assert [change["direction"] for change in changes] == ["slower", "faster"]
    assert [change["run"] for change in changes] == [21, 24]
    assert "1 case changed in 45 nights (1 provisional);" in database.say("--all")


def test_all_marks_what_later_nights_have_to_confirm(database: Database):
    confirmed, provisional = case(1000), case(2000)
    for night in range(23):
        database.night(
            (confirmed, 0.9e9 if night >= 12 else 1e9), (provisional, 0.8e9 if night >= 20 else 1e9)
        )
    _, first, second, *end = database.say("--all").splitlines()
    assert "datagram 2000" in first and first.endswith("  slower, provisional")
    assert "datagram 1000" in second and second.endswith("  slower")
    assert "2 cases changed in 23 nights (1 provisional);" in end[1]
    assert end[2].startswith("provisional: ")


def test_a_case_that_failed_since_its_test_was_renamed_was_looked_at(database: Database):
    database.nights([1e9] * 8 + [0.9e9] * 6, test="old")
    database.nights([0.0])
    note, _, listed = database.say("--all", "--json").partition("\n")
    assert note == "note: 1 case gave no value in the last run"
    (changed,) = json.loads(listed)
    assert (changed["test"], changed["nights"], changed["gaps"]) == ("stream", 14, 1)
    assert changed["earlier_tests"] == [{"test": "old", "until_run": 14}]
    assert "not looked at" not in database.say("--all")
