"""Report definitions: every mistake at once, at its line and column, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.report_data import definition_problems

from railgauge.base.assets import folder
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec

_GOOD = """\
railgauge_report: 1
name: report
title: A report
tables:
  - name: first
    title: The first
    select: {engine: udp, mode: stream}
    rows: [datagram, link]
    columns: [sockbuf]
    cells: [{metric: throughput, unit: Mbit/s}]
    axes: {datagram: {labels: {4KiB: 4KB}}}
"""


def test_metrics_of_the_system_logs_are_known_for_every_engine(tmp_path: Path) -> None:
    path = tmp_path / "soak.yaml"
    path.write_text(
        """\
railgauge_report: 1
name: soak
title: Soak
tables:
  - name: cost
    title: Cost
    select: {engine: tcp, soak: true}
    rows: [link]
    cells:
      - {metric: client_cpu_load_soak, unit: "%", digits: 1}
      - {metric: server_cpu_per_gigabyte, unit: s, digits: 3}
""",
        encoding="utf-8",
    )
    spec = load_spec(path, load_catalogue())
    assert [cell.unit for cell in spec.tables[0].cells] == ["%", "s"]


def test_a_good_definition_loads_with_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(_GOOD, encoding="utf-8")
    table = load_spec(path, load_catalogue()).tables[0]
    assert (table.missing, table.notes, table.columns) == ("---", "", ["sockbuf"])
    assert (table.cells[0].statistic, table.cells[0].digits) == ("median", 2)


@pytest.mark.parametrize("path", sorted(folder("reports").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_definition_is_valid(path: Path) -> None:
    assert load_spec(path, load_catalogue()).name == path.stem


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title: A report", "titel: A report", "3:1: unknown key 'titel': did you mean 'title'?"),
        ("columns: [", "colums: [", "9:5: unknown key 'colums': did you mean 'columns'?"),
        ("railgauge_report: 1", "railgauge_report: 2", "1:19: 'railgauge_report' is the number 2"),
        ("[datagram, link]", "[datagramm, link]", "8:12: unknown axis 'datagramm': did you mean"),
        ("[datagram, link]", "[]", "8:11: 'rows' is a list of 0, but one of at least 1 is wanted"),
        ("[datagram, link]", "[datagram, sockbuf]", "9:15: axis 'sockbuf' is there already"),
        ("mode: stream", "mode: steam", "7:33: axis 'mode': "),
        ("mode: stream", "mod: stream", "7:27: unknown axis 'mod'"),
        ("mode: stream", "mode: {a: b}", "7:33: 'mode': a mapping can't be a value: write text,"),
        ("{4KiB: 4KB}", "{4KiB: [4KB]}", "11:38: '4KiB': a list can't be a value: write text,"),
        ("mode: stream", "mode: []", "7:33: the list is empty: name a value to show"),
        ("metric: throughput", "metric: troughput", "10:22: unknown metric 'troughput': did you"),
        ("unit: Mbit/s", "unit: ms", "10:40: 'ms' can't show the median of throughput: use one of"),
        ("unit: Mbit/s", "statistic: avg", "10:45: 'statistic' is the text 'avg', but 'mean',"),
        ("unit: Mbit/s", "digits: 13", "10:42: 'digits' is the number 13, but a number of at most"),
        ("{4KiB: 4KB}", "{4KiBB: 4KB}", "11:32: axis 'datagram': unknown unit 'KiBB'"),
        ("axes: {datagram:", "axes: {tos:", "11:12: axis 'tos' is neither in rows nor in columns"),
        ("name: first", "name: report", "5:11: 'report' is the name of the report itself"),
        ("name: first", "name: index", "5:11: 'index' is the name of the HTML page"),
        ("name: first", "name: ../first", "5:11: 'name': '../first' can't name a file"),
    ],
)
def test_a_mistake_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in _GOOD
    problems = definition_problems(tmp_path, _GOOD.replace(old, new))
    assert any(line.startswith(problem) for line in problems), problems


_REFERENCE = """\
railgauge_report: 1
name: report
title: A report
tables:
  - name: first
    title: The first
    rows: [mode, link]
    cells:
      - {metric: throughput, unit: Gbit/s, select: {engine: tcp, mode: stream}}
      - {metric: throughput, relative_to: network, select: {engine: tcp, mode: stream}}
      - {peak: network, unit: Gbit/s}
