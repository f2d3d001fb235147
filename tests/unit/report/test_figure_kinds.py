"""The kinds of figures that show values: what is drawn, what is told, what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.figure_data import FAILED, MIDNIGHT
from tests.support.figure_reports import FigureReports, report_sentences, report_text, svg_texts
from tests.support.latex_lab import typeset
from tests.support.results import csv_rows
from tests.support.site_samples import published

from railgauge.base.errors import FileProblems, InputError
from railgauge.report.figures.axis_ends import log_scale
from railgauge.report.figures.curves import curves
from railgauge.report.figures.figure import Content, PlottedSeries, Scale, text_bars
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.store import Store

_NASTY = """<script>alert(1)</script> % _ \\ & # $x^2$ {b} 'q' "d" `date` @x"""
_TEN = [1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9, 1.7e9, 1.8e9, 1.9e9]
_EVERY = {
    "lines": "kind: lines, x: {axis: datagram}, y: {metric: throughput}",
    "points": "kind: points, errors: interval, x: {axis: datagram}, y: {metric: throughput}",
    "bars": "kind: bars, x: {axis: link}, y: {metric: throughput}",
    "histogram": "kind: histogram, x: {metric: throughput}",
    "ecdf": "kind: ecdf, x: {metric: throughput}",
    "heatmap": "kind: heatmap, x: {axis: link}, y: {axis: datagram, metric: throughput}",
    "replications": "kind: replications, y: {metric: throughput}",
    "times": "kind: replications, x: {axis: time}, y: {metric: throughput}",
}


pytestmark = pytest.mark.usefixtures("gnuplot")


@pytest.fixture
def draw(store: Store, tmp_path: Path) -> FigureReports:
    return FigureReports(store, tmp_path)


def _blocks(out: Path) -> list[NDArray[np.float64]]:
    """Return the numbers in each block of the figure's data."""
    blocks = (out / "fig.dat").read_text(encoding="utf-8").split("\n\n\n")
    arrays = []
    for block in blocks:
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        arrays.append(np.array([[float(word) for word in line.split()] for line in lines]))
    return arrays


def _texts(out: Path) -> list[str]:
    return svg_texts(out / "fig.svg")


@pytest.mark.parametrize(
    ("errors", "centre", "low", "high"),
    [
        ("interval", 1.45, 1.1, 1.8),
        ("range", 1.45, 1.0, 1.9),
        ("stdev", 1.45, 1.45 - 0.302765, 1.45 + 0.302765),
    ],
)
def test_bars_at_points_show_what_was_asked_for(
    draw: FigureReports, errors: str, centre: float, low: float, high: float
) -> None:
    run = draw.values({("a→b", 1460): _TEN})
    y = "{metric: throughput, unit: Gbit/s}"
    out = draw(run, figure=f"kind: points, errors: {errors}, x: {{axis: datagram}}, y: {y}")
    (points,) = _blocks(out)
    assert points[0] == pytest.approx([1460, centre, low, high], rel=1e-5)


def test_without_bars_there_are_none(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): _TEN})
    out = draw(run, figure=_EVERY["points"].replace("interval", "none"))
    assert np.isnan(_blocks(out)[0][0, 2:]).all()
    assert not re.search("vectors|errorbars", (out / "fig.plot").read_text())
    assert "bars:" not in report_text(out)


def test_fewer_than_six_values_have_no_interval_and_that_is_told(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): _TEN, ("a→b", 4096): _TEN[:5]})
    out = draw(run, figure=_EVERY["points"])
    (points,) = _blocks(out)
    assert np.isnan(points).tolist() == [[False] * 4, [False, False, True, True]]
    assert "least 1.2 Gbit/s at 4KiB, greatest 1.45 Gbit/s at 1460 B" in report_text(out)
    assert "Points: the median of 5 to 10 replications; bars: the 95 % interval" in report_text(out)
    assert "Points without bars, as fewer than 6 values can't have any: 1." in report_text(out)


def test_a_single_value_has_no_bar_whatever_it_was_to_show(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [1e9]})
    for errors in ("range", "interval", "stdev"):
        out = draw(run, figure=_EVERY["points"].replace("interval", errors), name=errors)
        assert np.isnan(_blocks(out)[0][0, 2:]).all()
    alone = draw.values({("a→b", 1): [1e9], ("a→b", 2): [1e9, 2e9]})
    out = draw(alone, figure=_EVERY["points"].replace("interval", "range"), name="beside")
    assert "Points without bars, as a single value can't have any: 1." in report_text(out)


