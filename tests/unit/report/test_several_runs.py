"""Two runs of one plan in each report that ships, side by side."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.gallery.make import DATABASE, ENTRIES, Entry
from tests.support import ROOT

from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.store import Store
from railgauge.store.copy import copy

_ENTRIES = [entry for entries in ENTRIES.values() for entry in entries]


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Give the gallery's database with each of its runs twice."""
    folder = tmp_path_factory.mktemp("twice")
    script = (ROOT / "docs" / "gallery" / DATABASE).read_text(encoding="utf-8")
    for name in ("runs.db", "again.db"):
        connection = sqlite3.connect(folder / name)
        connection.executescript(script)
        if name == "again.db":
            connection.execute("UPDATE run SET uid = substr(uid, 2) || substr(uid, 1, 1)")
        connection.commit()
        connection.close()
    with (
        Store.open(str(folder / "runs.db"), create=False) as store,
        Store.open(str(folder / "again.db"), create=False) as again,
    ):
        copy(again, store)
        yield store


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry.name)
def test_a_shipped_report_of_two_runs_has_both(twice: Store, entry: Entry, tmp_path: Path) -> None:
    catalogue = load_catalogue()
    runs = [run.id for run in twice.runs() if run.plan in entry.plans]
    assert len(runs) == 2 * len(entry.plans)
    spec = load_spec(entry.folder / f"{entry.name}.yaml", catalogue)
    # Figures are drawn by gnuplot, one after the other, which is most of the time.
    options = ReportOptions(most_cases=0)
    write_report(twice, runs, spec, tmp_path, catalogue=catalogue, options=options)
    text = (tmp_path / f"{spec.name}.txt").read_text(encoding="utf-8")
    for run in runs:
        assert str(run) in text
