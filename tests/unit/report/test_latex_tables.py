"""Tables of every size and kind of number as LaTeX: each compiles alone and stays on its page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.latex_lab import alone, pages_of
from tests.support.report_data import series, table_spec

from railgauge.report.definition.definition_model import CellSpec
from railgauge.report.document.render import render_latex
from railgauge.report.tables.pivot import build

_MEDIAN = CellSpec(metric="throughput", unit="Mbit/s", digits=2, statistic="median")


@pytest.fixture
def typeset(tmp_path: Path, latex: None) -> Callable[..., str]:
    """Compile a table alone; return the text of its pages."""

    def compiled(latex: str) -> str:
        (tmp_path / "t.tex").write_text(latex, encoding="utf-8")
        document = alone(tmp_path, "t", r"\usepackage[a4paper,margin=2.5cm]{geometry}")
        # Of a long table's columns LaTeX learns the widths over several times.
        for _ in range(4):
            pages = pages_of(tmp_path, document)
            log = (tmp_path / f"{document}.log").read_text(errors="replace")
            if "Table widths have changed" not in log:
                break
        assert "Overfull" not in log
        return pages

    return compiled


def _latex(
    rows: int, columns: int, value: Callable[[int, int], float], cells: Sequence[CellSpec] = ()
) -> str:
    points = [
        series(
            [value(row, column) * (1 + 1e-3 * i) for i in range(6)],
            {"datagram": row, "sockbuf": column},
            link=f"rack{row % 2}",
        )
        for row in range(1, rows + 1)
        for column in range(columns)
    ]
    spec = table_spec(*(cells or [_MEDIAN]), rows=["link", "datagram"], columns=["sockbuf"])
    return render_latex(build(spec, points))


def test_negative_and_huge_numbers_are_aligned_by_siunitx(typeset: Callable[..., str]) -> None:
    latex = _latex(3, 2, lambda row, column: (-1) ** row * 10.0 ** (5 * row + column))
    assert "S[table-format=-10.2]" in latex
    pages = typeset(latex)
    # A true minus, and thin spaces between the digits of large numbers.
    assert "−0.10" in pages
    assert "−1 002 500 000" in pages.replace("\u2009", " ")


def test_a_column_has_room_for_its_widest_interval_and_its_widest_mark(
    typeset: Callable[..., str],
) -> None:
    """Which needn't be of one cell: the narrow interval with a mark is longer as LaTeX."""
    texts = {"12.5 [12.51, 14.11]": "", "6.3 [6.3, 6.9]": "i", "7.7 [11.1, 22.2]": "m"}
    interval = CellSpec(metric="throughput", unit="Mbit/s", beside="interval")
    points = [series([1e6 * n] * 6, {"datagram": n}) for n in range(len(texts))]
    table = build(table_spec(interval, rows=["datagram"]), points)
    rows = tuple(
        row._replace(cells=(row.cells[0]._replace(text=text, mark=mark),))
        for row, (text, mark) in zip(table.rows, texts.items(), strict=True)
    )
    latex = render_latex(replace(table, rows=rows))
    widest = r"{~{[}\num{12.51}, \num{14.11}{]}}\textsuperscript{m}"
    assert rf"table-space-text-post={widest}]" in latex
    typeset(latex)


def test_each_number_of_an_interval_is_siunitx_own(typeset: Callable[..., str]) -> None:
    interval = CellSpec(metric="throughput", unit="Mbit/s", digits=2, statistic="interval")
    latex = _latex(1, 1, lambda row, column: -20e9, [_MEDIAN, interval])
    assert r"{{[}\num{-20100}, \num{-20000}{]}}" in latex
    assert "[−20 100, −20 000]" in typeset(latex).replace("\u2009", " ")


@pytest.mark.parametrize(
    ("beside", "latex", "page"),
    [
        ("interval", r"1.00 {~{[}\num{1.00}, \num{1.00}{]}}", "1.00 [1.00, 1.00]"),
        ("stdev", r"1.00 {~\ensuremath{\pm} \num{0.00}}", "1.00 ± 0.00"),
        ("n", r"1.00 {~(\num{6})}", "1.00 (6)"),
        ("cv", r"1.00 {~(\num{0.2}~\%)}", "1.00 (0.2 %)"),
    ],
)
def test_a_second_statistic_stands_behind_a_number_that_is_still_aligned(
    typeset: Callable[..., str], beside: str, latex: str, page: str
) -> None:
    cell = _MEDIAN.model_copy(update={"beside": beside})
    source = _latex(2, 1, lambda row, column: row**9 * 1e6, [cell])
    assert f"& {latex} \\\\" in source
    assert "S[table-format=3.2,table-space-text-post={~" in source
    assert page in typeset(source)


def test_a_long_table_names_each_row_on_every_page(typeset: Callable[..., str]) -> None:
    pages = typeset(_latex(60, 2, lambda row, column: row * 1e6))
    first, second = pages.split("\f")[:2]
    assert "Table 1 (continued)" in second
    assert first.count("rack") + second.count("rack") == 60


@pytest.mark.parametrize(("columns", "lies"), [(12, False), (18, True), (22, True)])
def test_a_long_and_wide_table_stays_on_the_page(
    typeset: Callable[..., str], columns: int, lies: bool
) -> None:
    latex = _latex(46, columns, lambda row, column: (1000 * lies + row) * 1e6)
    assert (r"\begin{landscape}" in latex) == lies
    assert ",lscape}" in latex.splitlines()[0] or not lies
    assert f"{columns - 1}" in typeset(latex)


def test_headings_of_a_wide_table_are_folded_before_it_is_shrunk(
    typeset: Callable[..., str],
) -> None:
    statistics = ("median", "interval", "cv", "stdev")
    cells = [CellSpec(metric="throughput", statistic=statistic) for statistic in statistics]
    latex = _latex(2, 2, lambda row, column: 1e6, cells)
    # As wide as the longest line, however wide a box would be.
    assert latex.count(r"{@{}c@{}}95~\%\\interval of\\throughput\end{tabular}") == 2
    assert "interval of" in typeset(latex)
