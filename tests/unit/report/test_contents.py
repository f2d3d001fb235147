"""The order of a report, and its texts: in HTML, LaTeX and on a terminal alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.latex_lab import pages_of
from tests.support.report_data import definition_problems, store_traces, trace

from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import TextSpec
from railgauge.report.document.write_report import write_report
from railgauge.report.pages.contents import passage
from railgauge.store import Store

_EVIL = """<script>alert(1)</script> " 100 % a_b \\ {{ 7*7 }} & \u202e~^#$"""
_SPEC = """\
railgauge_report: 1
name: ordered
title: In order
texts:
  - name: last
    text: The last word.
  - name: intro
    heading: What was measured
    text: |
      One paragraph,
      on two lines.

      Another.
tables:
  - name: streams
    title: Streams
    rows: [wait, link]
    cells: [{metric: throughput, unit: Mbit/s}]
figures:
  - name: arrival
    title: Arrival
    kind: arrival
    each: [link]
contents: [intro, arrival, streams, last]
"""


def _files(tmp_path: Path, spec: str) -> dict[str, str]:
    path = tmp_path / "r.yaml"
    path.write_text(spec, encoding="utf-8")
    with Store.open(str(tmp_path / "r.db")) as store:
        traces = {("a→b", 5e-6): [trace()], ("b→a", 5e-6): [trace({10: 2})]}
        run = store_traces(store, traces)
        catalogue = load_catalogue()
        spec_read = load_spec(path, catalogue)
        files = write_report(store, [run], spec_read, tmp_path / "out", catalogue=catalogue)
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def _order(text: str, *headings: str) -> list[str]:
    places = [(text.index(heading), heading) for heading in headings]
    return [heading for _, heading in sorted(places)]


def test_everything_stands_in_the_order_of_the_contents_in_every_form(tmp_path: Path) -> None:
    files = _files(tmp_path, _SPEC)
    sections = re.findall(r'<section[^>]* id="([^"]+)"', files["index.html"])
    assert [section for section in sections if section != "cases"] == [
        "intro",
        "arrival-1",
        "arrival-2",
        "arrival-2-losses",
        "streams",
        "last",
    ]
    inputs = re.findall(r"\\input\{([^}]+)\}|(The last word|Another\.)", files["ordered.tex"])
    assert ["".join(pair) for pair in inputs] == [
        "Another.",
        "arrival-1",
        "arrival-2",
        "arrival-2-losses",
        "streams",
        "The last word",
    ]
    text = files["ordered.txt"]
    expected = ["What was measured", "Arrival: a→b", "Arrival: b→a", "Streams", "The last"]
    assert _order(text, *reversed(expected)) == expected


def test_without_contents_texts_stand_before_tables_and_figures(tmp_path: Path) -> None:
    files = _files(tmp_path, _SPEC.replace("contents: [intro, arrival, streams, last]\n", ""))
    expected = ["The last word.", "What was measured", "Streams\n", "Arrival: a→b"]
    assert _order(files["ordered.txt"], *expected) == expected


def test_blank_lines_divide_paragraphs_and_line_ends_are_spaces(tmp_path: Path) -> None:
    files = _files(tmp_path, _SPEC)
    assert "<h2>What was measured</h2>" in files["index.html"]
    assert "<p>One paragraph, on two lines.</p>\n<p>Another.</p>" in files["index.html"]
    assert "One paragraph, on two lines.\n\nAnother.\n" in files["ordered.txt"]


def test_a_grid_below_a_text_is_a_table_of_texts(tmp_path: Path) -> None:
    grid = 'text: The last word.\n    grid: [["a & b", "n %"], ["<i>", "7"], [x, "12.5"]]'
    files = _files(tmp_path, _SPEC.replace("text: The last word.", grid))
    assert "The last word.\n\na & b   n %\n<i>       7\nx      12.5\n" in files["ordered.txt"]
    assert "<td>12.5</td></tr>" in files["index.html"]
    assert '<td class="stub">&lt;i&gt;</td>' in files["index.html"]
    tex = (tmp_path / "out" / "ordered.tex").read_text(encoding="utf-8")
    assert r"x & 12.5 \\" in tex


@pytest.mark.usefixtures("latex")
def test_a_text_shows_as_text_whatever_it_holds(tmp_path: Path) -> None:
    quoted = '"{}"'.format(_EVIL.replace("\\", "\\\\").replace('"', '\\"'))
    grid = f"{quoted}\n    grid: [[{quoted}, a], [b, {quoted}]]"
    files = _files(tmp_path, _SPEC.replace("The last word.", grid))
    paragraph = passage(TextSpec(name="t", text=_EVIL)).paragraphs[0]
    assert "\\u202e" in paragraph
    assert "<script>alert" not in files["index.html"]
    assert paragraph in files["ordered.txt"]
    pages = pages_of(tmp_path / "out", "ordered")
    assert "100 % a_b \\" in pages
    expected = ["What was measured", "Figure 1: ", "Figure 2: ", ": Streams", "alert(1)"]
    assert _order(pages, *reversed(expected)) == expected


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[intro, arr", "[inro, arr", "24:12: nothing is called 'inro': did you mean 'intro'?"),
        ("[intro, arr", "[intro, zz, arr", "24:19: nothing is called 'zz': known here are last,"),
        ("s, last]", "s, last, intro]", "24:43: 'intro' is in the contents already: leave it out"),
        ("s, last]", "s]", "5:11: 'last' isn't in 'contents': add it there, or drop 'contents'"),
        ("name: last", "name: streams", "15:11: 'streams' is the name of another text"),
        ("text: The last word.", 'text: "  "', "6:11: 'text': there is no word in it: write some"),
        ("word.", "word.\n    grid: [[a, b], [c]]", "7:11: 'grid': its lines differ in length, or"),
        ("text: The", "texd: The", "6:5: unknown key 'texd': did you mean 'text'?"),
    ],
)
def test_a_mistake_in_the_order_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in _SPEC
    problems = definition_problems(tmp_path, _SPEC.replace(old, new))
    assert any(line.startswith(problem) for line in problems), problems


def test_the_documents_first_example_is_a_good_definition(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "example.yaml"
    path.write_text(example, encoding="utf-8")
    spec = load_spec(path, load_catalogue())
    assert spec.contents == ["setup", "arrival", "streams"]
    assert len(passage(spec.texts[0]).paragraphs) == 2
