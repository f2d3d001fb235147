"""The pivot: what stands where, that a cell never mixes cases, what is said of replications."""

from __future__ import annotations

import pytest
from tests.support.report_data import series, table_spec

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.definition.definition_model import CellSpec, TableSpec
from railgauge.report.definition.model_parts import AxisSpec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Table

_THROUGHPUT = CellSpec(metric="throughput", statistic="mean", unit="Mbit/s")


def _spec(**more: object) -> TableSpec:
    defaults = {"rows": ["datagram"], "columns": ["sockbuf"], "cells": [_THROUGHPUT]}
    return table_spec(**{**defaults, **more})


def _grid(*points: tuple[int, int, float]) -> list:
    return [
        series([value * 1e6] * 10, {"datagram": datagram, "sockbuf": sockbuf})
        for datagram, sockbuf, value in points
    ]


def _texts(table: Table) -> list[list[str]]:
    return [
        [label.text for label in row.labels] + [cell.text for cell in row.cells]
        for row in table.rows
    ]


def test_cells_stand_at_their_row_and_column_and_gaps_show_as_missing() -> None:
    table = build(_spec(), _grid((1460, 102400, 2.0), (1024, 10240, 1.0)))
    assert [heading.text for heading in table.header[1]] == ["10240", "102400"]
    assert _texts(table) == [["1024", "1.00", "---"], ["1460", "---", "2.00"]]


def test_numbers_sort_by_size_and_links_by_first_appearance() -> None:
    points = [
        series([1e6], {"datagram": datagram}, link=link)
        for datagram in (40960, 1024, 4096)
        for link in ("gw→hh", "gw→dp")
    ]
    table = build(_spec(rows=["datagram", "link"], columns=[]), points)
    assert [[label.text for label in row.labels] for row in table.rows] == [
        ["1024", "gw→hh"],
        ["1024", "gw→dp"],
        ["4096", "gw→hh"],
        ["4096", "gw→dp"],
        ["40960", "gw→hh"],
        ["40960", "gw→dp"],
    ]


def test_clients_and_servers_are_axes_of_their_own() -> None:
    points = [
        series([1e6] * 10, client="gw1", server="hh1"),
        series([2e6] * 10, client="hh1", server="gw1"),
    ]
    table = build(_spec(rows=["client_host"], columns=["server_host"]), points)
    assert [heading.text for heading in table.header[1]] == ["hh1", "gw1"]
    assert _texts(table) == [["gw1", "1.00", "---"], ["hh1", "---", "2.00"]]


def test_labels_of_a_group_are_shared_by_its_rows() -> None:
    points = [series([1e6], {"datagram": 1024}, link=link) for link in ("a", "b", "c")]
    table = build(_spec(rows=["datagram", "link"], columns=[]), points)
    assert [row.labels[0].span for row in table.rows] == [3, 0, 0]
    assert [row.labels[1].span for row in table.rows] == [1, 1, 1]


def test_the_definition_may_order_an_axis() -> None:
    points = _grid((1024, 1, 1.0), (1460, 1, 1.0), (4096, 1, 1.0))
    descending = _spec(axes={"datagram": AxisSpec(sort="descending")})
    assert [row[0] for row in _texts(build(descending, points))] == ["4096", "1460", "1024"]
    first = _spec(axes={"datagram": AxisSpec(order=[1460], sort="descending")})
    assert [row[0] for row in _texts(build(first, points))] == ["1460", "4096", "1024"]


def test_labels_and_titles_are_the_definitions_own_and_values_may_be_written_with_units() -> None:
    axes = {
        "datagram": AxisSpec(title="Size", labels={"4KiB": "4KB"}),
        "sockbuf": AxisSpec(title="Buffer", labels={"10240": "small"}),
    }
    table = build(
        _spec(axes=axes, select={"datagram": ["4KiB", "1460"]}),
        _grid((4096, 10240, 1.0), (1460, 10240, 2.0), (1024, 10240, 3.0)),
        catalogue=load_catalogue(),
    )
    assert table.stub == ("Size",)
    assert [heading.text for line in table.header for heading in line] == ["Buffer", "small"]
    assert _texts(table) == [["1460", "2.00"], ["4KB", "1.00"]]


