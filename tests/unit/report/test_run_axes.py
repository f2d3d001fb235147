"""Axes of what was granted, of facts, labels, commits and dates; several runs side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.store_samples import METRICS, MOMENT, RUN, case, failed, measured, planned

from railgauge.base.errors import FileProblems, InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.store import Store
from railgauge.store.records import Launch

_SIZES = (102400, 512000)
_LIMIT = 212992
_NIC = {"nic.eth0.mtu": "1500", "peer_interfaces": "eth0"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Give two runs of two cases; a buffer of 500 KiB was clamped to 208 KiB."""
    with Store.open(str(tmp_path_factory.mktemp("db") / "r.db")) as store:
        for night, kernel in (("1", "6.1"), ("2", "6.12")):
            new = replace(RUN, labels={"kernel": kernel}, git_commit=night * 40, git_dirty=False)
            cases = [case(sockbuf=size) for size in _SIZES]
            run = store.begin_run(new, planned(*cases), METRICS)
            for host, mtu in (("gw1", "1500"), ("hh1", "9000")):
                version = f"Linux version {kernel} (me@there) #1 SMP"
                facts = {**_NIC, "kernel": version, "nic.eth0.mtu": mtu, "cpus": "4"}
                store.add_facts(run, host, facts)
            for stored_case, size in zip(cases, _SIZES, strict=True):
                granted = 2 * min(size, _LIMIT)
                side = {"rcvbuf": granted, "congestion": "cubic", "port": size}
                side["nodelay"] = size > _LIMIT
                warnings = ("server: rcvbuf: asked for 512000 bytes, the kernel granted less",)
                launch = Launch(
                    MOMENT, {"clock_offset": 1e-6}, side, warnings if size > _LIMIT else ()
                )
                for number in (1, 2):
                    store.add(
                        run, "stream", stored_case.key, measured(number, size * number), launch
                    )
                store.add(run, "stream", stored_case.key, failed(3), launch)
            store.finish_run(run, "complete")
        yield store


def _report(
    store: Store, folder: Path, table: str, runs: tuple[int, ...] = (1, 2), by: str = ""
) -> str:
    text = f"railgauge_report: 1\nname: r\ntitle: R\ntables:\n  - {{name: t, title: T, {table}}}\n"
    path = folder / "r.yaml"
    path.write_text(text, encoding="utf-8")
    catalogue = load_catalogue()
    spec = load_spec(path, catalogue)
    options = ReportOptions(most_cases=0, by=by)
    write_report(store, runs, spec, folder / "out", catalogue=catalogue, options=options)
    return (folder / "out" / "r.txt").read_text(encoding="utf-8")


def _cells(text: str) -> list[list[str]]:
    """Return the words of the table's rows, headings and all."""
    return [line.split() for line in text.splitlines() if line and not line.startswith("─")]


_CELLS = "cells: [{metric: throughput, unit: kbit/s, digits: 1}]"


def test_two_runs_of_one_plan_stand_side_by_side_by_their_label(
    store: Store, tmp_path: Path
) -> None:
    text = _report(store, tmp_path, f"rows: [sockbuf], {_CELLS}")
    rows = _cells(text)
    assert rows[1] == ["Kernel"]
    assert rows[2] == ["Sockbuf", "6.1", "6.12"]
    assert [row[0] for row in rows[3:5]] == ["100KiB", "500KiB"]
    assert rows[3].count("153.6") == 2


@pytest.mark.parametrize(
    ("by", "heading"),
    [
        ("run", ["1", "2"]),
        ("git_commit", ["111111111", "222222222"]),
        ("fact/kernel", ["6.1", "6.12"]),
    ],
)
def test_what_tells_runs_apart_may_be_named(
    store: Store, tmp_path: Path, by: str, heading: list[str]
) -> None:
    text = _report(store, tmp_path, f"rows: [sockbuf], {_CELLS}", by=by)
    assert _cells(text)[2] == ["Sockbuf", *heading]


