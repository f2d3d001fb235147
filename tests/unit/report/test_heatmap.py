"""Heat maps: which cell is which pair, which colour is slow, what is missing; real gnuplot."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.contrast import contrast, page_colours
from tests.support.figure_reports import report_sentences, report_text, svg_texts, write_figure
from tests.support.latex_lab import pages_of
from tests.support.matrix_data import rates, store_matrix
from tests.support.results import csv_rows

from railgauge.base.assets import folder
from railgauge.base.errors import FileProblems, InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.document.write_report import write_report
from railgauge.report.figures.kinds.colouring import colours
from railgauge.store import Store

_SVG = "{http://www.w3.org/2000/svg}"
_NASTY = """<script>alert(1)</script> % _ \\ & # $x^2$ {b} 'q' "d" `date` @x"""
_KIND = "kind: heatmap, y: {metric: throughput, unit: Gbit/s}"


pytestmark = pytest.mark.usefixtures("gnuplot")


def _write(
    store: Store, runs: list[int], out: Path, figure: str = _KIND, title: str = "Map"
) -> Path:
    write_figure(store, runs, out, figure, name="map", title=title)
    return out


def _blocks(path: Path) -> dict[str, NDArray[np.float64]]:
    """Return the blocks of a map's data by the first word of their comment."""
    blocks = {}
    for block in path.read_text(encoding="utf-8").split("\n\n\n"):
        lines = block.splitlines()
        comment = [line for line in lines if line.startswith("#")][-1]
        numbers = [[float(word) for word in line.split()] for line in lines if line[0] != "#"]
        blocks[re.split(r"\W+", comment)[1]] = np.array(numbers)
    return blocks


