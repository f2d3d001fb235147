"""`railgauge history`: since when a case is slower in a real database, and what changed with it."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.history_samples import FACTS, NIGHTLY, Database
from tests.support.site_samples import change, ended_early, published
from tests.support.store_samples import LAUNCH, METRICS, case, measured, planned
from tests.support.verdict_samples import add_run, noisy

from railgauge.base.errors import EnvironmentFailedError
from railgauge.cli import cli
from railgauge.cli.history import history
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.partial import ONLY
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.store import Store
from railgauge.store.records import MetricInfo


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "railgauge.db")


def slower(database: Database, before: int = 15, after: int = 10) -> None:
    """Store nights of which the later ones are 7 % slower, with another kernel and commit."""
    database.nights([1e9] * before, facts=FACTS)
    database.nights(
        [0.93e9] * after,
        new=replace(NIGHTLY, git_commit="4567cdef"),
        facts={host: {"kernel": "6.2"} for host in FACTS},
    )


def test_a_slower_case_is_dated_and_what_changed_is_told(database: Database):
    slower(database)
    text = database.say("gw→hh")
    assert "throughput: 25 nights, 2026-09-01 to 2026-09-25 (runs 1 to 25)" in text
    assert "2026-09-16 (run 16): slower, " in text
    assert "×0.93" in text
    assert "changed from run 15 to 16 (2026-09-16):" in text
    assert "git_commit 0123abcd → 4567cdef" in text
    assert "gw1, hh1: kernel 6.1 → 6.2" in text
    assert "for 10 nights" in text


def test_a_case_has_one_name_everywhere_with_what_differs_in_its_plan_defaults_included(
    database: Database, tmp_path: Path
):
    engine = load_catalogue().engine("udp")
    defaults = {name: info.default for name, info in engine.parameters.items() if not info.implied}
    small, large = (
        replace(case(), key=16 * key, parameters={**defaults, **own, "threads": 2})
        for key, own in (("a", {"datagram": 1460}), ("b", {"datagram": 8192, "blocking": False}))
    )
    for _ in range(2):
        database.night((small, 1e9), (large, 0))
    where, out = ("--db", str(database.path)), str(tmp_path / "site")
    name = "gw→hh · datagram 1460 · blocking true"
    other = "gw→hh · datagram 8KiB · blocking false"
    # What was copied from anywhere finds it.
    for text in ("aaaa", name, f"stream: {name}", "datagram=1460 blocking=true"):
        assert database.say(text).startswith(f"nightly, stream: {name}\n"), text
    refusal = database.refusal("gw→hh")
    assert all(f"nightly, stream: {label}" in refusal for label in (name, other))
    output = _railgauge("show", "2", *where)
    assert f"failed: stream: {other}, replication 1: " in output
    assert name in _railgauge("compare", "1", "2", "--all", *where)
    _railgauge("site", "--out", out, *where)
    pages = ["index.html", "runs/2.html", "cases/aaaaaaaaaaaaaaaa.html"]
    assert all(name in (tmp_path / "site" / page).read_text() for page in pages)


def _railgauge(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False).output


def test_a_fall_that_was_mended_is_told_with_its_end(database: Database):
    database.nights([0.941e9] * 14 + [0.470e9] * 30 + [0.941e9] * 16)
    text = database.say("gw→hh")
    assert "2026-09-15 (run 15): slower, " in text
    assert "2026-10-15 (run 45): faster, " in text


def test_a_change_is_provisional_until_later_nights_confirm_it(database: Database):
    database.nights([1e9] * 20 + [0.9e9] * 3)
    text = database.say("gw→hh")
    assert "2026-09-21 (run 21): slower, provisional, " in text
    assert " for 3 nights, provisional\n" in text
    assert "provisional: in a year of nightly looks chance makes such changes, too" in text
    assert [change["provisional"] for change in database.json("gw→hh")["changes"]] == [True]
    database.nights([0.9e9] * 4)
    assert "provisional" not in database.say("gw→hh")
    assert [change["provisional"] for change in database.json("gw→hh")["changes"]] == [False]


def test_json_has_every_night_the_change_and_what_changed_with_it(database: Database):
    slower(database)
    report = database.json(case().key)
    assert (report["case_key"], report["metric"], report["nights"]) == (
        case().key,
        "throughput",
        25,
    )
    (change,) = report["changes"]
    assert (change["run"], change["index"], change["direction"]) == (16, 15, "slower")
    assert change["git_commit"] == "4567cdef"
    assert change["before"] == np.median([night["median"] for night in report["values"][:15]])
    (beside,) = change["beside"]
    assert beside["runs"] == [15, 16]
    assert {"host": "gw1", "name": "kernel", "values": ["6.1", "6.2"]} in beside["facts"]
    with Store.open(str(database.path)) as store:
        (first, *_) = store.history(case().key, "throughput")
    night = report["values"][0]
    assert night["median"] == np.median(first.values)
    assert night["low"] == first.values.min() and night["high"] == first.values.max()


def test_what_changed_a_night_off_the_point_is_told_and_what_changed_long_before_is_not(
    database: Database,
):
    database.nights([1e9] * 4, facts={"gw1": {"kernel": "6.1"}})
    database.nights([1e9] * 10, facts={"gw1": {"kernel": "6.2"}})
    database.nights([1e9], facts={"gw1": {"kernel": "6.3"}})
    database.nights([0.9e9] * 8, facts={"gw1": {"kernel": "6.3"}})
    (change,) = database.json("gw→hh")["changes"]
    assert change["run"] == 16
    assert [beside["runs"] for beside in change["beside"]] == [[14, 15]]


@pytest.mark.parametrize(
    ("level", "smallest", "text"), [(5e4, None, "0.00005"), (0.9997e9, 1e-4, "0.9997")]
)
def test_a_ratio_never_looks_like_none_or_nothing(
    database: Database, level: float, smallest: float | None, text: str
):
    info = MetricInfo("bit/s", "higher", smallest=smallest)
    metrics = {"udp": {**METRICS["udp"], "throughput": info}}
    for night in range(20):
        value = (1e9 if night < 10 else level) * (1 + 1e-6 * (night % 3))
        with Store.open(str(database.path)) as store:
            run = store.begin_run(NIGHTLY, planned(case()), metrics)
            store.add(run, "stream", case().key, measured(1, value), LAUNCH)
            store.finish_run(run, "complete")
    assert f" ×{text} " in database.say("gw→hh")
    assert f"  {text}  " in database.say("--all")


def test_a_case_that_never_changed_says_so(database: Database):
    database.nights([1e9] * 20)
    assert "no change of 2 % or more" in database.say("gw→hh")


@pytest.mark.parametrize("nights", [1, 5])
def test_few_nights_are_too_few_to_tell(database: Database, nights: int):
    database.nights([1e9] * nights)
    text = database.say("gw→hh")
    assert "too few to show a change: it takes 6" in text


def test_nights_that_failed_are_gaps_and_change_nothing(database: Database):
    database.nights([1e9] * 8 + [0, 0, 0] + [1e9] * 8)
    report = database.json("gw→hh")
    assert (report["nights"], report["gaps"], report["changes"]) == (16, 3, [])
    assert "3 runs gave no value" in database.say("gw→hh")


def test_a_change_after_gaps_is_dated_to_its_first_night(database: Database):
    database.nights([1e9] * 10 + [0, 0] + [0.9e9] * 10)
    (change,) = database.json("gw→hh")["changes"]
    assert change["run"] == 13


def test_a_case_that_was_planned_later_has_no_gaps_before(database: Database):
    other = case(9000)
    for _ in range(4):
        database.night((other, 1e9))
    for _ in range(8):
        database.night((other, 1e9), (case(), 1e9))
    assert database.json("datagram=1460")["gaps"] == 0


def test_suspect_values_count_and_are_told(database: Database):
    database.nights([1e9] * 10)
    database.nights([0.9e9] * 10, suspect=6)
    report = database.json("gw→hh")
    assert [change["run"] for change in report["changes"]] == [11]
    assert report["values"][-1]["suspect"] == 6
    assert "10 with suspect values, which count" in database.say("gw→hh")


def test_a_run_that_confirms_some_cases_is_no_night(database: Database):
    database.nights([1e9] * 10)
    partial = replace(NIGHTLY, files={ONLY: f"{case().key} stream\n"})
    database.nights([0.8e9] * 4, new=partial)
    report = database.json("gw→hh")
    assert (report["nights"], report["gaps"], report["changes"]) == (10, 0, [])


def test_runs_in_another_unit_are_left_out_and_counted(database: Database):
    old = {
        "udp": {"throughput": MetricInfo("B/s", "higher"), "loss_rate": MetricInfo("1", "lower")}
    }
    database.nights([1e8] * 7, metrics=old)
    database.nights([1e9] * 7)
    report = database.json("gw→hh")
    assert (report["unit"], report["nights"], report["other_unit"]) == ("bit/s", 7, 7)


def test_runs_in_which_something_else_was_better_are_left_out_and_counted(database: Database):
    cost = {"udp": {**METRICS["udp"], "throughput": MetricInfo("bit/s", "lower")}}
    database.nights([1e9] * 8)
    database.nights([2e9] * 8, metrics=cost)
    report = database.json("gw→hh")
    assert (report["better"], report["nights"], report["other_unit"]) == ("lower", 8, 8)
    assert report["changes"] == []
    assert "8 left out, in another unit or direction" in database.say("gw→hh")
    assert database.say("--all") == "found no case that changed in 16 nights\n"


def test_the_plans_smallest_change_is_what_matters(database: Database):
    coarse = {
        "udp": {
            "throughput": MetricInfo("bit/s", "higher", smallest=0.1),
            "loss_rate": MetricInfo("1", "lower"),
        }
    }
    database.nights([1e9] * 10 + [0.93e9] * 10, metrics=coarse)
    report = database.json("gw→hh")
    assert (report["smallest_change"], report["changes"]) == (0.1, [])
    assert "no change of 10 % or more" in database.say("gw→hh")


def test_the_metric_that_was_asked_for_is_told_and_constants_never_change(database: Database):
    slower(database)
    report = database.json("gw→hh", "--metric", "loss_rate")
    assert (report["metric"], report["changes"]) == ("loss_rate", [])


def test_only_the_last_nights_count_if_so_asked(database: Database):
    slower(database)
    report = database.json("gw→hh", "--nights", "9")
    assert (report["nights"], report["changes"]) == (9, [])


def test_a_plan_of_another_name_is_another_history(database: Database):
    database.nights([1e9] * 7)
    database.nights([0.5e9] * 7, new=replace(NIGHTLY, plan="other"))
    assert "2 cases: say which by --plan or --test" in database.refusal("gw→hh")
    report = database.json("gw→hh", "--plan", "other")
    assert (report["plan"], report["nights"], report["changes"]) == ("other", 7, [])


def test_a_plan_or_test_that_has_no_such_case_is_named(database: Database):
    database.nights([1e9] * 2)
    for option, name, near in (("plan", "nihtly", "nightly"), ("test", "steam", "stream")):
        message = f"'gw→hh' is no case of {option} {name!r}: did you mean {near!r}?"
        assert database.refusal("gw→hh", f"--{option}", name) == message


def test_a_renamed_tests_history_goes_on_and_says_what_it_was_called(database: Database):
    database.nights([1e9] * 8, test="old")
    database.nights([1e9] * 2)
    database.nights([0.9e9] * 6)
    sentence = "test was called old until run 8"
    for words in ("gw→hh", "old", "stream", "gw→hh --test old", "gw→hh --test stream"):
        lines = database.say(*words.split()).splitlines()
        assert lines[0].startswith("nightly, stream: gw→hh"), words
        assert lines[1] == sentence
        assert "16 nights, 2026-09-01 to 2026-09-16 (runs 1 to 16)" in lines[2]
        assert any("2026-09-11 (run 11): slower, " in line for line in lines)
    report = database.json("gw→hh")
    assert (report["test"], report["nights"], report["gaps"]) == ("stream", 16, 0)
    assert report["earlier_tests"] == [{"test": "old", "until_run": 8}]
    assert database.json("gw→hh", "--nights", "7")["earlier_tests"] == []
    (changed,) = database.json("--all")
    assert (changed["nights"], changed["earlier_tests"]) == (16, report["earlier_tests"])
    assert sentence in database.say("--all")


def test_a_test_that_was_called_otherwise_for_some_nights_has_them_in_order(database: Database):
    for name in ("stream", "other", "stream"):
        database.nights([1e9] * 3, test=name)
    report = database.json("gw→hh")
    assert [night["run"] for night in report["values"]] == [*range(1, 10)]
    assert report["earlier_tests"] == [
        {"test": "stream", "until_run": 3},
        {"test": "other", "until_run": 6},
    ]
    database.nights([0.9e9] * 8)
    (changed,) = database.json("--all")
    assert (changed["nights"], changed["changes"][0]["run"]) == (17, 10)


def test_tests_that_shared_a_case_in_a_run_have_their_own_histories(database: Database):
    database.nights([1e9] * 7, test="idle")
    with Store.open(str(database.path)) as store:
        tests = [
            planned_case for name in ("idle", "busy") for planned_case in planned(case(), test=name)
        ]
        run = store.begin_run(NIGHTLY, tests, METRICS)
        for name in ("idle", "busy"):
            store.add(run, name, case().key, measured(1, 1e9), LAUNCH)
        store.finish_run(run, "complete")
    database.nights([0.5e9] * 7, test="busy")
    assert "2 cases: say which by --plan or --test" in database.refusal("gw→hh")
    for name in ("idle", "busy"):
        report = database.json("gw→hh", "--test", name)
        assert (report["nights"], report["earlier_tests"]) == (8, [])
    assert {entry["test"] for entry in database.json("--all")} <= {"busy"}


def test_what_fits_several_cases_lists_them_with_their_keys(database: Database):
    cases = [case(1460), case(9000)]
    database.night(*((datagram_case, 1e9) for datagram_case in cases))
    message = database.refusal("gw→hh")
    assert "is 2 cases: name one's key, or more words" in message
    assert all(datagram_case.key in message for datagram_case in cases)


def test_a_whole_name_is_preferred_to_a_part_of_another(database: Database):
    database.night((case(link="gw→hh1"), 1e9), (case(link="gw→hh10"), 1e9))
    assert database.json("gw→hh1")["link"] == "gw→hh1"


def test_cases_that_differ_in_a_late_digit_have_names_that_find_them(database: Database):
    cases = [case(wait=wait) for wait in (12.3456781e-6, 12.3456789e-6)]
    database.night(*((waiting_case, 1e9) for waiting_case in cases))
    for waiting_case, wait in zip(cases, ("12.3456781us", "12.3456789us"), strict=True):
        name = f"gw→hh · wait {wait}"
        assert name in database.refusal("gw→hh")
        assert database.json(name)["case_key"] == waiting_case.key


def test_an_unknown_case_or_metric_says_what_to_name(database: Database):
    database.nights([1e9])
    assert "no case is called 'nowhere'" in database.refusal("nowhere")
    message = database.refusal("gw→hh", "--metric", "goodput")
    assert "no value of goodput" in message
    assert "throughput" in message


def test_a_case_of_which_nothing_was_measured_has_no_history(database: Database):
    database.nights([0, 0])
    assert "has no measurement" in database.refusal("gw→hh")


@pytest.mark.parametrize(
    "arguments", [[], ["--all", "gw"], ["--all", "--out", "x"], ["--nights", "0", "gw"]]
)
def test_what_makes_no_sense_is_the_users_mistake(database: Database, arguments: Sequence[str]):
    database.nights([1e9])
    result = CliRunner().invoke(history, [*arguments, "--db", str(database.path)])
    assert result.exit_code == 2


def test_a_name_that_would_act_in_a_terminal_does_not(database: Database):
    nasty = case(link="gw→\x1b[31mred")
    database.night((nasty, 1e9), test="a\x1b]0;b")
    assert "\x1b" not in database.say(nasty.key)


@pytest.mark.usefixtures("gnuplot")
def test_the_figure_has_nights_levels_change_points_and_facts(database: Database, tmp_path: Path):
    slower(database)
    out = tmp_path / "new" / "folder"
    database.say("gw→hh", "--out", str(out))
    name = f"history-{case().key}-throughput"
    assert sorted(file.name for file in out.iterdir()) == [
        f"{name}.{end}" for end in ("dat", "plot", "svg")
    ]
    svg = ElementTree.parse(out / f"{name}.svg")
    texts = "\n".join(
        " ".join("".join(element.itertext()).split()) for element in svg.iter() if element.text
    )
    assert "1: 2026-09-16 (run 16): slower" in texts
    assert "kernel 6.1 → 6.2" in texts
    assert "level" in texts
    rows = [line.split() for line in (out / f"{name}.dat").read_text().splitlines()]
    nights = [row for row in rows if len(row) == 4 and row[0].isdigit()]
    assert len(nights) == 25
    assert all(float(low) <= float(mid) <= float(high) for _, mid, low, high in nights)


@pytest.mark.usefixtures("gnuplot")
def test_the_figure_has_provisional_points_dashed_and_others_solid(
    database: Database, tmp_path: Path
):
    database.nights([1e9] * 20 + [0.8e9] * 20 + [1e9] * 3)
    database.say("gw→hh", "--out", str(tmp_path / "out"))
    (script,) = (tmp_path / "out").glob("*.plot")
    assert re.findall(r"dashtype (\d)", script.read_text()) == ["1", "2"]
    assert "faster, provisional, " in script.read_text()


def test_a_night_that_was_published_as_a_mean_is_told(database: Database):
    for night in range(2):
        add_run(database.path, {1: noisy(seed=night)})
    published(database.path)
    assert "3 nights" in database.say("gw→hh")
    assert "; 1 with a published mean, which counts as a median" in database.say("gw→hh")
    values = database.json("gw→hh")["values"]
    assert [(night["n"], night["published_mean"]) for night in values] == [
        (10, False),
        (10, False),
        (10, True),
    ]


@pytest.mark.usefixtures("gnuplot")
def test_the_figure_says_which_interval_nights_have_that_ended_early(
    database: Database, tmp_path: Path
):
    for runs, level in ((range(1, 4), "95 %"), (range(4, 5), "95 % or 99 %")):
        for _ in runs:
            run = ended_early(database.path)
        if runs.start == 1:
            # All of them asked for, none ended early.
            change(database.path, "UPDATE run_case SET ended = ''")
            change(database.path, "UPDATE run SET checksum = NULL")
        assert run == runs[-1]
        database.say("gw→hh", "--out", str(tmp_path / level))
        (script,) = (tmp_path / level).glob("*.plot")
        assert f"title 'night: median, {level} interval'" in script.read_text()


@pytest.mark.usefixtures("gnuplot")
def test_a_share_is_drawn_in_percent(database: Database, tmp_path: Path):
    database.nights([1e9] * 3)
    database.say("gw→hh", "--metric", "loss_rate", "--out", str(tmp_path / "out"))
    (script,), (data,) = ([*(tmp_path / "out").glob(f"*.{end}")] for end in ("plot", "dat"))
    assert "set ylabel 'loss rate (%)'" in script.read_text()
    assert {row.split()[1] for row in data.read_text().splitlines() if row[:1].isdigit()} == {"25"}


@pytest.mark.usefixtures("gnuplot")
def test_the_figures_script_draws_the_same_again_by_hand(database: Database, tmp_path: Path):
    slower(database)
    database.say("gw→hh", "--out", str(tmp_path / "out"))
    name = f"history-{case().key}-throughput"
    first = (tmp_path / "out" / f"{name}.svg").read_bytes()
    subprocess.run([find_gnuplot(), f"{name}.plot"], cwd=tmp_path / "out", check=True, timeout=60)
    assert (tmp_path / "out" / f"{name}.svg").read_bytes() == first


@pytest.mark.usefixtures("gnuplot")
@pytest.mark.parametrize("levels", [[1e9], [1e9] * 3, [0.0, 1e9], [1e9, 0.8e9] * 8])
def test_any_history_can_be_drawn(database: Database, tmp_path: Path, levels: list[float]):
    database.nights(levels, suspect=1)
    database.say("gw→hh", "--out", str(tmp_path / "out"))
    assert len(list((tmp_path / "out").iterdir())) == 3


@pytest.mark.usefixtures("gnuplot")
@pytest.mark.parametrize(("nights", "ticks"), [(2, True), (12, False)])
def test_nights_that_days_would_not_tell_apart_have_their_hours(
    database: Database, tmp_path: Path, nights: int, ticks: bool
):
    database.nights([1e9] * nights)
    database.say("gw→hh", "--out", str(tmp_path / "out"))
    (picture,) = (tmp_path / "out").glob("*.svg")
    texts = re.findall(r"2026-09-\d\d( \d\d:\d\d)?", picture.read_text())
    assert texts
    assert {bool(text) for text in texts} == {ticks}


@pytest.mark.usefixtures("gnuplot")
def test_a_name_in_a_figure_is_text_and_nothing_else(database: Database, tmp_path: Path):
    nasty = case(link="a`touch b`'\"@<x>")
    for level in [1e9] * 8 + [0.8e9] * 8:
        database.night((nasty, level))
    database.say(nasty.key, "--out", str(tmp_path / "out"))
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_a_folder_that_cannot_be_made_is_told(database: Database, tmp_path: Path):
    database.nights([1e9] * 3)
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(
        history, ["gw→hh", "--out", str(tmp_path / "file" / "x"), "--db", str(database.path)]
    )
    assert isinstance(result.exception, EnvironmentFailedError)
