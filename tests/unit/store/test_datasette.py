"""docs/datasette on a real Datasette: its pages and queries, over HTTP on loopback."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np
import pytest
import yaml
from tests.support import ROOT
from tests.support.export_samples import HOSTILE, fill_export
from tests.support.store_samples import (
    METRICS,
    MOMENT,
    RUN,
    case,
    failed,
    logged,
    measured,
    planned,
    suspect,
    system_log,
)

from railgauge.exchange.exporting.view_rows import COLUMNS
from railgauge.plan.cases import Case
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo

METADATA = ROOT / "docs" / "datasette" / "metadata.yaml"
DOC = (ROOT / "docs" / "other-tools.md").read_text(encoding="utf-8")
_DATABASE: dict[str, Any] = yaml.safe_load(METADATA.read_text(encoding="utf-8"))["databases"]
TABLES, QUERIES = (_DATABASE["railgauge"][part] for part in ("tables", "queries"))
RATES = {"gw→hh": 1e9, "gw→slow": 0.4e9, "gw→kk": 1.1e9, "gw→ll": 0.9e9}


@dataclass(frozen=True)
class Served:
    url: str
    database: Path

    def get(self, path: str, **query: object) -> str:
        with urlopen(f"{self.url}/{path}?{urlencode(query)}", timeout=30) as answer:
            return str(answer.read().decode())

    def rows(self, name: str, **query: object) -> list[dict[str, Any]]:
        text = self.get(f"railgauge/{name}.json", _shape="objects", **query)
        return list(json.loads(text)["rows"])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    database = tmp_path_factory.mktemp("datasette") / "railgauge.db"
    with Store.open(str(database)) as store:
        fill_export(store)
        _fill_links(store)
    with datasette(database) as url:
        yield Served(url, database)


@contextmanager
def datasette(database: Path) -> Iterator[str]:
    """Serve the database as docs/other-tools.md says, on a free port, and give the address."""
    example = re.search(r"^    datasette railgauge\.db ((?:.*\\\n)*.*)$", DOC, re.MULTILINE)
    assert example is not None
    options = shlex.split(example[1].replace("\\\n", " "))
    command = [sys.executable, "-m", "datasette", "serve", str(database), *options]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if address := re.search(r"running on (http://127\.0\.0\.1:\d+)", line):
                yield address[1]
                break
        else:
            raise AssertionError("Datasette did not start")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _link(name: str, test: str = "stream") -> Case:
    return replace(case(link=name, test=test), server=name.split("→")[1])


def _fill_links(store: Store) -> None:
    """Store two runs of four links, one of which is slow in throughput and in latency."""
    latency = {"latency": MetricInfo("s", "lower")}
    cases = [_link(name) for name in RATES]
    for run in range(2):
        number = store.begin_run(RUN, planned(*cases), {"udp": {**METRICS["udp"], **latency}})
        for link_case in cases:
            launch = Launch(MOMENT + run)
            for replication, factor in enumerate((1.02, 0.98, 1.01, 1.0)[: 3 + run], 1):
                rate = RATES[link_case.link] * factor * (1 + run)
                metrics = {"throughput": rate, "latency": 1e4 / rate, "loss_rate": 0.25}
                logs = (system_log("gw1"), system_log(str(link_case.server)))
                outcome = replace(logged(replication, *logs), metrics=metrics)
                store.add(number, "stream", link_case.key, outcome, launch)
        store.add(number, "stream", cases[0].key, suspect(5), Launch(MOMENT))
        store.add(number, "stream", cases[1].key, failed(5), Launch(MOMENT))
        store.finish_run(number, "complete")


def test_every_page_and_query_opens_and_hostile_names_stay_text(served: Served) -> None:
    front = served.get("railgauge")
    for name, query in QUERIES.items():
        assert query["title"] in front
        page = served.get(f"railgauge/{name}", run=2, other=1, case_key=case().key)
        assert query["title"] in page
        assert "SQL query took too long" not in page
        assert HOSTILE[0] not in page
    assert "&lt;script&gt;" in served.get("railgauge/medians", run=2)
    page = served.get("railgauge/measurement", run=2)
    assert HOSTILE[0] not in page
    assert "Engine, link and parameters as a hash" in page


def test_the_links_of_the_front_page_lead_somewhere(served: Served) -> None:
    links = re.findall(r'href="(railgauge/[^"]+)"', served.get("railgauge"))
    assert [link.partition("?")[0] for link in links] == ["railgauge/runs", "railgauge/measurement"]
    for link in links:
        with urlopen(f"{served.url}/{unescape(link)}", timeout=30) as answer:
            assert "railgauge" in answer.read().decode()


def test_medians_are_those_of_railgauge(served: Served) -> None:
    with Store.open(str(served.database), create=False) as store:
        expected = {
            (series.test, series.case.key, series.metric): (
                float(np.median(series.values)),
                len(series.values),
            )
            for series in store.series([4])
        }
    for query in ({"run": 4}, {}):
        rows = served.rows("medians", **query)
        medians = {(x["test"], x["case_key"], x["metric"]): (x["median"], x["n"]) for x in rows}
        assert medians == {key: (pytest.approx(median), n) for key, (median, n) in expected.items()}
        assert {row["run"] for row in rows} == {4}
    assert sum(row["suspect"] for row in rows) == 2


def test_a_metric_can_be_chosen(served: Served) -> None:
    assert {row["metric"] for row in served.rows("medians", metric="latency")} == {"latency"}


@pytest.mark.parametrize("metric", ["", "latency"])
def test_the_slowest_link_comes_first_whatever_is_better(served: Served, metric: str) -> None:
    first, *other_rows = served.rows("slowest_links", run=3, metric=metric)
    assert (first["link"], first["metric"]) == ("gw→slow", metric or "throughput")
    assert first["share"] == pytest.approx(0.42, abs=0.01)
    assert first["links"] == 4
    assert all(0.9 < row["share"] < 1.2 for row in other_rows)


def test_suspect_and_failed_replications_come_with_their_reasons(served: Served) -> None:
    (row,) = served.rows("suspect_replications", run=3)
    assert (row["link"], row["replication"], row["code"]) == ("gw→hh", 5, "swapped")
    assert row["message"] == "hh1 swapped 12 pages"
    (row,) = served.rows("failed_replications")
    assert (row["run"], row["link"], row["code"]) == (4, "gw→slow", "connection-refused")


def test_a_case_has_a_row_for_each_run(served: Served) -> None:
    rows = served.rows("case_history", case_key=_link("gw→kk").key)
    assert [row["run"] for row in rows] == [3, 4]
    assert [row["n"] for row in rows] == [3, 4]
    assert rows[1]["median"] == pytest.approx(2 * 1.005 * 1.1e9)


def test_two_runs_stand_side_by_side_the_most_different_first(served: Served) -> None:
    rows = served.rows("two_runs", run=4, other=3)
    assert len(rows) == 12
    by_metric = {row["metric"]: row["ratio"] for row in rows if row["link"] == "gw→kk"}
    assert by_metric == {
        "throughput": pytest.approx(2 * 1.005 / 1.01),
        "latency": pytest.approx(0.5 * 1.005, rel=0.02),
        "loss_rate": 1.0,
    }
    assert [row["metric"] for row in rows[-4:]] == ["loss_rate"] * 4


def test_what_came_down_to_nothing_differs_most_between_two_runs(tmp_path: Path) -> None:
    down, slower = _link("gw→kk"), _link("gw→hh")
    with Store.open(str(tmp_path / "a.db")) as store:
        for rates in ((1e9, 1e9), (0.0, 1e8)):
            number = store.begin_run(RUN, planned(down, slower), METRICS)
            for link_case, rate in zip((down, slower), rates, strict=True):
                outcome = replace(measured(1), metrics={"throughput": rate})
                store.add(number, "stream", link_case.key, outcome, Launch(MOMENT))
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        rows = database.execute(QUERIES["two_runs"]["sql"], {"run": 2, "other": 1}).fetchall()
    assert [row[1] for row in rows] == ["gw→kk", "gw→hh"]


def test_losses_stand_beside_what_the_hosts_counted(served: Served) -> None:
    rows = served.rows("losses", run=3)
    logged_rows = [row for row in rows if row["host"]]
    assert {row["side"] for row in logged_rows} == {"client", "server"}
    assert {row["udp_rcvbuf_errors"] for row in logged_rows} == {5}
    # The suspect one had no logs, and is there all the same.
    assert [row["replication"] for row in rows if not row["host"]] == [5]
    assert len(rows) == 4 * 3 * 2 + 1


def test_every_table_is_described_or_hidden_and_every_column_said_is_one(served: Served) -> None:
    with closing(sqlite3.connect(served.database)) as database:
        query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
        names = {name for (name,) in database.execute(query) if not name.startswith("sqlite_stat")}
        assert set(TABLES) == names
        for name, table in TABLES.items():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            assert set(table.get("columns", [])) <= set(columns)
        assert list(TABLES["warmup"]["columns"]) == list(COLUMNS)


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_all_measurements(served: Served, name: str) -> None:
    query = QUERIES[name]
    values = dict.fromkeys(query.get("params", []), "1")
    with closing(sqlite3.connect(served.database)) as database:
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query['sql']}", values)]
    large = re.compile(r"SCAN (value|replication|log|\w+_log|run_case|bench_case|launch)\b")
    assert not [line for line in plan if large.match(line)]
