"""Reports and sites as people see them: in a browser, by mouse, by keyboard, on paper, by ear."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from tests.support.browsing import HOSTILE, Tab
from tests.support.figure_data import store_values
from tests.support.figure_reports import write_figure
from tests.support.site_samples import build, ended_early, published
from tests.support.store_samples import LAUNCH, RUN, measured
from tests.support.verdict_samples import add_run, lane, noisy

from railgauge.base import assets
from railgauge.base.number import in_best_unit
from railgauge.plan.cases import expand
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import load_plan
from railgauge.report.document.write_report import ReportOptions
from railgauge.report.paper.make_paper import write_paper
from railgauge.report.paper.read_paper import load_paper
from railgauge.report.site import site_pages
from railgauge.report.site.site_pages import case_file
from railgauge.stats.digits import ratio_text
from railgauge.store import Store
from railgauge.store.records import MetricInfo, PlannedCase

# Of the columns of "By link": labels of two axes, then two sockets' rates.
DATAGRAM, LINK, SMALL, LARGE = range(4)


@pytest.fixture(scope="session")
def pages(report: Path, site: Path) -> dict[str, Path]:
    """One page of each kind."""
    measured = sorted(report.glob("cases/run2-long-*.html"))
    assert len(measured) == 1
    return {
        "report": report / "index.html",
        "report-case": measured[0],
        "site": site / "index.html",
        "site-compare": site / "compare.html",
        "site-run": site / "runs/3.html",
        "site-case": next(iter(sorted(site.glob("cases/*.html")))),
        "site-log": next(iter(sorted(site.glob("logs/run3-*.html")))),
    }


KINDS = (
    *("report", "report-case"),
    *("site", "site-compare", "site-run", "site-case", "site-log"),
)
# Drawn by a script out of the runs' data.
DRAWN = ("site-compare", "site-case")
# How many lines of text an element has.
LINES = """element => Math.round(
    element.getBoundingClientRect().height / parseFloat(getComputedStyle(element).lineHeight))"""


def table(page: Page, title: str) -> Locator:
    return page.get_by_role("table", name=title, exact=True)


def column(of: Locator, place: int) -> list[str]:
    """Return the texts of a column whose rows are shown, as a table without spans has them."""
    rows = of.locator("tbody tr:visible")
    return [
        text.strip()
        for text in rows.locator(f":scope > :nth-child({place + 1})").all_text_contents()
    ]


def sort_by(of: Locator, heading: str, times: int = 1) -> None:
    for _ in range(times):
        of.get_by_role("button", name=heading, exact=True).click()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_fits_a_phone(reader: Callable[..., Tab], pages: dict[str, Path], kind: str) -> None:
    tab = reader(viewport={"width": 390, "height": 800})
    page = tab.open(pages[kind])
    tab.picture(f"{kind}-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rights = "headings => headings.map(heading => heading.getBoundingClientRect().right)"
    assert max(page.locator("caption :is(h2, h3)").evaluate_all(rights), default=0) <= 390


def test_where_not_all_nights_have_room_the_newest_stand_beside_their_cases(
    reader: Callable[..., Tab], pages: dict[str, Path]
) -> None:
    page = reader(viewport={"width": 70, "height": 800}).open(pages["site"])
    nights = page.locator(".scroll:has(table.nights)").first
    hidden = nights.evaluate("box => box.scrollWidth - box.clientWidth")
    assert hidden > 0
    in_view = """box => {
        const {left, right} = box.getBoundingClientRect();
        const of = (name) => box.querySelector(name).getBoundingClientRect();
        return [of("tbody th span").left >= left - 1, of("thead th:last-child").right <= right + 1];
    }"""
    assert nights.evaluate(in_view) == [True, True]


def test_a_phone_shows_the_longest_names_of_cases_in_few_lines(
    reader: Callable[..., Tab], tmp_path: Path
) -> None:
    # Of all plans that ship, these cases differ in most parameters.
    (*_, cpus) = expand(load_plan(assets.folder("plans") / "zerocopy.yaml"))
    planned = [PlannedCase(cpus.test.name, case, 1) for case in cpus.cases]
    metrics = {"tcp": {"throughput": MetricInfo("bit/s", "higher")}}
    outcome = replace(measured(1), metrics={"throughput": 1e9})
    with Store.open(str(tmp_path / "night.db")) as store:
        for _ in range(2):
            run = store.begin_run(replace(RUN, plan="zerocopy"), planned, metrics)
            for entry in planned:
                store.add(run, entry.test, entry.case.key, outcome, LAUNCH)
            store.finish_run(run, "complete")
    build(tmp_path / "night.db", tmp_path / "site")
    page = reader(viewport={"width": 400, "height": 800}).open(tmp_path / "site" / "index.html")
    nights = page.locator(".scroll:has(table.nights)")
    names = nights.locator("tbody th")
    assert max(name.evaluate(LINES) for name in names.all()) <= 3
    assert max(map(len, names.all_inner_texts())) > 80
    # Two nights have room, so that nothing is to be scrolled.
    assert nights.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_a_phone_shows_by_how_much_what_got_slower(
    reader: Callable[..., Tab], tmp_path: Path
) -> None:
    # As a loss has it: there is no ratio to 0.
    for night, level in enumerate([0.0] * 6 + [0.002] * 6):
        values = {1: noisy(level, seed=night)}
        add_run(tmp_path / "night.db", values, unit="1", better="lower")
    with Store.open(str(tmp_path / "night.db")) as store:
        store.set_baseline(RUN.plan, [1, 2, 3])
    build(tmp_path / "night.db", tmp_path / "site")
    tab = reader(viewport={"width": 390, "height": 800})
    for file, tables in (("index.html", 2), ("runs/12.html", 1), ("compare.html", 1)):
        page = tab.open(tmp_path / "site" / file)
        if file == "compare.html":
            page.get_by_label("First run").select_option("1")
        page.locator("details").evaluate_all("all => all.forEach((box) => { box.open = true; })")
        cells = page.locator("td:has(small)", has_text=re.compile(r"^0\.\d+ % from 0 %$"))
        expect(cells).to_have_count(tables)
        for cell in cells.all():
            assert cell.evaluate("cell => cell.getBoundingClientRect().right") <= 390
    page = tab.open(tmp_path / "site" / "index.html")
    box = page.locator(".scroll:has([id^=slower])")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_text_of_a_figure_can_be_read_on_a_phone(
    reader: Callable[..., Tab], tmp_path: Path
) -> None:
    with Store.open(str(tmp_path / "night.db")) as store:
        run = store_values(store, {("a→b", 64): [1e9], ("a→b", 1460): [2e9]})
        figure = "kind: lines, x: {axis: datagram}, y: {metric: throughput}"
        write_figure(store, [run], tmp_path / "out", figure)
    page = reader(viewport={"width": 390, "height": 800}).open(tmp_path / "out" / "index.html")
    text = page.locator("figure svg text").first
    size = "text => text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize)"
    assert text.evaluate(size) >= 9
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_text_of_a_cases_timelines_can_be_read_on_a_phone_and_they_fit_beside_one_another(
    reader: Callable[..., Tab], pages: dict[str, Path]
) -> None:
    page = reader(viewport={"width": 390, "height": 800}).open(pages["report-case"])
    text = page.locator("figure svg text").first
    size = "text => Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b) * 13"
    assert text.evaluate(size) >= 9
    page = reader(viewport={"width": 1200, "height": 800}).open(pages["report-case"])
    figures = page.locator("figure .scroll")
    assert figures.count() > 0
    assert figures.evaluate_all("all => all.every((box) => box.scrollWidth <= box.clientWidth)")


def test_a_case_of_one_night_has_one_date_and_its_run_little_room(
    reader: Callable[..., Tab], tmp_path: Path
) -> None:
    add_run(tmp_path / "night.db", {1: noisy()})
    build(tmp_path / "night.db", tmp_path / "site")
    case = tmp_path / "site" / case_file(lane(1).key)
    page = reader(viewport={"width": 390, "height": 800}).open(case)
    texts = page.locator("svg.history[role=img] text").all_text_contents()
    assert len([text for text in texts if text.count("-") == 2]) == 1
    assert page.locator(".history tbody th").first.evaluate("cell => cell.offsetWidth") < 90


def test_few_nights_stand_where_the_page_begins(tab: Tab, tmp_path: Path) -> None:
    for night in range(2):
        add_run(tmp_path / "night.db", {1: noisy(seed=night)})
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "index.html")
    left = "element => element.getBoundingClientRect().left"
    heading = page.locator("section.plan h2").evaluate(left)
    assert page.locator("table.nights").evaluate(left) == pytest.approx(heading, abs=2)


def test_names_with_markup_show_as_text_and_run_nothing(tab: Tab, pages: dict[str, Path]) -> None:
    for kind, path in pages.items():
        page = tab.open(path)
        assert page.evaluate("window.hostile") is None, kind
    page = tab.open(pages["report"])
    links = table(page, "By link <b onclick='x'>")
    text = links.inner_text()
    for name in HOSTILE:
        assert name in text
    assert page.title() == r"Links <script>window.hostile=4</script> & \u202e more"


def test_numbers_sort_as_numbers_and_what_is_missing_comes_last(
    tab: Tab, pages: dict[str, Path]
) -> None:
    links = table(tab.open(pages["report"]), "By link <b onclick='x'>")
    heading = links.get_by_role("columnheader", name="100KiB")
    for way, ordered in (
        ("ascending", ["9.25"] * 6 + ["100.25"] * 6 + ["870.00"] * 6),
        ("descending", ["870.00"] * 6 + ["100.25"] * 6 + ["9.25"] * 6),
    ):
        sort_by(links, "100KiB")
        assert heading.get_attribute("aria-sort") == way
        assert links.locator("[aria-sort]").count() == 1
        cells = column(links, LARGE)
        assert [cell.replace("a", "") for cell in cells[:18]] == ordered
        assert len(cells) == 24
        assert all(cell.startswith("---") for cell in cells[18:])
        # Rows that are equal stand as they did.
        assert column(links, LINK)[:6] == column(links, LINK)[6:12]
    sort_by(links, "100KiB")
    assert heading.get_attribute("aria-sort") is None
    assert column(links, SMALL)[:12] == ["9.00"] * 6 + ["95.50"] * 6, "as they came"


def test_rows_keep_their_labels_when_they_part(tab: Tab, pages: dict[str, Path]) -> None:
    links = table(tab.open(pages["report"]), "By link <b onclick='x'>")
    sort_by(links, "Link")
    names = column(links, LINK)
    # Numbers within names count: n9 before n10.
    at = {name: names.index(name) for name in ("n9", "n10", "plain")}
    assert at["n9"] < at["n10"] < at["plain"]
    assert column(links, DATAGRAM) == ["64", "512", "1KiB", "4KiB"] * 6
    rates = dict(zip(column(links, DATAGRAM), column(links, SMALL), strict=True))
    assert rates["1KiB"] == "1000.50"
    sort_by(links, "Datagram")
    assert column(links, DATAGRAM) == [
        size for size in ("64", "512", "1KiB", "4KiB") for _ in range(6)
    ]


def test_a_filter_leaves_rows_with_all_its_words_and_says_how_many(
    tab: Tab, pages: dict[str, Path]
) -> None:
    page = tab.open(pages["report"])
    links = table(page, "By link <b onclick='x'>")
    box = links.get_by_role("searchbox")
    box.fill("N9 1kib")
    assert column(links, LINK) == ["n9"]
    expect(links.get_by_role("status")).to_have_text("1 of 24 rows")
    sort_by(links, "100KiB")
    assert column(links, LINK) == ["n9"]
    tab.picture("report-filtered")
    box.fill("")
    assert len(column(links, LINK)) == 24
    expect(links.get_by_role("status")).to_be_empty()
    assert table(page, "A few").get_by_role("searchbox").count() == 0


def test_a_case_is_found_on_a_sites_first_page_and_its_runs_sort_by_verdict(
    tab: Tab, pages: dict[str, Path]
) -> None:
    page = tab.open(pages["site-run"])
    for summary in page.locator("section > details > summary", has_text="(").all():
        summary.click()
    groups = {
        "Slower, not measured, faster": {"slower", "faster", "not measured"},
        "The same": {"same"},
        "Not enough data": {"not enough data"},
    }
    row_count = 0
    for title, verdicts in groups.items():
        if (cases := table(page, title)).count():
            assert set(column(cases, 2)) <= verdicts
            sort_by(cases, "Replications")
            row_count += len(column(cases, 2))
    assert row_count >= 15
    page = tab.open(pages["site"])
    for summary in page.locator("section > details > summary").all():
        summary.click()
    runs = table(page, "Runs, the newest first")
    sort_by(runs, "Run")
    assert runs.locator("tbody th").all_text_contents() == ["1", "2", "3"]
    cases = table(page, "Cases")
    cases.get_by_role("searchbox").fill("loopback · datagram 4KiB · sockbuf 1MiB")
    (name,) = cases.locator("tbody tr:visible th").all_text_contents()
    cases.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_links_lead_to_what_exists(tab: Tab, report: Path, site: Path) -> None:
    count = 0
    for folder in (report, site):
        for path in sorted(folder.rglob("*.html")):
            text = path.read_text(encoding="utf-8")
            for href in set(re.findall(r'<a [^>]*href="([^"]*)"', text)):
                parts = urlsplit(href)
                assert not parts.scheme and not parts.netloc, href
                target = path if not parts.path else path.parent / unquote(parts.path)
                assert target.is_file(), f"{path.name} leads to {href}"
                if target.name == "compare.html":
                    assert not parts.fragment or (site / f"runs/{parts.fragment}.html").is_file()
                elif parts.fragment:
                    assert f'id="{parts.fragment}"' in target.read_text(encoding="utf-8"), href
                count += 1
    assert count > 20
    page = tab.open(report / "index.html")
    page.locator("a.why").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("stream")


def test_everything_works_by_keyboard_and_shows_where_it_is(
    tab: Tab, pages: dict[str, Path]
) -> None:
    page = tab.open(pages["report"])
    reached = ""
    for _ in range(20):
        page.keyboard.press("Tab")
        reached = page.evaluate("document.activeElement.textContent")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", reached
        if reached == "100KiB":
            break
    assert reached == "100KiB"
    tab.picture("report-focus")
    page.keyboard.press("Enter")
    links = table(page, "By link <b onclick='x'>")
    assert column(links, LARGE)[0].startswith("9.25")
    page.keyboard.press("Space")
    assert column(links, LARGE)[0].startswith("870.00")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent") == "10KiB"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_reads_the_same_without_scripts(
    reader: Callable[..., Tab], pages: dict[str, Path], kind: str
) -> None:
    bare = reader(java_script_enabled=False)
    page = bare.open(pages[kind])
    assert page.get_by_role("button").count() == 0
    assert page.get_by_role("searchbox").count() == 0
    rows = page.locator("tr").count()
    if kind in DRAWN:
        assert rows == 0
        expect(page.locator("noscript p").first).to_contain_text("let it run, or ask railgauge")
        return
    assert rows > 1
    assert page.locator("tr[hidden]").count() == 0
    assert rows == reader().open(pages[kind]).locator("tr").count()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_prints_all_of_itself_and_nothing_to_click(
    reader: Callable[..., Tab],
    pages: dict[str, Path],
    kind: str,
    tmp_path: Path,
    require: Callable[..., None],
) -> None:
    require(shutil.which("pdftotext"), "pdftotext")
    page = reader().open(pages[kind])
    cells = page.locator("th, td").all_text_contents()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    printed = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "page.pdf"), "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    squeezed = re.sub(r"\s", "", printed)
    heading = page.get_by_role("heading", level=1).inner_text()
    assert re.sub(r"\s", "", heading) in squeezed
    words = {word for text in cells for word in re.findall(r"(?<!\S)\w{3,12}(?!\S)", text)}
    assert len(words) > 5
    assert {word for word in words if word not in squeezed} == set()
    assert "Rowswith" not in squeezed


# What a screen reader's user would miss and axe doesn't look for.
MISTAKES = """() => {
  const wrong = [];
  const all = (what) => [...document.querySelectorAll(what)];
  const say = (what, element) => wrong.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  if (all("h1").length !== 1) wrong.push("not one <h1>");
  for (const table of all("table"))
    if (!table.caption?.textContent.trim()) say("a table without a caption", table);
  for (const head of all("th")) if (!head.scope) say("a heading without a scope", head);
  for (const svg of all("svg:not([aria-hidden])"))
    if (svg.getAttribute("role") !== "img" || !svg.querySelector("title")?.textContent)
      say("a picture without a name", svg);
  for (const one of all("[aria-labelledby]"))
    for (const id of one.getAttribute("aria-labelledby").split(" "))
      if (!document.getElementById(id)) say("a label that isn't there", one);
  const ids = all("[id]").map((one) => one.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at)))
    wrong.push(`several elements have the id ${id}`);
  return wrong;
}"""
# A table's later rows are like its first.
FIRST_ROWS = {"exclude": [["tbody tr:nth-child(n+4)"]]}
# Each theme's ground, and what axe looks for in it: only colours differ.
THEMES = {
    "light": ("rgb(255, 255, 255)", {}),
    "dark": ("rgb(20, 24, 28)", {"runOnly": ["color-contrast"]}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_in_itself_and_for_everybody_in_both_themes(
    reader: Callable[..., Tab], pages: dict[str, Path], kind: str
) -> None:
    tab = reader()
    page = tab.open(pages[kind])
    assert page.evaluate(MISTAKES) == []
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for scheme, (ground, rules) in THEMES.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        tab.picture(f"{kind}-{scheme}")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        results = Axe().run(page, FIRST_ROWS, {"resultTypes": ["violations"], **rules})
        assert not results.violations_count, results.generate_report()


def test_no_script_but_the_pages_own_could_run(tab: Tab, report: Path, tmp_path: Path) -> None:
    """The policy holds, should a name ever stand unescaped."""
    text = (report / "index.html").read_text(encoding="utf-8")
    injected = '<script>window.hostile=1</script><b style="color:red" onclick="hostile=2">x</b>'
    path = tmp_path / "injected.html"
    path.write_text(text.replace("<main>", f"<main>{injected}", 1), encoding="utf-8")
    page = tab.open(path)
    page.locator("main > b").click()
    assert page.evaluate("window.hostile") is None
    colour = page.locator("main > b").evaluate("one => getComputedStyle(one).color")
    assert colour != "rgb(255, 0, 0)"
    assert len(tab.messages) >= 2, "the browser says what it refused"
    assert all("Content Security Policy" in message for message in tab.messages)
    tab.messages.clear()


def test_a_cases_nights_are_pointed_at_by_key_and_zoomed_by_mouse(
    tab: Tab, pages: dict[str, Path]
) -> None:
    page = tab.open(pages["site-case"])
    tab.picture("site-case-drawn")
    figure, status = page.locator("svg.history").first, page.locator(".said").first
    assert figure.locator("circle.dot").count() == 2
    figure.focus()
    expect(status).to_contain_text("Run 3,")
    page.keyboard.press("ArrowLeft")
    expect(status).to_contain_text("Run 2,")
    expect(status).to_contain_text(
        "95 % interval" if "95 %" in status.inner_text() else "replications"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run 2 of night")


def test_a_provisional_change_is_dashed_and_the_legend_says_so(tab: Tab, tmp_path: Path) -> None:
    for night, level in enumerate([1e9] * 10 + [0.8e9] * 10 + [1e9] * 3):
        add_run(tmp_path / "night.db", {1: noisy(level, seed=night)})
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(next((tmp_path / "site" / "cases").glob("*.html")))
    tab.picture("site-case-levels")
    figure = page.locator("figure.nights-figure")
    dashes = [
        figure.locator(f"svg[role=img] .change.{kind}").evaluate(
            "line => getComputedStyle(line).strokeDasharray"
        )
        for kind in ("slower.confirmed", "faster.provisional")
    ]
    assert (dashes[0], dashes[1] != "none") == ("none", True)
    labels = figure.locator("svg[role=img] text").all_text_contents()[:3]
    assert [label.split()[1] for label in labels] == ["Gbit/s"] * 3
    legend = figure.locator(".legend span").all_text_contents()
    assert [line.partition(":")[0] for line in legend] == ["another level", "provisional"]


def test_a_night_whose_facts_changed_is_marked_and_the_legend_says_so(
    tab: Tab, tmp_path: Path
) -> None:
    for night in range(2):
        facts = {"gw1": {"kernel": f"6.{night}"}}
        add_run(tmp_path / "night.db", {1: noisy(2e9, seed=night)}, facts=facts)
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(next((tmp_path / "site" / "cases").glob("*.html")))
    assert page.locator("svg.history .beside").count() == 1
    expect(page.locator(".legend")).to_have_text("▲ facts or settings changed")
    # The unit of both ends stands once.
    expect(page.locator(".said")).to_contain_text(re.compile(r"interval [\d.]+ to [\d.]+ Gbit/s;"))


def test_the_interval_of_a_night_that_ended_early_has_its_own_level(
    tab: Tab, tmp_path: Path
) -> None:
    add_run(tmp_path / "night.db", {1: noisy(n=12)})
    ended_early(tmp_path / "night.db")
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(next((tmp_path / "site" / "cases").glob("*.html")))
    expect(page.locator(".said")).to_contain_text("; 99 % interval 998.6 Mbit/s to 1.003 Gbit/s;")
    runs = table(page, "Its runs, the newest first: medians")
    assert ["(99 %)" in text for text in column(runs, 2)] == [True, False]
    page.locator("svg.history").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".said")).to_contain_text("; 95 % interval")


def test_a_night_that_was_published_is_called_a_mean(tab: Tab, tmp_path: Path) -> None:
    add_run(tmp_path / "night.db", {1: noisy()})
    published(tmp_path / "night.db")
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(next((tmp_path / "site" / "cases").glob("*.html")))
    expect(page.locator(".said")).to_contain_text(
        ": 1.000 Gbit/s; published mean of 10 replications;"
    )
    runs = table(page, "Its runs, the newest first: medians")
    assert ["published mean" in text for text in column(runs, 2)] == [True, False]
    page = tab.open(tmp_path / "site" / "compare.html")
    assert "published mean" in page.get_by_role("table").inner_text()


def test_a_renamed_test_stands_beside_itself(tab: Tab, tmp_path: Path) -> None:
    for test in ("old", "new"):
        add_run(tmp_path / "night.db", {1: noisy(), 2: noisy(2e9)}, test=test)
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "compare.html")
    compared = table(page, "throughput of run 1 and run 2, what is apart first")
    assert column(compared, 1) == ["1.000", "1.000"]


# Has a run's data come when `deliver` is called.
LATE = """late => {
  const atOnce = load;
  const called = new Promise((done) => {
    window.deliver = () => { done(); return window.delivered; };
  });
  window.load = (name) =>
    name === late ? (window.delivered = called.then(() => atOnce(name))) : atOnce(name);
}"""


def test_of_runs_that_are_chosen_in_turn_the_last_are_compared(tab: Tab, tmp_path: Path) -> None:
    """However late the data of those before comes."""
    for _ in range(3):
        add_run(tmp_path / "night.db", {1: noisy()})
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "compare.html")
    page.evaluate(LATE, 1)
    page.get_by_label("First run").select_option("1")
    page.get_by_label("First run").select_option("3")
    compared = "throughput of run 3 and run 3, what is apart first"
    expect(table(page, compared)).to_be_visible()
    page.evaluate("async () => { await deliver(); await new Promise(setTimeout); }")
    assert page.evaluate("() => site.data.has(1)")
    expect(table(page, compared)).to_be_visible()


def test_a_loss_that_rose_from_0_is_apart_and_stands_first(tab: Tab, tmp_path: Path) -> None:
    levels = {1: (0.0, 0.0), 2: (0.1, 0.1), 3: (0.1, 0.3)}
    levels |= {4: (0.0, 0.002), 5: (0.0, 0.004), 6: (0.0, 0.003)}
    for run in (0, 1):
        # Of three values there is no interval.
        values = {
            lane: [of_runs[run]] * (3 if lane == 5 else 6) for lane, of_runs in levels.items()
        }
        add_run(tmp_path / "night.db", values, unit="1", better="lower")
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "compare.html")
    compared = table(page, "throughput of run 1 and run 2, what is apart first")
    rows = zip(*(column(compared, place) for place in (1, 5)), strict=True)
    assert list(rows) == [
        ("0.3000 % from 0 %", "apart"),
        ("0.2000 % from 0 %", "apart"),
        ("3.000", "apart"),
        ("0.4000 % from 0 %", "–"),
        ("–", "overlap"),
        ("1.000", "overlap"),
    ]


@pytest.mark.parametrize(("width", "lines"), [(1200, 1), (400, 2)])
def test_the_caption_of_a_narrow_printed_table_is_no_column_of_words(
    reader: Callable[..., Tab], tmp_path: Path, width: int, lines: int
) -> None:
    paper = load_paper(assets.find_shipped("reports/papers", "udpmon"), load_catalogue())
    options = ReportOptions(most_cases=0)
    write_paper(paper, None, [], tmp_path, catalogue=load_catalogue(), options=options)
    page = reader(viewport={"width": width, "height": 800}).open(tmp_path / "index.html")
    heading = page.get_by_role("heading", name="Losses of gwgsara2 => prusin without a wait")
    assert heading.evaluate(LINES) <= lines
    box = page.locator("#losses-0us .scroll")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_a_ratio_looks_like_none_or_all_only_where_it_is(tab: Tab, tmp_path: Path) -> None:
    ratios = (1.0, 0.9996, 0.0000138, 0.5)
    for run in (0, 1):
        values = {lane: [1e9 * (ratio if run else 1)] * 6 for lane, ratio in enumerate(ratios)}
        add_run(tmp_path / "night.db", values)
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "compare.html")
    compared = table(page, "throughput of run 1 and run 2, what is apart first")
    assert sorted(column(compared, 1)) == sorted(map(ratio_text, ratios))


def test_a_ratio_has_no_more_digits_than_its_intervals_show(tab: Tab, tmp_path: Path) -> None:
    for run in (0, 1):
        add_run(
            tmp_path / "night.db",
            {1: [1e9 * (1 + (run + 1) * 4e-5) + at for at in (-1e7, 0, 1e7) * 3]},
        )
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / "compare.html")
    compared = table(page, "throughput of run 1 and run 2, what is apart first")
    assert column(compared, 1) == ["1.000"]


@pytest.mark.parametrize(
    ("unit", "values"), [("", [5.0, 0.0, 2.5]), ("s", [0.0, 2.5e-6]), ("1", [0.0, 0.25])]
)
def test_a_cases_page_writes_numbers_as_all_others_do(
    tab: Tab, tmp_path: Path, unit: str, values: list[float]
) -> None:
    for value in values:
        add_run(tmp_path / "night.db", {1: [value]}, unit=unit, better="lower")
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / case_file(lane(1).key))
    medians = column(table(page, "Its runs, the newest first: medians"), 2)
    assert medians == [in_best_unit(value, unit) for value in reversed(values)]


def test_runs_without_a_value_are_named_below_the_nights(tab: Tab, tmp_path: Path) -> None:
    for values in ([], noisy(), [], noisy(seed=2), []):
        add_run(tmp_path / "night.db", {1: values, 2: noisy(2e9)}, fails=2)
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / case_file(lane(1).key))
    expect(page.locator(".said")).to_contain_text("Run 4,")
    gaps = page.locator(".gaps")
    expect(gaps).to_have_text("2 runs gave no value: run 3, run 5")
    gaps.get_by_role("link", name="run 5").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run 5 of")
    page = tab.open(tmp_path / "site" / case_file(lane(2).key))
    expect(page.locator(".said")).to_contain_text("Run 5,")
    assert page.locator(".gaps").count() == 0


def test_a_case_of_many_is_drawn_from_its_part_of_the_runs_data(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for night in range(3):
        add_run(tmp_path / "night.db", {1: noisy(1e9, seed=night), 2: noisy(2e9, seed=night)})
    monkeypatch.setattr(site_pages, "MOST_UNDIVIDED", 1)
    build(tmp_path / "night.db", tmp_path / "site")
    for run in (1, 2, 3):
        (tmp_path / f"site/data/{run}.js").unlink()
    for number, value in ((1, "1.0"), (2, "2.0")):
        page = tab.open(tmp_path / "site" / case_file(lane(number).key))
        assert page.locator("svg.history circle.dot").count() == 3
        expect(page.locator(".said")).to_contain_text(f"{value}")


@pytest.mark.parametrize("last", [{"unit": "s"}, {"better": "lower"}], ids=["unit", "direction"])
def test_nights_of_another_unit_or_direction_are_named_below(
    tab: Tab, tmp_path: Path, last: dict[str, str]
) -> None:
    for night, kind in enumerate(({}, {}, last)):
        add_run(tmp_path / "night.db", {1: noisy(5.0, seed=night)}, **kind)
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / case_file(lane(1).key))
    assert page.locator("svg.history circle.dot").count() == 1
    expect(page.locator(".gaps")).to_have_text(
        "2 runs left out, in another unit or direction: run 1, run 2"
    )


def test_a_drag_that_ends_beside_the_picture_is_over(tab: Tab, tmp_path: Path) -> None:
    for night in range(8):
        add_run(tmp_path / "night.db", {1: noisy(seed=night)})
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(tmp_path / "site" / case_file(lane(1).key))
    figure = page.locator("svg.history[role=img]")
    box = figure.bounding_box()
    assert box is not None
    middle, below = box["y"] + box["height"] / 2, box["y"] + box["height"] + 40
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3, below)
    page.mouse.up()
    nights = figure.locator("circle.dot").count()
    assert 2 <= nights < 8
    page.mouse.move(box["x"] + box["width"] - 100, middle)
    assert figure.locator(".drag").get_attribute("width") == "0"
    assert figure.locator("circle.dot").count() == nights


def test_a_change_is_listed_in_the_plan_that_it_is_of(tab: Tab, tmp_path: Path) -> None:
    for plan, last in (("falls", 0.8e9), ("stays", 1e9)):
        for night, level in enumerate([1e9] * 6 + [last] * 6):
            add_run(
                tmp_path / "night.db", {1: noisy(level, seed=night)}, new=replace(RUN, plan=plan)
            )
    build(tmp_path / "night.db", tmp_path / "site")
    page = tab.open(next((tmp_path / "site" / "cases").glob("*.html")))
    falls, stays = (
        page.locator("section.history", has_text=f"stream, plan {plan}")
        for plan in ("falls", "stays")
    )
    assert falls.locator(".changes li").all_text_contents()[0].startswith("run 7: slower")
    assert stays.locator(".said").inner_text().startswith("Run 24,")
    assert stays.locator(".changes li").count() == 0


def test_any_two_runs_stand_side_by_side(tab: Tab, pages: dict[str, Path]) -> None:
    page = tab.open(pages["site-compare"])
    compared = table(page, "Run 2 and run 3, what is apart first")
    assert len(column(compared, 0)) >= 15
    # A loss that was measured in one run alone stands first, and has no ratio.
    with_ratio = compared.locator("tbody tr").filter(has=page.locator("svg.ratio"))
    medians = with_ratio.first.locator("td[data-value]")
    ratio, _, before, after = (
        float(cell.get_attribute("data-value") or "nan") for cell in medians.all()
    )
    assert ratio == pytest.approx(after / before)
    page.get_by_label("First run").select_option("3")
    expect(table(page, "Run 3 and run 3, what is apart first")).to_be_visible()
    intervals = table(page, "Run 3 and run 3, what is apart first").locator("tbody td:last-child")
    texts = set(intervals.all_text_contents())
    assert texts
    assert texts <= {"overlap", "–"}
    page.get_by_label("First run").select_option("1")
    expect(page.get_by_text("These runs have no case in common.")).to_be_visible()


def test_a_page_that_loads_data_runs_no_script_that_was_put_into_it(
    tab: Tab, site: Path, pages: dict[str, Path]
) -> None:
    text = pages["site-case"].read_text(encoding="utf-8")
    other = site / "cases" / "injected.js"
    other.write_text("window.hostile = 1;")
    path = site / "cases" / "injected.html"
    path.write_text(text.replace("<main", '<script src="injected.js"></script><main', 1))
    page = tab.page
    page.goto(path.as_uri(), wait_until="load")
    expect(page.locator("svg.history").first).to_be_visible()
    assert page.evaluate("window.hostile") is None
    assert tab.messages, "the browser says what it refused"
    tab.messages.clear()
    path.unlink()
    other.unlink()
