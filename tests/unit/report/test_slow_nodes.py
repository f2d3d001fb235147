"""The list of slow hosts and links: in text, page, LaTeX, CSV and JSON, and its mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.figure_reports import report_text
from tests.support.latex_lab import pages_of
from tests.support.matrix_data import rates, store_matrix
from tests.support.report_data import store_traces, trace
from tests.support.results import csv_rows

from railgauge.base.errors import FileProblems, InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import SlowNodesSpec, Spec
from railgauge.report.document.write_report import write_report
from railgauge.report.tables.slow_nodes import build_listings
from railgauge.store import Store

_NASTY = """<script>alert(1)</script> % _ \\ & # $x^2$ {b}"""


def _write(store: Store, runs: list[int], out: Path, more: str = "unit: Gbit/s") -> Path:
    metric = "" if "metric:" in more else "metric: throughput, "
    text = (
        "{railgauge_report: 1, name: night, title: Night, slow_nodes:"
        f" [{{name: slow, title: Slow nodes, {metric}{more}}}]}}"
    )
    spec = validate(loads(text, "night.yaml"), Spec)
    files = write_report(store, runs, spec, out, catalogue=load_catalogue())
    assert sorted(out.iterdir()) == sorted(files)
    return out


def _rows(out: Path, name: str = "slow") -> list[dict[str, str]]:
    return csv_rows(out / f"{name}.csv")


def _verdicts(out: Path) -> list[tuple[str, str, str, str]]:
    return [(row["host"], row["as"], row["peer"], row["verdict"]) for row in _rows(out)]


def _night(store: Store) -> int:
    """Store eight hosts: n02 slow both ways, n06 as a server, n04 silent, and a link."""
    values = rates(8)
    values[1] *= 0.3
    values[:, 1] *= 0.3
    values[:, 5] *= 0.7
    values[3] = values[:, 3] = np.nan
    values[6, 7] *= 0.5
    return store_matrix(store, values, replications=3)


def test_slow_hosts_directions_and_links_are_listed_worst_first(
    store: Store, tmp_path: Path
) -> None:
    out = _write(store, [_night(store)], tmp_path / "out")
    assert _verdicts(out) == [
        ("n04", "client", "", "silent"),
        ("n04", "server", "", "silent"),
        ("n02", "client", "", "slow"),
        ("n02", "server", "", "slow"),
        ("n06", "server", "", "slow"),
        ("n07", "client", "n08", "link"),
    ]
    assert [path.name for path in sorted(out.iterdir())] == [
        *("index.html", "night.tex", "night.txt", "slow.csv", "slow.json", "slow.tex")
    ]


def test_ratios_are_of_medians_and_against_the_others(store: Store, tmp_path: Path) -> None:
    out = _write(store, [_night(store)], tmp_path / "out")
    rows = _rows(out)
    ratios = [float(row["ratio"]) for row in rows if row["ratio"]]
    assert ratios == pytest.approx([0.3, 0.3, 0.7, 0.5], rel=0.1)
    for row in rows[2:]:
        assert float(row["value"]) / float(row["expected"]) == pytest.approx(float(row["ratio"]))
    assert [row["links"] for row in rows] == ["0", "0", "6", "6", "6", "1"]


def test_text_page_and_latex_tell_the_same(store: Store, tmp_path: Path) -> None:
    out = _write(store, [_night(store)], tmp_path / "out")
    lines = [line.split() for line in report_text(out).splitlines()]
    (row,) = [line for line in lines if line[:1] == ["n02"]]
    assert row[1:4] == ["as", "client", "slow"]
    slow = lines.index(row)
    assert lines[slow + 1][:3] == ["as", "server", "slow"]
    ratio, value, expected = float(row[6]), float(row[4]), float(row[5])
    assert value / expected == pytest.approx(ratio, abs=0.01)
    page = (out / "index.html").read_text(encoding="utf-8")
    assert 'rowspan="2">n02</th>' in page
    assert f"<td>{row[4]}</td>" in page
    latex = (out / "slow.tex").read_text(encoding="utf-8")
    assert r"\multirow{2}{*}{n02}" in latex
    assert f"{row[4]} & {row[5]} & {row[6]}" in latex
    assert "n07 to n08" in latex
    assert "Without a value, failed or not measured: 14 of 56 pairs." in report_text(out)


