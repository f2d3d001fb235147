"""LaTeX: everything escaped, and pdflatex really sets what the table says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.latex_lab import pages_of
from tests.support.report_data import reference_table, series, table_spec

from railgauge.report.document.render import render_latex, render_latex_document
from railgauge.report.formats.tex import escape, unit
from railgauge.report.pages.contents import Details, ReportPart
from railgauge.report.pages.machines import FactCell, FactGroup, FactRow, Machines
from railgauge.report.pages.page import Page
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table

_NASTY = (
    r"""50% of R&D_#1 {x} $y$ ~z ^2 \input{/etc/passwd} <a> |b| "c" `d' [e] *f* 1--2---3 ''g''"""
)


def _table(rows: int, title: str = "T", columns: int = 1, link: str = "a→b") -> Table:
    points = [
        series(
            [(row + column) * 1e6] * 2,
            {"datagram": row, "sockbuf": column},
            link=link,
            total=2 + row % 2,
        )
        for row in range(1, rows + 1)
        for column in range(columns)
    ]
    return build(table_spec(title=title, rows=["link", "datagram"], columns=["sockbuf"]), points)


def _page(title: str, fact: str = "") -> Page:
    page = Page("report", title, (), Details("Runs", (), ()), (), ())
    if not fact:
        return page
    rows = (FactRow(fact[:40], (FactCell(fact),), differs=False),)
    machines = Machines("Machines of run 1", ("gw1",), (FactGroup("General", rows, True),), fact)
    suspects = Details("Suspect ones", ("Replication", "Code", "Why"), ((fact, ("1", fact, fact)),))
    return replace(page, machines=(machines,), suspects=(suspects,))


@pytest.fixture
def typeset(tmp_path: Path, latex: None) -> Callable[..., str]:
    """Compile a document with one table; return the text of its pages."""

    def compiled(table: Table, title: str = "Report", fact: str = "") -> str:
        (tmp_path / "t.tex").write_text(render_latex(table), encoding="utf-8")
        document = render_latex_document(_page(title, fact), [ReportPart(table=table)])
        (tmp_path / "report.tex").write_text(document, encoding="utf-8")
        return pages_of(tmp_path, "report")

    return compiled


def test_every_character_that_means_something_to_tex_is_escaped() -> None:
    assert escape("a_b % & # $ { } ~ ^ \\") == (
        r"a\_b~\% \& \# \$ \{ \} \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert escape("gw→hh ≥ 5 µs, é, ł, 中") == (
        r"gw\ensuremath{\rightarrow}hh \ensuremath{\geq} 5 \textmu{}s, \'{e}, \l{}, U+4E2D"
    )
    assert escape("--- ''") == "-{}-{}- '{}'"
    assert escape("[x] *") == "{[}x{]} {*}"


def test_text_that_is_latex_already_is_left_alone() -> None:
    assert escape(escape("50 %")) == r"50~\%"


def test_units_are_siunitx_macros_and_unknown_ones_plain_text() -> None:
    assert unit("Mbit/s") == r"\unit{\mega\bit\per\second}"
    assert unit("µs") == r"\unit{\micro\second}"
    assert unit("J_m") == r"J\_m"


def test_a_table_is_booktabs_with_decimal_columns_and_merged_labels() -> None:
    latex = render_latex(_table(rows=2, columns=3))
    assert (
        r"\begin{tabular}{l S[table-format=1.2,table-space-text-post=\textsuperscript{a}]" in latex
    )
    assert r"\caption{T. Link: a\ensuremath{\rightarrow}b}" in latex
    assert r"    1 & 1.00 \textsuperscript{a}" in latex
    assert r"    2 & 2.00 & 3.00 & 4.00 \\" in latex
    assert r"\multicolumn{3}{c}{Sockbuf}" in latex
    assert r"\cmidrule(lr){2-4}" in latex
    for rule in ("toprule", "midrule", "bottomrule"):
        assert latex.count("\\" + rule) == 1


def test_names_full_of_special_characters_are_set_as_they_are(
    typeset: Callable[..., str],
) -> None:
    text = typeset(_table(rows=2, title=_NASTY, link="[é_→_北]\n%"), title=_NASTY)
    flat = " ".join(text.split())
    assert r"50% of R&D_#1 {x} $y$ ~z ^2 \input{/etc/passwd} <a> |b|" in flat
    assert "1--2---3" in flat
    assert r"[é_→_U+5317]\n%" in flat
    assert "root:" not in text


def test_facts_and_reasons_full_of_special_characters_are_set_as_they_are(
    typeset: Callable[..., str],
) -> None:
    words = "mitigations=auto,nosmt --opt=[x] 50%_#&{} " + "very_long.word/without=spaces," * 6
    text = "".join(typeset(_table(rows=2), fact=words).split())
    assert text.count("mitigations=auto,nosmt--opt=[x]50%_#&{}") >= 4
    assert text.count("very_long.word/without=spaces,") >= 6 * 3
    assert "Machinesofrun1" in text
    assert "Suspectones" in text


def test_marks_and_notes_are_set_below_the_table(typeset: Callable[..., str]) -> None:
    text = " ".join(typeset(_table(rows=1)).split())
    assert "1.00a" in text
    assert "a 2 of 3 replications; 1 not measured." in text
    assert "Run 1 of plan fabric, on hosts gw1 and hh1." in text


def test_a_table_of_many_rows_goes_on_over_the_next_pages(typeset: Callable[..., str]) -> None:
    text = typeset(_table(rows=120, columns=2))
    assert text.count("\f") >= 3
    for row in range(1, 121):
        assert f"{row}.00" in text


def test_a_table_of_many_columns_is_shrunk_to_the_page(typeset: Callable[..., str]) -> None:
    table = _table(rows=2, columns=25)
    assert r"\resizebox{\linewidth}" in render_latex(table)
    text = typeset(table)
    for column in range(25):
        assert f"{2 + column}.00" in text


def test_ratios_two_marks_and_theoretical_values_are_set(typeset: Callable[..., str]) -> None:
    text = typeset(reference_table())
    (row,) = [line.split() for line in text.splitlines() if line.split()[:2] == ["1", "50a"]]
    assert row[-1] == "73.2a,b"
    assert "b some values are better than the theoretical one." in text
    assert "Theoretical: memory of gw1 68.3 GB/s (found: 2 × 64 & more)." in text
    assert "skipped: no mem_1." in text
