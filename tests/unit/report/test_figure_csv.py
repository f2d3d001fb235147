"""A figure's CSV: one column of each name, whatever its axes are called."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.support.figure_data import MIDNIGHT
from tests.support.figure_reports import write_figure
from tests.support.report_data import store_traces, trace
from tests.support.series_samples import store_series, tcp_series, udp_series

from railgauge.plan.cases import Case, Value, case_key
from railgauge.report.figures.kinds import KINDS
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

_RUN = NewRun("fabric", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
_TRACED = [name for name, kind in KINDS.items() if kind.traced]
_ON_AXES = [
    *((kind, axis) for kind in ("lines", "points") for axis in ("n", "mean", "series")),
    *(("bars", axis) for axis in ("n", "link", "run", "test", "series")),
    *(("heatmap", axis) for axis in ("n", "link", "run", "test", "series")),
]


pytestmark = pytest.mark.usefixtures("gnuplot")


def _solved(store: Store) -> int:
    """Store a run of two matrix orders, with parameters that are called as columns are."""
    planned = []
    for n in (1000, 2000):
        parameters: dict[str, Value] = {"n": n, "mean": n + 1, "series": n + 2}
        key = case_key("udp", "a→b", "a", "b", parameters)
        planned.append(PlannedCase("solve", Case(key, "udp", "a→b", "a", "b", parameters), 2))
    run = store.begin_run(_RUN, planned, {"udp": {"throughput": MetricInfo("bit/s", "higher")}})
    for planned_case in planned:
        for number in (1, 2):
            outcome = Outcome(number, MIDNIGHT + number, {"throughput": 1e9 * number})
            store.add(run, "solve", planned_case.case.key, outcome, Launch(MIDNIGHT))
    store.finish_run(run, "complete")
    return run


def _written(store: Store, run: int, figure: str, out: Path) -> list[list[str]]:
    """Return the lines of the CSV of a report's figure."""
    write_figure(store, [run], out, figure)
    with (out / "fig.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


@pytest.mark.parametrize(("kind", "axis"), _ON_AXES)
def test_an_axis_called_like_a_column_has_one_of_its_own(
    store: Store, tmp_path: Path, kind: str, axis: str
) -> None:
    y = "{axis: mean, metric: throughput}" if kind == "heatmap" else "{metric: throughput}"
    figure = f"kind: {kind}, select: {{n: 1000}}, x: {{axis: {axis}}}, y: {y}"
    header, first = _written(store, _solved(store), figure, tmp_path / "out")
    assert len(header) == len(set(header)), header
    row = dict(zip(header, first, strict=True))
    expected = {"n": "1000", "mean": "1001", "series": "1002", "link": "a→b", "run": "1"}
    # What is drawn as a word has its unit: udp's `series` is a time.
    assert row[f"x_{axis}"].removesuffix("s") == expected.get(axis, "solve")
    assert (row["n"], row["link"], row["run"]) == ("2", "a→b", "1")
    if kind == "heatmap":
        assert row["y_mean"] == "1001"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_kind_has_two_columns_of_one_name(store: Store, tmp_path: Path, kind: str) -> None:
    if kind.endswith("_series"):
        by_udp = kind == "loss_series"
        run = store_series(store, *((udp_series(), "udp") if by_udp else (tcp_series(),)))
        figure = f"kind: {kind}"
    elif kind in _TRACED:
        clock = "sender" if kind.startswith("round_trip") else "monotonic"
        run = store_traces(store, {("a→b", 0.0): [trace({7: 2}, sent=5000, clock=clock)]})
        figure = f"kind: {kind}"
    else:
        run = _solved(store)
        axes = "x: {axis: n}, " if kind in ("lines", "points", "bars") else ""
        metric = "{metric: throughput}"
        sides = "x" if kind in ("ecdf", "histogram") else "y"
        chosen = ", select: {n: 1000}" if kind == "heatmap" else ""
        figure = f"kind: {kind}, {axes}{sides}: {metric}{chosen}"
    header, *lines = _written(store, run, figure, tmp_path / "out")
    assert lines
    assert len(header) == len(set(header)), header