def test_deviations_stand_around_no_mean_of_a_ratio_that_nobody_asked_for(
    draw: FigureReports,
) -> None:
    run = draw.values({("a→b", 1460): [0.1, 0.2]}, metric="loss_rate")
    figure = "kind: points, errors: stdev, x: {axis: datagram}, y: {metric: loss_rate"
    with pytest.raises(InputError, match="stand around an arithmetic mean"):
        draw(run, figure=f"{figure}}}")
    out = draw(run, figure=f"{figure}, statistic: arithmetic_mean}}")
    assert _blocks(out)[0][0, 1] == pytest.approx(15), "in %"


def test_a_case_without_a_value_is_a_cross_and_no_bar_of_nothing(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [1e9, 2e9], ("b→c", 1460): [FAILED, FAILED]})
    for kind in ("lines", "points", "bars"):
        out = draw(run, figure=_EVERY[kind], name=kind)
        crosses = _blocks(out)[-1]
        assert crosses.shape == (1, 1)
        assert (
            "A cross at the foot: 1 case without a value, failed or not measured."
            in report_text(out)
        )
        assert "Failed replications, which have no value: 2." in report_text(out)
        assert "without a value" in _texts(out)


def test_bars_stand_by_text_in_groups_from_0(draw: FigureReports) -> None:
    values = {
        (link, size): [size * 1e6 + k * 1e8] * 2
        for k, link in enumerate(("a→b", "b→c"))
        for size in (1460, 4096)
    }
    run = draw.values(values)
    out = draw(run, figure=_EVERY["bars"])
    small, large = _blocks(out)
    assert small[:, 2].tolist() == [1.46, 1.56]  # Gbit/s at a→b and b→c
    assert large[:, 2].tolist() == [4.096, 4.196]
    # No bar stands on another, and each group around its place.
    edges = np.sort(np.concatenate((small[:, :2], large[:, :2])).ravel())
    assert np.all(np.diff(edges.reshape(2, 4), axis=1) > 0)
    assert np.all(np.abs(edges.reshape(2, 4).T - [0, 1]) < 0.45)
    assert {"a→b", "b→c", "datagram 1460", "datagram 4KiB", "0"} <= set(_texts(out))
    assert "datagram 1460: 1.46 Gbit/s at a→b, 1.56 Gbit/s at b→c." in report_text(out)


def test_a_histogram_counts_each_value_once_and_repeats_them_in_base_units(
    draw: FigureReports,
) -> None:
    rng = np.random.default_rng(4)
    values = (1e9 * (1 + 0.05 * rng.standard_normal(200))).tolist()
    run = draw.values({("a→b", 1460): values})
    for figure in ("bins: 7, x: {metric: throughput}", "x: {metric: throughput, log: true}"):
        out = draw(run, figure=f"kind: histogram, {figure}", name=figure[:4])
        records = csv_rows(out / "fig.csv")
        assert sum(int(row["replications"]) for row in records) == 200
        low, high = (float(records[3][key]) for key in ("from", "to"))
        inside = sum(1 for value in values if low <= value < high)
        assert int(records[3]["replications"]) == inside > 0
    assert (
        len(
            csv_rows(
                draw(run, figure="kind: histogram, bins: 7, x: {metric: throughput}") / "fig.csv"
            )
        )
        == 7
    )


def test_whole_numbers_are_counted_in_bins_of_as_many(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [0.0, 1, 1, 2, 2, 2, 9] * 50}, metric="lost_packets")
    records = csv_rows(draw(run, figure="kind: histogram, x: {metric: lost_packets}") / "fig.csv")
    assert [float(row["from"]) for row in records] == [n - 0.5 for n in range(10)]
    assert [int(row["replications"]) for row in records] == [50, 100, 150, *[0] * 6, 50]