def test_truth_values_and_whole_numbers_can_be_labelled() -> None:
    points = [
        series([1e6], {"nodelay": nodelay, "tos": 8}, engine="tcp") for nodelay in (True, False)
    ]
    axes = {
        "nodelay": AxisSpec(labels={"true": "on", "false": "off"}),
        "tos": AxisSpec(labels={"8": "bulk"}),
    }
    spec = _spec(rows=["nodelay"], columns=["tos"], axes=axes)
    table = build(spec, points, catalogue=load_catalogue())
    assert _texts(table) == [["off", "1.00"], ["on", "1.00"]]
    assert table.header[1][0].text == "bulk"


def test_parameters_show_with_their_units_when_the_catalogue_knows_them() -> None:
    points = [series([1e6], {"datagram": 4096, "duration": 0.1})]
    table = build(
        _spec(rows=["datagram", "duration"], columns=[]), points, catalogue=load_catalogue()
    )
    assert [label.text for label in table.rows[0].labels] == ["4KiB", "100ms"]


def test_without_column_axes_the_metrics_are_the_columns() -> None:
    parameters = {"datagram": 64}
    points = [
        series([1e-6, 3e-6], parameters, metric="rtt_p50", unit="s"),
        series([5e-6, 5e-6], parameters, metric="rtt_p99", unit="s"),
    ]
    cells = [
        CellSpec(metric="rtt_p50", unit="µs", digits=1),
        CellSpec(metric="rtt_p50", statistic="stdev", unit="ns", digits=0, label="Spread"),
        CellSpec(metric="rtt_p99", unit="µs"),
        CellSpec(metric="rtt_p99", statistic="n"),
        CellSpec(metric="rtt_p99", statistic="cv"),
    ]
    table = build(_spec(columns=[], cells=cells), points)
    assert [(heading.text, heading.unit) for heading in table.header[0]] == [
        ("RTT p50", "µs"),
        ("Spread", "ns"),
        ("RTT p99", "µs"),
        ("Number of RTT p99", ""),
        ("CV of RTT p99", "%"),
    ]
    assert _texts(table) == [["64", "2.0", "1414", "5.00", "2", "0.00"]]


def test_several_column_axes_and_cells_nest() -> None:
    points = [
        series([1e6, 2e6], {"datagram": 1, "sockbuf": sockbuf, "tos": tos})
        for sockbuf in (10, 20)
        for tos in (0, 8)
    ]
    cells = [_THROUGHPUT, CellSpec(metric="throughput", statistic="maximum", unit="Mbit/s")]
    table = build(_spec(columns=["sockbuf", "tos"], cells=cells), points)
    assert [[(heading.text, heading.span) for heading in line] for line in table.header[:3]] == [
        [("Sockbuf / Tos", 8)],
        [("10", 4), ("20", 4)],
        [("0", 2), ("8", 2), ("0", 2), ("8", 2)],
    ]
    assert [heading.text for heading in table.header[3]] == [
        "Mean of throughput",
        "Maximum of throughput",
    ] * 4
    assert _texts(table) == [["1", *["1.33", "2.00"] * 4]]


def test_cases_that_fall_into_one_cell_are_refused_with_what_they_differ_in() -> None:
    points = [
        series([1e6], {"datagram": 1460, "sockbuf": 1, "mode": mode, "tos": tos})
        for mode, tos in (("stream", 0), ("stream", 8), ("latency", 0))
    ]
    with pytest.raises(InputError) as caught:
        build(_spec(), points)
    assert str(caught.value) == (
        "table 't': 3 cases fall into one cell (datagram 1460, sockbuf 1);"
        " they differ in mode, tos: add them to rows, columns or select"
    )


def test_a_shared_cell_is_named_by_its_values_as_the_table_shows_them() -> None:
    points = [series([1e6], {"rate": 40e6, "datagram": 1460, "tos": tos}) for tos in (0, 8)]
    spec = _spec(rows=["rate"], columns=["datagram"])
    with pytest.raises(InputError, match=r"\(rate 40Mbit/s, datagram 1460\)"):
        build(spec, points, catalogue=load_catalogue())


