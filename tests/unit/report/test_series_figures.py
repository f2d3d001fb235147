"""Figures of series within a replication, and what a case's page shows of them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from tests.support.series_samples import (
    readings,
    series_case,
    store_series,
    tcp_series,
    udp_series,
)

from railgauge.base.errors import InputError
from railgauge.base.intervals import Intervals
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import write_report
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.figures.kinds.interval_series import RTT, THROUGHPUT
from railgauge.report.pages.case.case_view import HostTimelines
from railgauge.report.pages.case.timelines import series_timelines
from railgauge.report.pages.case.timeplot import draw_timelines
from railgauge.store import Store

pytestmark = pytest.mark.usefixtures("gnuplot")


def _draw(store: Store, run: int, out: Path, *kinds: str) -> tuple[list[list[str]], str]:
    """Return the last values of each record of the last figure's CSV, and the report as text."""
    names = [kind.replace("_", "-") for kind in kinds]
    figures = ", ".join(
        f"{{name: {name}, title: T, kind: {kind}}}" for name, kind in zip(names, kinds, strict=True)
    )
    text = f"{{railgauge_report: 1, name: r, title: R, figures: [{figures}]}}"
    write_report(
        store, [run], validate(loads(text, "r.yaml"), Spec), out, catalogue=load_catalogue()
    )
    with (out / f"{names[-1]}.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row[6:] for row in csv.reader(lines)]
    return rows, (out / "r.txt").read_text(encoding="utf-8")


def test_a_line_lies_on_the_axis_at_0_alone(store: Store, tmp_path: Path) -> None:
    run = store_series(store, tcp_series())
    _draw(store, run, tmp_path, "rtt_series", "throughput_series")
    below = {
        kind: float(re.findall(r"set offsets .* ([0-9.]+)$", script, re.MULTILINE)[0])
        for kind in ("rtt", "throughput")
        if (script := (tmp_path / f"{kind}-series.plot").read_text(encoding="utf-8"))
    }
    assert below["rtt"] > below["throughput"] == 0


def test_a_series_of_tcp_is_drawn_over_its_time(store: Store, tmp_path: Path) -> None:
    run = store_series(store, tcp_series())
    kinds = ("rtt_series", "window_series", "retransmit_series", "throughput_series")
    rows, text = _draw(store, run, tmp_path / "f", *kinds)
    assert rows[0] == ["from_seconds", "to_seconds", "throughput"]
    numbers = [[float(cell) for cell in row] for row in rows[1:]]
    assert numbers == [
        pytest.approx(row)
        for row in ([0, 0.01, 8e6], [0.01, 0.02, 16e6], [0.02, 0.03, 0], [0.03, 0.036, 4e4 / 0.006])
    ]
    points = np.loadtxt(tmp_path / "f" / "throughput-series.dat")
    assert points[:, 1].max() == 16
    assert "a→b: 4 intervals, least 0 bit/s, greatest 16.00 Mbit/s." in text
    assert "The first 10.00 ms were omitted from the metrics." in text
    assert "Series of replication 1." in text
    assert "Trace" not in text
    assert "a→b: 3 intervals, least 0, greatest 3." in text
    assert "'2' 2, \\\n" in (tmp_path / "f" / "retransmit-series.plot").read_text()
    assert "least 200.0 µs, greatest 900.0 µs" in text


def test_a_series_of_udp_shows_losses(store: Store, tmp_path: Path) -> None:
    run = store_series(store, udp_series(), "udp")
    rows, _ = _draw(store, run, tmp_path / "f", "throughput_series", "loss_series")
    assert [float(row[2]) for row in rows[1:]] == [0, 3, -1]


def test_a_quantity_that_an_engine_does_not_have_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no lost packets, but sent bytes"):
        _draw(store, store_series(store, tcp_series()), tmp_path / "f", "loss_series")


def test_many_intervals_are_drawn_as_fewer() -> None:
    """What they count stays the same, and a last one too short for a rate makes no peak."""
    series = Intervals(10_000_000, 10_000_000, {"received_bytes": readings([1000] * 2001, last=1)})
    steps = THROUGHPUT.steps(series, series_case())
    assert len(steps) <= 501
    assert ((steps[:, 1] - steps[:, 0]) * steps[:, 2]).sum() == pytest.approx(2001 * 8000)
    assert steps[:, 2].max() < 1e6
    assert len(THROUGHPUT.steps(series, series_case(), None)) == 2001


def test_intervals_drawn_as_fewer_steps_are_counted_all(store: Store, tmp_path: Path) -> None:
    counts = {"received_bytes": readings([1000] * 2001, last=1)}
    run = store_series(store, Intervals(10_000_000, 10_000_000, counts))
    rows, text = _draw(store, run, tmp_path / "f", "throughput_series")
    assert len(rows) == 2002
    assert "a→b: 2,001 intervals in 400 steps, least 800.0 kbit/s, greatest" in text
    assert "a→b: several intervals are drawn as one." in text


def test_a_loss_that_a_late_datagram_takes_back_is_on_a_case_s_page_too() -> None:
    columns = {"received_packets": [10, 10, 11, 10], "lost_packets": [3, -1, 0, 0]}
    counts = {name: readings(numbers) for name, numbers in columns.items()}
    series = Intervals(10_000_000, 10_000_000, counts)
    figures = tuple(series_timelines(series_case("udp"), "server", [(series, False)]))
    plot = draw_timelines(find_gnuplot(), "c", "T", [HostTimelines("b", "server", figures)])
    throughput, losses = plot.plot.split("set output 'c-1-")[1:]
    assert "set yrange [0:*]" in throughput
    assert "set yrange [*:*]" in losses
    assert ">-1<" in re.sub(r"\s", "", plot.svgs[1])


def test_a_case_s_page_shows_each_end_s_part() -> None:
    ends = [(tcp_series(), False), (tcp_series(), True)]
    server, client = (
        list(series_timelines(series_case(), side, ends)) for side in ("server", "client")
    )
    assert [figure.title for figure in server] == ["Throughput in the series"]
    assert [figure.y for figure in client] == ["µs", "KiB", "retransmits an interval"]
    (points,) = client[0].quantities
    assert len(points.sound) == len(points.suspect) == 1
    assert points.sound[0][:, 1].tolist() == pytest.approx([200, 900, 250, 250])
    assert len(list(series_timelines(series_case(), "client and server", ends))) == 4
    assert RTT.column(udp_series()) is None
