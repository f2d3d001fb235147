"""What a figure can't show: values beyond its axis, and statistics that values don't have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.figure_data import MIDNIGHT
from tests.support.figure_reports import FigureReports

from railgauge.base.errors import InputError
from railgauge.report.figures.figure import Content
from railgauge.store import Store

_TEN = [1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9, 1.7e9, 1.8e9, 1.9e9]


@pytest.fixture
def draw(store: Store, gnuplot: None, tmp_path: Path) -> FigureReports:
    return FigureReports(store, tmp_path)


def _notes(content: Content) -> str:
    return " ".join((*content.summary, *content.notes))


@pytest.mark.parametrize("kind", ["lines", "points", "replications"])
@pytest.mark.parametrize("log", ["true", "false"])
@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("from: 5", "below 'from' of 'y', the nearest is 1.[49]"),
        ("to: 0.5", "above 'to' of 'y', the nearest is 1"),
    ],
)
def test_an_axis_that_ends_short_of_all_values_is_refused(
    draw: FigureReports, kind: str, log: str, end: str, message: str
) -> None:
    run = draw.values({("a→b", 64): _TEN, ("a→b", 1460): _TEN})
    x = "" if kind == "replications" else "x: {axis: datagram}, "
    with pytest.raises(InputError, match=message):
        draw.content(
            run,
            figure=f"kind: {kind}, {x}y: {{metric: throughput, unit: Gbit/s, log: {log}, {end}}}",
        )


def test_points_of_which_only_bars_reach_the_axis_are_refused(draw: FigureReports) -> None:
    run = draw.values({("a→b", 64): _TEN, ("a→b", 1460): _TEN})
    y = "y: {metric: throughput, unit: Gbit/s, from: 1.8}"
    with pytest.raises(InputError, match="below 'from' of 'y', the nearest"):
        draw.content(run, figure=f"kind: points, x: {{axis: datagram}}, {y}")


@pytest.mark.parametrize("end", ["from: 5", "to: 5"])
def test_a_logarithmic_axis_without_values_ends_where_it_was_told(
    draw: FigureReports, end: str
) -> None:
    run = draw.values({("a→b", 64): [None] * 3})
    y = f"{{metric: throughput, unit: Gbit/s, log: true, {end}}}"
    content = draw.content(run, figure=f"kind: points, x: {{axis: datagram}}, y: {y}")
    assert content.missing == (64.0,)


def test_values_far_beyond_the_axis_hide_none_within_it(draw: FigureReports) -> None:
    # Nights apart, all replications of one stand at one place on x.
    for night in range(3):
        values = [1e9, 1.01e9, 1.02e9, 1e13]
        draw.values({("a→b", 64): values}, start=MIDNIGHT + 86400 * night)
    y = "{metric: throughput, unit: Gbit/s, to: 1.1}"
    content = draw.content(1, 2, 3, figure=f"kind: replications, x: {{axis: time}}, y: {y}")
    rates = content.plotted[0].points[:, 1]
    assert sorted(rates[rates < 1.1].round(4)) == [1.0] * 3 + [1.01] * 3 + [1.02] * 3
    assert "Beyond the ends of the y axis: 3 values or ends of bars." in content.notes


@pytest.mark.parametrize(
    ("figure", "note"),
    [
        (
            "kind: lines, x: {axis: datagram}, ",
            "A cross at the foot: 1 case without a value, failed or not measured; 1 case whose"
            " values have no harmonic mean.",
        ),
        (
            "kind: bars, x: {axis: datagram}, ",
            "A cross at the foot: 1 case without a value, failed or not measured; 1 case whose"
            " values have no harmonic mean.",
        ),
        (
            "kind: heatmap, x: {axis: datagram}, ",
            "A cross: 1 cell has no value, failed or not measured. A cross: 1 cell with values"
            " that have no harmonic mean.",
        ),
    ],
)
def test_values_without_the_statistic_are_not_called_failed(
    draw: FigureReports, figure: str, note: str
) -> None:
    values: Any = {("a→b", 64): _TEN, ("a→b", 256): [0.0, 1e9], ("a→b", 1460): [None, None]}
    run = draw.values(values)
    y = "metric: throughput, statistic: harmonic_mean"
    y = f"{{axis: link, {y}}}" if "heatmap" in figure else f"{{{y}}}"
    assert note in _notes(draw.content(run, figure=f"{figure}y: {y}"))


def test_a_series_of_zeros_was_measured(draw: FigureReports) -> None:
    run = draw.values({("a→b", 64): [0.0, 0.0]})
    content = draw.content(
        run, figure="kind: lines, x: {axis: datagram}, y: {metric: throughput, statistic: mean}"
    )
    assert content.summary == ("a→b: no harmonic mean of what was measured.",)


@pytest.mark.parametrize(
    ("figure", "note"),
    [
        ("kind: lines, x: {axis: datagram}", "Replications not measured, or without this metric"),
        ("kind: bars, x: {axis: link}", "Replications not measured, or without this metric"),
        ("kind: replications", "Replications not measured"),
    ],
)
def test_replications_that_a_run_did_not_come_to_are_counted(
    draw: FigureReports, figure: str, note: str
) -> None:
    run = draw.values({("a→b", 64): [1e9, None, 1.1e9]}, total=5)
    content = draw.content(run, figure=f"{figure}, y: {{metric: throughput}}")
    assert f"{note}: 2." in content.notes
    whole = draw.values({("a→b", 64): [1e9, None, 1.1e9]})
    assert note not in _notes(draw.content(whole, figure=f"{figure}, y: {{metric: throughput}}"))
