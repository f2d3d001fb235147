"""A database with something in every table, and what is compared of two databases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from sqlalchemy import Table, literal, select
from tests.support.series_samples import tcp_series
from tests.support.store_samples import (
    LAUNCH,
    MOMENT,
    PEAK,
    RUN,
    SUSPICIONS,
    case,
    failed,
    logged,
    lossy,
    measured,
    pair,
    planned,
    suspect,
    system_log,
    warmup,
)

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.base.intervals import encode
from railgauge.base.systemlog import PortLog
from railgauge.store import Store
from railgauge.store.copy_tables import TABLES, refers_to
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase, PublishedValue

METRICS = {
    "udp": {
        "throughput": MetricInfo("bit/s", "higher", "rate", 0.01),
        "loss_rate": MetricInfo("1", "lower"),
    }
}
PORT = PortLog(1, "switch", "eth1", {"ifHCInOctets": 2**40, "dot3StatsFCSErrors": 3})
TOO_LARGE = PortLog(2, "switch", "eth2", {"ifHCInOctets": 2**64})


CERTIFICATE = Certificate(
    uid="a1",
    made_at="2026-11-22T00:00:00.000000Z",
    version="0.1.0",
    engines_hash="89ab",
    host="n1",
    kernel="6.1.0",
    boot_id="b",
    clock_source="tsc",
    load=0.25,
    checks=(
        CertificateCheck("rate", "udp", "bit/s", 0.003, True, 1e9 / 3, 1e9, -2 / 3, 0.001, "busy"),
        CertificateCheck("lost", "udp", "", 0.0, False, reason="no /dev/net/tun"),
    ),
)


def fill(store: Store) -> list[int]:
    """Store three runs that together have rows in every table, a baseline and a certificate.

    Return the runs' ids.
    """
    store.add_certificate(CERTIFICATE)
    return [stored_links(store), stored_group(store), stored_published(store)]


def stored_published(store: Store) -> int:
    """Store an imported run: a mean of ten, and a value that is lost in its source."""
    published_values = {
        "throughput": PublishedValue(10, 0.5, 1.0, 4.0),
        "loss_rate": PublishedValue(absence="lost"),
    }
    new = replace(RUN, origin="imported")
    outcome = Outcome(1, None, {"throughput": 3.0}, published=published_values)
    results = [("stream", case().key, outcome)]
    return store.import_run(new, planned(case(), replications=1), METRICS, results)


def stored_links(store: Store) -> int:
    cases = [
        PlannedCase("stream", case(), 10, least=3, rule="ci95(median) <= 1% of throughput"),
        *planned(case(64), case(512), replications=10),
        *planned(case(), test="again"),
    ]
    run = store.begin_run(replace(RUN, labels={"kernel": "6.1"}), cases, METRICS)
    store.add_facts(run, "gw1", {"kernel": "6.1", "cpu": "a π"})
    store.add_peaks(run, [PEAK])
    store.add_logs(run, [system_log(phase="before"), system_log("hh1", phase="before")])
    logs = (system_log(), system_log("hh1", labels={"interrupt/24": "another"}))
    for outcome in (warmup(), logged(1, *logs, ports=(PORT, TOO_LARGE)), lossy(2), failed(3)):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    later = Launch(MOMENT + 9, {}, {}, ("slow",))
    reasons = replace(suspect(4, *SUSPICIONS), logs=logs)
    store.add(run, "stream", case().key, reasons, later)
    inside = replace(measured(1, 3.0), trace=encode(tcp_series()))
    store.add(run, "stream", case(64).key, inside, Launch(MOMENT + 10))
    store.skip_cases(run, {("stream", case(512).key): "no iperf3 on gw1"})
    store.end_cases(run, {("stream", case().key): "narrow"})
    store.finish_run(run, "complete")
    store.set_baseline("good", [run], "before the update")
    return run


def stored_group(store: Store) -> int:
    hosts = ("n1", "n2", "n3")
    pairs = [pair(a, b, hosts) for a in hosts for b in hosts if a != b]
    run = store.begin_run(RUN, planned(*pairs, test="matrix"), METRICS)
    logs = tuple(map(system_log, hosts))
    launch = Launch(MOMENT + 20, {"ranks": 3}, {}, ())
    for number in (1, 2):
        outcome = logged(number, *logs)
        # Not in the plan's order, as a launch may say.
        store.add_all(
            run, "matrix", [(pair_case.key, outcome) for pair_case in reversed(pairs)], launch
        )
    return run


def contents(store: Store) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return what each table holds, but for ids, which every database has its own of."""
    with store.reading() as connection:
        return {
            name: Counter(map(tuple, connection.execute(_without_ids(table))))
            for name, table in TABLES.items()
        }


def _without_ids(table: Table) -> Any:
    own = dict.fromkeys(("log_series", "packed_protocol_log"), ("counters",))
    return select(
        literal(table.name),
        *(
            column
            for column in table.columns
            if column.name not in ("id", *own.get(table.name, ())) and refers_to(column) is None
        ),
    ).select_from(table)


def run_contents(store: Store, run: int) -> list[object]:
    """Return all that the store tells of a run but what it's numbered."""
    stored = store.run(run)
    series = [
        (
            record.test,
            record.case,
            record.metric,
            record.unit,
            record.values.tolist(),
            record.suspect.tolist(),
        )
        for record in store.series([run])
    ]
    logs = [
        (record.test, record.case, record.replication, replace(record.log, series=None))
        for record in store.logs(run) + store.run_logs(run)
    ]
    samples = [
        None
        if record.log.series is None
        else (record.log.series.names, record.log.series.values.tolist())
        for record in store.logs(run, series=True) + store.run_logs(run)
    ]
    traces = [
        (record.test, record.case, record.replication, store.trace(record).sequence.tolist())
        for record in store.traces([run])
    ]
    one_by_one = [
        store.replications(run, planned_case.test, planned_case.case.key)
        for planned_case in stored.cases
    ]
    return [
        replace(stored, id=0),
        store.peaks(run),
        series,
        logs,
        samples,
        traces,
        one_by_one,
        [
            (record.test, record.case, record.replication, record.port)
            for record in store.ports(run)
        ],
        store.suspicions(run),
        store.warnings(run),
        store.failures(run),
        store.smallest_changes(run),
    ]
