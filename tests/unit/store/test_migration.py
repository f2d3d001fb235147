"""A database of an older railgauge goes on with all it holds."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import inspect, text
from tests.support import FIXTURES
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    PEAK,
    RUN,
    SUSPICIONS,
    case,
    connected,
    failed,
    logged,
    lossy,
    measured,
    pair,
    planned,
    system_log,
    warmup,
)

from railgauge.base.errors import StoreError
from railgauge.plan.cases import Case, Value, case_key
from railgauge.store import Store
from railgauge.store.log_models import LOG_TABLES
from railgauge.store.migrate import VERSION_TABLE

# Of each older schema, how many tables it had.
OLD = {"0001": 10, "0002": 12, "0003": 13, "0004": 31, "0005": 32, "0006": 34}


def old_database(path: Path, schema: str = "0001") -> dict[str, list[tuple[object, ...]]]:
    """Make the old database and return what each of its tables holds."""
    connection = sqlite3.connect(path)
    connection.executescript((FIXTURES / f"database_{schema}.sql").read_text())
    tables = contents(connection)
    connection.close()
    assert len(tables) == OLD[schema]
    return tables


def contents(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
        "AND name <> ?",
        (VERSION_TABLE,),
    ).fetchall()
    return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}


def system_logs(path: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM system_log").fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("schema", OLD)
def test_an_old_database_keeps_its_contents_and_goes_on(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "railgauge.db"
    before = old_database(path, schema)
    protocols = before.pop("protocol_log", [])
    logged_before = system_logs(path) if protocols else []
    with Store.open(str(path), create=False) as store:
        assert not logged_before or system_logs(path) == logged_before
        counts = [stored_log.log.counts | stored_log.log.gauges for stored_log in store.logs(1)]
        for log_id, protocol, counter, _, value in protocols:
            assert counts[log_id - 1][f"protocol/{protocol}/{counter}"] == value
        assert [(run.measured, run.failed) for run in store.runs()] == [(2, 1), (2, 0)][
            : len(before["run"])
        ]
        assert store.miscounted_runs() == []
        connection = sqlite3.connect(path)
        after = contents(connection)
        # As have runs, which have counts once they are over; their checksums were never stored.
        assert all((row[-6] is None) == (row[11] == "unfinished") for row in after["run"])
        assert {row[-1] for row in after["run"]} == {None}
        after["run"] = [row[:-6] for row in after["run"]]
        if schema < "0003":
            # Cases have got a column more.
            after["bench_case"] = [row[:-1] for row in after["bench_case"]]
        if schema < "0005":
            # As have a run's cases.
            assert {row[5] for row in after["run_case"]} == {None}
            after["run_case"] = [row[:5] + row[6:] for row in after["run_case"]]
        assert {row[-3:] for row in after["run_case"]} == {(None, None, None)}
        assert {row[-1] for row in after["run_metric"]} == {None}
        after["run_metric"] = [row[:-1] for row in after["run_metric"]]
        assert {row[-1] for row in after["replication"]} <= {None}
        after["replication"] = [row[:-1] for row in after["replication"]]
        uids = {row[-1] for row in after["run"]}
        assert len(uids) == len(after["run"])
        assert {len(uid) for uid in uids} == {32}
        if schema < "0006":
            # As have runs, their cases and their metrics.
            after["run_case"] = [row[:-3] for row in after["run_case"]]
            assert {row[-1] for row in after["run_metric"]} == {None}
            after["run_metric"] = [row[:-1] for row in after["run_metric"]]
            after["run"] = [row[:-1] for row in after["run"]]
        if protocols:
            # What is packed has names that are numbers.
            after["counter"] = after["counter"][: len(before["counter"])]
        assert {name: after[name] for name in before} == before
        connection.close()
        assert store.run(1).new == RUN
        assert {planned.case.members for planned in store.run(1).cases} == {()}
        assert store.replication_numbers(1) == {
            ("stream", case(1460).key): {1, 2},
            ("stream", case(64).key): {1},
        }
        traced = [1] if schema > "0001" else []
        assert [stored_trace.replication for stored_trace in store.traces([1])] == traced
        store.reopen_run(1)
        store.add(1, "stream", case(64).key, lossy(2), LAUNCH)
        assert [stored_trace.replication for stored_trace in store.traces([1])] == [*traced, 2]
        logged_numbers = [2] if schema > "0003" else []
        assert [stored_log.replication for stored_log in store.logs(1)] == logged_numbers
        assert [suspicion.replication for suspicion in store.suspicions(1)] == logged_numbers * len(
            SUSPICIONS
        )
        assert store.run_logs(1) == []
        baselines = ["spring"] if schema > "0005" else []
        assert [baseline.name for baseline in store.baselines()] == baselines
        # No run said what its metrics are: the tables that ship do.
        kinds = {series.metric: series.kind for series in store.series([1])}
        assert kinds == {"throughput": "rate", "loss_rate": "share"}
        assert store.peaks(1) == ((PEAK,) if schema > "0004" else ())
        outcome = replace(logged(3, system_log()), status="suspect", suspicions=SUSPICIONS)
        store.add(1, "stream", case(64).key, outcome, LAUNCH)
        assert [stored_log.log.counts for stored_log in store.logs(1)][-1] == system_log().counts
        assert [suspicion.replication for suspicion in store.suspicions(1)][-2:] == [3] * len(
            SUSPICIONS
        )
        store.skip_cases(1, {("stream", case(64).key): "iperf3 isn't on gw1"})
        store.add_peaks(1, [PEAK])
        assert store.peaks(1) == (PEAK,)
        assert [planned_case.skipped for planned_case in store.run(1).cases] == [
            "",
            "iperf3 isn't on gw1",
        ]
        assert {
            (planned_case.least, planned_case.rule, planned_case.ended)
            for planned_case in store.run(1).cases
        } == {(None, "", "")}
        smallest = {("udp", "throughput"): 0.01} if schema > "0005" else {}
        assert store.smallest_changes(1) == smallest
        store.end_cases(1, {("stream", case(64).key): "narrow"})
        store.set_baseline("old", [1])
        group = pair("n1", "n2", ("n1", "n2", "n3"))
        new = store.begin_run(RUN, planned(group), METRICS)
        assert store.run(new).cases[0].case == group


PACKED = (
    "DROP VIEW system_log",
    "DROP TABLE packed_protocol_log",
    "CREATE TABLE protocol_log (log_id BIGINT, protocol TEXT, counter TEXT, is_gauge BOOLEAN,"
    " value BIGINT)",
    "CREATE VIEW system_log AS SELECT 1 AS one",
    *(
        f"ALTER TABLE run DROP COLUMN {name}_count"
        for name in ("case", "skipped", "asked", "measured", "failed")
    ),
    "ALTER TABLE run DROP COLUMN checksum",
)


def test_logs_are_packed_and_runs_counted_of_the_schema_before(where: str) -> None:
    """Counts of a case that is skipped, of ones that ended early and late, and of none."""
    names = [case(size) for size in (64, 128, 256, 512)]
    counts = {"protocol/Udp/InErrors": 2**62, "protocol/Udp6/InErrors": 2**62, "stat/forks": 3}
    moved = {"protocol/Tcp/RetransSegs": -5, "protocol/Tcp/InSegs": 2**63 - 1}
    gauges = {"protocol/Tcp/CurrEstab": 9, "protocol/Tcp/InSegs": -(2**63)}
    logs = (
        system_log("gw1", counts=counts),
        system_log("hh1", counts=moved, gauges=gauges),
        system_log("n1", counts={"stat/forks": 1}, gauges={}),
    )
    view = "SELECT * FROM system_log ORDER BY replication, host"
    with Store.open(where) as store, connected(where) as connection:
        run = store.begin_run(
            RUN, [replace(planned_case, least=2) for planned_case in planned(*names)], METRICS
        )
        store.add(run, "stream", names[0].key, logged(1, *logs), LAUNCH)
        store.add(run, "stream", names[1].key, measured(1), LAUNCH)
        store.add(run, "stream", names[1].key, warmup(), LAUNCH)
        store.add(run, "stream", names[2].key, failed(1), LAUNCH)
        store.end_cases(run, {("stream", names[1].key): "budget"})
        store.skip_cases(run, {("stream", names[2].key): "no iperf3"})
        store.finish_run(run, "complete")
        unfinished = store.begin_run(RUN, planned(names[0]), METRICS)
        summaries, stored = store.runs(), store.logs(run)
        rows = connection.execute(text(view)).all()
    with connected(where) as connection:
        for statement in (*PACKED, f"UPDATE {VERSION_TABLE} SET version_num = '0014'"):
            connection.execute(text(statement))
        for number, stored_log in enumerate(stored, 1):
            for is_gauge, values in ((False, stored_log.log.counts), (True, stored_log.log.gauges)):
                for name, value in values.items():
                    if name.startswith("protocol/"):
                        _, protocol, counter = name.split("/")
                        connection.execute(
                            text("INSERT INTO protocol_log VALUES (:log, :p, :c, :g, :v)"),
                            {"log": number, "p": protocol, "c": counter, "g": is_gauge, "v": value},
                        )
    with Store.open(where) as store, connected(where) as connection:
        assert store.runs() == summaries
        assert [summary.asked for summary in summaries] == [3 + 2 + 1 + 3, 3]
        assert store.logs(run) == stored
        assert connection.execute(text(view)).all() == rows
        assert store.miscounted_runs() == []
        query = text("SELECT id FROM run WHERE case_count IS NULL")
        assert connection.scalars(query).all() == [unfinished]


def test_an_old_database_on_a_server_is_brought_up_to_date(where: str) -> None:
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        for outcome in (warmup(), measured(1, 8.0), failed(2)):
            store.add(run, "stream", case().key, outcome, LAUNCH)
    # What the first schema hadn't.
    with connected(where) as connection:
        for statement in (
            "ALTER TABLE replication DROP COLUMN checksum",
            "DROP VIEW granted_setting",
            "DROP TABLE run_label",
            "DROP TABLE published_value",
            "DROP TABLE certificate_check",
            "DROP TABLE certificate",
            "DROP TABLE baseline_run",
            "DROP TABLE baseline",
            "ALTER TABLE run_metric DROP COLUMN kind",
            "ALTER TABLE run_metric DROP COLUMN smallest_change",
            *(f"ALTER TABLE run_case DROP COLUMN {name}" for name in ("least", "rule", "ended")),
            "DROP INDEX ix_run_uid",
            "ALTER TABLE run DROP COLUMN uid",
            *PACKED[-6:],
            "DROP TABLE peak",
            "ALTER TABLE run_case DROP COLUMN skipped",
            "DROP VIEW system_log",
            *(f"DROP TABLE {table.name}" for table in reversed(LOG_TABLES)),
            "DROP VIEW loss_runs",
            "DROP TABLE loss_run",
            "DROP TABLE trace",
            "DROP TABLE series",
            "ALTER TABLE bench_case DROP COLUMN members_id",
            "DROP TABLE host_list",
            f"UPDATE {VERSION_TABLE} SET version_num = '0001'",
        ):
            connection.execute(text(statement))
        assert len(inspect(connection).get_table_names()) == OLD["0001"] + 1
    with Store.open(where) as store:
        assert store.series([run], ["throughput"])[0].values.tolist() == [8.0]
        assert store.replication_numbers(run) == {("stream", case().key): {1, 2}}
        store.add(run, "stream", case().key, lossy(3), LAUNCH)
        assert [stored_trace.replication for stored_trace in store.traces([run])] == [3]
        store.add(run, "stream", case().key, logged(4, system_log()), LAUNCH)
        assert (
            len({store.run(summary.id).uid for summary in store.runs()}) == len(store.runs()) == 1
        )
        assert [stored_log.log.host for stored_log in store.logs(run)] == ["gw1"]


@pytest.mark.parametrize(("before", "after"), [("half", "int16"), ("quarter", "int8")])
def test_cases_of_a_precision_that_is_called_otherwise_go_on(
    where: str, before: str, after: str
) -> None:
    def computed(precision: str) -> Case:
        parameters: dict[str, Value] = {"precision": precision, "duration": 1.0, "cpus": "0"}
        key = case_key("cpu", "π", "gw1", None, parameters)
        return Case(key, "cpu", "π", "gw1", None, parameters)

    other_cases = (case(precision=before), computed("double"))
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(computed(before), *other_cases), METRICS)
        store.add_peaks(run, [replace(PEAK, resource=f"cpu_{before}")])
    with connected(where) as connection:
        for statement in (*PACKED, "DROP TABLE series"):
            connection.execute(text(statement))
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0012'"))
    with Store.open(where) as store:
        assert [planned_case.case for planned_case in store.run(run).cases] == [
            computed(after),
            *other_cases,
        ]
        assert [peak.resource for peak in store.peaks(run)] == [f"cpu_{after}"]


def test_an_old_database_that_may_not_be_written_to_is_told(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "tmpfs", str(folder)]
    require(subprocess.run(mounted).returncode == 0, "the right to mount a tmpfs")
    try:
        old_database(folder / "railgauge.db")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(StoreError, match=r"older railgauge .* copy the file"):
            Store.open(str(folder / "railgauge.db"), create=False)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