def _lightness(colour: float) -> float:
    """Return CIE 1976 lightness of 0xRRGGBB, 0 to 100."""
    channels = np.array([(int(colour) >> shift) & 0xFF for shift in (16, 8, 0)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def test_the_colours_grow_lighter_in_even_steps() -> None:
    lightness = np.array([_lightness(colour) for colour in colours(np.linspace(0, 1, 33))])
    steps = np.diff(lightness)
    assert lightness[0] < 20
    assert lightness[-1] > 85
    assert steps.min() > 0.5 * steps.mean()
    assert steps.max() < 2 * steps.mean()


def test_each_cell_is_the_median_of_its_pair_client_by_row_server_by_column(
    store: Store, tmp_path: Path
) -> None:
    values = rates(5)
    run = store_matrix(store, values, replications=3)
    out = _write(store, [run], tmp_path / "out")
    cells = _blocks(out / "map.dat")["column"]
    assert len(cells) == 20
    for column, row, value, _ in cells:
        assert value == pytest.approx(values[int(row), int(column)] / 1e9)
    assert "20 of 20 pairs have a value" in report_text(out)
    assert "Of each pair the median of 3 replications." in report_sentences(out)


@pytest.mark.parametrize("metric", ["throughput", "latency"])
def test_slow_is_dark_whether_higher_or_lower_is_better(
    store: Store, tmp_path: Path, metric: str
) -> None:
    values = rates(6)
    values[2] *= 0.5
    run = store_matrix(store, values)
    out = _write(store, [run], tmp_path / "out", f"kind: heatmap, y: {{metric: {metric}}}")
    blocks = _blocks(out / "map.dat")
    light: dict[int, list[float]] = {row: [] for row in range(6)}
    for _, row, _, colour in blocks["column"]:
        light[int(row)].append(_lightness(colour))
    assert max(light[2]) < 40 < 70 < min(min(light[row]) for row in (0, 1, 3, 4, 5))
    # The legend's dark end is at the bottom.
    assert _lightness(blocks["legend"][0][3]) < 20
    assert "worst client is n03" in report_text(out)
    picture = (out / "map.svg").read_text(encoding="utf-8")
    assert re.search(rf"{metric.capitalize()}, dark is worse \((Gbit/s|µs)\)", picture)


def test_the_slowest_pair_stands_out_on_the_page_in_both_themes(
    store: Store, tmp_path: Path
) -> None:
    """A contrast of 3 or more (WCAG 2.2, success criterion 1.4.11)."""
    values = rates(4)
    values[1, 2] /= 10
    out = _write(store, [store_matrix(store, values)], tmp_path / "out")
    blocks = _blocks(out / "map.dat")
    slowest = min(blocks["column"].tolist(), key=lambda cell: cell[2])
    page = (out / "index.html").read_text(encoding="utf-8")
    fills = re.findall(r'<polygon fill="([^"]+)"', page)
    # Before cells and legend is drawn what they stand on.
    grounds = fills[: len(fills) - len(blocks["column"]) - len(blocks["legend"])]
    for scheme in ("light", "dark"):
        ground, *_ = [*grounds, page_colours(scheme)["page"]]
        assert contrast(f"#{int(slowest[3]):06x}", ground) >= 3


def test_every_cell_and_every_cross_is_in_the_picture(store: Store, tmp_path: Path) -> None:
    values = rates(6)
    values[1, 2] = values[3, 4] = np.nan
    out = _write(store, [store_matrix(store, values)], tmp_path / "out")
    blocks = _blocks(out / "map.dat")
    assert {(int(row), int(column)) for column, row in blocks["without"]} == {(1, 2), (3, 4)}
    assert len(blocks["column"]) == 28
    root = ElementTree.parse(out / "map.svg").getroot()
    filled = list(root.iter(f"{_SVG}polygon"))
    # One is the ground of the page's picture.
    assert len(filled) == 1 + 28 + len(blocks["legend"])
    assert "A cross: 2 pairs have no value, failed or not measured." in report_text(out)
    assert (out / "map-picture.tex").read_text().count("\\polygon*") == len(filled) - 1


def test_a_pair_without_a_case_is_no_missing_one(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, rates(4))
    out = _write(store, [run], tmp_path / "out", _KIND + ", select: {client_host: [n01, n02]}")
    assert set(_blocks(out / "map.dat")) == {"legend", "column"}
    assert "6 of 6 pairs" in report_text(out)


def test_the_definition_says_how_hosts_are_called_and_ordered(store: Store, tmp_path: Path) -> None:
    values = rates(4)
    run = store_matrix(store, values)
    axes = "axes: {client_host: {title: Sender, labels: {n02: second}, order: [n04, n02]}}"
    out = _write(store, [run], tmp_path / "out", f"{_KIND}, {axes}")
    script = (out / "map.plot").read_text(encoding="utf-8")
    assert "'n04' 0.0, \\\n  'second' 1.0, \\\n  'n01' 2.0, \\\n  'n03' 3.0" in script
    assert "set ylabel 'Sender'" in script
    first = next(cell for cell in _blocks(out / "map.dat")["column"] if cell[1] == 0)
    assert first[2] == pytest.approx(values[3, 1] / 1e9)


def test_noise_is_no_contrast_and_one_outlier_does_not_take_all_of_it(
    store: Store, tmp_path: Path
) -> None:
    quiet = _write(store, [store_matrix(store, rates(6, noise=0.001))], tmp_path / "quiet")
    colour = _blocks(quiet / "map.dat")["column"][:, 3]
    light = [_lightness(rgb) for rgb in colour]
    assert max(light) - min(light) < 10
    values = rates(6)
    values[0, 1] /= 1000
    values[2] /= 2
    loud = _write(
        store,
        [store_matrix(store, values)],
        tmp_path / "loud",
        "kind: heatmap, y: {metric: latency}",
    )
    light_of = {
        (int(row), int(column)): _lightness(rgb)
        for column, row, _, rgb in _blocks(loud / "map.dat")["column"]
    }
    assert light_of[0, 1] < 20
    assert light_of[2, 3] + 15 < light_of[3, 2]
    assert "1 pair is more than 4 times better or worse than the median" in report_text(loud)


def test_of_a_hundred_hosts_no_slow_pair_and_no_missing_one_vanishes(
    store: Store, tmp_path: Path
) -> None:
    values = rates(100)
    values[37, 81] *= 0.3
    values[90, 5] = np.nan
    out = _write(store, [store_matrix(store, values)], tmp_path / "out")
    blocks = _blocks(out / "map.dat")
    # Two by two hosts a cell.
    assert len(blocks["column"]) == 2500
    column, row, value, colour = min(blocks["column"].tolist(), key=lambda cell: cell[2])
    assert (column, row) == (40, 18)
    assert value == pytest.approx(values[37, 81] / 1e9)
    assert _lightness(colour) < 30
    assert blocks["without"].tolist() == [[2.0, 45.0]]
    assert "A cell stands for 2 by 2 hosts and shows the worst pair among them." in report_text(out)
    named = re.findall(r"'n(\d+)' ", (out / "map.plot").read_text(encoding="utf-8"))
    assert len(named) <= 4 * 40
    assert sum(1 for _ in (out / "map.csv").open()) == 9901


def test_nothing_measured_is_all_crosses(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, np.full((3, 3), np.nan))
    out = _write(store, [run], tmp_path / "out")
    assert len(_blocks(out / "map.dat")["without"]) == 6
    assert "3 hosts, 0 of 6 pairs have a value." in report_text(out)


def test_zeros_and_spread_have_their_colours(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, np.zeros((3, 3)), replications=2)
    out = _write(store, [run], tmp_path / "zeros")
    assert "median 0 Gbit/s" in report_text(out)
    run = store_matrix(store, rates(4), replications=3)
    out = _write(
        store,
        [run],
        tmp_path / "spread",
        "kind: heatmap, y: {metric: throughput, statistic: cv, unit: '%'}",
    )
    cells = _blocks(out / "map.dat")["column"]
    assert cells[:, 2] == pytest.approx(50.0)
    with pytest.raises(InputError, match="no place on a logarithmic scale"):
        _write(store, [1], tmp_path / "log", "kind: heatmap, y: {metric: throughput, log: true}")
    out = _write(
        store, [run], tmp_path / "log", "kind: heatmap, y: {metric: throughput, log: true}"
    )
    assert (out / "map.svg").exists()


def test_two_cases_of_a_pair_are_refused_and_each_shows_both(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, rates(3), sizes=(1024, 65536))
    with pytest.raises(InputError, match=r"two cases measure n01 to n02, which differ in message"):
        _write(store, [run], tmp_path / "out")
    out = _write(store, [run], tmp_path / "out", f"{_KIND}, each: [message]")
    assert (out / "map-2.svg").exists()
    other = store_matrix(store, rates(3), sizes=(1024,))
    # Each run has a map of its own.
    out = _write(store, [run, other], tmp_path / "runs", f"{_KIND}, each: [message]")
    assert len(list(out.glob("map-*.svg"))) == 3


def test_a_run_without_pairs_is_refused(store: Store, tmp_path: Path) -> None:
    run = store_matrix(store, rates(3))
    with pytest.raises(InputError, match=r"no value of jitter: name a run of pairs of hosts"):
        _write(store, [run], tmp_path / "out", "kind: heatmap, y: {metric: jitter}")


def test_the_report_of_a_matrix_that_comes_with_railgauge(store: Store, tmp_path: Path) -> None:
    values = rates(6)
    values[2] *= 0.5
    values[4, 1] = np.nan
    run = store_matrix(store, values, engine="mpi", replications=2)
    catalogue = load_catalogue()
    spec = load_spec(folder("reports") / "mpi-matrix.yaml", catalogue)
    write_report(store, [run], spec, tmp_path / "out", catalogue=catalogue)
    text = (tmp_path / "out" / "mpi-matrix.txt").read_text(encoding="utf-8")
    assert len(re.findall(r"^n03 +as client +slow ", text, re.MULTILINE)) == 2
    assert text.count("6 hosts, 29 of 30 pairs have a value") == 2
    for name in ("throughput.svg", "latency.svg", "slow-throughput.json", "slow-latency.json"):
        assert (tmp_path / "out" / name).exists()


def test_the_same_database_gives_the_same_bytes_and_numbers(store: Store, tmp_path: Path) -> None:
    values = rates(4)
    values[1, 2] = np.nan
    run = store_matrix(store, values, replications=2)
    first, second = (_write(store, [run], tmp_path / name) for name in "ab")
    assert all(path.read_bytes() == (second / path.name).read_bytes() for path in first.iterdir())
    rows = csv_rows(first / "map.csv")
    assert [row["n"] for row in rows].count("0") == 1
    assert float(rows[0]["median"]) == pytest.approx(values[0, 1])
    assert (rows[0]["client_host"], rows[0]["server_host"]) == ("n01", "n02")


@pytest.mark.usefixtures("latex")
def test_whatever_hosts_are_called_shows_as_text_in_page_and_pdf(
    store: Store, tmp_path: Path
) -> None:
    names = [_NASTY, "ünï", "gw1.some.long.domain.example.org"]
    out = _write(
        store, [store_matrix(store, rates(3), hosts=names)], tmp_path / "out", title=_NASTY
    )
    assert "<script>alert" not in (out / "index.html").read_text(encoding="utf-8")
    # On an axis a name may be shortened.
    texts = svg_texts(out / "map.svg")
    assert texts.count(f"{_NASTY[:21]}…{_NASTY[-10:]}") == 2
    assert texts.count("ünï") == 2
    text = pages_of(out, "night")
    assert "gw1.some.long.domain.example.org" in text
    assert "dark is worse" in text


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ("kind: heatmap", r"needs the key 'metric' in 'y'"),
        ("kind: heatmap, x: {axis: message}, y: {metric: throughput}", "key 'axis' in 'y'"),
        ("kind: heatmap, x: {log: true}, y: {metric: throughput}", "can't be logarithmic"),
        ("kind: heatmap, y: {metric: throughput, unit: ms}", "'ms' can't show"),
        ("kind: heatmap, y: {metric: througput}", "unknown metric 'througput'"),
        ("kind: heatmap, replication: 2, y: {metric: throughput}", "shows all replications"),
    ],
)
def test_mistakes_in_a_definition_are_told(tmp_path: Path, figure: str, message: str) -> None:
    path = tmp_path / "night.yaml"
    path.write_text(
        "railgauge_report: 1\nname: night\ntitle: Night\nfigures:\n"
        f"  - {{name: map, title: Map, select: {{engine: tcp}}, {figure}}}\n"
    )
    with pytest.raises(FileProblems, match=message):
        load_spec(path, load_catalogue())
