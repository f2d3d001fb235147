"""What a figure can't show: values beyond its axis, and statistics that values don't have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.figure_data import MIDNIGHT, store_values

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.figures.figure import Content
from railgauge.report.figures.figures import build_figures
from railgauge.report.figures.plotfile import draw
from railgauge.store import Store

_TEN = [1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9, 1.7e9, 1.8e9, 1.9e9]


@pytest.fixture
def drawn(store: Store, gnuplot: None) -> Callable[..., Content]:
    """Return a function that draws a figure of runs and returns what was drawn."""

    def figure_content(*runs: int, figure: str) -> Content:
        text = "{railgauge_report: 1, name: r, title: R, figures: [{name: fig, title: T, "
        spec = validate(loads(f"{text}{figure}}}]}}", "r.yaml"), Spec)
        (picture,) = build_figures(spec.figures[0], store, runs, catalogue=load_catalogue())
        draw(picture)
        return picture.content

    return figure_content


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
    store: Store, drawn: Callable[..., Content], kind: str, log: str, end: str, message: str
) -> None:
    run = store_values(store, {("a→b", 64): _TEN, ("a→b", 1460): _TEN})
    x = "" if kind == "replications" else "x: {axis: datagram}, "
    with pytest.raises(InputError, match=message):
        drawn(
            run,
            figure=f"kind: {kind}, {x}y: {{metric: throughput, unit: Gbit/s, log: {log}, {end}}}",
        )


def test_points_of_which_only_bars_reach_the_axis_are_refused(
    store: Store, drawn: Callable[..., Content]
) -> None:
    run = store_values(store, {("a→b", 64): _TEN, ("a→b", 1460): _TEN})
    y = "y: {metric: throughput, unit: Gbit/s, from: 1.8}"
    with pytest.raises(InputError, match="below 'from' of 'y', the nearest"):
        drawn(run, figure=f"kind: points, x: {{axis: datagram}}, {y}")


@pytest.mark.parametrize("end", ["from: 5", "to: 5"])
def test_a_logarithmic_axis_without_values_ends_where_it_was_told(
    store: Store, drawn: Callable[..., Content], end: str
) -> None:
    run = store_values(store, {("a→b", 64): [None] * 3})
    y = f"{{metric: throughput, unit: Gbit/s, log: true, {end}}}"
    content = drawn(run, figure=f"kind: points, x: {{axis: datagram}}, y: {y}")
    assert content.missing == (64.0,)


def test_values_far_beyond_the_axis_hide_none_within_it(
    store: Store, drawn: Callable[..., Content]
) -> None:
    # Nights apart, all replications of one stand at one place on x.
    for night in range(3):
        values = [1e9, 1.01e9, 1.02e9, 1e13]
        store_values(store, {("a→b", 64): values}, start=MIDNIGHT + 86400 * night)
    y = "{metric: throughput, unit: Gbit/s, to: 1.1}"
    content = drawn(1, 2, 3, figure=f"kind: replications, x: {{axis: time}}, y: {y}")
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
    store: Store, drawn: Callable[..., Content], figure: str, note: str
) -> None:
    values: Any = {("a→b", 64): _TEN, ("a→b", 256): [0.0, 1e9], ("a→b", 1460): [None, None]}
    run = store_values(store, values)
    y = "metric: throughput, statistic: harmonic_mean"
    y = f"{{axis: link, {y}}}" if "heatmap" in figure else f"{{{y}}}"
    assert note in _notes(drawn(run, figure=f"{figure}y: {y}"))


def test_a_series_of_zeros_was_measured(store: Store, drawn: Callable[..., Content]) -> None:
    run = store_values(store, {("a→b", 64): [0.0, 0.0]})
    content = drawn(
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
    store: Store, drawn: Callable[..., Content], figure: str, note: str
) -> None:
    run = store_values(store, {("a→b", 64): [1e9, None, 1.1e9]}, total=5)
    content = drawn(run, figure=f"{figure}, y: {{metric: throughput}}")
    assert f"{note}: 2." in content.notes
    whole = store_values(store, {("a→b", 64): [1e9, None, 1.1e9]})
    assert note not in _notes(drawn(whole, figure=f"{figure}, y: {{metric: throughput}}"))
