"""A site: which pages there are, what they say, that it is what the other commands say."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.matrix_data import rates, store_matrix
from tests.support.site_samples import (
    CASES,
    PLAN,
    Links,
    build,
    build_pages,
    change,
    ended_early,
    files,
    nights,
    published,
)
from tests.support.site_variety import RATE, add_cases, outcomes
from tests.support.store_samples import (
    LAUNCH,
    MOMENT,
    RUN,
    failed,
    logged,
    pair,
    planned,
    system_log,
)
from tests.support.verdict_samples import add_run, lane, noisy, verdict

from railgauge.base.systemlog import Suspicion, TimeSeries
from railgauge.cli import cli
from railgauge.cli.site import site as command
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.pages.case.paged_cases import MOST_PAGES
from railgauge.report.site import site_pages
from railgauge.report.site.baseline_choice import Against
from railgauge.report.site.drawings import PairValue, pairs_map
from railgauge.report.site.pair_maps import pair_maps
from railgauge.report.site.plan_nights import PlanNights
from railgauge.report.site.run_data import DataCase, MetricKind, MetricRow, RunData, read_run_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import MetricInfo, Outcome

HOSTILE = "<script>alert(1)</script> %_\\&\"'\n\u202e../../x"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "site"


def page(out: Path, name: str) -> str:
    return (out / name).read_text(encoding="utf-8")


def text(out: Path, name: str) -> str:
    """Return what a reader sees of a page, roughly."""
    body = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page(out, name))
    content = re.sub(r"<[^>]+>", " ", body)
    for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&#34;", '"'), ("&amp;", "&")):
        content = content.replace(escaped, character)
    return re.sub(r"\s+", " ", content)


def run_data(out: Path, run: int) -> RunData:
    return read_run_data(page(out, f"data/{run}.js"))


def nights_data(out: Path) -> Any:
    return json.loads(page(out, "data/nights.js").partition("(")[2].rpartition(");")[0])


def test_every_run_and_case_has_a_page_and_all_links_lead_to_files(database: Path, out: Path):
    nights(database)
    built = build(database, out)
    pages = {"index.html", "runs/1.html", "runs/2.html", "runs/3.html", *CASES}
    assert set(built.pages) == pages
    scripts = {"compare.html", "data/nights.js", "data/1.js", "data/2.js", "data/3.js"}
    assert set(files(out)) == pages | scripts
    for name in (*pages, "compare.html"):
        links = Links(page(out, name)).hrefs
        assert links
        for link in links:
            assert "://" not in link
            assert (out / name).parent.joinpath(link.partition("#")[0]).is_file(), (name, link)


def test_data_of_runs_with_many_cases_are_there_in_parts_too(
    database: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    nights(database)
    build(database, out.with_name("undivided"))
    undivided = run_data(out.with_name("undivided"), 3)
    assert [run[-1] for run in nights_data(out.with_name("undivided"))["runs"]] == [0, 0, 0]
    monkeypatch.setattr(site_pages, "MOST_UNDIVIDED", 1)
    build(database, out)
    assert run_data(out, 3) == undivided
    assert [run[-1] for run in nights_data(out)["runs"]] == [2, 2, 2]
    parts = [read_run_data(page(out, f"data/3-{number}.js")) for number in (0, 1)]
    assert not (out / "data/3-2.js").exists()
    rows = [(case, metric, row[2:]) for part in parts for case, metric, row in part.measured()]
    assert sorted(rows) == sorted(
        (case, metric, row[2:]) for case, metric, row in undivided.measured()
    )
    for number, part in enumerate(parts):
        assert all(sum(map(ord, case.key)) % 2 == number for case in part.cases)
        assert (part.run, part.beside, part.verdict) == (3, undivided.beside, None)
    assert build_pages(database, out) == set()


def test_the_verdict_is_what_compare_says(database: Path, out: Path):
    nights(database, slower=3)
    build(database, out)
    lines = list(verdict_lines(verdict(database, [2], [3], ""), load_catalogue()))
    headline = lines[0].replace("run 2 →", "run 2, the run before →")
    assert headline.startswith("1 of 2 cases slower")
    assert headline in text(out, "runs/3.html")
    index = text(out, "index.html")
    for part in re.split(r", (?=not)| \(", headline.removesuffix(")")):
        assert part in index
    sentence = next(line for line in lines if line.startswith("slower: "))
    assert sentence.partition("lane 1: ")[2] in text(out, "runs/3.html")


def test_a_run_is_held_against_its_plans_baseline_or_the_run_before(database: Path, out: Path):
    nights(database, 4)
    with Store.open(str(database)) as store:
        store.set_baseline(PLAN, [1, 2])
        store.set_baseline("better", [4])
    build(database, out)
    assert "nothing to compare with yet" in text(out, "runs/1.html")
    assert "(run 1, the run before → run 2)" in text(out, "runs/2.html")
    assert f"(baseline {PLAN} (runs 1, 2) → run 3)" in text(out, "runs/3.html")
    build(database, out, baseline="better")
    assert "(baseline better (run 4) → run 3)" in text(out, "runs/3.html")
    assert "(run 3, the run before → run 4)" in text(out, "runs/4.html")


def test_a_run_without_a_value_is_nothing_to_compare_with(database: Path):
    nights(database, 1)
    add_run(database, {1: []}, fails=3)
    nights(database, 1)
    with Store.open(str(database)) as store:
        heads = store.run_heads()
        against = Against(heads, {1, 3}, [], None)
    baseline = against.of(heads[2])
    assert baseline is not None
    assert baseline.runs == (1,)
    assert against.newest == (3,)


def test_what_could_not_be_judged_is_not_shown_as_fine(database: Path, out: Path):
    for seed in (1, 2):
        add_run(database, {1: noisy(n=3, seed=seed)})
    build(database, out)
    for page in ("index.html", "runs/2.html"):
        content = (out / page).read_text(encoding="utf-8")
        assert '<p class="verdict unknown">nothing could be judged' in content


def test_a_night_in_which_replications_failed_is_not_shown_as_fine(database: Path, out: Path):
    *three, newest = nights(database, 4)
    with Store.open(str(database)) as store:
        store.set_baseline(PLAN, three)
    for failures, kind in ((0, "fine"), (4, "unknown")):
        with Store.open(str(database)) as store:
            for number in range(11, 11 + failures):
                store.add(newest, "stream", lane(1).key, failed(number), LAUNCH)
        build(database, out)
        for page in ("index.html", f"runs/{newest}.html"):
            content = (out / page).read_text(encoding="utf-8")
            assert f'<p class="verdict {kind}">nothing is slower' in content


def test_a_night_of_which_nothing_came_is_what_the_index_begins_with(database: Path, out: Path):
    nights(database, 2)
    add_run(database, {1: [], 2: []}, fails=3)
    build(database, out)
    opening = text(out, "index.html").partition("Since when")[0]
    assert "Run 3," in opening
    assert "0 replications, 6 failed" in opening
    assert "nothing could be judged, 2 cases could not be measured" in opening
    assert "3 replications failed and none was measured" in opening
    assert "Grey beside 1" not in opening, "there is no picture to explain"
    with Store.open(str(database)) as store:
        # At work, with nothing yet, it hides no verdict.
        store.reopen_run(3)
    build(database, out)
    assert "Run 2," in text(out, "index.html").partition("Since when")[0]


def test_too_few_nights_are_told_apart_from_nights_without_a_change(database: Path, out: Path):
    for more, summary in (
        (3, "3 nights are too few to show a change: it takes 6."),
        (4, "No case changed in the last 7 nights."),
    ):
        nights(database, more)
        build(database, out)
        assert summary in text(out, "index.html")


def test_cases_with_too_few_nights_each_are_told_apart_from_cases_without_a_change(
    database: Path, out: Path
):
    for night in range(9):
        add_run(database, {1 + night // 3: noisy(seed=night)})
    build(database, out)
    assert (
        "Looked at no case in 9 nights; 3 cases have fewer than 6 nights, too few to show a change."
    ) in text(out, "index.html")


def test_each_table_is_titled_once(database: Path, out: Path):
    nights(database, 2)
    build(database, out)
    for name in ("index.html", "runs/2.html", CASES[0]):
        body = page(out, name).partition("<main")[2]
        headings = re.findall(r"<h[23]>(.*?)</h", body)
        assert len(set(headings)) == len(headings)
        for caption in re.findall("(?s)<caption>(.*?)</caption>", body):
            assert re.fullmatch("<h[23]>.+</h[23]>", caption)
    index = text(out, "index.html")
    assert "Runs Runs" not in index
    assert "Cases Cases" not in index


def test_a_case_has_its_nights_and_since_when_it_changed(database: Path, out: Path):
    for night in range(14):
        level = 1e9 if night < 7 else 0.9e9
        kernel = "6.1" if night < 7 else "6.2"
        add_run(database, {1: noisy(level, seed=night)}, facts={"gw1": {"kernel": kernel}})
    build(database, out)
    index = text(out, "index.html")
    assert "1 case changed in the last 14 nights" in index
    assert f'href="{CASES[0]}"' in page(out, "index.html")
    assert "slower kernel" in index
    changes = nights_data(out)["changes"]
    plan, test, key, metric, run, direction, words, provisional = changes[0]
    assert (plan, test, metric, run, direction) == (PLAN, "stream", "throughput", 8, "slower")
    assert not provisional
    assert (key, words[:11]) == (lane(1).key, "slower, 1.0")
    assert run_data(out, 8).beside == ("gw1: kernel 6.1 → 6.2",)
    assert [run_data(out, number).rows[0].n for number in range(1, 15)] == [10] * 14


def test_a_cases_page_names_the_command_that_has_every_replication(database: Path, out: Path):
    add_run(database, {1: [1e9, 1.1e9, 1.2e9]})
    build(database, out)
    (case,) = (name for name in files(out) if name.startswith("cases/"))
    assert "Every replication is in what railgauge export csv writes" in text(out, case)
    written = out / "all.csv"
    for words in (["history", lane(1).key], ["export", "csv", "--out", str(written)]):
        result = CliRunner().invoke(cli, [*words, "--db", str(database)])
        assert "1.2" not in result.output
    assert "1200000000" in written.read_text()


def test_a_change_that_later_nights_have_to_confirm_is_provisional_on_every_page(
    database: Path, out: Path
):
    for night in range(15):
        add_run(database, {1: noisy(1e9 if night < 12 else 0.9e9, seed=night)})
    build(database, out)
    assert "1 case changed (1 provisional) in the last 15 nights" in text(out, "index.html")
    assert "slower, provisional" in text(out, "index.html")
    (change,) = nights_data(out)["changes"]
    assert (change[4], change[6][:24], change[7]) == (13, "slower, provisional, 1.0", True)


def test_a_case_that_ended_early_shows_the_wider_interval_as_what_it_is(database: Path, out: Path):
    add_run(database, {1: noisy(n=12)})
    ended_early(database)
    build(database, out)
    (usual,), (early,) = (run_data(out, run).rows for run in (1, 2))
    assert (usual.percent, early.percent) == (95, 99)
    assert usual.low is not None
    assert early.low is not None
    assert early.low < usual.low
    assert "99 %" not in text(out, "runs/1.html")
    assert "998.6 Mbit/s to 1.003 Gbit/s (99 %)" in text(out, "runs/2.html")


def test_a_published_mean_is_no_median_of_one_replication(database: Path, out: Path):
    published(database)
    add_run(database, {1: noisy()})
    published(database)
    build(database, out)
    (mean,) = run_data(out, 1).rows
    assert (mean.mean, mean.n, mean.low) == (True, 10, None)
    assert "1.000 Gbit/s published mean 10" in text(out, "runs/1.html")
    assert not run_data(out, 2).rows[0].mean
    for run in (2, 3):
        assert "1 of 1 result: what was published as a mean" in text(out, f"runs/{run}.html")
    assert "1.000 Gbit/s published mean" in text(out, "runs/3.html")


def test_failures_suspects_and_machines_are_on_the_runs_page(database: Path, out: Path):
    nights(database, 1)
    add_run(database, {1: [], 2: noisy(2e9)}, fails=2, facts={"gw1": {"kernel": "6.1"}})
    build(database, out)
    run_page = text(out, "runs/2.html")
    assert "1 case could not be measured" in run_page
    assert "not measured" in run_page
    assert "hh1 refused: is its firewall open?" in run_page
    assert "Machines of run 2" in run_page


def test_pairs_of_three_hosts_have_a_heat_map(database: Path, out: Path):
    with Store.open(str(database)) as store:
        store_matrix(store, rates(4))
    build(database, out)
    for name in ("runs/1.html", "index.html"):
        assert page(out, name).count('<svg class="pairs"') == 1
        assert page(out, name).count('<rect class="level') == 12
        assert "4 hosts, 12 of 12 pairs have a value" in text(out, name)


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("slow_link", ["eth", "ib"])
def test_of_two_links_between_the_same_hosts_the_map_shows_the_slower(slow_link: str, better: str):
    slow = 0.5 if better == "higher" else 2.0
    pairs = [(client, server) for client in "abc" for server in "abc" if client != server]
    links = [(pair, name) for pair in pairs for name in ("eth", "ib")]
    cases = tuple(
        DataCase("stream", f"{place:016x}", f"{client}→{server} {name}", "", client, server)
        for place, ((client, server), name) in enumerate(links)
    )
    rows = tuple(
        MetricRow(place, 0, slow if link == (("a", "b"), slow_link) else 1.0)
        for place, link in enumerate(links)
        if link != (("b", "c"), "eth")
    )
    metrics = (MetricKind("goodness", "bogus", better),)
    (pair_map,) = pair_maps(RunData(1, (), False, None, metrics, cases, rows, ()))
    assert pair_map.summary == (
        "3 hosts, 11 of 12 links have a value; of several between two hosts the slowest is shown;"
        f" slower than 0.9 of the median: a to b {slow:#.4g} bogus (×0.500)"
    )
    assert pair_map.svg.count('class="level4"') == 1
    assert f"a to b: {slow:#.4g} bogus, 1.000 bogus" in pair_map.svg


def test_a_host_of_which_no_pair_was_measured_stays_on_the_map():
    pairs = [(client, server) for client in "abcd" for server in "abcd" if client != server]
    cases = tuple(
        DataCase("stream", f"{place:016x}", "→".join(pair), "", *pair)
        for place, pair in enumerate(pairs)
    )
    rows = tuple(
        MetricRow(place, 0, None if "d" in pair else 1e9) for place, pair in enumerate(pairs)
    )
    metrics = (MetricKind("throughput", "bit/s", "higher"),)
    (pair_map,) = pair_maps(RunData(1, (), False, None, metrics, cases, rows, ()))
    assert pair_map.summary.startswith("4 hosts, 6 of 12 pairs have a value")
    assert 'text-anchor="end">d</text>' in pair_map.svg


def test_a_pair_without_a_value_does_not_look_like_none(out: Path, database: Path):
    with Store.open(str(database)) as store:
        values = rates(4)
        values[0, 1] = float("nan")
        store_matrix(store, values)
    build(database, out)
    index = page(out, "index.html")
    assert index.count('<path class="lacking"') == 1
    assert "<title>n01 to n02: no value</title></path>" in index
    assert "4 hosts, 11 of 12 pairs have a value; a cross: no value" in text(out, "index.html")


@pytest.mark.parametrize("count", [3, 12, 40])
def test_a_map_of_few_pairs_has_larger_squares_and_the_same_text(count: int):
    hosts = [f"n{number:02}" for number in range(count)]
    pairs = [PairValue(a, b, "1 Gbit/s", 1.0) for a in hosts for b in hosts if a != b]
    drawn = pairs_map("pairs", hosts, pairs)
    (width,) = re.findall(r'viewBox="0 0 ([0-9]+) [0-9]+" width="\1"', drawn)
    (cell,) = set(re.findall(r'<rect class="level0"[^>]* width="([0-9]+)"', drawn))
    assert cell == {3: "26", 12: "14", 40: "14"}[count]
    assert int(width) == 26 + count * (int(cell) + 2)


def test_a_pair_that_has_errors_stands_out_of_pairs_that_have_none():
    pairs = [(client, server) for client in "abc" for server in "abc" if client != server]
    cases = tuple(
        DataCase("stream", f"{place:016x}", "→".join(pair), "", *pair)
        for place, pair in enumerate(pairs)
    )
    rows = tuple(MetricRow(place, 0, 3.0 if place == 1 else 0.0) for place in range(len(pairs)))
    data = RunData(1, (), False, None, (MetricKind("errors", "", "lower"),), cases, rows, ())
    (pair_map,) = pair_maps(data)
    assert "slower than 0.9 of the median: a to c 3 (×0.000)" in pair_map.summary
    assert pair_map.svg.count('class="level4"') == 1


def sampled(number: int) -> Outcome:
    times = np.linspace(0.1, 5, 5)
    counted = np.arange(10, dtype=np.int64).reshape(5, 2) * 50
    series = TimeSeries(times, ("cpu/all/user", "cpu/all/idle"), counted)
    return logged(number, system_log("gw1", series=series), system_log("hh1"))


def test_the_newest_runs_have_pages_with_system_logs(database: Path, out: Path):
    def night() -> None:
        add_run(database, {1: [sampled(number) for number in (1, 2)]})

    def runs_with_logs() -> set[str]:
        return {name.split("/run")[1].split("-")[0] for name in files(out) if "logs/" in name}

    night()
    night()
    build(database, out)
    assert runs_with_logs() == {"2"}
    assert len([name for name in files(out) if "logs/run2" in name]) == 3
    assert any("../logs/run2-" in link for link in Links(page(out, "runs/2.html")).hrefs)
    assert (out / run_data(out, 2).cases[0].log).is_file()
    assert not run_data(out, 1).cases[0].log
    night()
    assert build(database, out).removed == 3
    assert runs_with_logs() == {"3"}
    assert not any("logs/" in link for link in Links(page(out, "runs/2.html")).hrefs)
    build(database, out, logs=2)
    assert runs_with_logs() == {"2", "3"}
    build(database, out, logs=0)
    assert runs_with_logs() == set()


def test_of_a_night_of_many_cases_the_suspect_ones_have_pages_with_system_logs(
    database: Path, out: Path
):
    suspicions = (Suspicion("steal", "gw1", "gw1: stolen"),)
    cases = {number: [logged(number, system_log("gw1"))] for number in range(1, MOST_PAGES + 2)}
    cases[7] = [replace(cases[7][0], status="suspect", suspicions=suspicions)]
    add_run(database, cases)
    build(database, out)
    (page_of_logs,) = [name for name in files(out) if name.startswith("logs/")]
    assert lane(7).key in page_of_logs


@pytest.mark.usefixtures("gnuplot")
def test_without_gnuplot_a_page_of_system_logs_says_why_it_has_no_figures_and_gets_them_later(
    database: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    add_run(database, {1: [sampled(1)]})
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", "/nowhere/gnuplot")
    build(database, out)
    (log,) = [name for name in files(out) if "logs/" in name]
    log_text = html.unescape(text(out, log))
    assert "Without figures over time: RAILGAUGE_GNUPLOT is '/nowhere/gnuplot'" in log_text
    assert "gw1" in log_text
    monkeypatch.delenv("RAILGAUGE_GNUPLOT")
    build(database, out)
    assert "Without figures over time" not in text(out, log)
    assert "<svg" in page(out, log)


def test_hostile_names_are_text_and_name_no_file(database: Path, out: Path):
    for level in (1e9, 0.8e9):
        add_run(
            database,
            {1: noisy(level)},
            new=replace(RUN, plan=HOSTILE, git_commit=HOSTILE),
            test=HOSTILE,
            link=HOSTILE,
            facts={HOSTILE: {HOSTILE: HOSTILE + str(level)}},
        )
    build(database, out)
    key = lane(1, HOSTILE).key
    assert set(files(out)) == {
        *("index.html", "compare.html", "runs/1.html", "runs/2.html", f"cases/{key}.html"),
        *("data/nights.js", "data/1.js", "data/2.js"),
    }
    for name in files(out):
        assert "<script>alert" not in page(out, name)
        assert "\u202e" not in page(out, name)
    assert '<script>alert(1)</script> %_\\&"' in text(out, "runs/2.html")


def test_two_builds_in_other_folders_are_the_same_to_the_byte(database: Path, out: Path):
    nights(database, slower=3)
    build(database, out)
    build(database, out.with_name("other"))
    assert files(out) == files(out.with_name("other"))


def test_many_pages_made_by_several_processes_are_the_same(database: Path, out: Path):
    add_run(database, {number: noisy(n=6, seed=number) for number in range(60)})
    assert len(build(database, out).pages) == 62
    # One process alone: too few are due to begin others.
    other = out.with_name("other")
    for batch in (slice(0, 30), slice(30, 64)):
        other.mkdir(exist_ok=True)
        for name in list(files(out))[batch]:
            (other / name).parent.mkdir(exist_ok=True)
            (other / name).write_bytes((out / name).read_bytes())
        removed = build(database, other)
        assert removed.unchanged + len(removed.pages) == 62
    assert files(out) == files(other)


def test_the_command_says_what_it_made(database: Path, out: Path):
    nights(database)
    arguments = ["--db", str(database), "--out", str(out)]
    result = CliRunner().invoke(command, arguments)
    assert result.output == f"{out}/index.html\n6 pages made, 0 kept, 0 removed\n"
    result = CliRunner().invoke(command, [*arguments, "--json"])
    assert result.output == '{\n  "made": [],\n  "kept": 6,\n  "removed": 0\n}\n'


def test_an_empty_database_has_an_index(database: Path, out: Path):
    with Store.open(str(database)):
        pass
    build(database, out)
    assert set(files(out)) == {"index.html", "compare.html", "data/nights.js"}
    assert text(out, "index.html").strip().endswith("railgauge Nothing was measured yet.")


def test_a_sites_postgresql_database_has_the_same_pages(where: str, out: Path):
    nights(where, slower=3)
    built = build(where, out)
    assert len(built.pages) == 6
    assert "1 of 2 cases slower" in text(out, "index.html")
    assert build(where, out).pages == ()


def test_a_renamed_tests_pages_have_all_its_nights_and_say_its_earlier_name(
    database: Path, out: Path
):
    for number, test in enumerate(("old", "old", "new", "new"), 1):
        add_run(database, {1: noisy(seed=number)}, test=test)
    build(database, out)
    case_page = text(out, CASES[0])
    assert "The test was called old until run 2." in case_page
    assert case_page.count(f"plan {PLAN}") == 1
    assert "test new was called old until run 2" in text(out, "runs/3.html")
    assert "was called" not in text(out, "runs/4.html")
    assert "old" in text(out, "index.html")


def test_the_list_of_changes_says_what_a_test_was_called(database: Path, out: Path):
    for number in range(1, 21):
        level, test = (1e9, "old") if number <= 10 else (0.8e9, "new")
        add_run(database, {1: noisy(level, seed=number)}, test=test)
    build(database, out)
    assert "new (test was called old until run 10)" in text(out, "index.html")


def test_the_first_page_says_where_cases_are_slow_since_when_and_in_which_nights(
    database: Path, out: Path
):
    for number in range(1, 15):
        usual = {lane: noisy(lane * 1e9, seed=9 * number + lane) for lane in (1, 2, 3)}
        if number == 8:
            usual[3] = noisy(2.4e9, seed=number)
        if number == 10:
            usual[2] = []
        if number >= 13:
            usual[1] = noisy(0.7e9, seed=number)
        add_run(database, usual, fails=2, facts={"gw1": {"kernel": f"6.{number // 13}"}})
    change(
        database,
        "UPDATE run SET checksum = NULL, started_at = printf('2026-11-%02dT02:00:00.000000Z', id)",
    )
    with Store.open(str(database)) as store:
        store.set_baseline(PLAN, [1, 2, 3, 4, 5, 6])
    build(database, out)
    index = page(out, "index.html")
    assert "1 of 3 cases slower, since 2026-11-13" in text(out, "index.html")
    table = index.partition('id="nights-0"')[2].partition("</table>")[0]
    rows = [re.findall(r'<td class="(\w+)"', row) for row in table.split("<tr>")[2:]]
    assert rows == [
        ["same"] * 12 + ["slower"] * 2,
        ["same"] * 7 + ["once"] + ["same"] * 6,
        ["same"] * 9 + ["none"] + ["same"] * 4,
    ]
    assert 'title="run 8, 2026-11-08: slower, not again">▽' in table
    assert "run 13, 2026-11-13 : gw1: kernel 6.0 → 6.1" in text(out, "index.html")
    assert index.count('<circle class="slower"') == 3


def plan_nights(nights: Sequence[Sequence[str]], cases: Sequence[DataCase]) -> PlanNights:
    """Return nights, from the first day of a month on, of each what became of each case."""
    rows = {
        night: tuple(MetricRow(place, 0, 1e9, change=change) for place, change in enumerate(kinds))
        for night, kinds in enumerate(nights, 1)
    }
    metrics = (MetricKind("throughput", "bit/s", "higher"),)
    heads = [RunHead(night, PLAN, f"2026-11-{night:02}T02:00", "", False, False) for night in rows]
    data = {
        night: RunData(night, (), True, None, metrics, tuple(cases), of_night, ())
        for night, of_night in rows.items()
    }
    return PlanNights(heads, data, {})


@pytest.mark.parametrize(
    ("changes", "since"),
    [
        (["same", "slower", "slower"], "since 2026-11-02"),
        (["slower", "same", "slower"], ""),
        (["slower", "slower", "slower"], "since 2026-11-01 or before"),
    ],
)
def test_what_was_slower_before_the_nights_that_are_shown_is_not_said_to_begin_there(
    changes: Sequence[str], since: str
):
    case = DataCase("stream", lane().key, "gw→hh", "", "gw1", "hh1")
    assert plan_nights([[change] for change in changes], [case]).where == since


@pytest.mark.parametrize(
    ("kinds", "where"),
    [
        (["slower", "slower", "same", "same"], "all at n1"),
        (["slower", "slower", "slower", "same"], ""),
        (["slower", "slower", "same", "slower"], ""),
        (["same", "same", "same", "slower"], ""),
    ],
)
def test_the_hosts_that_all_slower_cases_have_in_common_are_named(kinds: Sequence[str], where: str):
    links = [("n1", "n2"), ("n1", "n3"), ("n2", "n3"), ("", "")]
    cases = [DataCase("stream", lane(n).key, "", "", *hosts) for n, hosts in enumerate(links)]
    assert plan_nights([kinds], cases).where == where


def test_a_slow_group_is_not_said_to_be_slow_at_the_first_of_its_hosts(database: Path, out: Path):
    groups = [pair("n1", None, ("n1", "n2", "n3"), link) for link in ("all", "rack")]
    cases = [*groups, lane(1, "n2→n3", "n2", "n3")]
    info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    with Store.open(str(database)) as store:
        for level in (1e9, 0.5e9):
            run = store.begin_run(RUN, planned(*cases, replications=10), info)
            for case, of_case in zip(cases, (level, level, 1e9), strict=True):
                for number, value in enumerate(noisy(of_case), 1):
                    outcome = Outcome(number, MOMENT, {"throughput": value})
                    store.add(run, "stream", case.key, outcome, LAUNCH)
            store.finish_run(run, "complete")
    build(database, out)
    assert "2 of 3 cases slower" in text(out, "index.html")
    assert "all at" not in text(out, "index.html")


def nights_table(out: Path) -> dict[str, list[str]]:
    """Return the classes of the first plan's nights × cases, by what each row is called."""
    table = page(out, "index.html").partition('id="nights-0"')[2].partition("</table>")[0]
    return {
        re.sub("<[^>]+>", "", row.partition("</th>")[0]): re.findall(r'<td class="(\w+)"', row)
        for row in table.split("<tr>")[2:]
    }