def test_two_runs_of_one_case_are_refused_rather_than_mixed() -> None:
    points = [series([1e6], {"datagram": 1, "sockbuf": 1}, run=run) for run in (3, 4)]
    with pytest.raises(InputError, match=r"differ in run: add it .* or report one run at a time"):
        build(_spec(), points)
    table = build(_spec(rows=["run", "datagram"]), points)
    assert [row[:2] for row in _texts(table)] == [["3", "1"], ["4", "1"]]
    assert "Runs 3 and 4 of plan fabric, on hosts gw1 and hh1." in table.notes


def test_one_case_in_two_tests_is_refused_rather_than_mixed() -> None:
    points = [series([1e6], {"datagram": 1, "sockbuf": 1}, test=test) for test in ("a", "b")]
    with pytest.raises(InputError, match="they differ in test"):
        build(_spec(), points)


def test_a_selection_that_matches_nothing_says_what_there_is() -> None:
    with pytest.raises(InputError) as caught:
        build(_spec(select={"engine": "tcp", "datagram": [64]}), _grid((1460, 1, 1.0)))
    assert str(caught.value) == (
        "table 't': no measurement has metric throughput, engine tcp, datagram 64; there is: metric"
        " throughput; engine udp; datagram 1460. Change 'select' or 'cells', or name other runs"
    )


def test_an_axis_that_no_measurement_has_is_refused() -> None:
    with pytest.raises(InputError, match="no measurement has the parameter 'sockbuff': use one of"):
        build(_spec(columns=["sockbuff"]), _grid((1460, 1, 1.0)))


def test_a_unit_of_another_dimension_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'ms' can't show the median of throughput: use one of bit/s"
    ):
        build(_spec(cells=[CellSpec(metric="throughput", unit="ms")]), _grid((1, 1, 1.0)))


def test_one_metric_in_two_units_is_refused_rather_than_mixed() -> None:
    points = [
        series([1e6], {"datagram": 1, "sockbuf": 1}),
        series([1e6], {"datagram": 2, "sockbuf": 1}, engine="ours", unit="B/s"),
    ]
    with pytest.raises(InputError, match="is in 'bit/s' for some engines and in 'B/s' for others"):
        build(_spec(), points)


def test_an_engine_without_the_parameter_shows_a_dash() -> None:
    points = [
        series([1e6], {"datagram": 64}),
        series([2e6], {"message": 64}, engine="tcp"),
    ]
    table = build(_spec(rows=["engine", "datagram"], columns=[]), points)
    assert _texts(table) == [["udp", "64", "1.00"], ["tcp", "–", "2.00"]]


def test_failed_missing_and_suspect_replications_are_marked_and_counted() -> None:
    points = [
        series([1e6] * 10, {"datagram": 1, "sockbuf": 1}),
        series([1e6] * 9, {"datagram": 2, "sockbuf": 1}, failed=1),
        series([1e6] * 10, {"datagram": 3, "sockbuf": 1}, suspect=[4, 7]),
        series([1e6] * 3, {"datagram": 4, "sockbuf": 1}, total=10),
        series([], {"datagram": 5, "sockbuf": 1}, failed=10),
        series([1e6] * 9, {"datagram": 6, "sockbuf": 1}, failed=1),
    ]
    table = build(_spec(), points)
    cells = [row.cells[0] for row in table.rows]
    assert [cell.mark for cell in cells] == ["", "a", "b", "c", "d", "a"]
    assert [(footnote.mark, footnote.text) for footnote in table.footnotes] == [
        ("a", "9 of 10 replications; 1 failed"),
        ("b", "2 of 10 replications suspect (included)"),
        ("c", "3 of 10 replications; 7 not measured"),
        ("d", "0 of 10 replications; 10 failed"),
    ]
    assert cells[4].text == "---"
    assert cells[4].failed == 10


def test_what_most_cells_share_is_a_sentence_and_letters_are_for_exceptions() -> None:
    spec = _spec()
    disturbed = [
        series([1e6] * 10, {"datagram": size, "sockbuf": 1}, suspect=[1, 2]) for size in range(1, 5)
    ]
    cells = [
        *disturbed,
        series([1e6] * 9, {"datagram": 5, "sockbuf": 1}, failed=1),
    ]
    suspicions = {(entry.run, entry.test, entry.case.key): ["foreign-cpu"] for entry in disturbed}
    short, brief, full = (
        build(spec, cells, context=RunContext(suspicions=suspicions), level=level)
        for level in ("short", "none", "all")
    )
    assert "In 4 of 5 cells other programs used a CPU." in short.notes
    assert len(short.notes) == 3
    assert [row.cells[0].mark for row in short.rows] == ["", "", "", "", "a"]
    assert [footnote.text for footnote in short.footnotes] == ["9 of 10 replications; 1 failed"]
    assert (brief.notes, brief.footnotes) == ((), ())
    note = "2 of 10 replications suspect (included): other programs used a CPU"
    assert [footnote.text for footnote in full.footnotes] == [note, short.footnotes[0].text]
    # The CSV file has it all, whatever is said.
    assert {row.cells[0].note for row in brief.rows[:4]} == {note}