"""


def test_a_cell_may_select_for_itself_and_show_what_is_theoretical(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(_REFERENCE, encoding="utf-8")
    cells = load_spec(path, load_catalogue()).tables[0].cells
    assert [(cell.metric, cell.relative_to, cell.peak) for cell in cells] == [
        ("throughput", "", ""),
        ("throughput", "network", ""),
        ("", "", "network"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("9:mode: stream", "mode: steam", "9:72: axis 'mode': 'steam' is not one of"),
        ("9:mode: stream", "mod: stream", "9:66: unknown axis 'mod': did you mean 'mode'?"),
        ("9:metric: throughput", "metric: thruput", "9:18: unknown metric 'thruput': did you mean"),
        ("9:metric: throughput, ", "", "9:9: the cell shows nothing: add the key 'metric', or"),
        ("10:network", "netwrk", "10:43: unknown resource 'netwrk': did you mean 'network'?"),
        ("10:network", "memory", "10:43: memory is in B/s and throughput in bit/s, which have no"),
        ("10:network", '"disk_{mod}"', "10:43: unknown axis 'mod': did you mean 'mode'?"),
        ("10:relative", "statistic: cv, relative", "10:41: the cv has no ratio to a theoretical"),
        ("10:relative", "unit: Gbit/s, relative", "10:36: 'Gbit/s' can't show a ratio: use one"),
        ("11:Gbit/s", "GB/s", "11:31: 'GB/s' can't show the theoretical network: use one of"),
        ("11:peak", "metric: rate, peak", "11:10: a cell with 'peak' shows no measurement: drop"),
        ("11:network", "netwrk", "11:16: unknown resource 'netwrk': did you mean 'network'?"),
    ],
)
def test_a_mistake_in_a_cells_own_keys_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    number, old = old.split(":", 1)
    lines = _REFERENCE.splitlines()
    assert old in lines[int(number) - 1]
    lines[int(number) - 1] = lines[int(number) - 1].replace(old, new, 1)
    problems = definition_problems(tmp_path, "\n".join(lines))
    assert any(line.startswith(problem) for line in problems), problems


def test_a_round_trip_has_no_ratio_to_a_time_of_one_way(tmp_path: Path) -> None:
    text = _REFERENCE.replace("throughput, relative_to: network", "rtt_p50, relative_to: {}")
    (problem,) = definition_problems(tmp_path, text.replace("{}", "network_latency"))
    assert problem.startswith("10:40: rtt_p50 is a time there and back, and network_latency is one")
    path = tmp_path / "r.yaml"
    path.write_text(text.replace("{}", "network_round_trip"), encoding="utf-8")
    assert load_spec(path, load_catalogue()).tables


def test_both_directions_together_have_no_ratio_to_what_a_network_carries_in_one(
    tmp_path: Path,
) -> None:
    text = _REFERENCE.replace("throughput, relative_to", "total_throughput, relative_to")
    (problem,) = definition_problems(tmp_path, text)
    assert problem.startswith("10:49: total_throughput is of both directions together, and network")


def test_without_a_selection_the_values_and_units_of_every_engine_will_do(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    for mode, unit in (("stream", "Gbit/s"), ("triad", "GB/s"), ("random_read", "MB/s")):
        text = _GOOD.replace("engine: udp, mode: stream", f"mode: {mode}").replace("Mbit/s", unit)
        path.write_text(text.replace("[sockbuf]", "[]"), encoding="utf-8")
        assert load_spec(path, load_catalogue()).tables[0].select == {"mode": mode}
    assert any(
        "'ms' can't show the median of throughput" in problem
        for problem in definition_problems(tmp_path, text.replace(unit, "ms"))
    )


def test_a_table_of_theoretical_values_only_is_refused(tmp_path: Path) -> None:
    lines = _REFERENCE.splitlines()
    text = "\n".join([*lines[:8], lines[10]])
    (problem,) = definition_problems(tmp_path, text)
    assert problem.startswith("9:7: no cell shows a measurement: add one with the key 'metric'")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = _GOOD.replace("mode: stream", "mode: steam").replace("unit: Mbit/s", "unit: s")
    assert [line.split(": ")[0] for line in definition_problems(tmp_path, text)] == [
        "7:33",
        "10:40",
    ]


def test_an_engine_of_the_plans_own_is_left_to_its_measurements(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    text = _GOOD.replace("engine: udp, mode: stream", "engine: ours")
    path.write_text(text.replace("datagram", "ring").replace("throughput", "laps"), "utf-8")
    assert load_spec(path, load_catalogue()).tables[0].cells[0].metric == "laps"


_FIGURE = """\
railgauge_report: 1
name: report
title: A report
figures:
  - name: first
    title: The first
    kind: arrival
    select: {engine: udp, mode: stream}
    each: [link]
    y: {unit: ms}
  - name: second
    title: The second
    kind: lines
    x: {axis: datagram, log: true}
    y: {metric: throughput, unit: Mbit/s}
    select: {engine: udp}