@pytest.mark.parametrize("lost", ["throughput", "loss_rate"])
def test_a_night_in_which_a_case_lacks_one_of_its_metrics_is_not_as_the_others(
    database: Path, out: Path, lost: str
):
    whole = outcomes(noisy())
    part = [
        replace(outcome, metrics={name: outcome.metrics[name] for name in RATE if name != lost})
        for outcome in whole
    ]
    for night in (whole, part, whole):
        add_cases(database, RUN, {("stream", 1): night}, RATE)
    build(database, out)
    assert list(nights_table(out).values()) == [["same", "part", "same"]]
    assert ": not all measured" in page(out, "index.html")


def test_cases_that_share_a_row_are_not_green_in_a_night_in_which_some_were_not_measured(
    database: Path, out: Path
):
    for night in (1, 2, 3, 4, 5):
        usual = {number: noisy(seed=9 * night + number) for number in range(1, 15)}
        if night == 1:
            del usual[14]
        failing = {2: [1], 4: [*usual]}.get(night, [])
        add_run(database, usual | {number: [] for number in failing}, fails=2)
    build(database, out)
    assert nights_table(out) == {"14 cases": ["same", "part", "same", "none", "same"]}


def band_titles(levels: Sequence[float]) -> list[str]:
    """Return what is said of a night whose cases are at these shares of the night before."""
    cases = [DataCase("stream", lane(n).key, "", "", "", "") for n in range(len(levels))]
    metrics = (MetricKind("throughput", "bit/s", "higher"),)
    heads = [RunHead(n, PLAN, f"2026-11-0{n}T02:00", "", False, False) for n in (1, 2)]
    data = {}
    for head, against, values in zip(heads, ((), (1,)), ([1.0] * len(levels), levels), strict=True):
        rows = tuple(MetricRow(place, 0, 1e9 * value) for place, value in enumerate(values))
        data[head.id] = RunData(head.id, against, False, None, metrics, tuple(cases), rows, ())
    svg = PlanNights(heads, data, {}).band
    return re.findall(r"<title>([^<]*)</title>", svg)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([0.9], ": -10.0 %"),
        ([0.9, 1.1], ": median +0.0 %, all cases from -10.0 % to +10.0 %"),
        ([0.5, *[1.0] * 7, 1.2], ": median +0.0 %, all cases from -50.0 % to +20.0 %"),
        (
            [0.5, 0.9, *[1.0] * 7, 1.2],
            ": median +0.0 %, all cases but the slowest and the fastest tenth from -10.0 % to"
            " +0.0 %",
        ),
    ],
)
def test_a_nights_band_says_no_share_of_cases_that_are_too_few_for_it(
    levels: Sequence[float], words: str
):
    assert band_titles(levels)[-1] == f"run 2, 2026-11-02{words}"


def test_the_interval_in_a_sites_data_holds_its_median(database: Path, out: Path):
    add_run(database, {1: [1234567891.0] * 10, 2: [1234562109.0] * 10})
    build(database, out)
    for row in run_data(out, 1).rows:
        assert row.median is not None
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.median <= row.high


def test_a_plans_only_night_is_one_night(database: Path, out: Path):
    with Store.open(str(database)) as store:
        add_run(store, {1: [1e9]})
        add_run(store, {1: [1e9]}, new=replace(RUN, plan="other"))
        add_run(store, {1: [1e9]}, new=replace(RUN, plan="other"))
    build(database, out)
    index = text(out, "index.html")
    assert ", 1 replication" in index
    assert "1 replications" not in index
    assert "2 nights × 1 case " in index + " "