def test_json_holds_the_findings_in_base_units(store: Store, tmp_path: Path) -> None:
    out = _write(store, [_night(store)], tmp_path / "out")
    data: dict[str, Any] = json.loads((out / "slow.json").read_text(encoding="utf-8"))
    assert (data["metric"], data["unit"], data["hosts"]) == ("throughput", "bit/s", 8)
    assert (data["judged"], data["missing_pairs"]) == (7, 14)
    silent, slow, link = data["findings"][0], data["findings"][2], data["findings"][-1]
    assert (silent["verdict"], silent["value"], silent["ratio"]) == ("silent", None, None)
    assert slow["value"] == pytest.approx(0.3 * slow["expected"], rel=0.1)
    assert (link["host"], link["peer"], link["verdict"]) == ("n07", "n08", "link")
    assert [str(finding["host"]) for finding in data["findings"]] == [
        row["host"] for row in _rows(out)
    ]


def test_a_quiet_cluster_has_none(store: Store, tmp_path: Path) -> None:
    out = _write(store, [store_matrix(store, rates(8))], tmp_path / "out")
    assert _verdicts(out) == []
    assert "No host and no link falls short." in report_text(out).splitlines()
    assert "Falls short" not in report_text(out)
    assert "relative standard deviation is 1.8 %" in " ".join(report_text(out).split())


def _told_shares(out: Path) -> list[float]:
    """Return which shares of what is expected the notes say that slow hosts and links pass."""
    text = " ".join(report_text(out).split())
    return [float(share) / 100 for share in re.findall(r"are (?:below|above) ([\d.]+) % of", text)]


@pytest.mark.parametrize(("metric", "power"), [("throughput", 1), ("latency", -1)])
def test_a_host_is_listed_beyond_the_ratio_that_the_note_tells(
    store: Store, tmp_path: Path, metric: str, power: int
) -> None:
    listed = []
    for ratio in (0.96, 0.935, 0.92, 0.90):
        values = rates(8)
        rest = np.delete(np.delete(values, 2, 0), 2, 1)
        values[2] *= ratio * np.median(np.nanmax(rest, axis=1)) / np.nanmax(values[2])
        run = store_matrix(store, values)
        out = _write(store, [run], tmp_path / str(ratio), f"metric: {metric}")
        (share,) = _told_shares(out)
        assert (share > 1) == (metric == "latency")
        listed.append([row["host"] for row in _rows(out)] == ["n03"])
        assert listed[-1] == (ratio < share**power)
    assert (listed[0], listed[-1]) == (False, True)


def test_the_note_of_a_slow_link_tells_the_ratio_too(store: Store, tmp_path: Path) -> None:
    values = rates(8, noise=0.001)
    values[6, 7] *= 0.5
    run = store_matrix(store, values)
    assert _told_shares(_write(store, [run], tmp_path / "rate")) == [0.95, 0.9]
    time = _write(store, [run], tmp_path / "time", "metric: latency")
    assert _told_shares(time) == [1.053, 1.111]


@pytest.mark.parametrize("metric", ["throughput", "latency"])
@pytest.mark.parametrize("noise", [1.0, 5.0, 30.0])
def test_links_that_differ_widely_are_told_in_plain_numbers(
    store: Store, tmp_path: Path, metric: str, noise: float
) -> None:
    run = store_matrix(store, rates(8, noise))
    out = _write(store, [run], tmp_path / "out", f"metric: {metric}")
    host = " ".join(report_text(out).split())
    assert re.search(r"are (far )?(below|above) [\d.]{3,} % of what is expected", host)
    assert not re.search(r"\de[+-]?\d|over 100 %|[\d.]{12,}|below 0 %", host)
    assert ("far " in host) == (noise > 10)


def test_two_hosts_are_too_few_to_judge(store: Store, tmp_path: Path) -> None:
    out = _write(store, [store_matrix(store, rates(2))], tmp_path / "out")
    assert "too few hosts to judge" in report_text(out)
    assert "0 of 2 hosts could be judged" in report_text(out)


def test_hosts_behind_a_slow_way_are_told_apart(store: Store, tmp_path: Path) -> None:
    values = rates(20)
    values[:18, 18:] *= 0.4
    values[18:, :18] *= 0.4
    out = _write(store, [store_matrix(store, values)], tmp_path / "out")
    assert {(row["host"], row["verdict"]) for row in _rows(out)} == {
        ("n19", "apart"),
        ("n20", "apart"),
    }
    assert "look for the cause on the way between them and the rest" in " ".join(
        report_text(out).split()
    )


def test_a_link_that_was_up_to_speed_once_is_not_listed(store: Store, tmp_path: Path) -> None:
    # Replications measure 2/3, 1 and 4/3 of the value.
    values = rates(8, noise=0.001)
    values[2, 3] *= 0.8
    values[4, 5] *= 0.5
    run = store_matrix(store, values, replications=2)
    assert _verdicts(_write(store, [run], tmp_path / "out")) == [("n05", "client", "n06", "link")]