def test_what_does_not_tell_runs_apart_mixes_no_two(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 cases fall into one cell .* they differ in run"):
        _report(store, tmp_path, f"rows: [sockbuf], {_CELLS}", by="fact/cpus")


def test_rows_sorted_by_a_cell_are_sorted_by_the_first_runs(store: Store, tmp_path: Path) -> None:
    table = f"rows: [sockbuf], {_CELLS}, sort: {{by: throughput, descending: true}}"
    rows = _cells(_report(store, tmp_path, table))
    assert [row[0] for row in rows[3:5]] == ["500KiB", "100KiB"]


def test_a_granted_setting_is_an_axis_and_a_metric_with_its_unit(
    store: Store, tmp_path: Path
) -> None:
    cells = (
        "cells: [{metric: server/rcvbuf, unit: KiB, digits: 0}, {metric: server/rcvbuf,"
        " statistic: n, label: Number}, {metric: client/clock_offset, unit: us}]"
    )
    rows = _cells(
        _report(store, tmp_path, f"rows: [server/rcvbuf, server/congestion], {cells}", (1,))
    )
    assert " ".join(rows[1]) == "Server congestion: cubic"
    assert " ".join(rows[2]) == "Server rcvbuf Server rcvbuf (KiB) Number Client clock offset (us)"
    assert [row[:2] for row in rows[3:5]] == [["200KiB", "200"], ["416KiB", "416"]]
    # One that failed was granted something, and measured nothing.
    assert {"2", "1.00"} <= set(rows[3])


def test_a_value_is_selected_as_a_plan_writes_it(store: Store, tmp_path: Path) -> None:
    select = "select: {server/rcvbuf: 416KiB, label/kernel: 6.12}"
    rows = _cells(_report(store, tmp_path, f"rows: [run, sockbuf], {select}, {_CELLS}"))
    assert [row[:2] for row in rows[2:3]] == [["2", "500KiB"]]
    assert "100KiB" not in str(rows)


def test_what_was_granted_or_not_is_selected_and_put_in_order_as_true_and_false(
    store: Store, tmp_path: Path
) -> None:
    rows = f"rows: [server/nodelay], select: {{run: 1}}, {_CELLS}"
    order = 'axes: {server/nodelay: {order: [true, false], labels: {"true": at once}}}'
    cells = _cells(_report(store, tmp_path, f"{rows}, {order}"))
    assert [row[0] for row in cells[2:4]] == ["at", "false"]
    only = rows.replace("run: 1", "run: 1, server/nodelay: true")
    assert "false" not in _report(store, tmp_path, only)


def test_facts_of_both_ends_stand_together_where_they_differ(store: Store, tmp_path: Path) -> None:
    axes = "fact/nic.mtu, server/fact/nic.eth0.mtu, fact/cpus, fact/kernel, started_at"
    text = _report(store, tmp_path, f"rows: [{axes}, sockbuf], {_CELLS}", (1,))
    day = store.run(1).started_at[:10]
    # All cases have the same: they stand above the table.
    values = [line.partition(": ")[2] for line in text.splitlines()[1:6]]
    assert values == ["1500 → 9000", "9000", "4", "6.1", day]


def test_what_was_not_granted_as_asked_is_a_footnote_in_place_of_the_engines(
    store: Store, tmp_path: Path
) -> None:
    text = _report(store, tmp_path, f"rows: [sockbuf], {_CELLS}", (1,))
    assert text.count("rcvbuf at the server: asked 500KiB, got 208KiB") == 1
    assert "the kernel granted" not in text


def test_axes_make_no_other_case(store: Store) -> None:
    assert {
        run.id: {planned.case.key for planned in store.run(run.id).cases} for run in store.runs()
    } == {number: {case(sockbuf=size).key for size in _SIZES} for number in (1, 2)}


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("fact/kernal", r"no host of these runs has the fact 'kernal': did you mean 'kernel'\?"),
        ("label/kernle", r"has the label 'kernle': did you mean 'kernel'\?"),
        ("client/mss", "no launch of these runs says what was granted of it"),
    ],
)
def test_an_axis_that_none_has_is_told_with_what_there_is(
    store: Store, tmp_path: Path, axis: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _report(store, tmp_path, f"rows: [{axis}], {_CELLS}")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (f"rows: [server/rcvbuff], {_CELLS}", "names no setting of an end: did you mean 'rcvbuf'?"),
        ("rows: [link], cells: [{metric: server/rcvbuff}]", "did you mean 'rcvbuf'?"),
        (
            "rows: [link], cells: [{metric: server/congestion}]",
            "server/congestion is a text: name it in rows, columns or select",
        ),
        (
            "rows: [link], cells: [{metric: server/rcvbuf, unit: us}]",
            "can't show the median of server/rcvbuf",
        ),
        (
            "rows: [link], cells: [{metric: server/rcvbuf, relative_to: memory}]",
            "server/rcvbuf has no theoretical value",
        ),
    ],
)
def test_mistakes_are_told_before_anything_is_read(
    store: Store, tmp_path: Path, table: str, message: str
) -> None:
    with pytest.raises(FileProblems) as raised:
        _report(store, tmp_path, table)
    assert message in str(raised.value)


def _figure(store: Store, folder: Path, **more: Any) -> str:
    keys = {"name": "f", "title": "F", "kind": "points", **more}
    lines = "".join(f"    {name}: {value}\n" for name, value in keys.items())
    text = f"railgauge_report: 1\nname: r\ntitle: R\nfigures:\n  -\n{lines}"
    (folder / "r.yaml").write_text(text, encoding="utf-8")
    catalogue = load_catalogue()
    spec = load_spec(folder / "r.yaml", catalogue)
    options = ReportOptions(most_cases=0)
    write_report(store, [1, 2], spec, folder / "out", catalogue=catalogue, options=options)
    return (folder / "out" / "r.txt").read_text(encoding="utf-8")


def test_a_figures_x_axis_may_be_what_was_granted(store: Store, tmp_path: Path) -> None:
    x, y = "{axis: server/rcvbuf, unit: KiB}", "{metric: throughput, unit: kbit/s}"
    text = _figure(store, tmp_path, x=x, y=y, series="[link]")
    assert "gw→hh, kernel 6.12: least 154 kbit/s at 200 KiB, greatest 768 kbit/s at 416" in text
