"""Written reports: whole, complete or absent files, the same bytes every time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import write_report
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

_SPEC = """\
railgauge_report: 1
name: night
title: Night shift
tables:
  - name: udp
    title: UDP
    select: {engine: udp}
    rows: [datagram, link]
    cells: [{metric: throughput, unit: Mbit/s}, {metric: loss_rate, statistic: median, unit: "%"}]
"""
_METRICS = {
    "udp": {"throughput": MetricInfo("bit/s", "higher"), "loss_rate": MetricInfo("", "lower")}
}


def _case(datagram: int) -> Case:
    parameters = {"mode": "stream", "datagram": datagram}
    key = case_key("udp", "gw→hh", "gw1", "hh1", parameters)
    return Case(key, "udp", "gw→hh", "gw1", "hh1", parameters)


def _fill(store: Store) -> int:
    """Store a run of three cases: one measured, one that failed in part, one that only failed."""
    run = NewRun(
        "fabric", "text", "/home/me/plans", "c0ffee" * 6, True, 7, "ctl", "0.1.0", "ab12", {}
    )
    cases = [_case(1024), _case(1460), _case(4096)]
    number = store.begin_run(run, [PlannedCase("stream", case, 3) for case in cases], _METRICS)
    launch = Launch(1.0)
    for place, case in enumerate(cases):
        for replication in (1, 2, 3):
            if replication > 3 - 2 * place:
                outcome = Outcome(
                    replication,
                    2.0,
                    {},
                    "failed",
                    error_code="peer-lost",
                    error_message="<b>gone & lost</b>",
                )
            else:
                outcome = Outcome(
                    replication, 2.0, {"throughput": replication * 1e8, "loss_rate": 0.01}
                )
            store.add(number, "stream", case.key, outcome, launch)
    store.add_facts(number, "gw1", {"kernel": "6.18", "cpu": "Alpha EV68 <833 MHz>"})
    store.add_facts(number, "hh1", {"kernel": "6.18"})
    store.finish_run(number, "interrupted")
    return number


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "r.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(str(database)) as opened:
        yield opened


def _write(store: Store, run: int, out: Path) -> dict[str, bytes]:
    catalogue = load_catalogue()
    spec = validate(loads(_SPEC, "night.yaml"), Spec)
    files = write_report(store, [run], spec, out, catalogue=catalogue)
    assert sorted(out.iterdir()) == sorted(files)
    return {file.name: file.read_bytes() for file in files}


def test_a_report_is_a_page_a_text_a_document_and_two_files_for_each_table(
    store: Store, tmp_path: Path
) -> None:
    files = _write(store, _fill(store), tmp_path / "new" / "out")
    assert list(files) == ["index.html", "night.txt", "night.tex", "udp.tex", "udp.csv"]


def test_the_same_database_gives_the_same_bytes_again(
    store: Store, database: Path, tmp_path: Path
) -> None:
    run = _fill(store)
    first = _write(store, run, tmp_path / "a")
    store.close()
    copy = tmp_path / "copy.db"
    copy.write_bytes(database.read_bytes())
    with Store.open(str(copy)) as other:
        second = _write(other, run, tmp_path / "elsewhere" / "b")
        again = _write(other, run, tmp_path / "elsewhere" / "b")
    assert first == second == again


def test_failed_replications_are_marked_counted_and_listed(store: Store, tmp_path: Path) -> None:
    files = _write(store, _fill(store), tmp_path / "out")
    lines = files["night.txt"].decode().splitlines()
    assert "Link: gw→hh" in lines
    rows = [line.split() for line in lines if line.startswith(("1KiB", "1460", "4KiB"))]
    assert rows == [
        ["1KiB", "200.00", "1.00"],
        ["1460", "100.00", "a)", "1.00", "a)"],
        ["4KiB", "---", "b)", "---", "b)"],
    ]
    assert "a) 1 of 3 replications; 2 failed" in lines
    assert "b) 0 of 3 replications; 3 failed" in lines
    page = files["index.html"].decode()
    assert page.count("peer-lost") == 5
    assert "&lt;b&gt;gone &amp; lost&lt;/b&gt;" in page


def test_the_page_tells_the_run_and_its_machines_but_no_paths(store: Store, tmp_path: Path) -> None:
    page = _write(store, _fill(store), tmp_path / "out")["index.html"].decode()
    assert "c0ffee" * 6 + " with uncommitted changes" in page
    assert "interrupted: its numbers may still change" in page
    assert "Alpha EV68 &lt;833 MHz&gt;" in page
    assert "/home/me" not in page
    assert str(tmp_path) not in page


def test_without_a_definition_each_test_has_its_default_tables(
    store: Store, tmp_path: Path
) -> None:
    files = write_report(store, [_fill(store)], None, tmp_path / "out")
    assert [file.name for file in files] == [
        "index.html",
        "report.txt",
        "report.tex",
        "stream.tex",
        "stream.csv",
        "stream-throughput.tex",
        "stream-throughput.csv",
        "stream-loss-rate.tex",
        "stream-loss-rate.csv",
    ]


def test_of_many_cases_the_csv_file_alone_has_all_statistics(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _fill(store)
    monkeypatch.setattr("railgauge.report.document.write_report._MOST_SUMMED", 2)
    paths = write_report(store, [run], None, tmp_path / "out")
    assert {path.stem for path in paths} == {"index", "report", "stream"}
    text = (tmp_path / "out" / "report.txt").read_text(encoding="utf-8")
    assert "All statistics of each row: stream.csv." in text
    header = (tmp_path / "out" / "stream.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert {"n", "median", "stdev", "cv", "minimum", "maximum"} <= set(header.split(","))


def test_no_run_named_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name the run to report"):
        write_report(store, [], None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_without_measurements_shows_what_is_missing(store: Store, tmp_path: Path) -> None:
    run = NewRun("fabric", "", "", "", False, 7, "ctl", "0.1.0", "", {})
    number = store.begin_run(run, [PlannedCase("stream", _case(64), 3)], _METRICS)
    lines = _write(store, number, tmp_path / "out")["night.txt"].decode().splitlines()
    assert "In all cells 0 of 3 replications; 3 not measured." in lines
    assert "Nothing was measured." in lines


def test_a_folder_that_cannot_be_made_is_said_with_what_to_do(store: Store, tmp_path: Path) -> None:
    run = _fill(store)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentFailedError, match=r"can't be written to .*/file/out: .*--out"):
        write_report(store, [run], None, tmp_path / "file" / "out")


def test_a_full_disk_leaves_the_old_file_whole(
    store: Store, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    run = _fill(store)
    out = tmp_path / "small"
    out.mkdir()
    require(os.geteuid() == 0, "root, to mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(out)], check=False, timeout=30
    )
    require(mounted.returncode == 0, "the right to mount a small disk")
    try:
        (out / "index.html").write_text("old")
        (out / "ballast").write_bytes(bytes(24 * 1024))
        with pytest.raises(EnvironmentFailedError, match=r"No space left .* make room"):
            write_report(store, [run], None, out)
        assert (out / "index.html").read_text() == "old"
        assert sorted(path.name for path in out.iterdir()) == ["ballast", "index.html"]
    finally:
        subprocess.run(["umount", str(out)], check=True, timeout=30)


def test_default_tables_also_show_tests_that_have_no_headline_metric(
    store: Store, tmp_path: Path
) -> None:
    case = Case(case_key("own", "a", "a", None, {}), "own", "a", "a", None, {})
    metrics = {**_METRICS, "own": {"laps": MetricInfo("", "higher")}}
    planned = [PlannedCase("stream", _case(64), 1), PlannedCase("race", case, 1)]
    run = NewRun("fabric", "", "", "", False, 7, "ctl", "0.1.0", "", {})
    number = store.begin_run(run, planned, metrics)
    stream = Outcome(1, 1.0, {"throughput": 1e9, "loss_rate": 0.0})
    store.add(number, "stream", planned[0].case.key, stream, Launch(1.0))
    store.add(number, "race", case.key, Outcome(1, 1.0, {"laps": 12.0}), Launch(1.0))
    write_report(store, [number], None, tmp_path)
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert "Throughput (Gbit/s)" in text
    assert "12.00" in text