def test_a_distribution_rises_to_100_percent_at_each_value(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [3e9, 1e9, 2e9, 2e9]})
    out = draw(run, figure=_EVERY["ecdf"])
    (steps,) = _blocks(out)
    assert steps.tolist() == [[1, 0], [1, 25], [2, 75], [3, 100]]  # Gbit/s, %
    shares = [(float(row["value"]), float(row["share"])) for row in csv_rows(out / "fig.csv")]
    assert shares == [(1e9, 0.25), (2e9, 0.75), (3e9, 1.0)]
    assert "4 values, minimum 1 Gbit/s, lower quartile" in report_text(out)


def test_ten_thousand_values_are_thinned_to_within_a_thousandth(draw: FigureReports) -> None:
    values = (1e9 * np.exp(np.random.default_rng(2).standard_normal(10_000) / 5)).tolist()
    run = draw.values({("a→b", 1460): values})
    out = draw(run, figure=_EVERY["ecdf"])
    (steps,) = _blocks(out)
    assert len(steps) < 3000
    assert (steps[0, 1], steps[-1, 1]) == (0, 100)
    assert f"{len(steps):,} of 10,001 steps are drawn" in report_text(out)
    ordered = np.sort(values) / 1e9
    exact = 100 * np.searchsorted(ordered, steps[1:, 0] * (1 + 1e-9), side="right") / 10_000
    assert np.abs(steps[1:, 1] - exact).max() < 1e-6
    assert np.diff(steps[:, 1]).max() < 0.3


def test_a_logarithmic_axis_of_few_sizes_has_tics_at_these(
    draw: FigureReports, tmp_path: Path
) -> None:
    sizes = (64, 1460, 16 << 10)
    run = draw.values({("a→b", size): [size * 1e6] for size in sizes})
    x = "x: {axis: datagram, log: true, title: Size"
    texts = _texts(draw(run, figure=f"kind: lines, {x}}}, y: {{metric: throughput}}"))
    assert {"64", "1460", "16KiB", "Size"} < {*texts}
    text = report_text(tmp_path / "out")
    bars = [line.split() for line in text.splitlines() if "█" in line or "▏" in line]
    assert [bar[0] for bar in bars] == ["64", "1460", "16KiB"]
    in_unit = f"kind: lines, {x}, unit: KiB}}, y: {{metric: throughput}}"
    assert "Size (KiB)" in _texts(draw(run, figure=in_unit, name="unit"))
    many = draw.values({("a→b", 64 * n): [n * 1e6] for n in range(1, 14)})
    texts = _texts(draw(many, figure=f"kind: lines, {x}}}, y: {{metric: throughput}}", name="many"))
    assert "Size (B)" in texts


def test_zeros_are_told_where_an_axis_is_logarithmic(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [0.0, 0.0, 1.0, 10.0]}, metric="lost_packets")
    out = draw(run, figure="kind: ecdf, x: {metric: lost_packets, log: true}")
    # Half of them lie to the left of the axis, so the curve begins there.
    assert _blocks(out)[0].tolist() == [[1, 50], [1, 75], [10, 100]]
    note = "Values of 0 or less, which have no place on a logarithmic axis: 2"
    assert note in report_text(out)
    out = draw(run, figure="kind: histogram, x: {metric: lost_packets, log: true}", name="two")
    assert sum(int(row["replications"]) for row in csv_rows(out / "fig.csv")) == 2
    assert note in report_text(out)
    for figure in (
        "kind: points, x: {axis: datagram}, y: {metric: lost_packets, log: true}",
        "kind: replications, y: {metric: lost_packets, log: true}",
    ):
        with pytest.raises(InputError, match="leave out 'log' of 'y'"):
            draw(run, figure=figure, name="refused")


def test_what_has_no_value_to_show_is_not_drawn_but_told(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [0.0, 0.0]}, metric="lost_packets")
    for kind in ("ecdf", "histogram"):
        out = draw(run, figure=f"kind: {kind}, x: {{metric: lost_packets, log: true}}", name=kind)
        assert not [*out.glob("fig*.svg"), *out.glob("fig-picture*"), *out.glob("fig.plot")]
        assert "Not drawn, as there is no value to show." in report_text(out)
        page = (out / "index.html").read_text(encoding="utf-8")
        assert '<section id="fig">' in page
        assert "<svg" not in page
        assert "picture" not in (out / "fig.tex").read_text(encoding="utf-8")
        assert len(csv_rows(out / "fig.csv")) >= 1


