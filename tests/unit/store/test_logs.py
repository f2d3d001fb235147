"""System logs go into the store and come out the same, on SQLite and on PostgreSQL."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.store_samples import (
    COUNTS,
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    SUSPICIONS,
    assert_same_log,
    case,
    execute,
    failed,
    logged,
    lossy,
    measured,
    planned,
    suspect,
    system_log,
    warmup,
)

from railgauge.base.errors import InputError, StoreError
from railgauge.base.systemlog import PortLog, SoakLoad, Suspicion, SystemLog, TimeSeries
from railgauge.store import Store
from railgauge.store.records import Launch, Outcome

PORTS = (
    PortLog(1, "switchA", "17", {"ifHCInOctets": 2**62, "ifOutDiscards": 0}),
    PortLog(1, "switchA", "18", {"dot3StatsFCSErrors": 7, "ifOutErrors": 3}),
    PortLog(2, "switchB", "Ethernet1/3", {}),
)


def only(store: Store, run: int) -> SystemLog:
    (stored_log,) = store.logs(run, series=True)
    return stored_log.log


def test_a_replications_logs_come_back_with_their_case_and_number(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    logs = (system_log("gw1"), system_log("hh1", labels={}, soak=(), series=None))
    store.add(run, "stream", case().key, logged(2, *logs), LAUNCH)
    stored_logs = store.logs(run, series=True)
    assert [
        (stored_log.run, stored_log.test, stored_log.case, stored_log.replication)
        for stored_log in stored_logs
    ] == [
        (run, "stream", case(), 2),
        (run, "stream", case(), 2),
    ]
    for stored_log, log in zip(stored_logs, logs, strict=True):
        assert_same_log(stored_log.log, log)


def test_logs_come_by_case_replication_and_host_with_the_clients_first(store: Store) -> None:
    large, small = case(1460), case(64)
    run = store.begin_run(RUN, [*planned(large, small), *planned(large, test="again")], METRICS)
    logs = (system_log("gw1"), system_log("hh1"))
    for test, key, number in (("again", large, 1), ("stream", small, 1), ("stream", large, 2)):
        store.add(run, test, key.key, logged(number, *logs), Launch(MOMENT))
    store.add(run, "stream", large.key, logged(1, *logs), Launch(MOMENT))

    def places(**selection: str) -> list[tuple[str, str, int | None, str]]:
        return [
            (
                stored_log.test,
                stored_log.case.key if stored_log.case else "",
                stored_log.replication,
                stored_log.log.host,
            )
            for stored_log in store.logs(run, **selection)  # type: ignore[arg-type]
        ]

    replications = [
        ("stream", large.key, 1),
        ("stream", large.key, 2),
        ("stream", small.key, 1),
        ("again", large.key, 1),
    ]
    whole = [(*place, host) for place in replications for host in ("gw1", "hh1")]
    assert places() == whole
    assert places(test="again") == whole[6:]
    assert places(case_key=large.key) == whole[:4] + whole[6:]
    assert places(test="stream", case_key=small.key) == whole[4:6]
    assert {stored_log.log.series for stored_log in store.logs(run)} == {None}


def test_warm_ups_keep_their_logs_to_themselves(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    for _ in range(2):
        store.add(run, "stream", case().key, replace(warmup(), logs=(system_log("gw1"),)), LAUNCH)
    store.add(run, "stream", case().key, replace(failed(1), logs=(system_log("hh1"),)), LAUNCH)
    assert [(stored_log.replication, stored_log.log.host) for stored_log in store.logs(run)] == [
        (1, "hh1")
    ]
    assert execute(where, "SELECT number FROM log ORDER BY number") == [(-2,), (-1,), (1,)]


def test_stretches_around_the_run_come_back_apart(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    other = store.begin_run(RUN, planned(case()), METRICS)
    before = [system_log(host, phase="before", counts={}, gauges={}) for host in ("gw1", "hh1")]
    after = [system_log("gw1", phase="after")]
    store.add_logs(run, before)
    store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
    with store.together():
        store.add_logs(run, after)
    stored_logs = store.run_logs(run)
    assert [
        (stored_log.test, stored_log.case, stored_log.replication) for stored_log in stored_logs
    ] == [("", None, None)] * 3
    for stored_log, log in zip(stored_logs, [*before, *after], strict=True):
        assert_same_log(stored_log.log, log)
    assert len(store.logs(run)) == 1
    assert store.run_logs(other) == []


def test_an_imported_run_keeps_its_logs_ports_and_suspicions(store: Store) -> None:
    large, small = case(1460), case(64)
    logs = (system_log("gw1"), system_log("hh1"))
    results = [
        ("stream", large.key, replace(logged(1, *logs), started_at=None)),
        ("stream", small.key, measured(1)),
        ("stream", large.key, replace(suspect(2), ports=PORTS)),
    ]
    imported = replace(RUN, origin="imported")
    idle = [system_log("gw1", phase="before"), system_log("gw1", phase="after")]
    run = store.import_run(imported, planned(large, small), METRICS, results, idle)
    assert [(stored_log.replication, stored_log.log.host) for stored_log in store.logs(run)] == [
        (1, "gw1"),
        (1, "hh1"),
    ]
    assert [stored_log.log.phase for stored_log in store.run_logs(run)] == ["before", "after"]
    assert [(stored_port.replication, stored_port.port) for stored_port in store.ports(run)] == [
        (2, port) for port in PORTS
    ]
    assert [suspicion.replication for suspicion in store.suspicions(run)] == [2]
    assert [s.values.tolist() for s in store.series([run], ["throughput"])] == [[1e9, 1e9], [1e9]]


def test_an_import_with_an_impossible_suspicion_is_not_stored(store: Store) -> None:
    results = [("stream", case().key, replace(measured(1), status="suspect", logs=()))]
    with pytest.raises(StoreError, match="a suspect replication has reasons"):
        store.import_run(replace(RUN, origin="imported"), planned(case()), METRICS, results)
    assert store.runs() == []


def test_what_ports_counted_comes_back(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(1460), case(64)), METRICS)
    store.add(run, "stream", case(64).key, logged(1, ports=PORTS), Launch(MOMENT))
    store.add(run, "stream", case(1460).key, logged(3, ports=PORTS[:1]), Launch(MOMENT))
    ports = [
        (stored_port.test, stored_port.case, stored_port.replication, stored_port.port)
        for stored_port in store.ports(run)
    ]
    assert ports == [
        ("stream", case(1460), 3, PORTS[0]),
        *(("stream", case(64), 1, port) for port in PORTS),
    ]
    assert [stored_port.port for stored_port in store.ports(run, case_key=case(1460).key)] == [
        PORTS[0]
    ]
    assert store.ports(run, test="other") == []


def test_what_cannot_be_stored_of_a_port_is_noted(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    counts = {"ifHCInOctets": 2**64, "ifInErrors": 1, "x" * 400: 1}
    ports = (PortLog(1, "switchA", "17", counts),)
    store.add(run, "stream", case().key, logged(1, ports=ports), Launch(MOMENT))
    assert [stored_port.port.counts for stored_port in store.ports(run)] == [{"ifInErrors": 1}]
    first, second = store.warnings(run)
    assert first.message.startswith("counters of switchA:17: 'ifHCInOctets' was left out")
    assert (first.replication, second.replication) == (1, 1)


def test_reasons_of_suspect_replications_come_back(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(1460), case(64)), METRICS)
    hostile = Suspicion("foreign-traffic", "h\0st", "eth0 \ud800 carried\0 more")
    store.add(run, "stream", case(64).key, suspect(2, *SUSPICIONS), LAUNCH)
    store.add(run, "stream", case(64).key, suspect(1, hostile), LAUNCH)
    store.add(run, "stream", case(1460).key, measured(1), LAUNCH)
    records = [
        (record.test, record.case, record.replication, record.suspicion)
        for record in store.suspicions(run)
    ]
    assert records == [
        (
            "stream",
            case(64),
            1,
            Suspicion("foreign-traffic", "h\ufffdst", "eth0 \\ud800 carried\ufffd more"),
        ),
        *(("stream", case(64), 2, suspicion) for suspicion in SUSPICIONS),
    ]


@pytest.mark.parametrize(
    "outcome",
    [
        replace(measured(1), status="suspect"),
        replace(measured(1), suspicions=SUSPICIONS),
    ],
)
def test_a_suspect_replication_without_reasons_and_an_ok_one_with_some_are_refused(
    store: Store, outcome: Outcome
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(StoreError, match="has reasons and an ok one has none"):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    assert store.replication_numbers(run) == {}


def test_a_suspect_replication_keeps_its_trace(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    outcome = replace(lossy(1), status="suspect", suspicions=SUSPICIONS)
    store.add(run, "stream", case().key, outcome, LAUNCH)
    assert [stored_trace.replication for stored_trace in store.traces([run])] == [1]


def test_a_replication_that_is_refused_leaves_no_log(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    outcome = replace(logged(1, system_log(), ports=PORTS), metrics={"throughput": float("nan")})
    with pytest.raises(StoreError, match="is no measurement"):
        store.add(run, "stream", case().key, outcome, LAUNCH)
    for table in ("log", "host_log", "port_log", "launch", "counter", "label_set"):
        assert execute(where, f"SELECT * FROM {table}") == []
    # What the series' names were called in the transaction that failed, is forgotten with it.
    store.add(run, "stream", case().key, logged(1, system_log()), LAUNCH)
    assert_same_log(only(store, run), system_log())


def test_what_cannot_be_stored_of_a_log_is_noted_and_the_rest_stays(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    values = np.zeros((2, 1), np.int64)
    log = system_log(
        counts=COUNTS | {"interface/eth9/rx_bytes": 2**63, "x" * 3000: 1, "stat/forks": -(2**64)},
        series=TimeSeries(np.zeros(3), ("a",), values),
        soak=(SoakLoad(0, 0.5, 0.25, 0.1), SoakLoad(0, 0.1, 0.1, 0.1), SoakLoad(1, np.nan, 0, 0)),
    )
    store.add(run, "stream", case().key, logged(1, log), Launch(MOMENT, warnings=("clamped",)))
    stored_log = only(store, run)
    assert_same_log(stored_log, system_log(series=None, soak=(SoakLoad(0, 0.5, 0.25, 0.1),)))
    first, *notes = store.warnings(run)
    assert (first.message, first.replication) == ("clamped", None)
    assert {(note.test, note.case and note.case.key, note.replication) for note in notes} == {
        ("stream", case().key, 1)
    }
    messages = "\n".join(note.message for note in notes)
    for words in (
        "counters of gw1: 'interface/eth9/rx_bytes' was left out: 9223372036854775808 does not",
        "'stat/forks' was left out",
        "its name has 3000 characters",
        "the time series was left out: its values are (2, 1) for (3,) times and 1 names",
        "CPU 0 of the soak was left out",
        "CPU 1 of the soak was left out",
    ):
        assert words in messages


@pytest.mark.parametrize(
    "changes",
    [
        {"elapsed": float("nan")},
        {"elapsed": float("inf")},
        {"started_at": 1e300},
        {"ticks_per_second": 0},
        {"ticks_per_second": 2**40},
        {"host": "h" * 3000},
    ],
)
def test_a_log_of_no_interval_is_noted_and_its_replication_stays(
    store: Store, changes: dict[str, object]
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    logs = (replace(system_log("gw1"), **changes), system_log("hh1"))  # type: ignore[arg-type]
    store.add(run, "stream", case().key, logged(1, *logs), LAUNCH)
    assert [stored_log.log.host for stored_log in store.logs(run)] == ["hh1"]
    assert store.replication_numbers(run) == {("stream", case().key): {1}}
    assert "the log was left out" in store.warnings(run)[-1].message


def test_a_hosts_second_log_is_noted(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, logged(1, system_log(), system_log(counts={})), LAUNCH)
    assert only(store, run).counts == COUNTS
    assert "the host has another one" in store.warnings(run)[-1].message


def test_notes_on_the_stretches_around_a_run_belong_to_no_case(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add_logs(run, [system_log(phase="after", elapsed=-1.0)])
    (note,) = store.warnings(run)
    assert (note.test, note.case, note.replication) == ("", None, None)
    assert note.message == "counters of gw1: the log was left out: it took -1.0 s"


def test_a_warning_that_all_launches_of_a_case_gave_comes_once(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(1460), case(64)), METRICS)
    for number in (1, 2):
        for bench_case in (case(1460), case(64)):
            launch = Launch(MOMENT, warnings=("clamped",))
            store.add(run, "stream", bench_case.key, measured(number), launch)
    assert [(warning.case, warning.message) for warning in store.warnings(run)] == [
        (case(1460), "clamped"),
        (case(64), "clamped"),
    ]


def test_hostile_names_are_stored_as_plain_text(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    name = "interface/e\0th\ud800'\"; DROP TABLE log; --/rx_bytes"
    log = system_log(
        counts={name: 5, "interface/a\0/rx_bytes": 1, "interface/a\ufffd/rx_bytes": 2},
        labels={"interrupt/1": "x\0", "interrupt/\ud800": "{}"},
    )
    store.add(run, "stream", case().key, logged(1, log), LAUNCH)
    stored_log = only(store, run)
    assert stored_log.counts == {
        "interface/e\ufffdth\\ud800'\"; DROP TABLE log; --/rx_bytes": 5,
        "interface/a\ufffd/rx_bytes": 1,
    }
    assert stored_log.labels == {"interrupt/1": "x\ufffd", "interrupt/\\ud800": "{}"}
    assert "another one is called so" in store.warnings(run)[-1].message


def test_labels_are_stored_once_for_all_logs_that_have_the_same(store: Store, where: str) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    other = {"interrupt/24": "eth0-rx-0"}
    for number in (1, 2):
        logs = (system_log("gw1"), system_log("hh1", labels=other))
        store.add(run, "stream", case().key, logged(number, *logs), LAUNCH)
    assert execute(where, "SELECT count(*) FROM label_set") == [(2,)]
    assert [stored_log.log.labels for stored_log in store.logs(run)] == [
        system_log().labels,
        other,
    ] * 2


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE log_series SET data = counters",
        "UPDATE log_series SET counters = data",
        "UPDATE log_series SET samples = samples + 1",
        "UPDATE log_series SET samples = -1",
        "UPDATE log_series SET samples = 2000000000",
        "DELETE FROM counter WHERE name NOT LIKE 'protocol/%'",
    ],
)
def test_a_damaged_time_series_is_told_with_its_place(
    store: Store, where: str, damage: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, logged(3, system_log()), LAUNCH)
    execute(where, damage)
    pattern = r"series of host gw1 in replication 3 of test 'stream' in run 1 is damaged: .*\. What"
    with pytest.raises(StoreError, match=pattern):
        store.logs(run, series=True)
    assert store.logs(run)[0].log.counts == COUNTS


@pytest.mark.parametrize("damage", ["data = counters", "counters = data", "gauges = -1"])
def test_damaged_counters_of_protocols_are_told_with_their_place(
    store: Store, where: str, damage: str
) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    store.add(run, "stream", case().key, logged(3, system_log()), LAUNCH)
    execute(where, f"UPDATE packed_protocol_log SET {damage}")
    pattern = (
        r"counters of host gw1 in replication 3 of test 'stream' in run 1 is damaged: .*\. What"
    )
    with pytest.raises(StoreError, match=pattern):
        store.logs(run)


def test_logs_of_a_run_that_is_not_there_are_the_users_mistake(store: Store) -> None:
    for ask in (store.logs, store.run_logs, store.ports, store.suspicions, store.warnings):
        with pytest.raises(InputError, match="no run 1 "):
            ask(1)
    with pytest.raises(InputError, match="no run 1 "):
        store.add_logs(1, [system_log(phase="before")])


class _Allocations(ctypes.Structure):
    """C's `struct mallinfo2`."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _names.split())


def test_who_measures_takes_no_more_memory_with_each_replication(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    libc = ctypes.CDLL(None)
    require(hasattr(libc, "mallinfo2"), "a C library that tells what is allocated")
    libc.mallinfo2.restype = _Allocations

    def allocated() -> int:
        gc.collect()
        now = libc.mallinfo2()
        return int(now.uordblks + now.hblkhd)

    with Store.open(str(tmp_path / "x.db")) as store:
        run = store.begin_run(RUN, planned(case(), replications=200), METRICS)
        store.keep_few_pages()
        for number in range(1, 201):
            # As long as some twenty logs, which would take longer to make.
            launch = replace(LAUNCH, warnings=(f"{number}" * 10_000,))
            store.add(run, "stream", case().key, logged(number, system_log()), launch)
            if number == 50:
                before = allocated()
        grown = allocated() - before
    assert grown < 150 * 512
