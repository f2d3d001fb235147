"""A second statistic in a cell, beside its number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.support.latex_lab import pages_of
from tests.support.report_data import definition_problems, series, table_spec

from railgauge.hosts.peaks.peak import Peak
from railgauge.report.document.render import render_latex, render_latex_document, render_text
from railgauge.report.pages.contents import Details, ReportPart
from railgauge.report.pages.page import Page
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Table
from railgauge.stats.hodges_lehmann import ratio_interval
from railgauge.stats.summary import summarise

_VALUES = [100.0, 101.0, 99.0, 102.0, 98.0, 100.5, 100.2]


def _table(*values: float, **cell: object) -> Table:
    defaults = {"metric": "throughput", "statistic": "median", "unit": "Mbit/s", "digits": 1}
    spec = table_spec({**defaults, **cell}, rows=["link"])
    return build(spec, [series([1e6 * value for value in values])])


@pytest.mark.parametrize(
    ("beside", "text"),
    [
        ("interval", "100.2 [98.0, 102.0]"),
        ("stdev", "100.2 ± 1.3"),
        ("n", "100.2 (7)"),
        ("cv", "100.2 (1.3 %)"),
        ("maximum", "100.2 (102.0)"),
    ],
)
def test_a_second_statistic_stands_behind_the_number(beside: str, text: str) -> None:
    table = _table(*_VALUES, beside=beside)
    assert table.rows[0].cells[0].text == text
    assert table.rows[0].cells[0].value == summarise(np.array(_VALUES) * 1e6).median


@pytest.mark.parametrize("beside", ["interval", "stdev"])
def test_what_stands_beside_no_number_is_not_explained(beside: str) -> None:
    assert "Beside" in " ".join(_table(*_VALUES, beside=beside).notes)
    assert "Beside" not in " ".join(_table(100.0, beside=beside).notes)


def test_an_interval_that_no_comparison_has_is_not_explained() -> None:
    cell = {"metric": "throughput", "beside": "interval", "against": {"link": "a"}}
    spec = table_spec({**cell, "as": "change"}, rows=["link"])
    few = [series([1e6, 2e6], link=link) for link in "ab"]
    assert "interval" not in " ".join(build(spec, few).notes)
    many = [series([1e6 * value for value in _VALUES], link=link) for link in "ab"]
    assert "Hodges and Lehmann" in " ".join(build(spec, many).notes)


@pytest.mark.parametrize(
    ("values", "cell", "text"),
    [
        # Half as wide as 17.84: two digits of that are 8.9.
        ([12.44, 20, 22, 22.28, 25, 30.28], {"digits": 2}, "22.1 [12.4, 30.3]"),
        ([12.44, 20, 22, 22.28, 25, 30.28], {}, "22.1 [12.4, 30.3]"),
        ([12.44, 20, 22, 22.28, 25, 30.28], {"digits": 0}, "22 [12, 30]"),
        ([22.134, 22.14, 22.14, 22.14, 22.15, 22.16], {"digits": 2}, "22.14 [22.13, 22.16]"),
        ([22.134, 22.14, 22.14, 22.14, 22.15, 22.16], {}, "22.140 [22.134, 22.160]"),
        ([100 + i / 1e6 for i in (264, 290, 300, 300, 310, 354)], {}, "100.00 [100.00, 100.00]"),
        ([7.0] * 6, {}, "7.00 [7.00, 7.00]"),
    ],
)
def test_a_value_has_as_many_digits_as_its_interval_lets_it_mean(
    values: list[float], cell: dict[str, object], text: str
) -> None:
    entry = {"metric": "throughput", "unit": "Mbit/s", "beside": "interval", **cell}
    spec = table_spec(entry, rows=["link"])
    table = build(spec, [series([1e6 * value for value in values])])
    assert table.rows[0].cells[0].text == text
    apart = [{**entry, "statistic": name, "label": name} for name in ("median", "interval")]
    for column in apart:
        del column["beside"]
    spec = table_spec(*apart, rows=["link"])
    table = build(spec, [series([1e6 * value for value in values])])
    assert " ".join(cell.text for cell in table.rows[0].cells) == text


@pytest.mark.parametrize("mean", ["arithmetic_mean", "harmonic_mean"])
def test_beside_a_mean_stands_its_own_interval(mean: str) -> None:
    values = [100.0, 110.0, 120.0, 130.0, 140.0, 400.0]
    cell = {"statistic": mean, "beside": "interval", "unit": "bit/s"}
    table = _table(*(value / 1e6 for value in values), **cell)
    sample = np.array(values) if mean == "arithmetic_mean" else 1 / np.array(values)
    reach = stats.t.ppf(0.975, 5) * sample.std(ddof=1) / 6**0.5
    ends = [sample.mean() - reach, sample.mean() + reach]
    if mean == "harmonic_mean":
        ends = [1 / end for end in reversed(ends)]
    words = mean.replace("_", " ")
    assert table.rows[0].cells[0].interval == pytest.approx((*ends, 0.95))
    assert table.rows[0].cells[0].text.endswith(f"[{ends[0]:.0f}, {ends[1]:.0f}]")
    sentence = f"Beside {words.capitalize()} of throughput the 95 % interval of the {words}."
    assert sentence in table.notes
    assert f"95 % interval of the {words} at most" in table.notes[0]


def test_a_sentence_says_what_it_is() -> None:
    assert (
        "Beside Throughput the 95 % interval of the median."
        in _table(*_VALUES, beside="interval").notes
    )
    means = _table(*_VALUES, beside="mean", label="Rate").notes
    assert "Beside Rate the harmonic mean." in means


def test_what_there_is_not_is_left_out_and_said() -> None:
    table = _table(1, 2, 3, beside="interval")
    assert table.rows[0].cells[0].text == "2.0"
    assert "fewer than 6 values: no 95 % interval" in table.footnotes[0].text


def test_beside_a_ratio_stands_its_own_interval() -> None:
    cell = {"metric": "throughput", "against": {"link": "a"}, "beside": "interval", "digits": 3}
    spec = table_spec(cell, rows=["link"])
    sample, baseline = np.array(_VALUES[:5]) * 1e6, np.array([80.0, 82.0, 79.0, 81.0, 80.5]) * 1e6
    table = build(spec, [series(baseline.tolist(), link="a"), series(sample.tolist(), link="b")])
    interval = ratio_interval(baseline, sample)
    assert interval is not None
    assert table.rows[0].cells[0].text == "1.000"
    assert table.rows[1].cells[0].text.endswith(f" [{interval.low:.3f}, {interval.high:.3f}]")
    assert (
        "Beside Ratio of throughput the 95 % interval of the median ratio of all pairs."
        in table.notes
    )


def test_beside_a_share_of_the_theoretical_stand_shares_but_counts_stay_counts() -> None:
    def cell_text(beside: str) -> str:
        cell = {"metric": "throughput", "relative_to": "memory", "beside": beside, "digits": 0}
        spec = table_spec(cell, rows=["link"])
        point = series([50e9, 100e9], unit="B/s", engine="mem", server=None)
        peaks = [Peak("gw1", "memory", 200e9, "B/s", "found")]
        return build(spec, [point], context=RunContext(peaks={1: peaks})).rows[0].cells[0].text

    assert (cell_text("maximum"), cell_text("n")) == ("38 (50)", "38 (2)")


@pytest.mark.usefixtures("latex")
def test_both_are_set_by_latex(tmp_path: Path) -> None:
    table = _table(*_VALUES, beside="stdev")
    assert "100.2 ± 1.3" in render_text(table)
    (tmp_path / "t.tex").write_text(render_latex(table), encoding="utf-8")
    page = Page("r", "R", (), Details("Runs", (), ()), (), ())
    document = render_latex_document(page, [ReportPart(table=table)])
    (tmp_path / "r.tex").write_text(document, encoding="utf-8")
    assert "100.2 ± 1.3" in pages_of(tmp_path, "r")


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("statistic: n, beside: n", "8:56: the n is what the cell shows: name another"),
        ("beside: avg", "8:42: 'beside' is the text 'avg', but 'mean'"),
        ("beside: stdev, against: {link: a}", "8:42: beside a ratio only its 'interval' can"),
        (
            "statistic: stdev, beside: interval, against: {link: a}",
            "8:60: a ratio of the stdev has no interval",
        ),
        ("statistic: cv, beside: median", "8:57: the median has another unit than the cv: swap"),
    ],
)
def test_a_mistake_is_told_where_it_stands(tmp_path: Path, cell: str, problem: str) -> None:
    text = (
        "railgauge_report: 1\nname: r\ntitle: R\ntables:\n  - name: t\n    title: T\n"
        f"    rows: [link]\n    cells: [{{metric: throughput, {cell}}}]\n"
    )
    messages = definition_problems(tmp_path, text)
    assert any(line.startswith(problem) for line in messages), messages
