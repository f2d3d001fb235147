"""A whole report of a host's own measurements: operations, bytes, theoretical values, figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.latex_lab import typeset
from tests.support.results import csv_rows
from tests.support.store_samples import MOMENT, RUN

from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.cases import Case, case_key
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import write_report
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase

_SPEC = """\
railgauge_report: 1
name: machine
title: A machine
tables:
  - name: arithmetic
    title: Arithmetic
    rows: [threads]
    cells:
      - {metric: operation_rate, unit: Gop/s, label: Ours, select: {engine: own}}
      - {metric: operation_rate, unit: Gop/s, label: Theirs, select: {engine: theirs}}
      - {metric: operation_rate, unit: Gop/s, label: Linpack, select: {engine: hpl}, optional: true}
      - {peak: cpu_double, unit: Gop/s, digits: 1}
      - {metric: operation_rate, relative_to: cpu_double, digits: 1, label: Ours,
         select: {engine: own}}
figures:
  - name: scaling
    title: Scaling
    kind: lines
    select: {engine: own}
    x: {axis: threads}
    y: {metric: operation_rate, unit: Gop/s, peak: cpu_double}
"""
_RATES = {1: [10.0] * 6, 2: [20.0, 20.1, 19.9, 20.0, 12.0, 12.0], 4: [40.0] * 6}
_METRICS = {"operation_rate": MetricInfo("op/s", "higher")}


def _case(engine: str, threads: int) -> Case:
    key = case_key(engine, "here", "here", None, {"threads": threads})
    return Case(key, engine, "here", "here", None, {"threads": threads})


@pytest.fixture
def report(tmp_path: Path, gnuplot: None) -> Path:
    """The folder of a report with its figure."""
    measured = [PlannedCase("ours", _case("own", threads), 6) for threads in _RATES]
    reason = "theirs isn't on here"
    skipped = [PlannedCase("theirs", _case("theirs", threads), 6, reason) for threads in (1, 2)]
    with Store.open(str(tmp_path / "r.db")) as store:
        run = store.begin_run(RUN, [*measured, *skipped], {"own": _METRICS, "theirs": _METRICS})
        store.add_peaks(run, [Peak("here", "cpu_double", 48e9, "op/s", "found: 3 cores × 16 GHz")])
        for threads, rates in _RATES.items():
            launch = Launch(MOMENT, warnings=("client: shared a core",) if threads == 4 else ())
            for number, rate in enumerate(rates, 1):
                outcome = Outcome(number, MOMENT, {"operation_rate": rate * 1e9})
                store.add(run, "ours", _case("own", threads).key, outcome, launch)
        store.finish_run(run, "complete")
        spec = validate(loads(_SPEC, "machine.yaml"), Spec)
        write_report(store, [run], spec, tmp_path / "out")
    return tmp_path / "out"


def test_the_text_has_it_all(report: Path) -> None:
    text = (report / "machine.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line[:1] in ("1", "2", "4")]
    assert rows == [
        ["1", "10.00", "48.0", "20.8"],
        ["2", "20.0", "a)", "48.0", "41.6", "a)"],
        ["4", "40.00", "b)", "48.0", "83.3", "b)"],
    ]
    text = " ".join(text.split())  # Long lines are wrapped.
    assert "Not shown: Theirs: skipped: theirs isn't on here." in text
    assert "a) values fall into two groups: no single number stands for both" in text
    assert "b) warning: shared a core" in text
    assert "Theoretical: CPU double of here 48 Gop/s (found: 3 cores × 16 GHz)." in text
    assert "here: least 10 Gop/s at 1, greatest 40 Gop/s at 4." in text
    assert "Points whose values fall into two groups: 1." in text


def test_the_theoretical_value_is_a_dashed_line_of_the_figure(report: Path) -> None:
    text = " ".join((report / "machine.txt").read_text(encoding="utf-8").split())
    assert "theoretical: 48 Gop/s." in text
    assert "CPU double of here 48 Gop/s (found: 3 cores × 16 GHz)." in text
    rows = (report / "scaling.dat").read_text(encoding="utf-8").split("\n\n")[-1].splitlines()
    assert rows[-4:] == ["# theoretical", "1 48", "2 48", "4 48"]
    script = (report / "scaling.plot").read_text(encoding="utf-8")
    assert "index 1 using 1:2 with lines linewidth 1.2 dashtype" in script


def test_an_optional_column_is_there_only_where_it_was_measured(report: Path) -> None:
    assert "Linpack" not in (report / "machine.txt").read_text(encoding="utf-8")


def test_the_page_counts_what_was_skipped(report: Path) -> None:
    assert "<td>5, of which 2 skipped</td>" in (report / "index.html").read_text(encoding="utf-8")


def test_the_csv_file_tells_why_beside_each_number(report: Path) -> None:
    rows = csv_rows(report / "arithmetic.csv")
    assert [row["note"] for row in rows[:4]] == ["", "skipped: theirs isn't on here", "", ""]
    assert [row["peak"] for row in rows[:4]] == ["", "", "48000000000.0", "48000000000.0"]


@pytest.mark.usefixtures("latex")
def test_the_document_compiles_with_its_figure(report: Path) -> None:
    typeset(report, "machine")
    assert "Operation rate (Gop/s)" in (report / "scaling-picture.tex").read_text(encoding="utf-8")
