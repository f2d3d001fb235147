"""What the commands of every day take over a site's year, in SQLite and in PostgreSQL.

Nights of cases of replications of ten metrics are made by SQL in the database itself; the last
ones have system logs of both hosts, of 270 counters and five samples each. Every twentieth case got
5 % slower once. Printed is how many bytes a replication takes, its launch and settings included,
and how many its logs add; and of each command the medians of wall and CPU time (without a
server's), beside the goal at the full size. A report of a run with logs has pages of its cases.

    python -m benchmarks.year [--nights 365] [--cases 2000] [--replications 10] [--logged 30]
        [--repeats 3] [--databases sqlite postgresql] [--commands NAME ...] [--keep DIR]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Table, text
from tests.support.log_samples import system_log
from tests.support.postgres_lab import make_database, postgres_folder, postgres_server

from benchmarks.site import FACTS, HOSTS, case
from railgauge.plan.catalogue import load_catalogue
from railgauge.store import Store
from railgauge.store.copy_tables import owned
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

ENGINE, METRICS = "udp", 10
BASELINE_RUNS = 5
# A prime: what steps through the noise by any number meets all of it.
NOISE = 10_007
SETTINGS: dict[str, int | float | str | bool] = {
    "sndbuf": 425_984.0,
    "rcvbuf": 425_984.0,
    "mss": 1460.0,
    "tos": 0.0,
    "gso": 1.0,
    "congestion": "cubic",
    "cpu": "3",
    "address": "10.1.0.1",
    "control_rtt": 0.00012345,
    "clock_offset": -0.00034567,
    "clock_offset_error": 0.0000123,
}
GOALS = {
    "compare": 3.0,
    "history CASE": 1.0,
    "history --all": 60.0,
    "report RUN": 1.0,
    "list": 0.3,
    "site": 10.0,
}
MOST_BYTES = 8e9
DATED = """
UPDATE run SET started_at = :started, ended_at = :started, uid = :uid, checksum = NULL
WHERE id = :run"""
NIGHT = """
INSERT INTO host_fact (run_id, host, name, recorded_at, value)
SELECT :run, host, name, :started, CASE name WHEN 'kernel' THEN :kernel ELSE value END
FROM host_fact WHERE run_id = :template;
INSERT INTO launch (run_case_id, started_at, client, server, warnings)
SELECT run_case.id, :started, launch.client, launch.server, '[]'
FROM year_number CROSS JOIN run_case CROSS JOIN launch
WHERE run_case.run_id = :run AND launch.id = :launch ORDER BY n, run_case.id;
INSERT INTO replication (run_case_id, number, status, started_at, launch_id)
SELECT run_case_id, row_number() OVER (PARTITION BY run_case_id ORDER BY launch.id),
    CASE launch.id % 500 WHEN 0 THEN 'suspect' ELSE 'ok' END, :started, launch.id
FROM run_case JOIN launch ON launch.run_case_id = run_case.id WHERE run_case.run_id = :run;
INSERT INTO value (run_case_id, metric_id, number, value)
SELECT run_case.id, metric_id, year_number.n,
    1e9 / (metric_id * metric_id) * (1 + 0.01 * night.value + 0.005 * moment.value)
    * CASE WHEN case_id % 20 = 0 AND (case_id * 7919) % :nights < :night THEN 0.95 ELSE 1 END
FROM run_case JOIN run_metric ON run_metric.run_id = run_case.run_id CROSS JOIN year_number
JOIN year_noise AS night ON night.n = (case_id * 31 + :night * 97 + metric_id * 1009) % :noise
JOIN year_noise AS moment ON moment.n = (run_case.id * 613 + metric_id * 7 + year_number.n) % :noise
WHERE run_case.run_id = :run ORDER BY run_case.id, metric_id, year_number.n"""
LOGS = """
INSERT INTO log (run_id, launch_id, number, scope, host, phase, started_at, elapsed,
    ticks_per_second, label_set_id)
SELECT :run, replication.launch_id, replication.number, '',
    CASE log.host WHEN 'gw' THEN client_host ELSE server_host END, phase, :started, elapsed,
    ticks_per_second, label_set_id
