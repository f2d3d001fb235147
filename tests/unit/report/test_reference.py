"""Tables that hold our engines against other tools and against what the hosts can do in theory."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from tests.support.report_data import series, table_spec

from railgauge.base.errors import InputError
from railgauge.hosts.peaks.host_peaks import link_peak
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.document.render import render_text
from railgauge.report.formats.csvfile import render_csv
from railgauge.report.formats.tooltip import tooltip
from railgauge.report.tables.marks import Marks, Remark
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Table
from railgauge.store.records import Series

_LETTERS = "abcdefghijkl"
_OURS = {"metric": "operation_rate", "unit": "Gop/s", "label": "Ours", "select": {"engine": "cpu"}}
_THEIRS = {**_OURS, "label": "LINPACK", "select": {"engine": "linpack"}}


def _rate(
    values: Sequence[float],
    precision: str,
    engine: str = "cpu",
    client: str = "node1",
    **more: object,
) -> Series:
    return series(
        [value * 1e9 for value in values],
        {"precision": precision},
        metric="operation_rate",
        unit="op/s",
        engine=engine,
        link="machines",
        client=client,
        server=None,
        **more,
    )


def _peak(resource: str, value: float, unit: str = "op/s", host: str = "node1") -> Peak:
    return Peak(host, resource, value, unit, "declared: hosts file")


def _table(points: list, cells: list[dict], peaks: Sequence[Peak] = (), **more: object) -> Table:
    spec = table_spec(**{"rows": ["precision"], "cells": cells, **more})
    return build(spec, points, context=RunContext(peaks={1: peaks}))


def _texts(table: Table) -> list[list[str]]:
    return [
        [row.labels[0].text] + [f"{cell.text}{cell.mark}" for cell in row.cells]
        for row in table.rows
    ]


def test_the_reference_stands_in_the_row_of_what_it_is_held_against() -> None:
    points = [
        _rate([20.0] * 10, "single"),
        _rate([10.0] * 10, "double"),
        _rate([12.0] * 3, "double", "linpack"),
    ]
    table = _table(points, [_OURS, _THEIRS])
    assert _texts(table) == [["single", "20.00", "---"], ["double", "10.00", "12.00"]]
    assert [heading.text for heading in table.header[0]] == ["Ours", "LINPACK"]
    assert table.notes[0] == (
        "Median of 10 (Ours) and 3 (LINPACK) replications per cell; coefficient of variation"
        " at most 0.0 % (Ours), 0.0 % (LINPACK); 95 % interval of the median at most 0.0 %"
        " (Ours) to either side; 1 of 3 cells has too few for one (6)."
    )


def test_columns_with_as_many_replications_are_counted_together() -> None:
    points = [_rate([10.0] * 10, "double"), _rate([12.0] * 3, "double", "linpack")]
    clock = series(
        [3e9] * 10,
        {"precision": "double"},
        metric="clock",
        unit="Hz",
        engine="cpu",
        link="machines",
        client="node1",
        server=None,
    )
    cells = [_OURS, _THEIRS, {"metric": "clock", "label": "Clock", "select": {"engine": "cpu"}}]
    note = _table([*points, clock], cells).notes[0]
    assert note.startswith("Median of 10 (Ours, Clock) and 3 (LINPACK) replications per")


def _disk(engine: str, **parameters: object) -> Series:
    return series(
        [1e8], {"mode": "read", **parameters}, engine=engine, unit="B/s", server=None, link="here"
    )


def _differences(*points: Series) -> list[str]:
    cells = [
        {"metric": "throughput", "label": name, "select": {"engine": name}}
        for name in ("disk", "fio")
    ]
    spec = table_spec(*cells, rows=["mode"])
    notes = build(spec, list(points), catalogue=load_catalogue()).notes
    return [note for note in notes if "differ" in note]


def test_settings_that_differ_from_the_references_are_told() -> None:
    disk = _disk("disk", direct=True, size=2**30, duration=1.0, io="psync")
    fio = _disk("fio", direct=False, size=2**30, duration=5.0, io="psync", unlike="ours")
    assert _differences(disk, fio) == [
        "Engines beside one another differ in direct (disk true, fio false) and duration (disk 1s,"
        " fio 5s)."
    ]
    assert _differences(disk, _disk("fio", direct=True, size=2**30, duration=1.0)) == []
    note = _differences(_disk("disk", folder="/scratch"), _disk("fio", folder=""))
    assert note == ["Engines beside one another differ in folder (disk /scratch, fio (empty))."]


def test_a_duration_is_none_of_what_a_count_ends() -> None:
    counted = {"mode": "stream", "count": 250000, "duration": 5.0}
    tcp = series([1e9], counted, engine="tcp", link="here")
    timed = [
        series([1e9], {"mode": "tcp", "duration": seconds}, engine="iperf3", link="here")
        for seconds in (1.0, 5.0)
    ]
    cells = [
        {"metric": "throughput", "label": name, "select": {"engine": name}}
        for name in ("tcp", "iperf3")
    ]
    spec = table_spec(*cells, rows=["link"])
    for iperf3, seconds in zip(timed, ("1s", "5s"), strict=True):
        notes = build(spec, [tcp, iperf3], catalogue=load_catalogue()).notes
        assert (
            f"Engines beside one another differ in duration (tcp by count, iperf3 {seconds})."
            in notes
        )


def test_settings_that_the_other_engine_has_no_word_for_are_not_compared() -> None:
    # Only fio knows libaio, only rail-disk chooses by itself.
    assert _differences(_disk("disk", io="auto"), _disk("fio", io="libaio")) == []
    assert len(_differences(_disk("disk", io="io_uring"), _disk("fio", io="psync"))) == 1


def test_a_row_with_only_the_reference_has_ours_missing() -> None:
    table = _table([_rate([12.0], "double", "linpack")], [_OURS, _THEIRS])
    assert _texts(table) == [["double", "---", "12.00"]]


def test_what_a_cell_selects_takes_the_place_of_what_the_table_does() -> None:
    points = [_rate([10.0], "double"), _rate([12.0], "double", "linpack")]
    plain = {name: value for name, value in _OURS.items() if name != "select"}
    table = _table(points, [plain, _THEIRS], select={"engine": "cpu"})
    assert _texts(table) == [["double", "10.00", "12.00"]]


def test_a_clash_is_told_of_the_cell_in_which_it_is() -> None:
    points = [
        _rate([10.0], "double"),
        _rate([12.0], "double", "linpack"),
        _rate([13.0], "double", "linpack", test="again"),
    ]
    with pytest.raises(InputError, match=r"2 cases fall into one cell .* they differ in test"):
        _table(points, [_OURS, _THEIRS])


def test_cells_of_engines_that_measure_in_other_units_stand_side_by_side() -> None:
    points = [
        series([8e9], {"precision": "x"}, engine="tcp"),
        series([1e9], {"precision": "x"}, engine="mem", unit="B/s"),
    ]
    cells = [
        {"metric": "throughput", "unit": "Gbit/s", "select": {"engine": "tcp"}},
        {"metric": "throughput", "unit": "GB/s", "select": {"engine": "mem"}},
    ]
    table = _table(points, cells)
    assert _texts(table) == [["x", "8.00", "1.00"]]
    assert [heading.text for heading in table.header[0]] == ["Throughput (tcp)", "Throughput (mem)"]


def test_theoretical_values_stand_beside_with_the_share_of_them_that_was_reached() -> None:
    points = [_rate([18.0, 22.5], "single"), _rate([10.0, 10.0], "double")]
    peaks = [_peak("cpu_single", 84e9), _peak("cpu_double", 40e9)]
    cells = [
        {"metric": "operation_rate", "unit": "Gop/s"},
        {"peak": "cpu_{precision}", "unit": "Gop/s", "digits": 1},
        {"metric": "operation_rate", "relative_to": "cpu_{precision}", "digits": 1},
    ]
    table = _table(points, cells, peaks)
    assert _texts(table) == [
        ["single", "20.25", "84.0", "24.1"],
        ["double", "10.00", "40.0", "25.0"],
    ]
    assert [(heading.text, heading.unit) for heading in table.header[0]] == [
        ("Operation rate", "Gop/s"),
        ("Theoretical", "Gop/s"),
        ("Operation rate / theoretical", "%"),
    ]
    assert (
        "Theoretical: CPU single of node1 84 Gop/s (declared: hosts file); CPU double of node1"
        " 40 Gop/s (declared: hosts file)."
    ) in table.notes
    assert tooltip(table.rows[1].cells[1], table.columns[1]) == (
        "theoretical 40 Gop/s (declared: hosts file)"
    )
    assert tooltip(table.rows[1].cells[2], table.columns[2]).endswith(
        "; theoretical 40 Gop/s (declared: hosts file)"
    )
    rows = list(csv.DictReader(io.StringIO(render_csv(table), newline="")))
    assert [rows[2][name] for name in ("shown", "shown_unit", "peak", "peak_source")] == [
        "24.1",
        "%",
        "84000000000.0",
        "declared: hosts file",
    ]
    assert (rows[1]["metric"], rows[1]["statistic"]) == ("cpu_{precision}", "theoretical")


def test_a_time_is_told_as_a_multiple_of_the_shortest() -> None:
    point = series(
        [80e-9], {"block": 1}, metric="latency", unit="s", engine="mem", server=None, better="lower"
    )
    cells = [{"metric": "latency", "relative_to": "memory_latency", "digits": 1}]
    table = _table([point], cells, [_peak("memory_latency", 16e-9, "s", "gw1")], rows=["block"])
    assert _texts(table) == [["1", "5.0"]]
    assert table.header[0][0].unit == "×"


def test_without_a_theoretical_value_the_ratio_is_missing_and_a_footnote_says_why() -> None:
    points = [_rate([20.0], "single"), _rate([10.0], "double")]
    cells = [
        {"metric": "operation_rate", "unit": "Gop/s"},
        {"peak": "cpu_{precision}"},
        {"metric": "operation_rate", "relative_to": "cpu_{precision}"},
    ]
    table = _table(points, cells, [_peak("cpu_double", 40e9)])
    assert _texts(table) == [
        ["single", "20.00", "---a", "---a"],
        ["double", "10.00", "40000000000.00", "25.00"],
    ]
    assert [footnote.text for footnote in table.footnotes] == [
        "no theoretical value of CPU single is known of node1"
    ]


def test_what_nobody_could_declare_is_not_asked_for() -> None:
    point = series([1e8], {"mode": "reread"}, engine="iozone", unit="B/s", server=None)
    cells = [{"metric": "throughput", "relative_to": "disk_{mode}"}]
    table = _table([point], cells, rows=["mode"])
    assert [footnote.text for footnote in table.footnotes] == [
        "no theoretical value: there is no resource disk_reread"
    ]


def test_the_footnote_says_why_none_is_known_and_how_to_tell_it() -> None:
    cell = {"metric": "operation_rate", "relative_to": "cpu_{precision}"}
    spec = table_spec(cell, rows=["precision"])
    context = RunContext(facts={1: {"node1": {"cpu": "Some CPU"}}})
    (footnote,) = build(spec, [_rate([1.0], "int16")], context=context).footnotes
    assert footnote.text == (
        "no theoretical value of CPU int16 is known of node1: no fact says it:"
        " declare it as 'peaks: {cpu_int16: …}' in the hosts file"
    )


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_nothing_is_held_against_a_theoretical_value_that_is_none(value: float) -> None:
    cells = [{"metric": "operation_rate", "relative_to": "cpu_double"}]
    table = _table([_rate([10.0], "double")], cells, [_peak("cpu_double", value)])
    assert _texts(table) == [["double", "---a"]]
    assert table.footnotes[0].text == f"no theoretical value: CPU double is {value:g}"


def test_values_better_than_the_theoretical_one_are_remarked_upon() -> None:
    cells = [{"metric": "operation_rate", "relative_to": "cpu_double"}]
    table = _table([_rate([39.0, 41.0], "double")], cells, [_peak("cpu_double", 40e9)])
    assert _texts(table) == [["double", "100.00a"]]
    assert table.footnotes[0].text == "some values are better than the theoretical one"


def test_a_peak_in_another_unit_is_refused() -> None:
    cells = [{"metric": "operation_rate", "relative_to": "memory"}]
    with pytest.raises(InputError, match="operation_rate is in 'op/s' and memory in 'B/s'"):
        _table([_rate([10.0], "double")], cells, [_peak("memory", 1e9, "B/s")])


def _link(ends: Sequence[Peak]) -> str:
    point = series([5e9], {"precision": "x"}, engine="tcp")
    cells = [{"metric": "throughput", "relative_to": "network", "digits": 0}]
    (row,) = _texts(_table([point], cells, ends))
    return row[1]


def test_a_link_is_held_against_its_slower_end() -> None:
    fast, slow = (
        _peak("network", rate, "bit/s", host) for rate, host in ((25e9, "gw1"), (1e10, "hh1"))
    )
    assert _link([fast, slow]) == "50"
    assert _link([fast]) == "---a"


def test_what_several_pairs_of_hosts_carry_is_no_share_of_one_hosts_network() -> None:
    hosts = ("node1", "node2", "node3", "node4")
    peaks = [_peak("network", 1e10, "bit/s", host) for host in hosts]
    cells = [{"metric": "throughput", "relative_to": "network", "digits": 0}]
    # Two pairs, each at half of what its hosts can do.
    of_group = [
        series(
            [1e10], {"precision": "x"}, engine="mpi", client=hosts[0], server=None, members=names
        )
        for names in (hosts, hosts[:2])
    ]
    table = _table([of_group[0]], cells, peaks)
    assert _texts(table) == [["x", "---a"]]
    assert table.footnotes[0].text == "no theoretical value: network is of one host, not of 4"
    assert _texts(_table([of_group[1]], cells, peaks)) == [["x", "100"]]


def test_a_rate_known_of_the_link_itself_is_what_it_is_held_against() -> None:
    ends = [_peak("network", 1e10, "bit/s", host) for host in ("gw1", "hh1")]
    assert _link([*ends, link_peak("gw→hh", 5e9)]) == "100"


def test_a_host_named_as_the_link_is_still_one_of_its_ends() -> None:
    # Its own peak is not the link's.
    peaks = [_peak("network", 1e10, "bit/s", "gw1"), _peak("network", 2.5e10, "bit/s", "hh1")]
    point = series([5e9], {"precision": "x"}, engine="tcp", link="hh1")
    cells = [{"metric": "throughput", "relative_to": "network", "digits": 0}]
    assert _texts(_table([point], cells, peaks)) == [["x", "50"]]
    assert _texts(_table([point], cells, [*peaks, link_peak("hh1", 5e9)])) == [["x", "100"]]


def test_what_a_host_sends_to_itself_is_not_held_against_the_interface_that_was_found() -> None:
    point = series([5e9], {"precision": "x"}, engine="tcp", client="gw1", server="gw1")
    cells = [{"metric": "throughput", "relative_to": "network", "digits": 0}]
    peak = Peak("gw1", "network", 1e9, "bit/s", "found: 1000 Mbit/s of eth0 (sysfs)")
    table = _table([point], cells, [peak])
    assert _texts(table) == [["x", "---a"]]
    assert "doesn't leave by the interface" in table.footnotes[0].text
    # Its owner may well have something in mind.
    assert _texts(_table([point], cells, [_peak("network", 1e10, "bit/s", "gw1")])) == [["x", "50"]]


def test_a_resource_of_one_host_says_nothing_of_a_link() -> None:
    point = series([5e9], {"precision": "x"}, engine="mpi", metric="operation_rate", unit="op/s")
    cells = [{"metric": "operation_rate", "relative_to": "cpu_double"}]
    table = _table([point], cells, [_peak("cpu_double", 1e10, host="gw1")])
    assert table.footnotes[0].text == ("no theoretical value: CPU double is of one host, not of 2")


def test_what_a_group_computes_is_held_against_all_its_hosts_together() -> None:
    point = _rate([60.0], "double", members=("node1", "node2"))
    peaks = [_peak("cpu_double", 40e9), _peak("cpu_double", 80e9, host="node2")]
    cells = [{"metric": "operation_rate", "relative_to": "cpu_double", "digits": 0}]
    assert _texts(_table([point], cells, peaks)) == [["double", "50"]]


def test_hosts_with_other_theoretical_values_in_one_row_are_told_apart_first() -> None:
    points = [_rate([1.0], "double"), _rate([2.0], "double", "linpack", client="node2")]
    peaks = [_peak("cpu_double", 40e9), _peak("cpu_double", 80e9, host="node2")]
    values = r"different theoretical values of cpu_double \(40\.00 Gop/s and 80\.00 Gop/s\)"
    with pytest.raises(InputError, match=values):
        _table(points, [_OURS, _THEIRS, {"peak": "cpu_double"}], peaks)
    own = {"peak": "cpu_double", "unit": "Gop/s", "digits": 0, "select": {"engine": "linpack"}}
    assert _texts(_table(points, [_OURS, _THEIRS, own], peaks)) == [
        ["double", "1.00", "2.00", "80"]
    ]


def test_warnings_of_the_launches_are_footnotes_that_equal_ones_share() -> None:
    points = [_rate([1.0], name) for name in ("single", "double", "int16")]
    warnings = {
        (1, "stream", points[0].case.key): ["client: too small"],
        (1, "stream", points[1].case.key): ["client: too small", "client: no huge pages"],
    }
    spec = table_spec({**_OURS, "select": {}}, rows=["precision"])
    table = build(spec, points, context=RunContext(warnings=warnings))
    assert _texts(table) == [["single", "1.00a"], ["double", "1.00a,b"], ["int16", "1.00"]]
    assert [footnote.text for footnote in table.footnotes] == [
        "warning: too small",
        "warning: no huge pages",
    ]
    assert "1.00 a,b)" in render_text(table)


def test_of_many_warnings_the_first_are_told_and_the_rest_counted_on_the_csv_file() -> None:
    points = [_rate([1.0], f"p{number:02}") for number in range(12)]
    warnings = {
        (1, "stream", point.case.key): [f"client: of {_LETTERS[number]}"]
        for number, point in enumerate(points)
    }
    spec = table_spec({**_OURS, "select": {}}, rows=["precision"])
    table = build(spec, points, context=RunContext(warnings=warnings))
    assert [row.cells[0].mark for row in table.rows] == [*"abcdefgh", *"iiii"]
    assert table.footnotes[-1].text == (
        "a warning of another kind: the CSV file has it in the column note"
    )
    assert table.rows[11].cells[0].note == "warning: of l"


def test_warnings_that_differ_in_figures_only_share_a_footnote() -> None:
    points = [_rate([1.0], f"p{number:02}") for number in range(12)]
    warnings = {
        (1, "stream", point.case.key): [f"client: {2**i}KiB of 480MiB", "client: 4 on 2 CPUs"]
        for i, point in enumerate(points)
    }
    spec = table_spec({**_OURS, "select": {}}, rows=["precision"])
    table = build(spec, points, context=RunContext(warnings=warnings))
    assert {row.cells[0].mark for row in table.rows} == {"a"}
    assert [footnote.text for footnote in table.footnotes] == ["warning: … of 480MiB"]
    assert table.rows[3].cells[0].note == "warning: 8KiB of 480MiB; warning: 4 on 2 CPUs"


def _warned(points: Sequence[Series], **more: object) -> Table:
    """Return the table of points with a warning each, the first of which has another one, too."""
    warnings = {(1, "stream", point.case.key): ["client: of all"] for point in points}
    warnings[1, "stream", points[0].case.key].append("client: of one")
    spec = table_spec({**_OURS, "select": {}}, rows=["precision"], **more)
    return build(spec, points, context=RunContext(warnings=warnings))


def test_what_is_said_of_every_number_is_a_sentence_and_no_mark() -> None:
    points = [_rate([1.0], f"p{number}") for number in range(4)]
    table = _warned(points)
    assert "In all cells: warning: of all." in table.notes
    assert [row.cells[0].mark for row in table.rows] == ["a", "", "", ""]
    assert [footnote.text for footnote in table.footnotes] == ["warning: of one"]
    assert table.rows[1].cells[0].note == "warning: of all", "the CSV file has it of each cell"
    assert {row.cells[0].mark for row in _warned(points[:3]).rows} == {"a,b", "a"}


def test_cells_without_a_number_share_nothing_but_what_they_have_with_all_numbers() -> None:
    points = [_rate([1.0], f"p{number}") for number in range(4)]
    table = _warned([*points, _rate([], "p9", skipped="no dgemm")])
    assert "In all cells with a number: warning: of all." in table.notes
    assert [row.cells[0].mark for row in table.rows] == ["a", "", "", "", "b"]


def test_what_the_author_wrote_is_marked_wherever_it_was_written() -> None:
    marks = Marks(shared=["of all"])
    assert marks.of([Remark("of all"), Remark("of all", wrote=True)]) == "a"


def test_two_groups_of_values_are_told_where_their_mean_stands() -> None:
    values = [50.0, 50.2, 50.1, 50.3, 50.1, 49.9, 81.0, 80.8, 81.2, 81.1]
    point = series([value * 1e9 for value in values], {"size": 1}, unit="B/s", engine="mem")
    cells = [
        {"metric": "throughput", "unit": "GB/s"},
        {"metric": "throughput", "relative_to": "network"},
    ]
    table = _table([point], cells, rows=["size"])
    assert table.rows[0].cells[0].mark == "a"
    # The second cell is marked for the same, and for having no theoretical value.
    assert table.rows[0].cells[1].mark == "a,b"
    assert table.footnotes[0].text == (
        "values fall into two groups: 6 around 50.1, 4 around 81.0 GB/s:"
        " no single number stands for both"
    )


def test_counts_and_shares_are_not_split_into_groups() -> None:
    point = series([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], {"size": 1}, metric="retransmits", unit="")
    assert _table([point], [{"metric": "retransmits"}], rows=["size"]).footnotes == ()


def test_a_skipped_case_says_why_and_looks_unlike_one_never_measured() -> None:
    points = [
        _rate([], "single", total=3, skipped="linpack isn't on node1"),
        _rate([], "double", total=3),
    ]
    table = _table(points, [{**_OURS, "select": {}}])
    assert _texts(table) == [["single", "---a"], ["double", "---b"]]
    assert [footnote.text for footnote in table.footnotes] == [
        "skipped: linpack isn't on node1",
        "0 of 3 replications; 3 not measured",
    ]
