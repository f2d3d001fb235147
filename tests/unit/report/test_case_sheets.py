"""The tables of a case's page: what each host's kernel counted, CPU by CPU and so on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.log_samples import system_log

from railgauge.base.systemlog import SoakLoad, SystemLog
from railgauge.report.pages.case.counter_sheets import (
    Counters,
    fabric_sheet,
    interface_sheet,
    interrupt_sheets,
    machine_sheet,
    protocol_sheet,
    trouble_sheet,
)
from railgauge.report.pages.case.cpus import cpu_sheet
from railgauge.report.pages.case.sheet import Sheet, count, share, value


def _table(sheet: Sheet | None) -> dict[str, dict[str, str]]:
    assert sheet is not None
    return {row.heading: dict(zip(sheet.columns[1:], row.cells, strict=True)) for row in sheet.rows}


def _bare(counts: dict[str, int], **more: object) -> Counters:
    log = SystemLog("a", "replication", 0.0, 5.0, 100, counts, {})
    return Counters(replace(log, **more))  # type: ignore[arg-type]


def test_each_cpus_time_is_shared_among_its_kinds() -> None:
    table = _table(cpu_sheet(Counters(system_log(busy=0.5))))
    assert list(table) == ["all", "0", "1"]
    expected = {"busy": "50.0", "user": "0.0", "system": "40.0", "softirq": "10.0", "GHz": "4.20"}
    assert table["1"] == expected
    assert table["all"] == {**expected, "GHz": ""}


def test_kinds_of_time_that_no_cpu_had_have_no_column_and_others_do() -> None:
    log = system_log(cpu__all__steal=20, cpu__0__steal=20)
    table = _table(cpu_sheet(Counters(log)))
    assert table["0"]["steal"] == "3.8"
    assert table["1"]["steal"] == "0.0"
    assert "nice" not in table["0"]


def test_guests_time_is_not_counted_twice() -> None:
    table = _table(cpu_sheet(_bare({"cpu/0/user": 400, "cpu/0/guest": 400, "cpu/0/idle": 100})))
    assert table["0"]["busy"] == "80.0"


def test_a_cpu_of_whose_time_a_part_is_missing_has_no_shares() -> None:
    sheet = cpu_sheet(_bare({"cpu/0/user": 100, "cpu/1/user": 100, "cpu/1/idle": 400}))
    table = _table(sheet)
    assert table["0"]["busy"] == "–"
    assert table["1"]["busy"] == "20.0"
    assert sheet is not None
    assert sheet.rows[0].bar == ()
    assert any("don't add up" in note for note in sheet.notes)


def test_the_pieces_of_a_bar_are_as_wide_as_their_shares() -> None:
    sheet = cpu_sheet(
        _bare({"cpu/0/user": 50, "cpu/0/nice": 50, "cpu/0/irq": 25, "cpu/0/idle": 375})
    )
    assert sheet is not None
    assert sheet.rows[0].bar == (("user", 20.0), ("irq", 5.0))


def test_what_soakers_lost_stands_beside_the_kernels_ticks() -> None:
    soak = (SoakLoad(0, 0.62, 0.6, 0.05), SoakLoad(1, 0.02, 0.02, 0.0))
    table = _table(cpu_sheet(Counters(replace(system_log(), soak=soak))))
    assert [table["0"][name] for name in ("by soak", "lost", "slowdown")] == ["62.0", "60.0", "5.0"]
    assert table["all"]["by soak"] == "32.0"


def test_soakers_keep_no_cpu_busy() -> None:
    soak = (SoakLoad(0, 0.2, 0.2, 0.0),)
    counts = {"cpu/0/user": 75, "cpu/0/system": 25, "cpu/0/nice": 390, "cpu/0/idle": 10}
    sheet = cpu_sheet(_bare(counts, soak=soak))
    assert _table(sheet)["0"]["busy"] == "20.0"
    assert sheet is not None
    assert sheet.rows[0].bar == (("user", 15.0), ("system", 5.0))


def test_a_short_replication_says_how_coarse_its_shares_are() -> None:
    sheet = cpu_sheet(Counters(system_log(elapsed=0.5)))
    assert sheet is not None
    assert sheet.notes == (
        "The kernel counts CPU time in ticks of 10 ms: over 0.50 s a single CPU's shares come in"
        " steps of 2.0 %.",
    )


def test_of_many_cpus_those_that_did_nothing_are_left_out_and_said() -> None:
    counts = {f"cpu/{cpu}/idle": 500 for cpu in range(128)}
    counts |= {"cpu/7/user": 250, "cpu/7/idle": 250}
    sheet = cpu_sheet(_bare(counts))
    assert list(_table(sheet)) == ["7"]
    assert sheet is not None
    assert "127 CPUs that did nothing are not listed." in sheet.notes


def test_dropped_packets_of_a_cpus_backlog_have_a_column_once_there_are_any() -> None:
    table = _table(cpu_sheet(Counters(system_log(softnet__1__dropped=7))))
    assert [table[name]["backlog drops"] for name in ("all", "0", "1")] == ["", "0", "7"]


def test_interfaces_stand_by_their_traffic_and_lo_last() -> None:
    table = _table(interface_sheet(Counters(system_log(interface__br0__rx_packets=1))))
    assert list(table) == [
        "eth0 received",
        "eth0 sent",
        "br0 received",
        "br0 sent",
        "lo received",
        "lo sent",
    ]
    assert table["eth0 sent"]["packets"] == "428,123"
    assert table["eth0 sent"]["bytes"] == "643,000,000"


def test_an_interfaces_other_counters_are_named_where_they_moved() -> None:
    log = system_log(interface__eth0__rx_missed_errors=4, interface__eth0__rx_dropped=17)
    table = _table(interface_sheet(Counters(log)))
    assert table["eth0 received"] == {
        "Also counted": "missed_errors 4",
        "packets": "1,204",
        "bytes": "1,800,000",
        "errors": "0",
        "dropped": "17",
    }


def test_interrupts_say_their_device_and_which_cpu_served_them() -> None:
    hard, soft = interrupt_sheets(Counters(system_log()))
    assert _table(hard) == {
        "24": {"Device": "virtio0-input.0", "all CPUs": "9,000", "CPU 0": "9,000"},
        "LOC": {"Device": "Local timer interrupts", "all CPUs": "512", "CPU 0": "512"},
    }
    assert _table(soft) == {"NET_RX": {"all CPUs": "8,001", "CPU 0": "4,000", "CPU 1": "4,001"}}


def test_of_many_cpus_the_busiest_are_shown_and_the_others_summed() -> None:
    counts = {f"interrupt/9/{cpu}": 10 + cpu for cpu in range(20)}
    (sheet,) = interrupt_sheets(_bare(counts))
    row = _table(sheet)["9"]
    assert list(row) == ["Device", "all CPUs", *(f"CPU {cpu}" for cpu in range(12, 20)), "others"]
    numbers = [int(text.replace(",", "")) for text in list(row.values())[1:]]
    assert numbers[0] == sum(numbers[1:]) == sum(counts.values())


def test_losses_come_first_with_words_and_not_again_among_the_others() -> None:
    counters = Counters(system_log(protocol__Udp__RcvbufErrors=1204, protocol__Tcp__RetransSegs=3))
    trouble = _table(trouble_sheet(counters))
    assert trouble["Udp/RcvbufErrors"] == {
        "Is": "dropped: the socket's receive buffer was full",
        "count": "1,204",
    }
    assert list(_table(protocol_sheet(counters))) == ["Ip/OutRequests", "Udp/OutDatagrams"]
    assert trouble_sheet(Counters(system_log())) is None


def test_ports_of_a_fabric_are_there_where_they_counted() -> None:
    counters = Counters(system_log(fabric__hfi1_0__1__port_xmit_data=9))
    assert _table(fabric_sheet(counters)) == {"hfi1_0/1/port_xmit_data": {"count": "9"}}
    assert fabric_sheet(Counters(system_log())) is None


def test_the_machine_as_a_whole_is_told_in_words_and_units() -> None:
    log = system_log(vm__pswpout=12, cgroup__throttled_usec=250_000)
    limits = {**log.gauges, "cgroup/cpu_max_quota": 150_000, "cgroup/cpu_max_period": 100_000}
    table = _table(machine_sheet(Counters(replace(log, gauges=limits))))
    values = {heading: row["value"] for heading, row in table.items()}
    assert values["interrupts"] == "20,000 (4,000/s)"
    assert values["memory"] == "8.000 GiB"
    assert values["pages swapped out"] == "12"
    assert values["something waited for cpu"] == "0.50 % of the time"
    assert values["held up by the CPU limit"] == "0.2500 s"
    assert values["CPU limit of the control group"] == "1.500 CPUs"
    limits["cgroup/cpu_max_quota"] = 100_000
    table = _table(machine_sheet(Counters(replace(log, gauges=limits))))
    assert table["CPU limit of the control group"] == {"value": "1.000 CPU"}


def test_a_log_with_nothing_in_it_has_no_tables() -> None:
    counters = _bare({})
    assert cpu_sheet(counters) is None
    assert interface_sheet(counters) is None
    assert interrupt_sheets(counters) == []
    assert machine_sheet(counters) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.012, "0.01200"),
        (-4.2e-7, "-0.0000004200"),
        (4.2e-11, "4.200e-11"),
        (999.96, "1000"),
        (1234.5, "1,234"),
        (-2.5, "-2.500"),
        (1e20, "1.000e+20"),
        (float("nan"), "n/a"),
    ],
)
def test_any_value_is_written_with_four_digits(number: float, text: str) -> None:
    assert value(number) == text


def test_counts_have_their_thousands_apart_and_shares_need_a_whole() -> None:
    assert count(1234567) == "1,234,567"
    assert share(1, 8) == "12.5"
    assert share(0, 0) == "–"
