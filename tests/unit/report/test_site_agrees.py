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

RUNS = range(1, 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with railgauge.db and its site in `site`."""
    folder = tmp_path_factory.mktemp("agrees")
    store_variety(folder / "railgauge.db")
    build(folder / "railgauge.db", folder / "site")
    return folder


def say(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, [*words, "--db", str(folder / "railgauge.db")])
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.output


def ask(folder: Path, *words: str) -> Any:
    return json.loads(say(folder, *words, "--json"))


def key(cell: Shown) -> str:
    """Return the key of the case whose page a cell leads to."""
    return cell.href.rpartition("/")[2].removesuffix(".html")


def cases(folder: Path, run: int) -> dict[tuple[str, str, str], dict[str, Shown]]:
    """Return the rows of a run's page, by test, case key and metric."""
    rows = table(folder / f"site/runs/{run}.html", "cases")
    named = [(row["Test"].text, key(row["Case"]), row["Metric"].text) for row in rows]
    assert len(set(named)) == len(named)
    return dict(zip(named, rows, strict=True))


def replications(told: dict[str, Any]) -> str:
    parts = [str(told["n"])]
    parts += [f"{told['suspect']} suspect"] if told["suspect"] else []
    return ", ".join(parts + ([f"{told['failed']} failed"] if told["failed"] else []))


@pytest.mark.parametrize("run", AGAINST)
def test_a_runs_verdicts_are_those_of_compare(folder: Path, run: int):
    said = ask(folder, "compare", AGAINST[run], str(run))
    shown = cases(folder, run)
    results = {(one["test"], one["case_key"], one["metric"]): one for one in said["results"]}
    assert results
    for (test, case, metric), one in results.items():
        row = shown.pop((test, case, metric.replace("_", " ")))
        before, after = one["sides"]
        lost = before["n"] and not after["n"]
        assert row["Verdict"].text == ("not measured" if lost else one["verdict"])
        assert row["Ratio"].value == (one["ratio"] if one["ratio"] and one["ratio"] > 0 else None)
        assert row["Before"].value == before["median"]
        assert row["Median"].value == after["median"]
        assert row["Replications"].text == replications(after), (test, metric)
        assert row["Why"].text == visible(one["why"])
        if one["ratio"] and one["low"] and one["high"]:
            assert row["95 % of it"].text == f"{one['low']:.3f} to {one['high']:.3f}"
    alone = {(one["test"], one["case_key"]) for one in said["cases_only"][1]}
    for name, row in shown.items():
        assert row["Verdict"].text == ("new" if name[:2] in alone else "not compared"), name
        assert row["Before"].value is row["Ratio"].value is None


@pytest.mark.parametrize("run", AGAINST)
def test_a_runs_headline_is_compares(folder: Path, run: int):
    line = say(folder, "compare", AGAINST[run], str(run)).splitlines()[0]
    told = line.partition(" (run ")[0].partition(" (baseline ")[0]
    page = (folder / f"site/runs/{run}.html").read_text(encoding="utf-8")
    assert f"{told} (" in page
    rows = {row["Run"].text: row for row in table(folder / "site/index.html", "runs")}
    results = ask(folder, "compare", AGAINST[run], str(run))["results"]
    lost = sum(bool(one["sides"][0]["n"] and not one["sides"][1]["n"]) for one in results)
    counts = {
        word: sum(one["verdict"] == word for one in results)
        for word in ("slower", "faster", "not enough data")
    }
    row = rows[str(run)]
    assert row["Slower"].value == counts["slower"] + lost
    assert row["Faster"].value == counts["faster"]
    assert row["Not enough data"].value == counts["not enough data"] - lost


@pytest.mark.parametrize("run", RUNS)
def test_a_runs_medians_are_those_of_show(folder: Path, run: int):
    said = ask(folder, "show", str(run))
    shown = cases(folder, run)
    statistics = {(one["test"], one["case_key"], one["metric"]): one for one in said["statistics"]}
    told = set()
    for (test, case, metric), one in statistics.items():
        row = shown.get((test, case, metric.replace("_", " ")))
        if row is None or row["Median"].value is None:
            # No headline metric, while its test has one in one of the runs; or of no direction.
            continue
        told.add((test, case))
        assert row["Median"].value == one["median"]
        assert row["Replications"].text == replications(one)
    for test, case in {name[:2] for name in statistics} - told:
        (row,) = (row for name, row in shown.items() if name[:2] == (test, case))
        expected = {
            replications(one) for name, one in statistics.items() if name[:2] == (test, case)
        }
        assert {row["Replications"].text} == expected
        assert "whether more or less is better" in row["Why"].text
    failed: dict[tuple[str, str], int] = {}
    for one in said["failures"]:
        failed[one["test"], one["case_key"]] = failed.get((one["test"], one["case_key"]), 0) + 1
    for name, row in shown.items():
        expected = f"{failed[name[:2]]} failed" if name[:2] in failed else ""
        assert ("failed" in row["Replications"].text) == bool(expected), name
        assert expected in row["Replications"].text


def test_a_cases_rows_are_the_nights_of_history(folder: Path):
    seen = 0
    for listed in table(folder / "site/index.html", "cases"):
        case = key(listed["Case"])
        page = folder / f"site/cases/{case}.html"
        text = page.read_text(encoding="utf-8")
        for number in range(text.count("<h2")):
            rows = table(page, f"nights-{number}")
            for metric in [
                name for name in (rows or [{}])[0] if f"{name}: 95 % interval" in rows[0]
            ]:
                seen += _night_by_night(folder, case, text, number, metric, rows)
    assert seen > 20
    (alone,) = (
        row for row in table(folder / "site/index.html", "cases") if row["Tests"].text == "b"
    )
    sizes = table(folder / "site" / alone["Case"].href, "nights-0")
    assert [row["size"].value for row in sizes] == [4.5, 11.5, 11.5, 10.5], "of no direction"


def test_the_command_that_a_cases_page_names_tells_what_the_page_shows(folder: Path):
    commands = set()
    for listed in table(folder / "site/index.html", "cases"):
        case = key(listed["Case"])
        text = (folder / f"site/cases/{case}.html").read_text(encoding="utf-8")
        (narrower,) = re.findall(rf"railgauge history {case}(.*?) says the same", text)
        for number, place in enumerate(text.split("<h2>")[1:]):
            rows = table(folder / f"site/cases/{case}.html", f"nights-{number}")
            columns = (rows or [{}])[0]
            metrics = [name for name in columns if f"{name}: 95 % interval" in columns]
            test, _, plan = place.partition("</h2>")[0].partition(", plan ")
            words = ("--plan", plan, "--test", test) if "--test" in narrower else ()
            if metrics and "--metric" not in narrower:
                said = ask(folder, "history", case, *words)["metric"]
                assert metrics == [said.replace("_", " ")], case
        commands.add(narrower)
    assert {"", " --metric …"} <= commands


def _night_by_night(
    folder: Path, case: str, text: str, place: int, metric: str, rows: list[dict[str, Shown]]
) -> int:
    test, _, plan = text.split("<h2>")[place + 1].partition("</h2>")[0].partition(", plan ")
    words = ("--plan", plan, "--test", test, "--metric", metric.replace(" ", "_"))
    said = ask(folder, "history", case, *words)
    nights = {str(one["run"]): one for one in said["values"]}
    for row in rows:
        one = nights.pop(row["Run"].text, None)
        if one is None:
            assert row[metric].value is None
            continue
        assert row[metric].value == one["median"]
        width = one["high"] - one["low"] if one["low"] is not None else None
        assert row[f"{metric}: 95 % interval"].value == width
    assert not nights
    lines = say(folder, "history", case, *words).splitlines()
    assert f"{lines[1].partition(': ')[2]}; {lines[-1]}." in text
    return len(said["values"])


def test_the_runs_of_the_index_are_those_of_list(folder: Path):
    said = {str(one["id"]): one for one in ask(folder, "list")}
    rows = table(folder / "site/index.html", "runs")
    assert [row["Run"].text for row in rows] == [str(run) for run in reversed(RUNS)]
    for row in rows:
        one = said[row["Run"].text]
        assert row["Plan"].text == one["plan"]
        assert [row[name].value for name in ("Cases", "Measured", "Failed")] == [
            one[name] for name in ("cases", "measured", "failed")
        ]
        assert row["State"].text.startswith(one["state"])
        assert ("imported" in row["State"].text) == (one["origin"] == "imported")
        assert ("some cases" in row["State"].text) == one["partial"]