def test_one_series_has_no_key_and_two_have(draw: FigureReports) -> None:
    cases = {(link, size): [1e9] for link in ("a→b", "b→a") for size in (1460, 4096)}
    run = draw.values(cases)
    one_link = draw(run, figure=f"{_EVERY['lines']}, select: {{link: a→b}}", name="alone")
    two_links = draw(run, figure=_EVERY["lines"], name="both")
    assert "a→b" not in _texts(one_link)
    assert {"a→b", "b→a"} <= set(_texts(two_links))


def test_a_logarithmic_axis_ends_near_its_values(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [6e8], ("a→b", 4096): [9e8]})
    out = draw(run, figure="kind: lines, x: {axis: datagram}, y: {metric: throughput, log: true}")
    marks = {"600", "700", "800", "900"}
    assert marks <= set(_texts(out))
    assert not {"100", "10000"} & set(_texts(out))


def test_every_replication_is_a_mark_at_its_number_and_suspect_ones_are_hollow(
    draw: FigureReports,
) -> None:
    values = [1e9, FAILED, 3e9, 4e9]
    run = draw.values({("a→b", 1460): values}, suspect=lambda number: number == 4)
    out = draw(run, figure=_EVERY["replications"])
    marks, hollow, crosses = _blocks(out)
    assert marks.tolist() == [[1, 1], [3, 3]]
    assert hollow.tolist() == [[4, 4]]
    assert crosses.tolist() == [[2]]
    assert "3 values, median 3 Gbit/s, least 1 Gbit/s" in report_text(out)
    assert "; 1 suspect; 1 without a value." in report_sentences(out)
    assert "Hollow marks: 1 suspect replication." in report_text(out)
    assert {"suspect", "without a value"} <= set(_texts(out))
    status = [
        (row["replication"], row["status"], row["value"]) for row in csv_rows(out / "fig.csv")
    ]
    assert status == [
        ("1", "ok", "1000000000.0"),
        ("2", "failed", ""),
        ("3", "ok", "3000000000.0"),
        ("4", "suspect", "4000000000.0"),
    ]


def test_nights_are_one_series_over_time_in_utc(draw: FigureReports) -> None:
    runs = [
        draw.values({("a→b", 1460): [1e9, 2e9]}, start=MIDNIGHT + 86400 * night)
        for night in range(5)
    ]
    out = draw(*runs, figure=_EVERY["times"])
    (marks,) = _blocks(out)
    assert marks[:, 0].tolist() == [
        MIDNIGHT + 86400 * night + second for night in range(5) for second in (1, 2)
    ]
    assert {"2026-11-20", "2026-11-21", "2026-11-22", "Measured at (UTC)"} <= set(_texts(out))
    out = draw(runs[0], figure=_EVERY["times"], name="one")
    assert "Measured at, 2026-11-20 (UTC)" in _texts(out)
    assert "00:00:01" in _texts(out)


