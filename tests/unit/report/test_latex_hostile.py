"""LaTeX of texts as bad as can be: whole documents compile, and show them as they are."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.latex_lab import run
from tests.support.latex_lab import typeset as run_latex
from tests.support.report_data import series, table_spec

from railgauge.report.definition.definition_model import CellSpec
from railgauge.report.document.render import (
    render_appendix_latex,
    render_latex,
    render_latex_document,
)
from railgauge.report.formats.tex import breakable
from railgauge.report.pages.appendix.appendix_parts import Appendix
from railgauge.report.pages.contents import Details, Passage, ReportPart
from railgauge.report.pages.page import Page
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table

_PUNCTUATION = string.punctuation + r" \input{/etc/passwd} ^^41 $$ \\[9pt] &&\\hline %x"
_LANGUAGES = "Ünïcödé Ωµ αω 中文 Привет ½ 🚀 e\u0301"
_ACTING = "a\u202ereversed\u202c \u200fmark \u200bzero\x07bell\ttab"
_LONG = "Q" * 300
_HOSTILE = {
    "punctuation": _PUNCTUATION,
    "languages": _LANGUAGES,
    "acting characters": _ACTING,
    "long": _LONG,
    "digits behind": r"\input{x}1",
    "begins like an argument": "[1em] *x",
}


def _table(text: str, rows: int = 2) -> Table:
    """A table with `text` wherever a plan or a definition may have one; a cell is missing."""
    points = [
        series([row * 1e6] * 6, {"datagram": text, "sockbuf": sockbuf}, link=f"{text} {row}")
        for row in range(1, rows + 1)
        for sockbuf in (1, 2)
        if (row, sockbuf) != (1, 2)
    ]
    cells = (
        CellSpec(metric="throughput", unit="Mbit/s", label=text),
        CellSpec(metric="throughput", unit="Mbit/s", statistic="interval", digits=3),
    )
    texts = dict.fromkeys(("title", "missing", "notes"), text)
    spec = table_spec(*cells, rows=["datagram", "link"], columns=["sockbuf"], **texts)
    return build(spec, points)


def _document(table: Table, text: str) -> dict[str, str]:
    plain = _visible(text)
    details = Details(plain, (plain, "b"), ((plain, (plain, plain)),))
    parameters = Details(plain, ("Value",), ((plain, (plain,)),))
    about = (Passage("x", "Run 1", (plain, plain)),)
    appendix = Appendix("r-appendix", about, (parameters,), (details,))
    listed = Details(plain, ("Replication", "Code", "Why"), ((plain, ("1", plain, plain)),))
    page = Page("r", plain, (plain,), Details("Runs", (), ()), (), (), suspects=(listed,))
    parts = [ReportPart(passage=Passage("p", plain, (plain, plain))), ReportPart(table=table)]
    return {
        "r.tex": render_latex_document(page, parts, appendix),
        "t.tex": render_latex(table),
        "r-appendix.tex": render_appendix_latex(appendix),
    }


def _visible(text: str) -> str:
    from railgauge.base.characters import visible

    return visible(text)


@pytest.fixture
def typeset(tmp_path: Path, latex: None) -> Callable[..., str]:
    """Compile files, of which `main` is the document; return the text of its pages."""

    def compiled(files: dict[str, str], main: str = "r") -> str:
        for name, content in files.items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        log = run_latex(tmp_path, main)
        for width in re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log):
            # What the eye doesn't see.
            assert float(width) < 12, log
        return run(["pdftotext", "-layout", f"{main}.pdf", "-"], tmp_path)

    return compiled


def _squeezed(text: str) -> str:
    """Return `text` without spaces; an apostrophe is set as a typographic one."""
    return "".join(unicodedata.normalize("NFKC", text).replace("’", "'").split())


@pytest.mark.parametrize("kind", _HOSTILE)
def test_a_hostile_text_is_set_as_it_is_wherever_it_stands(
    typeset: Callable[..., str], kind: str
) -> None:
    text = _HOSTILE[kind]
    pages = _squeezed(typeset(_document(_table(text), text)))
    assert "root:" not in pages
    if kind == "long":
        # Broken over lines, which other columns stand between.
        assert pages.count("Q") >= 300 * 14
        return
    if kind == "languages":
        text = re.sub("[中-龥А-я½🚀]", lambda match: f"U+{ord(match[0]):04X}", text)
    assert pages.count(_squeezed(_visible(text))) >= 7


def test_a_missing_cells_text_is_no_number_even_if_it_ends_with_a_digit() -> None:
    latex = render_latex(_table(r"\input{x}1"))
    assert r"{\textbackslash{}input\{x\}1}" in latex
    assert r"\input" not in latex


def test_a_long_word_may_be_broken_after_its_joints_but_within_no_number() -> None:
    assert breakable("a short-word, 12.5") == "a short-word, 12.5"
    assert breakable("very_long_name/of=things") == (
        r"very\_\allowbreak{}long\_\allowbreak{}name/\allowbreak{}of=\allowbreak{}things"
    )
    assert breakable("x" * 40) == r"\allowbreak{}".join(["x" * 8] * 5)
    assert r"\allowbreak" not in breakable("1234567890.1234567890"[:16] + " " + "5 %")
