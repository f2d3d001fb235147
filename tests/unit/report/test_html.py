"""The page: one self-contained file, readable by machines, inert whatever its names hold."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser

import pytest
from tests.support.contrast import contrast, page_colours
from tests.support.report_data import reference_table, series, table_spec

from railgauge.report.document.render import render_html
from railgauge.report.pages.contents import Details, ReportPart
from railgauge.report.pages.machines import FactCell, FactGroup, FactRow, Machines
from railgauge.report.pages.page import Page
from railgauge.report.tables.pivot import build

_EVIL = """<script>alert(1)</script> " onload='x' & %_\\ {{ 7*7 }}"""


class _Reader(HTMLParser):
    """Collects the elements, their attributes and the text of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "col"):
            self.open.append(tag)
        if tag in ("th", "td", "caption", "p", "h1"):
            self.texts.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.texts and any(tag in self.open for tag in ("th", "td", "caption", "p", "h1")):
            tag, text = self.texts[-1]
            self.texts[-1] = (tag, text + data)


def _page(name: str = "R") -> Page:
    runs = Details("Runs", ("Run 1",), (("Plan", (name,)),))
    facts = FactGroup("General", (FactRow("cpu", (FactCell(name),), differs=False),), open=True)
    machines = (Machines("Machines of run 1", ("gw1",), (facts,), "1 fact of one host."),)
    return Page("report", name, (f"Run 1 of plan {name}.",), runs, machines, ())


def _html(title: str = "T", link: str = "gw→hh", page: str = "R", rows: int = 2) -> str:
    points = [
        series([1e6, 3e6], {"datagram": datagram, "sockbuf": 1}, link=link, total=2 + datagram % 2)
        for datagram in range(1, rows + 1)
    ]
    cells = (
        {"metric": "throughput", "unit": "Mbit/s"},
        {"metric": "throughput", "statistic": "cv", "digits": 1},
    )
    spec = table_spec(*cells, title=title, rows=["link", "datagram"], columns=["sockbuf"])
    return render_html(_page(page), [ReportPart(table=build(spec, points))])


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_every_heading_says_what_it_heads() -> None:
    reader = _read(_html())
    scopes = [attributes.get("scope") for tag, attributes in reader.elements if tag == "th"]
    assert scopes[:7] == [
        "col",  # datagram
        *["colgroup"] * 2,  # the axis' title, its one value
        *["col"] * 2,  # the two cells
        *["row", "row"],
    ]
    spans = [
        attributes["rowspan"] for tag, attributes in reader.elements if attributes.get("rowspan")
    ]
    assert spans == ["3"]


def test_a_cell_tells_how_its_number_came_about() -> None:
    cells = [attributes for tag, attributes in _read(_html()).elements if tag == "td"]
    assert cells[0]["title"] == (
        "n = 2: median 2.000, harmonic mean 1.500, sd 1.414, mean absolute deviation 1.000,"
        " CV 70.71 %, min 1.000, max 3.000 (Mbit/s)"
    )
    assert cells[1]["title"] == (
        "n = 2: median 2.000, harmonic mean 1.500, sd 1.414, mean absolute deviation 1.000,"
        " CV 70.71 %, min 1.000, max 3.000 (Mbit/s)"
    )


def test_numbers_units_marks_and_footnotes_are_there() -> None:
    reader = _read(_html())
    cells = [" ".join(text.split()) for tag, text in reader.texts if tag == "td"]
    assert cells[:4] == ["2.00a", "70.7a", "2.00", "70.7"]
    headings = [" ".join(text.split()) for tag, text in reader.texts if tag == "th"]
    assert "Throughput (Mbit/s)" in headings
    notes = [" ".join(text.split()) for tag, text in reader.texts if tag == "p"]
    assert "a 2 of 3 replications; 1 not measured" in notes
    targets = {attributes.get("id") for _, attributes in reader.elements}
    links = [attributes["href"] for tag, attributes in reader.elements if tag == "a"]
    assert links
    assert all(link.startswith("#") and link[1:] in targets for link in links)


@pytest.mark.parametrize(("rows", "classes"), [(2, "scroll"), (201, "scroll long")])
def test_a_long_table_is_laid_out_when_it_comes_into_view(rows: int, classes: str) -> None:
    page = _html(rows=rows)
    around = [
        attributes["class"]
        for tag, attributes in _read(page).elements
        if attributes.get("aria-label") == "T"
    ]
    assert around == [classes]
    assert ".scroll.long { content-visibility: auto;" in page


def test_names_with_markup_show_as_text() -> None:
    page = _html(title=_EVIL, link=_EVIL, page=_EVIL)
    reader = _read(page)
    assert page.count("<script") == 1, "the page's own"
    assert not any(
        name.startswith("on") for _, attributes in reader.elements for name in attributes
    )
    assert next(text for tag, text in reader.texts if tag == "caption") == _EVIL
    assert f"Link: {_EVIL}" in [text for tag, text in reader.texts if tag == "p"]
    assert ("td", _EVIL) in reader.texts


def test_the_page_asks_nobody_for_anything() -> None:
    page = _html()
    reader = _read(page)
    assert not {tag for tag, _ in reader.elements} & {"img", "iframe", "object"}
    assert not any("src" in attributes for _, attributes in reader.elements)
    links = [attributes["href"] for tag, attributes in reader.elements if tag == "link"]
    assert links == ["data:,"], "an icon, or browsers ask for one"
    assert not re.search(r"url\(|@import|https?:", page)


def test_the_page_has_a_language_a_title_and_both_colour_schemes() -> None:
    page = _html()
    reader = _read(page)
    assert ("html", {"lang": "en"}) in reader.elements
    assert "<title>R</title>" in page
    assert "prefers-color-scheme: dark" in page


def test_each_of_several_marks_leads_to_its_footnote() -> None:
    html = render_html(_page(), [ReportPart(table=reference_table())])
    assert '<sup><a href="#t-a">a</a>,<a href="#t-b">b</a></sup>' in html
    assert '<p class="note" id="t-b"><sup>b</sup> some values are better' in html
    assert 'title="theoretical 68.3 GB/s (found: 2 × 64 &amp; more)"' in html


def test_the_browser_is_told_to_run_the_pages_own_style_and_script_only() -> None:
    page = _html()
    allowed = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert allowed
    rules = dict(rule.split(" ", 1) for rule in html.unescape(allowed[1]).split("; "))
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert "style" not in {name for _, attributes in _read(page).elements for name in attributes}


def test_a_cell_sorts_by_its_whole_number_and_a_label_by_its_value() -> None:
    cells = [attributes for tag, attributes in _read(_html()).elements if tag == "td"]
    median, variation = (float(cell["data-value"] or "") for cell in cells[:2])
    assert (median, variation) == (2e6, pytest.approx(0.5**0.5))
    labels = [attributes for tag, attributes in _read(_html()).elements if tag == "th"]
    assert [label["data-value"] for label in labels if "data-value" in label] == ["1", "2"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["text", "quiet", "link", "alarm"])
@pytest.mark.parametrize("ground", ["page", "band"])
def test_text_stands_out_from_its_ground(scheme: str, name: str, ground: str) -> None:
    """A contrast of 4.5 or more, as WCAG 2.2 reckons it (success criterion 1.4.3)."""
    colours = page_colours(scheme)
    assert contrast(colours[name], colours[ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["rule", "link", "quiet"])
def test_what_bounds_a_control_stands_out_from_the_page(scheme: str, name: str) -> None:
    """A contrast of 3 or more (success criterion 1.4.11)."""
    colours = page_colours(scheme)
    assert contrast(colours[name], colours["page"]) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_curve_stands_out_from_the_page(scheme: str) -> None:
    colours = page_colours(scheme)
    assert contrast(colours["curve"], colours["page"]) >= 4.5


def test_no_line_break_parts_a_date() -> None:
    page = _html(page="R <2026-11-23> & 2026-11-24")
    lead = 'Run 1 of plan R &lt;<span class="date">2026-11-23</span>&gt; &amp; '
    assert '<td>R &lt;<span class="date">2026-11-23</span>&gt; &amp; ' in page
    assert f'<p class="lead">{lead}<span class="date">2026-11-24</span>.</p>' in page
    assert (
        '<h1>R &lt;<span class="date">2026-11-23</span>&gt; &amp; '
        '<span class="date">2026-11-24</span></h1>' in page
    )
    assert ".date { white-space: nowrap; }" in page


def test_pointing_at_a_number_shows_that_of_its_own_case_not_of_its_rows_first() -> None:
    cases = {size: [1e6 * size, 3e6 * size] for size in (1, 2, 3)}
    cells = [
        {"metric": "throughput", "unit": "Mbit/s", "label": f"at {size}", "select": {"wait": size}}
        for size in cases
    ]
    spec = table_spec(*cells, rows=["link"])
    table = build(spec, [series(values, {"wait": size}) for size, values in cases.items()])
    html = render_html(_page(), [ReportPart(table=table)])
    assert [f"median {2 * size}.000" in html for size in cases] == [True] * 3
