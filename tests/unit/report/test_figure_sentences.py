"""The sentences below figures: few values, one of a kind, numbers of any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.figure_data import store_values
from tests.support.matrix_data import store_matrix
from tests.support.report_data import store_traces, trace
from tests.support.series_samples import MS, readings, store_series
from tests.support.site_samples import published

from railgauge.base.intervals import Intervals
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.figures.figures import build_figures
from railgauge.store import Store

_CELLS = "kind: heatmap, x: {axis: link}, y: {axis: datagram, metric: throughput, unit: Mbit/s}"


def _sentences(store: Store, run: int, figure: str) -> str:
    """Return what stands below a figure of the run."""
    text = f"{{railgauge_report: 1, name: r, title: R, figures: [{{name: f, title: T, {figure}}}]}}"
    spec = validate(loads(text, "r.yaml"), Spec)
    (built,) = build_figures(spec.figures[0], store, [run], catalogue=load_catalogue())
    return " ".join((*built.content.summary, *built.notes))


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (
            "kind: replications, y: {metric: throughput, unit: Gbit/s, from: 0, to: 2}",
            "Beyond the ends of the y axis: 1 value or end of a bar.",
        ),
        (_CELLS, "1 by 1 cells, 1 of 1 has a value: median"),
    ],
)
def test_one_value_is_not_several(store: Store, figure: str, sentence: str) -> None:
    values = [1e9, 3e9] if "replications" in figure else [1e9]
    run = store_values(store, {("a→b", 1460): values})
    assert sentence in _sentences(store, run, figure)


def test_of_two_values_there_are_no_quartiles(store: Store) -> None:
    run = store_values(store, {("a→b", 1460): [1e9, 3e9]})
    text = _sentences(store, run, "kind: ecdf, x: {metric: throughput}")
    assert "2 values, minimum 1 Gbit/s, median 2 Gbit/s, maximum 3 Gbit/s." in text


def test_points_that_are_all_alike_have_no_least_and_greatest(store: Store) -> None:
    run = store_values(store, {("a→b", size): [1e9, 1e9] for size in (64, 1024, 1460)})
    y = "y: {metric: throughput, unit: Gbit/s}"
    text = _sentences(store, run, f"kind: lines, x: {{axis: datagram}}, {y}")
    assert "a→b: 1 Gbit/s at all 3 points." in text


def test_a_published_mean_is_not_called_a_single_value(store: Store) -> None:
    run = published(store)
    y = "y: {metric: throughput, statistic: arithmetic_mean}"
    text = _sentences(store, run, f"kind: bars, x: {{axis: link}}, {y}, errors: range")
    assert "Bars without lines on them, as no least and greatest value is published: 1." in text
    assert "single value" not in text


def test_one_pair_is_not_several(store: Store) -> None:
    run = store_matrix(store, np.array([[np.nan, 1e9], [np.nan, np.nan]]))
    text = _sentences(store, run, "kind: heatmap, y: {metric: throughput}")
    assert "2 hosts, 1 of 2 pairs has a value" in text


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("arrival", "1 arrival of 1 datagram sent, the last after"),
        ("delays", "1 one-way delay, minimum"),
    ],
)
def test_one_arrival_is_not_several(store: Store, kind: str, sentence: str) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace(sent=1)]})
    assert sentence in _sentences(store, run, f"kind: {kind}")


def test_one_interval_is_not_several(store: Store) -> None:
    columns = {"received_packets": readings([10], last=10 * MS)}
    run = store_series(store, Intervals(10 * MS, 0, columns))
    assert ": 1 interval, least" in _sentences(store, run, "kind: throughput_series")


def test_numbers_of_ten_thousand_and_more_have_no_exponent(store: Store) -> None:
    run = store_values(store, {("a→b", 64): [12_345.6e6], ("a→b", 1460): [123_456e6]})
    text = _sentences(store, run, _CELLS)
    assert "median 67901 Mbit/s, least 12346 Mbit/s at" in text
    assert "greatest 123456 Mbit/s at" in text
    rates = np.array([[np.nan, 2.5e10], [1.25e10, np.nan]])
    pairs = store_matrix(store, rates, hosts=["a", "b"])
    text = _sentences(store, pairs, "kind: heatmap, y: {metric: throughput, unit: Mbit/s}")
    assert "median 18750 Mbit/s, worst 12500 Mbit/s from b to a, best 25000 Mbit/s" in text
    assert "the worst client is b (12500 Mbit/s)" in text


def test_the_legend_of_large_numbers_has_no_exponent(store: Store) -> None:
    run = store_values(store, {("a→b", 64): [1e9], ("a→b", 1460): [3e9]})
    figure = _CELLS.replace("Mbit/s", "bit/s")
    text = f"{{railgauge_report: 1, name: r, title: R, figures: [{{name: f, title: T, {figure}}}]}}"
    spec = validate(loads(text, "r.yaml"), Spec)
    (built,) = build_figures(spec.figures[0], store, [run], catalogue=load_catalogue())
    grid = built.content.grid
    assert grid is not None
    assert "2000000000" in [mark for _, mark in grid.bar_tics]


@pytest.mark.parametrize(
    ("better", "words"), [("higher", ("worst", "best")), ("", ("least", "greatest"))]
)
def test_what_has_no_direction_has_no_worst_pair(
    store: Store, better: str, words: tuple[str, str]
) -> None:
    rates = np.full((3, 3), 1e9)
    rates[0, 1], rates[1, 0] = 0.1e9, 9e9
    run = store_matrix(store, rates, better=better)
    text = _sentences(store, run, "kind: heatmap, y: {metric: throughput}")
    low, high = words
    assert f", {low} 0.1 Gbit/s from n01 to n02, {high} 9 Gbit/s from n02 to n01." in text
    assert f"the {low} client is n01" in text
    sizes = "times better or worse than" if better else "times greater or smaller than"
    assert f"2 pairs are more than 4 {sizes} the median" in text


def test_a_place_on_an_axis_is_called_what_the_author_calls_it(store: Store) -> None:
    run = store_values(store, {("a→b", 1460, 0): [1e9], ("a→b", 1460, 1 << 20): [3e9]})
    axes = "axes: {sockbuf: {labels: {'0': the kernel's}}}"
    figure = f"kind: lines, x: {{axis: sockbuf}}, y: {{metric: throughput}}, {axes}"
    text = _sentences(store, run, figure)
    assert "least 1 Gbit/s at the kernel's, greatest 3 Gbit/s at 1MiB." in text


def test_a_slow_clock_is_not_said_to_be_faster(store: Store) -> None:
    steady = trace(sent=5000)
    for skew, words in ((-1e-4, "100 ppm slower"), (1e-4, "100 ppm faster")):
        received = np.rint(steady.received * (1 + skew)).astype(np.int64)
        skewed = replace(steady, received=received)
        run = store_traces(store, {("a→b", 0.0): [skewed]}, test=f"skew {words}")
        assert f"the receiver's clock was {words} than" in _sentences(store, run, "kind: delays")
