"""A site against the other commands: the same verdicts, numbers and reasons, run by run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.site_samples import build
from tests.support.site_variety import AGAINST, Shown, store_variety, table

from railgauge.base.characters import visible
from railgauge.cli import cli
from railgauge.report.site.run_data import MetricRow, read_run_data
from railgauge.report.site.site_pages import plan_site
from railgauge.store import Store

RUNS = range(1, 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with railgauge.db and its site in `site`."""
    folder = tmp_path_factory.mktemp("agrees")
    store_variety(folder / "railgauge.db")
    build(folder / "railgauge.db", folder / "site")
    return folder


def say(folder: Path, *words: str) -> str:
    result = CliRunner().invoke(cli, [*words, "--db", str(folder / "railgauge.db")])
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


def ask(folder: Path, *words: str) -> Any:
    return json.loads(say(folder, *words, "--json"))


def key(cell: Shown) -> str:
    """Return the key of the case whose page a cell leads to."""
    return cell.href.rpartition("/")[2].removesuffix(".html")


def cases(folder: Path, run: int) -> dict[tuple[str, str, str], dict[str, Shown]]:
    """Return the rows of a run's page, by test, case key and metric."""
    page = folder / f"site/runs/{run}.html"
    rows = [row for number in range(4) for row in table(page, f"cases-{number}")]
    named = [
        (row["Case"].text.partition(": ")[0], key(row["Case"]), row["Metric"].text) for row in rows
    ]
    assert len(set(named)) == len(named)
    return dict(zip(named, rows, strict=True))


def replications(statistic: dict[str, Any]) -> str:
    parts = [str(statistic["n"])]
    parts += [f"{statistic['suspect']} suspect"] if statistic["suspect"] else []
    return ", ".join(parts + ([f"{statistic['failed']} failed"] if statistic["failed"] else []))


@pytest.mark.parametrize("run", AGAINST)
def test_a_runs_verdicts_are_those_of_compare(folder: Path, run: int):
    answer = ask(folder, "compare", AGAINST[run], str(run))
    rows = cases(folder, run)
    results = {
        (result["test"], result["case_key"], result["metric"]): result
        for result in answer["results"]
    }
    assert results
    for (test, case, metric), result in results.items():
        row = rows.pop((test, case, metric.replace("_", " ")))
        before, after = result["sides"]
        lost = before["n"] and not after["n"]
        assert row["Verdict"].text == ("not measured" if lost else result["verdict"])
        if result["ratio"] and result["ratio"] > 0:
            assert row["Ratio"].value == pytest.approx(result["ratio"], rel=1e-5)
        else:
            assert row["Ratio"].value is None
        assert row["Before"].value == before["median"]
        assert row["Now"].value == after["median"]
        assert row["Replications"].text == replications(after), (test, metric)
        assert row["Why"].text == visible(result["why"])
        if result["ratio"] and result["low"] and result["high"]:
            assert (
                row["Ratio: 95 % interval"].text.strip()
                == f"{result['low']:.3f} to {result['high']:.3f}"
            )
    alone = {(entry["test"], entry["case_key"]) for entry in answer["cases_only"][1]}
    for name, row in rows.items():
        assert row["Verdict"].text == ("new" if name[:2] in alone else "not compared"), name
        assert row["Before"].value is row["Ratio"].value is None


@pytest.mark.parametrize("run", AGAINST)
def test_a_runs_headline_is_compares(folder: Path, run: int):
    line = say(folder, "compare", AGAINST[run], str(run)).splitlines()[0]
    headline = line.partition(" (run ")[0].partition(" (baseline ")[0]
    page = (folder / f"site/runs/{run}.html").read_text(encoding="utf-8")
    assert f"{headline} (" in page
    rows = {row["Run"].text: row for row in table(folder / "site/index.html", "runs")}
    results = ask(folder, "compare", AGAINST[run], str(run))["results"]
    lost = sum(bool(result["sides"][0]["n"] and not result["sides"][1]["n"]) for result in results)
    counts = {
        word: sum(result["verdict"] == word for result in results)
        for word in ("slower", "faster", "not enough data")
    }
    row = rows[str(run)]
    assert row["Slower"].value == counts["slower"] + lost
    assert row["Faster"].value == counts["faster"]
    assert row["Not enough data"].value == counts["not enough data"] - lost


