"""Which counters of the system logs are named beside a case that got slower."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.store_samples import logged, system_log
from tests.support.verdict_samples import add_run, lane

from railgauge.base.systemlog import PortLog
from railgauge.compare.changed_counters import CounterChange, changed_counters
from railgauge.compare.compare import compare
from railgauge.compare.rates import FREQUENCY, rates
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.compare.verdict import find_reasons
from railgauge.store import Store

Counts = Mapping[str, int]
STEADY = {
    "protocol/Tcp/OutSegs": 10_000,
    "stat/context_switches": 5_000,
    "cpu/all/softirq": 50,
    "cpu/all/idle": 900,
    "interface/eth0/rx_packets": 9_000,
}
CLOCK = {"frequency/0": 3_000_000_000, "frequency/1": 3_000_000_000}


def outcomes(counts: Counts, gauges: Counts = CLOCK, drops: int = 0) -> list[object]:
    """Ten replications; counters differ a little from one to the next."""
    replications = []
    for number in range(1, 11):
        moved = {name: count + number for name, count in counts.items()}
        log = system_log("gw1", counts=moved, gauges=gauges, series=None, soak=(), elapsed=10.0)
        port = PortLog(1, "sw1", "port 3", {"ifOutDiscards": drops * number, "ifInOctets": 7})
        replications.append(logged(number, log, ports=(port,)))
    return replications


def changed(database: Path, before: list[object], after: list[object]) -> list[CounterChange]:
    for replications in (before, after):
        add_run(database, {1: replications})  # type: ignore[dict-item]
    with Store.open(str(database)) as store:
        return list(changed_counters(store, lane(1).key, [(1, "stream")], [(2, "stream")]))


def test_what_began_to_be_lost_or_sent_again_is_named_first(database: Path):
    worse = {
        **STEADY,
        "protocol/Tcp/RetransSegs": 200,
        "interface/eth0/rx_dropped": 300,
        "cpu/all/softirq": 400,
    }
    changes = changed(database, outcomes(STEADY), outcomes(worse))
    assert {(change.host, change.name, change.unit) for change in changes[:2]} == {
        ("gw1", "TCP retransmits (RetransSegs)", "/segment"),
        ("gw1", "rx_dropped on eth0", "/s"),
    }
    assert [change.name for change in changes[2:]] == ["CPU time in softirq"]
    drops = next(change for change in changes if change.name == "rx_dropped on eth0")
    assert (drops.before, drops.after) == (0, pytest.approx(30.55))
    assert drops.p < 0.001


def test_what_did_not_change_or_fell_is_not_named(database: Path):
    less = {**STEADY, "cpu/all/softirq": 5, "interface/eth0/rx_packets": 100}
    assert changed(database, outcomes(STEADY), outcomes(less)) == []


def test_a_cpu_that_runs_slower_is_named(database: Path):
    slow = dict.fromkeys(CLOCK, 2_000_000_000)
    (change,) = changed(database, outcomes(STEADY), outcomes(STEADY, slow))
    assert (change.name, change.unit) == ("CPU frequency", "Hz")
    assert (change.before, change.after) == (3e9, 2e9)


def test_a_switch_that_discards_is_named_with_its_port(database: Path):
    (change,) = changed(database, outcomes(STEADY), outcomes(STEADY, drops=10))
    assert (change.host, change.name, change.after) == ("sw1 port 3", "ifOutDiscards", 55)


def test_a_test_that_had_another_name_is_looked_up_by_its_case(database: Path):
    worse = {**STEADY, "protocol/Udp/RcvbufErrors": 200}
    add_run(database, {1: outcomes(STEADY)}, test="old")  # type: ignore[dict-item]
    add_run(database, {1: outcomes(worse)}, test="new")  # type: ignore[dict-item]
    with Store.open(str(database)) as store:
        sides = Selection("run 1", (1,)), Selection("run 2", (2,))
        compared = compare(read(store, [1, 2]), *sides)
        (reasons,) = find_reasons(store, compared, compared.results).values()
    (change,) = reasons.counters
    assert change.name == "Udp RcvbufErrors"


def test_a_case_without_logs_has_no_counters(database: Path):
    assert changed(database, [1e9] * 5, [0.9e9] * 5) == []


def test_counters_of_cpus_and_queues_are_added_up_and_devices_kept_apart():
    counts = {
        "softnet/0/dropped": 10,
        "softnet/7/dropped": 30,
        "interface/eth0/rx_errors": 5,
        "interface/eth1.7/rx_errors": 10,
        "softirq/NET_RX/3": 100,
        "pressure/cpu/some": 2_500_000,
        "cpu/all/steal": 250,
        "interrupt/24/0": 99,
    }
    log = system_log("gw1", counts=counts, gauges=CLOCK, elapsed=5.0)
    values = {(counter.name, counter.unit): value for counter, value in rates(log).items()}
    assert values == {
        ("packets dropped by a full backlog", "/s"): 8,
        ("rx_errors on eth0", "/s"): 1,
        ("rx_errors on eth1.7", "/s"): 2,
        ("softirqs NET_RX", "/s"): 20,
        ("waiting for cpu (PSI)", "of the time"): 0.5,
        ("CPU time in steal", "CPUs"): 0.5,
        ("CPU frequency", "Hz"): 3e9,
    }
    assert FREQUENCY in rates(log)