FROM run_case JOIN bench_case ON bench_case.id = case_id
JOIN replication ON run_case_id = run_case.id CROSS JOIN year_log AS log
WHERE run_case.run_id = :run ORDER BY replication.launch_id, log.id"""
COUNTERS = """
INSERT INTO {table} ({columns})
SELECT log.id, {fields} FROM log CROSS JOIN year_log CROSS JOIN year_{table} AS part
WHERE log.id > :last_log AND (log.host = 'gw') = (year_log.host = 'gw')
    AND part.log_id = year_log.id ORDER BY log.id"""


class Year:
    """A store that gets nights; `year_…` are tables of what they are made of."""

    def __init__(self, store: Store, nights: int, cases: int, replications: int) -> None:
        self.store = store
        self.nights = nights
        self.planned = [
            PlannedCase("stream", case(number), replications) for number in range(cases)
        ]
        engine = load_catalogue().engine(ENGINE)
        first = list(engine.metrics.values())[:METRICS]
        self.metrics = {ENGINE: {metric.name: MetricInfo.of(metric) for metric in first}}
        self.log_tables = owned("log")
        self.template = self._add_template()
        noise = np.random.default_rng(5).standard_normal(NOISE).tolist()
        with store.writing() as connection:
            for statement in (
                "CREATE TABLE year_number (n INTEGER PRIMARY KEY)",
                "CREATE TABLE year_noise (n INTEGER PRIMARY KEY, value DOUBLE PRECISION)",
                "CREATE TABLE year_log AS SELECT * FROM log",
                *(
                    f"CREATE TABLE year_{table} AS SELECT * FROM {table}"
                    for table in self.log_tables
                ),
            ):
                connection.execute(text(statement))
            connection.execute(
                text("INSERT INTO year_number VALUES (:n)"),
                [{"n": n} for n in range(1, replications + 1)],
            )
            connection.execute(
                text("INSERT INTO year_noise VALUES (:n, :value)"),
                [{"n": n, "value": value} for n, value in enumerate(noise)],
            )
            (self.launch,) = connection.execute(text("SELECT id FROM launch")).one()

    def _add_template(self) -> int:
        """Store a run of one replication, with logs and facts, that the nights repeat."""
        first = self.planned[0].case
        more: dict[str, Any] = {
            f"protocol__TcpExt__Counter{n}": 10**6 + 37**3 * n for n in range(200)
        }
        logs = tuple(system_log(host, samples=5, **more) for host in ("gw", "n0"))
        moment = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
        launch = Launch(moment, SETTINGS, SETTINGS)
        metrics = dict.fromkeys(self.metrics[ENGINE], 1.0)
        run = self._begin("template", [PlannedCase("stream", first, 1)])
        self.store.add(run, "stream", first.key, Outcome(1, moment, metrics, logs=logs), launch)
        facts = {"kernel": "6.1", **{f"nic.eth{n}.mtu": "1500" for n in range(FACTS - 1)}}
        for host in ("gw", *(f"n{host}" for host in range(HOSTS))):
            self.store.add_facts(run, host, facts)
        self.store.finish_run(run, "complete")
        return run

    def _begin(self, plan: str, planned: list[PlannedCase]) -> int:
        new = NewRun(plan, "", "/", "", False, 1, "benchmark", "0", "", {})
        return self.store.begin_run(new, planned, self.metrics)

    def add(self, night: int, *, logged: bool) -> int:
        """Store the night and return its run."""
        run = self._begin("nightly", self.planned)
        started = datetime(2025, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)
        values = {
            "run": run,
            "template": self.template,
            "launch": self.launch,
            "started": started.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            "uid": f"{night + 1:032x}",
            "kernel": f"6.1.{night // 100}",
            "night": night,
            "nights": self.nights,
            "noise": NOISE,
        }
        with self.store.writing() as connection:
            statements = NIGHT.split(";")
            if logged:
                query = text("SELECT coalesce(max(id), 0) FROM log")
                values["last_log"] = connection.execute(query).scalar_one()
                statements += [LOGS, *map(self._counters, self.log_tables)]
            for statement in statements:
                connection.execute(text(statement), values)
        self.store.finish_run(run, "complete")
        with self.store.writing() as connection:
            connection.execute(text(DATED), values)
        return run

    @staticmethod
    def _counters(table: Table) -> str:
        names = [f'"{column.name}"' for column in table.columns]
        fields = ", ".join(f"part.{name}" for name in names[1:])
        return COUNTERS.format(table=table.name, columns=", ".join(names), fields=fields)


def size(store: Store) -> int:
    """Return how many bytes the database takes."""
    with store.reading() as connection:
        if connection.dialect.name == "postgresql":
            query = "SELECT pg_database_size(current_database())"
        else:
            query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        return int(connection.execute(text(query)).scalar_one())


def run(*arguments: object) -> tuple[float, float]:
    """Return the wall and the CPU time of the command, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [sys.executable, "-m", "railgauge", *map(str, arguments)]
    completed = subprocess.run(words, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    # A comparison's 1 says that something is slower.
    if completed.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}: {completed.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(where: str, folder: Path, options: argparse.Namespace) -> None:
    """Make the year in the database at `where`, and print what it takes."""
    began = time.perf_counter()
    with Store.open(where) as store:
        year = Year(store, options.nights, options.cases, options.replications)
        empty = size(store)
        unlogged = options.nights - options.logged
        runs = [year.add(night, logged=False) for night in range(unlogged)]
        before = size(store)
        runs += [year.add(night, logged=True) for night in range(unlogged, options.nights)]
        store.set_baseline("nightly", runs[:BASELINE_RUNS])
        after = size(store)
    replications = options.cases * options.replications
    replication_bytes = (before - empty) / max(1, unlogged * replications)
    logs = (
        (after - before) / (options.logged * replications) - replication_bytes
        if options.logged
        else 0
    )
    print(
        f"{where.partition(':')[0] if '://' in where else 'sqlite'}: {options.nights} nights of"
        f" {options.cases:,} cases of {options.replications}: {after / 1e9:.2f} GB (goal"
        f" {MOST_BYTES / 1e9:.0f}), {replication_bytes:.0f} B a replication,"
        f" {logs:,.0f} B its logs;"
        f" made in {time.perf_counter() - began:.0f} s",
        flush=True,
    )
    words = {
        "compare": ("compare", "nightly", "latest"),
        "history CASE": ("history", case(1).key),
        "history --all": ("history", "--all"),
        "report RUN": ("report", runs[-1], "--out", folder / "report"),
        "list": ("list",),
        "site": ("site", "--out", folder / "site"),
    }
    print(f"{'command':<20}{'goal s':>8}{'wall s':>8}{'CPU s':>8}")
    for name in options.commands:
        if name == "site":
            show("site, all nights", [run(*words[name], "--db", where)])
            with Store.open(where) as year.store:
                year.add(options.nights, logged=False)
        repeats = 1 if name == "site" else options.repeats
        show(name, [run(*words[name], "--db", where) for _ in range(repeats)])


def show(name: str, trials: list[tuple[float, float]]) -> None:
    wall, cpu = (statistics.median(column) for column in zip(*trials, strict=True))
    goal = f"{GOALS[name]:.1f}" if name in GOALS else ""
    print(f"{name:<20}{goal:>8}{wall:>8.2f}{cpu:>8.2f}", flush=True)


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """Give the path or URL of an empty database of the kind."""
    if kind == "sqlite":
        yield str(folder / "year.db")
        return
    binaries = postgres_folder()
    assert binaries is not None
    with postgres_server(binaries) as server:
        yield make_database(server, "year")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nights", type=int, default=365)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--logged", type=int, default=30, help="of so many nights there are logs")
    parser.add_argument("--repeats", type=int, default=3)
    kinds = ["sqlite", *(["postgresql"] if postgres_folder() else [])]
    parser.add_argument("--databases", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--commands", nargs="+", choices=GOALS, default=list(GOALS))
    parser.add_argument("--keep", type=Path, help="make SQLite's file here, and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for kind in options.databases:
            folder = (options.keep or Path(name)) / kind
            folder.mkdir(parents=True)
            with database(kind, folder) as where:
                measure(where, folder, options)


if __name__ == "__main__":
    main()