def test_ten_thousand_marks_are_thinned_and_no_suspect_one_is_lost(draw: FigureReports) -> None:
    values = (1e9 + np.arange(10_000) // 100).tolist()
    run = draw.values({("a→b", 1460): values}, suspect=lambda number: number == 5000)
    out = draw(run, figure=_EVERY["replications"])
    marks, hollow = _blocks(out)
    assert len(marks) < 3000
    assert hollow[:, 0].tolist() == [5000]
    assert f"{len(marks) + 1:,} of 10,000 replications are drawn" in report_text(out)


def test_a_map_has_a_cell_for_each_case_the_first_row_at_the_bottom(draw: FigureReports) -> None:
    sizes, buffers = (512, 1460, 4096), (10240, 1048576)
    values = {
        ("a→b", size, buffer): [float(size * 1e6 + buffer)] * 3
        for size in sizes
        for buffer in buffers
    }
    values["a→b", 4096, 1048576] = [FAILED] * 3
    run = draw.values(values)
    y = "{axis: sockbuf, metric: throughput, unit: bit/s}"
    out = draw(run, figure=f"kind: heatmap, x: {{axis: datagram}}, y: {y}")
    _, cells, missing = _blocks(out)
    for column, row, value, _ in cells:
        size, buffer = sizes[int(column)], buffers[1 - int(row)]
        assert value == pytest.approx(size * 1e6 + buffer)
    assert missing.tolist() == [[2, 0]]
    assert "3 by 2 cells, 5 of 6 have a value: median" in report_text(out)
    assert "A cross: 1 cell has no value, failed or not measured." in report_text(out)
    assert {"512", "1460", "4KiB", "10KiB", "1MiB", "Datagram", "Sockbuf"} <= set(_texts(out))
    assert len(csv_rows(out / "fig.csv")) == 6


def test_a_published_mean_is_of_as_many_replications_as_its_source_says(
    draw: FigureReports,
) -> None:
    run = published(draw.store)
    for kind in ("histogram", "ecdf", "replications"):
        text = report_text(draw(run, figure=_EVERY[kind], name=kind))
        assert "Published means of several replications, each shown as one value: 1." in text
    y = "{axis: mode, metric: throughput, statistic: arithmetic_mean}"
    text = report_text(draw(run, figure=f"kind: heatmap, x: {{axis: link}}, y: {y}", name="map"))
    assert "Cells: the arithmetic mean of 10 replications." in text
    assert "Published means" not in text
    y = "{metric: throughput, statistic: arithmetic_mean}"
    pairs = report_sentences(draw(run, figure=f"kind: heatmap, y: {y}", name="pairs"))
    assert "Of each pair the arithmetic mean of 10 replications." in pairs


def test_series_are_told_apart_by_the_axes_named_and_by_no_others(draw: FigureReports) -> None:
    values = {
        (link, size): [1e9, 2e9, 3e9] for link in ("a→b", "b→a") for size in (1460, 4096, 8192)
    }
    run = draw.values(values)
    out = draw(run, figure=f"{_EVERY['bars']}, series: [datagram]")
    assert len(_blocks(out)) == 3
    for kind, where in (("points", "stand at datagram"), ("ecdf", "series"), ("heatmap", "stand")):
        figure = _EVERY[kind].replace("x: {axis: link}", "x: {axis: sockbuf}")
        series = "" if kind == "heatmap" else ", series: [sockbuf]"
        with pytest.raises(InputError, match=f"two cases .*{where}.*differ in (link|datagram)"):
            draw(run, figure=figure + series, name=kind)


def test_what_lies_beyond_an_axis_that_ends_before_is_told(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [1e9, 3e9]})
    out = draw(
        run,
        figure="kind: replications, y: {metric: throughput, unit: Gbit/s, from: 0, to: 2}",
    )
    assert "Beyond the ends of the y axis: 1 value or end of a bar." in report_text(out)
    assert "set yrange [0:2]" in (out / "fig.plot").read_text()


@pytest.mark.parametrize("kind", list(_EVERY))
def test_one_value_of_one_case_is_drawn(draw: FigureReports, kind: str) -> None:
    run = draw.values({("a→b", 1460): [1e9]})
    out = draw(run, figure=_EVERY[kind])
    assert any("1" in text for text in _texts(out))


@pytest.mark.parametrize("kind", list(_EVERY))
def test_a_run_in_which_all_failed_is_an_empty_picture_that_says_so(
    draw: FigureReports, kind: str
) -> None:
    run = draw.values({("a→b", 1460): [FAILED, FAILED], ("a→b", 4096): [FAILED]})
    text = report_text(draw(run, figure=_EVERY[kind]))
    assert re.search(r"nothing measured|nothing at|0 of 2 have a value", text)
    assert "failed" in text


@pytest.mark.parametrize("kind", list(_EVERY))
def test_a_run_that_measured_nothing_yet_is_an_empty_picture(
    draw: FigureReports, kind: str
) -> None:
    run = draw.values({("a→b", 1460): [1e9]}, measured=False)
    out = draw(run, figure=_EVERY[kind])
    assert re.search(r"nothing measured|nothing at|0 of 1 have a value", report_text(out))


@pytest.mark.parametrize("kind", list(_EVERY))
def test_the_same_bytes_come_twice_and_from_gnuplot_by_hand(
    draw: FigureReports, tmp_path: Path, kind: str
) -> None:
    values = {(link, size): [*_TEN, FAILED] for link in ("a→b", "b→a") for size in (1460, 4096)}
    run = draw.values(values, suspect=lambda number: number == 3)
    first, second = (draw(run, figure=_EVERY[kind], name=name) for name in ("first", "second"))
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    hand = tmp_path / "hand"
    hand.mkdir()
    for name in ("fig.plot", "fig.dat"):
        shutil.copy(first / name, hand)
    subprocess.run([find_gnuplot(), "fig.plot"], cwd=hand, check=True, timeout=60)
    assert (hand / "fig.svg").read_bytes() == (first / "fig.svg").read_bytes()
    picture = (hand / "fig-picture.tex").read_bytes()
    assert picture == (first / "fig-picture.tex").read_bytes()