def test_a_long_list_is_cut_in_the_table_only(store: Store, tmp_path: Path) -> None:
    values = rates(40)
    places = np.random.default_rng(5).permutation(1600)[:150]
    values.flat[places] *= 0.3
    run = store_matrix(store, values)
    out = _write(store, [run], tmp_path / "out")
    count = len(_rows(out))
    assert count > 100
    assert f"The first 100 of {count}; slow.csv has them all." in report_text(out)
    assert (out / "slow.tex").read_text().count("as a link") == 100


def test_each_value_of_an_axis_has_its_own_list(store: Store, tmp_path: Path) -> None:
    values = rates(5)
    values[2] *= 0.5
    run = store_matrix(store, values, sizes=(1024, 65536))
    with pytest.raises(InputError, match=r"list 'slow': two cases .* differ in message"):
        _write(store, [run], tmp_path / "out")
    out = _write(store, [run], tmp_path / "each", "each: [message]")
    assert [row["host"] for row in _rows(out, "slow-2")] == ["n03"]
    assert "Slow nodes: message 64KiB" in report_text(out)
    out = _write(store, [run], tmp_path / "one", "select: {message: 1KiB}")
    assert [row["host"] for row in _rows(out)] == ["n03"]


def test_what_can_not_be_judged_is_refused(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, rates(4))
    for more, match in (
        ("select: {message: 3KiB}", r"no value of throughput has message 3KiB; there is"),
        ("unit: ms", "'ms' can't show throughput: use one of"),
    ):
        with pytest.raises(InputError, match=match):
            _write(store, [run], tmp_path / "out", more)
    negative = store_matrix(store, -rates(4))
    with pytest.raises(InputError, match=r"can't be compared by ratio \(0 or less\)"):
        _write(store, [negative], tmp_path / "out")
    neither = store_matrix(store, rates(4), better="neither")
    with pytest.raises(InputError, match="neither a higher nor a lower throughput is better"):
        _write(store, [neither], tmp_path / "out")
    # Each run has a list of its own; without that they would be judged together.
    together = store.series([run, neither], ["throughput"])
    with pytest.raises(InputError, match="differs between engines in its unit or direction"):
        build_listings(SlowNodesSpec(name="slow", title="S", metric="throughput"), together)
    udp = store_traces(store, {("a→b", 0.0): [trace(sent=5)]})
    with pytest.raises(InputError, match=r"no value of throughput has engine tcp; there is"):
        _write(store, [udp], tmp_path / "out", "select: {engine: tcp}")


@pytest.mark.usefixtures("latex")
def test_names_show_as_text_and_the_document_compiles(store: Store, tmp_path: Path) -> None:
    values = rates(4)
    values[0] *= 0.5
    run = store_matrix(store, values, hosts=[_NASTY, "=b", "ünï", "d"])
    out = _write(store, [run], tmp_path / "out")
    assert _rows(out)[0]["host"] == _NASTY
    assert "<script>alert" not in (out / "index.html").read_text(encoding="utf-8")
    text = pages_of(out, "night")
    assert "as client" in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("metric: througput", "unknown metric 'througput'"),
        ("metric: throughput, unit: ms", "'ms' can't show the median of throughput"),
        ("metric: throughput, each: [messsage]", "unknown axis 'messsage'"),
        ("metric: throughput, each: [message, message]", "is there already"),
        ("metric: throughput, axes: {hosts: {title: x}}", "unknown axis 'hosts'"),
        ("title: Other", "metric"),
    ],
)
def test_mistakes_in_a_definition_are_told(tmp_path: Path, more: str, message: str) -> None:
    path = tmp_path / "night.yaml"
    title = "" if "title: Other" in more else "title: T, "
    path.write_text(
        "railgauge_report: 1\nname: night\ntitle: Night\nslow_nodes:\n"
        f"  - {{name: slow, {title}select: {{engine: tcp}}, {more}}}\n"
    )
    with pytest.raises(FileProblems, match=message):
        load_spec(path, load_catalogue())


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "night.yaml"
    path.write_text(
        "railgauge_report: 1\nname: night\ntitle: Night\nslow_nodes:\n"
        "  - {name: a, title: T, metric: throughput}\n"
        "  - {name: a, title: T, metric: throughput}\n"
    )
    with pytest.raises(FileProblems, match="'a' is the name of another list of slow nodes"):
        load_spec(path, load_catalogue())