def test_marks_go_on_after_z() -> None:
    points = [
        series([1e6], {"datagram": number, "sockbuf": 1}, total=number) for number in range(2, 31)
    ]
    marks = [row.cells[0].mark for row in build(_spec(), points).rows]
    assert marks[0] == "a"
    assert marks[25:] == ["z", "aa", "ab", "ac"]


def test_the_notes_say_how_many_replications_and_how_far_they_spread() -> None:
    points = [
        series([1e6, 1e6, 1.1e6], {"datagram": 1, "sockbuf": 1}),
        series([1e6, 1e6], {"datagram": 2, "sockbuf": 1}),
    ]
    table = build(_spec(notes="Firmware 2.1.\nNight shift."), points)
    # stdev / mean of the first: 0.057735 / 1.033333 = 5.587 %, rounded up.
    assert table.notes == (
        "Throughput in Mbit/s: harmonic mean of 2 to 3 replications per cell; coefficient of"
        " variation at most 5.6 %; too few for a 95 % interval of the harmonic mean, which"
        " takes 6.",
        "Run 1 of plan fabric, on hosts gw1 and hh1.",
        "Firmware 2.1.",
        "Night shift.",
    )


def test_a_ratio_has_its_spread_in_its_own_unit() -> None:
    points = [series([0.0, 0.001], {"datagram": 1, "sockbuf": 1}, metric="loss_rate", unit="")]
    table = build(_spec(cells=[CellSpec(metric="loss_rate", statistic="median", unit="%")]), points)
    assert table.notes[0] == (
        "Loss rate in %: median of 2 replications per cell; standard deviation at most 0.08"
        " percentage points; too few for a 95 % interval of the median, which takes 6."
    )


def test_runs_without_any_of_its_metrics_are_not_said_to_have_measured_nothing() -> None:
    with pytest.raises(InputError, match=r"has metric throughput; there is: nothing of these met"):
        build(_spec(), [])


def test_imported_values_are_not_called_replications() -> None:
    points = [series([1e6], {"datagram": 1, "sockbuf": 1}, client="x", server=None)]
    table = build(_spec(), points, context=RunContext(imported=[1]))
    assert table.notes == (
        "Throughput in Mbit/s: 1 imported value per cell.",
        "Imported run 1 of plan fabric.",
    )


def test_names_that_act_on_a_terminal_show_instead() -> None:
    points = [series([1e6], {"datagram": 1}, link="a\x1b[2J\u202eb", plan="p\nq")]
    table = build(_spec(rows=["link"], columns=[], title="T\u200e\n"), points)
    assert table.title == "T\\u200e\\n"
    assert table.rows[0].labels[0].text == "a\\x1b[2J\\u202eb"
    assert "p\\nq" in table.notes[1]


def test_an_empty_text_of_a_parameter_is_seen_in_its_row() -> None:
    points = [
        series([1.0], {"mode": "stream", "server_cpu": cpu, "client_cpu": "0"}) for cpu in ("0", "")
    ]
    table = build(_spec(rows=["server_cpu"], columns=[]), points, catalogue=load_catalogue())
    assert [row.labels[0].text for row in table.rows] == ["0", "(empty)"]


def test_cells_of_one_label_are_all_counted() -> None:
    cells = [
        {"metric": "throughput", "label": "Rate", "select": {"datagram": size}} for size in (1, 2)
    ]
    spec = table_spec(*cells, rows=["link"])
    table = build(spec, [series([1.0] * 6, {"datagram": 1}), series([1.0] * 2, {"datagram": 2})])
    assert table.notes[0].startswith("Median of 2 to 6 replications per cell")
