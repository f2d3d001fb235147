"""The tables of a run for which nobody defined any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.report_data import series
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    PEAK,
    RUN,
    case,
    failed,
    measured,
    planned,
)

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.definition.definition_model import CellSpec, TableSpec
from railgauge.report.document.render import render_text
from railgauge.report.tables.default import default_series, default_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import read_context
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase


def _stream(datagram: int, link: str = "a→b", **more: object) -> list:
    parameters = {"mode": "stream", "datagram": datagram, "tos": 0}
    return [
        series([9.4e8] * 3, parameters, link=link, **more),
        series([9.5e8] * 3, parameters, link=link, metric="local_throughput", **more),
        series([0.001] * 3, parameters, link=link, metric="loss_rate", unit="", **more),
        series([1e5] * 3, parameters, link=link, metric="sent_packets", unit="", **more),
    ]


def test_rows_are_what_varies_and_columns_the_headline_metrics() -> None:
    (table,) = default_spec([*_stream(1024), *_stream(1460), *_stream(1460, "a→c")]).tables
    assert table.rows == ["datagram", "link"]
    assert [(cell.metric, cell.unit) for cell in table.cells] == [
        ("throughput", "Mbit/s"),
        ("local_throughput", "Mbit/s"),
        ("loss_rate", "%"),
    ]


def test_a_run_with_soakers_shows_what_a_gigabyte_cost_both_ends() -> None:
    parameters = {"mode": "stream", "message": 65536, "soak": True}
    metrics = {"throughput": ("bit/s", 9.4e8), "client_cpu_load_soak": ("", 0.3)}
    metrics |= {f"{side}_cpu_per_gigabyte": ("s", 2.5) for side in ("client", "server")}
    points = [
        series([value] * 3, parameters, engine="tcp", metric=name, unit=unit, better="lower")
        for name, (unit, value) in metrics.items()
    ]
    (table,) = default_spec(points).tables
    assert [(cell.metric, cell.unit) for cell in table.cells] == [
        ("throughput", "Mbit/s"),
        ("client_cpu_per_gigabyte", "s"),
        ("server_cpu_per_gigabyte", "s"),
    ]


def test_each_test_has_its_table_in_the_plans_order() -> None:
    parameters = {"mode": "latency", "datagram": 64}
    latency = series([5e-6], parameters, metric="rtt_p50", unit="s", test="Ping!")
    spec = default_spec([*_stream(1024), latency])
    assert [table.name for table in spec.tables] == ["stream", "ping"]
    assert [table.title for table in spec.tables] == ["stream", "Ping!"]
    assert spec.tables[1].cells[0].unit == "µs"


def test_several_runs_stand_side_by_side() -> None:
    spec = default_spec([*_stream(1024, run=3), *_stream(1024, run=5)])
    assert spec.tables[0].rows == ["run", "link"]


def test_equal_names_of_tests_get_files_of_their_own() -> None:
    points = [
        *_stream(1, test="Übung"),
        *_stream(1, test="bung"),
        *_stream(1, test="---", plan="other"),
        *_stream(1, test="report"),
    ]
    spec = default_spec(points)
    names = [table.name for table in spec.tables]
    assert names == ["bung", "bung-2", "table", "report"]
    assert spec.name == "report-2"
    assert spec.tables[2].title == "other: ---"


def test_an_engine_without_headlines_shows_its_first_metrics() -> None:
    points = [
        series([float(number)], {"x": 1}, metric=f"m{number}", unit="J", engine="own", server=None)
        for number in range(9)
    ]
    (table,) = default_spec(points).tables
    assert [cell.metric for cell in table.cells] == ["m0", "m1", "m2", "m3"]
    assert table.axes["link"].title == "Host"


def test_a_test_without_headlines_is_not_taken_for_unmeasured_beside_one_with_them(
    tmp_path: Path,
) -> None:
    metrics = {"udp": {**METRICS["udp"], "warmth": MetricInfo("K", "lower")}}
    with Store.open(str(tmp_path / "a.db")) as store:
        plain, odd = case(), case(9)
        run = store.begin_run(RUN, [*planned(plain), *planned(odd, test="odd")], metrics)
        store.add(run, "stream", plain.key, measured(1), LAUNCH)
        store.add(run, "odd", odd.key, Outcome(1, MOMENT, {"warmth": 3.0}), LAUNCH)
        tables = default_spec(default_series(store, [run])).tables
    assert [[cell.metric for cell in table.cells] for table in tables] == [
        ["throughput", "loss_rate"],
        ["warmth"],
    ]


def test_a_case_without_headlines_is_not_taken_for_unmeasured_beside_one_with_them(
    tmp_path: Path,
) -> None:
    metrics = {"udp": {**METRICS["udp"], "warmth": MetricInfo("K", "lower")}}
    with Store.open(str(tmp_path / "a.db")) as store:
        plain, odd, broken = case(), case(9), case(10)
        run = store.begin_run(RUN, planned(plain, odd, broken, replications=1), metrics)
        store.add(run, "stream", plain.key, measured(1), LAUNCH)
        store.add(run, "stream", odd.key, Outcome(1, MOMENT, {"warmth": 3.0}), LAUNCH)
        series = default_series(store, [run])
        (table,) = (build(spec, series) for spec in default_spec(series).tables)
    assert "3.00" in render_text(table)
    assert [footnote.text for footnote in table.footnotes] == ["0 of 1 replication; 1 not measured"]


def test_connections_are_headlines() -> None:
    points = [
        series([float(n)], {"x": 1}, metric=name, unit=unit)
        for n, (name, unit) in enumerate(
            [("connections", ""), ("connect_p50", "s"), ("connection_rate", "1/s")], 1
        )
    ]
    (table,) = default_spec(points).tables
    assert [cell.metric for cell in table.cells] == ["connection_rate", "connect_p50"]


def test_small_values_get_more_digits() -> None:
    (table,) = default_spec([series([2e-9, 3.0], {"x": 1}, metric="wall_time", unit="s")]).tables
    assert table.cells[0].digits == 2
    points = [
        series([value], {"x": place}, metric="wall_time", unit="s")
        for place, value in enumerate((0.002, 3.0, 4.0))
    ]
    assert default_spec(points).tables[0].cells[0].digits == 4


def test_every_default_table_can_be_built() -> None:
    points = [*_stream(1024), *_stream(1460), *_stream(1460, run=2), *_stream(9, test="b")]
    text = "\n".join(render_text(build(table, points)) for table in default_spec(points).tables)
    assert text.count("940.00") == 4


def test_nothing_measured_is_said() -> None:
    with pytest.raises(InputError, match="nothing was measured yet"):
        default_spec([])


@pytest.mark.parametrize(
    ("metrics", "headlines"),
    [
        (
            {"operation_rate": "op/s", "slowest_thread": "op/s", "clock": "Hz"},
            [("operation_rate", "Gop/s"), ("clock", "GHz")],
        ),
        ({"throughput": "B/s", "traffic": "B/s"}, [("throughput", "GB/s")]),
        (
            {"throughput": "B/s", "accesses": "op/s"},
            [("throughput", "GB/s"), ("accesses", "Gop/s")],
        ),
        (
            {"throughput": "B/s", "iops": "op/s", "latency_mean": "s", "latency_p50": "s"},
            [("throughput", "GB/s"), ("iops", "Gop/s"), ("latency_p50", "s")],
        ),
    ],
)
def test_what_measures_its_own_host_has_headlines_in_fitting_units(
    metrics: dict[str, str], headlines: list[tuple[str, str]]
) -> None:
    points = [
        series([3e9], {"threads": 1}, metric=name, unit=unit, engine="own", server=None)
        for name, unit in metrics.items()
    ]
    (table,) = default_spec(points).tables
    assert [(cell.metric, cell.unit) for cell in table.cells] == headlines
    assert table.axes["link"].title == "Host"


def test_a_test_that_was_skipped_as_a_whole_has_its_table_with_the_reason(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        plain, lacking = case(), case(9)
        cases = [*planned(plain), PlannedCase("theirs", lacking, 3, "iperf3 isn't on gw1")]
        run = store.begin_run(RUN, cases, METRICS)
        store.add(run, "stream", plain.key, measured(1), LAUNCH)
        series = default_series(store, [run])
        tables = [build(spec, series) for spec in default_spec(series).tables]
    assert [table.title for table in tables] == ["stream", "theirs"]
    assert [footnote.text for footnote in tables[1].footnotes] == ["skipped: iperf3 isn't on gw1"]
    assert tables[1].notes[0] == "Nothing was measured."


def test_a_test_that_failed_as_a_whole_has_its_table_with_how_often(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        plain, broken = case(), case(9)
        run = store.begin_run(RUN, [*planned(broken, test="theirs"), *planned(plain)], METRICS)
        store.add(run, "stream", plain.key, measured(1), LAUNCH)
        for number in (1, 2, 3):
            store.add(run, "theirs", broken.key, failed(number), LAUNCH)
        series = default_series(store, [run])
        tables = [build(spec, series) for spec in default_spec(series).tables]
    assert [table.title for table in tables] == ["theirs", "stream"]
    assert [footnote.text for footnote in tables[0].footnotes] == ["0 of 3 replications; 3 failed"]
    assert tables[0].notes[0] == "Nothing was measured."


def test_a_test_that_failed_as_a_whole_has_the_columns_of_its_mode(tmp_path: Path) -> None:
    engine = load_catalogue().engine("udp")
    info = {name: MetricInfo(of.unit, of.better) for name, of in engine.metrics.items()}
    with Store.open(str(tmp_path / "a.db")) as store:
        broken = replace(case(), parameters={**case().parameters, "mode": "stream"})
        run = store.begin_run(RUN, planned(broken), {"udp": info})
        store.add(run, "stream", broken.key, failed(1), LAUNCH)
        (table,) = default_spec(default_series(store, [run])).tables
    columns = {cell.metric for cell in table.cells}
    assert {"throughput", "loss_rate"} <= columns <= {of.name for of in engine.metrics_in("stream")}
    assert not any(metric.startswith("rtt_") for metric in columns)


def test_warnings_and_theoretical_values_come_from_the_store(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        store.add_peaks(run, [PEAK])
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        context = read_context(store, [store.run(run)])
        assert not context.peaks
        cells = [CellSpec(metric="throughput", relative_to="network")]
        table_spec = TableSpec(name="t", title="T", rows=["link"], cells=cells)
        assert list(read_context(store, [store.run(run)], [table_spec]).peaks[run]) == [PEAK]
        series = default_series(store, [run])
        (table,) = (build(spec, series, context=context) for spec in default_spec(series).tables)
    assert [footnote.text for footnote in table.footnotes] == [
        "1 of 3 replications; 2 not measured",
        "warning: receive buffer clamped",
    ]
