"""The view `system_log`, as any other program sees it, and what the hosts of a group share."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    logged,
    measured,
    pair,
    planned,
    rows,
    system_log,
    warmup,
)

from railgauge.base.derived import cpu_load
from railgauge.base.systemlog import PortLog
from railgauge.store import Store
from railgauge.store.log_models import LOG_TABLES
from railgauge.store.records import Launch

COLUMNS = [
    "run",
    "plan",
    "test",
    "engine",
    "link",
    "case_key",
    "replication",
    "host",
    "side",
    "started_at",
    "elapsed",
    "cpu_load",
    "cpu_load_soak",
    "cpu_user",
    "cpu_nice",
    "cpu_system",
    "cpu_idle",
    "cpu_iowait",
    "cpu_irq",
    "cpu_softirq",
    "cpu_steal",
    "cpu_guest",
    "cpu_guest_nice",
    "interrupts",
    "context_switches",
    "paged_in",
    "paged_out",
    "swaps_in",
    "swaps_out",
    "memory_used",
    "rx_packets",
    "rx_bytes",
    "rx_errors",
    "rx_dropped",
    "tx_packets",
    "tx_bytes",
    "tx_errors",
    "tx_dropped",
    "udp_rcvbuf_errors",
    "udp_in_errors",
    "ip_reassembly_failures",
    "tcp_retransmits",
    "softnet_dropped",
]
HOSTS = tuple(f"n{i}" for i in range(1, 6))
PAIRS = [pair(client, server, HOSTS) for client, server in permutations(HOSTS, 2)]
JOIN = "measurement JOIN system_log USING (run, test, case_key, replication)"


def test_the_view_has_a_row_for_each_replication_and_host(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    logs = (system_log("gw1"), system_log("hh1", soak=()))
    store.add(run, "stream", case().key, replace(warmup(), logs=logs), LAUNCH)
    store.add(run, "stream", case().key, logged(1, *logs), LAUNCH)
    store.add(run, "stream", case().key, measured(2), LAUNCH)
    store.add_logs(run, [system_log(phase="before")])
    client, server = rows(where, "SELECT * FROM system_log ORDER BY host")
    assert list(client) == COLUMNS
    assert client == pytest.approx(
        {
            "run": run,
            "plan": "sharcnet-udp",
            "test": "stream",
            "engine": "udp",
            "link": "gw→hh",
            "case_key": case().key,
            "replication": 1,
            "host": "gw1",
            "side": "client",
            "started_at": "2025-11-21T02:00:00.250123Z",
            "elapsed": 5.000000119,
            "cpu_load": 123 / 900,
            "cpu_load_soak": 0.6,
            **dict.fromkeys(COLUMNS[13:23], 0),
            "cpu_user": 1.23,
            "cpu_idle": 7.77,
            "interrupts": 4321,
            "context_switches": 99,
            "paged_in": 7 * 1024,
            **dict.fromkeys(COLUMNS[26:29], 0),
            "memory_used": 0.5,
            **dict.fromkeys(COLUMNS[30:38], 0),
            "rx_packets": 507,
            "rx_bytes": 750_000,
            "tx_dropped": 1,
            "udp_rcvbuf_errors": 5,
            "udp_in_errors": 0,
            "ip_reassembly_failures": 40,
            "tcp_retransmits": 3,
            "softnet_dropped": 2,
        }
    )
    assert (server["host"], server["side"], server["cpu_load_soak"]) == ("hh1", "server", None)


def test_the_views_load_leaves_the_soakers_out_as_the_metric_does(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    counts = {"cpu/all/user": 20, "cpu/all/system": 30, "cpu/all/nice": 950}
    logs = (system_log("gw1", counts=counts), system_log("hh1", counts=counts, soak=()))
    store.add(run, "stream", case().key, logged(1, *logs), LAUNCH)
    loads = [row["cpu_load"] for row in rows(where, "SELECT * FROM system_log ORDER BY host")]
    assert loads == pytest.approx([cpu_load(log) for log in logs])
    assert loads == pytest.approx([0.05, 1.0])


def test_a_measurement_is_joined_to_its_logs_in_one_line(store: Store, where: str) -> None:
    cases = (case(1460), case(64))
    runs = [store.begin_run(RUN, planned(*cases), METRICS) for _ in range(2)]
    for run in runs:
        for bench_case in cases:
            launch = Launch(MOMENT)
            for number in (1, 2):
                counts = {"interface/eth0/rx_packets": 10 * run + number}
                log = system_log("gw1", counts=counts)
                store.add(run, "stream", bench_case.key, logged(number, log), launch)
    query = f"SELECT value, rx_packets FROM {JOIN} WHERE run = {runs[1]} AND metric = 'throughput'"
    assert sorted(row["rx_packets"] for row in rows(where, query)) == [21, 21, 22, 22]
    assert {row["value"] for row in rows(where, query)} == {1e9}


def test_what_no_log_says_anything_of_is_unknown_and_not_zero(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    bare = system_log(counts={}, gauges={}, soak=(), series=None)
    store.add(run, "stream", case().key, logged(1, bare), LAUNCH)
    (row,) = rows(where, "SELECT * FROM system_log")
    assert {name for name in COLUMNS[11:] if row[name] is not None} == set()


def test_absurd_counts_leave_the_view_readable(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    names = [f"interface/eth{i}/rx_bytes" for i in range(3)]
    names += ["protocol/Tcp/RetransSegs", "softnet/0/dropped", "softnet/1/dropped"]
    log = system_log(counts=dict.fromkeys(names, 2**63 - 1), gauges={"memory/MemTotal": 0})
    store.add(run, "stream", case().key, logged(1, log), LAUNCH)
    (row,) = rows(where, "SELECT * FROM system_log")
    assert (row["rx_bytes"], row["softnet_dropped"], row["memory_used"]) == (None, None, None)


def test_a_groups_hosts_are_logged_once_and_each_pair_sees_its_own_two(
    store: Store, where: str
) -> None:
    run = store.begin_run(RUN, planned(*PAIRS), METRICS)
    logs = tuple(system_log(host) for host in HOSTS)
    ports = (PortLog(1, "switch", "1", {"ifInErrors": 2}),)
    for number in (1, 2):
        outcome = logged(number, *logs, ports=ports)
        store.add_all(run, "stream", [(host_pair.key, outcome) for host_pair in PAIRS], LAUNCH)
    assert rows(where, "SELECT count(*) AS n FROM log") == [{"n": 2 * len(HOSTS)}]
    assert rows(where, "SELECT count(*) AS n FROM port_log") == [{"n": 2}]
    stored_logs = store.logs(run)
    assert [
        (stored_log.case, stored_log.replication, stored_log.log.host) for stored_log in stored_logs
    ] == [
        (host_pair, number, host)
        for host_pair in PAIRS
        for number in (1, 2)
        for host in (host_pair.client, host_pair.server)
    ]
    assert len({id(stored_log.log) for stored_log in stored_logs}) == 2 * len(HOSTS)
    query = "SELECT case_key, replication, host, side FROM system_log"
    assert {tuple(row.values()) for row in rows(where, query)} == {
        (host_pair.key, number, host, side)
        for host_pair in PAIRS
        for number in (1, 2)
        for host, side in ((host_pair.client, "client"), (host_pair.server, "server"))
    }
    assert len(store.ports(run, case_key=PAIRS[3].key)) == 2


def test_a_whole_groups_logs_are_in_the_order_of_their_ranks(store: Store, where: str) -> None:
    hosts = ("n2", "n1", "n3")
    group = pair("n2", None, hosts, "rack")
    run = store.begin_run(RUN, planned(group), METRICS)
    outcome = logged(1, *(system_log(host) for host in hosts))
    store.add(run, "stream", group.key, outcome, LAUNCH)
    assert [stored_log.log.host for stored_log in store.logs(run)] == list(hosts)
    assert [row["side"] for row in rows(where, "SELECT side FROM system_log")] == ["member"] * 3


def test_a_thousand_hosts_logs_of_one_launch_are_stored_and_found(store: Store) -> None:
    hosts = tuple(f"n{i:04}" for i in range(1000))
    pairs = [pair(hosts[i], hosts[-1 - i], hosts) for i in range(500)]
    run = store.begin_run(RUN, planned(*pairs, replications=1), METRICS)
    outcome = logged(1, *(system_log(host, series=None) for host in hosts))
    store.add_all(run, "stream", [(host_pair.key, outcome) for host_pair in pairs], LAUNCH)
    stored_logs = store.logs(run)
    assert [stored_log.log.host for stored_log in stored_logs] == [
        host for host_pair in pairs for host in (host_pair.client, host_pair.server)
    ]
    assert all(stored_log.log.counts == outcome.logs[0].counts for stored_log in stored_logs)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT {', '.join(COLUMNS)} FROM system_log WHERE run = 1",
        f"SELECT value, cpu_load, rx_packets, tcp_retransmits FROM {JOIN}"
        " WHERE run = 1 AND metric = 'throughput'",
    ],
)
def test_no_table_of_logs_is_read_whole_for_one_run(tmp_path: Path, query: str) -> None:
    path = tmp_path / "railgauge.db"
    Store.open(str(path)).close()
    connection = sqlite3.connect(path)
    plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    connection.close()
    tables = {table.name for table in LOG_TABLES} | {"replication", "value", "run_case"}
    read = [line.split() for line in plan if line.startswith(("SCAN", "SEARCH"))]
    assert {words[1] for words in read} > {"log", "interface_log", "replication"}
    # Not by a bound of the number, which would read a launch's other replications, too.
    assert all("number=?" in words for words in read if words[1] == "log")
    assert [words for words in read if words[0] == "SCAN" and words[1] in tables] == []


def test_only_what_was_counted_takes_a_row(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    quiet = system_log(
        counts={"cpu/all/idle": 1000, "interface/eth0/rx_packets": 3, "interface/eth0/rx_bytes": 9},
        gauges={},
        labels={},
        soak=(),
        series=None,
    )
    store.add(run, "stream", case().key, logged(1, quiet), LAUNCH)
    counted = {
        table.name: rows(where, f"SELECT count(*) AS n FROM {table.name}")[0]["n"]
        for table in LOG_TABLES
    }
    assert {name: n for name, n in counted.items() if n} == {
        "log": 1,
        "host_log": 1,
        "interface_log": 1,
    }


def test_the_documented_queries_say_what_they_promise(store: Store, where: str) -> None:
    page = (ROOT / "docs" / "database.md").read_text()
    granted, losses, devices = (part.split("```")[0] for part in page.split("```sql\n")[1:])
    run = store.begin_run(RUN, planned(case()), METRICS)
    assert run == 1
    store.add(run, "stream", case().key, logged(1, system_log("gw1"), system_log("hh1")), LAUNCH)
    (loss,) = rows(where, losses)
    assert (loss["loss_rate"], loss["host"], loss["udp_rcvbuf_errors"]) == (0.25, "hh1", 5)
    # Nothing was said of a receive buffer.
    assert rows(where, granted) == []
    device_rows = [tuple(row.values()) for row in rows(where, devices)]
    assert device_rows == [
        (1, host, *moved)
        for host in ("gw1", "hh1")
        for moved in (("24", "virtio0-input.0", 0, 480), ("LOC", None, 1, 1250))
    ]
