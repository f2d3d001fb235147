"""The paper's two tables, from its numbers to every format, digit for digit."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support import FIXTURES
from tests.support.latex_lab import pages_of
from tests.support.results import csv_rows

from railgauge.base.assets import folder
from railgauge.exchange.importing.csv_import import import_csv
from railgauge.exchange.importing.csv_mapping import CsvMapping, parse_binding
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.document.write_report import write_report
from railgauge.store import Store

_BUFFERS = {"10240": "10KB", "102400": "100KB", "1048576": "1MB", "10485760": "10MB"}
_LINKS = {"gw-gw": "gw→gw", "gw-dp": "gw→dp", "gw-hh": "gw→hh"}


class Paper(NamedTuple):
    """A table of the paper: its file, what its rows are, and how the paper writes their sizes."""

    file: str
    engine: str
    size: str
    spec: str
    table: str
    labels: dict[str, str]


_TABLES = [
    Paper(
        "sharcnet_table1_udp.csv",
        "udp",
        "datagram",
        "sharcnet-table1",
        "table1",
        {"1024": "1024", "1460": "1460", "4096": "4KB", "40960": "40KB"},
    ),
    Paper(
        "sharcnet_table2_tcp.csv",
        "tcp",
        "message",
        "sharcnet-table2",
        "table2",
        {"102400": "100KB", "1048576": "1MB", "10485760": "10MB"},
    ),
]


def _expected(paper: Paper) -> list[list[str]]:
    """Read the paper's numbers as rows of text: size, link, then a cell for each buffer."""
    rows = csv_rows(FIXTURES / paper.file)
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        key = (paper.labels[row[f"{paper.size}_bytes"]], _LINKS[row["link"]])
        cells.setdefault(key, {})[row["sockbuf_bytes"]] = row["throughput_mbps"] or "---"
    return [
        [size, link, *(by_buffer[buffer] for buffer in _BUFFERS)]
        for (size, link), by_buffer in cells.items()
    ]


@pytest.fixture(params=_TABLES, ids=lambda paper: paper.table)
def paper(request: pytest.FixtureRequest) -> Paper:
    return request.param


@pytest.fixture
def report(paper: Paper, tmp_path: Path) -> Path:
    """Import the paper's numbers and write the shipped report of them; return its folder."""
    catalogue = load_catalogue()
    mapping = CsvMapping(
        engine=paper.engine,
        metrics=[parse_binding("throughput=throughput_mbps:Mbit/s")],
        parameters=[
            parse_binding(f"{paper.size}={paper.size}_bytes:B"),
            parse_binding("sockbuf=sockbuf_bytes:B"),
        ],
        fixed={"mode": "stream"},
        link="link",
    )
    with Store.open(str(tmp_path / "paper.db")) as store:
        run = import_csv(store, FIXTURES / paper.file, mapping, catalogue=catalogue)[0].run
        spec = load_spec(folder("reports") / f"{paper.spec}.yaml", catalogue)
        write_report(store, [run], spec, tmp_path / "out", catalogue=catalogue)
    return tmp_path / "out"


def _filled(rows: list[list[str]]) -> list[list[str]]:
    """Give rows whose first label is empty, as it was said above, that label."""
    for above, row in pairwise(rows):
        row[0] = row[0] or above[0]
    return rows


def test_text_has_the_papers_digits(paper: Paper, report: Path) -> None:
    lines = (report / f"{paper.spec}.txt").read_text(encoding="utf-8").splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("──")]
    assert lines[rules[1] - 1].split()[-4:] == list(_BUFFERS.values())
    rows = [line.split() for line in lines[rules[1] + 1 : rules[2]] if line]
    # A row that shares the label of the one above has nothing in its place.
    assert _filled([row if len(row) == 6 else ["", *row] for row in rows]) == _expected(paper)


def test_html_has_the_papers_digits(paper: Paper, report: Path) -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.rows: list[list[str]] = []
            self.inside = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "tr":
                self.rows.append([])
            if tag in ("th", "td"):
                self.rows[-1].append("")
                self.inside = True

        def handle_endtag(self, tag: str) -> None:
            self.inside = self.inside and tag not in ("th", "td")

        def handle_data(self, data: str) -> None:
            if self.inside:
                self.rows[-1][-1] += data

    reader = Reader()
    page = (report / "index.html").read_text(encoding="utf-8")
    reader.feed(page[page.index(f'<section id="{paper.table}">') : page.index("</section>")])
    header, body = reader.rows[:2], reader.rows[2:]
    assert header[1] == list(_BUFFERS.values())
    assert _filled([row if len(row) == 6 else ["", *row] for row in body]) == _expected(paper)


def test_csv_has_the_papers_digits_and_the_exact_values(paper: Paper, report: Path) -> None:
    lines = csv_rows(report / f"{paper.table}.csv")
    rows: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        key = (paper.labels[line[paper.size]], _LINKS[line["link"]])
        rows.setdefault(key, []).append(line["shown"])
        if line["shown"] == "---":
            assert line["mean"] == ""
        else:
            assert float(line["mean"]) == round(float(line["shown"]) * 100) * 10_000
    assert [[*key, *cells] for key, cells in rows.items()] == _expected(paper)


def test_latex_has_the_papers_digits(paper: Paper, report: Path) -> None:
    source = (report / f"{paper.table}.tex").read_text(encoding="utf-8")
    body = source.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = []
    for line in body.replace(r"\addlinespace", "").split(r"\\"):
        if line.strip():
            text = re.sub(r"\\multirow\{\d+\}\{\*\}\{(.*?)\}", r"\1", line)
            text = text.replace(r"\ensuremath{\rightarrow}", "→").replace("{-{}-{}-}", "---")
            rows.append([cell.strip() for cell in text.split("&")])
    assert _filled(rows) == _expected(paper)


@pytest.mark.usefixtures("latex")
def test_pdflatex_sets_the_papers_digits(paper: Paper, report: Path) -> None:
    pages = pages_of(report, paper.spec)
    assert "Overfull" not in (report / f"{paper.spec}.log").read_text(errors="replace")
    # A merged label stands beside the middle one of its rows.
    rows = [line.split() for line in pages.splitlines() if "gw→" in line]
    assert [row[-5:] for row in rows] == [row[1:] for row in _expected(paper)]
    labels = [row[0] for row in rows if len(row) == 6]
    assert labels == list(paper.labels.values())


def test_the_report_says_that_its_values_were_imported(paper: Paper, report: Path) -> None:
    text = (report / f"{paper.spec}.txt").read_text(encoding="utf-8")
    assert "1 imported value per cell." in text
    assert f"Imported run 1 of plan {Path(paper.file).stem}." in text
