"""Cells that show what system logs counted, and tables with a row for each replication."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.log_samples import system_log
from tests.support.report_data import definition_problems, table_spec

from railgauge.base.errors import InputError
from railgauge.base.systemlog import Suspicion, SystemLog
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table
from railgauge.report.tables.table_series import TableSeries, stored_metrics
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

_RUN = NewRun("fabric", "text", "/home/me", "", False, 7, "ctl", "0.1.0", "ab12", {})


def _case(datagram: int = 1460, server: str = "hh1") -> Case:
    parameters = {"mode": "stream", "datagram": datagram}
    key = case_key("udp", f"gw1→{server}", "gw1", server, parameters)
    return Case(key, "udp", f"gw1→{server}", "gw1", server, parameters)


def _measured(
    store: Store,
    outcomes: Sequence[Outcome],
    *,
    case: Case | None = None,
    idle: Sequence[SystemLog] = (),
    facts: dict[str, str] | None = None,
) -> int:
    case = case or _case()
    planned = [PlannedCase("stream", case, len(outcomes))]
    metrics = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    run = store.begin_run(_RUN, planned, metrics)
    if facts:
        store.add_facts(run, case.client, facts)
    for outcome in outcomes:
        store.add(run, "stream", case.key, outcome, Launch(1.0))
    store.add_logs(run, idle)
    store.finish_run(run, "complete")
    return run


def _outcome(number: int, *logs: SystemLog, **more: Any) -> Outcome:
    return Outcome(number, 1.0, {"throughput": 1e6 * number}, logs=logs, **more)


def _table(store: Store, runs: Sequence[int], **spec: object) -> Table:
    table = table_spec(**{"rows": ["link"], **spec})
    stored = [store.run(run) for run in runs]
    series = store.series(runs, stored_metrics([table]))
    catalogue = load_catalogue()
    table_series = TableSeries(store, stored, series, catalogue)
    return build(table, table_series.of(table), catalogue=catalogue)


def _rows(table: Table) -> list[list[str]]:
    """Return each row as its key and what its cells show."""
    return [[*map(str, row.key), *(cell.text for cell in row.cells)] for row in table.rows]


def test_each_replication_has_a_row_and_a_failed_one_is_told(store: Store) -> None:
    failed = Outcome(2, 1.0, {}, status="failed", error_code="timeout", error_message="late")
    doubtful = (Suspicion("steal", "gw1", "the hypervisor took 3 %"),)
    suspect = replace(_outcome(3), status="suspect", suspicions=doubtful)
    run = _measured(store, [_outcome(1), failed, suspect])
    table = _table(
        store,
        [run],
        rows=["replication"],
        cells=[{"metric": "throughput", "unit": "Mbit/s", "digits": 0}],
    )
    assert _rows(table) == [["1", "1"], ["2", "---"], ["3", "3"]]
    assert [bool(row.cells[0].mark) for row in table.rows] == [False, True, True]
    assert [note.text for note in table.footnotes] == [
        "0 of 1 replication; 1 failed",
        "1 of 1 replication suspect (included)",
    ]


def test_a_single_replication_may_be_chosen_and_several_need_an_axis(store: Store) -> None:
    run = _measured(store, [_outcome(i, system_log(stat__interrupts=i)) for i in (1, 2, 3)])
    cells = [{"metric": "throughput", "unit": "Mbit/s", "digits": 0}]
    cells += [{"metric": "client/stat/interrupts", "digits": 0}]
    table = _table(store, [run], cells=cells, select={"replication": 2})
    assert _rows(table) == [["gw1→hh1", "2", "2"]]
    with pytest.raises(InputError, match="differ in replication"):
        _table(store, [run], cells=cells, select={"replication": [1, 2]})


def test_counts_of_replications_have_statistics_like_any_metric(store: Store) -> None:
    logs = [system_log(interface__eth0__tx_packets=packets) for packets in (100, 300, 200)]
    run = _measured(store, [_outcome(i, log) for i, log in enumerate(logs, 1)])
    cell = {"metric": "client/interface/eth0/tx_packets", "digits": 0}
    table = _table(
        store,
        [run],
        cells=[{**cell, "statistic": statistic} for statistic in ("median", "maximum", "n")],
    )
    assert _rows(table) == [["gw1→hh1", "200", "300", "3"]]


@pytest.mark.parametrize(
    ("quantity", "statistic"),
    [
        ("interface/eth0/tx_packets", "arithmetic_mean"),
        # What is counted is a count, however it is called.
        ("stat/interrupts", "arithmetic_mean"),
        ("pages/in_out", "arithmetic_mean"),
        ("stat/interrupts/s", "harmonic_mean"),
        ("cpu/all/load", "mean"),
    ],
)
def test_counters_have_an_arithmetic_mean_and_shares_none(
    store: Store, quantity: str, statistic: str
) -> None:
    log = system_log(interface__eth0__tx_packets=100, stat__interrupts=5, cpu__all__user=7)
    run = _measured(store, [_outcome(1, log), _outcome(2, log)])
    cell = {"metric": f"client/{quantity}", "statistic": "mean"}
    (column,) = _table(store, [run], cells=[cell]).columns
    assert column.statistic == statistic


def test_a_failed_replications_counts_are_no_part_of_a_statistic(store: Store) -> None:
    failed = Outcome(
        2,
        1.0,
        {},
        status="failed",
        error_code="timeout",
        error_message="late",
        logs=(system_log(stat__interrupts=7),),
    )
    run = _measured(store, [_outcome(1, system_log(stat__interrupts=100)), failed])
    cell = {"metric": "client/stat/interrupts", "digits": 0}
    table = _table(
        store,
        [run],
        cells=[{**cell, "statistic": statistic} for statistic in ("maximum", "minimum", "n")],
    )
    assert _rows(table) == [["gw1→hh1", "100", "100", "1"]]
    assert [note.text for note in table.footnotes] == ["1 of 2 replications; 1 failed"]


def test_counts_and_single_replications_may_be_held_against_what_is_not_shown(
    store: Store,
) -> None:
    outcomes = [_outcome(i, system_log(stat__interrupts=10 * i)) for i in (1, 2)]
    small = _measured(store, outcomes, case=_case(64))
    more = [replace(outcome, metrics={"throughput": 5e6}) for outcome in outcomes]
    large = _measured(store, more)
    reference = {"against": {"run": small}, "digits": 1}
    table = _table(
        store,
        [small, large],
        rows=["replication"],
        select={"run": large},
        cells=[
            {"metric": "throughput", **reference},
            {"metric": "client/stat/interrupts", **reference},
        ],
    )
    assert _rows(table) == [["1", "5.0", "1.0"], ["2", "2.5", "1.0"]]


def test_a_replication_without_a_log_is_told(store: Store) -> None:
    run = _measured(store, [_outcome(1, system_log(stat__interrupts=100)), _outcome(2)])
    table = _table(store, [run], cells=[{"metric": "client/stat/interrupts", "digits": 0}])
    assert _rows(table) == [["gw1→hh1", "100"]]
    assert [note.text for note in table.footnotes] == ["1 of 2 replications; 1 not measured"]


def test_each_side_has_its_own_hosts_log(store: Store) -> None:
    logs = system_log("gw1", stat__interrupts=10), system_log("hh1", stat__interrupts=20)
    run = _measured(store, [_outcome(1, *logs)])
    cells = [{"metric": f"{side}/stat/interrupts", "digits": 0} for side in ("client", "server")]
    assert _rows(_table(store, [run], cells=cells)) == [["gw1→hh1", "10", "20"]]


def test_a_counter_that_moved_now_and_then_is_0_where_it_did_not(store: Store) -> None:
    logs = [system_log(protocol__Udp__RcvbufErrors=5), system_log()]
    run = _measured(store, [_outcome(i, log) for i, log in enumerate(logs, 1)])
    cells = [{"metric": "client/protocol/Udp/RcvbufErrors", "digits": 0}]
    table = _table(store, [run], rows=["replication"], cells=cells)
    assert _rows(table) == [["1", "5"], ["2", "0"]]


def test_a_counter_that_no_log_tells_is_missing_not_0(store: Store) -> None:
    run = _measured(store, [_outcome(1, system_log())])
    with pytest.raises(InputError, match="no measurement has metric client/protocol/Udp/Misspelt"):
        _table(store, [run], cells=[{"metric": "client/protocol/Udp/Misspelt"}])
    # Of these every kernel keeps account.
    cells = [{"metric": "client/interface/eth0/rx_errors", "digits": 0}]
    assert _rows(_table(store, [run], cells=cells)) == [["gw1→hh1", "0"]]


def test_a_gauge_that_a_log_lacks_is_missing_not_0(store: Store) -> None:
    bare = replace(system_log(), gauges={})
    run = _measured(store, [_outcome(1, system_log()), _outcome(2, bare)])
    cells = [{"metric": "client/frequency/0", "unit": "GHz", "digits": 1}]
    cells += [{"metric": "client/stat/interrupts", "digits": 0}]
    table = _table(store, [run], rows=["replication"], cells=cells)
    assert _rows(table) == [["1", "2.6", "20000"], ["2", "---", "20000"]]


def test_a_count_per_second_is_by_the_logs_own_time(store: Store) -> None:
    log = system_log(elapsed=4.0, stat__interrupts=1000, interface__eth0__rx_bytes=8_000_000)
    run = _measured(store, [_outcome(1, log)])
    cells = [
        {"metric": "client/stat/interrupts/s", "unit": "1/s", "digits": 0},
        {"metric": "client/interface/eth0/rx_bytes/s", "unit": "MB/s", "digits": 0},
    ]
    assert _rows(_table(store, [run], cells=cells)) == [["gw1→hh1", "250", "2"]]


def test_nobody_knows_a_rate_of_a_stretch_of_unknown_length(store: Store) -> None:
    log = replace(system_log(), elapsed=0.0)
    run = _measured(store, [_outcome(1, system_log()), _outcome(2, log)])
    cells = [{"metric": "client/stat/interrupts/s"}, {"metric": "client/stat/interrupts"}]
    table = _table(store, [run], rows=["replication"], cells=cells)
    assert [row[1] == "---" for row in _rows(table)] == [False, True]


def test_the_busiest_interface_is_the_one_with_most_bytes(store: Store) -> None:
    log = system_log(
        interface__ib0__tx_bytes=10**12, interface__ib0__tx_packets=77, interface__ib0__rx_bytes=1
    )
    run = _measured(store, [_outcome(1, log)])
    cells = [{"metric": "client/busiest/tx_packets", "digits": 0}]
    assert _rows(_table(store, [run], cells=cells)) == [["gw1→hh1", "77"]]


def test_names_in_braces_are_axes(store: Store) -> None:
    run = _measured(store, [_outcome(1, system_log(cpus=12))])
    cells = [{"metric": "client/cpu/{cpu}/load", "unit": "%", "digits": 0}]
    table = _table(store, [run], rows=["cpu"], cells=cells, axes={"cpu": {"title": "CPU"}})
    assert [row.key[0] for row in table.rows] == ["all", *range(12)]
    subset = _table(store, [run], rows=["cpu"], cells=cells, select={"cpu": [9, 10]})
    assert _rows(subset) == [["9", "50"], ["10", "50"]]
    counter_cells = [{"metric": "client/interface/{interface}/{counter}", "digits": 0}]
    layout = {"rows": ["interface"], "columns": ["counter"], "cells": counter_cells}
    selection = {"interface": "lo", "counter": ["rx_packets", "rx_errors"]}
    (row,) = _table(store, [run], select=selection, **layout).rows
    assert {cell.text for cell in row.cells} == {"12", "0"}
    with pytest.raises(InputError, match="is in 'B' for some"):
        _table(store, [run], **layout)


def test_cpu_shares_are_of_its_own_time_and_soakers_count_as_idle(store: Store) -> None:
    counts = {"cpu/0/user": 10, "cpu/0/softirq": 20, "cpu/0/nice": 50, "cpu/0/idle": 20}
    log = replace(system_log(), counts=counts)
    soaked = replace(system_log(soak=True), counts=counts)
    run = _measured(store, [_outcome(1, log), _outcome(2, soaked)])
    cells = [
        {"metric": f"client/cpu/0/{kind}", "unit": "%", "digits": 0}
        for kind in ("load", "user", "kernel", "idle")
    ]
    table = _table(store, [run], rows=["replication"], cells=cells)
    assert _rows(table) == [["1", "80", "10", "20", "20"], ["2", "30", "10", "20", "20"]]


def test_idle_stretches_stand_around_the_replications(store: Store) -> None:
    around = [
        replace(system_log(host, stat__interrupts=count), phase=phase)
        for phase, count in (("before", 1), ("after", 2))
        for host in ("gw1", "hh1")
    ]
    run = _measured(
        store, [_outcome(i, system_log(stat__interrupts=100)) for i in range(1, 12)], idle=around
    )
    cells = [{"metric": "client/stat/interrupts", "digits": 0}]
    table = _table(store, [run], rows=["replication"], cells=cells)
    assert [row.key[0] for row in table.rows] == ["before", *range(1, 12), "after"]
    assert [table.rows[i].cells[0].text for i in (0, 1, -1)] == ["1", "100", "2"]
    # Beside what was measured there is no room for them, nor in a statistic.
    beside = [*cells, {"metric": "throughput"}]
    table = _table(store, [run], rows=["replication"], cells=beside)
    assert [row.key[0] for row in table.rows] == [*range(1, 12)]
    (row,) = _table(store, [run], cells=[{**cells[0], "statistic": "minimum"}]).rows
    assert row.cells[0].text == "100"


def test_a_cards_interrupts_are_found_by_their_names_and_a_virtual_one_has_none(
    store: Store,
) -> None:
    log = system_log()
    log = replace(log, labels={"interrupt/24": "eth0-TxRx-0", "interrupt/LOC": "timer"})
    log = replace(log, counts={**log.counts, "interface/veth1/tx_packets": 5})
    run = _measured(store, [_outcome(1, log)], facts={"nic.veth1.mtu": "1500"})
    cells = [{"metric": "client/interface/{interface}/interrupts/{cpu}", "digits": 0}]
    table = _table(store, [run], rows=["interface"], columns=["cpu"], cells=cells)
    assert sorted(_rows(table)) == [["eth0", "9000", "0"], ["lo", "0", "0"], ["veth1", "0", "0"]]


def test_a_name_of_an_interface_may_be_anything(store: Store) -> None:
    hostile = "<script>%_\\&\"'"
    log = system_log()
    log = replace(log, counts={f"interface/{hostile}/rx_packets": 3})
    run = _measured(store, [_outcome(1, log)])
    cells = [{"metric": "client/interface/{interface}/rx_packets", "digits": 0}]
    table = _table(store, [run], rows=["interface"], cells=cells)
    assert [row.labels[0].text for row in table.rows] == [hostile]


def test_a_case_without_logs_has_a_row_that_says_so(store: Store) -> None:
    runs = [
        _measured(store, [_outcome(1, system_log())]),
        _measured(store, [_outcome(1)], case=_case(4096)),
    ]
    cells = [{"metric": "throughput", "unit": "Mbit/s", "digits": 0}]
    cells += [{"metric": "client/stat/interrupts", "digits": 0}]
    table = _table(store, runs, rows=["datagram"], cells=cells)
    assert _rows(table) == [["1460", "1", "20000"], ["4096", "1", "---"]]


def test_a_number_is_what_its_log_says_exactly(store: Store) -> None:
    largest = 2**62 + 1
    run = _measured(store, [_outcome(1, system_log(interface__eth0__rx_bytes=largest))])
    cells = [{"metric": "client/interface/eth0/rx_bytes", "unit": "B", "digits": 0}]
    (row,) = _table(store, [run], cells=cells).rows
    assert row.cells[0].summary is not None
    assert math.isclose(row.cells[0].summary.median, largest)


def _problems(tmp_path: Path, cell: str, rows: str = "link") -> list[str]:
    text = (
        "railgauge_report: 1\nname: r\ntitle: R\ntables:\n"
        f"  - {{name: t, title: T, select: {{engine: udp}}, rows: [{rows}], cells: [{cell}]}}\n"
    )
    return [problem.split(": ", 1)[1] for problem in definition_problems(tmp_path, text)]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("{metric: client/}", "'client/' names no system log: write client/stat/interrupts or"),
        ("{metric: sender/stat/x}", "'sender/stat/x' names no system log: write client/stat/x"),
        ("{metric: 'client/cpu/{link}/user'}", "'link' is another axis already"),
        ("{metric: 'client/cpu/{datagram}/user'}", "'datagram' is another axis already"),
        ("{metric: 'client/cpu/{replication}/user'}", "'replication' is another axis already"),
        ("{metric: 'client/cpu/{9a}/user'}", "in braces stands the name of an axis"),
        ("{metric: 'client/cpu/{a-b}/user'}", "in braces stands the name of an axis"),
        ("{metric: client/stat/x, relative_to: network}", "has no theoretical value"),
        ("{metric: client/cpu/0/load, unit: GHz}", "'GHz' can't show the median of client/cpu/0"),
        ("{metric: client/stat/x/s, unit: '%'}", "'%' can't show the median of client/stat/x/s"),
        ("{metric: throughput, select: {interface: lo}}", "unknown axis 'interface'"),
    ],
)
def test_mistakes_in_a_logs_cell_are_told(tmp_path: Path, cell: str, message: str) -> None:
    (problem,) = _problems(tmp_path, cell)
    assert message in problem


def test_axes_of_one_cell_are_known_to_its_table(tmp_path: Path) -> None:
    cell = "{metric: 'client/cpu/{cpu}/load', select: {cpu: 1}, unit: '%'}"
    assert _problems(tmp_path, f"{cell}, {{metric: none}}", "cpu, replication")[0].startswith(
        "unknown metric 'none'"
    )