@pytest.mark.parametrize("run", RUNS)
def test_a_runs_medians_are_those_of_show(folder: Path, run: int):
    answer = ask(folder, "show", str(run))
    rows = cases(folder, run)
    statistics = {
        (statistic["test"], statistic["case_key"], statistic["metric"]): statistic
        for statistic in answer["statistics"]
    }
    with_median = set()
    for (test, case, metric), statistic in statistics.items():
        row = rows.get((test, case, metric.replace("_", " ")))
        shown_median = row and (row.get("Now") or row["Median"]).value
        if row is None or shown_median is None:
            # No headline metric, while its test has one in one of the runs; or of no direction.
            continue
        with_median.add((test, case))
        assert shown_median == statistic["median"]
        assert row["Replications"].text == replications(statistic)
    for test, case in {name[:2] for name in statistics} - with_median:
        (row,) = (row for name, row in rows.items() if name[:2] == (test, case))
        expected = {
            replications(statistic)
            for name, statistic in statistics.items()
            if name[:2] == (test, case)
        }
        assert {row["Replications"].text} == expected
        assert "whether more or less is better" in row["Why"].text
    failed: dict[tuple[str, str], int] = {}
    for failure in answer["failures"]:
        failed[failure["test"], failure["case_key"]] = (
            failed.get((failure["test"], failure["case_key"]), 0) + 1
        )
    for name, row in rows.items():
        expected = f"{failed[name[:2]]} failed" if name[:2] in failed else ""
        assert ("failed" in row["Replications"].text) == bool(expected), name
        assert expected in row["Replications"].text


def test_a_cases_data_are_the_nights_of_history(folder: Path):
    data = {run: read_run_data((folder / f"site/data/{run}.js").read_text()) for run in RUNS}
    with Store.open(str(folder / "railgauge.db")) as store:
        listed = plan_site(store, "", None, 0).cases
        heads = {head.id: head for head in store.run_heads() if not head.partial}
    count = 0
    for case in listed:
        for place in case.places:
            of_place: dict[str, dict[int, MetricRow]] = {}
            for run, head in heads.items():
                for named, metric, row in data[run].measured() if head.plan == place.plan else ():
                    matches = named.key == case.key and named.test in place.tests
                    if matches and row.median is not None:
                        of_place.setdefault(metric.name, {})[run] = row
            words = ("--plan", place.plan, "--test", place.tests[0])
            for metric_name, rows in of_place.items():
                answer = ask(folder, "history", case.key, *words, "--metric", metric_name)
                count += len(answer["values"])
                for entry in answer["values"]:
                    # Of an engine that nobody describes a run has what it was compared by.
                    if entry["run"] not in rows and place.plan == "unknown engine":
                        continue
                    row = rows[entry["run"]]
                    assert row.median == entry["median"]
                    assert (row.low is None) == (entry["low"] is None)
                    if row.low is not None:
                        assert row.low == pytest.approx(entry["low"], rel=1e-5)
                        assert row.high == pytest.approx(entry["high"], rel=1e-5)
    assert count > 20
    (alone,) = (case for case in listed if case.places[0].tests == ("b",))
    sizes = [data[run].measured() for run, head in heads.items() if head.plan == "unknown engine"]
    assert [
        row.median
        for rows in sizes
        for case, metric, row in rows
        if case.key == alone.key and metric.name == "size"
    ] == [10.5, 11.5, 11.5, 4.5], "of no direction"


def test_the_command_that_a_cases_page_names_is_one(folder: Path):
    for listed in table(folder / "site/index.html", "cases"):
        case = key(listed["Case"])
        text = (folder / f"site/cases/{case}.html").read_text(encoding="utf-8")
        (narrower,) = re.findall(rf"railgauge history {case}(.*?) says more", text)
        assert (narrower == "") == (text.count("<h2>") == 1)


def test_the_runs_of_the_index_are_those_of_list(folder: Path):
    entries = {str(entry["id"]): entry for entry in ask(folder, "list")}
    rows = table(folder / "site/index.html", "runs")
    assert [row["Run"].text for row in rows] == [str(run) for run in reversed(RUNS)]
    for row in rows:
        entry = entries[row["Run"].text]
        assert row["Plan"].text == entry["plan"]
        assert [row[name].value for name in ("Cases", "Measured", "Failed")] == [
            entry[name] for name in ("cases", "measured", "failed")
        ]
        assert row["State"].text.startswith(entry["state"])
        assert ("imported" in row["State"].text) == (entry["origin"] == "imported")
        assert ("some cases" in row["State"].text) == entry["partial"]