"""


def test_a_definition_of_figures_needs_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(_FIGURE, encoding="utf-8")
    spec = load_spec(path, load_catalogue())
    assert spec.tables == []
    assert (spec.figures[0].replication, spec.figures[0].y.unit) == (None, "ms")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("kind: arrival", "kind: arival", "7:11: unknown kind 'arival': did you mean 'arrival'?"),
        (
            "kind: arrival",
            "kind: pie",
            "7:11: unknown kind 'pie': known are arrival, bars, delay_histogram, delays, ecdf,",
        ),
        ("each: [link]", "each: [lnk]", "9:12: unknown axis 'lnk': did you mean 'link'?"),
        ("each: [link]", "each: [link, link]", "9:18: axis 'link' is there already"),
        ("each: [link]", "replicaton: 2", "9:5: unknown key 'replicaton': did you mean"),
        ("each: [link]", "replication: 0", "9:18: 'replication' is the number 0, but"),
        ("{unit: ms}", "{unit: Mbit/s}", "10:15: 'Mbit/s' can't show its y axis: use one of"),
        ("{unit: ms}", "{log: true}", "10:14: 'y' can't be logarithmic in a figure of kind arr"),
        (
            "{unit: ms}",
            "{metric: throughput}",
            "10:9: a figure of kind arrival chooses its y axis itself",
        ),
        ("name: second", "name: first", "11:11: 'first' is the name of another figure"),
        (
            "name: second",
            "name: first-picture",
            "11:11: 'first-picture' is the name of the picture of figure 'first'",
        ),
        ("axis: datagram, ", "", "14:8: a figure of kind lines needs the key 'axis' in 'x'"),
        ("axis: datagram", "axis: link", "14:15: 'link' is no parameter"),
        ("axis: datagram", "axis: datagrm", "14:15: unknown axis 'datagrm': did you mean"),
        ("metric: throughput", "metric: thruput", "15:17: unknown metric 'thruput': did you mean"),
        ("Mbit/s", "ms", "15:35: 'ms' can't show the median of throughput: use one of"),
        ("{engine: udp}", "{engine: udp, mode: x}", "16:33: axis 'mode': 'x' is not one of"),
    ],
)
def test_each_mistake_in_a_figure_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in _FIGURE
    problems = definition_problems(tmp_path, _FIGURE.replace(old, new, 1))
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    text = "railgauge_report: 1\nname: report\ntitle: A report\n"
    (problem,) = definition_problems(tmp_path, text)
    assert problem == "1:1: the report shows nothing: add 'tables', 'figures' or 'slow_nodes'"