@pytest.mark.parametrize("kind", list(_EVERY))
@pytest.mark.usefixtures("latex")
def test_hostile_names_show_as_text_in_every_kind(draw: FigureReports, kind: str) -> None:
    run = draw.values({(f"{_NASTY}→b", 1460): _TEN, ("a→b\n\u202e", 1460): _TEN})
    out = draw(run, figure=_EVERY[kind], title=_NASTY)
    assert "<script>alert" not in (out / "index.html").read_text(encoding="utf-8")
    assert any("<script>alert(1)" in text for text in _texts(out))
    assert "\u202e" not in "".join(_texts(out))
    typeset(out, "night")


def test_long_names_that_differ_at_their_ends_stay_different_on_an_axis(
    draw: FigureReports,
) -> None:
    long = "a cluster with a name as long as this one"
    run = draw.values({(f"{long}→h{i}", 1460): [1e9] for i in range(3)})
    texts = _texts(draw(run, figure=_EVERY["bars"]))
    assert [text for text in texts if "…" in text] == [
        f"{long[:21]}…{f'{long}→h{i}'[-10:]}" for i in range(3)
    ]


def test_bars_of_nothing_but_0_stand_on_the_axis(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): [0.0, 0.0]}, metric="lost_packets")
    out = draw(run, figure="kind: bars, x: {axis: link}, y: {metric: lost_packets}")
    assert not any(text.startswith(("-", "−")) for text in _texts(out))


def test_too_many_groups_of_bars_or_cells_are_refused(draw: FigureReports) -> None:
    run = draw.values({(f"a→b{i}", 1460): [1e9] for i in range(81)})
    with pytest.raises(InputError, match="81 groups of bars, more than the 50"):
        draw(run, figure=_EVERY["bars"])
    with pytest.raises(InputError, match="link has 81 values, more than the 80 cells"):
        draw(run, figure=_EVERY["heatmap"])


@pytest.mark.parametrize("log", [False, True])
def test_points_at_one_place_stand_beside_one_another(log: bool) -> None:
    rows = np.array([[1.0, 5, 4, 6], [2.0, 5, 4, 6]])
    middle, right = PlottedSeries("b", rows), PlottedSeries("c", rows)
    peak = PlottedSeries("theoretical", rows[:, :2], theoretical=True)
    plotted = (PlottedSeries("a", rows), middle, right, peak)
    scales = Scale("X", log=log), Scale("Y")
    drawn = curves(Content("points", *scales, plotted, (), (), ())).drawn
    left, right_move = (float(re.sub(r"[^0-9.-]", "", c.x[3:])) for c in (drawn[0], drawn[2]))
    assert drawn[1].x == drawn[3].x == "1"
    assert left * right_move == pytest.approx(1) if log else left == -right_move < 0
    apart = (PlottedSeries("a", rows), PlottedSeries("b", rows + np.array([5, 0, 0, 0])))
    assert {c.x for c in curves(Content("points", *scales, apart, (), (), ())).drawn} == {"1"}
    barless = tuple(PlottedSeries(label, rows[:, :2]) for label in "ab")
    assert {c.x for c in curves(Content("lines", *scales, barless, (), (), ())).drawn} == {"1"}


def test_a_linear_axis_of_sizes_has_tics_at_them_and_does_not_begin_far_below_0(
    draw: FigureReports,
) -> None:
    sizes = (64, 1460, 16384, 65536)
    out = draw(draw.values({("a→b", s): [1e9] for s in sizes}), figure=_EVERY["lines"])
    low = re.search(r"set xrange \[(-?[0-9.]+):", (out / "fig.plot").read_text())
    assert low is not None
    assert -2000 < float(low[1]) < 64
    # 64 is too near to 1460.
    assert {"1460", "16KiB", "64KiB"} <= set(_texts(out))
    assert not {"0", "64"} & set(_texts(out))
    sizes = (1024, 65536, 1 << 20)
    text = report_text(
        draw(draw.values({("a→b", s): [1e9] for s in sizes}), figure=_EVERY["lines"], name="near")
    )
    assert [line.split()[0] for line in text.splitlines() if "█" in line] == [
        "1KiB",
        "64KiB",
        "1MiB",
    ]


