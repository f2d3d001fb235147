"""Every shipped report is made of every case of the shipped plans that it says it is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.plan_data import store_plan
from tests.support.results import csv_rows

from railgauge.base.assets import folder
from railgauge.plan.catalogue import Catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import TableSpec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.tables.logged import is_logged
from railgauge.report.tables.selection import engines_shown, make_axes, matching
from railgauge.store import Store
from railgauge.store.records import Series

REPORTS = {path.stem: path for path in folder("reports").glob("*.yaml")}


def plans_of(report: Path) -> list[str]:
    """Return the plans that the comment at a definition's beginning names."""
    comment = re.match(r"(?:#.*\n)*", report.read_text(encoding="utf-8"))
    assert comment is not None
    return re.findall(r"\bplans/([\w-]+)\.yaml", comment[0])


PAIRS = sorted((name, plan) for name, path in REPORTS.items() for plan in plans_of(path))


def test_every_report_names_its_plan() -> None:
    assert {name for name, _ in PAIRS} == set(REPORTS)


def _selected_keys(table: TableSpec, series: Sequence[Series], catalogue: Catalogue) -> set[str]:
    """Return the keys of the cases that have what the table selects."""
    keys = set()
    for cell in table.cells:
        # Each case has a load, and logs.
        metric = "client_cpu_load" if is_logged(cell.metric) else cell.metric
        select = {**table.select, **cell.select}
        axes = make_axes(select, {}, engines_shown(select, series), catalogue)
        measured = [item for item in series if item.metric == metric and len(item.values)]
        keys |= {item.case.key for item in matching(measured, select, axes)}
    return keys


@pytest.mark.parametrize(("name", "plan"), PAIRS)
def test_a_report_is_made_of_every_case_of_its_plan(name: str, plan: str, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        run, catalogue = store_plan(store, plan)
        spec = load_spec(REPORTS[name], catalogue)
        out = tmp_path / "out"
        options = ReportOptions(most_cases=0, appendix=True)
        write_report(store, [run], spec, out, catalogue=catalogue, options=options)
        series = store.series([run])
    for file_name in ("index.html", f"{name}.txt", f"{name}.tex", f"{name}-appendix.tex"):
        assert (out / file_name).stat().st_size, file_name
    for table in spec.tables:
        keys = {line["case_key"] for line in csv_rows(out / f"{table.name}.csv")}
        expected = _selected_keys(table, series, catalogue)
        assert expected
        assert keys - {""} == expected, table.name