def test_marks_of_thin_lines_are_larger_than_filled_ones(draw: FigureReports) -> None:
    out = draw(draw.values({(f"a→{b}", 64): [1e9] for b in "bcd"}), figure=_EVERY["lines"])
    script = (out / "fig.plot").read_text()
    sizes = dict(re.findall(r"pointtype (\d) pointsize ([0-9.]+) .* title 'a", script))
    assert set(sizes) == {"7", "6", "1"}
    assert float(sizes["6"]) == float(sizes["1"]) > 1.5 * float(sizes["7"])


def test_a_logarithmic_axis_of_whole_numbers_has_no_tics_between_them() -> None:
    threads, rates = (np.array(values) for values in ([2.0, 3.0, 4.0], [2.0, 3.1, 4.0]))
    scale = Scale("", "", log=True)
    assert [text for _, text in log_scale(scale, threads).tics] == ["2", "3", "4"]
    assert "2.5" in [text for _, text in log_scale(scale, rates).tics]
    # Neighbours stand a little beside these places.
    rows = np.column_stack((threads, *[[5.0, 6.0, 7.0]] * 3))
    plotted = (PlottedSeries("a", rows), PlottedSeries("b", rows))
    drawn = curves(Content("points", scale, Scale("y"), plotted, (), (), ()))
    assert [text for _, text in drawn.x.tics] == ["2", "3", "4"]
    assert drawn.x.low is not None
    assert drawn.x.low < 2.0 < 4.0 < (drawn.x.high or 0.0)


def test_a_sentence_has_the_digits_that_the_bars_leave(draw: FigureReports) -> None:
    wide = [58.123e9, 60e9, 66e9, 71e9, 73.791e9, 74.1e9, 75e9, 78e9, 79e9, 80e9]
    text = report_text(draw(draw.values({("a→b", 64): wide}), figure=_EVERY["points"]))
    assert "a→b: 73.9 Gbit/s at 64 B." in text
    few = draw(draw.values({("a→b", 64): wide[4:5]}), figure=_EVERY["points"], name="few")
    assert "a→b: 73.79 Gbit/s at 64 B." in report_text(few)


def test_a_figure_has_its_caption_and_its_width(draw: FigureReports) -> None:
    run = draw.values({("a→b", 1460): _TEN})
    plain = draw(run, figure=_EVERY["points"], name="plain")
    assert r"\resizebox{\linewidth}{!}{\input{fig-picture}" in (plain / "fig.tex").read_text()
    own = draw(run, figure=f"{_EVERY['points']}, caption: Links & more, width: 85mm")
    tex = (own / "fig.tex").read_text()
    assert r"\caption[A figure]{A figure. Links \& more}" in tex
    assert "resizebox" not in tex
    assert re.search("set terminal .* size 8.5cm,", (own / "fig.plot").read_text())
    assert "A figure\nLinks & more\n" in report_text(own)
    assert "<p>Links &amp; more</p>" in (own / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", ["8.5", "0.8", "2cm", "3m", "wide", "[1]"])
def test_a_width_that_is_none_is_refused(draw: FigureReports, width: str) -> None:
    with pytest.raises(FileProblems, match=r"write it in cm or mm, from 5cm to 50cm, such as 8\.5"):
        draw(1, figure=f"{_EVERY['points']}, width: {width}")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.01376, 0.02405), ["0.014 ms", "0.024 ms"]),
        ((0.5, 12.345), ["0.50 ms", "12.35 ms"]),
        ((3, 4), ["3 ms", "4 ms"]),
    ],
)
def test_no_bar_of_a_text_is_0_because_its_unit_is_large(
    values: tuple[float, float], texts: list[str]
) -> None:
    points = np.array([(place, value, np.nan, np.nan) for place, value in enumerate(values)])
    plotted = (PlottedSeries("all", points),)
    content = Content("lines", Scale("Size"), Scale("Time", "ms"), plotted, (), (), ())
    assert [" ".join(line.split()[-2:]) for line in text_bars(content)] == texts
